#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/codegen.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/visit.h"
#include "run_kernel.h"

namespace ollie::codegen {
namespace {

using namespace testing;
using expr::Expr;

std::map<std::string, HostArray> random_inputs(const Expr& group) {
    std::map<std::string, HostArray> inputs;
    uint64_t state = 7;
    for (const expr::Tensor* tensor : arguments_of(group)) {
        HostArray array(tensor->type, tensor->shape());
        for (int64_t i = 0; i < array.size(); ++i) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            array.set(i, std::round(static_cast<double>(state >> 40) / 65536.0 - 128.0) / 16);
        }
        inputs[tensor->name] = std::move(array);
    }
    return inputs;
}

bool is_close(double have, double want) {
    if (std::isnan(want)) return std::isnan(have);
    if (have == want) return true;
    return std::abs(have - want) <= 1e-5 * std::max(1.0, std::abs(want));
}

/// Every schedule of the kernel in the given layouts gives what the expression means.
void check(const Expr& group, const std::vector<Layout>& results = {}, bool last_first = false) {
    KernelProblem problem = problem_of(group);
    if (!results.empty()) problem.result_layouts = results;
    if (last_first)
        for (Layout& layout : problem.argument_layouts)
            layout = Layout::channels_last(layout.order.size());
    std::vector<Schedule> all = schedules(problem, 2);
    ASSERT_FALSE(all.empty());
    std::map<std::string, HostArray> inputs = random_inputs(group);
    expr::Bindings bindings;
    for (const auto& [name, array] : inputs) bindings[name] = &array;
    HostArray expected = expr::evaluate(group, bindings).front();
    std::vector<std::vector<std::byte>> objects;
    for (size_t i = 0; i < all.size(); ++i) {
        problem.schedule = all[i];
        problem.symbol = "kernel" + std::to_string(i);
        objects.push_back(compile(problem));
    }
    Library library(link(objects));
    for (size_t i = 0; i < all.size(); ++i) {
        problem.symbol = "kernel" + std::to_string(i);
        HostArray result = run(library, problem, bindings);
        for (int64_t k = 0; k < result.size(); ++k)
            ASSERT_TRUE(is_close(result.at(k), expected.at(k)))
                << expr::print(group) << all[i].text() << "\nelement " << k << ": " << result.at(k)
                << " for " << expected.at(k);
    }
}

TEST(Kernel, ElementwiseOverOddSizes) {
    for (int n : {1, 2, 7, 16, 17, 31, 33, 100})
        check(
            expr::parse(fmt::format("input A: f32[3, {0}]\ninput B: f32[{0}]\n"
                                    "Y: f32[m:3, n:{0}] = max(A[m, n] * 2 + B[n], 0)\n",
                                    n)));
}

TEST(Kernel, Functions) {
    for (std::string f : {"exp(0.1 * A[n])", "tanh(A[n])", "sigmoid(A[n])", "erf(A[n])",
                          "sqrt(abs(A[n]))", "floor(A[n])", "round(A[n])", "1 / A[n]",
                          "log(abs(A[n]))", "min(A[n], 3)", "sin(A[n])", "softplus(A[n])"})
        check(expr::parse("input A: f32[57]\nY: f32[n:57] = " + f + "\n"));
}

TEST(Kernel, ExponentialsOverTheWholeRange) {
    for (const char* body : {"exp(8 * x[i])", "exp(-1000 * x[i] * x[i])", "tanh(1000000 * x[i])",
                             "sigmoid(200 * x[i])"})
        check(expr::parse(fmt::format("input x: f32[200]\noutput y: f32[i:200] = {}", body)));
}

TEST(Kernel, ConvolutionWithBorders) {
    for (int w : {1, 5, 16, 37})
        check(expr::parse(fmt::format(
            "input A: f32[1, 3, 9, {0}]\nweight K: f32[5, 3, 3, 3]\nweight b: f32[5]\n"
            "Y: f32[n:1, f:5, h:9, w:{0}] = max((sum[c:3, r:3, s:3] A[n, c, h + r - 1, w + s - 1 | "
            "0] * K[f, c, r, s]) + b[f], 0)\n",
            w)));
}

TEST(Kernel, ConvolutionChannelsLast) {
    check(
        expr::parse("input A: f32[1, 16, 7, 7]\nweight K: f32[19, 16, 3, 3]\n"
                    "Y: f32[n:1, f:19, h:7, w:7] = sum[c:16, r:3, s:3] A[n, c, h + r - 1, w + s - "
                    "1 | 0] * K[f, c, r, s]\n"),
        {Layout::channels_last(4)}, true);
}

TEST(Kernel, SubPixelPhases) {
    check(
        expr::parse("input P: f32[2, 2, 5, 9]\n"
                    "Y: f32[h:10, w:18] = P[h mod 2, w mod 2, h div 2, w div 2] + 1\n"));
    check(
        expr::parse("input P: f32[3, 11, 13]\nweight b: f32[1]\n"
                    "Y: f32[h:33, w:39] = (sum[r:3, s:3] P[r, (h + r) div 3, (w + s) div 3 | 0]) "
                    "+ b[0]\n"));
}

TEST(Kernel, SelectOnTheCongruenceOfAPhase) {
    check(expr::parse(
        "input p: f32[16, 4, 4, 4, 4]\n"
        "output y: f32[n:1, c:16, h:8, w:8] = sum[t:2, s:4] select((w - s + 1) mod 2 == 0, "
        "p[c, (h + 1) div 2 - t, (w - s + 1) div 2, 2 * t + (h + 1) mod 2, s | 0], 0)"));
}

TEST(Kernel, CongruenceInSum) {
    check(
        expr::parse("input P: f32[5, 12]\n"
                    "Y: f32[h:24] = sum[r:5] select((h - r) mod 2 == 0, P[r, (h - r) div 2 | 0], "
                    "0)\n"));
}

TEST(Kernel, ChainOfTwoSums) {
    check(
        expr::parse("input A: f32[40, 8]\nweight K: f32[9, 8]\n"
                    "P: f32[w:40, t:9] = sum[c:8] A[w, c] * K[t, c]\n"
                    "Y: f32[w:40] = sum[t:9] P[w + t - 4, t | 0]\n"));
}

TEST(Kernel, OffsetAddsOverTwoAxes) {
    Expr group = expr::parse(
        "input P: f32[10, 10, 9, 9]\ninput b: f32[]\n"
        "T: f32[h:10, w:40, r:9] = sum[s:9] select((w - s + 3) mod 4 == 0, "
        "P[h, (w - s + 3) div 4, r, s | 0], 0)\n"
        "Y: f32[n:1, f:1, h:40, w:40] = sum[r:9] select((h - r + 3) mod 4 == 0, "
        "T[(h - r + 3) div 4, w, r | 0], 0) + b[]\n");
    check(group);
    check(group, {Layout::channels_last(4)});
}

/// F(2, 3) along two axes: what is before the products, and what is after them, of any height and
/// width, so that the last tile is whole or not.
const char* data_transform =
    "input A: f32[20, {0}, {1}]\n"
    "pinned V: f32[c:20, h:{2}, u:-1..{4}, p:4] = sum[j:4] "
    "number({{1, 0, -1, 0, 0, -1, -1, 0, 0, 1, -1, 0, 0, -1, 0, 1}}[4 * p + j]) * "
    "A[c, 2 * h + j - 1, u | 0]\n"
    "output W: f32[c:20, h:{2}, w:{3}, p:4, o:4] = sum[j:4] "
    "number({{1, 0, -1, 0, 0, -1, -1, 0, 0, 1, -1, 0, 0, -1, 0, 1}}[4 * o + j]) * "
    "V[c, h, 2 * w + j - 1, p]\n";

const char* output_transform =
    "input M: f32[20, {2}, {3}, 4, 4]\n"
    "pinned T: f32[c:20, h:{2}, p:4, w:{3}, q:2] = sum[o:4] "
    "number({{1, 1, 1, 0, 0, 1, -1, 1}}[4 * q + o]) * M[c, h, w, p, o]\n"
    "pinned U: f32[c:20, w:{1}, h:{2}, q:2] = sum[p:4] "
    "number({{1, 1, 1, 0, 0, 1, -1, 1}}[4 * q + p]) * T[c, h, p, w div 2, w mod 2]\n"
    "output Y: f32[c:20, h:{0}, w:{1}] = relu(U[c, w, h div 2, h mod 2] + 0.5)\n";

Expr transform(const char* text, int height, int width) {
    int rows = (height + 1) / 2, columns = (width + 1) / 2;
    return expr::parse(
        fmt::format(fmt::runtime(text), height, width, rows, columns, 2 * columns + 1));
}

TEST(Kernel, TransformsByConstantMatrices) {
    for (auto [height, width] : {std::pair{6, 8}, {7, 8}, {6, 5}, {9, 3}}) {
        SCOPED_TRACE(fmt::format("{} x {}", height, width));
        Expr data = transform(data_transform, height, width);
        check(data);
        check(data, {{{3, 4, 1, 2, 0}}}, true);
        Expr output = transform(output_transform, height, width);
        check(output);
        check(output, {{{1, 2, 0}}}, true);
    }
}

TEST(Kernel, TransformAlone) {
    for (int columns : {15, 17, 20}) {
        Expr points = expr::parse(
            fmt::format("input A: f32[1, 40, 14, 14]\n"
                        "output V: f32[c:40, h:4, u:{}, p:6] = sum[j:6] "
                        "number({{-36, 0, 97, 0, -36, 0, 0, 18, 27, -8, -12, 0, 0, -18, 27, 8, "
                        "-12, 0, 0, 12, 8, "
                        "-27, -18, 0, 0, -12, 8, 27, -18, 0, 0, 36, 0, -97, 0, 36}}[6 * p + j]) * "
                        "A[0, c, 4 * h + j - 1, u | 0]\n",
                        columns));
        for (const Layout& layout : {Layout{{0, 1, 2, 3}}, Layout{{3, 1, 2, 0}},
                                     Layout{{1, 2, 3, 0}}, Layout{{2, 3, 1, 0}}}) {
            check(points, {layout});
            check(points, {layout}, true);
        }
    }
}

TEST(Kernel, TransformReadByAnotherSum) {
    check(
        expr::parse("input A: f32[18, 12]\nweight K: f32[12, 5]\n"
                    "pinned V: f32[c:12, h:8, p:4] = sum[j:4] "
                    "number({1, 0, -1, 0, 0, -1, -1, 0, 0, 1, -1, 0, 0, -1, 0, 1}[4 * p + j]) * "
                    "A[2 * h + j, c]\n"
                    "output Y: f32[h:8, p:4, f:5] = sum[c:12] V[c, h, p] * K[c, f]\n"));
}

TEST(Kernel, SoftmaxAsOneGroup) {
    check(
        expr::parse("input A: f32[6, 33]\n"
                    "M: f32[m:6] = max[n:33] A[m, n]\n"
                    "E: f32[m:6, n:33] = exp(A[m, n] - M[m])\n"
                    "S: f32[m:6] = sum[n:33] E[m, n]\n"
                    "Y: f32[m:6, n:33] = E[m, n] / S[m]\n"));
}

TEST(Kernel, Reductions) {
    check(expr::parse("input A: f32[6, 33]\nY: f32[m:6] = max[n:33] A[m, n]\n"));
    check(expr::parse("input A: f32[6, 33]\nY: f32[] = sum[m:6, n:33] A[m, n]\n"));
    check(expr::parse("input A: f32[6, 33]\nY: f32[n:33] = prod[m:6] 0.1 * A[m, n]\n"));
    check(expr::parse("input A: f32[6, 0]\nY: f32[m:6] = sum[n:0] A[m, n]\n"));
}

TEST(Kernel, Empty) {
    check(expr::parse("input A: f32[6, 0]\nY: f32[m:6, n:0] = A[m, n] + 1\n"));
    check(expr::parse("input A: f32[0]\nY: f32[n:4] = A[n - 2 | 5]\n"));
}

TEST(Kernel, IntegersAndBool) {
    check(expr::parse("input A: i64[37]\nY: i64[n:37] = A[n] * 3 + 1\n"));
    check(expr::parse("input A: f32[37]\nY: bool[n:37] = less(A[n], 1)\n"));
    check(expr::parse("input A: f32[37]\nY: i32[n:37] = cast i32(A[n])\n"));
}

TEST(Kernel, EqualProblemsHaveEqualCode) {
    KernelProblem problem =
        problem_of(expr::parse("input A: f32[64]\nY: f32[n:64] = A[n] * 2 + 1\n"));
    problem.schedule = schedules(problem, 2).front();
    std::vector<std::byte> first = compile(problem);
    EXPECT_TRUE(link({first}) == link({compile(problem)}));
}

TEST(Kernel, SourceShowsLoops) {
    KernelProblem problem =
        problem_of(expr::parse("input A: f32[640]\nY: f32[n:640] = A[n] * 2 + 1\n"));
    problem.schedule = schedules(problem, 2).front();
    EXPECT_NE(source(problem).find("for ("), std::string::npos);
}

}  // namespace
}  // namespace ollie::codegen
