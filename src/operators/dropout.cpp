#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// Whether the node might drop something: training with a ratio that is not known to be 0.
bool drops(const Context& context) {
    if (!context.has_input(2)) return false;
    if (known_scalar(context.input(2)) == 0.0) return false;
    return !context.has_input(1) || known_scalar(context.input(1)) != 0.0;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    if (drops(context)) context.unsupported("training mode");
    if (context.node.outputs.size() < 2) return {x};
    // Before opset 10 the mask has the type of the data.
    ElementType type = context.opset < 10 ? x->type : ElementType::Bool;
    std::vector<Axis> axes = axes_of(context.arena, x->shape());
    return {x, context.define(1, type, axes, context.arena.constant_scalar(1))};
}

}  // namespace

extern const Operator dropout{"Dropout",
                              {},
                              7,
                              "its input; inference only; the mask is all true",
                              {{"ratio", "ignored"}, {"seed", "ignored"}},
                              express};

}  // namespace ollie::operators::entries
