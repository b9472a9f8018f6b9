#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    const std::string& name = context.node.operator_name;
    Arena& arena = context.arena;
    return elementwise(context, [&](Scalar x) {
        auto apply = [&](Function function, Scalar y) { return arena.function(function, {y}); };
        if (name == "Softsign") return x / (apply(Function::Abs, x) + 1.0);
        if (name == "Mish") return x * apply(Function::Tanh, apply(Function::Softplus, x));
        return x * apply(Function::Sigmoid, x * context.float_attribute("alpha", 1));
    });
}

}  // namespace

extern const Operator softsign{
    "Softsign",
    {"Mish", "Swish"},
    1,
    "x / (1 + |x|); Mish: x * tanh(softplus(x)); Swish: x * sigmoid(alpha * x)",
    {{"alpha", "Swish: default 1"}},
    express};

}  // namespace ollie::operators::entries
