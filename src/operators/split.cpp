#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/build.h"
#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// As stated, or even; a remainder makes the last part smaller (from opset 18).
std::vector<int64_t> part_extents(const Context& context, int64_t total) {
    int64_t count = static_cast<int64_t>(context.node.outputs.size());
    if (auto stated = ints_of(context, "split", 1)) {
        int64_t sum = 0;
        for (int64_t extent : *stated) sum += extent;
        if (sum != total || static_cast<int64_t>(stated->size()) != count)
            context.fail(fmt::format("split is [{}], expected {} extents with sum {}",
                                     fmt::join(*stated, ", "), count, total));
        return *stated;
    }
    int64_t parts = context.int_attribute("num_outputs", count);
    if (parts != count || (context.opset < 18 && total % count != 0))
        context.fail(fmt::format("extent {} cannot be split evenly into {}", total, count));
    int64_t even = (total + count - 1) / count;
    std::vector<int64_t> extents;
    for (int64_t i = 0; i < count; ++i)
        extents.push_back(std::clamp<int64_t>(total - i * even, 0, even));
    return extents;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    size_t axis = normalized_axis(context, context.int_attribute("axis", 0), x->rank());
    Shape shape = x->shape();
    std::vector<int64_t> extents = part_extents(context, shape[axis]);
    int64_t begin = 0;
    Results results;
    for (size_t i = 0; i < extents.size(); ++i) {
        shape[axis] = extents[i];
        std::vector<Axis> axes = axes_of(context.arena, shape);
        std::vector<Index> at = indices_of(axes);
        at[axis] = at[axis] + begin;
        results.push_back(context.define(i, x->type, axes, read(x, at)));
        begin += extents[i];
    }
    return results;
}

}  // namespace

extern const Operator split{"Split",
                            {},
                            2,
                            "consecutive parts along an axis",
                            {{"axis", "default 0"},
                             {"split", "extents; from opset 13 input 1, which must be constant"},
                             {"num_outputs", "from opset 18; the last part may be smaller"}},
                            express};

}  // namespace ollie::operators::entries
