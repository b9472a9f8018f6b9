#include <gmock/gmock.h>

#include "onnx/model.h"

namespace ollie::onnx {
namespace {

using testing::HasSubstr;

class OnnxFold : public WithFolder {
protected:
    static const graph::Value& output(const graph::Graph& graph, size_t index = 0) {
        return graph.values[static_cast<size_t>(graph.outputs[index])];
    }
    static std::vector<int64_t> ints(const graph::Value& value) {
        std::vector<int64_t> result;
        for (int64_t i = 0; i < value.constant->size(); ++i)
            result.push_back(value.constant->int_at(i));
        return result;
    }
};

/// What an exporter writes for x.view(x.shape[0], -1).
TEST_F(OnnxFold, ReshapeByShapeArithmetic) {
    Model model;
    model.input("x", {"n", 3, 5}).node("Shape", {"x"}, {"shape"});
    model.scalar("zero", 0).ints("axes", {0}).ints("rest", {-1});
    model.node("Gather", {"shape", "zero"}, {"n"}).node("Unsqueeze", {"n", "axes"}, {"n1"});
    model.node("Concat", {"n1", "rest"}, {"target"}).attribute("axis", 0);
    model.node("Reshape", {"x", "target"}, {"y"}, "view").output("y");
    graph::Graph graph = read(model, {{{"x", {4, 3, 5}}}});
    ASSERT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(output(graph).shape, (Shape{4, 15}));
    EXPECT_EQ(graph.values.size(), 3u);
    EXPECT_EQ(graph.nodes[0].name, "view");
    EXPECT_EQ(ints(graph.values[static_cast<size_t>(graph.nodes[0].inputs[1])]),
              (std::vector<int64_t>{4, -1}));
}

TEST_F(OnnxFold, IntegersAreExact) {
    Model model;
    model.scalar("large", (int64_t{1} << 60) + 1).scalar("two", 2);
    model.node("Add", {"large", "two"}, {"sum"}).node("Mul", {"large", "two"}, {"product"});
    model.node("Size", {"two"}, {"size"}).output("sum").output("product").output("size");
    graph::Graph graph = read(model);
    EXPECT_TRUE(graph.nodes.empty());
    EXPECT_EQ(ints(output(graph, 0))[0], (int64_t{1} << 60) + 3);
    EXPECT_EQ(ints(output(graph, 1))[0], (int64_t{1} << 61) + 2);
    EXPECT_EQ(ints(output(graph, 2))[0], 1);
}

/// Sizes times scales, as in exported resizing: by way of floats, and rounded as floats.
TEST_F(OnnxFold, ThroughFloats) {
    Model model;
    model.input("x", {1, 30}).node("Shape", {"x"}, {"shape"}).floats("scale", {2}, 1.1f);
    model.node("Cast", {"shape"}, {"sizes"}).attribute("to", Tensor::FLOAT);
    model.node("Mul", {"sizes", "scale"}, {"scaled"}).node("Floor", {"scaled"}, {"floor"});
    model.node("Cast", {"floor"}, {"y"}).attribute("to", Tensor::INT64).output("y");
    graph::Graph graph = read(model);
    EXPECT_TRUE(graph.nodes.empty());
    EXPECT_EQ(ints(output(graph)), (std::vector<int64_t>{1, 33}));
}

TEST_F(OnnxFold, ConditionsAndRanges) {
    Model model;
    model.scalar("start", 2).scalar("limit", 9).scalar("step", 3);
    model.node("Range", {"start", "limit", "step"}, {"range"});
    model.node("Less", {"range", "limit"}, {"less"}).output("range").output("less");
    graph::Graph graph = read(model);
    EXPECT_EQ(ints(output(graph, 0)), (std::vector<int64_t>{2, 5, 8}));
    EXPECT_EQ(output(graph, 1).type, ElementType::Bool);
    EXPECT_EQ(ints(output(graph, 1)), (std::vector<int64_t>{1, 1, 1}));
}

TEST_F(OnnxFold, FloatsAreLeftToTheStagesThatFollow) {
    Model model;
    model.floats("w", {3}).floats("v", {3}).input("x", {3});
    model.node("Mul", {"w", "v"}, {"wv"}).node("Add", {"x", "wv"}, {"y"}).output("y");
    EXPECT_EQ(read(model).nodes.size(), 2u);
}

TEST_F(OnnxFold, LargeIntegersAreDataAndStay) {
    Model model;
    model.ints("n", {300, 300}).node("ConstantOfShape", {"n"}, {"grid"}, "fill");
    auto& value = *model.attribute("value").mutable_t();
    value.set_data_type(Tensor::INT64);
    value.add_dims(1);
    value.add_int64_data(3);
    model.output("grid");
    graph::Graph graph = read(model);
    EXPECT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(output(graph).shape, (Shape{300, 300}));
    EXPECT_EQ(output(graph).type, ElementType::I64);
}

TEST_F(OnnxFold, ConstantsAndIdentitiesOfThemAreConstants) {
    Model model;
    model.node("Constant", {}, {"c"});
    auto& value = *model.attribute("value").mutable_t();
    value.set_data_type(Tensor::FLOAT);
    value.add_float_data(2.5f);
    model.node("Identity", {"c"}, {"d"}).input("x", {3}).node("Mul", {"x", "d"}, {"y"});
    graph::Graph graph = read(model.output("y"));
    ASSERT_EQ(graph.nodes.size(), 1u);
    const auto& factor = graph.values[static_cast<size_t>(graph.nodes[0].inputs[1])];
    EXPECT_EQ(factor.name, "d");
    EXPECT_EQ(factor.constant->at(0), 2.5);
}

TEST_F(OnnxFold, IdentitiesOfDataStayNodes) {
    Model model;
    model.input("x", {3}).node("Identity", {"x"}, {"y"}).node("Dropout", {"y"}, {"z", ""});
    EXPECT_EQ(read(model.output("z")).nodes.size(), 2u);
}

TEST_F(OnnxFold, EmptyShapeArithmetic) {
    Model model;
    model.input("x", {2, 0}).node("Shape", {"x"}, {"s"}).ints("first", {5}).scalar("n", 1);
    model.node("Concat", {"s", "s"}, {"ss"}).attribute("axis", 0).output("ss");
    graph::Graph graph = read(model);
    EXPECT_EQ(ints(output(graph)), (std::vector<int64_t>{2, 0, 2, 0}));
}

}  // namespace
}  // namespace ollie::onnx
