#include <cstring>

#include "graph/graph.h"

namespace ollie::graph {
namespace {

void add_type(Hasher& hasher, ElementType type, const Shape& shape) {
    hasher.add(static_cast<uint64_t>(type)).add(static_cast<uint64_t>(shape.size()));
    for (int64_t extent : shape) hasher.add(static_cast<uint64_t>(extent));
}

void add_array(Hasher& hasher, const HostArray& array) {
    add_type(hasher, array.type(), array.shape());
    hasher.add(std::string_view(static_cast<const char*>(array.data()),
                                static_cast<size_t>(array.bytes())));
}

/// Numbers values in the order in which the walk meets them; a constant is its contents.
class Walk {
public:
    explicit Walk(const Graph& graph) : graph_(graph), numbers_(graph.values.size(), 0) {}

    Key run() {
        hasher_.add(static_cast<uint64_t>(graph_.opset));
        for (int input : graph_.inputs) {
            const Value& value = graph_.values[static_cast<size_t>(input)];
            hasher_.add(value.name);
            add_type(hasher_, value.type, value.shape);
            number(input);
        }
        for (const Node& node : graph_.nodes) add_node(node);
        for (int output : graph_.outputs) {
            hasher_.add(graph_.values[static_cast<size_t>(output)].name);
            add_use(output);
        }
        return hasher_.key();
    }

private:
    void number(int value) { numbers_[static_cast<size_t>(value)] = ++count_; }

    void add_use(int value) {
        if (value < 0) {
            hasher_.add(uint64_t{0});
            return;
        }
        uint64_t& number = numbers_[static_cast<size_t>(value)];
        if (number == 0) {
            number = ++count_;
            hasher_.add("constant");
            add_array(hasher_, *graph_.values[static_cast<size_t>(value)].constant);
        }
        hasher_.add(number);
    }

    void add_node(const Node& node) {
        hasher_.add(node.name).add(node.domain).add(node.operator_name);
        hasher_.add(static_cast<uint64_t>(node.attributes.size()));
        for (const auto& [name, attribute] : node.attributes)
            hasher_.add(name).add(static_cast<uint64_t>(attribute.index())).add(to_text(attribute));
        hasher_.add(static_cast<uint64_t>(node.tensors.size()));
        for (const auto& [name, tensor] : node.tensors) {
            hasher_.add(name);
            add_array(hasher_, *tensor);
        }
        hasher_.add(static_cast<uint64_t>(node.inputs.size()));
        for (int input : node.inputs) add_use(input);
        hasher_.add(static_cast<uint64_t>(node.outputs.size()));
        for (int output : node.outputs) {
            hasher_.add(static_cast<uint64_t>(output >= 0));
            if (output < 0) continue;
            const Value& value = graph_.values[static_cast<size_t>(output)];
            add_type(hasher_, value.type, value.shape);
            number(output);
        }
    }

    const Graph& graph_;
    std::vector<uint64_t> numbers_;
    uint64_t count_ = 0;
    Hasher hasher_;
};

}  // namespace

Key hash(const Graph& graph) { return Walk(graph).run(); }

}  // namespace ollie::graph
