#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

void check_channels(const Context& context, const Shape& input, const Shape& kernel,
                    int64_t groups) {
    if (groups < 1 || kernel[0] % groups != 0 || kernel[1] * groups != input[1])
        context.fail(fmt::format("{} channels, {} groups and a kernel of shape {} do not agree",
                                 input[1], groups, to_text(kernel)));
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* a = context.input(0);
    const Tensor* k = context.input(1);
    int64_t groups = context.int_attribute("group", 1);
    check_kernel(context, a, k);
    check_channels(context, a->shape(), k->shape(), groups);
    auto windows = sliding_windows(context, spatial_shape(a), spatial_shape(k), false);
    size_t rank = windows.size();

    Axis n = axis_of(arena, "n", a->shape()[0]);
    Axis f = axis_of(arena, "f", k->shape()[0]);
    std::vector<Axis> positions = axes_of(arena, outputs_of(windows), spatial_names(rank));
    Axis c = axis_of(arena, "c", k->shape()[1]);
    std::vector<Axis> taps = axes_of(arena, kernels_of(windows), window_names(rank));

    std::vector<Axis> result{n, f};
    result.insert(result.end(), positions.begin(), positions.end());
    std::vector<Axis> reduced{c};
    reduced.insert(reduced.end(), taps.begin(), taps.end());
    Ranges ranges(result);
    ranges.add(reduced);

    Index channel = index_of(c.iterator);
    if (groups > 1) channel = div(index_of(f.iterator), f.extent() / groups) * c.extent() + channel;
    std::vector<Index> input{index_of(n.iterator), channel};
    std::vector<Index> kernel{index_of(f.iterator), index_of(c.iterator)};
    for (size_t i = 0; i < rank; ++i) {
        input.push_back(tap(windows[i], positions[i], taps[i]));
        kernel.push_back(index_of(taps[i].iterator));
    }
    Scalar body = sum(reduced, read(a, input, ranges, 0) * read(k, kernel));
    return {context.define(0, a->type, result, with_bias(context, body, f))};
}

}  // namespace

extern const Operator conv{
    "Conv",
    {},
    1,
    "convolution over any number of spatial axes, with groups; reads outside are 0",
    window_attributes() +
        std::vector<Attribute>{{"group", "default 1"},
                               {"kernel_shape", "must be the kernel's where given"}},
    express};

}  // namespace ollie::operators::entries
