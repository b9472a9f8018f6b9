#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    require_rank(context, x, 2);
    int64_t size = context.int_attribute("size", 0);
    if (size < 1) context.fail("attribute size must be 1 or more");
    std::vector<Axis> axes = axes_of(arena, x->shape());
    Axis neighbour = axis_of(arena, "j", size);
    Ranges ranges(axes);
    ranges.add({neighbour});
    std::vector<Index> at = indices_of(axes);
    std::vector<Index> near = at;
    near[1] = at[1] + index_of(neighbour.iterator) - (size - 1) / 2;
    Scalar value = read(x, near, ranges, 0);
    double alpha = context.float_attribute("alpha", 1e-4f);
    Scalar mean =
        sum({neighbour}, value * value) / arena.constant_scalar(static_cast<double>(size));
    Scalar base = mean * alpha + context.float_attribute("bias", 1);
    Scalar beta = arena.constant_scalar(context.float_attribute("beta", 0.75));
    return {context.define(0, x->type, axes,
                           read(x, at) / arena.function(Function::Pow, {base, beta}))};
}

}  // namespace

extern const Operator lrn{"LRN",
                          {},
                          1,
                          "x / (bias + alpha * mean of the squares of near channels)^beta",
                          {{"size", "how many channels count; required"},
                           {"alpha", "default 1e-4"},
                           {"beta", "default 0.75"},
                           {"bias", "default 1"}},
                          express};

}  // namespace ollie::operators::entries
