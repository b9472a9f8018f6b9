#pragma once

#include "operators/meaning/domain.h"

/// Reductions over some axes of a tensor.
namespace ollie::operators {

/// How the axes of a tensor fall into kept and reduced ones.
struct Reduction {
    std::vector<expr::Axis> kept;  ///< Without the reduced ones.
    std::vector<expr::Axis> reduced;
    std::vector<expr::Axis> result;  ///< Like kept, or with extent 1 in place of each reduced axis.
    std::vector<expr::Index> input;  ///< The element under the reduction.
    std::vector<expr::Axis> all;     ///< Kept and reduced in the tensor's order.

    /// How many elements are reduced to one.
    double count() const;
};

Reduction reduction(const Context&, const expr::Tensor*, const std::vector<size_t>& axes,
                    bool keeps_axes);
/// The axes from attribute or input 1, all of them by default.
std::vector<size_t> reduced_axes(const Context&, const expr::Tensor*);

/// Mean and variance over some axes, as parts `mean` and `var` of the node over the kept axes. The
/// variance is the mean of (x - mean)^2, never a difference of means.
struct Moments {
    const expr::Tensor* mean;
    const expr::Tensor* variance;
};
Moments moments(const Context&, const expr::Tensor*, const std::vector<size_t>& axes);

/// Fresh axes of the whole tensor, with the indices of its kept part.
struct Spread {
    std::vector<expr::Axis> axes;
    std::vector<expr::Index> all;
    std::vector<expr::Index> kept;
};
Spread spread(const Context&, const expr::Tensor*, const std::vector<size_t>& reduced);

}  // namespace ollie::operators
