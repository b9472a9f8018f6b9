#include <numeric>

#include "expr/build.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar normalized(const Context& context, const Tensor* x, const std::vector<size_t>& reduced,
                  const Spread& at, double epsilon) {
    Moments over = moments(context, x, reduced);
    Scalar deviation =
        context.arena.function(Function::Sqrt, {read(over.variance, at.kept) + epsilon});
    return (read(x, at.all) - read(over.mean, at.kept)) / deviation;
}

Results mean_variance(const Context& context) {
    const Tensor* x = context.input(0);
    auto axes = context.ints_attribute("axes").value_or(std::vector<int64_t>{0, 2, 3});
    std::vector<size_t> reduced = normalized_axes(context, axes, x->rank());
    Spread at = spread(context, x, reduced);
    Moments over = moments(context, x, reduced);
    Scalar deviation = context.arena.function(Function::Sqrt, {read(over.variance, at.kept)});
    Scalar body = (read(x, at.all) - read(over.mean, at.kept)) / (deviation + 1e-9);
    return {context.define(0, x->type, at.axes, body)};
}

Results express(const Context& context) {
    if (context.node.operator_name == "MeanVarianceNormalization") return mean_variance(context);
    const Tensor* x = context.input(0);
    require_rank(context, x, 3);
    for (size_t i = 1; i <= 2; ++i)
        if (context.input(i)->shape() != Shape{x->shape()[1]})
            context.fail("scale and bias must have one element per channel");
    std::vector<size_t> reduced(x->rank() - 2);
    std::iota(reduced.begin(), reduced.end(), 2);
    Spread at = spread(context, x, reduced);
    Scalar value = normalized(context, x, reduced, at, context.float_attribute("epsilon", 1e-5f));
    std::vector<Index> channel{at.all[1]};
    Scalar body = value * read(context.input(1), channel) + read(context.input(2), channel);
    return {context.define(0, x->type, at.axes, body)};
}

}  // namespace

extern const Operator instance_normalization{
    "InstanceNormalization",
    {"MeanVarianceNormalization"},
    6,
    "(x - mean) / sqrt(var + epsilon), scaled and shifted by channel; statistics over the spatial "
    "axes",
    {{"epsilon", "InstanceNormalization: default 1e-5"},
     {"axes", "MeanVarianceNormalization: default 0, 2, 3"}},
    express};

}  // namespace ollie::operators::entries
