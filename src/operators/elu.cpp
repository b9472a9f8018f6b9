#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar negative_or(Scalar x, Scalar if_negative, Scalar otherwise) {
    Arena& arena = *x->arena;
    Scalar is_negative = arena.function(Function::Less, {x, arena.constant_scalar(0)});
    return arena.function(Function::Where, {is_negative, if_negative, otherwise});
}

Scalar exp_minus_one(Scalar x) { return x->arena->function(Function::Exp, {x}) + -1.0; }

Results express(const Context& context) {
    const std::string& name = context.node.operator_name;
    return elementwise(context, [&](Scalar x) {
        if (name == "Selu") {
            double alpha = context.float_attribute("alpha", 1.67326319217681884765625);
            double gamma = context.float_attribute("gamma", 1.05070102214813232421875);
            return negative_or(x, exp_minus_one(x) * alpha, x) * gamma;
        }
        double alpha = context.float_attribute("alpha", 1);
        Scalar inner = name == "Celu" ? x / x->arena->constant_scalar(alpha) : x;
        return negative_or(x, exp_minus_one(inner) * alpha, x);
    });
}

}  // namespace

extern const Operator elu{"Elu",
                          {"Selu", "Celu"},
                          6,
                          "x where positive, else alpha * (exp(x) - 1), scaled by gamma (Selu)",
                          {{"alpha", "default 1; Selu: 1.6732632"}, {"gamma", "Selu: 1.050701"}},
                          express};

}  // namespace ollie::operators::entries
