#include <gmock/gmock.h>

#include "onnx/model.h"

namespace ollie::onnx {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OnnxStructure : public WithFolder {};

TEST_F(OnnxStructure, EveryNodeThatIsNotSupportedIsListed) {
    Model model;
    model.input("x", {2}).node("Foo", {"x"}, {"a"}, "first").node("Relu", {"a"}, {"b"}, "second");
    model.node("Bar", {"b"}, {"c"}, "third").node("Gelu", {"x"}, {"d"}, "fourth");
    model.graph().mutable_node(3)->set_domain("com.example");
    model.node("Dropped", {"x"}, {"unused"}).node("Add", {"c", "d"}, {"y"}).output("y");
    EXPECT_THAT(error_of(model), AllOf(HasSubstr("unsupported: 3 nodes are not supported:"),
                                       HasSubstr("\n  node \"first\" (Foo): no such operator"),
                                       HasSubstr("\n  node \"third\" (Bar)"),
                                       HasSubstr("\n  node \"fourth\" (com.example.Gelu)"),
                                       Not(HasSubstr("Relu")), Not(HasSubstr("Dropped"))));
}

TEST_F(OnnxStructure, LimitsOfKnownOperatorsAreListedToo) {
    Model model;
    model.input("x", {6}).input("s", {2}, Tensor::INT64);
    model.node("Reshape", {"x", "s"}, {"a"}, "by_data").node("Foo", {"x"}, {"b"}, "unknown");
    model.node("If", {"x"}, {"c"}, "branch");
    model.attribute("then_branch").set_type(::onnx::AttributeProto::GRAPH);
    model.output("a").output("b").output("c");
    EXPECT_THAT(error_of(model),
                AllOf(HasSubstr("3 nodes are not supported"), HasSubstr("\"by_data\" (Reshape)"),
                      HasSubstr("\"unknown\" (Foo)"), HasSubstr("\"branch\" (If)")));
}

TEST_F(OnnxStructure, NamesAreDefinedOnce) {
    auto with = [&](const std::function<void(Model&)>& change) {
        Model model;
        model.input("x", {2}).floats("w", {2}).node("Add", {"x", "w"}, {"a"}, "add");
        model.node("Relu", {"a"}, {"y"}, "relu").output("y");
        change(model);
        return error_of(model);
    };
    EXPECT_EQ(with([](Model&) {}), "no error");
    EXPECT_THAT(with([](Model& m) { m.node("Relu", {"x"}, {"a"}, "again"); }),
                HasSubstr("error: \"a\" is defined twice: by node \"add\" (Add) and by node "
                          "\"again\" (Relu)"));
    EXPECT_THAT(with([](Model& m) { m.node("Relu", {"x"}, {"w"}); }),
                HasSubstr("by the initializers and by node 2 (Relu)"));
    EXPECT_THAT(with([](Model& m) { m.input("x", {3}); }), HasSubstr("\"x\" is defined twice"));
    EXPECT_THAT(with([](Model& m) { m.floats("w", {3}); }), HasSubstr("\"w\" is defined twice"));
    EXPECT_THAT(with([](Model& m) { m.node("Relu", {"none"}, {"b"}); }),
                HasSubstr("error: node 2 (Relu) reads \"none\", which nothing defines"));
    EXPECT_THAT(with([](Model& m) { m.output("none"); }),
                HasSubstr("the graph's output reads \"none\""));
    EXPECT_THAT(with([](Model& m) {
                    m.node("Add", {"x", ""}, {"b"}, "half").output("b");
                }),
                AllOf(HasSubstr("error: node \"half\" (Add)"), HasSubstr("missing")));
}

TEST_F(OnnxStructure, InitializersMayBeInputsAsInOldFiles) {
    Model model;
    model.input("x", {2}).input("w", {2}).floats("w", {2}).node("Add", {"x", "w"}, {"y"});
    graph::Graph graph = read(model.output("y"));
    EXPECT_EQ(graph.inputs.size(), 1u);
    EXPECT_THAT(error_of(model, {{{"w", {2}}}}), HasSubstr("the inputs are \"x\""));
    EXPECT_THAT(error_of(model.input("w", {2})), HasSubstr("\"w\" is defined twice"));
}

TEST_F(OnnxStructure, NodesMayComeInAnyOrder) {
    Model model;
    model.node("Relu", {"b"}, {"y"}, "last").node("Exp", {"a"}, {"b"}, "middle");
    model.node("Neg", {"x"}, {"a"}, "first").input("x", {2}).output("y");
    graph::Graph graph = read(model);
    ASSERT_EQ(graph.nodes.size(), 3u);
    EXPECT_EQ(graph.nodes[0].name, "first");
    EXPECT_EQ(graph.nodes[2].name, "last");
}

TEST_F(OnnxStructure, CyclesAreNamed) {
    Model model;
    model.input("x", {2}).node("Add", {"x", "c"}, {"a"}, "one").node("Exp", {"a"}, {"b"}, "two");
    model.node("Neg", {"b"}, {"c"}, "three").node("Relu", {"c"}, {"y"}, "out").output("y");
    EXPECT_THAT(error_of(model),
                HasSubstr("error: the graph has a cycle: node \"one\" (Add) <- node \"three\" "
                          "(Neg) <- node \"two\" (Exp)"));
    Model self;
    self.input("x", {2}).node("Add", {"x", "y"}, {"y"}, "self").output("y");
    EXPECT_THAT(error_of(self), HasSubstr("cycle: node \"self\" (Add)"));
}

TEST_F(OnnxStructure, LongChainsInReverse) {
    Model model;
    constexpr int count = 20000;
    for (int i = count; i-- > 0;)
        model.node("Relu", {fmt::format("v{}", i)}, {fmt::format("v{}", i + 1)});
    model.input("v0", {1}).output(fmt::format("v{}", count));
    EXPECT_EQ(read(model).nodes.size(), static_cast<size_t>(count));
}

TEST_F(OnnxStructure, NodeNamesBecomeUnique) {
    Model model;
    model.input("x", {2}).node("Relu", {"x"}, {"a"}, "r").node("Relu", {"a"}, {"b"}, "r");
    model.node("Relu", {"b"}, {"c"}).node("Relu", {"c"}, {"y"}, "Relu_2").output("y");
    graph::Graph graph = read(model);
    EXPECT_EQ(graph.nodes[0].name, "r");
    EXPECT_EQ(graph.nodes[1].name, "r_1");
    EXPECT_EQ(graph.nodes[2].name, "Relu_3");
    EXPECT_EQ(graph.nodes[3].name, "Relu_2");
}

TEST_F(OnnxStructure, WhatNoOutputNeedsGoes) {
    Model model;
    model.input("x", {2}).input("unread", {3}).floats("w", {2}).floats("dead", {2});
    model.node("Add", {"x", "dead"}, {"z"}).node("Add", {"x", "w"}, {"y"}).output("y");
    graph::Graph graph = read(model);
    EXPECT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(graph.inputs.size(), 2u);
    EXPECT_EQ(graph.values.size(), 4u);
}

TEST_F(OnnxStructure, OutputsMayBeInputsOrConstants) {
    Model model;
    model.input("x", {2}).floats("w", {3}).output("x").output("w").output("x");
    graph::Graph graph = read(model);
    EXPECT_EQ(graph.outputs, (std::vector<int>{0, 1, 0}));
}

TEST_F(OnnxStructure, OutputTypeMustBeAsDeclared) {
    Model model;
    model.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y", Tensor::DOUBLE);
    EXPECT_THAT(error_of(model), HasSubstr("output \"y\" is declared as DOUBLE, but is f32"));
}

TEST_F(OnnxStructure, AttributesOfAllKinds) {
    Model model;
    model.input("x", {2}).node("LeakyRelu", {"x"}, {"y"}, "relu").output("y");
    model.attribute("alpha").set_f(0.25f);  // Without a type, as in early files.
    EXPECT_EQ(find_float(read(model).nodes[0].attributes, "alpha"), 0.25);
    model.attribute("alpha").set_f(0.5f);
    EXPECT_THAT(error_of(model), HasSubstr("attribute alpha is given twice"));
    Model wrong;
    wrong.input("x", {2}).node("LeakyRelu", {"x"}, {"y"}, "relu").output("y");
    wrong.attribute("alpha", std::vector<int64_t>{1, 2});
    EXPECT_THAT(error_of(wrong), HasSubstr("error: node \"relu\" (LeakyRelu): attribute alpha"));
    Model sparse;
    sparse.node("Constant", {}, {"y"}, "c").output("y");
    sparse.attribute("sparse_value").set_type(::onnx::AttributeProto::SPARSE_TENSOR);
    EXPECT_THAT(error_of(sparse),
                HasSubstr("unsupported: 1 node is not supported:\n  node \"c\" "
                          "(Constant): attribute sparse_value is a SPARSE_TENSOR"));
}

TEST_F(OnnxStructure, WrongRanksAreUserErrors) {
    Model model;
    model.input("x", {1, 3, 8}).floats("k", {4, 3, 3, 3});
    model.node("Conv", {"x", "k"}, {"y"}, "conv").output("y");
    EXPECT_THAT(error_of(model), HasSubstr("error: node \"conv\" (Conv)"));
    Model reshape;
    reshape.input("x", {2, 3}).ints("s", {4, -1}).node("Reshape", {"x", "s"}, {"y"}, "r");
    EXPECT_THAT(error_of(reshape.output("y")), HasSubstr("error: node \"r\" (Reshape)"));
}

TEST_F(OnnxStructure, SparseInitializersAreRefused) {
    Model model;
    model.input("x", {2}).output("x");
    model.graph().add_sparse_initializer()->mutable_values()->set_name("s");
    EXPECT_THAT(error_of(model), HasSubstr("unsupported: sparse initializer \"s\""));
}

}  // namespace
}  // namespace ollie::onnx
