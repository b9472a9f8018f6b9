#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "match/form.h"
#include "match/pattern_text.h"

/// Unification of a pattern's accesses with those of a definition: finds the iterators, axes and
/// parameters under which they are the same, over all permutations.
namespace ollie::match {

constexpr int max_symbols = 16;  ///< Iterators and parameters of a pattern.

/// An iterator of the definition: of its axes or of the reduction.
struct Variable {
    expr::Axis axis;
    bool is_reduced = false;
};

/// A partial solution.
struct Solution {
    static constexpr int8_t unbound = -1;
    static constexpr int8_t unit = -2;
    std::array<int8_t, max_symbols> variable;      ///< Of each pattern iterator.
    std::array<int64_t, max_symbols> parameter{};  ///< Of each pattern parameter, if known.
    uint32_t known = 0;                            ///< Parameters, a set of bits.
    uint32_t used = 0;                             ///< Variables, a set of bits.
    std::array<std::array<int8_t, max_symbols>, 2> axis_of{};  ///< Per read, per pattern axis.
    std::array<uint32_t, 2> taken{};  ///< Per read, axes of the tensor that are an image.
};

class Unifier {
public:
    Unifier(const Pattern&, const expr::Tensor* definition, const Form&);

    /// `reads[i]` stands for the pattern's read i. True if there is a solution.
    bool solve(const std::vector<expr::Scalar>& reads);
    const Solution& solution() const { return solution_; }
    const std::vector<Variable>& variables() const { return variables_; }
    /// Where the attempt that got furthest failed: a pattern axis of a read.
    struct Failure {
        int read = -1;
        int axis = -1;
    };
    const Failure& failure() const { return failure_; }
    /// Variables for which the pattern has no iterator left that occurs in the same of the reads
    /// that were last tried.
    std::vector<size_t> without_room() const;
    /// Whether the variable occurs in that read.
    bool occurs(size_t variable, int read) const { return occurs_[variable] >> read & 1; }

private:
    struct Linear {
        int64_t constant = 0;
        std::vector<expr::Term> terms;
    };

    /// Fills in what depends on the order of the reads.
    void begin(const std::vector<expr::Scalar>& reads);
    bool is_needed(const Variable&) const;
    bool solve_axis(size_t step, const Solution&);
    bool try_axis(size_t step, int tensor_axis, const Solution&);
    bool is_complete(const Solution&) const;
    std::vector<Solution> unify(const PatternIndex&, const Linear&, const Solution&) const;
    void unify_terms(const PatternIndex&, size_t at, const Linear& rest, const Solution&,
                     std::vector<Solution>& found) const;
    void unify_term(const PatternTerm&, const expr::Term&, const Solution&,
                    std::vector<Solution>& found) const;
    bool unify_factor(const PatternFactor&, int64_t value, Solution&) const;
    bool unify_constant(const PatternIndex&, int64_t value, Solution&) const;
    bool bind(int iterator, expr::Iterator, Solution&) const;
    bool make_units(const PatternIndex&, Solution&) const;
    bool make_units(const PatternTerm&, Solution&) const;
    static Linear linear(expr::Index);
    /// The numerator that an index would have as a quotient, and its divisor.
    static std::pair<Linear, int64_t> as_quotient(const Linear&);

    const Pattern& pattern_;
    std::vector<Variable> variables_;
    std::vector<expr::Scalar> reads_;
    std::vector<std::pair<int, int>> steps_;  ///< (read, pattern axis) in the order of solving.
    std::vector<std::array<int, 2>> left_;    ///< Per step, how many are to come per read.
    std::array<uint32_t, 2> needed_{};        ///< Per read, axes that must be an image.
    std::vector<uint8_t> occurs_;             ///< Per variable, which reads use it.
    Solution solution_;
    Failure failure_;
    size_t furthest_ = 0;
};

}  // namespace ollie::match
