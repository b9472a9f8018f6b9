#include <random>

#include <gmock/gmock.h>

#include "onnx/model.h"

namespace ollie::onnx {
namespace {

using testing::HasSubstr;

class OnnxFile : public WithFolder {
protected:
    std::string error_of_file(const std::string& content) const {
        return error_of([&] { onnx::read(write("model.onnx", content)); });
    }

    static Model small_model() {
        Model model;
        model.input("x", {2, 3}).floats("w", {3}).ints("shape", {3, -1});
        model.node("Add", {"x", "w"}, {"a"}, "add").node("Reshape", {"a", "shape"}, {"y"}, "fold");
        model.node("Softmax", {"y"}, {"z"}).attribute("axis", 1).output("z", Tensor::FLOAT);
        return model;
    }
};

TEST_F(OnnxFile, IsRead) {
    graph::Graph graph = read(small_model());
    EXPECT_EQ(graph::print(graph), R"(graph net opset 20
input x: f32[2, 3]
constant w: f32[3]
constant shape: i64[2]
a: f32[2, 3] = Add(x, w) "add"
y: f32[3, 2] = Reshape(a, shape) "fold"
z: f32[3, 2] = Softmax<axis = 1>(y) "Softmax_2"
output z
)");
}

TEST_F(OnnxFile, WhatIsNone) {
    EXPECT_THAT(error_of([&] { onnx::read(path("none.onnx")); }),
                HasSubstr("none.onnx: cannot be opened: No such file"));
    EXPECT_THAT(error_of([&] { onnx::read(folder_); }), HasSubstr("a folder"));
    EXPECT_THAT(error_of_file(""), HasSubstr("model.onnx: an empty file"));
    EXPECT_THAT(error_of_file("a text, no protobuf"), HasSubstr("model.onnx: not an ONNX file"));
    EXPECT_THAT(error_of_file(std::string("\x08\x0a", 2)), HasSubstr("it has no graph"));
}

TEST_F(OnnxFile, OverTwoGigabytesIsRefusedByItsSize) {
    write("model.onnx", "x");
    std::filesystem::resize_file(path("model.onnx"), int64_t{1} << 31);
    EXPECT_THAT(error_of([&] { onnx::read(path("model.onnx")); }),
                HasSubstr("2147483648 bytes; a model file holds 2 GiB at most"));
}

TEST_F(OnnxFile, TruncatedAnywhereIsAnError) {
    std::string content = small_model().proto.SerializeAsString();
    for (size_t length = 0; length < content.size(); ++length)
        EXPECT_THAT(error_of_file(content.substr(0, length)), HasSubstr("error: ")) << length;
}

/// Damage anywhere is refused or leaves a model that is well formed; nothing else happens.
TEST_F(OnnxFile, DamagedBytesNeverGetFurther) {
    std::string content = small_model().proto.SerializeAsString();
    constexpr unsigned seed = 1;
    std::mt19937 random(seed);
    int refused = 0;
    for (int run = 0; run < 1000; ++run) {
        std::string damaged = content;
        for (int i = 0; i <= run % 3; ++i)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        SCOPED_TRACE(fmt::format("seed {}, run {}", seed, run));
        refused += error_of_file(damaged) != "no error";
    }
    EXPECT_GT(refused, 500);
}

TEST_F(OnnxFile, OpsetMustBeKnown) {
    Model model = small_model();
    EXPECT_THAT(error_of(model.opset(6)), HasSubstr("unsupported: opset 6, expected 7 to"));
    EXPECT_THAT(error_of(model.opset(1000)), HasSubstr("unsupported: opset 1000"));
    model.proto.clear_opset_import();
    EXPECT_THAT(error_of(model), HasSubstr("error: the model does not say which opset"));
    auto* opset = model.proto.add_opset_import();
    opset->set_domain("ai.onnx");
    opset->set_version(13);
    EXPECT_EQ(read(model).opset, 13);
}

}  // namespace
}  // namespace ollie::onnx
