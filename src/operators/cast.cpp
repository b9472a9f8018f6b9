#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// Element types by their number in the ONNX schema.
std::optional<ElementType> type_of(int64_t number) {
    switch (number) {
        case 1:
            return ElementType::F32;
        case 2:
            return ElementType::U8;
        case 3:
            return ElementType::I8;
        case 5:
            return ElementType::I16;
        case 6:
            return ElementType::I32;
        case 7:
            return ElementType::I64;
        case 9:
            return ElementType::Bool;
        case 11:
            return ElementType::F64;
        case 12:
            return ElementType::U32;
        case 13:
            return ElementType::U64;
        case 4:
            return ElementType::U16;
        default:
            return std::nullopt;
    }
}

ElementType target_of(const Context& context) {
    if (context.node.operator_name == "CastLike") return context.input(1)->type;
    auto type = type_of(context.int_attribute("to", 0));
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
