#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/window.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

void check_channels(const Context& context, const Shape& input, const Shape& kernel,
                    int64_t groups) {
    if (groups < 1 || input[1] % groups != 0 || kernel[0] != input[1])
        context.fail(fmt::format("{} channels, {} groups and a kernel of shape {} do not agree",
                                 input[1], groups, to_text(kernel)));
}

/// Where the output at `position` meets the input through tap r: at (h + pad - dilation * r) div
/// stride, if the stride divides.
Index source(const Window& window, const Axis& position, const Axis& offset, Predicate& divides) {
    Index numerator = index_of(position.iterator) + window.pad_begin -
                      index_of(offset.iterator) * window.dilation;
    if (window.stride == 1) return numerator;
    divides = divides && mod(numerator, window.stride) == 0;
    return div(numerator, window.stride);
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    const Tensor* k = context.input(1);
    int64_t groups = context.int_attribute("group", 1);
    check_kernel(context, x, k);
    check_channels(context, x->shape(), k->shape(), groups);
    auto windows = scattering_windows(context, spatial_shape(x), spatial_shape(k));
    size_t rank = windows.size();
    int64_t filters = k->shape()[1];  // Per group.

    Axis n = axis_of(arena, "n", x->shape()[0]);
    Axis f = axis_of(arena, "f", filters * groups);
    std::vector<Axis> positions = axes_of(arena, outputs_of(windows), spatial_names(rank));
    Axis c = axis_of(arena, "c", x->shape()[1] / groups);
    std::vector<Axis> taps = axes_of(arena, kernels_of(windows), window_names(rank));

    std::vector<Axis> result{n, f};
    result.insert(result.end(), positions.begin(), positions.end());
    std::vector<Axis> reduced{c};
    reduced.insert(reduced.end(), taps.begin(), taps.end());
    Ranges ranges(result);
    ranges.add(reduced);

    Index channel = index_of(c.iterator);
    Index filter = index_of(f.iterator);
    if (groups > 1) {
        channel = div(filter, filters) * c.extent() + channel;
        filter = mod(filter, filters);
    }
    std::vector<Index> input{index_of(n.iterator), channel};
    std::vector<Index> kernel{channel, filter};
    Predicate divides = arena.truth(true);
    for (size_t i = 0; i < rank; ++i) {
        input.push_back(source(windows[i], positions[i], taps[i], divides));
        kernel.push_back(index_of(taps[i].iterator));
    }
    Scalar product = read(x, input, ranges, 0) * read(k, kernel);
    Scalar body = sum(reduced, arena.select(divides, product, arena.constant_scalar(0)));
    return {context.define(0, x->type, result, with_bias(context, body, f))};
}

}  // namespace

extern const Operator conv_transpose{
    "ConvTranspose",
    {},
    1,
    "transposed convolution over any number of spatial axes, with groups",
    window_attributes() +
        std::vector<Attribute>{
            {"group", "default 1"},
            {"kernel_shape", "must be the kernel's where given"},
            {"output_padding", "added to the extents at their ends; default 0"},
            {"output_shape", "spatial extents; pads are made to fit, none below 0"}},
    express};

}  // namespace ollie::operators::entries
