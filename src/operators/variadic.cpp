#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    std::vector<const Tensor*> operands = present_inputs(context);
    require_same_type(context, operands);
    const std::string& name = context.node.operator_name;
    auto combine = [&](Scalar x, Scalar y) {
        if (name == "Max") return max(x, y);
        if (name == "Min") return min(x, y);
        return x + y;
    };
    return elementwise(context, operands, operands[0]->type, [&](const std::vector<Scalar>& v) {
        Scalar result = v[0];
        for (size_t i = 1; i < v.size(); ++i) result = combine(result, v[i]);
        if (name != "Mean") return result;
        return result / context.arena.constant_scalar(static_cast<double>(v.size()));
    });
}

}  // namespace

extern const Operator variadic{"Max", {"Min", "Sum", "Mean"},
                               6,     "element-wise over one or more operands, with broadcasting",
                               {},    express};

}  // namespace ollie::operators::entries
