#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar clipped_line(Scalar x, Scalar slope, double offset) {
    Arena& arena = *x->arena;
    return max(min(x * slope + offset, arena.constant_scalar(1)), arena.constant_scalar(0));
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    bool is_swish = context.node.operator_name == "HardSwish";
    return elementwise(context, [&](Scalar x) {
        if (is_swish)
            return x *
                   clipped_line(x, arena.function(Function::Reciprocal, {arena.constant_scalar(6)}),
                                0.5);
        Scalar alpha = arena.constant_scalar(context.float_attribute("alpha", 0.2f));
        return clipped_line(x, alpha, context.float_attribute("beta", 0.5));
    });
}

}  // namespace

extern const Operator hard_sigmoid{
    "HardSigmoid",
    {"HardSwish"},
    6,
    "max(min(alpha * x + beta, 1), 0); HardSwish: x times that with 1/6 and 1/2",
    {{"alpha", "HardSigmoid: default 0.2"}, {"beta", "HardSigmoid: default 0.5"}},
    express};

}  // namespace ollie::operators::entries
