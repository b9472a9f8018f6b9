#include "express/express.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "expr/build.h"
#include "expr/visit.h"
#include "operators/operator.h"

namespace ollie::express {

using namespace expr;

namespace {

class Expresser {
public:
    explicit Expresser(const graph::Graph& graph)
        : graph_(graph), arena_(std::make_shared<Arena>()), tensors_(graph.values.size()) {}

    Expr run() {
        for (int input : graph_.inputs) {
            const graph::Value& value = graph_.values[input];
            tensors_[input] = arena_->input(value.name, value.type, value.shape);
        }
        for (const graph::Node& node : graph_.nodes) express(node);
        Expr result{arena_, {}};
        for (int output : graph_.outputs) result.outputs.push_back(output_of(output));
        return result;
    }

private:
    const Tensor* tensor_of(int value) {
        if (value < 0) return nullptr;
        const Tensor*& tensor = tensors_[value];
        const graph::Value& source = graph_.values[value];
        if (tensor == nullptr && source.constant != nullptr)
            tensor = arena_->weight(source.name, source.constant->type(), source.constant->shape(),
                                    source.constant);
        CHECK(tensor != nullptr, "value {} is used before it is made", source.name);
        return tensor;
    }

    void express(const graph::Node& node) {
        operators::Context context{*arena_, graph_, node, graph_.opset, {}};
        for (int input : node.inputs) context.inputs.push_back(tensor_of(input));
        auto results = operators::express(context);
        for (size_t i = 0; i < results.size(); ++i)
            if (node.outputs[i] >= 0) tensors_[node.outputs[i]] = results[i];
    }

    /// A definition of the output's own, which no other output shares.
    const Tensor* output_of(int value) {
        const Tensor* tensor = tensor_of(value);
        const std::string& name = graph_.values[value].name;
        bool is_own = tensor->is_definition() && tensor->name == name;
        if (is_own && outputs_.insert(tensor).second) return tensor;
        std::vector<Axis> axes = fresh(*arena_, tensor->axes);
        Scalar body = arena_->read(tensor, indices_of(axes));
        return arena_->define(name_of_copy(name, tensor->name != name), tensor->type, axes, body,
                              tensor->origin);
    }

    /// The value's own name where no tensor has it, else one that neither value nor copy has.
    std::string name_of_copy(const std::string& value, bool is_free) {
        if (is_free && copies_.insert(value).second) return value;
        auto is_taken = [&](const std::string& name) {
            return copies_.contains(name) ||
                   std::any_of(graph_.values.begin(), graph_.values.end(),
                               [&](const graph::Value& other) { return other.name == name; });
        };
        std::string name = value + "_output";
        for (int suffix = 2; is_taken(name); ++suffix)
            name = fmt::format("{}_output{}", value, suffix);
        copies_.insert(name);
        return name;
    }

    const graph::Graph& graph_;
    std::shared_ptr<Arena> arena_;
    std::vector<const Tensor*> tensors_;
    std::set<const Tensor*> outputs_;
    std::set<std::string> copies_;
};

}  // namespace

Expr express(const graph::Graph& graph) { return Expresser(graph).run(); }

}  // namespace ollie::express
