#include "match/unify.h"

#include <algorithm>
#include <bit>

#include "expr/build.h"

namespace ollie::match {

using expr::AtomKind;
using expr::Term;

Unifier::Unifier(const Pattern& pattern, const expr::Tensor* definition, const Form& form)
    : pattern_(pattern) {
    for (const expr::Axis& axis : definition->axes) variables_.push_back({axis, false});
    for (const expr::Axis& axis : form.axes) variables_.push_back({axis, true});
    for (size_t read = 0; read < pattern.reads.size(); ++read)
        for (size_t axis = 0; axis < pattern.reads[read].indices.size(); ++axis)
            steps_.emplace_back(read, axis);
    // Axes with several iterators first: they leave the fewest choices.
    std::stable_sort(steps_.begin(), steps_.end(), [&](auto a, auto b) {
        return pattern.reads[a.first].indices[a.second].terms.size() >
               pattern.reads[b.first].indices[b.second].terms.size();
    });
    left_.assign(steps_.size() + 1, {0, 0});
    for (size_t step = steps_.size(); step-- > 0;) {
        left_[step] = left_[step + 1];
        ++left_[step][static_cast<size_t>(steps_[step].first)];
    }
}

bool Unifier::solve(const std::vector<expr::Scalar>& reads) {
    CHECK(pattern_.iterators.size() <= max_symbols && pattern_.parameters.size() <= max_symbols &&
          pattern_.reads.size() <= 2);
    if (variables_.size() > 2 * max_symbols) return false;
    for (expr::Scalar read : reads)
        if (read->tensor->rank() > max_symbols) return false;
    begin(reads);
    if (!without_room().empty()) return false;
    Solution start;
    start.variable.fill(Solution::unbound);
    for (auto& axes : start.axis_of) axes.fill(-1);
    furthest_ = 0;
    failure_ = {};
    return solve_axis(0, start);
}

void Unifier::begin(const std::vector<expr::Scalar>& reads) {
    reads_ = reads;
    needed_ = {};
    occurs_.assign(variables_.size(), 0);
    for (size_t read = 0; read < reads.size(); ++read) {
        for (size_t axis = 0; axis < reads[read]->tensor->rank(); ++axis)
            needed_[read] |= uint32_t{reads[read]->tensor->axes[axis].extent() != 1} << axis;
        for (size_t i = 0; i < variables_.size(); ++i)
            occurs_[i] |=
                static_cast<uint8_t>(uses(reads[read], variables_[i].axis.iterator) << read);
    }
}

bool Unifier::is_needed(const Variable& variable) const {
    return variable.is_reduced || variable.axis.extent() != 1;
}

std::vector<size_t> Unifier::without_room() const {
    std::array<int, 8> room{};
    for (size_t i = 0; i < pattern_.iterators.size(); ++i)
        ++room[pattern_.occurs[i] + 4u * pattern_.is_reduced(static_cast<int>(i))];
    std::vector<size_t> variables;
    for (size_t i = 0; i < variables_.size(); ++i)
        if (is_needed(variables_[i]) && --room[occurs_[i] + 4u * variables_[i].is_reduced] < 0)
            variables.push_back(i);
    return variables;
}

/// Tries the tensor's axes for the pattern axis of this step: first the one in the same position
/// counted from the innermost, then the others, then none.
bool Unifier::solve_axis(size_t step, const Solution& solution) {
    if (step == steps_.size()) {
        if (!is_complete(solution)) return false;
        solution_ = solution;
        return true;
    }
    for (size_t read = 0; read < reads_.size(); ++read)
        if (std::popcount(needed_[read] & ~solution.taken[read]) > left_[step][read]) return false;
    auto [read, axis] = steps_[step];
    if (failure_.read < 0 || step > furthest_) {
        furthest_ = step;
        failure_ = {read, axis};
    }
    int rank = static_cast<int>(reads_[read]->tensor->rank());
    int same = axis + rank - static_cast<int>(pattern_.reads[read].indices.size());
    if (try_axis(step, same < 0 ? -1 : same, solution)) return true;
    for (int other = 0; other < rank; ++other)
        if (other != same && try_axis(step, other, solution)) return true;
    return same >= 0 && try_axis(step, -1, solution);
}

bool Unifier::try_axis(size_t step, int tensor_axis, const Solution& solution) {
    auto [read, axis] = steps_[step];
    if (tensor_axis >= 0 && (solution.taken[read] >> tensor_axis & 1)) return false;
    Linear index;
    if (tensor_axis >= 0) index = linear(reads_[read]->indices[tensor_axis]);
    for (Solution& next : unify(pattern_.reads[read].indices[axis], index, solution)) {
        next.axis_of[read][axis] = static_cast<int8_t>(tensor_axis);
        if (tensor_axis >= 0) next.taken[read] |= 1u << tensor_axis;
        if (solve_axis(step + 1, next)) return true;
    }
    return false;
}

/// Every iterator of the definition is accounted for, and so is every axis of what is read.
bool Unifier::is_complete(const Solution& solution) const {
    for (size_t i = 0; i < variables_.size(); ++i)
        if (is_needed(variables_[i]) && !(solution.used >> i & 1)) return false;
    for (size_t read = 0; read < reads_.size(); ++read)
        if (needed_[read] & ~solution.taken[read]) return false;
    return true;
}

Unifier::Linear Unifier::linear(expr::Index index) { return {index->constant, index->terms}; }

std::pair<Unifier::Linear, int64_t> Unifier::as_quotient(const Linear& index) {
    auto quotient = std::find_if(index.terms.begin(), index.terms.end(), [](const Term& term) {
        return term.coefficient == 1 && term.atom->kind == AtomKind::FloorDiv;
    });
    if (quotient == index.terms.end()) return {index, 1};
    int64_t divisor = quotient->atom->divisor;
    Linear numerator = linear(quotient->atom->a);
    numerator.constant += index.constant * divisor;
    for (auto term = index.terms.begin(); term != index.terms.end(); ++term)
        if (term != quotient) numerator.terms.push_back({term->coefficient * divisor, term->atom});
    return {numerator, divisor};
}

std::vector<Solution> Unifier::unify(const PatternIndex& pattern, const Linear& index,
                                     const Solution& solution) const {
    std::vector<Solution> found;
    bool is_quotient = pattern.terms.size() == 1 && pattern.constant.empty() &&
                       pattern.terms[0].numerator && pattern.terms[0].coefficient.number == 1 &&
                       pattern.terms[0].coefficient.parameter < 0;
    if (!is_quotient) {
        unify_terms(pattern, 0, index, solution, found);
        return found;
    }
    auto [numerator, divisor] = as_quotient(index);
    Solution next = solution;
    if (unify_factor(pattern.terms[0].divisor, divisor, next))
        unify_terms(*pattern.terms[0].numerator, 0, numerator, next, found);
    return found;
}

void Unifier::unify_terms(const PatternIndex& pattern, size_t at, const Linear& rest,
                          const Solution& solution, std::vector<Solution>& found) const {
    if (at == pattern.terms.size()) {
        Solution last = solution;
        if (rest.terms.empty() && unify_constant(pattern, rest.constant, last))
            found.push_back(last);
        return;
    }
    for (size_t i = 0; i < rest.terms.size(); ++i) {
        std::vector<Solution> heads;
        unify_term(pattern.terms[at], rest.terms[i], solution, heads);
        if (heads.empty()) continue;
        Linear shorter = rest;
        shorter.terms.erase(shorter.terms.begin() + static_cast<std::ptrdiff_t>(i));
        for (const Solution& head : heads) unify_terms(pattern, at + 1, shorter, head, found);
    }
    Solution without = solution;
    if (make_units(pattern.terms[at], without)) unify_terms(pattern, at + 1, rest, without, found);
}

void Unifier::unify_term(const PatternTerm& pattern, const Term& term, const Solution& solution,
                         std::vector<Solution>& found) const {
    Solution next = solution;
    if (!unify_factor(pattern.coefficient, term.coefficient, next)) return;
    const expr::AtomNode& atom = *term.atom;
    if (pattern.iterator >= 0) {
        if (atom.kind == AtomKind::Iterator && bind(pattern.iterator, atom.iterator, next))
            found.push_back(next);
        return;
    }
    if (atom.kind == AtomKind::FloorDiv) {
        if (unify_factor(pattern.divisor, atom.divisor, next))
            unify_terms(*pattern.numerator, 0, linear(atom.a), next, found);
    } else if (atom.kind == AtomKind::Iterator) {
        if (unify_factor(pattern.divisor, 1, next))
            unify_terms(*pattern.numerator, 0, {0, {{1, term.atom}}}, next, found);
    }
}

bool Unifier::unify_factor(const PatternFactor& factor, int64_t value, Solution& solution) const {
    if (factor.parameter < 0) return factor.number == value;
    if (solution.known >> factor.parameter & 1)
        return factor.number * solution.parameter[factor.parameter] == value;
    if (value % factor.number != 0) return false;
    solution.known |= 1u << factor.parameter;
    solution.parameter[factor.parameter] = value / factor.number;
    return true;
}

bool Unifier::unify_constant(const PatternIndex& pattern, int64_t value, Solution& solution) const {
    const PatternFactor* open = nullptr;
    for (const PatternFactor& factor : pattern.constant) {
        if (factor.parameter < 0)
            value -= factor.number;
        else if (solution.known >> factor.parameter & 1)
            value -= factor.number * solution.parameter[factor.parameter];
        else
            open = &factor;
    }
    return open == nullptr ? value == 0 : unify_factor(*open, value, solution);
}

bool Unifier::bind(int iterator, expr::Iterator actual, Solution& solution) const {
    int variable = 0;
    int count = static_cast<int>(variables_.size());
    while (variable < count && variables_[variable].axis.iterator != actual) ++variable;
    if (variable == count) return false;
    if (variables_[variable].is_reduced != pattern_.is_reduced(iterator)) return false;
    if (occurs_[variable] != pattern_.occurs[iterator]) return false;
    int8_t& bound = solution.variable[iterator];
    if (bound != Solution::unbound) return bound == variable;
    if (solution.used >> variable & 1) return false;
    solution.used |= 1u << variable;
    bound = static_cast<int8_t>(variable);
    return true;
}

bool Unifier::make_units(const PatternIndex& pattern, Solution& solution) const {
    return std::all_of(pattern.terms.begin(), pattern.terms.end(),
                       [&](const PatternTerm& term) { return make_units(term, solution); });
}

bool Unifier::make_units(const PatternTerm& term, Solution& solution) const {
    if (term.numerator) return make_units(*term.numerator, solution);
    int8_t& variable = solution.variable[term.iterator];
    if (variable == Solution::unbound) variable = Solution::unit;
    return variable == Solution::unit;
}

}  // namespace ollie::match
