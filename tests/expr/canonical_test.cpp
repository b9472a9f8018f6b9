#include "expr/canonical.h"

#include <chrono>

#include <gtest/gtest.h>

#include "expr/build.h"
#include "expr/parse.h"
#include "expr/print.h"

namespace ollie::expr {
namespace {

Key key_of(const std::string& text) { return key(parse(text)); }

struct Pair {
    const char* name;
    const char* first;
    const char* second;
};

std::string name_of_case(const testing::TestParamInfo<Pair>& info) { return info.param.name; }

class SameKey : public testing::TestWithParam<Pair> {};

TEST_P(SameKey, ForEqualForms) { EXPECT_EQ(key_of(GetParam().first), key_of(GetParam().second)); }

const std::vector<Pair> same_pairs = {
    {"names_and_order_of_reductions",
     "input A: f32[4, 9, 9]\nweight K: f32[5, 4, 3, 3]\n"
     "output Y: f32[f:5, h:7, w:7] = sum[c:4, r:3, s:3] A[c, h + r, w + s] * K[f, c, r, s]",
     "input A: f32[4, 9, 9]\nweight K: f32[5, 4, 3, 3]\n"
     "output Z: f32[a:5, b:7, d:7] = sum[t:3, k:4, u:3] K[a, k, u, t] * A[k, b + u, d + t]"},
    {"axes_of_an_intermediate",
     "input A: f32[4, 5]\n"
     "T: f32[i:4, j:5] = A[i, j] * A[i, j]\n"
     "output Y: f32[i:4, j:5] = T[i, j] + 1",
     "input A: f32[4, 5]\n"
     "S: f32[p:5, q:4] = A[q, p] * A[q, p]\n"
     "output Y: f32[i:4, j:5] = 1 + S[j, i]"},
    {"equal_extents_of_an_intermediate",
     "input A: f32[4, 4]\n"
     "T: f32[i:4, j:4] = exp(A[i, j])\n"
     "output Y: f32[i:4, j:4] = T[i, j] * A[j, i]",
     "input A: f32[4, 4]\n"
     "T: f32[j:4, i:4] = exp(A[i, j])\n"
     "output Y: f32[i:4, j:4] = A[j, i] * T[j, i]"},
    {"automorphic_axes",
     "input A: f32[4]\ninput B: f32[4]\n"
     "T: f32[i:4, j:4] = A[i] * A[j]\n"
     "output Y: f32[i:4, j:4] = T[i, j] * B[i]",
     "input A: f32[4]\ninput B: f32[4]\n"
     "T: f32[i:4, j:4] = A[i] * A[j]\n"
     "output Y: f32[i:4, j:4] = T[j, i] * B[i]"},
    {"shift_of_an_intermediate",
     "input A: f32[9]\n"
     "T: f32[i:9] = exp(A[i])\n"
     "output Y: f32[i:7] = T[i] + T[i + 2]",
     "input A: f32[9]\n"
     "T: f32[i:-3..6] = exp(A[i + 3])\n"
     "output Y: f32[i:2..9] = T[i - 3] + T[i - 5]"},
    {"shift_of_a_reduction", "input A: f32[9]\noutput Y: f32[i:5] = sum[r:5] A[i + r] * number(r)",
     "input A: f32[9]\noutput Y: f32[i:5] = sum[r:2..7] A[i + r - 2] * number(r - 2)"},
    {"shift_inside_a_quotient", "input A: f32[9]\noutput Y: f32[i:5] = A[(i + 3) div 2]",
     "input A: f32[9]\noutput Y: f32[i:4..9] = A[(i + 1) div 2 - 1]"},
    {"unit_axes_of_an_intermediate",
     "input A: f32[1, 4]\n"
     "T: f32[n:1, i:4] = exp(A[n, i])\n"
     "output Y: f32[i:4] = T[0, i]",
     "input A: f32[1, 4]\n"
     "T: f32[i:4] = exp(A[0, i])\n"
     "output Y: f32[i:4] = T[i]"},
    {"nested_reductions",
     "input A: f32[4, 5, 6]\noutput Y: f32[i:4] = sum[j:5] (sum[k:6] A[i, j, k])",
     "input A: f32[4, 5, 6]\noutput Y: f32[i:4] = sum[k:6, j:5] A[i, j, k]"},
    {"symmetric_functions",
     "input A: f32[4]\ninput B: f32[4]\noutput Y: f32[i:4] = max(max(A[i], B[i]), 0)",
     "input A: f32[4]\ninput B: f32[4]\noutput Y: f32[i:4] = max(A[i], max(0, B[i]))"},
    {"equations_have_no_sign",
     "input A: f32[4, 4]\noutput Y: f32[i:4, j:4] = select(i - j == 0, A[i, j], 0)",
     "input A: f32[4, 4]\noutput Y: f32[i:4, j:4] = select(j - i == 0, A[i, j], 0)"},
    {"cycle_of_four",
     "input A: f32[5, 5]\n"
     "output Y: f32[n:2] = sum[a:5, b:5, c:5, d:5] A[a, b] * A[b, c] * A[c, d] * A[d, a]",
     "input A: f32[5, 5]\n"
     "output Y: f32[n:2] = sum[a:5, b:5, c:5, d:5] A[c, a] * A[d, b] * A[b, c] * A[a, d]"},
    {"shared_or_not",
     "input A: f32[4]\nT: f32[i:4] = exp(A[i])\noutput Y: f32[i:4] = T[i] * T[3 - i]",
     "input A: f32[4]\nT: f32[i:4] = exp(A[i])\nS: f32[i:4] = exp(A[i])\n"
     "output Y: f32[i:4] = T[i] * S[3 - i]"},
};

INSTANTIATE_TEST_SUITE_P(Canonical, SameKey, testing::ValuesIn(same_pairs), name_of_case);

class DifferentKey : public testing::TestWithParam<Pair> {};

TEST_P(DifferentKey, ForDifferentMeanings) {
    EXPECT_NE(key_of(GetParam().first), key_of(GetParam().second));
    EXPECT_NE(problem_key(parse(GetParam().first)), problem_key(parse(GetParam().second)));
}

/// The first seven are the kinds of pairs that a published fingerprint confuses.
const std::vector<Pair> different_pairs = {
    {"swapped_reductions",
     "input A: f32[9, 9]\nweight K: f32[3, 3]\n"
     "output Y: f32[h:7, w:7] = sum[r:3, s:3] A[h + r, w + s] * K[r, s]",
     "input A: f32[9, 9]\nweight K: f32[3, 3]\n"
     "output Y: f32[h:7, w:7] = sum[r:3, s:3] A[h + s, w + r] * K[r, s]"},
    {"moduli", "input A: f32[9]\noutput Y: f32[i:9] = A[i mod 3]",
     "input A: f32[9]\noutput Y: f32[i:9] = A[i mod 5]"},
    {"compound_quotients", "input A: f32[9]\noutput Y: f32[i:8] = A[(i + 1) div 2]",
     "input A: f32[9]\noutput Y: f32[i:8] = A[(i + 1) div 3]"},
    {"outside_values", "input A: f32[9]\noutput Y: f32[i:9] = A[i + 1 | 0]",
     "input A: f32[9]\noutput Y: f32[i:9] = A[i + 1 | 1]"},
    {"outside_value_of_a_definition",
     "input A: f32[9]\nT: f32[i:9] = exp(A[i])\noutput Y: f32[i:9] = T[i + 1 | 0]",
     "input A: f32[9]\nT: f32[i:9] = exp(A[i])\noutput Y: f32[i:9] = T[i + 1 | -inf]"},
    {"shapes_of_inputs", "input A: f32[9, 9, 4]\noutput Y: f32[i:4] = A[i, i, i]",
     "input A: f32[19, 19, 4]\noutput Y: f32[i:4] = A[i, i, i]"},
    {"unused_reduction", "input A: f32[9]\noutput Y: f32[i:9] = A[i]",
     "input A: f32[9]\noutput Y: f32[i:9] = sum[r:4] A[i]"},
    {"unused_axis", "input A: f32[9]\nT: f32[i:9] = exp(A[i])\noutput Y: f32[i:9] = T[i]",
     "input A: f32[9]\nT: f32[i:9, j:4] = exp(A[i])\noutput Y: f32[i:9] = T[i, 0]"},
    {"extents", "input A: f32[9]\noutput Y: f32[i:5] = A[i]",
     "input A: f32[9]\noutput Y: f32[i:6] = A[i]"},
    {"ranges_of_reductions", "input A: f32[9]\noutput Y: f32[i:5] = sum[r:3] A[i + r]",
     "input A: f32[9]\noutput Y: f32[i:5] = sum[r:4] A[i + r]"},
    {"order_of_output_axes", "input A: f32[5, 5]\noutput Y: f32[i:5, j:5] = exp(A[i, j])",
     "input A: f32[5, 5]\noutput Y: f32[i:5, j:5] = exp(A[j, i])"},
    {"axes_of_a_read_intermediate",
     "input A: f32[5, 5]\nT: f32[i:5, j:5] = exp(A[i, j])\n"
     "output Y: f32[i:5, j:5] = T[i, j] * A[i, j]",
     "input A: f32[5, 5]\nT: f32[i:5, j:5] = exp(A[i, j])\n"
     "output Y: f32[i:5, j:5] = T[j, i] * A[i, j]"},
    {"constants", "input A: f32[5]\noutput Y: f32[i:5] = A[i] * 0.5",
     "input A: f32[5]\noutput Y: f32[i:5] = A[i] * 0.25"},
    {"monoids", "input A: f32[5]\noutput Y: f32[i:3] = max[r:3] A[i + r]",
     "input A: f32[5]\noutput Y: f32[i:3] = min[r:3] A[i + r]"},
    {"offsets", "input A: f32[9]\noutput Y: f32[i:5] = A[i]",
     "input A: f32[9]\noutput Y: f32[i:5] = A[i + 1]"},
    {"predicates", "input A: f32[9]\noutput Y: f32[i:9] = select(i >= 3, A[i], 0)",
     "input A: f32[9]\noutput Y: f32[i:9] = select(i >= 4, A[i], 0)"},
    {"branches", "input A: f32[9]\noutput Y: f32[i:9] = select(i >= 3, A[i], 0)",
     "input A: f32[9]\noutput Y: f32[i:9] = select(i >= 3, 0, A[i])"},
    {"coefficients", "input A: f32[19]\noutput Y: f32[i:9] = A[2 * i]",
     "input A: f32[19]\noutput Y: f32[i:9] = A[i]"},
    {"scope_of_a_sum", "input A: f32[4, 5]\noutput Y: f32[i:4] = sum[j:5] (A[i, j] * A[i, j])",
     "input A: f32[4, 5]\noutput Y: f32[i:4] = (sum[j:5] A[i, j]) * (sum[j:5] A[i, j])"},
    {"types", "input A: f32[5]\noutput Y: f32[i:5] = A[i] * 2",
     "input A: f64[5]\noutput Y: f64[i:5] = A[i] * 2"},
    {"pins", "input A: f32[5]\nT: f32[i:5] = exp(A[i])\noutput Y: f32[i:5] = T[i] * 2",
     "input A: f32[5]\npinned T: f32[i:5] = exp(A[i])\noutput Y: f32[i:5] = T[i] * 2"},
    {"unit_axis_read_outside", "input A: f32[1, 5]\noutput Y: f32[h:3, i:5] = A[h - 1, i | 0]",
     "input A: f32[1, 5]\noutput Y: f32[h:3, i:5] = A[h, i | 0]"},
    {"which_source",
     "input A: f32[4, 4]\ninput B: f32[4]\n"
     "output Y: f32[i:4] = sum[j:4] max(A[i, j], 0) * B[j]",
     "input A: f32[4, 4]\ninput B: f32[4]\n"
     "output Y: f32[i:4] = sum[j:4] max(B[j], 0) * A[i, j]"},
    {"orders_of_cycles",
     "input A: f32[5, 5]\n"
     "output Y: f32[n:2] = sum[a:5, b:5, c:5, d:5] A[a, b] * A[b, c] * A[c, d] * A[d, a]",
     "input A: f32[5, 5]\n"
     "output Y: f32[n:2] = sum[a:5, b:5, c:5, d:5] A[a, b] * A[b, a] * A[c, d] * A[d, c]"},
    {"where_min_is", "input A: f32[9]\noutput Y: f32[i:9] = A[min(i, 4)]",
     "input A: f32[9]\noutput Y: f32[i:9] = A[min(i, 5)]"},
};

INSTANTIATE_TEST_SUITE_P(Canonical, DifferentKey, testing::ValuesIn(different_pairs), name_of_case);

TEST(Canonical, NamesOfSourcesCountInTheKeyButNotInTheProblem) {
    Expr a = parse(
        "input A: f32[4, 5]\nweight K: f32[5]\n"
        "output Y: f32[i:4] = sum[j:5] A[i, j] * K[j]");
    Expr b = parse(
        "input X: f32[4, 5]\nweight W: f32[5]\n"
        "output Z: f32[i:4] = sum[j:5] W[j] * X[i, j]");
    EXPECT_NE(key(a), key(b));
    EXPECT_EQ(problem_key(a), problem_key(b));
    Problem left = problem_of(a), right = problem_of(b);
    ASSERT_EQ(left.sources.size(), 2u);
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(left.sources[i]->shape(), right.sources[i]->shape());
}

TEST(Canonical, SourcesOfEqualProblemsCorrespond) {
    Expr a = parse(
        "input A: f32[4]\ninput B: f32[4]\nS: f32[i:4] = exp(A[i])\n"
        "T: f32[i:4] = exp(B[i])\noutput Y: f32[i:4] = S[i] * max(T[i], 0)");
    Expr b = parse(
        "input P: f32[4]\ninput Q: f32[4]\nS: f32[i:4] = exp(P[i])\n"
        "T: f32[i:4] = exp(Q[i])\noutput Y: f32[i:4] = max(S[i], 0) * T[i]");
    Problem left = problem_of(a), right = problem_of(b);
    EXPECT_EQ(left.key, right.key);
    auto place = [](const Problem& problem, const char* name) {
        return problem.sources[0]->name == name ? 0 : 1;
    };
    EXPECT_EQ(place(left, "A"), place(right, "Q"));
}

TEST(Canonical, ASourceUsedTwiceIsNotTwoSources) {
    Expr a = parse("input A: f32[4]\ninput B: f32[4]\noutput Y: f32[i:4] = A[i] * B[3 - i]");
    Expr b = parse("input A: f32[4]\ninput B: f32[4]\noutput Y: f32[i:4] = A[i] * A[3 - i]");
    EXPECT_NE(problem_key(a), problem_key(b));
}

TEST(Canonical, ValuesOfWeightsCountInTheKeyButNotInTheProblem) {
    const char* text = "weight K: f32[2] = {1, 0.5}\noutput Y: f32[i:2] = K[i] * 2";
    const char* other = "weight K: f32[2] = {1, 0.25}\noutput Y: f32[i:2] = K[i] * 2";
    EXPECT_NE(key_of(text), key_of(other));
    EXPECT_EQ(problem_key(parse(text)), problem_key(parse(other)));
}

TEST(Canonical, CachedKeysAreTheKeys) {
    KeyCache cache;
    Expr expr = parse(
        "input A: f32[4, 5]\nT: f32[i:4, j:5] = exp(A[i, j])\n"
        "U: f32[i:4] = sum[j:5] T[i, j]\n"
        "output Y: f32[i:4, j:5] = T[i, j] * U[i]");
    EXPECT_EQ(key(expr, cache), key(expr));
    EXPECT_EQ(key(expr, cache), key(expr));
    EXPECT_EQ(cache.capped(), 0);
}

TEST(Canonical, TiesWithoutEndAreCutAndCounted) {
    std::string text = "input A: f32[2]\noutput Y: f32[n:2] = sum[";
    std::string product = "A[0]";
    for (char c = 'a'; c < 'k'; ++c) {
        text += std::string(c == 'a' ? "" : ", ") + c + ":2";
        product += std::string(" + A[") + c + "]";
    }
    KeyCache cache;
    Expr expr = parse(text + "] exp(" + product + ")");
    EXPECT_EQ(key(expr, cache), key(parse(text + "] exp(" + product + ")")));
    EXPECT_EQ(cache.capped(), 1);
}

TEST(Canonical, Throughput) {
    Expr expr = parse(
        "input A: f32[1, 512, 7, 7]\nweight K: f32[512, 512, 3, 3]\n"
        "T: f32[r:3, s:3, f:512, u:7, v:7] = sum[c:512] A[0, c, u, v] * K[f, c, r, s]\n"
        "output Y: f32[n:1, f:512, h:7, w:7] = "
        "sum[r:3, s:3] T[r, s, f, h + r - 1, w + s - 1 | 0]");
    constexpr int rounds = 20000;
    auto start = std::chrono::steady_clock::now();
    uint64_t all = 0;
    for (int i = 0; i < rounds; ++i) all ^= key(expr).low;
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(all, 0u);
    RecordProperty("keys_per_second", std::to_string(rounds / seconds));
    printf("keys of two definitions without cache: %.0f a second\n", rounds / seconds);
}

}  // namespace
}  // namespace ollie::expr
