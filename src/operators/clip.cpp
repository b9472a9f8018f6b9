#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// The bound from opset 11's input (a scalar) or from the attribute before; null where there is
/// none.
Scalar bound(const Context& context, size_t input, const std::string& attribute) {
    if (context.opset < 11) {
        auto value = find_float(context.node.attributes, attribute);
        return value ? context.arena.constant_scalar(*value) : Scalar();
    }
    if (!context.has_input(input)) return Scalar();
    const Tensor* tensor = context.input(input);
    require_same_type(context, {context.input(0), tensor});
    if (element_count(tensor->shape()) != 1) context.fail("a bound is not a scalar");
    if (auto value = known_scalar(tensor)) return context.arena.constant_scalar(*value);
    return read(tensor, std::vector<Index>(tensor->rank(), context.arena.constant(0)));
}

Results express(const Context& context) {
    return elementwise(context, [&](Scalar x) {
        if (Scalar low = bound(context, 1, "min")) x = max(x, low);
        if (Scalar high = bound(context, 2, "max")) x = min(x, high);
        return x;
    });
}

}  // namespace

extern const Operator clip{
    "Clip",
    {},
    6,
    "min(max(x, low), high); bounds from attributes or, from opset 11, inputs",
    {{"min", "before opset 11; default none"}, {"max", "before opset 11; default none"}},
    express};

}  // namespace ollie::operators::entries
