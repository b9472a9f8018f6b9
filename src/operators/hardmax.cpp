#include <numeric>

#include "expr/build.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// From opset 13 one axis; before, all axes from it on, as if flattened.
std::vector<size_t> reduced_from(const Context& context, const Tensor* x) {
    bool flattens = context.opset < 13;
    size_t first =
        normalized_axis(context, context.int_attribute("axis", flattens ? 1 : -1), x->rank());
    std::vector<size_t> axes(flattens ? x->rank() - first : 1);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

/// Row-major position among the reduced axes.
Index flat_position(const Context& context, const std::vector<Axis>& all,
                    const std::vector<size_t>& axes) {
    Index flat = context.arena.constant(0);
    for (size_t axis : axes) flat = flat * all[axis].extent() + index_of(all[axis].iterator);
    return flat;
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    std::vector<size_t> axes = reduced_from(context, x);
    Reduction over = reduction(context, x, axes, false);
    const Tensor* maximum = context.define_part(
        "max", x->type, over.kept, arena.reduce(Monoid::Max, over.reduced, read(x, over.input)));

    over = reduction(context, x, axes, false);
    Scalar is_met = arena.function(Function::Equal,
                                   {read(x, over.input), read(maximum, indices_of(over.kept))});
    Scalar here = arena.number(flat_position(context, over.all, axes));
    Scalar first =
        arena.function(Function::Where, {is_met, here, arena.constant_scalar(over.count())});
    const Tensor* position = context.define_part("position", ElementType::I64, over.kept,
                                                 arena.reduce(Monoid::Min, over.reduced, first));

    Spread at = spread(context, x, axes);
    Scalar own = arena.number(flat_position(context, at.axes, axes));
    Scalar is_first = arena.function(Function::Equal, {own, read(position, at.kept)});
    Scalar body = arena.function(Function::Where,
                                 {is_first, arena.constant_scalar(1), arena.constant_scalar(0)});
    return {context.define(0, x->type, at.axes, body)};
}

}  // namespace

extern const Operator hardmax{"Hardmax",
                              {},
                              1,
                              "1 at the first greatest element along the axis, else 0",
                              {{"axis", "as of Softmax"}},
                              express};

}  // namespace ollie::operators::entries
