#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "derive/rule.h"
#include "derive/scope.h"
#include "optimize/pipeline_checks.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

bool is_zero(Scalar s) { return s->kind == ScalarKind::Constant && s->constant == 0; }

/// max(a, 0) gives a.
std::optional<Scalar> of_relu(Scalar s) {
    if (s->kind != ScalarKind::Function || s->function != Function::Max) return std::nullopt;
    for (size_t i = 0; i < 2; ++i)
        if (is_zero(s->operands[i])) return s->operands[1 - i];
    return std::nullopt;
}

/// max(-max(x, 0), 0) = 0: true of real numbers, not of NaN.
Scalar without_double_relu(Scalar body) {
    return rewrite(body, [](Scalar s) {
        auto inner = of_relu(s);
        if (!inner || (*inner)->kind != ScalarKind::Mul) return s;
        bool is_relu = std::any_of((*inner)->operands.begin(), (*inner)->operands.end(),
                                   [](Scalar factor) { return of_relu(factor).has_value(); });
        return is_relu ? s->arena->constant_scalar(0) : s;
    });
}

std::vector<derive::Site> sites(const Expr& expr) {
    std::vector<derive::Site> found;
    for (const Tensor* definition : definitions_of(expr))
        if (without_double_relu(definition->body) != definition->body)
            found.push_back({definition, definition->name, "", {}});
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const derive::Site& site) {
    return derive::with_new_body(expr, site.definition, without_double_relu(site.definition->body));
}

/// relu(-relu(X)) + B, of more elements than the period of the inputs with NaN.
SmallModel model() {
    SmallModel model;
    model.input("X", {53, 59}).input("B", {53, 59}).output("Y");
    model.node("Relu", {"X"}, {"P"}).node("Neg", {"P"}, {"N"}).node("Relu", {"N"}, {"Z"});
    model.node("Add", {"Z", "B"}, {"Y"});
    return model;
}

Outcome optimized_with(const std::string& nonfinite, const std::filesystem::path& file) {
    derive::Rule rule{"double_relu", "", "", "", nonfinite, 1, sites, apply, {}};
    Options options = small_options();
    options.extra_rules = {&rule};
    return optimize(file, options);
}

/// The identity test is over real numbers and has nothing against the rule; what it loses is seen
/// when the program runs, whatever the rule says of itself.
TEST(FallBack, WhatLosesNanGivesWayToTheUnoptimizedProgram) {
    for (const char* nonfinite : {"exact", "A NaN may come up in more elements."}) {
        TemporaryFolder folder;
        std::filesystem::path file = model().write(folder.path());
        Outcome outcome = optimized_with(nonfinite, file);
        EXPECT_THAT(outcome.notes, Contains(HasSubstr("verification failed: inputs with NaN")));
        EXPECT_THAT(outcome.notes, Not(Contains(HasSubstr("identity test"))));
        EXPECT_TRUE(outcome.verification.failures.empty());
        for (const program::Derivation& derivation : outcome.program.derivations)
            for (const program::TrailStep& step : derivation.trail)
                EXPECT_NE(step.rule, "double_relu");
        expect_right(file, outcome.program);
    }
}

}  // namespace
}  // namespace ollie::optimize
