#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// The axes n, g of the statistics and the elements of a group.
struct Groups {
    std::vector<Axis> kept;
    std::vector<Axis> reduced;
    std::vector<Index> input;
};

Groups groups_of(const Context& context, const Tensor* x, int64_t groups) {
    Arena& arena = context.arena;
    Shape extents = spatial_shape(x);
    int64_t channels = x->shape()[1] / groups;
    Groups result;
    result.kept = {axis_of(arena, "n", x->shape()[0]), axis_of(arena, "g", groups)};
    result.reduced = axes_of(arena, extents, spatial_names(extents.size()));
    result.reduced.insert(result.reduced.begin(), axis_of(arena, "c", channels));
    result.input = indices_of(result.reduced);
    result.input[0] = index_of(result.kept[1].iterator) * channels + result.input[0];
    result.input.insert(result.input.begin(), index_of(result.kept[0].iterator));
    return result;
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    require_rank(context, x, 2);
    int64_t count = context.int_attribute("num_groups", 0);
    if (count < 1 || x->shape()[1] % count != 0)
        context.fail(fmt::format("{} channels cannot form {} groups", x->shape()[1], count));
    Groups over = groups_of(context, x, count);
    double size = 1;
    for (const Axis& axis : over.reduced) size *= static_cast<double>(axis.extent());
    Scalar total = sum(over.reduced, read(x, over.input));
    const Tensor* mean =
        context.define_part("mean", x->type, over.kept, total / arena.constant_scalar(size));
    over = groups_of(context, x, count);
    Scalar difference = read(x, over.input) - read(mean, indices_of(over.kept));
    total = sum(over.reduced, difference * difference);
    const Tensor* variance =
        context.define_part("var", x->type, over.kept, total / arena.constant_scalar(size));

    std::vector<Axis> axes = axes_of(arena, x->shape());
    std::vector<Index> at = indices_of(axes);
    std::vector<Index> group{at[0], div(at[1], x->shape()[1] / count)};
    std::vector<Index> parameter{context.opset < 21 ? group[1] : at[1]};
    Scalar epsilon = arena.constant_scalar(context.float_attribute("epsilon", 1e-5f));
    Scalar deviation = arena.function(Function::Sqrt, {read(variance, group) + epsilon});
    Scalar body =
        (read(x, at) - read(mean, group)) / deviation * read(context.input(1), parameter) +
        read(context.input(2), parameter);
    return {context.define(0, x->type, axes, body)};
}

}  // namespace

extern const Operator group_normalization{
    "GroupNormalization",
    {},
    18,
    "(x - mean) / sqrt(var + epsilon) * scale + bias, statistics over groups of channels",
    {{"num_groups", "required"}, {"epsilon", "default 1e-5"}},
    express};

}  // namespace ollie::operators::entries
