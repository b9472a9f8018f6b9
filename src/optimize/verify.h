#pragma once

#include <string>
#include <vector>

#include "expr/node.h"
#include "optimize/options.h"
#include "program/program.h"

/// The comparison that a program must pass before it is written.
namespace ollie::optimize {

/// Of scale; no model that is used in float32 has such an error.
inline constexpr double far_from_exact = 1e-2;

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
    /// On random inputs the unoptimized program is far from float64; one of the failures.
    bool unoptimized_is_wrong = false;
    /// Masks of NaN and infinity differ by more than the rules say, and one of the programs has a
    /// call that changes them: what the rules do to them is then to be looked at apart from calls.
    bool calls_changed_nonfinite = false;

    double max_error() const;
    double max_unoptimized_error() const;
};

/// What costs more is sampled; about 1e10 operations take a second and two threads.
struct VerifyLimits {
    double random_operations = 6e10;
    double special_operations = 1.2e10;
    /// Special inputs are left out after that long; random ones never are.
    double special_seconds = 30;
};

/// Outputs against the float64 evaluation of the original expression on random and special inputs,
/// and the masks of NaN and infinity against the unoptimized program: no more elements may have
/// them unless a rule says so (`nonfinite_may_spread`), and none may lose them, unless a call of
/// one of the programs changes them. Where the whole evaluation is too dear, elements are sampled.
Verification verify(const expr::Expr& whole, const program::Program& optimized,
                    const program::Program& unoptimized, const Options&, bool nonfinite_may_spread,
                    const VerifyLimits& = {});

/// Throws UserError if the program's inputs and outputs are not those of the expression.
void check_same_boundary(const expr::Expr& whole, const program::Program&);

}  // namespace ollie::optimize
