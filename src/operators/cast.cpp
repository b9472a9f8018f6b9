#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

ElementType target_of(const Context& context) {
    if (context.node.operator_name == "CastLike") return context.input(1)->type;
    auto type = numbered_type(context.int_attribute("to", 0));
    if (!type)
        context.unsupported(fmt::format("cast to element type {}", context.int_attribute("to", 0)));
    return *type;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    ElementType target = target_of(context);
    if (target == x->type) return {x};
    return elementwise(context, {x}, target, [&](const std::vector<Scalar>& v) {
        return context.arena.cast(target, v[0]);
    });
}

}  // namespace

extern const Operator cast{
    "Cast",
    {"CastLike"},
    6,
    "conversion: floats round, integers wrap, float to integer truncates, bool is not 0",
    {{"to", "element type"}, {"saturate", "ignored: concerns types that are not supported"}},
    express};

}  // namespace ollie::operators::entries
