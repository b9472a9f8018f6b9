#include "operators/meaning/broadcast.h"

#include <algorithm>

#include <fmt/format.h>

#include "expr/build.h"

namespace ollie::operators {

using namespace expr;

Shape broadcast_shape(const Context& context, const std::vector<const Tensor*>& tensors) {
    size_t rank = 0;
    for (const Tensor* tensor : tensors) rank = std::max(rank, tensor->rank());
    Shape result(rank, 1);
    for (const Tensor* tensor : tensors) {
        Shape shape = tensor->shape();
        for (size_t i = 0; i < shape.size(); ++i) {
            int64_t& extent = result[rank - shape.size() + i];
            if (shape[i] == extent || shape[i] == 1) continue;
            if (extent != 1)
                context.fail(fmt::format("shapes {} (\"{}\") and {} cannot be broadcast",
                                         to_text(shape), tensor->name, to_text(result)));
            extent = shape[i];
        }
    }
    return result;
}

Scalar broadcast_read(const Tensor* tensor, const std::vector<Axis>& result) {
    Arena& arena = *tensor->arena;
    if (auto value = known_scalar(tensor)) return arena.constant_scalar(*value);
    std::vector<Index> indices;
    size_t skipped = result.size() - tensor->rank();
    for (size_t i = 0; i < tensor->rank(); ++i) {
        const Axis& axis = result[skipped + i];
        bool is_repeated = tensor->axes[i].extent() != axis.extent();
        indices.push_back(is_repeated ? arena.constant(0) : index_of(axis.iterator));
    }
    return read(tensor, indices);
}

Results elementwise(const Context& context, const std::vector<const Tensor*>& operands,
                    ElementType result, const Elementwise& body) {
    std::vector<Axis> axes = axes_of(context.arena, broadcast_shape(context, operands));
    std::vector<Scalar> values;
    for (const Tensor* operand : operands) values.push_back(broadcast_read(operand, axes));
    return {context.define(0, result, axes, body(values))};
}

Results elementwise(const Context& context, const std::function<Scalar(Scalar)>& body) {
    const Tensor* x = context.input(0);
    return elementwise(context, {x}, x->type, [&](const auto& values) { return body(values[0]); });
}

std::vector<const Tensor*> present_inputs(const Context& context) {
    std::vector<const Tensor*> result;
    for (const Tensor* tensor : context.inputs)
        if (tensor != nullptr) result.push_back(tensor);
    if (result.empty()) context.fail("has no inputs");
    return result;
}

}  // namespace ollie::operators
