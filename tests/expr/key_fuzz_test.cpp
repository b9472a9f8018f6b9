#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/canonical.h"
#include "expr/identity.h"
#include "expr/print.h"
#include "expr/random_expr.h"
#include "expr/rebuild.h"
#include "expr/verify.h"

namespace ollie::expr {
namespace {

/// OLLIE_FUZZ_RUNS asks for more.
int64_t runs() {
    const char* wanted = std::getenv("OLLIE_FUZZ_RUNS");
    return wanted != nullptr ? std::atoll(wanted) : 1000;
}

/// Half of them small and full of ties, half of all kinds.
Expr any_expr(int64_t seed) {
    auto word = static_cast<uint64_t>(seed);
    if (seed % 2 == 0) return TiedExpr(word).make();
    testing::RandomOptions options;
    options.integers = seed % 3 == 0;
    options.pins = true;
    options.empty_ranges = true;
    return testing::random_expr(word, options);
}

bool is_capped(const Expr& expr) {
    KeyCache cache;
    key(expr, cache);
    return cache.capped() > 0;
}

std::string text_of(int64_t seed, const Expr& a, const Expr& b) {
    return fmt::format("seed {}\n{}against\n{}", seed, print(a), print(b));
}

TEST(KeyFuzz, FormDoesNotMatter) {
    int64_t equal = 0, undecided = 0;
    for (int64_t seed = 0; seed < runs(); ++seed) {
        Expr expr = any_expr(seed);
        Expr other = Rebuild(seed + 1)(expr);
        if (is_capped(expr)) continue;
        ASSERT_EQ(key(expr), key(other)) << text_of(seed, expr, other);
        ASSERT_EQ(problem_key(expr), problem_key(other)) << text_of(seed, expr, other);
        if (seed % 4 > 1) continue;
        IdentityReport report = test_identity(expr, other);
        ASSERT_NE(report.verdict, Verdict::Different)
            << report.detail << text_of(seed, expr, other);
        ++(report.verdict == Verdict::Equal ? equal : undecided);
    }
    // Rounding of what saturates is close to a boundary in every draw.
    EXPECT_GT(equal, 20 * undecided);
}

TEST(KeyFuzz, EqualKeysAreEqualExpressions) {
    int64_t different = 0;
    IdentityOptions options;
    options.branching_draws = 4;
    for (int64_t seed = 0; seed < runs(); ++seed) {
        Expr expr = any_expr(seed);
        Rebuild count(seed);
        count(expr);
        Expr other = Rebuild(seed + 1, Dice(seed).below(count.places()))(expr);
        if (!violations(other).empty()) continue;
        if (test_identity(expr, other, options).verdict != Verdict::Different) continue;
        ++different;
        ASSERT_NE(key(expr), key(other)) << text_of(seed, expr, other);
        ASSERT_NE(problem_key(expr), problem_key(other)) << text_of(seed, expr, other);
    }
    EXPECT_GT(different, runs() / 8);
}

}  // namespace
}  // namespace ollie::expr
