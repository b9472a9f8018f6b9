#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    double values[3];
    for (size_t i = 0; i < 3; ++i) {
        auto value = known_scalar(context.input(i));
        if (!value) context.unsupported(fmt::format("input {} must be a constant scalar", i));
        values[i] = *value;
    }
    auto [start, limit, delta] = values;
    if (delta == 0) context.fail("the step is 0");
    double count = std::max(std::ceil((limit - start) / delta), 0.0);
    std::vector<Axis> axes = axes_of(arena, {static_cast<int64_t>(count)});
    ElementType type = context.input(0)->type;
    Index i = index_of(axes[0].iterator);
    Scalar body = is_float(type)
                      ? arena.number(i) * delta + start
                      : arena.number(i * static_cast<int64_t>(delta) + static_cast<int64_t>(start));
    return {context.define(0, type, axes, body)};
}

}  // namespace

extern const Operator range{
    "Range", {}, 11, "start + delta * i below the limit, all three constant", {}, express};

}  // namespace ollie::operators::entries
