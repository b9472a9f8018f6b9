#include "expr/build.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    require_rank(context, x, 1);
    size_t axis = normalized_axis(context, context.int_attribute("axis", -1), x->rank());
    int64_t p = context.int_attribute("p", 2);
    if (p != 1 && p != 2) context.fail("attribute p must be 1 or 2");
    Reduction over = reduction(context, x, {axis}, false);
    Scalar value = read(x, over.input);
    Scalar term = p == 2 ? value * value : arena.function(Function::Abs, {value});
    Scalar norm = sum(over.reduced, term);
    if (p == 2) norm = arena.function(Function::Sqrt, {norm});
    const Tensor* length = context.define_part("norm", x->type, over.kept, norm);

    Spread at = spread(context, x, {axis});
    Scalar divisor = read(length, at.kept);
    Scalar zero = arena.constant_scalar(0);
    Scalar is_zero = arena.function(Function::Equal, {divisor, zero});
    Scalar body = arena.function(Function::Where, {is_zero, zero, read(x, at.all) / divisor});
    return {context.define(0, x->type, at.axes, body)};
}

}  // namespace

extern const Operator lp_normalization{"LpNormalization",
                                       {},
                                       1,
                                       "x over its norm along an axis, 0 where the norm is 0",
                                       {{"axis", "default -1"}, {"p", "1 or 2 (default)"}},
                                       express};

}  // namespace ollie::operators::entries
