#include <gtest/gtest.h>

#include "derive/rule.h"
#include "derive/scope.h"
#include "expr/identity.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "search/estimate.h"
#include "search/search.h"

namespace ollie::search {
namespace {

// A product as the only target, so that a chain that ends in one must be found to match at all.
backends::LibraryCall product() {
    backends::LibraryCall call;
    call.name = "product";
    call.patterns = {
        "Y[batch.., rows.., columns..] = sum[reduced..] "
        "A[batch.., rows.., reduced..] * B[batch.., columns.., reduced..]"};
    call.choices = [](const match::Binding&) -> OrRefusal<std::vector<backends::CallChoice>> {
        return std::vector<backends::CallChoice>(1);
    };
    call.estimate = [](const match::Binding& binding, const backends::CallChoice&,
                       const match::Machine& machine) {
        return machine.call_seconds + operations(binding.definition) / machine.flops;
    };
    return call;
}

Options options_with(const std::vector<const backends::LibraryCall*>& calls) {
    Options options;
    options.calls = calls;
    options.depth = 4;
    options.states = 4000;
    options.seconds = 60;
    options.candidates = 1000000;
    return options;
}

std::set<std::string> rules_of(const Candidate& candidate) {
    std::set<std::string> rules;
    for (const auto& step : candidate.trail) rules.insert(step.rule);
    return rules;
}

bool has_call(const Candidate& candidate) {
    for (const Piece& piece : candidate.pieces)
        if (piece.kind == Piece::Kind::Call) return true;
    return false;
}

const char* convolution =
    "input A: f32[1, 12, 7, 9]\nweight K: f32[10, 12, 3, 3]\n"
    "output Y: f32[n:1, f:10, h:7, w:9] = "
    "sum[c:12, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | 0] * K[f, c, r, s]\n";

const char* transposed =
    "input X: f32[1, 6, 5, 4]\nweight K: f32[6, 3, 9, 9]\n"
    "output Y: f32[n:1, f:3, h:20, w:16] = sum[c:6, r:9, s:9] "
    "select((h + 3 - r) mod 4 == 0 and (w + 3 - s) mod 4 == 0, "
    "X[n, c, (h + 3 - r) div 4, (w + 3 - s) div 4 | 0] * K[c, f, r, s], 0)\n";

struct Found {
    Result result;
    const Candidate* best = nullptr;
};

Found find_product(const char* text, std::set<std::string> disabled = {}, int depth = 4) {
    static const backends::LibraryCall call = product();
    Options options = options_with({&call});
    options.disabled_rules = std::move(disabled);
    options.depth = depth;
    Found found{search(expr::parse(text), options), nullptr};
    for (const Candidate& candidate : found.result.candidates)
        if (has_call(candidate) && found.best == nullptr) found.best = &candidate;
    return found;
}

void expect_equal(const char* text, const Candidate& candidate) {
    auto report = expr::test_identity(expr::parse(text), candidate.expr);
    EXPECT_EQ(report.verdict, expr::Verdict::Equal) << report.detail << "\n"
                                                    << expr::print(candidate.expr);
}

TEST(Chains, ConvolutionBecomesProductAndOffsetAdd) {
    Found found = find_product(convolution, {"extract"});
    ASSERT_NE(found.best, nullptr);
    EXPECT_TRUE(rules_of(*found.best).contains("split_sum"));
    EXPECT_TRUE(rules_of(*found.best).contains("skew"));
    expect_equal(convolution, *found.best);
}

TEST(Chains, ConvolutionIsLostWithoutTheRulesItNeeds) {
    // Either by windows laid out, or by skews after a split sum: all three off leave no product.
    // (Bilinear forms are another way.)
    EXPECT_EQ(find_product(convolution, {"split_sum", "extract", "bilinear"}).best, nullptr);
    EXPECT_EQ(find_product(convolution, {"skew", "extract", "bilinear"}).best, nullptr);
}

TEST(Chains, ConvolutionBecomesOneBatchedProductOverPoints) {
    Found found = find_product(convolution, {"split_sum", "extract"}, 2);
    ASSERT_NE(found.best, nullptr);
    size_t factorized = 0;
    for (const auto& step : found.best->trail) factorized += step.rule == "bilinear" ? 1 : 0;
    EXPECT_EQ(factorized, 2u);
    expect_equal(convolution, *found.best);
    EXPECT_EQ(find_product(convolution, {"split_sum", "extract", "bilinear"}, 2).best, nullptr);
}

TEST(Chains, SubPixelConvolutionIsFactorized) {
    // One input transform for all phases, which are columns of the product.
    Found found = find_product(transposed, {"split_sum", "extract", "skew"}, 6);
    bool both = false;
    for (const Candidate& candidate : found.result.candidates) {
        std::multiset<std::string> rules;
        for (const auto& step : candidate.trail) rules.insert(step.rule);
        if (rules.count("congruence") != 2 || rules.count("bilinear") != 2) continue;
        if (!both) expect_equal(transposed, candidate);
        both = true;
    }
    EXPECT_TRUE(both);
}

TEST(Chains, ConvolutionBecomesIm2col) {
    Found found = find_product(convolution, {"split_sum"}, 1);
    ASSERT_NE(found.best, nullptr);
    EXPECT_TRUE(rules_of(*found.best).contains("extract"));
    expect_equal(convolution, *found.best);
}

TEST(Chains, TransposedConvolutionBecomesProductAndOffsetAdd) {
    Found found = find_product(transposed);
    ASSERT_NE(found.best, nullptr);
    EXPECT_TRUE(rules_of(*found.best).contains("select_motion"));
    EXPECT_TRUE(rules_of(*found.best).contains("skew"));
    expect_equal(transposed, *found.best);
}

TEST(Chains, TransposedConvolutionIsLostWithoutSelectMotion) {
    EXPECT_EQ(find_product(transposed, {"select_motion", "congruence"}).best, nullptr);
}

TEST(Chains, EveryStateOfASearchIsEqual) {
    for (const char* text : {convolution, transposed}) {
        Found found = find_product(text, {}, 3);
        for (const Candidate& candidate : found.result.candidates) expect_equal(text, candidate);
    }
}

TEST(Chains, TransposedConvolutionBecomesSubPixelConvolution) {
    Found found = find_product(transposed, {}, 4);
    bool has_sub_pixel = false;
    for (const Candidate& candidate : found.result.candidates) {
        std::multiset<std::string> rules;
        for (const auto& step : candidate.trail) rules.insert(step.rule);
        if (rules.count("congruence") == 2 && rules.count("split_traversal") == 2 &&
            rules.contains("extract_weights"))
            has_sub_pixel = true;
    }
    EXPECT_TRUE(has_sub_pixel);
}

TEST(Chains, DilatedConvolutionBecomesPlainOverResidues) {
    const char* text =
        "input A: f32[1, 4, 14, 14]\nweight K: f32[5, 4, 3, 3]\n"
        "output Y: f32[n:1, f:5, h:14, w:14] = "
        "sum[c:4, r:3, s:3] A[n, c, h + 2 * r - 2, w + 2 * s - 2 | 0] * K[f, c, r, s]\n";
    Options options = options_with({});
    Result result = search(expr::parse(text), options);
    bool found = false;
    for (const Candidate& candidate : result.candidates) {
        std::multiset<std::string> rules;
        for (const auto& step : candidate.trail) rules.insert(step.rule);
        if (rules.count("split_traversal") != 2 || rules.count("split_layout") != 2) continue;
        if (!found) expect_equal(text, candidate);
        found = true;
    }
    EXPECT_TRUE(found);
}

TEST(Chains, NothingIsDerivedOfNothing) {
    const char* text =
        "input A: f32[0, 3, 9, 9]\nweight K: f32[4, 3, 3, 3]\n"
        "output Y: f32[n:0, f:4, h:9, w:9] = "
        "sum[c:3, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | 0] * K[f, c, r, s]\n";
    Result result = search(expr::parse(text), options_with({}));
    EXPECT_EQ(result.report.states, 1);
    EXPECT_FALSE(result.candidates.empty());
}

TEST(Chains, NormalizationIsFolded) {
    const char* text =
        "input A: f32[1, 4, 6, 6]\nweight K: f32[5, 4, 3, 3]\nweight mean: f32[5]\n"
        "weight variance: f32[5]\nweight scale: f32[5]\nweight bias: f32[5]\n"
        "T: f32[n:1, f:5, h:6, w:6] = "
        "sum[c:4, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | 0] * K[f, c, r, s]\n"
        "output Y: f32[n:1, f:5, h:6, w:6] = "
        "relu((T[n, f, h, w] - mean[f]) * (scale[f] / sqrt(variance[f] + 1e-5)) + bias[f])\n";
    Options options = options_with({});
    auto candidates = direct(expr::parse(text), options);
    ASSERT_FALSE(candidates.empty());
    int on_data = 0;
    for (const expr::Tensor* definition : expr::definitions_of(candidates[0].expr))
        on_data += derive::is_weight_only(definition) ? 0 : 1;
    EXPECT_EQ(on_data, 1) << expr::print(candidates[0].expr);
    expect_equal(text, candidates[0]);
}

}  // namespace
}  // namespace ollie::search
