#include "expr/identity.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/hash.h"
#include "expr/identity/residue.h"
#include "expr/parse.h"

namespace ollie::expr {
namespace {

struct Case {
    const char* name;
    std::string original;
    std::string derived;
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

IdentityReport test(const std::string& original, const std::string& derived,
                    const IdentityOptions& options = {}) {
    return test_identity(parse(original), parse(derived), options);
}

const std::string convolution =
    "input A: f32[1, 6, 7, 9]\nweight K: f32[5, 6, 3, 3]\n"
    "output Y: f32[n:1, f:5, h:7, w:9] = "
    "sum[c:6, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | 0] * K[f, c, r, s]";

std::string offset_add(const char* read) {
    return std::string(
               "input A: f32[1, 6, 7, 9]\nweight K: f32[5, 6, 3, 3]\n"
               "T: f32[r:3, s:3, f:5, u:7, v:9] = sum[c:6] A[0, c, u, v] * K[f, c, r, s]\n"
               "output Y: f32[n:1, f:5, h:7, w:9] = sum[r:3, s:3] ") +
           read;
}

const std::string transposed =
    "input X: f32[4, 5]\nweight K: f32[4, 3, 4]\n"
    "output Y: f32[f:3, h:10] = sum[c:4, r:4] "
    "select((h + 1 - r) mod 2 == 0, X[c, (h + 1 - r) div 2 | 0] * K[c, f, r], 0)";

const std::string dilated =
    "input A: f32[11]\nweight K: f32[3]\n"
    "output Y: f32[h:11] = sum[r:3] A[h + 2 * r - 2 | 0] * K[r]";

const std::string strided =
    "input A: f32[4, 13]\nweight K: f32[4, 3]\n"
    "output Y: f32[h:7] = sum[c:4, r:3] A[c, 2 * h + r - 1 | 0] * K[c, r]";

const std::string softmax =
    "input X: f32[3, 12]\n"
    "M: f32[i:3] = max[j:12] X[i, j]\n"
    "E: f32[i:3, j:12] = exp(X[i, j] - M[i])\n"
    "S: f32[i:3] = sum[j:12] E[i, j]\n"
    "output Y: f32[i:3, j:12] = E[i, j] / S[i]";

/// By blocks of four, each with its own maximum.
std::string blocked_softmax(const char* rescaled) {
    return std::string(
               "input X: f32[3, 12]\n"
               "B: f32[i:3, b:3] = max[k:4] X[i, 4 * b + k]\n"
               "P: f32[i:3, b:3] = sum[k:4] exp(X[i, 4 * b + k] - B[i, b])\n"
               "M: f32[i:3] = max[b:3] B[i, b]\n"
               "S: f32[i:3] = sum[b:3] ") +
           rescaled + "\noutput Y: f32[i:3, j:12] = exp(X[i, j] - M[i]) / S[i]";
}

std::string attention(const char* first, const char* second) {
    return std::string(
               "input Q: f32[5, 4]\ninput K: f32[7, 4]\ninput V: f32[7, 6]\n"
               "S: f32[i:5, j:7] = (sum[c:4] Q[i, c] * K[j, c]) * 0.5\n"
               "M: f32[i:5] = max[j:7] S[i, j]\n"
               "E: f32[i:5, j:7] = exp(S[i, j] - M[i])\n"
               "D: f32[i:5] = sum[j:7] E[i, j]\n") +
           first + "\noutput Y: f32[i:5, d:6] = " + second;
}

const std::string attention_original =
    attention("P: f32[i:5, j:7] = E[i, j] / D[i]", "sum[j:7] P[i, j] * V[j, d]");

const std::string winograd_original =
    "input A: f32[5, 8]\nweight K: f32[3, 5, 3]\n"
    "output Y: f32[f:3, h:7] = sum[c:5, r:3] A[c, h + r - 1 | 0] * K[f, c, r]";

std::string winograd(const char* data_side) {
    return std::string("input A: f32[5, 8]\nweight K: f32[3, 5, 3]\n") + "weight B: f32[4, 4] = {" +
           data_side +
           "}\n"
           "weight G: f32[4, 3] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1}\n"
           "weight C: f32[2, 4] = {1, 1, 1, 0, 0, 1, -1, -1}\n"
           "pinned V: f32[t:4, i:4, c:5] = sum[a:4] B[i, a] * A[c, 2 * t + a - 1 | 0]\n"
           "pinned U: f32[i:4, f:3, c:5] = sum[r:3] G[i, r] * K[f, c, r]\n"
           "pinned M: f32[i:4, f:3, t:4] = sum[c:5] U[i, f, c] * V[t, i, c]\n"
           "output Y: f32[f:3, h:7] = sum[i:4] C[h mod 2, i] * M[i, f, h div 2]";
}

const std::string norm_before_padding =
    "input A: f32[6]\nweight G: f32[6]\nweight B: f32[6]\nweight K: f32[3]\n"
    "T: f32[i:6] = A[i] * G[i] + B[i]\n"
    "output Y: f32[h:6] = sum[r:3] T[h + r - 1 | 0] * K[r]";

const std::string variance =
    "input X: f32[3, 8]\n"
    "M: f32[i:3] = (sum[j:8] X[i, j]) * 0.125\n"
    "V: f32[i:3] = (sum[j:8] (X[i, j] - M[i]) * (X[i, j] - M[i])) * 0.125\n"
    "output Y: f32[i:3, j:8] = (X[i, j] - M[i]) / sqrt(V[i] + 0.00001)";

/// Two layers of softmax, so that an exp stands inside an exp.
std::string two_softmaxes(const char* shift) {
    return std::string(
               "input X: f32[3, 4]\ninput W: f32[4, 4]\n"
               "E: f32[i:3, j:4] = exp(X[i, j])\n"
               "D: f32[i:3] = sum[j:4] E[i, j]\n"
               "P: f32[i:3, j:4] = E[i, j] / D[i]\n"
               "Z: f32[i:3, k:4] = sum[j:4] P[i, j] * W[j, k]\n"
               "M: f32[i:3] = max[k:4] Z[i, k]\n"
               "F: f32[i:3, k:4] = exp(Z[i, k]") +
           shift + ")\nG: f32[i:3] = sum[k:4] F[i, k]\noutput Y: f32[i:3, k:4] = F[i, k] / G[i]";
}

class TrueLaw : public testing::TestWithParam<Case> {};

TEST_P(TrueLaw, IsEqual) {
    IdentityReport report = test(GetParam().original, GetParam().derived);
    EXPECT_EQ(report.verdict, Verdict::Equal) << report.detail;
    EXPECT_GT(report.points, 0);
}

const std::vector<Case> laws = {
    {"convolution_by_product_and_offset_add", convolution,
     offset_add("T[r, s, f, h + r - 1, w + s - 1 | 0]")},
    {"convolution_by_gathered_columns", convolution,
     "input A: f32[1, 6, 7, 9]\nweight K: f32[5, 6, 3, 3]\n"
     "P: f32[h:7, w:9, k:54] = "
     "A[0, k div 9, h + k div 3 mod 3 - 1, w + k mod 3 - 1 | 0]\n"
     "output Y: f32[n:1, f:5, h:7, w:9] = "
     "sum[k:54] P[h, w, k] * K[f, k div 9, k div 3 mod 3, k mod 3]"},
    {"transposed_by_phases", transposed,
     "input X: f32[4, 5]\nweight K: f32[4, 3, 4]\n"
     "output Y: f32[f:3, h:10] = sum[c:4, t:2] "
     "X[c, (h + 1) div 2 - t | 0] * K[c, f, 2 * t + (h + 1) mod 2]"},
    {"dilation_into_the_batch", dilated,
     "input A: f32[11]\nweight K: f32[3]\n"
     "R: f32[p:2, q:6] = A[2 * q + p | 0]\n"
     "T: f32[p:2, q:6] = sum[r:3] R[p, q + r - 1 | 0] * K[r]\n"
     "output Y: f32[h:11] = T[h mod 2, h div 2]"},
    {"stride_by_residues", strided,
     "input A: f32[4, 13]\nweight K: f32[4, 3]\n"
     "output Y: f32[h:7] = sum[c:4, t:2, p:2] "
     "A[c, 2 * h + 2 * t - 2 + p | 0] * K[c, 2 * t + p - 1 | 0]"},
    {"taps_with_remainder",
     "input A: f32[11]\nweight K: f32[5]\n"
     "output Y: f32[h:11] = sum[r:5] A[h + r - 2 | 0] * K[r]",
     "input A: f32[11]\nweight K: f32[5]\n"
     "output Y: f32[h:11] = sum[p:2, q:3] A[h + 3 * p + q - 2 | 0] * K[3 * p + q | 0]"},
    {"softmax_without_shift", softmax,
     "input X: f32[3, 12]\n"
     "S: f32[i:3] = sum[j:12] exp(X[i, j])\n"
     "output Y: f32[i:3, j:12] = exp(X[i, j]) / S[i]"},
    {"softmax_by_blocks", softmax, blocked_softmax("P[i, b] * exp(B[i, b] - M[i])")},
    {"normalizer_behind_the_product", attention_original,
     attention("U: f32[i:5, d:6] = sum[j:7] E[i, j] * V[j, d]", "U[i, d] / D[i]")},
    {"exp_inside_exp", two_softmaxes(""), two_softmaxes(" - M[i]")},
    {"bilinear_tiles", winograd_original,
     winograd("1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1")},
    {"padding_behind_an_inlined_normalization", norm_before_padding,
     "input A: f32[6]\nweight G: f32[6]\nweight B: f32[6]\nweight K: f32[3]\n"
     "output Y: f32[h:6] = sum[r:3] select(h + r - 1 >= 0 and h + r - 1 < 6, "
     "A[h + r - 1 | 0] * G[h + r - 1 | 0] + B[h + r - 1 | 0], 0) * K[r]"},
    {"variance_by_squares", variance,
     "input X: f32[3, 8]\n"
     "M: f32[i:3] = (sum[j:8] X[i, j]) * 0.125\n"
     "V: f32[i:3] = (sum[j:8] X[i, j] * X[i, j]) * 0.125 - M[i] * M[i]\n"
     "output Y: f32[i:3, j:8] = (X[i, j] - M[i]) * reciprocal(sqrt(0.00001 + V[i]))"},
    {"scale_into_the_weights",
     "input A: f32[6]\nweight K: f32[5, 6]\nweight G: f32[5]\n"
     "output Y: f32[f:5] = (sum[c:6] A[c] * K[f, c]) * G[f]",
     "input A: f32[6]\nweight K: f32[5, 6]\nweight G: f32[5]\n"
     "L: f32[f:5, c:6] = K[f, c] * G[f]\n"
     "output Y: f32[f:5] = sum[c:6] A[c] * L[f, c]"},
    {"maximum_of_maxima", "input A: f32[14]\noutput Y: f32[h:7] = max[r:4] A[2 * h + r - 1 | -inf]",
     "input A: f32[14]\nM: f32[h:8] = max[r:2] A[2 * h + r - 1 | -inf]\n"
     "output Y: f32[h:7] = max(M[h], M[h + 1])"},
    {"relu_by_comparison", "input A: f32[40]\noutput Y: f32[i:40] = relu(A[i])",
     "input A: f32[40]\noutput Y: f32[i:40] = where(less(0, A[i]), A[i], 0)"},
    {"absolute_value_by_maximum", "input A: f32[40]\noutput Y: f32[i:40] = abs(A[i])",
     "input A: f32[40]\noutput Y: f32[i:40] = max(A[i], -1 * A[i])"},
    {"sigmoid_is_odd", "input A: f32[9]\noutput Y: f32[i:9] = sigmoid(A[i])",
     "input A: f32[9]\noutput Y: f32[i:9] = 1 - sigmoid(-1 * A[i])"},
    {"tanh_by_sigmoid", "input A: f32[9]\noutput Y: f32[i:9] = tanh(A[i])",
     "input A: f32[9]\noutput Y: f32[i:9] = 2 * sigmoid(2 * A[i]) - 1"},
    {"products_join",
     "input A: f32[6, 5]\nweight K: f32[5, 4]\nweight L: f32[5, 3]\n"
     "Q: f32[i:6, f:4] = sum[c:5] A[i, c] * K[c, f]\n"
     "R: f32[i:6, f:3] = sum[c:5] A[i, c] * L[c, f]\n"
     "output Y: f32[i:6] = (sum[f:4] Q[i, f]) + sum[f:3] R[i, f]",
     "input A: f32[6, 5]\nweight K: f32[5, 4]\nweight L: f32[5, 3]\n"
     "J: f32[c:5, f:7] = select(f < 4, K[c, f | 0], L[c, f - 4 | 0])\n"
     "P: f32[i:6, f:7] = sum[c:5] A[i, c] * J[c, f]\n"
     "output Y: f32[i:6] = sum[f:7] P[i, f]"},
    {"integers_are_exact", "input A: i32[9]\noutput Y: i32[i:9] = A[i] * A[i] - 4 * A[i] + 4",
     "input A: i32[9]\noutput Y: i32[i:9] = (A[i] - 2) * (A[i] - 2)"},
    {"decimal_constants_are_fractions",
     "input A: f64[9]\noutput Y: f64[i:9] = A[i] * 0.1 + A[i] * 0.2",
     "input A: f64[9]\noutput Y: f64[i:9] = A[i] * 0.3"},
    {"empty_reductions_are_identities",
     "input A: f32[5]\noutput Y: f32[i:5] = A[i] + sum[r:0] A[r]",
     "input A: f32[5]\noutput Y: f32[i:5] = max(A[i], max[r:0] A[r])"},
    {"everything_masked_is_nan",
     "input A: f32[4, 4]\n"
     "S: f32[i:4, j:4] = select(j < i, A[i, j], -inf)\n"
     "M: f32[i:4] = max[j:4] S[i, j]\n"
     "E: f32[i:4, j:4] = exp(S[i, j] - M[i])\n"
     "output Y: f32[i:4] = (sum[j:4] E[i, j]) * reciprocal(sum[j:4] E[i, j])",
     "input A: f32[4, 4]\noutput Y: f32[i:4] = select(i == 0, nan, 1)"},
};

INSTANTIATE_TEST_SUITE_P(Identity, TrueLaw, testing::ValuesIn(laws), name_of_case);

class Mistake : public testing::TestWithParam<Case> {};

TEST_P(Mistake, IsDifferent) {
    IdentityReport report = test(GetParam().original, GetParam().derived);
    EXPECT_EQ(report.verdict, Verdict::Different) << report.detail;
    EXPECT_FALSE(report.detail.empty());
}

const std::string window_maximum =
    "input A: f32[2, 14]\noutput Y: f32[c:2, h:7] = max[r:3] A[c, 2 * h + r - 1 | -inf]";

const std::string corner = "input A: f32[512, 7, 7]\noutput Y: f32[f:512, h:7, w:7] = A[f, h, w]";

const std::vector<Case> mistakes = {
    {"off_by_one", convolution, offset_add("T[r, s, f, h + r - 1, w + s | 0]")},
    {"dropped_padding", convolution,
     offset_add("select(h + r >= 2, T[r, s, f, h + r - 1, w + s - 1 | 0], 0)")},
    {"other_outside_value", convolution, offset_add("T[r, s, f, h + r - 1, w + s - 1 | 1]")},
    {"swapped_iterators", convolution, offset_add("T[s, r, f, h + r - 1, w + s - 1 | 0]")},
    {"lost_constant", "input A: f32[8]\noutput Y: f32[n:1] = (sum[i:8] A[i]) * 0.125",
     "input A: f32[8]\noutput Y: f32[n:1] = sum[i:8] A[i]"},
    {"one_term_short", convolution,
     "input A: f32[1, 6, 7, 9]\nweight K: f32[5, 6, 3, 3]\n"
     "output Y: f32[n:1, f:5, h:7, w:9] = "
     "sum[c:5, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | 0] * K[f, c, r, s]"},
    {"wrong_identity_element", window_maximum,
     "input A: f32[2, 14]\noutput Y: f32[c:2, h:7] = max[r:3] A[c, 2 * h + r - 1 | 0]"},
    {"missing_guard", transposed,
     "input X: f32[4, 5]\nweight K: f32[4, 3, 4]\n"
     "output Y: f32[f:3, h:10] = sum[c:4, r:4] X[c, (h + 1 - r) div 2 | 0] * K[c, f, r]"},
    {"wrong_phase", transposed,
     "input X: f32[4, 5]\nweight K: f32[4, 3, 4]\n"
     "output Y: f32[f:3, h:10] = sum[c:4, t:2] "
     "X[c, (h + 1) div 2 - t | 0] * K[c, f, 2 * t + h mod 2]"},
    {"outside_value_lost_when_inlining", norm_before_padding,
     "input A: f32[6]\nweight G: f32[6]\nweight B: f32[6]\nweight K: f32[3]\n"
     "output Y: f32[h:6] = sum[r:3] "
     "(A[h + r - 1 | 0] * G[max(min(h + r - 1, 5), 0)] + B[max(min(h + r - 1, 5), 0)]) * K[r]"},
    {"dropped_rescale", softmax, blocked_softmax("P[i, b]")},
    {"rescale_turned_round", softmax, blocked_softmax("P[i, b] * exp(M[i] - B[i, b])")},
    {"residue_classes_end_to_end", dilated,
     "input A: f32[11]\nweight K: f32[3]\n"
     "R: f32[q:12] = A[2 * (q mod 6) + q div 6 | 0]\n"
     "T: f32[q:12] = sum[r:3] R[q + r - 1 | 0] * K[r]\n"
     "output Y: f32[h:11] = T[6 * (h mod 2) + h div 2]"},
    {"wrong_modulus", dilated,
     "input A: f32[11]\nweight K: f32[3]\n"
     "R: f32[p:2, q:6] = A[2 * q + p | 0]\n"
     "T: f32[p:2, q:6] = sum[r:3] R[p, q + r - 1 | 0] * K[r]\n"
     "output Y: f32[h:11] = T[h div 2 mod 2, h div 2]"},
    {"last_partial_tile_lost", winograd_original,
     "input A: f32[5, 8]\nweight K: f32[3, 5, 3]\n"
     "T: f32[f:3, h:6] = sum[c:5, r:3] A[c, h + r - 1 | 0] * K[f, c, r]\n"
     "output Y: f32[f:3, h:7] = T[f, h | 0]"},
    {"stride_residue_swapped", strided,
     "input A: f32[4, 13]\nweight K: f32[4, 3]\n"
     "output Y: f32[h:7] = sum[c:4, t:2, p:2] "
     "A[c, 2 * h + 2 * t - 2 + p | 0] * K[c, 2 * t - p | 0]"},
    {"transposed_weights",
     "input A: f32[5]\nweight K: f32[5, 5]\noutput Y: f32[f:5] = sum[c:5] A[c] * K[f, c]",
     "input A: f32[5]\nweight K: f32[5, 5]\noutput Y: f32[f:5] = sum[c:5] A[c] * K[c, f]"},
    {"lost_activation", "input A: f32[40]\noutput Y: f32[i:40] = relu(A[i])",
     "input A: f32[40]\noutput Y: f32[i:40] = A[i]"},
    {"wrong_slope",
     "input A: f32[40]\noutput Y: f32[i:40] = where(less(A[i], 0), 0.25 * A[i], A[i])",
     "input A: f32[40]\noutput Y: f32[i:40] = where(less(A[i], 0), 0.2 * A[i], A[i])"},
    {"strict_instead_of_weak_mask",
     "input A: f32[9, 9]\noutput Y: f32[i:9] = sum[j:9] select(j <= i, A[i, j], 0)",
     "input A: f32[9, 9]\noutput Y: f32[i:9] = sum[j:9] select(j < i, A[i, j], 0)"},
    {"wrong_matrix_entry", winograd_original,
     winograd("1, 0, -1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, -1")},
    {"variance_without_square_of_mean", variance,
     "input X: f32[3, 8]\n"
     "M: f32[i:3] = (sum[j:8] X[i, j]) * 0.125\n"
     "V: f32[i:3] = (sum[j:8] X[i, j] * X[i, j]) * 0.125\n"
     "output Y: f32[i:3, j:8] = (X[i, j] - M[i]) / sqrt(V[i] + 0.00001)"},
    {"epsilon_outside_the_root", variance,
     "input X: f32[3, 8]\n"
     "M: f32[i:3] = (sum[j:8] X[i, j]) * 0.125\n"
     "V: f32[i:3] = (sum[j:8] (X[i, j] - M[i]) * (X[i, j] - M[i])) * 0.125\n"
     "output Y: f32[i:3, j:8] = (X[i, j] - M[i]) / (sqrt(V[i]) + 0.00001)"},
    {"bias_inside_the_sum",
     "input A: f32[6]\nweight K: f32[5, 6]\nweight B: f32[5]\n"
     "output Y: f32[f:5] = (sum[c:6] A[c] * K[f, c]) + B[f]",
     "input A: f32[6]\nweight K: f32[5, 6]\nweight B: f32[5]\n"
     "output Y: f32[f:5] = sum[c:6] (A[c] * K[f, c] + B[f])"},
    {"border_counted_in_the_mean",
     "input A: f32[9]\n"
     "N: f32[h:9] = sum[r:3] select(h + r - 1 >= 0 and h + r - 1 < 9, 1, 0)\n"
     "output Y: f32[h:9] = (sum[r:3] A[h + r - 1 | 0]) / N[h]",
     "input A: f32[9]\noutput Y: f32[h:9] = (sum[r:3] A[h + r - 1 | 0]) / 3"},
    {"scaled_twice", attention_original,
     attention("U: f32[i:5, d:6] = sum[j:7] E[i, j] * V[j, d]", "U[i, d] / D[i] * 0.5")},
    {"wrong_table_entry", "input A: f32[9]\noutput Y: f32[i:5] = A[2 * i]",
     "input A: f32[9]\noutput Y: f32[i:5] = select(i == 3, A[5], A[2 * i])"},
    {"floor_for_truncation", "input A: i32[40]\noutput Y: i32[i:40] = trunc_mod(A[i], 7)",
     "input A: i32[40]\noutput Y: i32[i:40] = floor_mod(A[i], 7)"},
    {"one_corner_of_many", corner,
     "input A: f32[512, 7, 7]\noutput Y: f32[f:512, h:7, w:7] = "
     "select(f == 300 and h == 6 and w == 0, 0, A[f, h, w])"},
    {"one_row_of_an_intermediate", convolution,
     "input A: f32[1, 6, 7, 9]\nweight K: f32[5, 6, 3, 3]\n"
     "P: f32[c:6, u:9, v:11] = select(u == 8, 1, A[0, c, u - 1, v - 1 | 0])\n"
     "output Y: f32[n:1, f:5, h:7, w:9] = "
     "sum[c:6, r:3, s:3] P[c, h + r, w + s] * K[f, c, r, s]"},
    {"read_beyond_the_end", "input A: f32[9]\noutput Y: f32[i:9] = A[i]",
     "input A: f32[9]\noutput Y: f32[i:9] = A[i + i div 8]"},
    {"second_softmax_sharper", two_softmaxes(""), two_softmaxes(" + Z[i, k]")},
    {"only_when_all_are_negative", "input A: f32[3, 64]\noutput Y: f32[i:3] = max[j:64] A[i, j]",
     "input A: f32[3, 64]\noutput Y: f32[i:3] = max(max[j:64] A[i, j], 0)"},
    {"only_when_everything_is_masked",
     "input A: f32[3, 64]\ninput W: bool[3, 64]\n"
     "output Y: f32[i:3] = max[j:64] where(W[i, j], A[i, j], -1000)",
     "input A: f32[3, 64]\ninput W: bool[3, 64]\n"
     "output Y: f32[i:3] = max(-10, max[j:64] where(W[i, j], A[i, j], -1000))"},
    {"only_when_two_are_equal",
     "input A: f32[3, 20]\nM: f32[i:3] = max[j:20] A[i, j]\n"
     "output Y: f32[i:3] = sum[j:20] where(equal(A[i, j], M[i]), 1, 0)",
     "input A: f32[3, 20]\noutput Y: f32[i:3] = 1"},
    {"only_when_the_last_is_the_greatest",
     "input A: f32[3, 500]\noutput Y: f32[i:3] = max[j:500] A[i, j]",
     "input A: f32[3, 500]\noutput Y: f32[i:3] = max[j:499] A[i, j]"},
    {"only_when_the_first_is_the_greatest",
     "input A: f32[3, 500]\noutput Y: f32[i:3] = max[j:500] A[i, j]",
     "input A: f32[3, 500]\noutput Y: f32[i:3] = max[j:499] A[i, j + 1]"},
    {"unmasked_row",
     "input A: f32[4, 4]\noutput Y: f32[i:4] = max[j:4] select(j < i, A[i, j], -inf)",
     "input A: f32[4, 4]\noutput Y: f32[i:4] = max[j:4] select(j < i, A[i, j], -1000)"},
};

INSTANTIATE_TEST_SUITE_P(Identity, Mistake, testing::ValuesIn(mistakes), name_of_case);

TEST(Identity, LawsOfOraclesAreUndecided) {
    // log(ab) = log a + log b is true, but an oracle does not know it.
    IdentityReport report = test("input A: f32[9]\noutput Y: f32[i:9] = log(exp(A[i]) * 2)",
                                 "input A: f32[9]\noutput Y: f32[i:9] = log(exp(A[i])) + log(2)");
    EXPECT_EQ(report.verdict, Verdict::Undecided);
    EXPECT_FALSE(report.detail.empty());
}

TEST(Identity, TooLittleTimeIsUndecided) {
    IdentityOptions options;
    options.seconds = 0;
    EXPECT_EQ(test(convolution, convolution, options).verdict, Verdict::Undecided);
}

TEST(Identity, DecisionsThatStayTooCloseAreUndecided) {
    // Exactly equal numbers of which no residue knows it.
    std::string text =
        "input A: f32[9]\noutput Y: f32[i:9] = where(less(erf(A[i]), 0 - erf(0 - A[i])), 1, 0)";
    EXPECT_EQ(test(text, text).verdict, Verdict::Undecided);
}

TEST(Identity, ShapesAndSourcesMustCorrespond) {
    std::string text = "input A: f32[9]\noutput Y: f32[i:9] = A[i]";
    EXPECT_EQ(test(text, "input A: f32[9]\noutput Y: f32[i:8] = A[i]").verdict, Verdict::Different);
    EXPECT_EQ(test(text, "input A: f32[10]\noutput Y: f32[i:9] = A[i]").verdict,
              Verdict::Different);
    EXPECT_EQ(test(text, "input B: f32[9]\noutput Y: f32[i:9] = B[i]").verdict, Verdict::Different);
}

TEST(Identity, FoldedWeightsAreComparedByValue) {
    std::string original =
        "input A: f32[3]\nweight K: f32[3] = {1, 0.5, 3}\nweight G: f32[1] = {0.25}\n"
        "output Y: f32[i:3] = A[i] * K[i] * G[0]";
    auto folded = [](const char* last) {
        return std::string("input A: f32[3]\nweight L: f32[3] = {0.25, 0.125, ") + last +
               "}\noutput Y: f32[i:3] = A[i] * L[i]";
    };
    EXPECT_EQ(test(original, folded("0.75")).verdict, Verdict::Equal);
    EXPECT_EQ(test(original, folded("0.5")).verdict, Verdict::Different);
    EXPECT_EQ(test(original, folded("0.7500001")).verdict, Verdict::Undecided);
}

TEST(Identity, SmallOutputsAreComparedCompletely) {
    IdentityReport report = test(strided, strided);
    EXPECT_EQ(report.points, 7 * report.draws);
}

TEST(Identity, ConvolutionAgainstProductAndOffsetAddIsFast) {
    auto start = std::chrono::steady_clock::now();
    IdentityReport report = test(
        "input A: f32[1, 512, 7, 7]\nweight K: f32[512, 512, 3, 3]\n"
        "output Y: f32[n:1, f:512, h:7, w:7] = "
        "sum[c:512, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | 0] * K[f, c, r, s]",
        "input A: f32[1, 512, 7, 7]\nweight K: f32[512, 512, 3, 3]\n"
        "T: f32[r:3, s:3, f:512, u:7, v:7] = sum[c:512] A[0, c, u, v] * K[f, c, r, s]\n"
        "output Y: f32[n:1, f:512, h:7, w:7] = "
        "sum[r:3, s:3] T[r, s, f, h + r - 1, w + s - 1 | 0]");
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(report.verdict, Verdict::Equal) << report.detail;
    EXPECT_GE(report.points, 400);
    printf("%ld elements in %d draws, %ld terms, %.3f s\n", report.points, report.draws,
           report.work, seconds);
}

uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
    Wide result = 1, square = base % modulus;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0) result = result * square % modulus;
        square = square * square % modulus;
    }
    return static_cast<uint64_t>(result);
}

/// Miller-Rabin; the first twelve primes as bases decide all of 64 bits.
bool is_prime(uint64_t n) {
    int twos = __builtin_ctzll(n - 1);
    for (uint64_t base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
        uint64_t x = power(base, (n - 1) >> twos, n);
        bool is_witness = x != 1 && x != n - 1;
        for (int i = 1; i < twos && is_witness; ++i) {
            x = static_cast<uint64_t>(Wide{x} * x % n);
            is_witness = x != n - 1;
        }
        if (is_witness) return false;
    }
    return true;
}

TEST(Residue, TheModuliArePrime) {
    EXPECT_TRUE(is_prime(FieldP::prime));
    EXPECT_TRUE(is_prime(FieldQ::prime));
    EXPECT_TRUE(is_prime(FieldS::prime));
    EXPECT_FALSE(is_prime(FieldP::prime - 2));
    EXPECT_EQ(FieldP::prime, 8 * FieldQ::prime + 1);
    EXPECT_EQ(FieldQ::prime, 4 * FieldS::prime + 1);
}

TEST(Residue, ArithmeticAgreesWithPlainDivision) {
    uint64_t state = 1;
    for (int i = 0; i < 10000; ++i) {
        state = mix(state);
        uint64_t a = state % FieldP::prime, b = mix(state + 1) % FieldP::prime;
        EXPECT_EQ(FieldP::multiply(a, b), static_cast<uint64_t>(Wide{a} * b % FieldP::prime));
        EXPECT_EQ(FieldP::add(a, b), static_cast<uint64_t>((Wide{a} + b) % FieldP::prime));
        Wide any = (Wide{mix(state + 2)} << 64) | mix(state + 3);
        EXPECT_EQ(FieldP::reduce(any), static_cast<uint64_t>(any % FieldP::prime));
        EXPECT_EQ(FieldQ::reduce(any), static_cast<uint64_t>(any % FieldQ::prime));
        EXPECT_EQ(FieldS::reduce(any), static_cast<uint64_t>(any % FieldS::prime));
        EXPECT_EQ(FieldQ::reduce(FieldQ::fold(any)), FieldQ::reduce(any));
        if (a != 0) {
            EXPECT_EQ(FieldP::multiply(a, FieldP::inverse(a)), 1u);
        }
    }
    EXPECT_EQ(FieldP::multiply(FieldP::power_of_two(-300), FieldP::power_of_two(300)), 1u);
}

}  // namespace
}  // namespace ollie::expr
