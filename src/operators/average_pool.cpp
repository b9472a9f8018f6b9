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
    const Tensor* x = context.input(0);
    require_rank(context, x, 3);
    SlidingReads pool = sliding_reads(context, x);
    std::vector<Axis> positions(pool.result.begin() + 2, pool.result.end());
    Scalar total = sum(pool.taps, read(x, pool.input, pool.ranges, 0));
    Scalar count = count_of(context, pool.windows, positions);
    return {context.define(0, x->type, pool.result, total / count)};
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
