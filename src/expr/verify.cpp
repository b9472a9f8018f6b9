#include "expr/verify.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "expr/build.h"
#include "expr/print.h"
#include "expr/range.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

using Violations = std::vector<std::string>;

/// What holds at a place in a body: ranges of the iterators in scope, and indices known not to be
/// negative because of the selects around it.
struct Context {
    Ranges ranges;
    std::vector<Index> non_negative;
};

/// Draws an interval's end in where the predicate bounds one iterator alone.
void narrow(Index index, Ranges& ranges) {
    if (index->terms.size() != 1 || index->terms[0].atom->kind != AtomKind::Iterator) return;
    auto [coefficient, atom] = index->terms[0];
    Interval interval = ranges.of(atom->iterator);
    // c * x + d >= 0. Indices in predicates are reduced by their common factor: c is 1 or -1.
    if (coefficient == 1) interval.lo = std::max(interval.lo, -index->constant);
    if (coefficient == -1) interval.hi = std::min(interval.hi, index->constant);
    ranges.add(atom->iterator, interval);
}

void assume_non_negative(Index index, Context& context) {
    context.non_negative.push_back(index);
    narrow(index, context.ranges);
}

void assume(Predicate p, Context& context) {
    switch (p->kind) {
        case PredicateKind::NonNegative:
            return assume_non_negative(p->index, context);
        case PredicateKind::Zero:
            assume_non_negative(p->index, context);
            return assume_non_negative(-p->index, context);
        case PredicateKind::And:
            for (Predicate operand : p->operands) assume(operand, context);
            return;
        default:
            return;
    }
}

void assume_not(Predicate p, Context& context) {
    if (p->kind == PredicateKind::Or) {
        for (Predicate operand : p->operands) assume_not(operand, context);
    } else if (p->kind == PredicateKind::NonNegative || p->kind == PredicateKind::Not) {
        assume(p->arena->negation(p), context);
    }
}

bool is_unreachable(const Ranges& ranges) {
    return std::any_of(ranges.map().begin(), ranges.map().end(),
                       [](const auto& entry) { return entry.second.lo > entry.second.hi; });
}

/// How often `known` can be taken off the index so that its first term goes.
int64_t multiplicity(Index known, Index index) {
    if (known->terms.empty()) return 1;
    const Term& first = known->terms.front();
    for (const Term& term : index->terms)
        if (term.atom == first.atom)
            return std::max<int64_t>(1, term.coefficient / first.coefficient);
    return 1;
}

bool is_proved(Index index, const Context& context) {
    if (interval_of(index, context.ranges).lo >= 0) return true;
    return std::any_of(context.non_negative.begin(), context.non_negative.end(), [&](Index known) {
        Index rest = index - known * multiplicity(known, index);
        return interval_of(rest, context.ranges).lo >= 0;
    });
}

/// Checks one definition.
class BodyVerifier {
public:
    BodyVerifier(const Tensor* tensor, Violations& out) : tensor_(tensor), out_(out) {}

    void verify() {
        Context context;
        bind(tensor_->axes, tensor_, context);
        if (!tensor_->body)
            report("has no body");
        else
            scalar(tensor_->body, context, 0);
    }

private:
    template <typename... Args>
    void report(fmt::format_string<Args...> text, Args&&... args) {
        out_.push_back(
            fmt::format("{}: {}", tensor_->name, fmt::format(text, std::forward<Args>(args)...)));
    }

    void bind(const std::vector<Axis>& axes, const void* binder, Context& context) {
        for (const Axis& axis : axes) {
            if (axis.lo > axis.hi)
                report("range {}..{} of {}", axis.lo, axis.hi, axis.iterator->name);
            auto [found, is_new] = binders_.emplace(axis.iterator, binder);
            if (context.ranges.has(axis.iterator) || (!is_new && found->second != binder))
                report("iterator {} is bound twice", axis.iterator->name);
        }
        context.ranges.add(axes);
    }

    void scalar(Scalar s, const Context& context, int depth) {
        CHECK(depth < 20000, "{}: the body is nested too deeply", tensor_->name);
        if (s->arena != tensor_->arena) report("a scalar of another arena");
        bool indices_are_bound = std::all_of(s->indices.begin(), s->indices.end(),
                                             [&](Index i) { return is_bound(i, context); });
        if (indices_are_bound)
            for (Index index : s->indices) tables(index, context);
        check_arity(s);
        if (s->kind == ScalarKind::Read && indices_are_bound) read(s, context);
        if (s->kind == ScalarKind::Select) return select(s, context, depth);
        if (s->kind == ScalarKind::Reduce) {
            Context inner = context;
            bind(s->axes, s.get(), inner);
            return scalar(s->operands[0], inner, depth + 1);
        }
        for (Scalar operand : s->operands) scalar(operand, context, depth + 1);
    }

    void select(Scalar s, const Context& context, int depth) {
        if (!is_bound(s->predicate, context)) return;
        tables(s->predicate, context);
        Context then = context;
        assume(s->predicate, then);
        scalar(s->operands[0], then, depth + 1);
        Context otherwise = context;
        assume_not(s->predicate, otherwise);
        scalar(s->operands[1], otherwise, depth + 1);
    }

    void check_arity(Scalar s) {
        size_t found = s->operands.size();
        if (s->kind == ScalarKind::Function && found != arity_of(s->function))
            report("{} takes {} operands, found {}", name_of(s->function), arity_of(s->function),
                   found);
        if ((s->kind == ScalarKind::Add || s->kind == ScalarKind::Mul) && found < 2)
            report("a sum or product of {} operands", found);
    }

    template <typename IndexOrPredicate>
    bool is_bound(IndexOrPredicate e, const Context& context) {
        bool all = true;
        for (Iterator iterator : iterators_of(e)) {
            if (context.ranges.has(iterator)) continue;
            report("iterator {} is not bound", iterator->name);
            all = false;
        }
        return all;
    }

    void read(Scalar s, const Context& context) {
        const Tensor* source = s->tensor;
        if (source->arena != tensor_->arena) report("reads {} of another arena", source->name);
        if (source->rank() != s->indices.size())
            return report("reads {} of rank {} with {} indices", source->name, source->rank(),
                          s->indices.size());
        if (s->has_outside || is_unreachable(context.ranges)) return;
        for (size_t i = 0; i < s->indices.size(); ++i) {
            Index index = s->indices[i];
            const Axis& axis = source->axes[i];
            if (!is_proved(index - axis.lo, context) || !is_proved(-index + (axis.hi - 1), context))
                report("{} may be outside of {}..{} on axis {} and has no outside value", print(s),
                       axis.lo, axis.hi, i);
        }
    }

    void tables(Index index, const Context& context) {
        for (const Term& term : index->terms) {
            const AtomNode& atom = *term.atom;
            if (atom.a) tables(atom.a, context);
            if (atom.b) tables(atom.b, context);
            if (atom.kind != AtomKind::Table || is_unreachable(context.ranges)) continue;
            int64_t last = static_cast<int64_t>(atom.table.size()) - 1;
            if (!is_proved(atom.a, context) || !is_proved(-atom.a + last, context))
                report("position {} may be outside of its table", print(atom.a));
        }
    }

    void tables(Predicate p, const Context& context) {
        if (p->index) tables(p->index, context);
        for (Predicate operand : p->operands) tables(operand, context);
    }

    const Tensor* tensor_;
    Violations& out_;
    std::map<Iterator, const void*> binders_;
};

void verify_source(const Tensor* tensor, Violations& out) {
    for (const Axis& axis : tensor->axes)
        if (axis.lo != 0 || axis.hi < 0)
            out.push_back(fmt::format("{}: an axis {}..{}", tensor->name, axis.lo, axis.hi));
    if (!tensor->values) return;
    if (tensor->values->type() != tensor->type || tensor->values->shape() != tensor->shape())
        out.push_back(fmt::format("{}: values are {} {}", tensor->name,
                                  name_of(tensor->values->type()),
                                  to_text(tensor->values->shape())));
}

}  // namespace

std::vector<std::string> violations(const Expr& expr) {
    Violations out;
    if (expr.outputs.empty()) out.push_back("there are no outputs");
    std::set<std::string> names;
    for (const Tensor* tensor : tensors_of(expr)) {
        if (tensor->name.empty()) out.push_back("a tensor has no name");
        if (!names.insert(tensor->name).second)
            out.push_back(fmt::format("{}: the name is used twice", tensor->name));
        if (tensor->arena != expr.arena.get())
            out.push_back(fmt::format("{}: is of another arena", tensor->name));
        if (tensor->is_definition())
            BodyVerifier(tensor, out).verify();
        else
            verify_source(tensor, out);
    }
    return out;
}

void verify(const Expr& expr) {
    std::vector<std::string> found = violations(expr);
    CHECK(found.empty(), "\n{}", fmt::join(found, "\n"));
}

}  // namespace ollie::expr
