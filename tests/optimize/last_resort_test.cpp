#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/pipeline_checks.h"

namespace ollie::optimize {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// relu(X W) beside the power of integers, for which no kernel can be generated.
SmallModel model() {
    SmallModel model;
    model.weights("W", {7, 6});
    model.input("X", {5, 7}).output("Y");
    model.node("MatMul", {"X", "W"}, {"P"}).node("Relu", {"P"}, {"Y"});
    model.input("I", {3, 4}, onnx::Tensor::INT32).input("E", {3, 4}, onnx::Tensor::INT32);
    model.output("J", onnx::Tensor::INT32);
    model.node("Pow", {"I", "E"}, {"Q"}).node("Add", {"Q", "I"}, {"J"});
    return model;
}

TEST(LastResort, WhatHasNoKernelIsEvaluatedAndTheRestIsNot) {
    TemporaryFolder folder;
    std::filesystem::path file = model().write(folder.path());
    Outcome outcome = optimize(file, small_options());
    EXPECT_TRUE(outcome.verification.failures.empty());
    EXPECT_THAT(outcome.notes, Contains(AllOf(HasSubstr("Pow_"), HasSubstr("reference(Q)"),
                                              HasSubstr("no kernel compiles"))));
    std::vector<std::string> evaluated;
    for (const program::Step& step : outcome.program.steps)
        if (step.target == "reference") evaluated.push_back(step.meaning.outputs[0]->name);
    EXPECT_EQ(evaluated.size(), 1u);
    expect_right(file, outcome.program);
}

}  // namespace
}  // namespace ollie::optimize
