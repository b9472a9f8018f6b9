#include <chrono>

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "expr/simplify.h"
#include "match/pattern.h"

namespace ollie::match {
namespace {

constexpr std::string_view convolution =
    "Y[n, f, h, w] = sum[c, r, s] A[n, c, $sh*h + $dh*r - $ph, $sw*w + $dw*s - $pw | 0]"
    " * K[f, c, r, s]";
constexpr std::string_view grouped =
    "Y[n, f, h] = sum[c, r] A[n, $cg*(f div $fg) + c, $sh*h + $dh*r - $ph | 0] * K[f, c, r]";
constexpr std::string_view transposed =
    "Y[n, f, h] = sum[c, r] select((h + $ph - $dh*r) mod $sh == 0,"
    " A[n, c, (h + $ph - $dh*r) div $sh | 0] * K[c, f, r], 0)";
constexpr std::string_view pool =
    "Y[n, c, h, w] = max[r, s] A[n, c, $sh*h + $dh*r - $ph, $sw*w + $dw*s - $pw | -inf]";

struct Matched {
    expr::Expr expr;
    MatchResult result;

    bool is_bound() const { return std::holds_alternative<Binding>(result); }
    const Binding& binding() const { return std::get<Binding>(result); }
    const std::vector<Mismatch>& mismatches() const {
        return std::get<std::vector<Mismatch>>(result);
    }
    std::string reasons() const {
        std::string text;
        if (!is_bound())
            for (const Mismatch& mismatch : mismatches()) text += mismatch.text + "\n";
        return text;
    }
};

Matched match_text(std::string_view text, std::string_view pattern, bool is_normal = false) {
    expr::Expr parsed = expr::parse(text);
    if (is_normal) parsed = expr::normalize(parsed);
    MatchResult result = match(parsed.outputs.back(), *parse_pattern(pattern));
    return {parsed, std::move(result)};
}

TEST(Match, BindsParametersIteratorsAndAxes) {
    Matched m = match_text(
        "input A: f32[2, 8, 14, 15]\nweight K: f32[16, 8, 3, 5]\n"
        "Y: f32[n:2, f:16, h:7, w:15] = sum[c:8, r:3, s:5] A[n, c, 2*h + r - 1, w + 2*s - 4 | 0]"
        " * K[f, c, r, s]\n",
        convolution);
    ASSERT_TRUE(m.is_bound()) << m.reasons();
    EXPECT_EQ(m.binding().parameter("sh"), 2);
    EXPECT_EQ(m.binding().parameter("dh"), 1);
    EXPECT_EQ(m.binding().parameter("ph"), 1);
    EXPECT_EQ(m.binding().parameter("sw"), 1);
    EXPECT_EQ(m.binding().parameter("dw"), 2);
    EXPECT_EQ(m.binding().parameter("pw"), 4);
    EXPECT_EQ(m.binding().extent("f"), 16);
    EXPECT_EQ(m.binding().operands[0].axis_of, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_FALSE(m.binding().has_epilogue);
}

TEST(Match, AxesAndFactorsMayBeInAnyOrder) {
    Matched m = match_text(
        "input A: f32[14, 2, 15, 8]\nweight K: f32[3, 8, 4, 16]\n"
        "Y: f32[w:13, n:2, f:16, h:13] = sum[s:3, c:8, r:4] K[s, c, r, f]"
        " * A[h + r - 1, n, w + s, c | 0]\n",
        convolution);
    ASSERT_TRUE(m.is_bound()) << m.reasons();
    const Binding& binding = m.binding();
    // The spatial axes may be taken in either order; positions and taps go together.
    bool h_first = binding.operands[0].axis_of[2] == 0;
    EXPECT_EQ(binding.operands[0].axis_of,
              (h_first ? std::vector<int>{1, 3, 0, 2} : std::vector<int>{1, 3, 2, 0}));
    EXPECT_EQ(binding.operands[1].axis_of,
              (h_first ? std::vector<int>{3, 1, 2, 0} : std::vector<int>{3, 1, 0, 2}));
    EXPECT_EQ(binding.result.axis_of,
              (h_first ? std::vector<int>{1, 2, 3, 0} : std::vector<int>{1, 2, 0, 3}));
}

TEST(Match, AnIteratorMayRangeOverAPartOfAnAxis) {
    Matched m = match_text(
        "input A: f32[2, 8, 14, 15]\nweight K: f32[16, 8, 5, 5]\n"
        "Y: f32[n:2, f:16, h:12, w:11] = sum[c:8, r:3, s:5] A[n, c, h + r, w + s]"
        " * K[f, c, r, s]\n",
        convolution);
    ASSERT_TRUE(m.is_bound()) << m.reasons();
    EXPECT_EQ(m.binding().extent("r"), 3);
    EXPECT_EQ(m.binding().extent("s"), 5);
}

TEST(Match, UnitsMayBeMissing) {
    Matched m = match_text(
        "input A: f32[8, 14, 15]\nweight K: f32[16, 8]\n"
        "Y: f32[f:16, h:14, w:15] = sum[c:8] A[c, h, w] * K[f, c]\n",
        convolution);
    ASSERT_TRUE(m.is_bound()) << m.reasons();
    EXPECT_EQ(m.binding().operands[0].axis_of, (std::vector<int>{-1, 0, 1, 2}));
    EXPECT_EQ(m.binding().operands[1].axis_of, (std::vector<int>{0, 1, -1, -1}));
    EXPECT_EQ(m.binding().result.axis_of, (std::vector<int>{-1, 0, 1, 2}));
    EXPECT_EQ(m.binding().extent("n"), 1);
    EXPECT_EQ(m.binding().extent("r"), 1);
    EXPECT_EQ(m.binding().parameter("ph"), 0);
}

TEST(Match, UnitAxesThatNormalizationLeaves) {
    for (bool is_normal : {false, true}) {
        Matched m = match_text(
            "input A: f32[1, 8, 1, 15]\nweight K: f32[16, 8, 1, 3]\n"
            "Y: f32[n:1, f:16, h:1, w:15] = sum[c:8, r:1, s:3] A[n, c, h + r, w + s - 1 | 0]"
            " * K[f, c, r, s]\n",
            convolution, is_normal);
        ASSERT_TRUE(m.is_bound()) << m.reasons();
        EXPECT_EQ(m.binding().operands[0].axis_of, (std::vector<int>{0, 1, 2, 3}));
        EXPECT_EQ(m.binding().operands[1].axis_of, (std::vector<int>{0, 1, 2, 3}));
        EXPECT_EQ(m.binding().result.axis_of, (std::vector<int>{0, 1, 2, 3}));
        EXPECT_EQ(m.binding().parameter("pw"), 1);
    }
}

TEST(Match, GroupsByQuotient) {
    for (bool is_normal : {false, true}) {
        Matched m = match_text(
            "input A: f32[2, 12, 9]\nweight K: f32[8, 3, 3]\n"
            "Y: f32[n:2, f:8, h:9] = sum[c:3, r:3] A[n, 3*(f div 2) + c, h + r - 1 | 0]"
            " * K[f, c, r]\n",
            grouped, is_normal);
        ASSERT_TRUE(m.is_bound()) << m.reasons();
        EXPECT_EQ(m.binding().parameter("cg"), 3);
        EXPECT_EQ(m.binding().parameter("fg"), 2);
    }
    Matched depthwise = match_text(
        "input A: f32[2, 12, 9]\nweight K: f32[12, 3]\n"
        "Y: f32[n:2, f:12, h:9] = sum[r:3] A[n, f, h + r - 1 | 0] * K[f, r]\n",
        grouped);
    ASSERT_TRUE(depthwise.is_bound()) << depthwise.reasons();
    EXPECT_EQ(depthwise.binding().parameter("fg"), 1);
    EXPECT_EQ(depthwise.binding().extent("c"), 1);
}

TEST(Match, TransposedForEveryPadAndDilation) {
    for (int stride : {1, 2, 3, 4})
        for (int dilation : {1, 2, 3})
            for (int pad = 0; pad < 6; ++pad) {
                SCOPED_TRACE(testing::Message() << stride << " " << dilation << " " << pad);
                std::string at = fmt::format("h + {} - {}*r", pad, dilation);
                Matched m = match_text(
                    fmt::format("input A: f32[2, 3, 9]\nweight K: f32[3, 4, 5]\n"
                                "Y: f32[n:2, f:4, h:21] = sum[c:3, r:5] select(({}) mod {} == 0,"
                                " A[n, c, ({}) div {} | 0] * K[c, f, r], 0)\n",
                                at, stride, at, stride),
                    transposed);
                ASSERT_TRUE(m.is_bound()) << m.reasons();
                EXPECT_EQ(m.binding().parameter("sh"), stride);
                EXPECT_EQ(m.binding().parameter("dh"), dilation);
                EXPECT_EQ(m.binding().parameter("ph"), pad);
            }
}

TEST(Match, Pools) {
    Matched m = match_text(
        "input A: f32[2, 5, 9, 9]\n"
        "Y: f32[n:2, c:5, h:5, w:4] = max[r:3, s:2] A[n, c, 2*h + r - 1, 2*w + s | -inf]\n",
        pool);
    ASSERT_TRUE(m.is_bound()) << m.reasons();
    EXPECT_EQ(m.binding().parameter("sw"), 2);
    Matched global = match_text(
        "input A: f32[2, 5, 9, 9]\nY: f32[n:2, c:5] = max[r:9, s:9] A[n, c, r, s]\n", pool);
    ASSERT_TRUE(global.is_bound()) << global.reasons();
    EXPECT_EQ(global.binding().result.axis_of, (std::vector<int>{0, 1, -1, -1}));
}

struct Refused {
    std::string text;
    std::string reason;
};

TEST(Match, RefusalsNameWhatIsInTheWay) {
    const std::vector<Refused> refused{
        {"Y: f32[n:2, f:16, h:7, w:7] = sum[c:8, r:3, s:3] A[n, c, h + r - 1, w + s | 1]"
         " * K[f, c, r, s]",
         "where it is not 0"},
        {"Y: f32[n:2, f:16, h:7, w:7] = sum[c:9, r:3, s:3] A[n, c, h + r, w + s | 0]"
         " * K[f, c, r, s | 0]",
         "reaches outside"},
        {"Y: f32[n:2, f:16, h:7, w:7] = sum[c:8, r:3, s:3] A[n, c, h + r, w + r | 0]"
         " * K[f, c, r, s]",
         "iterator s of the reduction is not in both operands"},
        {"Y: f32[n:2, f:16, h:7, w:7] = sum[c:8, r:3, s:3] A[n, c, h + r, h + w + s | 0]"
         " * K[f, c, r, s]",
         "is indexed like"},
        {"Y: f32[n:2, f:16, h:7, w:7] = max[c:8, r:3, s:3] A[n, c, h + r, w + s | 0]"
         " * K[f, c, r, s]",
         "the reduction is a max, not a sum"},
        {"Y: f32[n:2, f:16, h:7, w:7] = A[n, f div 2, h, w] * K[f, 0, 0, 0]",
         "there is no reduction"},
        {"Y: f32[n:2, f:16, g:2, h:7, w:7] = sum[c:8, r:3, s:3] A[n, c, h + r, w + s | 0]"
         " * K[f, c, r, s] + number(g)",
         "one too many"},
        {"Y: f32[n:2, f:16, h:1..7, w:7] = sum[c:8, r:3, s:3] A[n, c, h + r, w + s | 0]"
         " * K[f, c, r, s]",
         "has the range 1..7"},
        {"Y: f32[n:2, f:16, h:7, w:7] = sum[c:8, r:3, s:3] select(r >= 1,"
         " A[n, c, h + r, w + s | 0] * K[f, c, r, s], 0)",
         "under a predicate"},
    };
    for (const Refused& example : refused) {
        SCOPED_TRACE(example.text);
        Matched m = match_text(
            "input A: f32[2, 8, 9, 9]\nweight K: f32[16, 8, 3, 3]\n" + example.text + "\n",
            convolution);
        ASSERT_FALSE(m.is_bound());
        EXPECT_NE(m.reasons().find(example.reason), std::string::npos) << m.reasons();
    }
}

TEST(Match, APatternMayAskForMoreThanUnits) {
    const std::string text =
        "input A: f32[2, 8, 14, 1]\nweight K: f32[16, 8, 3, 1]\n"
        "Y: f32[n:2, f:16, h:12, w:1] = sum[c:8, r:3, s:1] A[n, c, h + r, w + s] * K[f, c, r, s]\n";
    EXPECT_TRUE(match_text(text, convolution).is_bound());
    std::string strict = std::string(convolution) + " where h or r, w or s";
    Matched m = match_text(text, strict);
    ASSERT_FALSE(m.is_bound());
    EXPECT_EQ(m.mismatches()[0].kind, Mismatch::Kind::MissingIterator);
}

TEST(Match, ATransposedWithAWrongPredicateIsNone) {
    Matched m = match_text(
        "input A: f32[2, 3, 9]\nweight K: f32[3, 4, 5]\n"
        "Y: f32[n:2, f:4, h:21] = sum[c:3, r:5] select((h + 2 - r) mod 2 == 0,"
        " A[n, c, (h + 1 - r) div 2 | 0] * K[c, f, r], 0)\n",
        transposed);
    ASSERT_FALSE(m.is_bound());
    EXPECT_EQ(m.mismatches()[0].kind, Mismatch::Kind::Range);
}

TEST(Match, SplitsTheEpilogueOff) {
    Matched m = match_text(
        "input A: f32[2, 8, 9, 9]\nweight K: f32[16, 8, 3, 3]\nweight B: f32[16]\n"
        "Y: f32[n:2, f:16, h:7, w:7] = relu(2 * sum[c:8, r:3, s:3] A[n, c, h + r, w + s | 0]"
        " * K[f, c, r, s] + B[f])\n",
        convolution);
    ASSERT_TRUE(m.is_bound()) << m.reasons();
    EXPECT_TRUE(m.binding().has_epilogue);
    EXPECT_EQ(m.binding().core->kind, expr::ScalarKind::Reduce);
    EXPECT_NE(expr::print(m.binding().epilogue).find("core_value[n, f, h, w]"), std::string::npos);
}

TEST(Match, AnAnswerIsAMatterOfMicroseconds) {
    expr::Expr expr = expr::parse(
        "input A: f32[2, 8, 9, 9]\nweight K: f32[16, 8, 3, 3]\nweight B: f32[16]\n"
        "Y: f32[n:2, f:16, h:7, w:7] = relu(sum[c:8, r:3, s:3] A[n, c, h + r, w + s | 0]"
        " * K[f, c, r, s] + B[f])\n");
    using Clock = std::chrono::steady_clock;
    for (std::string_view text : {convolution, grouped, transposed, pool}) {
        auto pattern = parse_pattern(text);
        constexpr int rounds = 200;
        auto begin = Clock::now();
        for (int i = 0; i < rounds; ++i) match(expr.outputs[0], *pattern);
        std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
        RecordProperty(std::string(text.substr(0, 20)), std::to_string(taken.count() / rounds));
        std::printf("%8.2f us  %s\n", taken.count() / rounds, std::string(text).c_str());
        EXPECT_LT(taken.count() / rounds, 1000);
    }
}

}  // namespace
}  // namespace ollie::match
