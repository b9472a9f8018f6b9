#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "graph/graph.h"

namespace ollie::graph {
namespace {

std::string type_text(ElementType type, const Shape& shape) {
    return fmt::format("{}[{}]", name_of(type), fmt::join(shape, ", "));
}

std::string value_text(const std::string& name) {
    for (std::string_view word : {"input", "constant", "output"})
        if (name == word) return quoted_text(name);
    return name_text(name);
}

std::string declaration(const Value& value) {
    return value_text(value.name) + ": " + type_text(value.type, value.shape);
}

/// The texts of the values with these numbers, - for -1.
template <typename Text>
std::string list_text(const Graph& graph, const std::vector<int>& values, Text text) {
    std::vector<std::string> parts;
    for (int value : values)
        parts.push_back(value < 0 ? "-" : text(graph.values[static_cast<size_t>(value)]));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string attributes_text(const Node& node) {
    std::vector<std::string> parts;
    for (const auto& [name, attribute] : node.attributes)
        parts.push_back(fmt::format("{} = {}", name_text(name), to_text(attribute)));
    for (const auto& [name, tensor] : node.tensors)
        parts.push_back(fmt::format("{} = tensor {}", name_text(name),
                                    type_text(tensor->type(), tensor->shape())));
    return parts.empty() ? "" : fmt::format("<{}>", fmt::join(parts, ", "));
}

std::string node_text(const Graph& graph, const Node& node) {
    std::string domain = node.domain.empty() ? "" : quoted_text(node.domain) + " ";
    return fmt::format(
        "{} = {}{}{}({}) {}\n", list_text(graph, node.outputs, declaration), domain,
        name_text(node.operator_name), attributes_text(node),
        list_text(graph, node.inputs, [](const Value& value) { return value_text(value.name); }),
        quoted_text(node.name));
}

}  // namespace

std::string print(const Graph& graph) {
    std::string text = fmt::format("graph {} opset {}\n", name_text(graph.name), graph.opset);
    for (int input : graph.inputs)
        text += "input " + declaration(graph.values[static_cast<size_t>(input)]) + "\n";
    for (const Value& value : graph.values)
        if (value.constant) text += "constant " + declaration(value) + "\n";
    for (const Node& node : graph.nodes) text += node_text(graph, node);
    for (int output : graph.outputs)
        text += "output " + value_text(graph.values[static_cast<size_t>(output)].name) + "\n";
    return text;
}

}  // namespace ollie::graph
