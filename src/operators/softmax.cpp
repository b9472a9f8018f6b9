#include <numeric>

#include "expr/build.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// From opset 13 the one axis; before, all axes from it on, as if flattened to a matrix.
std::vector<size_t> softmax_axes(const Context& context, const Tensor* x) {
    bool flattens = context.opset < 13;
    int64_t axis = context.int_attribute("axis", flattens ? 1 : -1);
    if (flattens && axis == static_cast<int64_t>(x->rank())) return {};
    size_t first = normalized_axis(context, axis, x->rank());
    if (!flattens) return {first};
    std::vector<size_t> axes(x->rank() - first);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    std::vector<size_t> axes = softmax_axes(context, x);
    Reduction over = reduction(context, x, axes, false);
    const Tensor* maximum = context.define_part(
        "max", x->type, over.kept, arena.reduce(Monoid::Max, over.reduced, read(x, over.input)));

    over = reduction(context, x, axes, false);
    Scalar shifted = read(x, over.input) - read(maximum, indices_of(over.kept));
    const Tensor* total = context.define_part(
        "sum", x->type, over.kept, sum(over.reduced, arena.function(Function::Exp, {shifted})));

    Spread at = spread(context, x, axes);
    shifted = read(x, at.all) - read(maximum, at.kept);
    Scalar divisor = read(total, at.kept);
    Scalar body = context.node.operator_name == "LogSoftmax"
                      ? shifted - arena.function(Function::Log, {divisor})
                      : arena.function(Function::Exp, {shifted}) / divisor;
    return {context.define(0, x->type, at.axes, body)};
}

}  // namespace

extern const Operator softmax{
    "Softmax",
    {"LogSoftmax"},
    1,
    "exp(x - max) / sum of exp(x - max), or its logarithm",
    {{"axis",
      "from opset 13 the axis, default -1; before, the first of those taken together, "
      "default 1"}},
    express};

}  // namespace ollie::operators::entries
