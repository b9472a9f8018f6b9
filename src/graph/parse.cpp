#include <fmt/format.h>

#include "base/text.h"
#include "graph/graph.h"

namespace ollie::graph {
namespace {

class Parser {
public:
    explicit Parser(std::string_view text) : reader_(text) {}

    Graph parse() {
        reader_.expect("graph");
        graph_.name = reader_.name();
        reader_.expect("opset");
        graph_.opset = reader_.integer();
        while (!reader_.at_end()) line();
        return std::move(graph_);
    }

private:
    void line() {
        if (reader_.accept("input")) {
            graph_.inputs.push_back(declaration());
        } else if (reader_.accept("constant")) {
            Value& value = graph_.values[static_cast<size_t>(declaration())];
            value.constant = std::make_shared<const HostArray>(value.type, value.shape);
        } else if (reader_.accept("output")) {
            graph_.outputs.push_back(use());
        } else {
            node();
        }
    }

    void node() {
        Node node;
        do node.outputs.push_back(reader_.accept("-") ? -1 : declaration());
        while (reader_.accept(","));
        reader_.expect("=");
        if (reader_.peek().kind == TokenKind::String &&
            (reader_.peek(1).kind == TokenKind::Name || reader_.peek(1).kind == TokenKind::String))
            node.domain = reader_.string();
        node.operator_name = reader_.name();
        if (reader_.accept("<")) attributes(node);
        reader_.expect("(");
        if (!reader_.accept(")")) {
            do node.inputs.push_back(reader_.accept("-") ? -1 : use());
            while (reader_.accept(","));
            reader_.expect(")");
        }
        node.name = reader_.string();
        graph_.nodes.push_back(std::move(node));
    }

    void attributes(Node& node) {
        do {
            std::string name = reader_.name();
            reader_.expect("=");
            if (reader_.accept("tensor")) {
                auto [type, shape] = tensor_type();
                node.tensors[name] = std::make_shared<const HostArray>(type, shape);
            } else {
                node.attributes[name] = read_attribute(reader_);
            }
        } while (reader_.accept(","));
        reader_.expect(">");
    }

    std::pair<ElementType, Shape> tensor_type() {
        size_t place = reader_.position();
        std::string name = reader_.name();
        auto type = element_type_of(name);
        if (!type) reader_.fail_at(place, fmt::format("found '{}', expected a type", name));
        Shape shape;
        reader_.expect("[");
        if (reader_.accept("]")) return {*type, shape};
        do {
            place = reader_.position();
            shape.push_back(reader_.integer());
            if (shape.back() < 0) reader_.fail_at(place, "an extent below 0");
        } while (reader_.accept(","));
        reader_.expect("]");
        return {*type, shape};
    }

    int declaration() {
        size_t place = reader_.position();
        Value value;
        value.name = reader_.name();
        reader_.expect(":");
        std::tie(value.type, value.shape) = tensor_type();
        int number = static_cast<int>(graph_.values.size());
        if (!numbers_.emplace(value.name, number).second)
            reader_.fail_at(place, fmt::format("'{}' is defined twice", value.name));
        graph_.values.push_back(std::move(value));
        return number;
    }

    int use() {
        size_t place = reader_.position();
        std::string name = reader_.name();
        auto found = numbers_.find(name);
        if (found == numbers_.end())
            reader_.fail_at(place, fmt::format("'{}' is not defined above", name));
        return found->second;
    }

    TextReader reader_;
    Graph graph_;
    std::map<std::string, int> numbers_;
};

}  // namespace

Graph parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace ollie::graph
