#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/graph.h"

namespace ollie::graph {
namespace {

/// Collects what is wrong. A value is "defined" once the walk has met what makes it.
class Verifier {
public:
    explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values.size(), 0) {}

    std::vector<std::string> run() {
        values();
        for (int input : graph_.inputs) define(input, "the inputs");
        std::set<std::string> names;
        for (const Node& node : graph_.nodes) {
            std::string where = fmt::format("node \"{}\"", node.name);
            if (node.name.empty()) report("a node without a name");
            if (!names.insert(node.name).second) report("two nodes named \"{}\"", node.name);
            if (node.operator_name.empty()) report("{} has no operator", where);
            for (int input : node.inputs)
                if (input != -1) use(input, where);
            for (int output : node.outputs)
                if (output != -1) define(output, where);
            tensors(node, where);
        }
        for (int output : graph_.outputs) use(output, "the outputs");
        for (size_t i = 0; i < defined_.size(); ++i)
            if (!defined_[i]) report("nothing defines \"{}\"", graph_.values[i].name);
        return std::move(violations_);
    }

private:
    template <typename... Args>
    void report(fmt::format_string<Args...> text, Args&&... args) {
        violations_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    void values() {
        std::set<std::string> names;
        for (size_t i = 0; i < graph_.values.size(); ++i) {
            const Value& value = graph_.values[i];
            if (value.name.empty()) report("value {} has no name", i);
            if (!names.insert(value.name).second) report("two values named \"{}\"", value.name);
            if (std::any_of(value.shape.begin(), value.shape.end(),
                            [](int64_t e) { return e < 0; }))
                report("\"{}\" has shape {}", value.name, to_text(value.shape));
            if (!value.constant) continue;
            defined_[i] = 1;
            if (value.constant->type() != value.type || value.constant->shape() != value.shape)
                report("\"{}\" differs from its constant in type or shape", value.name);
        }
    }

    void tensors(const Node& node, const std::string& where) {
        for (const auto& [name, tensor] : node.tensors) {
            if (tensor == nullptr) report("{} has no tensor {}", where, name);
            if (node.attributes.contains(name)) report("{} has two attributes {}", where, name);
        }
    }

    bool is_value(int value, std::string_view where) {
        bool is = value >= 0 && static_cast<size_t>(value) < graph_.values.size();
        if (!is) report("{}: no value {}", where, value);
        return is;
    }

    void define(int value, std::string_view where) {
        if (!is_value(value, where)) return;
        char& defined = defined_[static_cast<size_t>(value)];
        if (defined) report("{}: \"{}\" is defined twice", where, graph_.values[value].name);
        defined = 1;
    }

    void use(int value, std::string_view where) {
        if (!is_value(value, where)) return;
        if (!defined_[static_cast<size_t>(value)])
            report("{}: \"{}\" is read before it is defined", where, graph_.values[value].name);
    }

    const Graph& graph_;
    std::vector<char> defined_;
    std::vector<std::string> violations_;
};

}  // namespace

void verify(const Graph& graph) {
    std::vector<std::string> violations = Verifier(graph).run();
    CHECK(violations.empty(), "graph \"{}\": {}", graph.name, fmt::join(violations, "; "));
}

}  // namespace ollie::graph
