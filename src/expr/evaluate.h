#pragma once

#include <map>
#include <string>

#include "expr/node.h"

/// The meaning, executed: slow and obvious. The reference against which everything is compared.
namespace ollie::expr {

/// Inputs (and weights without values) by name.
using Bindings = std::map<std::string, const HostArray*>;

/// All outputs, in float64 whatever the definitions' float types say; integers and bool exactly.
/// Weights' own values are used unless bound. Errors: UserError for a missing or misshapen binding.
std::vector<HostArray> evaluate(const Expr&, const Bindings&);
/// In float32 (each operation rounded), operands and reductions in the order written.
std::vector<HostArray> evaluate_float32(const Expr&, const Bindings&);
/// One element of a tensor on demand, in float64, memoized inside the object: for sampled checks.
class PointEvaluator {
public:
    PointEvaluator(const Expr&, const Bindings&);
    ~PointEvaluator();
    double at(const Tensor*, const std::vector<int64_t>& point);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace ollie::expr
