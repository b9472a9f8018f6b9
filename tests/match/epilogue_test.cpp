#include "match/epilogue.h"

#include <cmath>

#include <gtest/gtest.h>

#include "expr/parse.h"

namespace ollie::match {
namespace {

using Kind = EpilogueStep::Kind;

/// The chain of a body in which `@` stands for a product. Its tensors are gone with the arena.
OrRefusal<std::vector<EpilogueStep>> chain_of(std::string body) {
    for (size_t at = body.find('@'); at != std::string::npos; at = body.find('@'))
        body.replace(at, 1, "(sum[k:7] A[i, k] * B[k, j])");
    expr::Expr expr = expr::parse(
        "input A: f32[5, 7]\nweight B: f32[7, 6]\nweight b: f32[6]\ninput r: f32[5, 6]\n"
        "input t: f32[6, 5]\nweight u: f32[1, 6]\nY: f32[i:5, j:6] = " +
        body + "\n");
    MatchResult result =
        match(expr.outputs.back(),
              *parse_pattern("Y[rows.., columns..] = sum[reduced..] A[rows.., reduced..] * "
                             "B[columns.., reduced..]"));
    if (!std::holds_alternative<Binding>(result)) return refuse("no match");
    return epilogue_chain(std::get<Binding>(result));
}

std::vector<Kind> kinds_of(const std::string& body) {
    auto chain = chain_of(body);
    EXPECT_TRUE(chain) << chain.reason();
    std::vector<Kind> kinds;
    if (chain)
        for (const EpilogueStep& step : *chain) kinds.push_back(step.kind);
    return kinds;
}

TEST(Epilogue, Chains) {
    EXPECT_EQ(kinds_of("@"), (std::vector<Kind>{}));
    EXPECT_EQ(kinds_of("@ + b[j]"), (std::vector<Kind>{Kind::Add}));
    EXPECT_EQ(kinds_of("relu(@ + b[j])"), (std::vector<Kind>{Kind::Add, Kind::Relu}));
    EXPECT_EQ(kinds_of("relu(@ * 0.5 + b[j] + r[i, j])"),
              (std::vector<Kind>{Kind::Mul, Kind::Add, Kind::Add, Kind::Relu}));
    EXPECT_EQ(kinds_of("min(max(@, 0), 6)"), (std::vector<Kind>{Kind::Relu, Kind::Clip}));
    EXPECT_EQ(kinds_of("tanh(@) * u[0, j]"), (std::vector<Kind>{Kind::Function, Kind::Mul}));
    EXPECT_EQ(kinds_of("r[i, j] + sigmoid(@ + -1)"),
              (std::vector<Kind>{Kind::Add, Kind::Function, Kind::Add}));
}

TEST(Epilogue, LeakySpellings) {
    for (std::string body : {"where(less(@, 0), @ * 0.25, @)", "where(less(0, @), @, @ * 0.25)",
                             "max(@, 0.25 * @)", "where(less(2 * @, 0), 2 * @ * 0.25, 2 * @)"}) {
        SCOPED_TRACE(body);
        auto chain = chain_of(body);
        ASSERT_TRUE(chain) << chain.reason();
        EXPECT_EQ(chain->back().kind, Kind::Leaky);
        EXPECT_EQ(chain->back().constant, 0.25);
    }
    auto chain = chain_of("where(less(@ + b[j], 0), (@ + b[j]) * u[0, j], @ + b[j])");
    ASSERT_TRUE(chain) << chain.reason();
    EXPECT_EQ(chain->size(), 2u);
    EXPECT_EQ((*chain)[1].only_axis(), 1);
}

struct Activated {
    std::string body;
    Kind kind;
    double constant;
    double upper = 0;
    std::vector<Kind> after = {};
};

TEST(Epilogue, FunctionsInWhichTheValueOccursTwice) {
    const std::vector<Activated> bodies{
        {"@ * sigmoid(@)", Kind::Swish, 1},
        {"(@ + b[j]) * sigmoid(1.5 * (@ + b[j]))", Kind::Swish, 1.5},
        {"2 * @ * sigmoid(@)", Kind::Swish, 1, 0, {Kind::Mul}},
        {"0.5 * @ * (1 + erf(@ / 1.4142135623730951))", Kind::Gelu, 0},
        {"@ * (1 + erf(0.7071067811865475 * @))", Kind::Gelu, 0, 0, {Kind::Mul}},
        {"@ * min(max(0.25 * @ + 0.5, 0), 1)", Kind::HardSwish, 0.25, 0.5},
        {"@ * min(max(@ + 3, 0), 6) * 0.5", Kind::HardSwish, 1.0 / 6, 0.5, {Kind::Mul}},
        {"where(less(@, 0), 0.5 * (exp(@) - 1), @)", Kind::Elu, 0.5},
        {"where(less_equal(0, @), @, exp(@) - 1) + r[i, j]", Kind::Elu, 1, 0, {Kind::Add}},
    };
    for (const Activated& example : bodies) {
        SCOPED_TRACE(example.body);
        auto chain = chain_of(example.body);
        ASSERT_TRUE(chain) << chain.reason();
        ASSERT_GT(chain->size(), example.after.size());
        size_t at = chain->size() - 1 - example.after.size();
        EXPECT_EQ((*chain)[at].kind, example.kind);
        EXPECT_DOUBLE_EQ((*chain)[at].constant, example.constant);
        EXPECT_DOUBLE_EQ((*chain)[at].upper, example.upper);
        for (size_t i = 0; i < example.after.size(); ++i)
            EXPECT_EQ((*chain)[at + 1 + i].kind, example.after[i]);
    }
}

TEST(Epilogue, TensorsOnTheOtherSide) {
    EXPECT_EQ(kinds_of("@ - r[i, j]"), (std::vector<Kind>{Kind::Sub}));
    EXPECT_EQ(kinds_of("@ / u[0, j]"), (std::vector<Kind>{Kind::Div}));
    EXPECT_EQ(kinds_of("max(r[i, j], min(@, b[j]))"), (std::vector<Kind>{Kind::Min, Kind::Max}));
}

TEST(Epilogue, AxesOfTensors) {
    auto chain = chain_of("@ + t[j, i]");
    ASSERT_TRUE(chain);
    EXPECT_EQ((*chain)[0].axis_of, (std::vector<int>{1, 0}));
    EXPECT_EQ((*chain)[0].only_axis(), -1);
    chain = chain_of("@ + u[0, j]");
    ASSERT_TRUE(chain);
    EXPECT_EQ((*chain)[0].axis_of, (std::vector<int>{-1, 1}));
}

TEST(Epilogue, Refusals) {
    for (std::string body :
         {"@ * @", "@ * sigmoid(@ + 1)", "where(less(@, 1), @ * 0.25, @)", "@ + r[i, 5 - j]",
          "max(@, 2 * r[i, j])", "@ + number(i)", "@ * (2 + erf(0.7071067811865475 * @))",
          "where(less(@, 0), exp(@) - 2, @)", "@ * min(max(@ + 1, -1), 6)", "pow(@, 2)"}) {
        SCOPED_TRACE(body);
        EXPECT_FALSE(chain_of(body));
    }
}

}  // namespace
}  // namespace ollie::match
