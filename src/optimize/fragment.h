#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "codegen/codegen.h"
#include "program/program.h"
#include "search/search.h"

/// From a candidate of the search to steps over buffers.
namespace ollie::optimize {

/// A kernel of a fragment, before its schedule is chosen.
struct Kernel {
    size_t step;                     ///< In the program's steps.
    codegen::KernelProblem problem;  ///< Symbol and schedule are set when chosen.
};

/// A program for one subprogram: inputs and outputs are its boundary, in the layouts given there.
/// Constants have no values yet where `without_constants` was asked for.
struct Fragment {
    program::Program program;
    std::vector<Kernel> kernels;
    const search::Candidate* candidate = nullptr;
    double measured = -1;  ///< Seconds.
    bool refused = false;  ///< The candidate could not be proved equal: never selected.

    double cost() const;
    /// Null where the fragment does not read the tensor.
    const Layout* input_layout(const std::string& name) const;
    const Layout& output_layout(size_t output) const;
};

/// Values of the weights by name, evaluated and rounded once per name.
class Constants {
public:
    /// The values of a weight, or of a weight-only definition: evaluated in float64 and rounded.
    std::shared_ptr<const HostArray> values_of(const expr::Tensor*);

private:
    std::map<const expr::Tensor*, std::shared_ptr<const HostArray>> known_;
};

/// The fragment where boundary tensors that no call fixes are stored channels-last or row-major.
/// Refuses where two calls want one tensor in different layouts.
OrRefusal<Fragment> build_fragment(const search::Candidate&, bool channels_last, Constants&);

/// The group of definitions alone: what it reads from outside becomes an input of that name.
/// `visible` are its outputs. In an arena of its own.
expr::Expr isolate(const std::vector<const expr::Tensor*>& group,
                   const std::vector<const expr::Tensor*>& visible);

}  // namespace ollie::optimize
