#include <cmath>

#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// Indices of the statistics: the channel, or before opset 9 on request every axis but the batch.
std::vector<Index> statistic_indices(const Context& context, const std::vector<Axis>& axes) {
    std::vector<Index> all = indices_of(axes);
    if (axes.size() < 2) return {context.arena.constant(0)};
    if (context.opset < 9 && context.int_attribute("spatial", 1) == 0)
        return {all.begin() + 1, all.end()};
    return {all[1]};
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 1);
    if (context.node.outputs.size() > 1 || context.int_attribute("training_mode", 0) != 0)
        context.unsupported("training mode, which has more than one output");
    std::vector<Axis> axes = axes_of(context.arena, x->shape());
    std::vector<Index> at = statistic_indices(context, axes);
    Shape expected;
    for (size_t i = 0; i < at.size(); ++i) expected.push_back(axes.size() < 2 ? 1 : axes[1 + i].hi);
    auto statistic = [&](size_t input) {
        const Tensor* tensor = context.input(input);
        if (tensor->shape() != expected)
            context.fail(fmt::format("input {} has shape {}, expected {}", input,
                                     to_text(tensor->shape()), to_text(expected)));
        return read(tensor, at);
    };
    Scalar scale = statistic(1);
    Scalar bias = statistic(2);
    Scalar mean = statistic(3);
    Scalar variance = statistic(4);
    Scalar deviation = context.arena.function(
        Function::Sqrt, {variance + context.float_attribute("epsilon", 1e-5f)});
    Scalar body = (read(x, indices_of(axes)) - mean) * (scale / deviation) + bias;
    return {context.define(0, x->type, axes, body)};
}

}  // namespace

extern const Operator batch_normalization{
    "BatchNormalization",
    {},
    7,
    "(x - mean[c]) * (scale[c] / sqrt(var[c] + epsilon)) + bias[c]; inference only",
    {{"epsilon", "default 1e-5"},
     {"spatial", "opset 7 and 8: 0 has statistics per element; default 1"},
     {"training_mode", "must be 0"}},
    express};

}  // namespace ollie::operators::entries
