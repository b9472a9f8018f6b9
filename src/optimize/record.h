#pragma once

#include "optimize/pipeline.h"
#include "optimize/prove.h"
#include "optimize/select.h"

namespace ollie::optimize {

/// Writes what was derived, chosen, tried and lost into the program's derivations, and what was
/// measured and verified into its facts.
void record(Outcome&, const std::vector<express::Subprogram>&, const Solutions&,
            const Selection& best, const Selection& plain, const Proofs&, const Options&);

/// Replays the trail from the problem by its rules alone and notes the expression after each step.
/// `extra_rules` are known besides the catalogue's. Throws InternalError if a step does not apply.
std::vector<program::TrailStep> replayed(const expr::Expr& problem,
                                         const std::vector<program::TrailStep>& trail,
                                         const std::vector<const derive::Rule*>& extra_rules = {});

}  // namespace ollie::optimize
