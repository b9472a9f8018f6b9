#include "match/contraction.h"

#include <gtest/gtest.h>

#include "expr/parse.h"

namespace ollie::match {
namespace {

constexpr std::string_view contraction =
    "Y[batch.., rows.., columns..] = sum[reduced..] A[batch.., rows.., reduced..]"
    " * B[batch.., columns.., reduced..]";

std::string names(const std::vector<expr::Axis>& axes) {
    std::string text;
    for (const expr::Axis& axis : axes) text += axis.iterator->name;
    return text;
}

TEST(Contraction, ClassesByOccurrence) {
    expr::Expr expr = expr::parse(
        "input A: f32[4, 5, 6, 7]\ninput B: f32[6, 4, 8, 9]\n"
        "Y: f32[b:4, i:5, j:9, l:8, k:7] = sum[c:6] A[b, i, c, k] * B[c, b, l, j]\n");
    MatchResult result = match(expr.outputs[0], *parse_pattern(contraction));
    ASSERT_TRUE(std::holds_alternative<Binding>(result));
    const Contraction& c = *std::get<Binding>(result).contraction;
    EXPECT_EQ(names(c.batch), "b");
    EXPECT_EQ(names(c.rows), "ik");
    EXPECT_EQ(names(c.columns), "jl");
    EXPECT_EQ(names(c.reduced), "c");

    auto layout = layout_for(c.first, {c.batch[0], c.reduced[0], c.rows[0], c.rows[1]});
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->order, (std::vector<int>{0, 2, 1, 3}));
    auto merged = merge(c.first, *layout, c.rows);
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->extent, 35);
    EXPECT_EQ(merged->stride, 1);
    EXPECT_FALSE(merge(c.first, Layout::row_major(4), c.rows));
}

TEST(Contraction, AnAxisMayHoldSeveralIterators) {
    expr::Expr expr = expr::parse(
        "input A: f32[5, 24]\nweight B: f32[4, 6, 8]\n"
        "Y: f32[i:5, j:8] = sum[p:4, q:6] A[i, 6*p + q] * B[p, q, j]\n");
    MatchResult result = match(expr.outputs[0], *parse_pattern(contraction));
    ASSERT_TRUE(std::holds_alternative<Binding>(result));
    const Contraction& c = *std::get<Binding>(result).contraction;
    EXPECT_TRUE(layout_for(c.first, {c.rows[0], c.reduced[0], c.reduced[1]}));
    EXPECT_FALSE(layout_for(c.first, {c.rows[0], c.reduced[1], c.reduced[0]}));
}

struct Refused {
    std::string text;
    Mismatch::Kind kind;
    std::string reason;
};

TEST(Contraction, MismatchesSteerTheSearch) {
    using Kind = Mismatch::Kind;
    const std::vector<Refused> refused{
        {"Y: f32[n:2, f:16, h:7] = sum[c:8, r:3] A[n, c, h + r] * K[f, c, r]", Kind::Stride,
         "iterators overlap in index `h + r` of A"},
        {"Y: f32[n:2, f:16, h:9] = sum[c:8, r:3] A[n, c, h + r - 1 | 0] * K[f, c, r]",
         Kind::OutsideValue, "A is read outside"},
        {"Y: f32[n:2, f:16, h:3] = sum[c:8, r:3] A[n, c, h] * K[f, c, r]", Kind::TooManyIterators,
         "iterator r is reduced over one operand alone"},
        {"Y: f32[n:2, f:16, g:5] = sum[c:8] A[n, c, 0] * K[f, c, 0]", Kind::TooManyIterators,
         "iterator g occurs in neither operand"},
        {"Y: f32[n:2, f:16, h:18] = sum[c:8] A[n, c, h div 2] * K[f, c, 0]", Kind::Order,
         "is not a sum of iterators"},
        {"Y: f32[n:2, f:16, h:9] = sum[c:8] A[n, c, 8 - h] * K[f, c, 0]", Kind::Order,
         "is not a sum of iterators"},
        {"Y: f32[n:2, c:8] = sum[h:9] A[n, c, h]", Kind::NotThisForm, "a product of 1 reads"},
    };
    for (const Refused& example : refused) {
        SCOPED_TRACE(example.text);
        expr::Expr expr =
            expr::parse("input A: f32[2, 8, 9]\nweight K: f32[16, 8, 3]\n" + example.text + "\n");
        MatchResult result = match(expr.outputs[0], *parse_pattern(contraction));
        auto* mismatches = std::get_if<std::vector<Mismatch>>(&result);
        ASSERT_NE(mismatches, nullptr);
        bool is_found = false;
        std::string all;
        for (const Mismatch& mismatch : *mismatches) {
            all += mismatch.text + "\n";
            is_found = is_found || (mismatch.kind == example.kind &&
                                    mismatch.text.find(example.reason) != std::string::npos);
        }
        EXPECT_TRUE(is_found) << all;
    }
}

TEST(Contraction, AConvolutionIsAsFarAsItHasOverlaps) {
    expr::Expr expr = expr::parse(
        "input A: f32[2, 8, 9, 9]\nweight K: f32[16, 8, 3, 3]\n"
        "Y: f32[n:2, f:16, h:7, w:7] = sum[c:8, r:3, s:3] A[n, c, h + r, w + s] * K[f, c, r, s]\n");
    MatchResult result = match(expr.outputs[0], *parse_pattern(contraction));
    EXPECT_EQ(std::get<std::vector<Mismatch>>(result).size(), 2u);
}

}  // namespace
}  // namespace ollie::match
