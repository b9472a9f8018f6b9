#include <cmath>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar remainder(const Context& context, Scalar a, Scalar b) {
    bool truncates = context.int_attribute("fmod", 0) != 0;
    return context.arena.function(truncates ? Function::TruncMod : Function::FloorMod, {a, b});
}

Scalar quotient(ElementType type, Scalar a, Scalar b) {
    return is_float(type) ? a / b : a->arena->function(Function::TruncDiv, {a, b});
}

/// x^2 and x^3 are products; every other power is the function.
Scalar power(ElementType base, ElementType exponent, Scalar x, Scalar y) {
    Arena& arena = *x->arena;
    if (y->kind == ScalarKind::Constant && y->constant == 2) return x * x;
    if (y->kind == ScalarKind::Constant && y->constant == 3) return x * x * x;
    Scalar result = arena.function(Function::Pow, {x, y});
    bool is_rounded = is_integer(base) && is_float(exponent);
    return is_rounded ? arena.cast(base, result) : result;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    const Tensor* y = context.input(1);
    const std::string& name = context.node.operator_name;
    if (name != "Pow") require_same_type(context, {x, y});
    return elementwise(context, {x, y}, x->type, [&](const std::vector<Scalar>& v) {
        if (name == "Add") return v[0] + v[1];
        if (name == "Sub") return v[0] - v[1];
        if (name == "Mul") return v[0] * v[1];
        if (name == "Div") return quotient(x->type, v[0], v[1]);
        if (name == "Mod") return remainder(context, v[0], v[1]);
        return power(x->type, y->type, v[0], v[1]);
    });
}

}  // namespace

extern const Operator arithmetic{
    "Add",
    {"Sub", "Mul", "Div", "Mod", "Pow"},
    7,
    "element-wise with broadcasting; integers wrap, integer division rounds to zero",
    {{"fmod", "Mod: 1 takes the sign of the dividend, 0 (default) of the divisor"}},
    express};

}  // namespace ollie::operators::entries
