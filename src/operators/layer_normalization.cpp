#include <numeric>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar inverse_root(Scalar x) {
    Arena& arena = *x->arena;
    return arena.function(Function::Reciprocal, {arena.function(Function::Sqrt, {x})});
}

/// value * scale + bias, both broadcast to the result, the second optional.
Scalar affine(const Context& context, Scalar value, const std::vector<Axis>& axes) {
    for (size_t i = 1; i <= 2 && context.has_input(i); ++i) {
        broadcast_shape(context, {context.input(0), context.input(i)});
        Scalar operand = broadcast_read(context.input(i), axes);
        value = i == 1 ? value * operand : value + operand;
    }
    return value;
}

/// A statistic as an output: the normalized axes stay with extent 1.
const Tensor* statistic(const Context& context, size_t output, const Tensor* x,
                        const std::vector<size_t>& reduced, const Tensor* kept, double epsilon) {
    Reduction over = reduction(context, x, reduced, true);
    Scalar value = read(kept, indices_of(over.kept));
    if (output == 2) value = inverse_root(value + epsilon);
    return context.define(output, x->type, over.result, value);
}

Results root_mean_square(const Context& context, const Tensor* x,
                         const std::vector<size_t>& reduced, double epsilon) {
    Reduction over = reduction(context, x, reduced, false);
    Scalar value = read(x, over.input);
    Scalar mean = sum(over.reduced, value * value) / context.arena.constant_scalar(over.count());
    const Tensor* square = context.define_part("square", x->type, over.kept, mean);
    Spread at = spread(context, x, reduced);
    Scalar body = read(x, at.all) * inverse_root(read(square, at.kept) + epsilon);
    return {context.define(0, x->type, at.axes, affine(context, body, at.axes))};
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 1);
    size_t first = normalized_axis(context, context.int_attribute("axis", -1), x->rank());
    std::vector<size_t> reduced(x->rank() - first);
    std::iota(reduced.begin(), reduced.end(), first);
    double epsilon = context.float_attribute("epsilon", 1e-5f);
    if (context.node.operator_name == "RMSNormalization")
        return root_mean_square(context, x, reduced, epsilon);
    Moments over = moments(context, x, reduced);
    Spread at = spread(context, x, reduced);
    Scalar body = (read(x, at.all) - read(over.mean, at.kept)) *
                  inverse_root(read(over.variance, at.kept) + epsilon);
    Results results{context.define(0, x->type, at.axes, affine(context, body, at.axes))};
    if (context.node.outputs.size() > 1)
        results.push_back(statistic(context, 1, x, reduced, over.mean, epsilon));
    if (context.node.outputs.size() > 2)
        results.push_back(statistic(context, 2, x, reduced, over.variance, epsilon));
    return results;
}

}  // namespace

extern const Operator layer_normalization{
    "LayerNormalization",
    {"RMSNormalization"},
    17,
    "(x - mean) / sqrt(var + epsilon) * scale + bias over the axes from `axis` on; RMS: x over the "
    "root of the mean square",
    {{"axis", "first normalized axis; default -1"},
     {"epsilon", "default 1e-5"},
     {"stash_type", "ignored: the meaning has no rounding"}},
    express};

}  // namespace ollie::operators::entries
