#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimize/solve.h"

namespace ollie::optimize {

/// Identity of every selected derivation; the verdicts by candidate. Candidates that are not proved
/// equal are refused in the solutions; returned is what is wrong with each, with the rules of its
/// trail: nothing if all are equal.
struct Proof {
    bool equal = true;
    std::string text;  ///< "equal: 4 draws, 1024 points"
};
using Proofs = std::map<const search::Candidate*, Proof>;
std::vector<std::string> prove(const std::vector<const Fragment*>& selected, Solutions&, Proofs&);

/// "skew, tighten"
std::string rules_of(const search::Candidate&);

}  // namespace ollie::optimize
