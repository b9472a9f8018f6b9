#include <gtest/gtest.h>

#include "derive/rule.h"
#include "expr/canonical.h"
#include "expr/identity.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/simplify.h"
#include "expr/verify.h"

namespace ollie::derive {
namespace {

std::optional<Site> chosen_site(const Rule& rule, const expr::Expr& before,
                                const std::string& parameters) {
    for (const Site& site : rule.sites(before))
        if (parameters.empty() || site.parameters == parameters) return site;
    return std::nullopt;
}

void check_refusal(const Rule& rule, const Example& example, const expr::Expr& before) {
    auto site = chosen_site(rule, before, example.parameters);
    if (!site) {
        EXPECT_EQ(example.refusal, "no site");
        return;
    }
    auto result = rule.apply(before, *site);
    ASSERT_FALSE(result) << expr::print(*result);
    EXPECT_NE(result.reason().find(example.refusal), std::string::npos) << result.reason();
}

void check_application(const Rule& rule, const Example& example, const expr::Expr& before) {
    auto site = chosen_site(rule, before, example.parameters);
    ASSERT_TRUE(site) << "no site";
    auto result = rule.apply(before, *site);
    ASSERT_TRUE(result) << result.reason();
    expr::Expr after = expr::normalize(*result);
    expr::verify(after);
    EXPECT_EQ(expr::print(after), expr::print(expr::parse(example.after)));
    auto report = expr::test_identity(before, after);
    EXPECT_EQ(report.verdict, expr::Verdict::Equal) << report.detail;
}

class RuleExamples : public testing::TestWithParam<const Rule*> {};

TEST_P(RuleExamples, DoWhatTheySay) {
    const Rule& rule = *GetParam();
    ASSERT_FALSE(rule.examples.empty()) << rule.name;
    for (const Example& example : rule.examples) {
        SCOPED_TRACE(rule.name + "\n" + example.before);
        expr::Expr before = expr::parse(example.before);
        if (example.after.empty())
            check_refusal(rule, example, before);
        else
            check_application(rule, example, before);
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, RuleExamples, testing::ValuesIn(catalogue()),
                         [](const auto& info) { return info.param->name; });

TEST(Catalogue, IsFoundByName) {
    for (const Rule* rule : catalogue()) EXPECT_EQ(find(rule->name), rule);
    EXPECT_EQ(find("no such rule"), nullptr);
}

}  // namespace
}  // namespace ollie::derive
