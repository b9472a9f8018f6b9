#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// How many elements of the window at the position count, as a product over the axes.
Scalar count_of(const Context& context, const std::vector<Window>& windows,
                const std::vector<Axis>& positions) {
    bool counts_pads = context.int_attribute("count_include_pad", 0) != 0;
    double constant = 1;
    std::vector<Scalar> factors;
    for (size_t i = 0; i < windows.size(); ++i) {
        const Window& window = windows[i];
        Index count = taps_inside(window, positions[i], counts_pads ? -window.pad_begin : 0,
                                  window.input + (counts_pads ? window.pad_end : 0));
        if (is_constant(count))
            constant *= static_cast<double>(count->constant);
        else
            factors.push_back(context.arena.number(count));
    }
    factors.push_back(context.arena.constant_scalar(constant));
    return context.arena.mul(factors);
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    require_rank(context, x, 3);
    auto kernel = context.ints_attribute("kernel_shape");
    if (!kernel) context.fail("attribute kernel_shape is missing");
    bool ceil_mode = context.int_attribute("ceil_mode", 0) != 0;
    auto windows = sliding_windows(context, spatial_shape(x), *kernel, ceil_mode);
    size_t rank = windows.size();
    std::vector<Axis> result{axis_of(arena, "n", x->shape()[0]),
                             axis_of(arena, "c", x->shape()[1])};
    std::vector<Axis> positions = axes_of(arena, outputs_of(windows), spatial_names(rank));
    std::vector<Axis> taps = axes_of(arena, *kernel, window_names(rank));
    std::vector<Index> input = indices_of(result);
    for (size_t i = 0; i < rank; ++i) input.push_back(tap(windows[i], positions[i], taps[i]));
    result.insert(result.end(), positions.begin(), positions.end());
    Ranges ranges(result);
    ranges.add(taps);
    Scalar total = sum(taps, read(x, input, ranges, 0));
    return {context.define(0, x->type, result, total / count_of(context, windows, positions))};
}

}  // namespace

extern const Operator average_pool{
    "AveragePool",
    {},
    7,
    "sum of each window over the number of its elements",
    window_attributes() +
        std::vector<Attribute>{{"kernel_shape", "extents of the window"},
                               {"ceil_mode", "1 keeps a last partial window; default 0"},
                               {"count_include_pad", "1 counts the pads too; default 0"}},
    express};

}  // namespace ollie::operators::entries
