#pragma once

#include "operators/meaning/domain.h"

/// Windows that slide over spatial axes: strides, dilations, pads and auto_pad of convolutions and
/// pools.
namespace ollie::operators {

/// One spatial axis.
struct Window {
    int64_t input = 0;
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_begin = 0;
    int64_t pad_end = 0;
    int64_t output = 0;

    /// Elements from the first tap to the last.
    int64_t span() const { return (kernel - 1) * dilation + 1; }
};

/// Strides, dilations and pads from the node's attributes; `output` as for a convolution or pool.
std::vector<Window> sliding_windows(const Context&, const Shape& input, const Shape& kernel,
                                    bool ceil_mode);
/// The same where the node scatters: `output` as for a transposed convolution, with
/// output_padding and output_shape.
std::vector<Window> scattering_windows(const Context&, const Shape& input, const Shape& kernel);

/// stride * h + dilation * r - pad: where the window at h has its tap r.
expr::Index tap(const Window&, const expr::Axis& position, const expr::Axis& offset);

/// How many taps of the window at `position` lie in [lo, hi) of the input axis.
expr::Index taps_inside(const Window&, const expr::Axis& position, int64_t lo, int64_t hi);

/// Errors: UserError unless rank, type and the attribute kernel_shape agree.
void check_kernel(const Context&, const expr::Tensor* input, const expr::Tensor* kernel);
/// The value plus input 2 of the node at the filter, where there is one.
expr::Scalar with_bias(const Context&, expr::Scalar value, const expr::Axis& filter);

/// Documentation of the attributes read here, and lists of attributes joined.
std::vector<Attribute> window_attributes();
std::vector<Attribute> operator+(std::vector<Attribute>, std::vector<Attribute>);

/// What a pool with the node's attributes reads of its input.
struct SlidingReads {
    std::vector<Window> windows;
    std::vector<expr::Axis> result;  ///< n, c and the positions.
    std::vector<expr::Axis> taps;
    std::vector<expr::Index> input;
    expr::Ranges ranges;  ///< Of result and taps.
};
SlidingReads sliding_reads(const Context&, const expr::Tensor* input);

/// The extents from the third axis on.
Shape spatial_shape(const expr::Tensor*);
Shape kernels_of(const std::vector<Window>&);
Shape outputs_of(const std::vector<Window>&);

}  // namespace ollie::operators
