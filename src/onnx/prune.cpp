#include "onnx/prune.h"

#include <algorithm>

namespace ollie::onnx {
namespace {

void mark(const std::vector<int>& values, std::vector<char>& is_needed) {
    for (int value : values)
        if (value >= 0) is_needed[static_cast<size_t>(value)] = 1;
}

/// Keeps the nodes of which a result is needed, and marks what they touch.
void drop_nodes(graph::Graph& graph, std::vector<char>& is_needed) {
    std::vector<graph::Node> kept;
    for (size_t i = graph.nodes.size(); i-- > 0;) {
        graph::Node& node = graph.nodes[i];
        bool is_used = std::any_of(node.outputs.begin(), node.outputs.end(), [&](int value) {
            return value >= 0 && is_needed[static_cast<size_t>(value)];
        });
        if (!is_used) continue;
        mark(node.inputs, is_needed);
        mark(node.outputs, is_needed);
        kept.push_back(std::move(node));
    }
    std::reverse(kept.begin(), kept.end());
    graph.nodes = std::move(kept);
}

void renumber(std::vector<int>& values, const std::vector<int>& number) {
    for (int& value : values)
        if (value >= 0) value = number[static_cast<size_t>(value)];
}

}  // namespace

void prune(graph::Graph& graph) {
    std::vector<char> is_needed(graph.values.size(), 0);
    mark(graph.inputs, is_needed);
    mark(graph.outputs, is_needed);
    drop_nodes(graph, is_needed);
    std::vector<int> number(graph.values.size(), -1);
    std::vector<graph::Value> kept;
    for (size_t i = 0; i < graph.values.size(); ++i) {
        if (!is_needed[i]) continue;
        number[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(graph.values[i]));
    }
    graph.values = std::move(kept);
    renumber(graph.inputs, number);
    renumber(graph.outputs, number);
    for (graph::Node& node : graph.nodes) {
        renumber(node.inputs, number);
        renumber(node.outputs, number);
    }
}

}  // namespace ollie::onnx
