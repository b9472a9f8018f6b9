#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar power_of_magnitude(Scalar x, double p) {
    Arena& arena = *x->arena;
    if (p == 2) return x * x;
    Scalar magnitude = arena.function(Function::Abs, {x});
    return p == 1 ? magnitude
                  : arena.function(Function::Pow, {magnitude, arena.constant_scalar(p)});
}

Scalar root(Scalar x, double p) {
    Arena& arena = *x->arena;
    if (p == 1) return x;
    if (p == 2) return arena.function(Function::Sqrt, {x});
    return arena.function(Function::Pow, {x, arena.constant_scalar(1 / p)});
}

Results global(const Context& context, const Tensor* x, double p) {
    Shape shape = x->shape();
    Shape extents = spatial_shape(x);
    std::fill(shape.begin() + 2, shape.end(), 1);
    std::vector<Axis> result = axes_of(context.arena, shape);
    std::vector<Axis> reduced = axes_of(context.arena, extents, spatial_names(extents.size()));
    std::vector<Index> at = indices_of(reduced);
    at.insert(at.begin(), {index_of(result[0].iterator), index_of(result[1].iterator)});
    Scalar total = sum(reduced, power_of_magnitude(read(x, at), p));
    return {context.define(0, x->type, result, root(total, p))};
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 3);
    double p = static_cast<double>(context.int_attribute("p", 2));
    if (context.node.operator_name == "GlobalLpPool") return global(context, x, p);
    SlidingReads pool = sliding_reads(context, x);
    Scalar total = sum(pool.taps, power_of_magnitude(read(x, pool.input, pool.ranges, 0), p));
    return {context.define(0, x->type, pool.result, root(total, p))};
}

}  // namespace

extern const Operator lp_pool{
    "LpPool",
    {"GlobalLpPool"},
    2,
    "(sum of |x|^p)^(1/p) over each window, or over all spatial axes",
    window_attributes() + std::vector<Attribute>{{"kernel_shape", "extents of the window"},
                                                 {"ceil_mode", "default 0"},
                                                 {"p", "default 2"}},
    express};

}  // namespace ollie::operators::entries
