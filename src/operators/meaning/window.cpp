#include "operators/meaning/window.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/build.h"

namespace ollie::operators {

using namespace expr;

namespace {

int64_t ceil_quotient(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

std::vector<int64_t> ints(const Context& context, const std::string& name, size_t count,
                          int64_t otherwise, int64_t least) {
    auto values = context.ints_attribute(name).value_or(std::vector<int64_t>(count, otherwise));
    if (values.size() != count)
        context.fail(
            fmt::format("attribute {} has {} entries, expected {}", name, values.size(), count));
    for (int64_t value : values)
        if (value < least)
            context.fail(fmt::format("attribute {} is [{}], expected {} or more", name,
                                     fmt::join(values, ", "), least));
    return values;
}

enum class AutoPad { None, SameUpper, SameLower, Valid };

AutoPad auto_pad(const Context& context) {
    std::string text = context.string_attribute("auto_pad", "NOTSET");
    if (text == "NOTSET" || text.empty()) return AutoPad::None;
    if (text == "SAME_UPPER") return AutoPad::SameUpper;
    if (text == "SAME_LOWER") return AutoPad::SameLower;
    if (text == "VALID") return AutoPad::Valid;
    context.fail(
        fmt::format("attribute auto_pad is \"{}\", expected NOTSET, SAME_UPPER, "
                    "SAME_LOWER or VALID",
                    text));
}

std::vector<Window> basic_windows(const Context& context, const Shape& input, const Shape& kernel) {
    size_t rank = input.size();
    if (kernel.size() != rank)
        context.fail(
            fmt::format("the kernel has {} spatial axes, the input {}", kernel.size(), rank));
    auto strides = ints(context, "strides", rank, 1, 1);
    auto dilations = ints(context, "dilations", rank, 1, 1);
    auto pads = ints(context, "pads", 2 * rank, 0, INT64_MIN);
    bool is_padded = auto_pad(context) == AutoPad::None;
    std::vector<Window> windows;
    for (size_t i = 0; i < rank; ++i) {
        if (kernel[i] < 1) context.fail(fmt::format("the kernel is {}", to_text(kernel)));
        windows.push_back({input[i], kernel[i], strides[i], dilations[i], is_padded ? pads[i] : 0,
                           is_padded ? pads[rank + i] : 0, 0});
    }
    return windows;
}

/// Sets the pads to a total, the odd element at the end or at the beginning.
void distribute(Window& window, int64_t total, bool more_at_end) {
    total = std::max<int64_t>(total, 0);
    window.pad_begin = more_at_end ? total / 2 : total - total / 2;
    window.pad_end = total - window.pad_begin;
}

int64_t slid_extent(const Context& context, const Window& window, bool ceil_mode) {
    int64_t room = window.input + window.pad_begin + window.pad_end - window.span();
    int64_t steps =
        ceil_mode ? ceil_quotient(room, window.stride) : -ceil_quotient(-room, window.stride);
    if (steps < -1 && window.input > 0)
        context.fail(fmt::format("a window of {} elements does not fit into {} with pads {} and {}",
                                 window.span(), window.input, window.pad_begin, window.pad_end));
    // In ceil mode, a window that would begin behind the input and its first pad is none.
    bool is_behind = ceil_mode && steps * window.stride >= window.input + window.pad_begin;
    return std::max<int64_t>(is_behind ? steps : steps + 1, 0);
}

}  // namespace

std::vector<Window> sliding_windows(const Context& context, const Shape& input, const Shape& kernel,
                                    bool ceil_mode) {
    AutoPad mode = auto_pad(context);
    std::vector<Window> windows = basic_windows(context, input, kernel);
    for (Window& window : windows) {
        if (mode == AutoPad::SameUpper || mode == AutoPad::SameLower) {
            window.output = ceil_quotient(window.input, window.stride);
            distribute(window, (window.output - 1) * window.stride + window.span() - window.input,
                       mode == AutoPad::SameUpper);
        } else {
            window.output = slid_extent(context, window, ceil_mode);
        }
    }
    return windows;
}

std::vector<Window> scattering_windows(const Context& context, const Shape& input,
                                       const Shape& kernel) {
    AutoPad mode = auto_pad(context);
    std::vector<Window> windows = basic_windows(context, input, kernel);
    size_t rank = input.size();
    auto paddings = ints(context, "output_padding", rank, 0, 0);
    auto shape = context.ints_attribute("output_shape");
    if (shape && shape->size() > rank)  // Some exporters give the full shape.
        shape->erase(shape->begin(), shape->end() - static_cast<std::ptrdiff_t>(rank));
    if (shape && shape->size() != rank)
        context.fail(
            fmt::format("attribute output_shape has {} entries, expected {}", shape->size(), rank));
    bool is_same = mode == AutoPad::SameUpper || mode == AutoPad::SameLower;
    for (size_t i = 0; i < rank; ++i) {
        Window& window = windows[i];
        int64_t full = window.stride * (window.input - 1) + paddings[i] + window.span();
        if (shape || is_same) {
            window.output = shape ? (*shape)[i] : window.input * window.stride;
            distribute(window, full - window.output, mode == AutoPad::SameUpper);
        } else {
            window.output = std::max<int64_t>(full - window.pad_begin - window.pad_end, 0);
        }
        if (window.output < 0) context.fail("attribute output_shape is negative");
    }
    return windows;
}

Index tap(const Window& window, const Axis& position, const Axis& offset) {
    return index_of(position.iterator) * window.stride +
           index_of(offset.iterator) * window.dilation - window.pad_begin;
}

/// The taps r with lo <= first + dilation * r < hi lie from ceil((lo - first) / dilation) to
/// ceil((hi - first) / dilation).
Index taps_inside(const Window& window, const Axis& position, int64_t lo, int64_t hi) {
    Arena& arena = *position.iterator->arena;
    Index first = index_of(position.iterator) * window.stride - window.pad_begin;
    auto taps_before = [&](int64_t bound) {
        return div(-first + (bound + window.dilation - 1), window.dilation);
    };
    auto clamped = [&](Index count) {
        return arena.min(arena.max(count, arena.constant(0)), arena.constant(window.kernel));
    };
    return simplify(clamped(taps_before(hi)) - clamped(taps_before(lo)), Ranges({position}));
}

SlidingReads sliding_reads(const Context& context, const Tensor* x) {
    Arena& arena = context.arena;
    auto kernel = context.ints_attribute("kernel_shape");
    if (!kernel) context.fail("attribute kernel_shape is missing");
    SlidingReads reads;
    bool ceil_mode = context.int_attribute("ceil_mode", 0) != 0;
    reads.windows = sliding_windows(context, spatial_shape(x), *kernel, ceil_mode);
    size_t rank = reads.windows.size();
    std::vector<Axis> positions = axes_of(arena, outputs_of(reads.windows), spatial_names(rank));
    reads.result = {axis_of(arena, "n", x->shape()[0]), axis_of(arena, "c", x->shape()[1])};
    reads.taps = axes_of(arena, *kernel, window_names(rank));
    reads.input = indices_of(reads.result);
    for (size_t i = 0; i < rank; ++i)
        reads.input.push_back(tap(reads.windows[i], positions[i], reads.taps[i]));
    reads.result.insert(reads.result.end(), positions.begin(), positions.end());
    reads.ranges.add(reads.result);
    reads.ranges.add(reads.taps);
    return reads;
}

std::vector<Attribute> window_attributes() {
    return {{"strides", "per spatial axis; default 1"},
            {"dilations", "distance of the taps per spatial axis; default 1"},
            {"pads", "begins, then ends; default 0; may be asymmetric or negative"},
            {"auto_pad", "NOTSET (default), VALID, SAME_UPPER, SAME_LOWER"}};
}

std::vector<Attribute> operator+(std::vector<Attribute> first, std::vector<Attribute> second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

void check_kernel(const Context& context, const Tensor* input, const Tensor* kernel) {
    require_rank(context, input, 3);
    require_rank(context, kernel, input->rank(), input->rank());
    require_same_type(context, {input, kernel});
    Shape extents = spatial_shape(kernel);
    auto stated = context.ints_attribute("kernel_shape");
    if (stated && *stated != extents)
        context.fail(fmt::format("attribute kernel_shape is {}, the kernel is {}", to_text(*stated),
                                 to_text(extents)));
}

Scalar with_bias(const Context& context, Scalar value, const Axis& filter) {
    if (!context.has_input(2)) return value;
    const Tensor* bias = context.input(2);
    if (bias->shape() != Shape{filter.extent()})
        context.fail(fmt::format("the bias has shape {}, expected {}", to_text(bias->shape()),
                                 filter.extent()));
    return value + read(bias, {index_of(filter.iterator)});
}

Shape spatial_shape(const Tensor* tensor) {
    Shape shape = tensor->shape();
    return {shape.begin() + 2, shape.end()};
}

Shape kernels_of(const std::vector<Window>& windows) {
    Shape result;
    for (const Window& window : windows) result.push_back(window.kernel);
    return result;
}

Shape outputs_of(const std::vector<Window>& windows) {
    Shape result;
    for (const Window& window : windows) result.push_back(window.output);
    return result;
}

}  // namespace ollie::operators
