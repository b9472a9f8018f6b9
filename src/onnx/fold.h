#pragma once

#include <memory>
#include <vector>

#include "expr/node.h"

namespace ollie::onnx {

/// Tells which values of a graph are shape arithmetic, and computes them.
///
/// A value is fixed if it depends on constants only. Fixed integers and booleans are computed when
/// they are small, by way of floats where the model goes that way; fixed floats as such are not:
/// what weights become is decided by the stages that follow.
class Fold {
public:
    explicit Fold(std::shared_ptr<expr::Arena> arena) : arena_(std::move(arena)) {}

    /// What has been found out about one value.
    struct Facts {
        bool is_fixed = false;
        bool has_float = false;  ///< Computed from floats.
        int64_t elements = 0;    ///< That have to be computed for it, all told.
    };

    static Facts facts_of_constant(const HostArray&);
    /// Of the result of a node with these inputs.
    static Facts facts_of_result(const expr::Tensor* result, const std::vector<Facts>& inputs);

    /// The value of the tensor, null if it is not to be folded.
    std::shared_ptr<const HostArray> try_fold(const expr::Tensor*, const Facts&) const;

private:
    std::shared_ptr<expr::Arena> arena_;
};

}  // namespace ollie::onnx
