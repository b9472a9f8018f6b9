#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "derive/rule.h"
#include "optimize/pipeline_checks.h"
#include "optimize/temporary_folder.h"

namespace ollie::optimize {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const derive::Rule* rule : derive::catalogue()) names.push_back(rule->name);
    return names;
}

/// Deep enough for every kind of rule to be applied, and shallow enough for a test.
Options options_without(const std::string& rule) {
    Options options = small_options();
    options.search_states = 15;
    options.candidates = 2;
    options.disabled_rules = {rule};
    return options;
}

class WithoutRule : public ::testing::TestWithParam<std::string> {};

TEST_P(WithoutRule, ResultsStayRightAndTrailsLackIt) {
    TemporaryFolder folder;
    std::filesystem::path file = convolution_and_transposed().write(folder.path());
    Outcome outcome = optimize(file, options_without(GetParam()));
    EXPECT_TRUE(outcome.verification.failures.empty());
    for (const program::Derivation& derivation : outcome.program.derivations) {
        for (const program::TrailStep& step : derivation.trail) EXPECT_NE(step.rule, GetParam());
        EXPECT_FALSE(derivation.search.contains("hits of " + GetParam()));
        EXPECT_FALSE(derivation.search.contains("refusals of " + GetParam()));
    }
    expect_right(file, outcome.program);
}

INSTANTIATE_TEST_SUITE_P(Each, WithoutRule, ::testing::ValuesIn(rule_names()),
                         [](const auto& info) { return info.param; });

TEST(DisabledRules, AllAtOnceIsRight) {
    TemporaryFolder folder;
    std::filesystem::path file = convolution_and_transposed().write(folder.path());
    Options options = small_options();
    for (const std::string& name : rule_names()) options.disabled_rules.insert(name);
    Outcome outcome = optimize(file, options);
    for (const program::Derivation& derivation : outcome.program.derivations)
        EXPECT_TRUE(derivation.trail.empty());
    expect_right(file, outcome.program);
}

TEST(DisabledRules, AnUnknownNameIsTheUsersMistake) {
    TemporaryFolder folder;
    std::filesystem::path file = convolution_and_transposed().write(folder.path());
    try {
        optimize(file, options_without("spilt_sum"));
        FAIL() << "no error";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("spilt_sum"));
        for (const std::string& name : rule_names()) EXPECT_THAT(error.what(), HasSubstr(name));
    }
    EXPECT_THROW(compile_unoptimized(file, options_without("spilt_sum")), UserError);
}

}  // namespace
}  // namespace ollie::optimize
