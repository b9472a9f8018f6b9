#include "refine/refine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/parse.h"
#include "program/print.h"
#include "program/storage_map.h"
#include "program/verify.h"
#include "refine/substitute.h"
#include "support/interpret.h"
#include "support/program_builder.h"
#include "support/random_program.h"

namespace ollie::refine {
namespace {

using program::Program;
using testing::counting;
using ::testing::HasSubstr;
using testing::interpret;
using testing::ProgramBuilder;

std::vector<std::string> targets(const Program& program) {
    std::vector<std::string> result;
    for (const program::Step& step : program.steps) result.push_back(step.target);
    return result;
}

Program refined(const ProgramBuilder& builder) {
    Program program = builder.program();
    EXPECT_THAT(program::violations(program), ::testing::IsEmpty());
    Program result = refine(program);
    EXPECT_THAT(program::violations(result), ::testing::IsEmpty());
    return result;
}

constexpr const char* twice = "input {0}: f32[2, 3]\noutput {1}: f32[i:2, j:3] = {0}[i, j] * 2";
constexpr const char* same = "input {0}: f32[2, 3]\noutput {1}: f32[i:2, j:3] = {0}[i, j]";

std::string text(const char* pattern, const std::string& from, const std::string& to) {
    return fmt::format(fmt::runtime(pattern), from, to);
}

TEST(Refine, CopiesThatChangeNothingGo) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).scratch("a", {2, 3}).scratch("b", {2, 3}).output("y", {2, 3});
    builder.call("copy", {"x"}, {"a"}, text(same, "x", "a"))
        .call("reference", {"a"}, {"b"}, text(twice, "a", "b"))
        .call("copy", {"b"}, {"y"}, text(same, "b", "y"));
    EXPECT_EQ(program::print(refined(builder)),
              "program\ninput x: f32[2, 3]\noutput y: f32[2, 3]\ninputs (x)\noutputs (y)\n"
              "call reference (x) -> (y)\n  input x: f32[2, 3]\n"
              "  output y: f32[i:2, j:3] = x[i, j] * 2\n");
}

TEST(Refine, ThereAndBackIsNothing) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).scratch("a", {2, 3}, {1, 0}).scratch("b", {2, 3});
    builder.output("y", {2, 3});
    builder.call("copy", {"x"}, {"a"}, text(same, "x", "a"))
        .call("copy", {"a"}, {"b"}, text(same, "a", "b"))
        .call("reference", {"b"}, {"y"}, text(twice, "b", "y"));
    EXPECT_THAT(targets(refined(builder)), ::testing::ElementsAre("reference"));
}

TEST(Refine, AnInputAsOutputStaysACopy) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).output("y", {2, 3});
    builder.call("copy", {"x"}, {"y"}, text(same, "x", "y"));
    EXPECT_THAT(targets(refined(builder)), ::testing::ElementsAre("alias"));
}

TEST(Refine, KernelsThatOnlyMoveAreMoves) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).scratch("a", {3, 2}).scratch("b", {6}).output("y", {6});
    builder
        .kernel("transpose", {"x"}, {"a"}, "input x: f32[2, 3]\noutput a: f32[i:3, j:2] = x[j, i]")
        .kernel("flatten", {"a"}, {"b"},
                "input a: f32[3, 2]\noutput b: f32[i:6] = a[i div 2, i mod 2]")
        .kernel("negate", {"b"}, {"y"}, "input b: f32[6]\noutput y: f32[i:6] = -b[i]");
    EXPECT_THAT(targets(refined(builder)), ::testing::ElementsAre("copy", "negate"));
    builder.program().buffers[1].layout = {{1, 0}};
    EXPECT_THAT(targets(refined(builder)), ::testing::ElementsAre("copy", "negate"));
    builder.program().steps[2].arguments = {1};
    builder.program().steps[2].meaning =
        expr::parse("input a: f32[3, 2]\noutput y: f32[i:6] = -a[i div 2, i mod 2]");
    EXPECT_THAT(targets(refined(builder)), ::testing::ElementsAre("alias", "negate"));
}

TEST(Refine, AViewOfACopyIsNoSecondCopy) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).scratch("a", {3, 2}).scratch("b", {6}).output("y", {6});
    builder.output("z", {3, 2});
    builder.call("copy", {"x"}, {"a"}, "input x: f32[2, 3]\noutput a: f32[i:3, j:2] = x[j, i]")
        .call("copy", {"a"}, {"b"}, "input a: f32[3, 2]\noutput b: f32[i:6] = a[i div 2, i mod 2]")
        .kernel("negate", {"b"}, {"y"}, "input b: f32[6]\noutput y: f32[i:6] = -b[i]")
        .kernel("negate2", {"a"}, {"z"}, "input a: f32[3, 2]\noutput z: f32[i:3, j:2] = -a[i, j]");
    EXPECT_THAT(targets(refined(builder)),
                ::testing::ElementsAre("copy", "alias", "negate", "negate2"));
}

TEST(Refine, EqualConstantsAreOne) {
    ProgramBuilder builder;
    builder.input("x", {3}).constant("v", counting({3})).constant("w", counting({3}));
    builder.constant("u", counting({3}, 2)).scratch("a", {3}).scratch("b", {3}).output("y", {3});
    auto add = [&](const char* from, const char* weight, const char* to) {
        builder.call("reference", {from, weight}, {to},
                     fmt::format("input {0}: f32[3]\nweight {1}: f32[3]\n"
                                 "output {2}: f32[i:3] = {0}[i] + {1}[i]",
                                 from, weight, to));
    };
    add("x", "v", "a");
    add("a", "w", "b");
    add("b", "u", "y");
    Program result = refined(builder);
    EXPECT_EQ(result.buffers.size(), 6u);
    EXPECT_EQ(result.steps[0].arguments[1], result.steps[1].arguments[1]);
    EXPECT_NE(result.steps[0].arguments[1], result.steps[2].arguments[1]);
    EXPECT_THAT(program::print(result), HasSubstr("weight v: f32[3]\n  output b"));
}

TEST(Refine, ConstantsOfOneStepOrOfOtherLayoutsStayTwo) {
    ProgramBuilder builder;
    builder.constant("v", counting({2, 2})).constant("w", counting({2, 2}));
    builder.constant("u", counting({2, 2}), {1, 0}).output("y", {2, 2});
    builder.call("reference", {"v", "w", "u"}, {"y"},
                 "weight v: f32[2, 2]\nweight w: f32[2, 2]\nweight u: f32[2, 2]\n"
                 "output y: f32[i:2, j:2] = v[i, j] + w[i, j] + u[i, j]");
    Program result = refined(builder);
    EXPECT_EQ(result.buffers.size(), 4u);
    EXPECT_EQ(result.buffers[0].values, result.buffers[1].values);
    EXPECT_EQ(result.buffers[0].values, result.buffers[2].values);
}

TEST(Refine, EqualStepsAreOne) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).scratch("a", {2, 3}).output("y", {2, 3}).output("z", {2, 3});
    builder.call("reference", {"x"}, {"a"}, text(twice, "x", "a"))
        .call("reference", {"x"}, {"y"}, text(twice, "x", "y"))
        .call("reference", {"a"}, {"z"}, text(twice, "a", "z"));
    Program result = refined(builder);
    ASSERT_EQ(result.steps.size(), 2u);
    EXPECT_EQ(result.buffers[result.steps[0].results[0]].name, "y");
    EXPECT_EQ(result.steps[1].arguments, result.steps[0].results);
    builder.last().parameters["exact"] = int64_t{1};
    builder.program().steps[1].parameters["exact"] = int64_t{1};
    EXPECT_EQ(refined(builder).steps.size(), 3u);
}

TEST(Refine, OutputsAreNeverMerged) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).output("y", {2, 3}).output("z", {2, 3});
    builder.call("reference", {"x"}, {"y"}, text(twice, "x", "y"))
        .call("reference", {"x"}, {"z"}, text(twice, "x", "z"));
    EXPECT_EQ(refined(builder).steps.size(), 2u);
}

TEST(Refine, WhatNobodyNeedsGoesButInputsStay) {
    ProgramBuilder builder;
    builder.input("x", {2, 3}).input("unused", {5}).constant("w", counting({3}));
    builder.scratch("a", {2, 3}).output("y", {2, 3});
    builder.call("reference", {"x"}, {"a"}, text(twice, "x", "a"))
        .call("reference", {"x"}, {"y"}, "input x: f32[2, 3]\noutput y: f32[i:2, j:3] = -x[i, j]");
    Program result = refined(builder);
    EXPECT_EQ(result.buffers.size(), 3u);
    EXPECT_EQ(result.inputs.size(), 2u);
    EXPECT_EQ(result.steps.size(), 1u);
    EXPECT_EQ(program::print(refine(Program())), program::print(Program()));
}

TEST(Refine, DefinitionsInsideGiveWay) {
    expr::Expr meaning =
        expr::parse("input x: f32[3]\na: f32[i:3] = x[i] * 2\noutput y: f32[i:3] = a[i] + x[i]");
    expr::Expr result = renamed(meaning, {{"x", "a"}, {"y", "z"}});
    HostArray values = counting({3});
    expr::Bindings bindings{{"a", &values}};
    EXPECT_EQ(expr::evaluate(result, bindings)[0].at(2), 6);
    EXPECT_EQ(result.outputs[0]->name, "z");
}

TEST(Refine, RandomProgramsComputeTheSame) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        ProgramBuilder builder = testing::RandomProgram(seed).make();
        Program result = refined(builder);
        EXPECT_LE(result.steps.size(), builder.program().steps.size());
        EXPECT_EQ(program::print(refine(result)), program::print(result));
        std::vector<HostArray> inputs{counting({2, 3, 4}, 0.5)};
        std::vector<HostArray> expected = interpret(builder.program(), inputs);
        std::vector<HostArray> found = interpret(result, inputs);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t k = 0; k < found.size(); ++k) {
            ASSERT_EQ(found[k].shape(), expected[k].shape());
            for (int64_t i = 0; i < found[k].size(); ++i)
                EXPECT_EQ(found[k].at(i), expected[k].at(i));
        }
        for (const program::Step& step : result.steps)
            EXPECT_TRUE(step.target != "alias" || program::keeps_storage(step, result));
        if (HasFailure()) break;
    }
}

}  // namespace
}  // namespace ollie::refine
