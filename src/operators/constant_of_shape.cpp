#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    std::vector<Axis> axes = axes_of(context.arena, context.constant_ints(0));
    for (const Axis& axis : axes)
        if (axis.extent() < 0) context.fail("the shape has a negative extent");
    auto value = context.node.tensors.find("value");
    if (value == context.node.tensors.end())
        return {context.define(0, ElementType::F32, axes, context.arena.constant_scalar(0))};
    if (value->second->size() != 1) context.fail("attribute value must have one element");
    return {context.define(0, value->second->type(), axes,
                           context.arena.constant_scalar(value->second->at(0)))};
}

}  // namespace

extern const Operator constant_of_shape{"ConstantOfShape",
                                        {},
                                        9,
                                        "one value everywhere, under a constant shape",
                                        {{"value", "a tensor of one element; default 0"}},
                                        express};

}  // namespace ollie::operators::entries
