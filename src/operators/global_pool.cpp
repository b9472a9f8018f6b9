#include <algorithm>

#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    require_rank(context, x, 2);
    Shape extents = spatial_shape(x);
    Shape shape = x->shape();
    std::fill(shape.begin() + 2, shape.end(), 1);
    std::vector<Axis> result = axes_of(arena, shape);
    std::vector<Axis> reduced = axes_of(arena, extents, spatial_names(extents.size()));
    std::vector<Index> at{index_of(result[0].iterator), index_of(result[1].iterator)};
    for (const Axis& axis : reduced) at.push_back(index_of(axis.iterator));
    Scalar value = read(x, at);
    Scalar body;
    if (context.node.operator_name == "GlobalMaxPool")
        body = arena.reduce(Monoid::Max, reduced, value);
    else
        body = sum(reduced, value) /
               arena.constant_scalar(static_cast<double>(element_count(extents)));
    return {context.define(0, x->type, result, body)};
}

}  // namespace

extern const Operator global_pool{"GlobalAveragePool",
                                  {"GlobalMaxPool"},
                                  1,
                                  "mean or maximum over all spatial axes, which stay with extent 1",
                                  {},
                                  express};

}  // namespace ollie::operators::entries
