#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// The position in the flat input, or behind it where the tap is outside.
Scalar flat_position(const Context& context, const Tensor* x, const SlidingReads& pool) {
    Shape shape = x->shape();
    std::vector<int64_t> strides = dense_strides(shape);
    if (context.int_attribute("storage_order", 0) == 1) {
        int64_t stride = 1;
        for (size_t i = 2; i < shape.size(); ++i) {
            strides[i] = stride;
            stride *= shape[i];
        }
    }
    Index flat = context.arena.constant(0);
    Predicate inside = context.arena.truth(true);
    for (size_t i = 0; i < shape.size(); ++i) {
        flat = flat + pool.input[i] * strides[i];
        inside = inside && in_range(pool.input[i], 0, shape[i]);
    }
    double behind = static_cast<double>(element_count(shape));
    return context.arena.select(simplify(inside, pool.ranges), context.arena.number(flat),
                                context.arena.constant_scalar(behind));
}

/// The least position at which the window has its maximum.
const Tensor* positions_of(const Context& context, const Tensor* x, const Tensor* maximum) {
    Arena& arena = context.arena;
    SlidingReads pool = sliding_reads(context, x);
    Scalar is_maximum =
        arena.function(Function::Equal, {read(x, pool.input, pool.ranges, lowest(x->type)),
                                         read(maximum, indices_of(pool.result))});
    Scalar behind = arena.constant_scalar(static_cast<double>(element_count(x->shape())));
    Scalar position =
        arena.function(Function::Where, {is_maximum, flat_position(context, x, pool), behind});
    return context.define(1, ElementType::I64, pool.result,
                          arena.reduce(Monoid::Min, pool.taps, position));
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 3);
    SlidingReads pool = sliding_reads(context, x);
    Scalar value = read(x, pool.input, pool.ranges, lowest(x->type));
    const Tensor* maximum = context.define(0, x->type, pool.result,
                                           context.arena.reduce(Monoid::Max, pool.taps, value));
    if (context.node.outputs.size() < 2) return {maximum};
    return {maximum, positions_of(context, x, maximum)};
}

}  // namespace

extern const Operator max_pool{
    "MaxPool",
    {},
    1,
    "greatest element of each window; reads outside are -inf; also their positions",
    window_attributes() +
        std::vector<Attribute>{{"kernel_shape", "extents of the window"},
                               {"ceil_mode", "1 keeps a last partial window; default 0"},
                               {"storage_order",
                                "of the positions: 0 row-major (default), 1 "
                                "column-major"}},
    express};

}  // namespace ollie::operators::entries
