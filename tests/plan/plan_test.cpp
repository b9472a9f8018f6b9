#include "plan/plan.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace ollie::plan {
namespace {

using program::Plan;
using program::Program;
using program::Role;
using testing::ProgramBuilder;

constexpr const char* meaning = "input A: f32[1]\noutput B: f32[i:1] = A[i]";

/// Bytes in use at each step, found by marking every byte of the arena: any byte that two live
/// things own is an overlap.
void expect_sound(const Program& program, const std::vector<int64_t>& workspace, const Plan& plan) {
    std::vector<int> holders = storage_holders(program);
    std::map<int, std::pair<int, int>> lives;
    for (size_t s = 0; s < program.steps.size(); ++s)
        for (const auto* list : {&program.steps[s].results, &program.steps[s].arguments})
            for (int index : *list) {
                auto [life, is_new] = lives.try_emplace(holders[index], s, s);
                life->second.second = static_cast<int>(s);
            }
    for (size_t s = 0; s < program.steps.size(); ++s) {
        std::vector<int> owner(static_cast<size_t>(plan.arena_bytes), 0);
        auto take = [&](int64_t offset, int64_t bytes) {
            EXPECT_EQ(offset % 64, 0);
            ASSERT_LE(offset + bytes, plan.arena_bytes);
            for (int64_t b = offset; b < offset + bytes; ++b)
                EXPECT_EQ(owner[static_cast<size_t>(b)]++, 0) << "step " << s;
        };
        for (const auto& [index, life] : lives) {
            if (program.buffers[index].role != Role::Scratch) continue;
            ASSERT_GE(plan.offsets[index], 0);
            if (life.first <= static_cast<int>(s) && static_cast<int>(s) <= life.second)
                take(plan.offsets[index], program.buffers[index].bytes());
        }
        if (!workspace.empty() && workspace[s] > 0) take(plan.scratch_offsets[s], workspace[s]);
    }
}

TEST(Plan, AChainNeedsTwoBuffers) {
    ProgramBuilder builder;
    builder.input("X", {100})
        .scratch("A", {100})
        .scratch("B", {100})
        .scratch("C", {100})
        .output("Y", {100});
    builder.call("copy", {"X"}, {"A"}, meaning)
        .call("copy", {"A"}, {"B"}, meaning)
        .call("copy", {"B"}, {"C"}, meaning)
        .call("copy", {"C"}, {"Y"}, meaning);
    Plan result = plan(builder.program(), {});
    EXPECT_EQ(result.arena_bytes, 2 * 448);
    EXPECT_EQ(result.offsets, (std::vector<int64_t>{-1, 0, 448, 0, -1}));
    EXPECT_EQ(result.scratch_offsets, (std::vector<int64_t>{-1, -1, -1, -1}));
    expect_sound(builder.program(), {}, result);
}

TEST(Plan, WorkspaceLivesForOneStep) {
    ProgramBuilder builder;
    builder.input("X", {16}).scratch("A", {16}).output("Y", {16});
    builder.call("copy", {"X"}, {"A"}, meaning).call("copy", {"A"}, {"Y"}, meaning);
    std::vector<int64_t> workspace{100, 1000};
    Plan result = plan(builder.program(), workspace);
    EXPECT_EQ(result.arena_bytes, 1024 + 64);
    expect_sound(builder.program(), workspace, result);
}

TEST(Plan, AliasesLiveAsLongAsTheLast) {
    ProgramBuilder builder;
    builder.input("X", {16}).scratch("A", {16}).scratch("B", {16}).scratch("C", {16});
    builder.scratch("D", {16}).output("Y", {16});
    builder.call("copy", {"X"}, {"A"}, meaning)
        .call("alias", {"A"}, {"B"}, meaning)
        .call("copy", {"X"}, {"C"}, meaning)
        .call("copy", {"C"}, {"D"}, meaning)
        .call("copy", {"B"}, {"Y"}, meaning);
    Plan result = plan(builder.program(), {});
    EXPECT_EQ(result.offsets[1], result.offsets[2]);
    EXPECT_EQ(result.arena_bytes, 3 * 64);
    expect_sound(builder.program(), {}, result);
}

TEST(Plan, EmptyProgramsAndBuffers) {
    EXPECT_EQ(plan(Program(), {}).arena_bytes, 0);
    ProgramBuilder builder;
    builder.input("X", {0}).scratch("A", {0}).output("Y", {0});
    builder.call("copy", {"X"}, {"A"}, meaning).call("copy", {"A"}, {"Y"}, meaning);
    Plan result = plan(builder.program(), {});
    EXPECT_EQ(result.arena_bytes, 0);
    EXPECT_EQ(result.offsets[1], 0);
}

TEST(Plan, RandomProgramsNeverOverlap) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
        ProgramBuilder builder;
        builder.input("0", {1});
        std::vector<std::string> names{"0"};
        std::vector<int64_t> workspace;
        size_t count = 1 + below(20);
        for (size_t s = 0; s < count; ++s) {
            std::string name = std::to_string(s + 1);
            std::string argument = names[below(names.size())];
            bool is_alias = below(4) == 0;
            builder.scratch(name, {static_cast<int64_t>(below(80))});
            builder.call(is_alias ? "alias" : "copy", {argument}, {name}, meaning);
            if (is_alias) {
                auto& buffers = builder.program().buffers;
                buffers.back().shape = buffers[std::stoul(argument)].shape;
            }
            workspace.push_back(static_cast<int64_t>(below(3) * below(200)));
            names.push_back(name);
        }
        Plan result = plan(builder.program(), workspace);
        // An alias of the input lies there, not in the arena: expect_sound leaves holders only.
        expect_sound(builder.program(), workspace, result);
    }
}

}  // namespace
}  // namespace ollie::plan
