#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "operators/operator.h"

namespace ollie::operators {
namespace {

std::string title(const graph::Node& node) {
    return fmt::format("node \"{}\" ({})", node.name, node.operator_name);
}

/// The attribute, nothing if it is absent; fails if it is there with another type.
template <typename T>
std::optional<T> attribute(const Context& context, const std::string& name,
                           std::optional<T> (*find)(const Attributes&, std::string_view),
                           std::string_view expected) {
    const Attributes& attributes = context.node.attributes;
    auto found = attributes.find(name);
    if (found == attributes.end()) return std::nullopt;
    auto value = find(attributes, name);
    if (!value)
        context.fail(
            fmt::format("attribute {} is {}, expected {}", name, to_text(found->second), expected));
    return value;
}

}  // namespace

int64_t Context::int_attribute(const std::string& name, int64_t otherwise) const {
    return attribute<int64_t>(*this, name, find_int, "an integer").value_or(otherwise);
}

double Context::float_attribute(const std::string& name, double otherwise) const {
    return attribute<double>(*this, name, find_float, "a number").value_or(otherwise);
}

std::string Context::string_attribute(const std::string& name, const std::string& otherwise) const {
    return attribute<std::string>(*this, name, find_string, "a text").value_or(otherwise);
}

std::optional<std::vector<int64_t>> Context::ints_attribute(const std::string& name) const {
    return attribute<std::vector<int64_t>>(*this, name, find_ints, "a list of integers");
}

const expr::Tensor* Context::input(size_t index) const {
    if (!has_input(index)) fail(fmt::format("input {} is missing", index));
    return inputs[index];
}

std::vector<int64_t> Context::constant_ints(size_t index) const {
    const expr::Tensor* tensor = input(index);
    if (tensor->kind != expr::TensorKind::Weight || tensor->values == nullptr)
        unsupported(fmt::format("input {} (\"{}\") must be constant", index, tensor->name));
    const HostArray& values = *tensor->values;
    if (!is_integer(values.type()))
        fail(fmt::format("input {} (\"{}\") has type {}, expected integers", index, tensor->name,
                         name_of(values.type())));
    std::vector<int64_t> result;
    for (int64_t i = 0; i < values.size(); ++i) result.push_back(values.int_at(i));
    return result;
}

std::optional<std::vector<int64_t>> Context::optional_constant_ints(size_t index) const {
    if (!has_input(index)) return std::nullopt;
    return constant_ints(index);
}

void Context::fail(const std::string& what) const {
    throw UserError(fmt::format("{}: {}", title(node), what));
}

void Context::unsupported(const std::string& what) const {
    throw Unsupported(fmt::format("{}: {}", title(node), what));
}

namespace {

/// The name, with a number behind it where a value of the graph has it already.
std::string unique_name(const graph::Graph& graph, const std::string& wanted) {
    auto is_taken = [&](const std::string& name) {
        return std::any_of(graph.values.begin(), graph.values.end(),
                           [&](const graph::Value& value) { return value.name == name; });
    };
    std::string name = wanted;
    for (int suffix = 2; is_taken(name); ++suffix) name = fmt::format("{}_{}", wanted, suffix);
    return name;
}

}  // namespace

std::string Context::output_name(size_t index) const {
    if (index < node.outputs.size() && node.outputs[index] >= 0)
        return graph.values[node.outputs[index]].name;
    return unique_name(graph, fmt::format("{}_output{}", node.name, index));
}

const expr::Tensor* Context::define(size_t output, ElementType type, std::vector<expr::Axis> axes,
                                    expr::Scalar body) const {
    return arena.define(output_name(output), type, std::move(axes), body, {node.name});
}

const expr::Tensor* Context::define_part(const std::string& suffix, ElementType type,
                                         std::vector<expr::Axis> axes, expr::Scalar body) const {
    std::string name = unique_name(graph, output_name(0) + "_" + suffix);
    return arena.define(name, type, std::move(axes), body, {node.name});
}

const expr::Tensor* Context::weight_part(const std::string& suffix, HostArray values) const {
    std::string name = unique_name(graph, output_name(0) + "_" + suffix);
    ElementType type = values.type();
    Shape shape = values.shape();
    return arena.weight(name, type, shape, std::make_shared<const HostArray>(std::move(values)));
}

}  // namespace ollie::operators
