#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/options.h"
#include "optimize/solve.h"
#include "program/program.h"

/// The checks that a program must pass before it is written.
namespace ollie::optimize {

/// The inputs that stand for ordinary ones; all others are special.
inline constexpr std::string_view ordinary_inputs = "random";

/// Error of one output on one set of inputs: max |y - y64| / max |y64|.
struct OutputError {
    std::string inputs;  ///< "random", "zeros", ...
    std::string output;
    double optimized = 0;
    double unoptimized = 0;
    int64_t elements = 0;  ///< Compared; fewer than the output has where it was sampled.
    int64_t worst = 0;     ///< Row-major index of the worst element.
};

struct Verification {
    std::vector<OutputError> errors;
    std::vector<std::string> failures;  ///< Empty if the program may be written.
    double max_error() const;
    double max_unoptimized_error() const;
};

/// Identity of every selected derivation; the verdicts by candidate. Candidates that are not proved
/// equal are refused in the solutions; returned is what is wrong with each, with the rules of its
/// trail: nothing if all are equal.
struct Proof {
    bool equal = true;
    std::string text;  ///< "equal: 4 draws, 1024 points"
};
using Proofs = std::map<const search::Candidate*, Proof>;
std::vector<std::string> prove(const std::vector<const Fragment*>& selected, Solutions&, Proofs&);

/// Outputs against the float64 evaluation of the original expression on random and special inputs,
/// and the masks of NaN and infinity against the unoptimized program. Where the whole evaluation is
/// too dear, elements are sampled.
Verification verify(const expr::Expr& whole, const program::Program& optimized,
                    const program::Program& unoptimized, const Options&, bool nonfinite_may_spread);

/// Throws UserError if the program's inputs and outputs are not those of the expression.
void check_same_boundary(const expr::Expr& whole, const program::Program&);

}  // namespace ollie::optimize
