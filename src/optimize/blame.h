#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "express/express.h"
#include "optimize/compile.h"
#include "optimize/select.h"
#include "optimize/solve.h"

namespace ollie::optimize {

/// Which fragments of a selection are to blame where the whole program is wrong. What is found is
/// refused in the solutions; returned are notes that say what and why, none where nothing is found.
class Blame {
public:
    Blame(const std::vector<express::Subprogram>& subprograms, Solutions& solutions,
          const KernelLibrary& library, const Options& options)
        : subprograms_(subprograms), solutions_(solutions), library_(library), options_(options) {}

    /// Every selected fragment, as a program of its own, is verified like a whole one; with the
    /// wrong ones goes whatever else has the same wrong call or kernel.
    std::vector<std::string> refuse_wrong(const Selection&, const Selection& plain);
    /// Derivations that lose NaN or infinity, or spread them where no rule says so, all calls and
    /// kernels apart.
    std::vector<std::string> refuse_changed_nonfinite(const Selection&);
    /// Of the fragments with larger errors than the unoptimized ones have the `count` worst: where
    /// all are right alone and their errors add up. With each goes whatever else would be not much
    /// more exact in its place.
    std::vector<std::string> refuse_least_exact(const Selection&, const Selection& plain,
                                                size_t count);

private:
    /// What a fragment does alone, in its place.
    struct Alone {
        double excess = 0;  ///< Of its error over the unoptimized one's on ordinary inputs.
        std::string failure;
    };
    const Alone& alone(size_t place, const Fragment&, const Fragment& plain);
    Alone verified(size_t place, const Fragment&, const Fragment& plain) const;
    program::Program program_of(size_t place, const Fragment&) const;
    const std::string& derivation_failure(size_t place, const search::Candidate&);
    std::string refuse_with_step(size_t place, const Fragment&, const std::string& failure);
    void refuse_as_inexact(size_t place, const Fragment& plain, double excess);
    std::string subject(size_t place, const Fragment&) const;

    const std::vector<express::Subprogram>& subprograms_;
    Solutions& solutions_;
    const KernelLibrary& library_;
    const Options& options_;
    std::map<std::tuple<size_t, const Fragment*, const Fragment*>, Alone> alone_;
    std::map<const search::Candidate*, std::string> derivation_failures_;
};

}  // namespace ollie::optimize
