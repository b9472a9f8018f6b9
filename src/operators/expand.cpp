#include <algorithm>

#include <fmt/format.h>

#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    Shape wanted = context.constant_ints(1);
    Shape shape = x->shape();
    while (shape.size() < wanted.size()) shape.insert(shape.begin(), 1);
    for (size_t i = 0; i < wanted.size(); ++i) {
        int64_t& extent = shape[shape.size() - wanted.size() + i];
        if (wanted[i] == extent || wanted[i] == 1) continue;
        if (extent != 1)
            context.fail(fmt::format("shape {} cannot be expanded to {}", to_text(x->shape()),
                                     to_text(wanted)));
        extent = wanted[i];
    }
    if (shape == x->shape()) return {x};
    std::vector<Axis> axes = axes_of(context.arena, shape);
    return {context.define(0, x->type, axes, broadcast_read(x, axes))};
}

}  // namespace

extern const Operator expand{
    "Expand", {},     8, "broadcasts to a constant shape, or that of the input where greater",
    {},       express};

}  // namespace ollie::operators::entries
