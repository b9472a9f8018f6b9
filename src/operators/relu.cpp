#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar leaky(Scalar x, Scalar slope) {
    Arena& arena = *x->arena;
    Scalar is_negative = arena.function(Function::Less, {x, arena.constant_scalar(0)});
    return arena.function(Function::Where, {is_negative, x * slope, x});
}

Scalar thresholded(Scalar x, double threshold) {
    Arena& arena = *x->arena;
    Scalar is_above = arena.function(Function::Less, {arena.constant_scalar(threshold), x});
    return arena.function(Function::Where, {is_above, x, arena.constant_scalar(0)});
}

Results parametric(const Context& context) {
    const Tensor* x = context.input(0);
    const Tensor* slope = context.input(1);
    require_same_type(context, {x, slope});
    if (broadcast_shape(context, {x, slope}) != x->shape())
        context.fail(fmt::format("the slope has shape {}, which does not broadcast to {}",
                                 to_text(slope->shape()), to_text(x->shape())));
    return elementwise(context, {x, slope}, x->type,
                       [](const std::vector<Scalar>& v) { return leaky(v[0], v[1]); });
}

Results express(const Context& context) {
    const std::string& name = context.node.operator_name;
    if (name == "PRelu") return parametric(context);
    return elementwise(context, [&](Scalar x) {
        if (name == "Relu") return relu(x);
        if (name == "ThresholdedRelu") return thresholded(x, context.float_attribute("alpha", 1));
        double alpha = context.float_attribute("alpha", 0.01f);
        return leaky(x, x->arena->constant_scalar(alpha));
    });
}

}  // namespace

extern const Operator relu{
    "Relu",
    {"LeakyRelu", "PRelu", "ThresholdedRelu"},
    7,
    "x where positive, else 0 (Relu), x * alpha (LeakyRelu), x * slope (PRelu)",
    {{"alpha", "LeakyRelu: default 0.01; ThresholdedRelu: the threshold, default 1"}},
    express};

}  // namespace ollie::operators::entries
