#include <cstdlib>

#include <gtest/gtest.h>

#include "expr/canonical.h"
#include "expr/identity.h"
#include "expr/print.h"
#include "rebuild.h"

namespace ollie::expr {
namespace {

/// OLLIE_FUZZ_RUNS asks for more.
int64_t runs() {
    const char* wanted = std::getenv("OLLIE_FUZZ_RUNS");
    return wanted != nullptr ? std::atoll(wanted) : 1000;
}

TEST(KeyFuzz, FormDoesNotMatter) {
    for (int64_t seed = 0; seed < runs(); ++seed) {
        Expr expr = TiedExpr(seed).make();
        Expr other = Rebuild(seed + 1)(expr);
        KeyCache cache;
        key(expr, cache);
        if (cache.capped() > 0) continue;
        ASSERT_EQ(key(expr), key(other)) << "seed " << seed << "\n" << print(expr) << print(other);
        ASSERT_EQ(problem_key(expr), problem_key(other)) << "seed " << seed;
        if (seed % 4 != 0) continue;
        IdentityReport report = test_identity(expr, other);
        ASSERT_EQ(report.verdict, Verdict::Equal) << "seed " << seed << "\n"
                                                  << print(expr) << print(other) << report.detail;
    }
}

TEST(KeyFuzz, EqualKeysAreEqualExpressions) {
    int64_t different = 0;
    IdentityOptions options;
    options.branching_draws = 4;
    for (int64_t seed = 0; seed < runs(); ++seed) {
        Expr expr = TiedExpr(seed).make();
        Rebuild count(seed);
        count(expr);
        Expr other = Rebuild(seed + 1, Dice(seed).below(count.places()))(expr);
        Verdict verdict = test_identity(expr, other, options).verdict;
        different += verdict == Verdict::Different ? 1 : 0;
        if (verdict == Verdict::Different) {
            ASSERT_NE(key(expr), key(other)) << "seed " << seed << "\n"
                                             << print(expr) << print(other);
            ASSERT_NE(problem_key(expr), problem_key(other)) << "seed " << seed;
        }
    }
    EXPECT_GT(different, runs() / 4);
}

}  // namespace
}  // namespace ollie::expr
