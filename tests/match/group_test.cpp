#include "match/group.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/simplify.h"

namespace ollie::match {
namespace {

const std::string softmax =
    "input A: f32[2, 3]\n"
    "M: f32[x:2] = max[j:3] A[x, j]\n"
    "S: f32[x:2] = sum[j:3] exp(A[x, j] - M[x])\n"
    "Y: f32[x:2, j:3] = exp(A[x, j] - M[x]) / S[x]\n";

struct Matched {
    expr::Expr expr;
    MatchResult result;
    bool is_bound() const { return std::holds_alternative<Binding>(result); }
    const Binding& binding() const { return std::get<Binding>(result); }
};

Matched match_text(const std::string& text, bool is_normal = false) {
    expr::Expr parsed = expr::parse(text);
    if (is_normal) parsed = expr::normalize(parsed);
    MatchResult result = match(parsed.outputs.back(), *parse_pattern(softmax));
    return {parsed, std::move(result)};
}

TEST(Group, BindsTheAxesOfEveryIterator) {
    for (bool is_normal : {false, true}) {
        Matched m = match_text(
            "input a: f32[4, 7, 5]\n"
            "m: f32[n:4, h:7] = max[k:5] a[n, h, k]\n"
            "s: f32[n:4, h:7] = sum[k:5] exp(a[n, h, k] - m[n, h])\n"
            "output y: f32[n:4, h:7, k:5] = exp(a[n, h, k] - m[n, h]) / s[n, h]\n",
            is_normal);
        ASSERT_TRUE(m.is_bound());
        const Group& group = *m.binding().group;
        ASSERT_EQ(group.definitions.size(), 3u);
        EXPECT_EQ(group.definitions[0]->name, "m");
        EXPECT_EQ(group.definitions[2], m.binding().definition);
        EXPECT_EQ(group.axes.at("x"), (std::vector<int>{0, 1}));
        EXPECT_EQ(group.axes.at("j"), (std::vector<int>{2}));
        EXPECT_EQ(m.binding().operands[0].axis_of, (std::vector<int>{0, 1, 2}));
    }
}

TEST(Group, AxesMayBeInAnyOrder) {
    Matched m = match_text(
        "input a: f32[7, 5, 4, 3]\n"
        "m: f32[h:7, n:4] = max[k:5, l:3] a[h, k, n, l]\n"
        "s: f32[n:4, h:7] = sum[k:5, l:3] exp(a[h, k, n, l] - m[h, n])\n"
        "output y: f32[k:5, n:4, h:7, l:3] = reciprocal(s[n, h]) * exp(a[h, k, n, l] - m[h, n])\n");
    ASSERT_TRUE(m.is_bound());
    EXPECT_EQ(m.binding().group->axes.at("x"), (std::vector<int>{1, 2}));
    EXPECT_EQ(m.binding().group->axes.at("j"), (std::vector<int>{0, 3}));
    EXPECT_EQ(m.binding().operands[0].axis_of, (std::vector<int>{1, 2, 0, 3}));
}

TEST(Group, WhatItReadsIsNotOfIt) {
    Matched m = match_text(
        "input z: f32[7, 5]\n"
        "a: f32[h:7, k:5] = relu(z[h, k])\n"
        "m: f32[h:7] = max[k:5] a[h, k]\n"
        "s: f32[h:7] = sum[k:5] exp(a[h, k] - m[h])\n"
        "output y: f32[h:7, k:5] = exp(a[h, k] - m[h]) / s[h]\n");
    ASSERT_TRUE(m.is_bound());
    EXPECT_EQ(m.binding().group->definitions.size(), 3u);
    EXPECT_EQ(m.binding().operands[0].tensor->name, "a");
}

TEST(Group, UnitsAreNone) {
    for (bool is_normal : {false, true}) {
        Matched m = match_text(
            "input a: f32[1, 7, 5]\n"
            "m: f32[n:1, h:7] = max[k:5] a[n, h, k]\n"
            "s: f32[n:1, h:7] = sum[k:5] exp(a[n, h, k] - m[n, h])\n"
            "output y: f32[n:1, h:7, k:5] = exp(a[n, h, k] - m[n, h]) / s[n, h]\n",
            is_normal);
        ASSERT_TRUE(m.is_bound());
        EXPECT_EQ(m.binding().group->axes.at("x"), (std::vector<int>{1}));
    }
}

TEST(Group, Refusals) {
    for (std::string text :
         {// Another axis is summed than the maximum is of.
          "input a: f32[5, 5]\nm: f32[h:5] = max[k:5] a[h, k]\n"
          "s: f32[h:5] = sum[k:5] exp(a[k, h] - m[h])\n"
          "output y: f32[h:5, k:5] = exp(a[h, k] - m[h]) / s[h]\n",
          // Only a part is summed.
          "input a: f32[7, 5]\nm: f32[h:7] = max[k:5] a[h, k]\n"
          "s: f32[h:7] = sum[k:4] exp(a[h, k] - m[h])\n"
          "output y: f32[h:7, k:5] = exp(a[h, k] - m[h]) / s[h]\n",
          // The divisor is of another tensor.
          "input a: f32[7, 5]\ninput b: f32[7, 5]\nm: f32[h:7] = max[k:5] a[h, k]\n"
          "s: f32[h:7] = sum[k:5] exp(b[h, k] - m[h])\n"
          "output y: f32[h:7, k:5] = exp(a[h, k] - m[h]) / s[h]\n",
          // Not shifted by the maximum.
          "input a: f32[7, 5]\nm: f32[h:7] = min[k:5] a[h, k]\n"
          "s: f32[h:7] = sum[k:5] exp(a[h, k] - m[h])\n"
          "output y: f32[h:7, k:5] = exp(a[h, k] - m[h]) / s[h]\n",
          // Transposed within equal extents.
          "input a: f32[5, 5]\nm: f32[h:5] = max[k:5] a[h, k]\n"
          "s: f32[h:5] = sum[k:5] exp(a[h, k] - m[h])\n"
          "output y: f32[h:5, k:5] = exp(a[h, k] - m[k]) / s[h]\n"}) {
        SCOPED_TRACE(text);
        EXPECT_FALSE(match_text(text).is_bound());
    }
}

}  // namespace
}  // namespace ollie::match
