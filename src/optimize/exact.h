#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "expr/evaluate.h"
#include "expr/node.h"
#include "optimize/region.h"
#include "tensor/host_array.h"

namespace ollie::optimize {

/// The original expressions in float64, fast: a kernel of float64 arithmetic for each definition.
/// Nothing is derived and nothing is fused, so that it shares no step with what it judges but the
/// translation of scalars, which the tests of kernels compare with the evaluator.
class ExactEvaluation {
public:
    /// `cache`: folder for object code, may be empty.
    ExactEvaluation(const expr::Expr& whole, const std::string& cache);
    ~ExactEvaluation();
    ExactEvaluation(ExactEvaluation&&) noexcept;

    /// All outputs; those of float type in float64. Inputs by name in their own types. Errors:
    /// UserError for a missing or misshapen input.
    std::vector<HostArray> run(const expr::Bindings& inputs);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The same on some regions of the outputs.
class ExactRegions {
public:
    ExactRegions(const expr::Expr& whole, std::vector<std::vector<Region>> regions,
                 const std::string& cache);

    const std::vector<std::vector<Region>>& regions() const { return regions_; }

    /// Called with the number of an output, its values on one of its regions, and the region.
    using Visit = std::function<void(size_t, const HostArray&, const Region&)>;
    void run(const expr::Bindings& inputs, const Visit& visit);

private:
    std::vector<std::vector<Region>> regions_;
    std::vector<ExactEvaluation> evaluations_;
};

}  // namespace ollie::optimize
