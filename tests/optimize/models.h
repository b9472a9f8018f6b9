#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>

#include "onnx/model.h"
#include "program/program.h"

/// Small models for tests of the whole pipeline.
namespace ollie::optimize {

class SmallModel : public onnx::Model {
public:
    SmallModel& weights(const std::string& name, const std::vector<int64_t>& shape) {
        onnx::Tensor& to = tensor(name, onnx::Tensor::FLOAT, shape);
        for (int64_t i = 0; i < element_count(shape); ++i)
            to.add_float_data(static_cast<float>(std::sin(1 + static_cast<double>(i) * 2.3)));
        return *this;
    }
    std::filesystem::path write(const std::filesystem::path& folder) const {
        std::filesystem::path file = folder / "model.onnx";
        std::ofstream(file, std::ios::binary) << proto.SerializeAsString();
        return file;
    }
};

/// A convolution, and a transposed one of stride 2 after it.
inline SmallModel convolution_and_transposed() {
    SmallModel model;
    model.weights("W", {3, 2, 3, 3}).weights("b", {3}).weights("V", {3, 2, 4, 4});
    model.input("X", {1, 2, 5, 3}).output("Y");
    model.node("Conv", {"X", "W", "b"}, {"T"}).attribute("pads", std::vector<int64_t>{1, 1, 1, 1});
    model.node("Relu", {"T"}, {"S"});
    model.node("ConvTranspose", {"S", "V"}, {"Y"})
        .attribute("pads", std::vector<int64_t>{1, 1, 1, 1})
        .attribute("strides", std::vector<int64_t>{2, 2});
    return model;
}

/// relu(X W + B) with a square W.
inline SmallModel product() {
    SmallModel model;
    model.weights("W", {7, 7});
    model.input("X", {5, 7}).input("B", {5, 7}).output("Y");
    model.node("MatMul", {"X", "W"}, {"P"}).node("Add", {"P", "B"}, {"S"});
    model.node("Relu", {"S"}, {"Y"});
    return model;
}

}  // namespace ollie::optimize
