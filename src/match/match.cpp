#include <algorithm>

#include "expr/build.h"
#include "expr/print.h"
#include "expr/range.h"
#include "match/contraction.h"
#include "match/form.h"
#include "match/group.h"
#include "match/mismatch.h"
#include "match/pattern_text.h"
#include "match/unify.h"

namespace ollie::match {
namespace {

using expr::Index;
using expr::Scalar;
using expr::Tensor;
using Kind = Mismatch::Kind;

/// The class of an iterator by where it occurs, from its membership in the operands.
IteratorClass class_of(bool is_reduced, bool in_first, bool in_second) {
    if (is_reduced) return IteratorClass::Reduced;
    if (in_first && in_second) return IteratorClass::Batch;
    return in_first ? IteratorClass::Rows : IteratorClass::Columns;
}

std::string_view name_of(IteratorClass where) {
    switch (where) {
        case IteratorClass::Batch:
            return "of both operands and the result";
        case IteratorClass::Rows:
            return "of the first operand and the result";
        case IteratorClass::Columns:
            return "of the second operand and the result";
        case IteratorClass::Reduced:
            return "of the reduction";
    }
    CHECK(false);
}

class PatternMatcher {
public:
    PatternMatcher(const Pattern& pattern, const Tensor* definition, const Form& form)
        : pattern_(pattern),
          definition_(definition),
          form_(form),
          ranges_(definition->axes),
          unifier_(pattern, definition, form) {
        ranges_.add(form.axes);
    }

    MatchResult operator()() {
        if (!has_this_form()) return mismatches_;
        add_common_mismatches(definition_, form_, mismatches_);
        if (!mismatches_.empty()) return mismatches_;
        std::vector<Scalar> reads = form_.reads;
        for (size_t turn = 0; turn < reads.size(); ++turn) {
            if (unifier_.solve(reads)) return bound(reads);
            if (turn == 0) explain(reads);
            std::rotate(reads.begin(), reads.begin() + 1, reads.end());
        }
        return mismatches_;
    }

private:
    void add(Kind kind, IteratorClass where, int operand, std::string text) {
        mismatches_.push_back({kind, where, operand, std::move(text)});
    }

    bool has_this_form() {
        auto not_this = [&](std::string text) {
            add(Kind::NotThisForm, IteratorClass::Reduced, -1, std::move(text));
        };
        if (!form_.obstacle.empty()) not_this(form_.obstacle);
        if (form_.monoid != pattern_.monoid)
            not_this(fmt::format("the reduction is a {}, not a {}", expr::name_of(form_.monoid),
                                 expr::name_of(pattern_.monoid)));
        if (form_.reads.size() != pattern_.reads.size())
            not_this(fmt::format("a product of {} reads, not of {}", form_.reads.size(),
                                 pattern_.reads.size()));
        if (!form_.predicates.empty() && pattern_.zeros.empty())
            add(Kind::Range, IteratorClass::Reduced, -1, "the reduction is under a predicate");
        return mismatches_.empty();
    }

    MatchResult bound(const std::vector<Scalar>& reads) {
        Solution solution = unifier_.solution();
        for (size_t i = 0; i < pattern_.parameters.size(); ++i)
            if (!(solution.known >> i & 1)) solution.parameter[i] = 1;
        mismatches_.clear();
        check_units(reads, solution);
        if (!mismatches_.empty()) return mismatches_;
        check_indices(reads, solution);
        check_predicates(solution);
        if (!mismatches_.empty()) return mismatches_;
        return bind(reads, solution);
    }

    /// The pattern's axes of the iterator are images of nothing, or of axes of extent 1.
    bool is_superfluous(int iterator, const std::vector<Scalar>& reads,
                        const Solution& solution) const {
        if (solution.variable[iterator] >= 0) return false;
        for (size_t read = 0; read < reads.size(); ++read)
            for (size_t axis = 0; axis < pattern_.reads[read].indices.size(); ++axis) {
                int at = solution.axis_of[read][axis];
                bool is_wide = at >= 0 && reads[read]->tensor->axes[at].extent() != 1;
                if (is_wide && uses(pattern_.reads[read].indices[axis], iterator)) return false;
            }
        return true;
    }

    void check_units(const std::vector<Scalar>& reads, const Solution& solution) {
        for (auto [first, second] : pattern_.not_units)
            if (is_superfluous(first, reads, solution) && is_superfluous(second, reads, solution))
                add(Kind::MissingIterator, IteratorClass::Rows, -1,
                    fmt::format("nothing is {}: a pattern with fewer iterators fits",
                                pattern_.iterators[first]));
    }

    int64_t value(const PatternFactor& factor, const Solution& solution) const {
        return factor.number * (factor.parameter < 0 ? 1 : solution.parameter[factor.parameter]);
    }

    Index instantiate(const PatternIndex& pattern, const Solution& solution) const {
        expr::Arena& arena = *definition_->arena;
        Index sum = arena.constant(0);
        for (const PatternFactor& factor : pattern.constant) sum = sum + value(factor, solution);
        for (const PatternTerm& term : pattern.terms)
            sum = sum + atom(term, solution) * value(term.coefficient, solution);
        return expr::simplify(sum, ranges_);
    }

    Index atom(const PatternTerm& term, const Solution& solution) const {
        if (term.numerator) {
            Index numerator = instantiate(*term.numerator, solution);
            int64_t divisor = value(term.divisor, solution);
            return term.is_remainder ? expr::mod(numerator, divisor)
                                     : expr::div(numerator, divisor);
        }
        int variable = solution.variable[term.iterator];
        if (variable < 0) return definition_->arena->constant(0);
        return expr::index_of(unifier_.variables()[variable].axis.iterator);
    }

    /// The pattern with all parameters filled in is what the definition says, to the node.
    void check_indices(const std::vector<Scalar>& reads, const Solution& solution) {
        for (size_t read = 0; read < reads.size(); ++read) {
            const PatternRead& pattern = pattern_.reads[read];
            int operand = static_cast<int>(read);
            for (size_t axis = 0; axis < pattern.indices.size(); ++axis) {
                int at = solution.axis_of[read][axis];
                if (at < 0) continue;
                Index actual = expr::simplify(reads[read]->indices[at], ranges_);
                if (instantiate(pattern.indices[axis], solution) != actual)
                    add(Kind::NotThisForm, IteratorClass::Rows, operand,
                        fmt::format("index `{}` of {} is not `{}`", expr::print(actual),
                                    reads[read]->tensor->name, pattern.indices[axis].text));
                check_inside(pattern, pattern.indices[axis], reads[read], at, operand);
            }
        }
    }

    void check_inside(const PatternRead& pattern, const PatternIndex& index, Scalar read, int axis,
                      int operand) {
        expr::Interval reach = expr::interval_of(read->indices[axis], ranges_);
        const expr::Axis& domain = read->tensor->axes[axis];
        if (reach.lo >= domain.lo && reach.hi < domain.hi) return;
        bool may_pad = pattern.has_outside && !index.terms.empty() &&
                       (!index.constant.empty() || index.terms[0].numerator);
        if (may_pad && read->has_outside && read->constant == pattern.outside) return;
        add(Kind::OutsideValue, IteratorClass::Rows, operand,
            fmt::format("index `{}` of {} reaches outside{}", expr::print(read->indices[axis]),
                        read->tensor->name,
                        may_pad ? fmt::format(", where it is not {}", pattern.outside) : ""));
    }

    void check_predicates(const Solution& solution) {
        expr::Arena& arena = *definition_->arena;
        std::vector<expr::Predicate> expected;
        for (const PatternIndex& zero : pattern_.zeros)
            expected.push_back(expr::simplify(arena.zero(instantiate(zero, solution)), ranges_));
        std::vector<expr::Predicate> actual;
        for (expr::Predicate predicate : form_.predicates)
            actual.push_back(expr::simplify(predicate, ranges_));
        expr::Predicate wanted = arena.conjunction(sorted(std::move(expected)));
        if (wanted == arena.conjunction(sorted(std::move(actual)))) return;
        add(Kind::Range, IteratorClass::Reduced, -1,
            fmt::format("the predicate is not `{}`", expr::print(wanted)));
    }

    static std::vector<expr::Predicate> sorted(std::vector<expr::Predicate> predicates) {
        std::sort(predicates.begin(), predicates.end());
        return predicates;
    }

    Binding bind(const std::vector<Scalar>& reads, const Solution& solution) const {
        Binding binding;
        binding.definition = definition_;
        for (size_t i = 0; i < pattern_.parameters.size(); ++i)
            binding.parameters[pattern_.parameters[i]] = solution.parameter[i];
        for (size_t i = 0; i < pattern_.iterators.size(); ++i) {
            int variable = solution.variable[i];
            binding.iterators[pattern_.iterators[i]] =
                variable < 0 ? expr::Axis{{}, 0, 1} : unifier_.variables()[variable].axis;
        }
        for (size_t read = 0; read < reads.size(); ++read) {
            const PatternRead& pattern = pattern_.reads[read];
            Operand operand{pattern.name, reads[read]->tensor, {}};
            for (size_t axis = 0; axis < pattern.indices.size(); ++axis)
                operand.axis_of.push_back(solution.axis_of[read][axis]);
            binding.operands.push_back(std::move(operand));
        }
        binding.result = result(solution);
        put(form_, binding);
        return binding;
    }

    /// Units are given to the definition's unit axes in order.
    Operand result(const Solution& solution) const {
        Operand operand{pattern_.result, definition_, {}};
        int rank = static_cast<int>(definition_->rank());
        int free = 0;
        for (int i = 0; i < pattern_.traversal_count; ++i) {
            int variable = solution.variable[i];
            if (variable < 0) {
                while (free < rank && solution.used >> free & 1) ++free;
                variable = free < rank ? free++ : -1;
            }
            operand.axis_of.push_back(variable);
        }
        return operand;
    }

    /// Names the iterators that the pattern has no place for, or the index that does not fit.
    void explain(const std::vector<Scalar>& reads) {
        for (size_t i : unifier_.without_room()) {
            const Variable& variable = unifier_.variables()[i];
            bool in_first = unifier_.occurs(i, 0), in_second = unifier_.occurs(i, 1);
            IteratorClass where = class_of(variable.is_reduced, in_first, in_second);
            bool is_apart = variable.is_reduced && reads.size() > 1 && !(in_first && in_second);
            add(Kind::TooManyIterators, where, -1,
                is_apart ? fmt::format("iterator {} of the reduction is not in both operands",
                                       variable.axis.iterator->name)
                         : fmt::format("iterator {} is one too many {}",
                                       variable.axis.iterator->name, name_of(where)));
        }
        if (!mismatches_.empty()) return;
        auto [read, axis] = unifier_.failure();
        if (read < 0) return;
        add(Kind::Stride, IteratorClass::Rows, read,
            fmt::format("no axis of {} is indexed like `{}`", reads[read]->tensor->name,
                        pattern_.reads[read].indices[axis].text));
    }

    const Pattern& pattern_;
    const Tensor* definition_;
    const Form& form_;
    expr::Ranges ranges_;
    Unifier unifier_;
    std::vector<Mismatch> mismatches_;
};

}  // namespace

Subject::Subject(const Tensor* definition)
    : definition_(definition),
      forms_(std::make_shared<const std::vector<Form>>(forms_of(definition))) {}

MatchResult match(const Subject& subject, const Pattern& pattern) {
    if (pattern.group) return match_group(subject.definition(), pattern);
    MatchResult nearest = std::vector<Mismatch>{no_reduction()};
    bool is_first = true;
    for (const Form& form : subject.forms()) {
        MatchResult result = pattern.is_contraction
                                 ? match_contraction(subject.definition(), form)
                                 : PatternMatcher(pattern, subject.definition(), form)();
        if (std::holds_alternative<Binding>(result)) return result;
        if (is_first) nearest = std::move(result);
        is_first = false;
    }
    return nearest;
}

MatchResult match(const Tensor* definition, const Pattern& pattern) {
    return match(Subject(definition), pattern);
}

}  // namespace ollie::match
