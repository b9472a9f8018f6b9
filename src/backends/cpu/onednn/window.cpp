#include "backends/cpu/onednn/window.h"

#include <algorithm>

namespace ollie::backends::cpu {
namespace {

std::vector<std::string> last(std::vector<std::string> names, int count) {
    return {names.end() - count, names.end()};
}

std::string replaced(std::string text, std::string_view what, const std::string& with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
        text.replace(at, what.size(), with);
    return text;
}

}  // namespace

std::vector<std::string> position_names(int rank) { return last({"d", "h", "w"}, rank); }
std::vector<std::string> tap_names(int rank) { return last({"q", "r", "s"}, rank); }

std::string for_each_spatial(int rank, std::string_view piece, std::string_view separator) {
    std::string text;
    for (int i = 0; i < rank; ++i) {
        if (i > 0) text += separator;
        std::string one = replaced(std::string(piece), "@h", position_names(rank)[i]);
        text += replaced(std::move(one), "@r", tap_names(rank)[i]);
    }
    return text;
}

std::string no_units(int rank, bool has_group_iterator) {
    std::string text = has_group_iterator ? " where g" : "";
    if (rank > 1) text += (text.empty() ? " where " : ", ") + for_each_spatial(rank, "@h or @r");
    return text;
}

OrRefusal<std::vector<WindowAxis>> window_axes(const match::Binding& binding, int rank) {
    std::vector<WindowAxis> axes;
    for (int i = 0; i < rank; ++i) {
        std::string name = position_names(rank)[i];
        WindowAxis axis{binding.parameter("s" + name), binding.parameter("d" + name),
                        binding.parameter("p" + name), binding.extent(name),
                        binding.extent(tap_names(rank)[i])};
        if (axis.stride < 1 || axis.dilation < 1)
            return refuse("stride {} and dilation {} of {}", axis.stride, axis.dilation, name);
        axes.push_back(axis);
    }
    return axes;
}

void put(Attributes& attributes, const WindowParameters& window) {
    attributes["strides"] = window.strides;
    attributes["dilations"] = window.dilations;
    attributes["pads_begin"] = window.pads_begin;
    attributes["pads_end"] = window.pads_end;
}

WindowParameters get_window(const Attributes& attributes) {
    return {get_ints(attributes, "strides"), get_ints(attributes, "dilations"),
            get_ints(attributes, "pads_begin"), get_ints(attributes, "pads_end")};
}

OrRefusal<WindowParameters> window_parameters(const std::vector<WindowAxis>& axes, View& gathered,
                                              bool is_channels_last, bool& is_cut) {
    WindowParameters window;
    size_t first = gathered.dims.size() - axes.size();
    for (size_t i = 0; i < axes.size(); ++i) {
        const WindowAxis& axis = axes[i];
        int64_t& extent = gathered.dims[first + i];
        int64_t begin = axis.pad_begin;
        int64_t reach = (axis.positions - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1;
        int64_t end = reach - begin - extent;
        is_cut = is_cut || begin < 0 || end < 0;
        if (begin < 0) {
            gathered.offset -= begin * gathered.strides[first + i];
            extent += begin;
            begin = 0;
        }
        if (end < 0) {
            extent += end;
            end = 0;
        }
        if (extent < 1) return refuse("the window reads nothing but what is outside");
        window.strides.push_back(axis.stride);
        window.dilations.push_back(axis.dilation - 1);
        window.pads_begin.push_back(begin);
        window.pads_end.push_back(end);
    }
    set_unit_strides(gathered, is_channels_last);
    return window;
}

DataAxes DataAxes::of(const match::Operand& operand, int channel_axes) {
    DataAxes axes;
    axes.tensor = operand.tensor;
    axes.image = operand.axis_of[0];
    auto spatial = operand.axis_of.begin() + 1 + channel_axes;
    axes.channels.assign(operand.axis_of.begin() + 1, spatial);
    axes.spatial.assign(spatial, operand.axis_of.end());
    return axes;
}

Layout DataAxes::channels_first() const {
    std::vector<int> order{image};
    order.insert(order.end(), channels.begin(), channels.end());
    order.insert(order.end(), spatial.begin(), spatial.end());
    return layout_in_order(tensor, order);
}

Layout DataAxes::channels_last() const {
    std::vector<int> order{image};
    order.insert(order.end(), spatial.begin(), spatial.end());
    order.insert(order.end(), channels.begin(), channels.end());
    return layout_in_order(tensor, order);
}

std::vector<AxisGroup> DataAxes::groups() const {
    std::vector<AxisGroup> groups{{image}, channels};
    for (int axis : spatial) groups.push_back({axis});
    return groups;
}

int64_t DataAxes::channel_count() const {
    int64_t count = 1;
    for (int axis : channels)
        if (axis >= 0) count *= tensor->axes[axis].extent();
    return count;
}

std::vector<DataLayouts> data_layouts(const DataAxes& source, const DataAxes& result) {
    Layout source_first = source.channels_first(), source_last = source.channels_last();
    Layout result_first = result.channels_first(), result_last = result.channels_last();
    std::vector<DataLayouts> all{{source_last, result_last, true, true},
                                 {source_first, result_first, false, false},
                                 {source_first, result_last, false, true}};
    // The copy pays; the other would hide it.
    if (result_first == result_last) std::swap(all[1], all[2]);
    std::vector<DataLayouts> different;
    for (const DataLayouts& layouts : all) {
        bool is_known = std::any_of(different.begin(), different.end(), [&](const auto& known) {
            return known.source == layouts.source && known.result == layouts.result;
        });
        if (!is_known) different.push_back(layouts);
    }
    return different;
}

View channels_last_copy(const View& view) {
    View copy{view.dims, std::vector<int64_t>(view.dims.size(), 1), 0};
    int64_t stride = view.dims[1];
    for (size_t d = view.dims.size(); d-- > 2;) {
        copy.strides[d] = stride;
        stride *= view.dims[d];
    }
    copy.strides[0] = stride;
    return copy;
}

void put_source(Attributes& parameters, const View& view, bool is_copied) {
    put(parameters, "source", view);
    parameters["source_copied"] = int64_t{is_copied};
}

View source_seen(const Attributes& parameters) {
    View view = get_view(parameters, "source");
    return get_int(parameters, "source_copied") != 0 ? channels_last_copy(view) : view;
}

double copy_seconds(const Attributes& parameters, const match::Machine& machine) {
    if (get_int(parameters, "source_copied") == 0) return 0;
    double bytes = 2 * sizeof(float);
    for (int64_t extent : get_ints(parameters, "source")) bytes *= static_cast<double>(extent);
    return machine.call_seconds + bytes / machine.cache_bandwidth;
}

PatternStrides::PatternStrides(const match::Operand& operand, const Layout& layout)
    : operand_(operand), strides_(layout.strides(operand.tensor->shape())) {}

int64_t PatternStrides::operator[](int pattern_axis) const {
    int axis = operand_.axis_of[static_cast<size_t>(pattern_axis)];
    return axis < 0 ? 0 : strides_[static_cast<size_t>(axis)];
}

double operations_of(const match::Binding& binding) {
    double product = 2;
    for (const auto& [name, axis] : binding.iterators)
        product *= static_cast<double>(axis.extent());
    return product;
}

double bytes_of(const match::Binding& binding) {
    double elements = static_cast<double>(element_count(binding.result.tensor->shape()));
    for (const match::Operand& operand : binding.operands)
        elements += static_cast<double>(element_count(operand.tensor->shape()));
    return elements * sizeof(float);
}

double roofline(const match::Machine& machine, double operations, double efficiency, double bytes) {
    double bandwidth = bytes < static_cast<double>(machine.cache_bytes) ? machine.cache_bandwidth
                                                                        : machine.memory_bandwidth;
    return machine.call_seconds +
           std::max(operations / (machine.flops * efficiency), bytes / bandwidth);
}

double lane_use(int64_t channels) {
    constexpr int64_t lanes = 16;
    int64_t rounded = (channels + lanes - 1) / lanes * lanes;
    return static_cast<double>(channels) / static_cast<double>(rounded);
}

}  // namespace ollie::backends::cpu
