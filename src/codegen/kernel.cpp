#include "codegen/kernel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "codegen/transform.h"
#include "expr/build.h"
#include "expr/simplify.h"
#include "expr/visit.h"

namespace ollie::codegen {
namespace {

using namespace expr;

constexpr int64_t largest_period = 8;

/// Periods that quotients in the index ask of the iterator.
void collect_periods(Index index, Iterator iterator, int64_t& period) {
    for (const Term& term : index->terms) {
        const AtomNode& atom = *term.atom;
        if (atom.a) collect_periods(atom.a, iterator, period);
        if (atom.b) collect_periods(atom.b, iterator, period);
        if (atom.kind != AtomKind::FloorDiv) continue;
        int64_t step = coefficient(atom.a, iterator);
        if (step == 0) continue;
        period = std::lcm(period, atom.divisor / std::gcd(step, atom.divisor));
    }
}

int64_t period_of(Scalar body, const Axis& axis) {
    int64_t period = 1;
    rewrite_indices(body, [&](Index index) {
        if (period <= largest_period) collect_periods(index, axis.iterator, period);
        return index;
    });
    return period <= largest_period && axis.extent() > period ? period : 1;
}

/// The definition over quotient and remainder of the axis, read at these.
Expr with_phase(const Expr& group, const Tensor* definition, size_t position, int64_t period) {
    Arena& arena = *group.arena;
    const Axis& whole = definition->axes[position];
    Axis quotient{arena.iterator(whole.iterator->name + "o"), 0,
                  (whole.extent() + period - 1) / period};
    Axis phase{arena.iterator(whole.iterator->name + "i"), 0, period};
    std::vector<Axis> axes = definition->axes;
    axes[position] = quotient;
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(position) + 1, phase);
    Index at = index_of(quotient.iterator) * period + index_of(phase.iterator) + whole.lo;
    Scalar body = simplify(substitute(definition->body, {{whole.iterator, at}}), axes);
    const Tensor* split = arena.define(definition->name, definition->type, axes, body);
    return change_reads(group, definition, [&](Scalar read) {
        std::vector<Index> indices = read->indices;
        Index moved = indices[position] - whole.lo;
        indices[position] = div(moved, period);
        indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(position) + 1,
                       mod(moved, period));
        return arena.read(split, std::move(indices), outside_of(read));
    });
}

/// Inner transforms whose indices divide an axis have quotient and phase as axes of their own.
Expr with_inner_phases(Expr group) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const Tensor* definition : definitions_of(group)) {
            if (definition == group.outputs[0] || !is_transform(definition->body)) continue;
            for (size_t i = 0; i < definition->rank() && !changed; ++i) {
                int64_t period = period_of(definition->body, definition->axes[i]);
                if (period == 1) continue;
                group = with_phase(group, definition, i, period);
                changed = true;
            }
            if (changed) break;
        }
    }
    return group;
}

/// The iterator at which all reads of the tensor have the axis, each one of its reader's axes.
std::optional<Iterator> common_iterator(const Expr& group, const Tensor* tensor, size_t axis) {
    std::optional<Iterator> common;
    for (const Tensor* reader : definitions_of(group))
        for (Scalar read : reads_of(reader->body)) {
            if (read->tensor != tensor) continue;
            auto iterator = as_iterator(read->indices[axis]);
            bool is_axis =
                iterator && std::any_of(reader->axes.begin(), reader->axes.end(),
                                        [&](const Axis& own) { return own.iterator == *iterator; });
            if (!is_axis || (common && *common != *iterator)) return std::nullopt;
            common = iterator;
        }
    return common;
}

/// Axes of inner definitions that are an axis of the result have its iterator.
Expr with_shared_iterators(Expr group) {
    std::vector<const Tensor*> definitions = definitions_of(group);
    for (size_t i = definitions.size() - 1; i-- > 0;) {
        const Tensor* definition = definitions_of(group)[i];
        std::vector<Axis> axes = definition->axes;
        Substitution renaming;
        std::set<Iterator> taken;
        Ranges own = ranges_of(definition);
        for (const auto& [iterator, range] : own.map()) taken.insert(iterator);
        for (size_t a = 0; a < axes.size(); ++a) {
            auto iterator = common_iterator(group, definition, a);
            if (!iterator || !taken.insert(*iterator).second) continue;
            renaming[axes[a].iterator] = index_of(*iterator);
            axes[a].iterator = *iterator;
        }
        if (renaming.empty()) continue;
        Scalar body = substitute(definition->body, renaming);
        group = replace(group, {{definition, with_body(definition, axes, body)}});
    }
    return group;
}

/// Splits reductions that are inside a larger body off into stages.
class Splitter {
public:
    Splitter(Kernel& kernel) : kernel_(kernel) {}

    void add(const Tensor* definition) {
        bool transform = is_transform(definition->body);
        Scalar body =
            with_new_sources(with_transforms_written_out(definition->body, definition->axes));
        bool at_root = body->kind == ScalarKind::Reduce;
        Scalar inner = at_root ? body->operands[0] : body;
        Ranges scope = ranges_of(definition);
        inner = rewrite(inner, [&](Scalar s) {
            return s->kind == ScalarKind::Reduce ? split_off(definition, s, scope) : s;
        });
        if (at_root) inner = kernel_.arena->reduce(body->monoid, body->axes, inner);
        const Tensor* stage =
            kernel_.arena->define(definition->name, definition->type, definition->axes, inner);
        kernel_.stages.push_back({stage, transform});
        replacements_[definition] = stage;
    }

private:
    Scalar with_new_sources(Scalar body) {
        return rewrite(body, [&](Scalar s) {
            if (s->kind != ScalarKind::Read) return s;
            auto found = replacements_.find(s->tensor);
            if (found == replacements_.end()) return s;
            return s->has_outside ? kernel_.arena->read(found->second, s->indices, s->constant)
                                  : kernel_.arena->read(found->second, s->indices);
        });
    }

    Scalar split_off(const Tensor* owner, Scalar reduction, const Ranges& scope) {
        auto [found, is_new] = parts_.try_emplace(reduction);
        if (!is_new) return found->second;
        std::vector<Axis> axes;
        std::set<Iterator> free = free_iterators(reduction);
        for (const Axis& axis : owner->axes)
            if (free.erase(axis.iterator) > 0) axes.push_back(axis);
        for (Iterator iterator : free) {
            Interval interval = scope.of(iterator);
            axes.push_back({iterator, interval.lo, interval.hi + 1});
        }
        std::vector<Index> at;
        Substitution shift;
        for (Axis& axis : axes) {
            at.push_back(index_of(axis.iterator) - axis.lo);
            shift[axis.iterator] = index_of(axis.iterator) + axis.lo;
            axis = {axis.iterator, 0, axis.extent()};
        }
        Arena& arena = *kernel_.arena;
        const Tensor* part = arena.define(owner->name + "_part" + std::to_string(parts_.size()),
                                          owner->type, axes, substitute(reduction, shift));
        kernel_.stages.push_back({part});
        return found->second = arena.read(part, at);
    }

    Kernel& kernel_;
    std::map<const Tensor*, const Tensor*> replacements_;
    std::map<Scalar, Scalar> parts_;
};

/// The result with its axes in order of storage, split where the body has a period.
class PhaseSplit {
public:
    PhaseSplit(const Tensor* result, const Layout& layout, bool has_transforms, Kernel& kernel)
        : result_(result),
          kernel_(kernel),
          has_transforms_(has_transforms),
          rows_(row_iterators(result)),
          strides_(layout.strides(result->shape())) {
        for (int logical : layout.order) split(logical);
    }

    const Tensor* tensor() {
        kernel_.loops = phase_loops_;
        kernel_.loops.insert(kernel_.loops.end(), loops_.begin(), loops_.end());
        std::vector<Axis> axes = phases_;
        axes.insert(axes.end(), axes_.begin(), axes_.end());
        Scalar body = simplify(substitute(result_->body, substitution_), axes);
        return kernel_.arena->define(result_->name, result_->type, axes, body);
    }

private:
    void split(int logical) {
        const Axis& axis = result_->axes[logical];
        if (rows_.contains(axis.iterator)) {
            phases_.push_back(axis);
            phase_loops_.push_back({axis.extent(), strides_[logical], true});
            return;
        }
        int64_t period = period_of(result_->body, axis);
        if (axis.extent() % period != 0) {
            loops_.push_back(
                {axis.extent(), strides_[logical], false, has_transforms_ ? period : 1});
            axes_.push_back(axis);
            return;
        }
        loops_.push_back({axis.extent() / period, strides_[logical] * period, false});
        if (period == 1) {
            axes_.push_back(axis);
            return;
        }
        Iterator quotient = kernel_.arena->iterator(axis.iterator->name + "o");
        Iterator phase = kernel_.arena->iterator(axis.iterator->name + "i");
        axes_.push_back({quotient, 0, axis.extent() / period});
        phases_.push_back({phase, 0, period});
        phase_loops_.push_back({period, strides_[logical], true});
        substitution_[axis.iterator] = index_of(quotient) * period + index_of(phase);
    }

    const Tensor* result_;
    Kernel& kernel_;
    bool has_transforms_;
    std::set<Iterator> rows_;
    std::vector<int64_t> strides_;
    std::vector<Axis> axes_, phases_;
    std::vector<Loop> loops_, phase_loops_;
    Substitution substitution_;
};

}  // namespace

Scalar Stage::reduction() const {
    return tensor->body->kind == ScalarKind::Reduce ? tensor->body : Scalar();
}

const Argument* Kernel::argument(const Tensor* tensor) const {
    for (const Argument& argument : arguments)
        if (argument.tensor == tensor) return &argument;
    return nullptr;
}

const Stage* Kernel::stage(const Tensor* tensor) const {
    for (const Stage& stage : stages)
        if (stage.tensor == tensor) return &stage;
    return nullptr;
}

Ranges ranges_of(const Tensor* tensor) {
    Ranges ranges(tensor->axes);
    for_each_scalar(tensor->body, [&](Scalar s) {
        if (s->kind == ScalarKind::Reduce) ranges.add(s->axes);
    });
    return ranges;
}

Kernel prepare(const Expr& group, const std::vector<Layout>& argument_layouts,
               const Layout& result_layout) {
    CHECK(group.outputs.size() == 1, "a kernel has one result");
    Kernel kernel;
    kernel.arena = std::make_shared<Arena>();
    Expr own = copy_to(kernel.arena, group);
    std::vector<const Tensor*> arguments = arguments_of(own);
    CHECK(arguments.size() == argument_layouts.size());
    for (size_t i = 0; i < arguments.size(); ++i)
        kernel.arguments.push_back(
            {arguments[i], argument_layouts[i].strides(arguments[i]->shape())});
    for (const Axis& axis : own.outputs[0]->axes)
        CHECK(axis.lo == 0, "a kernel's result is stored from 0 on");
    own = with_inner_phases(own);
    kernel.result_elements = element_count(own.outputs[0]->shape());
    std::vector<const Tensor*> definitions = definitions_of(own);
    bool transforms = std::any_of(definitions.begin(), definitions.end(),
                                  [](const Tensor* each) { return is_transform(each->body); });
    own.outputs = {PhaseSplit(own.outputs[0], result_layout, transforms, kernel).tensor()};
    Splitter splitter(kernel);
    for (const Tensor* definition : definitions_of(with_shared_iterators(own)))
        splitter.add(definition);
    return kernel;
}

}  // namespace ollie::codegen
