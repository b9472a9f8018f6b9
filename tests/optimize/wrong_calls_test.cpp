#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/calls.h"
#include "derive/rule.h"
#include "derive/scope.h"
#include "optimize/pipeline_checks.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using backends::CallChoice;
using backends::LibraryCall;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Choices = OrRefusal<std::vector<CallChoice>>;

std::vector<std::string> operations_of(const CallChoice& choice) {
    return find_strings(choice.parameters, "post").value_or(std::vector<std::string>{});
}

/// What has a relu, without it.
Choices without_relu(const match::Binding& binding) {
    Choices right = backends::cpu::find("onednn_convolution")->choices(binding);
    if (!right) return right;
    std::vector<CallChoice> wrong;
    for (CallChoice choice : *right) {
        if (operations_of(choice) != std::vector<std::string>{"leaky 0"}) continue;
        choice.parameters.erase("post");
        wrong.push_back(choice);
    }
    if (wrong.empty()) return refuse("no relu");
    return wrong;
}

/// Parts of derived expressions, times a factor.
Choices scaled(const match::Binding& binding, const char* factor) {
    if (!binding.definition->name.ends_with("_apart")) return refuse("not derived");
    Choices right = backends::cpu::find("onednn_convolution")->choices(binding);
    if (!right) return right;
    for (CallChoice& choice : *right)
        choice.parameters["post"] = std::vector<std::string>{fmt::format("linear {} 0", factor)};
    return right;
}

Choices far_off(const match::Binding& binding) { return scaled(binding, "1.5"); }
Choices nearly_right(const match::Binding& binding) { return scaled(binding, "1.00007"); }

bool is_relu_of_sum(Scalar s) {
    return s->kind == ScalarKind::Function && s->function == Function::Max &&
           std::any_of(s->operands.begin(), s->operands.end(),
                       [](Scalar operand) { return operand->kind == ScalarKind::Reduce; });
}

std::vector<derive::Site> relus(const Expr& expr) {
    std::vector<derive::Site> found;
    for (const Tensor* definition : definitions_of(expr))
        if (is_relu_of_sum(definition->body))
            found.push_back({definition, definition->name, "", {}});
    return found;
}

/// relu(sum) = relu(T), T = sum
OrRefusal<Expr> set_apart(const Expr& expr, const derive::Site& site) {
    const Tensor* relu = site.definition;
    Scalar body = rewrite(relu->body, [&](Scalar s) {
        if (s->kind != ScalarKind::Reduce) return s;
        return derive::extracted(expr, s, derive::scope_of(relu), relu->name + "_apart", relu->type,
                                 relu->origin);
    });
    return derive::with_new_body(expr, relu, body);
}

const derive::Rule apart{"apart", "", "", "", "exact", 1, relus, set_apart, {}};

/// The real call that is used in a wrong way, and promises to take no time.
LibraryCall tempting(Choices (*choices)(const match::Binding&)) {
    LibraryCall call = *backends::cpu::find("onednn_convolution");
    call.choices = choices;
    call.estimate = [](const match::Binding&, const CallChoice&, const match::Machine&) {
        return 1e-12;
    };
    return call;
}

std::vector<std::string> steps_of(const program::Derivation& derivation) {
    std::vector<std::string> steps{derivation.chosen};
    for (const program::TrailStep& step : derivation.trail)
        steps.push_back(step.rule + " at " + step.place + " with " + step.parameters);
    return steps;
}

Outcome optimized(const std::filesystem::path& file, const LibraryCall* extra) {
    Options options = small_options();
    options.candidates = 10;
    options.extra_rules = {&apart};
    if (extra != nullptr) options.extra_calls = {extra};
    return optimize(file, options);
}

/// One after the other, of different sizes; dear enough for what comes after a product to be cheap.
SmallModel two_convolutions() {
    SmallModel model;
    model.weights("W", {17, 8, 3, 3}).weights("V", {16, 17, 3, 3});
    model.input("X", {1, 8, 19, 20}).output("Y");
    model.node("Conv", {"X", "W"}, {"S"}).attribute("pads", std::vector<int64_t>{1, 1, 1, 1});
    model.node("Relu", {"S"}, {"T"});
    model.node("Conv", {"T", "V"}, {"Z"}).attribute("pads", std::vector<int64_t>{1, 1, 1, 1});
    model.node("Relu", {"Z"}, {"Y"});
    return model;
}

TEST(WrongCalls, OneThatIsInTheUnoptimizedProgramTooGivesWayToTheNextBest) {
    TemporaryFolder folder;
    std::filesystem::path file = convolution_and_transposed().write(folder.path());
    LibraryCall wrong = tempting(without_relu);
    Outcome outcome = optimized(file, &wrong);
    EXPECT_TRUE(outcome.verification.failures.empty());
    EXPECT_THAT(outcome.notes,
                Contains(AllOf(HasSubstr("Conv_0"), HasSubstr("is refused"),
                               HasSubstr("the call onednn_convolution(S) alone is"))));
    EXPECT_THAT(outcome.notes, Not(Contains(HasSubstr("no other way is left"))));
    EXPECT_EQ(steps_of(outcome.program.derivations.at(1)),
              steps_of(optimized(file, nullptr).program.derivations.at(1)));
    expect_right(file, outcome.program);
}

TEST(WrongCalls, OneOfADerivationGivesWayToTheNextBest) {
    TemporaryFolder folder;
    std::filesystem::path file = two_convolutions().write(folder.path());
    LibraryCall wrong = tempting(far_off);
    Outcome outcome = optimized(file, &wrong);
    EXPECT_TRUE(outcome.verification.failures.empty());
    EXPECT_THAT(outcome.notes, Contains(HasSubstr("verification failed: inputs \"random\"")));
    EXPECT_THAT(outcome.notes,
                Contains(AllOf(HasSubstr("Conv_0"), HasSubstr("derived by"), HasSubstr("apart"),
                               HasSubstr("the call onednn_convolution(T_apart) alone is"))));
    expect_right(file, outcome.program);
}

/// Each product is within the bound of 1e-4 by itself, both together are not.
TEST(WrongCalls, OfSmallErrorsThatAddUpOneIsGivenUp) {
    TemporaryFolder folder;
    std::filesystem::path file = two_convolutions().write(folder.path());
    LibraryCall inexact = tempting(nearly_right);
    Outcome outcome = optimized(file, &inexact);
    EXPECT_TRUE(outcome.verification.failures.empty());
    EXPECT_THAT(outcome.notes, Contains(HasSubstr("is given up: right alone")));
    EXPECT_THAT(outcome.notes, Not(Contains(HasSubstr("is refused"))));
    int left = 0;
    for (const program::Step& step : outcome.program.steps) {
        auto operations = find_strings(step.parameters, "post");
        if (operations && operations->front() == "linear 1.00007 0") ++left;
    }
    EXPECT_EQ(left, 1);
    EXPECT_LT(outcome.verification.max_error(), 1e-4);
}

}  // namespace
}  // namespace ollie::optimize
