#include <algorithm>
#include <map>
#include <set>

#include "expr/build.h"
#include "expr/visit.h"
#include "express/express.h"

namespace ollie::express {

using namespace expr;

namespace {

bool reduces(const Tensor* tensor) {
    bool found = false;
    for_each_scalar(tensor->body, [&](Scalar s) { found |= s->kind == ScalarKind::Reduce; });
    return found;
}

/// Whether the definition has no reduction, the domain of the source, and reads it only in place.
bool follows(const Tensor* definition, const Tensor* source) {
    if (reduces(definition) || definition->shape() != source->shape()) return false;
    std::vector<Index> own = indices_of(definition->axes);
    for (Scalar read : reads_of(definition->body))
        if (read->tensor == source && read->indices != own) return false;
    return true;
}

/// Whether the definition is one read in which every axis keeps its step, shifts or moves: what a
/// consumer takes in by changing its own indices.
bool is_view(const Tensor* definition) {
    if (definition->body->kind != ScalarKind::Read) return false;
    std::set<Iterator> seen;
    for (Index index : definition->body->indices) {
        if (is_constant(index)) continue;
        auto iterator = as_iterator(index - index->constant);
        if (!iterator || !seen.insert(*iterator).second) return false;
    }
    return seen.size() == definition->rank();
}

class Cutter {
public:
    explicit Cutter(const Expr& whole)
        : whole_(whole),
          order_(definitions_of(whole)),
          outputs_(whole.outputs.begin(), whole.outputs.end()) {
        for (const Tensor* definition : order_) {
            for (const Tensor* source : sources_of(definition))
                consumers_[source].push_back(definition);
        }
    }

    std::vector<Subprogram> run() {
        for (const Tensor* definition : order_)
            if (!joins_its_consumer(definition)) place(definition);
        std::vector<Subprogram> result;
        for (const Group& group : groups_) result.push_back(subprogram(group));
        return result;
    }

private:
    struct Group {
        std::vector<const Tensor*> members;
        bool has_reduction = false;
    };

    /// Views with a single consumer that reduces belong to it.
    bool joins_its_consumer(const Tensor* definition) const {
        if (outputs_.contains(definition) || !is_view(definition)) return false;
        const auto& consumers = consumers_.at(definition);
        return consumers.size() == 1 && reduces(consumers.front());
    }

    /// The definitions that must be computed before, seen through views that joined it.
    std::vector<const Tensor*> placed_sources(const Tensor* definition) const {
        std::vector<const Tensor*> result;
        for (const Tensor* source : sources_of(definition)) {
            if (!source->is_definition()) continue;
            if (group_of_.contains(source)) {
                result.push_back(source);
            } else {
                auto inner = placed_sources(source);
                result.insert(result.end(), inner.begin(), inner.end());
            }
        }
        return result;
    }

    void place(const Tensor* definition) {
        std::vector<const Tensor*> sources = placed_sources(definition);
        size_t last = 0;  // Groups run in order: joining any but the last would come too early.
        for (const Tensor* source : sources) last = std::max(last, group_of_.at(source));
        bool is_joined = std::any_of(sources.begin(), sources.end(), [&](const Tensor* source) {
            return group_of_.at(source) == last && joins(definition, source);
        });
        if (!is_joined) {
            last = groups_.size();
            groups_.push_back({{}, reduces(definition)});
        }
        add(definition, last);
    }

    void add(const Tensor* definition, size_t group) {
        for (const Tensor* source : sources_of(definition))
            if (source->is_definition() && !group_of_.contains(source)) add(source, group);
        group_of_[definition] = group;
        groups_[group].members.push_back(definition);
    }

    bool joins(const Tensor* definition, const Tensor* source) const {
        bool is_one_node = !definition->origin.empty() && definition->origin == source->origin;
        if (is_one_node) return true;
        if (!groups_[group_of_.at(source)].has_reduction) return !reduces(definition);
        return follows(definition, source) && is_enclosed(source);
    }

    /// Whether everything that reads the tensor comes together in one definition again, by way of
    /// definitions that follow it: x * sigmoid(x).
    bool is_enclosed(const Tensor* tensor) const {
        std::vector<const Tensor*> open = consumers_.at(tensor);
        for (int steps = 0; open.size() > 1 && steps < 8; ++steps) {
            auto first =
                std::min_element(open.begin(), open.end(),
                                 [](const Tensor* a, const Tensor* b) { return a->id < b->id; });
            const Tensor* definition = *first;
            open.erase(first);
            if (outputs_.contains(definition) || !follows(definition, tensor)) return false;
            for (const Tensor* consumer : consumers_.at(definition))
                if (std::find(open.begin(), open.end(), consumer) == open.end())
                    open.push_back(consumer);
        }
        return !outputs_.contains(tensor) && open.size() == 1;
    }

    /// The members that somebody outside needs.
    std::vector<const Tensor*> results_of(const Group& group) const {
        std::vector<const Tensor*> results;
        for (const Tensor* member : group.members) {
            bool is_needed = outputs_.contains(member);
            auto found = consumers_.find(member);
            if (found != consumers_.end())
                for (const Tensor* consumer : found->second)
                    is_needed |= group_of_.at(consumer) != group_of_.at(member);
            if (is_needed) results.push_back(member);
        }
        return results;
    }

    Subprogram subprogram(const Group& group) const {
        std::map<const Tensor*, const Tensor*> inputs;
        for (const Tensor* member : group.members) {
            for (const Tensor* source : sources_of(member)) {
                if (!source->is_definition() || group_of_.at(source) == group_of_.at(member))
                    continue;
                const Tensor*& input = inputs[source];
                if (input == nullptr)
                    input = whole_.arena->input(source->name, source->type, source->shape());
            }
        }
        Expr part = replace({whole_.arena, results_of(group)}, inputs);
        std::string name = part.outputs.back()->name;
        return {name, copy_to(std::make_shared<Arena>(), part)};
    }

    const Expr& whole_;
    std::vector<const Tensor*> order_;
    std::set<const Tensor*> outputs_;
    std::map<const Tensor*, std::vector<const Tensor*>> consumers_;
    std::map<const Tensor*, size_t> group_of_;
    std::vector<Group> groups_;
};

}  // namespace

std::vector<Subprogram> cut(const Expr& whole) { return Cutter(whole).run(); }

}  // namespace ollie::express
