#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    const Tensor* y = context.input(1);
    require_same_type(context, {x, y});
    const std::string& name = context.node.operator_name;
    return elementwise(context, {x, y}, ElementType::Bool, [&](const std::vector<Scalar>& v) {
        auto compare = [&](Function function, Scalar a, Scalar b) {
            return context.arena.function(function, {a, b});
        };
        if (name == "Less") return compare(Function::Less, v[0], v[1]);
        if (name == "Greater") return compare(Function::Less, v[1], v[0]);
        if (name == "LessOrEqual") return compare(Function::LessEqual, v[0], v[1]);
        if (name == "GreaterOrEqual") return compare(Function::LessEqual, v[1], v[0]);
        return compare(Function::Equal, v[0], v[1]);
    });
}

}  // namespace

extern const Operator comparison{"Equal", {"Less", "LessOrEqual", "Greater", "GreaterOrEqual"},
                                 7,       "element-wise with broadcasting; gives bool",
                                 {},      express};

}  // namespace ollie::operators::entries
