#include "onnx/order.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>
#include <onnx.pb.h>

#include "base/error.h"

namespace ollie::onnx {
namespace {

using Proto = ::onnx::GraphProto;

/// What defines each name: a node, or -1 for an input or initializer.
class Definitions {
public:
    explicit Definitions(const Proto& graph) : graph_(graph) {
        for (const auto& tensor : graph.initializer()) define(tensor.name(), initializer);
        for (const auto& input : graph.input())
            // Before version 4 of the format initializers are inputs, too.
            if (find(input.name()) != initializer || !seen_.emplace(input.name(), 0).second)
                define(input.name(), is_input);
        for (int i = 0; i < graph.node_size(); ++i)
            for (const std::string& output : graph.node(i).output())
                if (!output.empty()) define(output, i);
    }

    /// The node that defines the name, -1 if an input or initializer does.
    int of(const std::string& name, const std::string& reader) const {
        int definer = find(name);
        if (definer == nothing)
            throw_user_error("{} reads \"{}\", which nothing defines", reader, name);
        return std::max(definer, -1);
    }

private:
    static constexpr int is_input = -1;
    static constexpr int initializer = -2;
    static constexpr int nothing = -3;

    int find(const std::string& name) const {
        auto found = definers_.find(name);
        return found == definers_.end() ? nothing : found->second;
    }

    std::string description(int definer) const {
        if (definer == is_input) return "the graph's inputs";
        return definer == initializer ? "the initializers" : title_of(graph_, definer);
    }

    void define(const std::string& name, int definer) {
        auto [found, is_new] = definers_.emplace(name, definer);
        if (!is_new)
            throw_user_error("\"{}\" is defined twice: by {} and by {}", name,
                             description(found->second), description(definer));
    }

    const Proto& graph_;
    std::map<std::string, int> definers_;
    std::map<std::string, int> seen_;
};

/// Depth first from the nodes in the order of the file, with a stack of its own: graphs are deep.
class Order {
public:
    explicit Order(const Proto& graph)
        : graph_(graph), reads_(static_cast<size_t>(graph.node_size())) {
        Definitions definitions(graph);
        for (int i = 0; i < graph.node_size(); ++i)
            for (const std::string& input : graph.node(i).input())
                if (!input.empty()) add_read(i, definitions.of(input, title_of(graph, i)));
        for (const auto& output : graph.output())
            if (int node = definitions.of(output.name(), "the graph's output"); node >= 0)
                roots_.push_back(node);
    }

    std::vector<int> run() {
        std::vector<char> is_needed = needed();
        for (int i = 0; i < graph_.node_size(); ++i)
            if (is_needed[static_cast<size_t>(i)]) visit(i);
        return std::move(order_);
    }

private:
    enum class State : char { New, Open, Done };

    void add_read(int node, int definer) {
        if (definer >= 0) reads_[static_cast<size_t>(node)].push_back(definer);
    }

    std::vector<char> needed() const {
        std::vector<char> is_needed(reads_.size(), 0);
        std::vector<int> open = roots_;
        while (!open.empty()) {
            auto node = static_cast<size_t>(open.back());
            open.pop_back();
            if (is_needed[node]) continue;
            is_needed[node] = 1;
            open.insert(open.end(), reads_[node].begin(), reads_[node].end());
        }
        return is_needed;
    }

    void visit(int root) {
        std::vector<int> stack{root};
        while (!stack.empty()) {
            int node = stack.back();
            State& state = states_[static_cast<size_t>(node)];
            if (state == State::New) {
                state = State::Open;
                path_.push_back(node);
                for (int read : reads_[static_cast<size_t>(node)]) push(read, stack);
                continue;
            }
            if (state == State::Open) {
                state = State::Done;
                path_.pop_back();
                order_.push_back(node);
            }
            stack.pop_back();
        }
    }

    void push(int node, std::vector<int>& stack) {
        State state = states_[static_cast<size_t>(node)];
        if (state == State::Open) fail_cycle(node);
        if (state == State::New) stack.push_back(node);
    }

    [[noreturn]] void fail_cycle(int node) const {
        std::vector<std::string> titles;
        for (auto at = std::find(path_.begin(), path_.end(), node); at != path_.end(); ++at)
            titles.push_back(title_of(graph_, *at));
        throw_user_error("the graph has a cycle: {}", fmt::join(titles, " <- "));
    }

    const Proto& graph_;
    std::vector<std::vector<int>> reads_;  ///< Per node, the nodes whose results it reads.
    std::vector<int> roots_;
    std::vector<State> states_ = std::vector<State>(reads_.size(), State::New);
    std::vector<int> path_;  ///< The open nodes, each reading the next.
    std::vector<int> order_;
};

}  // namespace

std::vector<int> order_of(const Proto& graph) { return Order(graph).run(); }

std::string title_of(const Proto& graph, int node) {
    const auto& proto = graph.node(node);
    if (proto.name().empty()) return fmt::format("node {} ({})", node, proto.op_type());
    return fmt::format("node \"{}\" ({})", proto.name(), proto.op_type());
}

}  // namespace ollie::onnx
