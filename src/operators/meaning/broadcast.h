#pragma once

#include <functional>

#include "operators/meaning/domain.h"

/// Element-wise meanings with ONNX's multidirectional broadcasting.
namespace ollie::operators {

/// The common shape. Errors: UserError naming both tensors where extents do not agree.
Shape broadcast_shape(const Context&, const std::vector<const expr::Tensor*>&);
/// The operand's element for the point of the result: trailing axes are aligned, an axis of extent
/// 1 is read at 0. A weight of one known element is that constant.
expr::Scalar broadcast_read(const expr::Tensor*, const std::vector<expr::Axis>& result);

using Elementwise = std::function<expr::Scalar(const std::vector<expr::Scalar>&)>;
/// Output 0 over the broadcast of the given operands.
Results elementwise(const Context&, const std::vector<const expr::Tensor*>& operands,
                    ElementType result, const Elementwise& body);
/// Of input 0 alone, which gives the type.
Results elementwise(const Context&, const std::function<expr::Scalar(expr::Scalar)>& body);
/// All inputs of the node that are there.
std::vector<const expr::Tensor*> present_inputs(const Context&);

}  // namespace ollie::operators
