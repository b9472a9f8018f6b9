#include "optimize/wrong_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "optimize/peaks.h"
#include "optimize/pipeline_checks.h"
#include "optimize/prove.h"
#include "optimize/select.h"
#include "optimize/temporary_folder.h"

namespace ollie::optimize {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

bool used(const search::Candidate& candidate, const std::string& rule) {
    return std::any_of(candidate.trail.begin(), candidate.trail.end(),
                       [&](const program::TrailStep& step) { return step.rule == rule; });
}

struct Problem {
    std::string rule;
    const char* text;
};

void PrintTo(const Problem& problem, std::ostream* to) { *to << problem.rule; }

/// The search with one wrong rule, and everything that it found offered for selection.
class WrongRule : public ::testing::TestWithParam<Problem> {
protected:
    WrongRule() : options_(options()), machine_(machine_of(options_)) {
        subprograms_.push_back({"problem", expr::parse(GetParam().text)});
        solutions_ = derive(subprograms_, search_options(options_, machine_), Search::Yes);
        Times times(options_);
        KernelLibrary library(options_, times);
        instantiate(solutions_, options_, library);
        auto& solution = *solutions_.distinct.front();
        solution.fragments.insert(solution.fragments.end(), solution.unoptimized.begin(),
                                  solution.unoptimized.end());
    }

    static Options options() {
        Options options = small_options();
        options.candidates = 60;
        options.extra_rules = {wrong::find(GetParam().rule)};
        return options;
    }

    std::vector<const Fragment*> derived_by_it() const {
        std::vector<const Fragment*> found;
        for (const Fragment& fragment : solutions_.distinct.front()->fragments)
            if (used(*fragment.candidate, GetParam().rule)) found.push_back(&fragment);
        return found;
    }

    Options options_;
    match::Machine machine_;
    std::vector<express::Subprogram> subprograms_;
    Solutions solutions_;
    Proofs proofs_;
};

TEST_P(WrongRule, IsCaughtByTheIdentityTestAndNamed) {
    std::vector<const Fragment*> wrong = derived_by_it();
    ASSERT_FALSE(wrong.empty()) << "the rule was never applied";
    for (const Fragment* fragment : wrong) {
        if (fragment->refused) continue;
        std::vector<std::string> refusals = prove({fragment}, solutions_, proofs_);
        ASSERT_EQ(refusals.size(), 1u) << expr::print(fragment->candidate->expr);
        EXPECT_THAT(refusals.front(), HasSubstr(GetParam().rule));
        EXPECT_TRUE(fragment->refused);
        EXPECT_THAT(solutions_.distinct.front()->lost, Contains(HasSubstr(refusals.front())));
    }
}

TEST_P(WrongRule, IsNeverPartOfWhatIsSelected) {
    for (;;) {
        Selection selection = select(subprograms_, solutions_, Among::Optimized, machine_);
        if (!prove(selection.fragments, solutions_, proofs_).empty()) continue;
        EXPECT_FALSE(used(*selection.fragments.front()->candidate, GetParam().rule));
        return;
    }
}

const char* window =
    "input A: f32[9, 3]\ninput K: f32[3, 3, 5]\n"
    "T: f32[h:7, f:5, r:3] = sum[c:3] A[h + r, c] * K[c, r, f]\n"
    "output Y: f32[h:7, f:5] = sum[r:3] T[h, f, r]\n";
const char* padded =
    "input A: f32[9, 3]\ninput K: f32[3, 3, 5]\n"
    "output Y: f32[h:9, f:5] = relu(sum[c:3, r:3] A[h + r - 1, c | 0] * K[c, r, f])\n";
const char* transposed =
    "input X: f32[5]\ninput K: f32[4]\noutput Y: f32[h:12] = "
    "sum[r:4] select((h + 1 - r) mod 2 == 0, X[(h + 1 - r) div 2 | 0] * K[r], 0)\n";

INSTANTIATE_TEST_SUITE_P(
    All, WrongRule,
    ::testing::Values(Problem{"split_sum_without_remainder", padded},
                      Problem{"domain_off_by_one", padded},
                      Problem{"max_over_sum",
                              "input A: f32[7]\ninput B: f32[7]\n"
                              "output Y: f32[i:7] = relu(A[i] + B[i])\n"},
                      Problem{"no_outside_value", padded},
                      Problem{"transposed_operand",
                              "input A: f32[5, 7]\ninput B: f32[7, 7]\n"
                              "output Y: f32[i:5, j:7] = sum[c:7] A[i, c] * B[c, j]\n"},
                      Problem{"uncommon_factor", padded},
                      Problem{"max_and_sum_exchanged",
                              "input A: f32[5, 7, 3]\noutput Y: f32[i:5] = "
                              "sum[j:7] max[k:3] A[i, j, k]\n"},
                      Problem{"wrong_residue", transposed}, Problem{"skew_with_wrong_sign", window},
                      Problem{"tightened_too_far", window}),
    [](const auto& info) { return info.param.rule; });

TEST(WrongRules, AllAreTried) { EXPECT_EQ(wrong::rules().size(), 10u); }

void expect_free_of_wrong_rules(const program::Program& program) {
    for (const program::Derivation& derivation : program.derivations)
        for (const program::TrailStep& step : derivation.trail)
            EXPECT_EQ(wrong::find(step.rule), nullptr) << step.rule;
}

std::vector<std::string> notes_of_right_result(const SmallModel& model, const Options& options) {
    TemporaryFolder folder;
    std::filesystem::path file = model.write(folder.path());
    Outcome outcome = optimize(file, options);
    EXPECT_TRUE(outcome.verification.failures.empty());
    expect_free_of_wrong_rules(outcome.program);
    expect_right(file, outcome.program);
    return outcome.notes;
}

class TemptingRule : public ::testing::TestWithParam<std::string> {};

TEST_P(TemptingRule, IsReportedAndLeavesTheResultRight) {
    Options options = small_options();
    options.extra_rules = {wrong::find(GetParam())};
    EXPECT_THAT(notes_of_right_result(product(), options), Contains(HasSubstr(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Cheaper, TemptingRule,
                         ::testing::Values("split_sum_without_remainder", "domain_off_by_one"),
                         [](const auto& info) { return info.param; });

TEST(WrongRules, AllTogetherLeaveTheResultRight) {
    Options options = small_options();
    for (const derive::Rule& rule : wrong::rules()) options.extra_rules.push_back(&rule);
    EXPECT_THAT(notes_of_right_result(product(), options),
                Contains(HasSubstr("refused by the identity test")));
    notes_of_right_result(convolution_and_transposed(), options);
}

TEST(WrongRules, AnEagerOneLeavesTheModelAsItIs) {
    derive::Rule eager = *wrong::find("domain_off_by_one");
    eager.depth_cost = 0;
    Options options = small_options();
    options.extra_rules = {&eager};
    EXPECT_THAT(notes_of_right_result(product(), options),
                Contains(AllOf(HasSubstr("no other way is left"), HasSubstr("domain_off_by_one"))));
}

}  // namespace
}  // namespace ollie::optimize
