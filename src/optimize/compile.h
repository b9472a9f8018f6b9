#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimize/fragment.h"
#include "optimize/options.h"
#include "optimize/times.h"

/// The compile phase: distinct kernels, each under a few schedules, in parallel, linked once.
namespace ollie::optimize {

/// One kernel under one schedule.
struct Variant {
    codegen::Schedule schedule;
    std::string symbol;
    std::vector<std::byte> object;
    double measured = -1;    ///< Seconds, alone.
    bool is_wanted = false;  ///< Else it is neither compiled nor measured.
    std::string failure;     ///< Why it could not be compiled.
};

/// All variants of all kernels seen so far, by the key of the problem without schedule.
class KernelLibrary {
public:
    KernelLibrary(const Options& options, Times& times) : options_(options), times_(times) {}

    /// Adds the kernel's problem if it is new, under the schedule that is the best guess.
    void add(const codegen::KernelProblem&);
    /// Wants the other schedules of a kernel too; without measurement those whose times are known.
    void widen(const codegen::KernelProblem&);
    /// Compiles what is not compiled yet and links everything into one shared object.
    void compile();
    /// Measures the variants of kernels that have several, each alone; sorts them, best first.
    void measure();
    const std::vector<std::byte>& code() const { return code_; }
    /// Best variant first; empty if none compiles.
    const std::vector<Variant>& variants(const codegen::KernelProblem&) const;
    /// Sets symbols and schedules of the fragment's kernels to the best variants, and its code.
    /// Refuses if some kernel has none.
    OrRefusal<bool> choose(Fragment&) const;
    /// The shared object with just the kernels of the program.
    std::vector<std::byte> code_for(const program::Program&) const;

private:
    struct Entry {
        codegen::KernelProblem problem;
        std::vector<Variant> variants;
        std::string failure;  ///< Why there are none.
    };
    const Entry& entry_of(const codegen::KernelProblem&) const;
    static std::string name_of(const codegen::KernelProblem&);

    double measured(const codegen::KernelProblem&, const Variant&, double best);

    const Options& options_;
    Times& times_;
    std::map<std::string, Entry> entries_;
    std::vector<std::byte> code_;
};

}  // namespace ollie::optimize
