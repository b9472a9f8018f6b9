#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

std::vector<int64_t> positions_of(const Context& context, int64_t extent) {
    std::vector<int64_t> positions = context.constant_ints(1);
    for (int64_t& position : positions) {
        if (position < -extent || position >= extent)
            context.fail(fmt::format("index {} is outside [{}, {})", position, -extent, extent));
        if (position < 0) position += extent;
    }
    return positions;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 1);
    size_t axis = normalized_axis(context, context.int_attribute("axis", 0), x->rank());
    std::vector<int64_t> positions = positions_of(context, x->shape()[axis]);
    Shape inserted = context.input(1)->shape();
    Shape shape = x->shape();
    auto place = static_cast<std::ptrdiff_t>(axis);
    shape.erase(shape.begin() + place);
    shape.insert(shape.begin() + place, inserted.begin(), inserted.end());

    std::vector<Axis> axes = axes_of(context.arena, shape);
    Index flat = context.arena.constant(0);
    for (size_t i = 0; i < inserted.size(); ++i)
        flat = flat * inserted[i] + index_of(axes[axis + i].iterator);
    std::vector<Index> at;
    for (size_t i = 0; i < axis; ++i) at.push_back(index_of(axes[i].iterator));
    at.push_back(positions.empty() ? context.arena.constant(0) : lookup(positions, flat));
    for (size_t i = axis + inserted.size(); i < axes.size(); ++i)
        at.push_back(index_of(axes[i].iterator));
    return {context.define(0, x->type, axes, read(x, at))};
}

}  // namespace

extern const Operator gather{
    "Gather", {}, 1, "slices at constant positions along an axis", {{"axis", "default 0"}},
    express};

}  // namespace ollie::operators::entries
