#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <onnx.pb.h>
#include <unistd.h>

#include "base/error.h"
#include "onnx/onnx.h"

namespace ollie::onnx {

using Tensor = ::onnx::TensorProto;

/// A dimension of a declared shape: an extent or a symbol ("" for one without a name).
using Dimension = std::variant<int, std::string>;

/// Builds a model piece by piece.
class Model {
public:
    Model() {
        proto.set_ir_version(10);
        auto* opset = proto.add_opset_import();
        opset->set_domain("");
        opset->set_version(20);
        graph().set_name("net");
    }

    ::onnx::GraphProto& graph() { return *proto.mutable_graph(); }

    Model& opset(int version) {
        proto.mutable_opset_import(0)->set_version(version);
        return *this;
    }

    Model& input(const std::string& name, const std::vector<Dimension>& shape,
                 int type = Tensor::FLOAT) {
        declare(*graph().add_input(), name, type);
        auto* dims = graph().mutable_input(graph().input_size() - 1)->mutable_type();
        for (const Dimension& dimension : shape) {
            auto* to = dims->mutable_tensor_type()->mutable_shape()->add_dim();
            if (const int* extent = std::get_if<int>(&dimension))
                to->set_dim_value(*extent);
            else if (!std::get<std::string>(dimension).empty())
                to->set_dim_param(std::get<std::string>(dimension));
        }
        dims->mutable_tensor_type()->mutable_shape();
        return *this;
    }

    Model& output(const std::string& name, int type = Tensor::UNDEFINED) {
        declare(*graph().add_output(), name, type);
        return *this;
    }

    Tensor& tensor(const std::string& name, int type, const std::vector<int64_t>& shape) {
        Tensor& result = *graph().add_initializer();
        result.set_name(name);
        result.set_data_type(type);
        for (int64_t extent : shape) result.add_dims(extent);
        return result;
    }

    Model& floats(const std::string& name, const std::vector<int64_t>& shape, float value = 1) {
        Tensor& to = tensor(name, Tensor::FLOAT, shape);
        for (int64_t i = 0; i < element_count(shape); ++i) to.add_float_data(value);
        return *this;
    }

    Model& ints(const std::string& name, const std::vector<int64_t>& values) {
        Tensor& to = tensor(name, Tensor::INT64, {static_cast<int64_t>(values.size())});
        for (int64_t value : values) to.add_int64_data(value);
        return *this;
    }

    Model& scalar(const std::string& name, int64_t value) {
        tensor(name, Tensor::INT64, {}).add_int64_data(value);
        return *this;
    }

    /// The last node that was added gets the attribute.
    ::onnx::AttributeProto& attribute(const std::string& name) {
        auto* to = graph().mutable_node(graph().node_size() - 1)->add_attribute();
        to->set_name(name);
        return *to;
    }
    Model& attribute(const std::string& name, int64_t value) {
        auto& to = attribute(name);
        to.set_type(::onnx::AttributeProto::INT);
        to.set_i(value);
        return *this;
    }
    Model& attribute(const std::string& name, const std::vector<int64_t>& values) {
        auto& to = attribute(name);
        to.set_type(::onnx::AttributeProto::INTS);
        for (int64_t value : values) to.add_ints(value);
        return *this;
    }

    Model& node(const std::string& op, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const std::string& name = "") {
        auto* to = graph().add_node();
        to->set_op_type(op);
        to->set_name(name);
        for (const std::string& input : inputs) to->add_input(input);
        for (const std::string& output : outputs) to->add_output(output);
        return *this;
    }

    ::onnx::ModelProto proto;

private:
    static void declare(::onnx::ValueInfoProto& to, const std::string& name, int type) {
        to.set_name(name);
        if (type != Tensor::UNDEFINED)
            to.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    }
};

/// Tests with a folder of their own, which goes with them.
class WithFolder : public testing::Test {
protected:
    WithFolder()
        : folder_(std::filesystem::temp_directory_path() /
                  fmt::format("ollie_onnx_{}_{}", getpid(),
                              testing::UnitTest::GetInstance()->current_test_info()->name())) {
        std::filesystem::create_directories(folder_);
    }
    ~WithFolder() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path path(const std::string& name) const { return folder_ / name; }

    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
    }

    graph::Graph read(const Model& model, const ImportOptions& options = {}) const {
        return onnx::read(write("model.onnx", model.proto.SerializeAsString()), options);
    }

    static std::string error_of(const std::function<void()>& action) {
        try {
            action();
        } catch (const Unsupported& error) {
            return std::string("unsupported: ") + error.what();
        } catch (const UserError& error) {
            return std::string("error: ") + error.what();
        }
        return "no error";
    }

    std::string error_of(const Model& model, const ImportOptions& options = {}) const {
        return error_of([&] { read(model, options); });
    }

    std::filesystem::path folder_;
};

}  // namespace ollie::onnx
