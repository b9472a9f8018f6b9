#include "onnx/inputs.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>
#include <onnx.pb.h>

#include "base/error.h"
#include "onnx/tensor.h"

namespace ollie::onnx {
namespace {

using Input = ::onnx::ValueInfoProto;
using Dimension = ::onnx::TensorShapeProto::Dimension;

/// 3, "batch" or ?.
std::string dimension_text(const Dimension& dimension) {
    if (dimension.has_dim_value()) return fmt::format("{}", dimension.dim_value());
    return dimension.dim_param().empty() ? "?" : fmt::format("\"{}\"", dimension.dim_param());
}

std::string shape_text(const Input& input) {
    std::vector<std::string> parts;
    for (const Dimension& dimension : input.type().tensor_type().shape().dim())
        parts.push_back(dimension_text(dimension));
    return fmt::format("[{}]", fmt::join(parts, ", "));
}

class Binder {
public:
    Binder(const ::onnx::GraphProto& graph, const ImportOptions& options) : options_(options) {
        std::set<std::string> initializers;
        for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
        for (const Input& input : graph.input())
            if (!initializers.contains(input.name())) inputs_.push_back(&input);
    }

    std::vector<graph::Value> run() {
        for (const Input* input : inputs_) check_type(*input);
        for (const auto& [name, shape] : options_.shapes) bind(find(name), shape);
        std::vector<graph::Value> values;
        for (const Input* input : inputs_) values.push_back(value_of(*input));
        if (!open_.empty())
            throw_user_error("dimensions without a value: {}", fmt::join(open_, "; "));
        return values;
    }

private:
    static int type_of(const Input& input) { return input.type().tensor_type().elem_type(); }

    static void check_type(const Input& input) {
        if (!input.type().has_tensor_type())
            throw_unsupported("input \"{}\" is not a tensor", input.name());
        if (!element_type_of(type_of(input)))
            throw_unsupported("input \"{}\" has element type {}", input.name(),
                              type_name(type_of(input)));
    }

    const Input& find(const std::string& name) const {
        std::vector<std::string> names;
        for (const Input* input : inputs_) {
            if (input->name() == name) return *input;
            names.push_back(fmt::format("\"{}\"", input->name()));
        }
        throw_user_error("a shape is given for \"{}\", but the inputs are {}", name,
                         fmt::join(names, ", "));
    }

    void bind(const Input& input, const Shape& shape) {
        if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }))
            throw_user_error("input \"{}\": shape {} has an extent below 0", input.name(),
                             to_text(shape));
        if (!input.type().tensor_type().has_shape()) return;
        const auto& dimensions = input.type().tensor_type().shape().dim();
        if (static_cast<size_t>(dimensions.size()) != shape.size())
            throw_user_error("input \"{}\": shape {} has rank {}, but the model says {}",
                             input.name(), to_text(shape), shape.size(), shape_text(input));
        for (int i = 0; i < dimensions.size(); ++i)
            bind(input, i, dimensions[i], shape[static_cast<size_t>(i)]);
    }

    void bind(const Input& input, int place, const Dimension& dimension, int64_t extent) {
        if (dimension.has_dim_value() && dimension.dim_value() != extent)
            throw_user_error("input \"{}\": dimension {} is {} in the model, not {}", input.name(),
                             place, dimension.dim_value(), extent);
        if (dimension.dim_param().empty()) return;
        auto [found, is_new] = symbols_.emplace(dimension.dim_param(), extent);
        if (!is_new && found->second != extent)
            throw_user_error("input \"{}\": dimension {} (\"{}\") is {}, but {} elsewhere",
                             input.name(), place, dimension.dim_param(), extent, found->second);
    }

    graph::Value value_of(const Input& input) {
        graph::Value value;
        value.name = input.name();
        value.type = *element_type_of(type_of(input));
        auto given = options_.shapes.find(input.name());
        value.shape = given != options_.shapes.end() ? given->second : shape_of(input);
        if (!is_possible(value.type, value.shape))
            throw_user_error("input \"{}\": shape {} is too large", input.name(),
                             to_text(value.shape));
        return value;
    }

    Shape shape_of(const Input& input) {
        if (!input.type().tensor_type().has_shape())
            open_.push_back(
                fmt::format("input \"{}\" has no shape at all (give it as --shape {}:1x...)",
                            input.name(), input.name()));
        Shape shape;
        std::vector<std::string> open;
        for (const Dimension& dimension : input.type().tensor_type().shape().dim()) {
            auto extent = value_of(input, dimension);
            if (!extent)
                open.push_back(
                    fmt::format("dimension {} ({})", shape.size(), dimension_text(dimension)));
            shape.push_back(extent.value_or(1));
        }
        if (!open.empty())
            open_.push_back(fmt::format("input \"{}\" {} (give them as in --shape {}:{})",
                                        input.name(), fmt::join(open, ", "), input.name(),
                                        to_text(shape)));
        return shape;
    }

    std::optional<int64_t> value_of(const Input& input, const Dimension& dimension) const {
        if (dimension.has_dim_value() && dimension.dim_value() < 0)
            throw_user_error("input \"{}\": the model says {}", input.name(), shape_text(input));
        if (dimension.has_dim_value()) return dimension.dim_value();
        auto bound = symbols_.find(dimension.dim_param());
        if (bound == symbols_.end()) return std::nullopt;
        return bound->second;
    }

    const ImportOptions& options_;
    std::vector<const Input*> inputs_;
    std::map<std::string, int64_t> symbols_;
    std::vector<std::string> open_;
};

}  // namespace

std::vector<graph::Value> inputs_of(const ::onnx::GraphProto& graph, const ImportOptions& options) {
    return Binder(graph, options).run();
}

}  // namespace ollie::onnx
