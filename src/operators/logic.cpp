#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    const std::string& name = context.node.operator_name;
    std::vector<const Tensor*> operands = present_inputs(context);
    if (operands.size() != (name == "Not" ? 1 : 2)) context.fail("has the wrong number of inputs");
    for (const Tensor* operand : operands)
        if (operand->type != ElementType::Bool)
            context.fail("\"" + operand->name + "\" is not of type bool");
    return elementwise(context, operands, ElementType::Bool, [&](const std::vector<Scalar>& v) {
        Function function = name == "And"   ? Function::And
                            : name == "Or"  ? Function::Or
                            : name == "Xor" ? Function::Xor
                                            : Function::Not;
        return context.arena.function(function, v);
    });
}

}  // namespace

extern const Operator logic{
    "And", {"Or", "Xor", "Not"}, 1, "element-wise on bool, with broadcasting", {}, express};

}  // namespace ollie::operators::entries
