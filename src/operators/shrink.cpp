#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    double bias = context.float_attribute("bias", 0);
    double lambda = context.float_attribute("lambd", 0.5);
    return elementwise(context, [&](Scalar x) {
        auto where_less = [&](Scalar a, Scalar b, Scalar then, Scalar otherwise) {
            Scalar condition = arena.function(Function::Less, {a, b});
            return arena.function(Function::Where, {condition, then, otherwise});
        };
        Scalar inside =
            where_less(arena.constant_scalar(lambda), x, x + -bias, arena.constant_scalar(0));
        return where_less(x, arena.constant_scalar(-lambda), x + bias, inside);
    });
}

}  // namespace

extern const Operator shrink{"Shrink",
                             {},
                             9,
                             "x + bias below -lambd, x - bias above lambd, else 0",
                             {{"bias", "default 0"}, {"lambd", "default 0.5"}},
                             express};

}  // namespace ollie::operators::entries
