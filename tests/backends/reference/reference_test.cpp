#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/reference/calls.h"
#include "support/program_builder.h"

namespace ollie::backends::reference {
namespace {

using testing::counting;
using ::testing::ElementsAre;
using testing::ProgramBuilder;

/// Runs the program's only step on these arguments; gives the first result as stored.
HostArray run(const program::Program& program, const std::vector<HostArray>& arguments) {
    const program::Step& step = program.steps.at(0);
    std::vector<HostArray> copies = arguments;
    std::vector<void*> sources;
    for (HostArray& copy : copies) sources.push_back(copy.data());
    std::vector<HostArray> results;
    std::vector<void*> targets;
    for (int index : step.results)
        results.emplace_back(program.buffers[index].type, program.buffers[index].shape);
    for (HostArray& result : results) targets.push_back(result.data());
    auto instance = catalogue().at(0)->prepare(step, program);
    EXPECT_EQ(instance->scratch_bytes(), 0);
    instance->run(sources, targets, nullptr);
    return results.at(0);
}

TEST(Reference, IsTheOnlyCallAndHasNoPatterns) {
    ASSERT_EQ(catalogue().size(), 1u);
    EXPECT_EQ(catalogue()[0]->name, "reference");
    EXPECT_TRUE(catalogue()[0]->patterns.empty());
}

TEST(Reference, ReadsAndWritesInAnyOrderOfStorage) {
    ProgramBuilder builder;
    builder.buffer("x", {2, 3}, program::Role::Input, {1, 0})
        .buffer("y", {2, 3}, program::Role::Output, {1, 0})
        .call("reference", {"x"}, {"y"},
              "input x: f32[2, 3]\noutput y: f32[i:2, j:3] = x[i, j] + number(10 * i + j)");
    HostArray y = run(builder.program(), {counting({2, 3})});
    EXPECT_THAT(y.as<float>(), ElementsAre(0, 11, 3, 14, 6, 17));
}

TEST(Reference, IntegersAreExact) {
    int64_t large = (int64_t{1} << 62) + 1;
    HostArray x(ElementType::I64, {2});
    x.as<int64_t>()[0] = large;
    x.as<int64_t>()[1] = -large;
    ProgramBuilder builder;
    builder.buffer("x", {2}, program::Role::Input, {}, ElementType::I64)
        .buffer("y", {2}, program::Role::Output, {}, ElementType::I64)
        .call("reference", {"x"}, {"y"}, "input x: i64[2]\noutput y: i64[i:2] = x[1 - i]");
    EXPECT_THAT(run(builder.program(), {x}).as<int64_t>(), ElementsAre(-large, large));
}

TEST(Reference, IntermediatesAreNotRounded) {
    ProgramBuilder builder;
    builder.input("x", {1}).output("y", {1}).call(
        "reference", {"x"}, {"y"},
        "input x: f32[1]\na: f32[i:1] = x[i] + 1e-9\noutput y: f32[i:1] = (a[i] - x[i]) * 1e9");
    EXPECT_NEAR(run(builder.program(), {counting({1})}).at(0), 1, 1e-6);
    HostArray one = counting({1});
    one.set(0, 1);
    EXPECT_NEAR(run(builder.program(), {one}).at(0), 1, 1e-6);
}

TEST(Reference, EmptyTensorsAndScalars) {
    ProgramBuilder builder;
    builder.input("x", {0, 3})
        .output("y", {})
        .call("reference", {"x"}, {"y"},
              "input x: f32[0, 3]\noutput y: f32[] = sum[i:0, j:3] x[i, j]");
    EXPECT_EQ(run(builder.program(), {counting({0, 3})}).at(0), 0);
}

}  // namespace
}  // namespace ollie::backends::reference
