#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    const Tensor* condition = context.input(0);
    const Tensor* x = context.input(1);
    const Tensor* y = context.input(2);
    if (condition->type != ElementType::Bool) context.fail("the condition is not of type bool");
    require_same_type(context, {x, y});
    return elementwise(context, {condition, x, y}, x->type, [&](const std::vector<Scalar>& v) {
        return context.arena.function(Function::Where, v);
    });
}

}  // namespace

extern const Operator where{
    "Where", {}, 9, "the second operand where the first is true, else the third", {}, express};

}  // namespace ollie::operators::entries
