#include <algorithm>
#include <set>

#include "expr/canonical.h"
#include "expr/canonical/canonicalizer.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

using Colors = std::map<const Tensor*, uint64_t>;

/// Colour refinement of the sources: each is coloured by the places from where it is read.
class SourceRefinement {
public:
    explicit SourceRefinement(const Expr& expr) : expr_(expr), tensors_(tensors_of(expr)) {
        for (const Tensor* tensor : tensors_)
            if (!tensor->is_definition()) colors_[tensor] = 0;
    }

    std::vector<const Tensor*> order() {
        refine();
        for (const Tensor* tied = first_tie(); tied != nullptr; tied = first_tie()) {
            colors_[tied] = mix(colors_[tied] + 1);
            refine();
        }
        std::vector<const Tensor*> result;
        for (const Tensor* tensor : tensors_)
            if (!tensor->is_definition()) result.push_back(tensor);
        std::sort(result.begin(), result.end(),
                  [&](const Tensor* a, const Tensor* b) { return colors_[a] < colors_[b]; });
        return result;
    }

private:
    size_t distinct() const {
        std::set<uint64_t> seen;
        for (auto [tensor, color] : colors_) seen.insert(color);
        return seen.size();
    }

    const Tensor* first_tie() const {
        std::set<uint64_t> seen;
        std::set<uint64_t> twice;
        for (auto [tensor, color] : colors_)
            if (!seen.insert(color).second) twice.insert(color);
        for (const Tensor* tensor : tensors_)
            if (!tensor->is_definition() && twice.contains(colors_.at(tensor))) return tensor;
        return nullptr;
    }

    void refine() {
        for (size_t cells = 0; cells < distinct();) {
            cells = distinct();
            if (cells == colors_.size() && is_refined_) return;
            refine_once();
            is_refined_ = true;
        }
    }

    void refine_once() {
        Canonicalizer canonicalizer(colors_);
        std::map<const Tensor*, uint64_t> contexts;
        std::set<const Tensor*> outputs(expr_.outputs.begin(), expr_.outputs.end());
        for (size_t i = 0; i < expr_.outputs.size(); ++i)
            contexts[expr_.outputs[i]] += mix(~static_cast<uint64_t>(i));
        for (auto it = tensors_.rbegin(); it != tensors_.rend(); ++it) {
            if (!(*it)->is_definition()) continue;
            canonicalizer.for_each_read(
                *it, outputs.contains(*it), mix(contexts[*it]),
                [&](const Tensor* read, uint64_t context) { contexts[read] += mix(context); });
        }
        for (auto& [source, color] : colors_) {
            uint64_t kind =
                combine(static_cast<uint64_t>(source->kind), static_cast<uint64_t>(source->type));
            for (const Axis& axis : source->axes)
                kind = combine(kind, static_cast<uint64_t>(axis.extent()));
            color = combine(combine(color, kind), contexts[source]);
        }
    }

    const Expr& expr_;
    std::vector<const Tensor*> tensors_;
    Colors colors_;
    bool is_refined_ = false;
};

}  // namespace

Problem problem_of(const Expr& expr) {
    Problem problem;
    problem.sources = SourceRefinement(expr).order();
    Colors names;
    for (size_t i = 0; i < problem.sources.size(); ++i) names[problem.sources[i]] = i + 1;
    problem.key = Canonicalizer(std::move(names)).key(expr);
    return problem;
}

Key problem_key(const Expr& expr) { return problem_of(expr).key; }

}  // namespace ollie::expr
