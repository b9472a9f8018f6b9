#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "expr/build.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/random_expr.h"
#include "expr/verify.h"

namespace ollie::expr {
namespace {

std::string reprinted(const std::string& text) { return print(parse(text)); }

std::string error_of(const std::string& text) {
    try {
        parse(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

/// The body of Y in what the text is printed as, where i, j, k run over 8 and A, B are inputs.
std::string reprinted_body(const std::string& body) {
    std::string text =
        reprinted("input A: f32[8, 8]\ninput B: f32[8]\noutput Y: f32[i:8, j:8] = " + body +
                  " + A[0, 0] * B[0]\n");
    size_t begin = text.rfind(" = ") + 3;
    return text.substr(begin, text.rfind(" + A[0, 0] * B[0]") - begin);
}

TEST(ExprText, AConvolutionReadsBack) {
    std::string text =
        "input A: f32[1, 512, 7, 7]\n"
        "weight K: f32[512, 512, 3, 3]\n"
        "weight b: f32[512]\n"
        "output Y: f32[n:1, f:512, h:7, w:7] = max(sum[c:512, r:3, s:3] A[n, c, h + r - 1, "
        "w + s - 1 | 0] * K[f, c, r, s] + b[f], 0) from \"conv\", \"relu\"\n";
    EXPECT_EQ(reprinted(text), text);
    verify(parse(text));
}

TEST(ExprText, ScalarsArePrintedWithFewParentheses) {
    for (const char* body : {"B[i] - B[j]",
                             "-B[i]",
                             "-2 * B[i]",
                             "B[i] - 2 * B[j]",
                             "B[i] - 3",
                             "-3 * B[i] / B[j]",
                             "B[i] / (B[j] + 1)",
                             "(B[i] + 1) * (B[j] - 1)",
                             "reciprocal(B[i])",
                             "B[i] / B[j] / 2",
                             "max(B[i], 0)",
                             "select(i >= 3, B[i], B[j])",
                             "number(i + 2 * j)",
                             "cast i32(B[i] + 1)",
                             "sum[k:8] B[k] * A[i, k]",
                             "-sum[k:8] B[k]",
                             "B[i] * (sum[k:8] B[k])",
                             "sum[k:8] max[l:2..5] A[k, l]",
                             "sum[k:8] (B[k] + 1)",
                             "(sum[k:8] B[k]) / B[i]",
                             "inf",
                             "-inf",
                             "nan",
                             "B[i] * -2",
                             "B[i - 1 | -inf]",
                             "-1 * 2 * B[i]",
                             "-0 * B[i]",
                             "where(less(B[i], 0), B[j], 1)"})
        EXPECT_EQ(reprinted_body(body), body);
}

TEST(ExprText, SugarIsRead) {
    EXPECT_EQ(reprinted_body("relu(B[i])"), "max(B[i], 0)");
    EXPECT_EQ(reprinted_body("1 / B[i]"), "reciprocal(B[i])");
    EXPECT_EQ(reprinted_body("((B[i]) + (B[j] + 0))"), "B[i] + B[j]");
    EXPECT_EQ(reprinted_body("sum[\n  k:8 # all\n] B[k]"), "sum[k:8] B[k]");
    EXPECT_EQ(reprinted_body("select(not (i < j and j != 0), B[i], 0)"),
              "select(not (j - i >= 1 and j != 0), B[i], 0)");
    EXPECT_EQ(reprinted_body("select(0 <= i - 1 < 4, B[i], 0)"),
              "select(i >= 1 and i <= 4, B[i], 0)");
    EXPECT_EQ(reprinted_body("select(i > j, B[i], 0)"), "select(i - j >= 1, B[i], 0)");
}

TEST(ExprText, IndicesAreInTheOrderOfTheScope) {
    for (const char* index :
         {"i + j - 1", "2 * i - j", "7 - i", "-i - j", "j - i", "i div 2", "i mod 2",
          "j + 2 * (i mod 3)", "(i + j) div 3", "(i + 1) mod 2 - 1", "min(i, j + 2)",
          "max(i, 3) div 2", "{1, 0, 2, 2, 2, 2, 2, 2}[i]", "4 * (i div 4)", "i - j mod 2",
          "(i div 3) mod 2", "-1", "i - 3 * (j div 3)"}) {
        EXPECT_EQ(reprinted_body(std::string("B[") + index + " | 0]"),
                  std::string("B[") + index + " | 0]");
    }
    EXPECT_EQ(reprinted_body("B[j + i | 0]"), "B[i + j | 0]");
    EXPECT_EQ(reprinted_body("B[(i mod 6) div 2 | 0]"), "B[(i div 2) mod 3 | 0]");
    EXPECT_EQ(reprinted_body("B[i - (i div 4) * 4 | 0]"), "B[i mod 4 | 0]");
    EXPECT_EQ(reprinted_body("B[(i - 1) div 2 | 0]"), "B[(i + 1) div 2 - 1 | 0]");
}

TEST(ExprText, PredicatesReadBack) {
    for (const char* predicate :
         {"i >= 3", "i <= 3", "i == 3", "i != 3", "i mod 2 == 1", "i - j >= 1 and j <= 4",
          "i >= 1 or j >= 2 and i <= 4", "(i >= 1 or j >= 2) and i <= 4", "not (i >= 1 and j >= 2)",
          "i - j == 0", "(i + j) mod 3 == 0"})
        EXPECT_EQ(reprinted_body(std::string("select(") + predicate + ", 1, 2)"),
                  std::string("select(") + predicate + ", 1, 2)");
}

TEST(ExprText, OrderOfCreationDoesNotShow) {
    auto arena = std::make_shared<Arena>();
    const Tensor* a = arena->input("A", ElementType::F32, {9});
    Iterator r = arena->iterator("r");
    Iterator h = arena->iterator("h");
    index_of(r);
    Scalar body = sum({{r, 0, 3}}, arena->read(a, {index_of(r) + index_of(h)}));
    const Tensor* y = arena->define("Y", ElementType::F32, {{h, 0, 7}}, body);
    EXPECT_EQ(print(y), "Y: f32[h:7] = sum[r:3] A[h + r]");
}

TEST(ExprText, NestedIteratorsOfOneNameAreToldApart) {
    auto arena = std::make_shared<Arena>();
    const Tensor* a = arena->input("A", ElementType::F32, {9, 9, 9});
    Iterator h = arena->iterator("h");
    Iterator inner = arena->iterator("h");
    Iterator innermost = arena->iterator("h");
    Scalar read = arena->read(a, {index_of(h), index_of(inner), index_of(innermost)});
    Scalar body = sum({{inner, 0, 3}}, sum({{innermost, 0, 3}}, read));
    Expr expr{arena, {arena->define("Y", ElementType::F32, {{h, 0, 7}}, body)}};
    EXPECT_EQ(print(expr.outputs[0]), "Y: f32[h:7] = sum[h_2:3] sum[h_3:3] A[h, h_2, h_3]");
    EXPECT_EQ(reprinted(print(expr)), print(expr));
}

TEST(ExprText, NamesThatAreNoIdentifiersAreQuoted) {
    std::string text =
        "input \"/conv/in put\": f32[2]\n"
        "input conv1.weight: f32[2]\n"
        "input input: f32[2]\n"
        "weight \"sum\": f32[]\n"
        "output output: f32[\"div\":2, \"a b\":2] = \"/conv/in put\"[\"div\"] * "
        "conv1.weight[\"a b\"] + input[\"div\"] + \"sum\"[]\n";
    EXPECT_EQ(reprinted(text), text);
}

TEST(ExprText, ValuesPinsAndOriginsReadBack) {
    std::string text =
        "weight K: f32[2, 2] = {1, 0.5, -inf, nan}\n"
        "weight E: f32[0] = {}\n"
        "weight I: i64[1] = {9007199254740993}\n"
        "pinned T: f32[i:2] = K[i, 1] + E[0 | 0] from \"a \\\"b\\\"\"\n"
        "output pinned Y: i64[i:-1..1] = cast i64(T[i + 1]) + I[0]\n";
    EXPECT_EQ(reprinted(text), text);
    Expr expr = parse(text);
    EXPECT_TRUE(expr.outputs[0]->pinned);
    EXPECT_EQ(expr.outputs[0]->axes[0].lo, -1);
}

TEST(ExprText, OutputsInAnyOrder) {
    std::string text =
        "input A: f32[2]\n"
        "X: f32[i:2] = A[i] + 1\n"
        "Y: f32[i:2] = 2 * X[i]\n"
        "outputs Y, X, A\n";
    EXPECT_EQ(reprinted(text), text);
    EXPECT_EQ(parse(text).outputs.size(), 3u);
    EXPECT_EQ(parse("A: f32[] = 1\nB: f32[] = A[] + 1\nC: f32[] = A[]").outputs.size(), 2u);
}

TEST(ExprText, ErrorsNameThePlace) {
    EXPECT_EQ(error_of("input A: f32[2]\nY: f32[i:2] = A[j]"),
              "line 2, column 17: no iterator 'j' in scope");
    EXPECT_EQ(error_of("Y: f32[i:2] = A[i]"),
              "line 1, column 15: 'A' is neither a function nor a tensor defined above");
    EXPECT_EQ(error_of("input A: f32[2]\nY: f32[i:2] = A[i, i]"),
              "line 2, column 15: 'A' has rank 1, found 2 indices");
    EXPECT_EQ(error_of("Y: f32[i:2] = exp(1, 2)"),
              "line 1, column 15: exp takes 1 operands, found 2");
    EXPECT_EQ(error_of("Y: f33[i:2] = 1"),
              "line 1, column 4: found 'f33', expected an element type (f32, f64, i8, ..., u64, "
              "bool)");
    EXPECT_EQ(error_of("Y: f32[i:2] = sum[i:3] 1"),
              "line 1, column 19: an iterator 'i' is in scope already");
    EXPECT_EQ(error_of("Y: f32[i:2] = number(i * i)"),
              "line 1, column 26: a product of two indices, neither constant");
    EXPECT_EQ(error_of("Y: f32[i:2] = number(i div 0)"),
              "line 1, column 28: a divisor that is not positive");
    EXPECT_EQ(error_of("Y: f32[i:5..2] = 1"),
              "line 1, column 8: a range that ends before it begins");
    EXPECT_EQ(error_of("Y: f32[] = 1\nY: f32[] = 2"), "line 2, column 1: 'Y' is defined twice");
    EXPECT_EQ(error_of(""), "line 1, column 1: found the end of the text, expected a definition");
    EXPECT_EQ(error_of("Y: f32[] = 1 )"), "line 1, column 14: found ')', expected a name");
    std::string deep = "Y: f32[] = " + std::string(100000, '(') + "1";
    EXPECT_NE(error_of(deep).find("nested more than"), std::string::npos);
}

TEST(ExprText, RandomExpressionsReadBack) {
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        testing::RandomOptions options;
        options.integers = seed % 2 == 1;
        options.rough_functions = true;
        options.infinite_outside = true;
        options.empty_ranges = true;
        options.pins = true;
        Expr expr = testing::random_expr(seed, options);
        ASSERT_TRUE(violations(expr).empty()) << "seed " << seed << "\n"
                                              << print(expr) << violations(expr).front();
        std::string text = print(expr);
        Expr again = parse(text);
        ASSERT_EQ(print(again), text) << "seed " << seed;
        ASSERT_TRUE(violations(again).empty()) << "seed " << seed;
    }
}

TEST(ExprText, LongTextsAreReadFast) {
    std::string text = "input T0: f32[1, 64, 56, 56]\n";
    for (int i = 1; i <= 500; ++i) {
        text += fmt::format("weight K{}: f32[64, 64, 3, 3]\nweight b{}: f32[64]\n", i, i);
        text += fmt::format(
            "T{}: f32[n:1, f:64, h:56, w:56] = max(sum[c:64, r:3, s:3] T{}[n, c, h + r - 1, "
            "w + s - 1 | 0] * K{}[f, c, r, s] + b{}[f], 0)\n",
            i, i - 1, i, i);
    }
    auto begin = std::chrono::steady_clock::now();
    Expr expr = parse(text);
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(taken.count(), 1.0);
    EXPECT_EQ(print(parse(print(expr))), print(expr));
}

}  // namespace
}  // namespace ollie::expr
