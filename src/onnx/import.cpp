#include "onnx/import.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>
#include <onnx.pb.h>

#include "base/error.h"
#include "onnx/attributes.h"
#include "onnx/fold.h"
#include "onnx/inputs.h"
#include "onnx/order.h"
#include "onnx/prune.h"
#include "onnx/tensor.h"
#include "operators/operator.h"

namespace ollie::onnx {
namespace {

namespace fs = std::filesystem;

constexpr int64_t oldest_opset = 7;
/// The latest whose changes have been compared with the catalogue.
constexpr int64_t newest_opset = 28;

int64_t opset_of(const ::onnx::ModelProto& model) {
    int64_t opset = 0;
    for (const auto& entry : model.opset_import())
        if (entry.domain().empty() || entry.domain() == "ai.onnx") opset = entry.version();
    if (opset == 0)
        throw_user_error(
            "the model does not say which opset of ai.onnx it uses: damaged or truncated");
    if (opset < oldest_opset || opset > newest_opset)
        throw_unsupported("opset {}, expected {} to {}", opset, oldest_opset, newest_opset);
    return opset;
}

class Importer {
public:
    Importer(::onnx::ModelProto& model, const fs::path& folder)
        : proto_(*model.mutable_graph()), folder_(folder) {
        graph_.name = proto_.name();
        graph_.opset = opset_of(model);
        if (proto_.sparse_initializer_size() > 0)
            throw_unsupported("sparse initializer \"{}\"",
                              proto_.sparse_initializer(0).values().name());
    }

    graph::Graph run(const ImportOptions& options) {
        std::vector<int> order = order_of(proto_);
        name_nodes();
        inputs(options);
        initializers();
        for (int node : order) import_node(node);
        if (!problems_.empty())
            throw_unsupported("{} {} not supported:\n  {}", problems_.size(),
                              problems_.size() == 1 ? "node is" : "nodes are",
                              fmt::join(problems_, "\n  "));
        for (const auto& output : proto_.output()) add_output(output);
        prune(graph_);
        graph::verify(graph_);
        return std::move(graph_);
    }

private:
    /// What is known of a value beside what the graph says.
    struct Known {
        const expr::Tensor* tensor = nullptr;  ///< Null where a node before was not supported.
        Fold::Facts facts;
    };

    /// Names of the file are kept as far as they are unique; the others get a number.
    void name_nodes() {
        std::set<std::string> taken;
        for (const auto& node : proto_.node())
            if (!node.name().empty()) taken.insert(node.name());
        std::set<std::string> used;
        for (int i = 0; i < proto_.node_size(); ++i) {
            const auto& node = proto_.node(i);
            std::string name = node.name();
            if (name.empty() || !used.insert(name).second) {
                std::string stem = name.empty() ? node.op_type() : name;
                int64_t number = i;
                do name = fmt::format("{}_{}", stem, number++);
                while (!taken.insert(name).second);
            }
            names_.push_back(name);
        }
    }

    int add_value(graph::Value value) {
        int number = static_cast<int>(graph_.values.size());
        numbers_[value.name] = number;
        graph_.values.push_back(std::move(value));
        known_.emplace_back();
        return number;
    }

    const expr::Tensor* input_tensor(const graph::Value& value) {
        return arena_->input(value.name, value.type, value.shape);
    }

    void make_constant(int number, std::shared_ptr<const HostArray> array) {
        graph::Value& value = graph_.values[static_cast<size_t>(number)];
        value.type = array->type();
        value.shape = array->shape();
        value.constant = array;
        known_[static_cast<size_t>(number)] = {
            arena_->weight(value.name, value.type, value.shape, array),
            Fold::facts_of_constant(*array)};
    }

    void inputs(const ImportOptions& options) {
        for (graph::Value& value : inputs_of(proto_, options)) {
            int number = add_value(std::move(value));
            known_.back().tensor = input_tensor(graph_.values.back());
            graph_.inputs.push_back(number);
        }
    }

    void initializers() {
        for (auto& tensor : *proto_.mutable_initializer()) {
            std::string what = fmt::format("initializer \"{}\"", tensor.name());
            auto array = std::make_shared<const HostArray>(read_tensor(tensor, folder_, what));
            make_constant(add_value({tensor.name(), {}, {}, nullptr}), array);
            tensor.Clear();
        }
    }

    void import_node(int position) {
        const ::onnx::NodeProto& proto = proto_.node(position);
        graph::Node node;
        node.name = names_[static_cast<size_t>(position)];
        node.operator_name = proto.op_type();
        if (proto.domain() != "ai.onnx") node.domain = proto.domain();
        for (const std::string& input : proto.input())
            node.inputs.push_back(input.empty() ? -1 : numbers_.at(input));
        for (const std::string& output : proto.output())
            node.outputs.push_back(output.empty() ? -1 : add_value({output, {}, {}, nullptr}));
        try {
            if (is_supported(node) && is_known(node)) {
                read_attributes(proto, folder_, node);
                infer(std::move(node));
            }
        } catch (const Unsupported& error) {
            problems_.push_back(error.what());
        }
    }

    bool is_supported(const graph::Node& node) {
        const auto* entry = operators::find(node.domain, node.operator_name);
        if (entry != nullptr && graph_.opset >= entry->since) return true;
        std::string domain = node.domain.empty() ? "" : node.domain + ".";
        std::string reason = entry == nullptr ? "no such operator in the catalogue"
                                              : fmt::format("opset {}, expected {} or later",
                                                            graph_.opset, entry->since);
        problems_.push_back(
            fmt::format("node \"{}\" ({}{}): {}", node.name, domain, node.operator_name, reason));
        return false;
    }

    /// Whether shapes and types of all inputs are known: all that makes them is supported.
    bool is_known(const graph::Node& node) const {
        return std::all_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
            return input < 0 || known_[static_cast<size_t>(input)].tensor != nullptr;
        });
    }

    void infer(graph::Node node) {
        operators::Context context{*arena_, graph_, node, graph_.opset, {}};
        std::vector<Fold::Facts> facts;
        for (int input : node.inputs) {
            context.inputs.push_back(input < 0 ? nullptr
                                               : known_[static_cast<size_t>(input)].tensor);
            if (input >= 0) facts.push_back(known_[static_cast<size_t>(input)].facts);
        }
        std::vector<const expr::Tensor*> results = operators::express(context);
        if (try_fold(node, results, facts)) return;
        for (size_t i = 0; i < results.size(); ++i)
            if (results[i] != nullptr) set_result(node.outputs[i], results[i], facts);
        graph_.nodes.push_back(std::move(node));
    }

    /// Makes constants of all results, or of none.
    bool try_fold(const graph::Node& node, const std::vector<const expr::Tensor*>& results,
                  const std::vector<Fold::Facts>& facts) {
        std::vector<std::shared_ptr<const HostArray>> values;
        for (const expr::Tensor* result : results) {
            if (result != nullptr) check_size(node, result);
            values.push_back(result == nullptr
                                 ? nullptr
                                 : folds_.try_fold(result, Fold::facts_of_result(result, facts)));
            if (result != nullptr && values.back() == nullptr) return false;
        }
        for (size_t i = 0; i < values.size(); ++i)
            if (values[i] != nullptr) make_constant(node.outputs[i], values[i]);
        return true;
    }

    static void check_size(const graph::Node& node, const expr::Tensor* result) {
        if (!is_possible(result->type, result->shape()))
            throw_user_error("node \"{}\" ({}): a result of shape {} is too large", node.name,
                             node.operator_name, to_text(result->shape()));
    }

    void set_result(int number, const expr::Tensor* result, const std::vector<Fold::Facts>& facts) {
        graph::Value& value = graph_.values[static_cast<size_t>(number)];
        value.type = result->type;
        value.shape = result->shape();
        Known& known = known_[static_cast<size_t>(number)];
        known.facts = Fold::facts_of_result(result, facts);
        // Only what may be folded later needs its definition.
        known.tensor = known.facts.is_fixed ? result : input_tensor(value);
    }

    void add_output(const ::onnx::ValueInfoProto& output) {
        int number = numbers_.at(output.name());
        const graph::Value& value = graph_.values[static_cast<size_t>(number)];
        int declared = output.type().tensor_type().elem_type();
        if (declared != 0 && element_type_of(declared) != value.type)
            throw_user_error("output \"{}\" is declared as {}, but is {}", output.name(),
                             type_name(declared), name_of(value.type));
        graph_.outputs.push_back(number);
    }

    ::onnx::GraphProto& proto_;
    const fs::path& folder_;
    graph::Graph graph_;
    std::vector<std::string> names_;      ///< Of nodes, by position in the file.
    std::map<std::string, int> numbers_;  ///< Of values.
    std::vector<Known> known_;            ///< Of values.
    std::vector<std::string> problems_;
    std::shared_ptr<expr::Arena> arena_ = std::make_shared<expr::Arena>();
    Fold folds_{arena_};
};

}  // namespace

graph::Graph import_model(::onnx::ModelProto& model, const fs::path& folder,
                          const ImportOptions& options) {
    return Importer(model, folder).run(options);
}

}  // namespace ollie::onnx
