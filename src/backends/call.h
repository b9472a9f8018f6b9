#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "match/pattern.h"
#include "program/program.h"

/// What a backend offers: library calls, each one file in backends/X/calls/.
namespace ollie::backends {

/// A prepared call, ready to run many times without allocation. Constants are packed already.
class CallInstance {
public:
    virtual ~CallInstance() = default;
    /// Workspace that `run` needs, bytes (64-byte aligned).
    virtual int64_t scratch_bytes() const { return 0; }
    /// False if constants were packed when prepared, so that `run` does not look at theirs.
    virtual bool reads_constants() const { return true; }
    /// Pointers in the order of the step's arguments and results.
    virtual void run(std::span<void* const> arguments, std::span<void* const> results,
                     void* scratch) = 0;
    /// The library's own name of the implementation, e.g. "brgconv:avx512_core".
    virtual std::string implementation() const { return {}; }
};

/// One way to use a call for a definition: the order in which each operand and the result is to be
/// stored, and the parameters of the step.
struct CallChoice {
    Attributes parameters;
    std::vector<Layout> argument_layouts;  ///< Per tensor in `arguments`.
    std::vector<const expr::Tensor*> arguments;
    Layout result_layout;
    /// True where NaN or infinity may come out otherwise than the meaning says.
    bool changes_nonfinite = false;
};

struct LibraryCall {
    std::string name;     ///< "onednn_convolution"
    std::string library;  ///< "oneDNN"
    std::string summary;  ///< One line for the documentation.
    /// The meaning as expressions with free parameters (match/pattern.h); several spellings (ranks)
    /// of one call are several patterns.
    std::vector<std::string> patterns;
    /// Constraints and layouts: the ways to use the call under this binding (may be none, with the
    /// reason). Deterministic order, best guess first.
    OrRefusal<std::vector<CallChoice>> (*choices)(const match::Binding&);
    /// Estimated seconds on a machine with the given peaks, before measurement.
    double (*estimate)(const match::Binding&, const CallChoice&, const match::Machine&);
    /// Builds the executable form. Constant arguments are given and may be packed; the others are
    /// null. Errors: InternalError if the library refuses.
    std::unique_ptr<CallInstance> (*prepare)(const program::Step&, const program::Program&);
};

}  // namespace ollie::backends
