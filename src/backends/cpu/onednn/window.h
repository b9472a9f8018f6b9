#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/onednn/instance.h"
#include "backends/cpu/onednn/view.h"

/// Calls that slide a window over one to three spatial axes: convolution, its transpose, pooling.
///
/// In their patterns the result is Y[n, (g,) f, positions] (pooling: c for f), the data operand is
/// A[n, (g,) c, spatial...] and the parameters of the spatial axis h are $sh, $dh and $ph.
namespace ollie::backends::cpu {

constexpr int most_spatial_axes = 3;
std::vector<std::string> position_names(int rank);  ///< "h", "w"
std::vector<std::string> tap_names(int rank);       ///< "r", "s"

/// For each spatial axis one piece of text, `@h` and `@r` standing for its names, joined.
std::string for_each_spatial(int rank, std::string_view piece, std::string_view separator = ", ");

/// The end of a pattern of rank 2 or 3 that has no spatial axis of one position and one tap, since
/// a pattern of lower rank takes what has; and of one with an iterator for groups.
std::string no_units(int rank, bool has_group_iterator = false);

/// One spatial axis; extents in elements, a dilation of 1 is dense.
struct WindowAxis {
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_begin = 0;
    int64_t positions = 1;
    int64_t taps = 1;
};

/// From the binding; refuses what no library call takes (reversed axes).
OrRefusal<std::vector<WindowAxis>> window_axes(const match::Binding&, int rank);

/// The window as the library takes it. A negative pad is none: the view of the data is cut instead.
struct WindowParameters {
    std::vector<int64_t> strides;
    std::vector<int64_t> dilations;  ///< 0 is dense.
    std::vector<int64_t> pads_begin;
    std::vector<int64_t> pads_end;
};
void put(Attributes&, const WindowParameters&);
WindowParameters get_window(const Attributes&);

/// For a window that gathers from `gathered`, a view with the spatial dimensions last. It is cut
/// where pads would be negative, which sets `is_cut`.
OrRefusal<WindowParameters> window_parameters(const std::vector<WindowAxis>&, View& gathered,
                                              bool is_channels_last, bool& is_cut);

/// Tensor axes of the data operand or the result: image, channels (one or two pattern axes),
/// spatial.
struct DataAxes {
    const expr::Tensor* tensor = nullptr;
    int image = -1;
    AxisGroup channels;
    std::vector<int> spatial;

    /// `channel_axes` pattern axes hold the channels.
    static DataAxes of(const match::Operand&, int channel_axes);
    Layout channels_first() const;
    Layout channels_last() const;
    std::vector<AxisGroup> groups() const;
    int64_t channel_count() const;
};

/// Combinations of storage orders for the data operand and the result, the likeliest first.
struct DataLayouts {
    Layout source;
    Layout result;
    bool is_source_last;  ///< Channels last, which one channel does not show.
    bool is_result_last;

    /// The library takes it only if the source is copied to channels last.
    bool is_mixed() const { return is_source_last != is_result_last; }
};
std::vector<DataLayouts> data_layouts(const DataAxes& source, const DataAxes& result);

/// The data operand as it lies in its buffer, and whether the library gets a copy of it in scratch
/// memory, dense with channels last; and the view that the library gets.
void put_source(Attributes&, const View&, bool is_copied);
View source_seen(const Attributes&);
/// What the copy takes; 0 if there is none.
double copy_seconds(const Attributes&, const match::Machine&);

/// Strides of a tensor by the axes of its pattern; 0 for an axis that the tensor lacks.
class PatternStrides {
public:
    PatternStrides(const match::Operand&, const Layout&);
    int64_t operator[](int pattern_axis) const;

private:
    const match::Operand& operand_;
    std::vector<int64_t> strides_;
};

/// Twice the product of all extents: operations of the core as it is written.
double operations_of(const match::Binding&);
double bytes_of(const match::Binding&);
/// Time bound by operations at this fraction of the peak and by bytes.
double roofline(const match::Machine&, double operations, double efficiency, double bytes);
/// The part of a vector register that this many channels fill.
double lane_use(int64_t channels);

}  // namespace ollie::backends::cpu
