#include <limits>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar is_infinite(const Context& context, Scalar x) {
    Arena& arena = context.arena;
    auto equals = [&](double value) {
        return arena.function(Function::Equal, {x, arena.constant_scalar(value)});
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bool positive = context.int_attribute("detect_positive", 1) != 0;
    bool negative = context.int_attribute("detect_negative", 1) != 0;
    if (positive && negative)
        return arena.function(Function::Or, {equals(infinity), equals(-infinity)});
    if (!positive && !negative) return arena.constant_scalar(0);
    return equals(positive ? infinity : -infinity);
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    return elementwise(context, {x}, ElementType::Bool, [&](const std::vector<Scalar>& v) {
        return context.node.operator_name == "IsNaN"
                   ? context.arena.function(Function::IsNan, {v[0]})
                   : is_infinite(context, v[0]);
    });
}

}  // namespace

extern const Operator non_finite{
    "IsNaN",
    {"IsInf"},
    9,
    "element-wise; gives bool",
    {{"detect_positive", "IsInf: default 1"}, {"detect_negative", "IsInf: default 1"}},
    express};

}  // namespace ollie::operators::entries
