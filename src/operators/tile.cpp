#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    std::vector<int64_t> repeats = context.constant_ints(1);
    if (repeats.size() != x->rank())
        context.fail(fmt::format("{} repeats for rank {}", repeats.size(), x->rank()));
    Shape shape = x->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
        if (repeats[i] < 0) context.fail("repeats are negative");
        shape[i] *= repeats[i];
    }
    if (shape == x->shape()) return {x};
    std::vector<Axis> axes = axes_of(context.arena, shape);
    std::vector<Index> at = indices_of(axes);
    for (size_t i = 0; i < at.size(); ++i)
        if (repeats[i] > 1 && shape[i] > 0)
            at[i] = simplify(mod(at[i], x->axes[i].extent()), Ranges(axes));
    return {context.define(0, x->type, axes, read(x, at))};
}

}  // namespace

extern const Operator tile{"Tile", {},     6, "the tensor again and again, by constant repeats",
                           {},     express};

}  // namespace ollie::operators::entries
