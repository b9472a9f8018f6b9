#include <gmock/gmock.h>

#include "onnx/model.h"

namespace ollie::onnx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OnnxInputs : public WithFolder {
protected:
    static Model two_inputs() {
        Model model;
        model.input("x", {"batch", 3, ""}).input("z", {"batch", 1, 1});
        return std::move(model.node("Add", {"x", "z"}, {"y"}, "add").output("y"));
    }
};

TEST_F(OnnxInputs, SymbolicDimensionsWantAValue) {
    EXPECT_THAT(error_of(two_inputs()),
                AllOf(HasSubstr("error: dimensions without a value"),
                      HasSubstr("input \"x\" dimension 0 (\"batch\"), dimension 2 (?) (give them "
                                "as in --shape x:1x3x1)"),
                      HasSubstr("input \"z\" dimension 0 (\"batch\")")));
}

TEST_F(OnnxInputs, ASymbolIsBoundEverywhere) {
    graph::Graph graph = read(two_inputs(), {{{"x", {5, 3, 7}}}});
    EXPECT_EQ(graph.values[0].shape, (Shape{5, 3, 7}));
    EXPECT_EQ(graph.values[1].shape, (Shape{5, 1, 1}));
    EXPECT_EQ(graph.values[2].shape, (Shape{5, 3, 7}));
}

TEST_F(OnnxInputs, ShapesThatDoNotFit) {
    auto with = [&](const std::map<std::string, Shape>& shapes) {
        return error_of(two_inputs(), {shapes});
    };
    EXPECT_THAT(with({{"none", {1}}}), HasSubstr("error: a shape is given for \"none\", but the "
                                                 "inputs are \"x\", \"z\""));
    EXPECT_THAT(
        with({{"x", {1, 3}}}),
        HasSubstr("input \"x\": shape 1x3 has rank 2, but the model says [\"batch\", 3, ?]"));
    EXPECT_THAT(with({{"x", {1, 4, 1}}}),
                HasSubstr("input \"x\": dimension 1 is 3 in the model, not 4"));
    EXPECT_THAT(with({{"x", {1, 3, -1}}}), HasSubstr("extent below 0"));
    EXPECT_THAT(with({{"x", {1, 3, 1}}, {"z", {2, 1, 1}}}),
                HasSubstr("input \"z\": dimension 0 (\"batch\") is 2, but 1 elsewhere"));
    EXPECT_THAT(with({{"x", {int64_t{1} << 40, 3, int64_t{1} << 40}}}), HasSubstr("too large"));
}

TEST_F(OnnxInputs, WithoutAnyShape) {
    Model model;
    model.input("x", {}).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_EQ(read(model).values[0].shape, Shape{});
    model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    EXPECT_THAT(error_of(model), HasSubstr("input \"x\" has no shape at all"));
    EXPECT_EQ(read(model, {{{"x", {2, 3}}}}).values[0].shape, (Shape{2, 3}));
}

TEST_F(OnnxInputs, ZeroExtentsAreLegal) {
    Model model;
    model.input("x", {0, 3}).floats("w", {3}).node("Add", {"x", "w"}, {"y"}).output("y");
    EXPECT_EQ(read(model).values[2].shape, (Shape{0, 3}));
    Model symbolic;
    symbolic.input("x", {"n", 3}).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_EQ(read(symbolic, {{{"x", {0, 3}}}}).values[1].shape, (Shape{0, 3}));
}

TEST_F(OnnxInputs, TypesThatAreNoneOfOurs) {
    Model model;
    model.input("x", {2}, Tensor::FLOAT16).output("x");
    EXPECT_THAT(error_of(model), HasSubstr("unsupported: input \"x\" has element type FLOAT16"));
    Model sequence;
    sequence.graph().add_input()->set_name("s");
    sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
    EXPECT_THAT(error_of(sequence), HasSubstr("unsupported: input \"s\" is not a tensor"));
}

}  // namespace
}  // namespace ollie::onnx
