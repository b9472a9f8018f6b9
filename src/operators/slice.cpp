#include <algorithm>

#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

struct Bounds {
    std::vector<int64_t> starts;
    std::vector<int64_t> ends;
    std::vector<size_t> axes;
    std::vector<int64_t> steps;
};

Bounds bounds_of(const Context& context, size_t rank) {
    auto starts = ints_of(context, "starts", 1);
    auto ends = ints_of(context, "ends", 2);
    if (!starts || !ends) context.fail("starts or ends are missing");
    Bounds bounds{*starts, *ends, {}, std::vector<int64_t>(starts->size(), 1)};
    std::vector<int64_t> axes;
    for (size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<int64_t>(i));
    if (auto given = ints_of(context, "axes", 3)) axes = *given;
    if (auto given = context.optional_constant_ints(4)) bounds.steps = *given;
    if (ends->size() != starts->size() || axes.size() != starts->size() ||
        bounds.steps.size() != starts->size())
        context.fail("starts, ends, axes and steps differ in length");
    normalized_axes(context, axes, rank);
    for (int64_t axis : axes) bounds.axes.push_back(normalized_axis(context, axis, rank));
    return bounds;
}

/// Counts from the end where negative, then clamps to [lo, hi].
int64_t clamped(int64_t position, int64_t extent, int64_t lo, int64_t hi) {
    return std::clamp(position < 0 ? position + extent : position, lo, hi);
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    Bounds bounds = bounds_of(context, x->rank());
    Shape shape = x->shape();
    std::vector<int64_t> first(x->rank(), 0);
    std::vector<int64_t> step(x->rank(), 1);
    for (size_t i = 0; i < bounds.axes.size(); ++i) {
        size_t axis = bounds.axes[i];
        int64_t extent = shape[axis];
        int64_t by = std::max(bounds.steps[i], -INT64_MAX);
        if (by == 0) context.fail("a step is 0");
        bool is_up = by > 0;
        int64_t from = clamped(bounds.starts[i], extent, 0, is_up ? extent : extent - 1);
        int64_t to = is_up ? clamped(bounds.ends[i], extent, 0, extent)
                           : clamped(bounds.ends[i], extent, -1, extent - 1);
        int64_t distance = is_up ? to - from : from - to;
        int64_t size = is_up ? by : -by;
        shape[axis] = extent == 0 || distance <= 0 ? 0 : (distance - 1) / size + 1;
        first[axis] = from;
        step[axis] = by;
    }
    std::vector<Axis> axes = axes_of(context.arena, shape);
    std::vector<Index> at = indices_of(axes);
    for (size_t i = 0; i < at.size(); ++i)
        at[i] = axes[i].extent() > 1 ? at[i] * step[i] + first[i] : at[i] + first[i];
    return {context.define(0, x->type, axes, read(x, at))};
}

}  // namespace

extern const Operator slice{
    "Slice",
    {},
    1,
    "a range with a step along some axes; bounds clamp, steps may be negative",
    {{"starts", "before opset 10; then input 1; all of these inputs must be constant"},
     {"ends", "before opset 10; then input 2"},
     {"axes", "before opset 10; then input 3; default the first ones"}},
    express};

}  // namespace ollie::operators::entries
