#include <algorithm>

#include "backends/cpu/onednn/following.h"
#include "backends/cpu/onednn/support.h"
#include "backends/cpu/onednn/window.h"

namespace ollie::backends::cpu::calls {
namespace {

/// How the groups of a transposed convolution show in its accesses.
enum class Groups {
    None,
    Divided,  ///< The filter's quotient chooses the channels.
    Single,   ///< The filter is the group: one filter in each.
    Explicit  ///< An iterator of its own.
};

struct Spelling {
    int rank;
    Groups groups;
    bool source_has_axis = false;    ///< The group has an axis of the source of its own,
    bool weights_have_axis = false;  ///< of the weights.

    int source_channel_axes() const { return source_has_axis ? 2 : 1; }
    int result_channel_axes() const { return groups == Groups::Explicit ? 2 : 1; }
};

const std::vector<Spelling>& spellings() {
    static const std::vector<Spelling> all = [] {
        std::vector<Spelling> list;
        for (int rank = 1; rank <= most_spatial_axes; ++rank) {
            list.push_back({rank, Groups::None});
            list.push_back({rank, Groups::Divided});
            list.push_back({rank, Groups::Single});
            for (bool source : {false, true})
                for (bool weights : {false, true})
                    list.push_back({rank, Groups::Explicit, source, weights});
        }
        return list;
    }();
    return all;
}

/// The channels' axes of source and weights.
std::pair<std::string, std::string> channel_indices(const Spelling& spelling) {
    switch (spelling.groups) {
        case Groups::None:
            return {"c", "c, f"};
        case Groups::Divided:
            return {"$cg*(f div $fg) + c", "$cg*(f div $fg) + c, f - $fg*(f div $fg)"};
        case Groups::Single:
            return {"$cg*f + c", "$cg*f + c, 0"};
        case Groups::Explicit:
            return {spelling.source_has_axis ? "g, c" : "$cg*g + c",
                    spelling.weights_have_axis ? "g, c, f" : "$cg*g + c, f"};
    }
    CHECK(false);
}

std::string pattern_of(const Spelling& spelling) {
    auto [source, weights] = channel_indices(spelling);
    int rank = spelling.rank;
    constexpr std::string_view numerator = "(@h + $p@h - $d@h*@r)";
    return fmt::format("Y[n, {}f, {}] = sum[c, {}] select({}, A[n, {}, {} | 0] * K[{}, {}], 0){}",
                       spelling.groups == Groups::Explicit ? "g, " : "",
                       for_each_spatial(rank, "@h"), for_each_spatial(rank, "@r"),
                       for_each_spatial(rank, fmt::format("{} mod $s@h == 0", numerator), " and "),
                       source, for_each_spatial(rank, fmt::format("{} div $s@h", numerator)),
                       weights, for_each_spatial(rank, "@r"),
                       no_units(rank, spelling.groups == Groups::Explicit));
}

std::vector<std::string> patterns() {
    std::vector<std::string> texts;
    for (const Spelling& spelling : spellings()) texts.push_back(pattern_of(spelling));
    return texts;
}

struct Channels {
    int64_t groups = 1;
    int64_t source = 1;   ///< Per group.
    int64_t filters = 1;  ///< Per group.
};

OrRefusal<Channels> channels_of(const match::Binding& binding, const Spelling& spelling) {
    Channels channels{1, binding.extent("c"), binding.extent("f")};
    switch (spelling.groups) {
        case Groups::None:
            return channels;
        case Groups::Divided:
            channels.filters = binding.parameter("fg");
            break;
        case Groups::Single:
            channels.filters = 1;
            break;
        case Groups::Explicit:
            break;
    }
    if (binding.extent("f") % channels.filters != 0) return refuse("the last group is partial");
    channels.groups = spelling.groups == Groups::Explicit ? binding.extent("g")
                                                          : binding.extent("f") / channels.filters;
    if (channels.groups == 1)
        return refuse("there is one group: a plain transposed convolution takes it");
    bool has_joint_axis = !spelling.source_has_axis || !spelling.weights_have_axis;
    if (has_joint_axis && binding.parameter("cg") != channels.source)
        return refuse("groups of channels overlap");
    return channels;
}

/// Weights are [c, f, taps] in the pattern, and filters come first for the library.
View weights_view(const match::Binding& binding, const Spelling& spelling, const Channels& channels,
                  const std::vector<WindowAxis>& window, const Layout& layout) {
    PatternStrides strides(binding.operands[1], layout);
    int channel = spelling.weights_have_axis ? 1 : 0;
    View view;
    if (channels.groups > 1) {
        view.dims.push_back(channels.groups);
        view.strides.push_back(spelling.weights_have_axis ? strides[0]
                                                          : strides[0] * channels.source);
    }
    view.dims.insert(view.dims.end(), {channels.filters, channels.source});
    view.strides.insert(view.strides.end(), {strides[channel + 1], strides[channel]});
    for (size_t i = 0; i < window.size(); ++i) {
        view.dims.push_back(window[i].taps);
        view.strides.push_back(strides[channel + 2 + static_cast<int>(i)]);
    }
    set_unit_strides(view);
    return view;
}

/// The library computes the positions of a convolution from `result` to `source`. Ends of the
/// source that no position meets are cut; a result that reaches further than the source gets a pad
/// of what is missing, which the library takes as negative.
OrRefusal<WindowParameters> transposed_window(const std::vector<WindowAxis>& axes,
                                              const View& source) {
    WindowParameters window;
    for (size_t i = 0; i < axes.size(); ++i) {
        const WindowAxis& axis = axes[i];
        int64_t extent = source.dims[2 + i];
        int64_t reach = (extent - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1;
        int64_t end = reach - axis.pad_begin - axis.positions;
        if (axis.pad_begin < 0) return refuse("a negative pad");
        window.strides.push_back(axis.stride);
        window.dilations.push_back(axis.dilation - 1);
        window.pads_begin.push_back(axis.pad_begin);
        window.pads_end.push_back(end);
    }
    return window;
}

/// What the primitive itself applies.
Epilogue fused(const Attributes& parameters) {
    return get_int(parameters, "follows") != 0 ? Epilogue{} : get_epilogue(parameters);
}

dnnl::deconvolution_forward::primitive_desc descriptor(const Attributes& parameters,
                                                       const dnnl::engine& engine) {
    View source = source_seen(parameters);
    View result = get_view(parameters, "result");
    WindowParameters window = get_window(parameters);
    Epilogue epilogue = fused(parameters);
    dnnl::memory::desc bias;
    if (epilogue.bias_argument) bias = View{{result.dims[1]}, {1}}.desc();
    return {engine,
            dnnl::prop_kind::forward_inference,
            dnnl::algorithm::deconvolution_direct,
            source.desc(),
            get_view(parameters, "weights").any(),
            bias,
            result.desc(),
            window.strides,
            window.dilations,
            window.pads_begin,
            window.pads_end,
            attribute_of(epilogue)};
}

/// Of both primitives, the one that the library only has a reference implementation of.
std::string implementation(const Attributes& parameters, const dnnl::engine& engine) {
    std::string main = descriptor(parameters, engine).impl_info_str();
    if (get_int(parameters, "follows") == 0 || main.starts_with("ref")) return main;
    return following(get_view(parameters, "result"), get_epilogue(parameters), engine)
        .impl_info_str();
}

/// Whether what follows is a primitive of its own.
///
/// The library's kernel for strides with channels last, brgconv_strided of 3.2, takes the taps of
/// an outer axis one by one where it expects a gain by that, which depends on channels, caches and
/// threads. Then what follows, the bias too, is applied to sums that are not complete. Seen from
/// 256 to 64 channels with 4 x 4 taps, stride 2, 16 x 16 elements: off by a third of the largest.
/// With channels first what follows is right but slow: 2.5 of 3.4 ms from 128 to 64 channels.
bool is_followed(const WindowParameters& window, const Epilogue& epilogue) {
    bool has_stride = std::any_of(window.strides.begin(), window.strides.end(),
                                  [](int64_t stride) { return stride > 1; });
    return has_stride && !epilogue.is_empty();
}

OrRefusal<CallChoice> choice_of(const match::Binding& binding, const DataLayouts& layouts) {
    const Spelling& spelling = spellings()[static_cast<size_t>(binding.pattern)];
    auto channels = channels_of(binding, spelling);
    if (!channels) return Refusal{channels.reason()};
    auto axes = window_axes(binding, spelling.rank);
    if (!axes) return Refusal{axes.reason()};
    DataAxes source = DataAxes::of(binding.operands[0], spelling.source_channel_axes());
    DataAxes result = DataAxes::of(binding.result, spelling.result_channel_axes());
    if (source.channel_count() != channels->groups * channels->source)
        return refuse("only a part of the channels is read");
    auto source_view =
        view_of(source.tensor, layouts.source, source.groups(), layouts.is_source_last);
    if (!source_view) return Refusal{source_view.reason()};
    auto result_view =
        view_of(result.tensor, layouts.result, result.groups(), layouts.is_result_last);
    if (!result_view) return Refusal{result_view.reason()};
    auto window = transposed_window(*axes, *source_view);
    if (!window) return Refusal{window.reason()};

    CallChoice choice;
    choice.result_layout = layouts.result;
    ArgumentList arguments;
    const expr::Tensor* kernel = binding.operands[1].tensor;
    Layout kernel_layout = Layout::row_major(kernel->rank());
    if (arguments.add(source.tensor, layouts.source) != 0 ||
        arguments.add(kernel, kernel_layout) != 1)
        return refuse("source and weights are one tensor");
    auto epilogue = plan_epilogue(binding,
                                  {.definition = binding.definition,
                                   .layout = layouts.result,
                                   .dims = result.groups(),
                                   .is_channels_last = layouts.is_result_last},
                                  arguments);
    if (!epilogue) return Refusal{epilogue.reason()};
    put_source(choice.parameters, *source_view, layouts.is_mixed());
    put(choice.parameters, "weights",
        weights_view(binding, spelling, *channels, *axes, kernel_layout));
    put(choice.parameters, "result", *result_view);
    put(choice.parameters, *window);
    choice.parameters["follows"] = int64_t{is_followed(*window, *epilogue)};
    choice.changes_nonfinite = epilogue->changes_nonfinite();
    put(choice.parameters, *epilogue);
    std::move(arguments).move_to(choice);
    return choice;
}

OrRefusal<std::vector<CallChoice>> choices(const match::Binding& binding) {
    const Spelling& spelling = spellings()[static_cast<size_t>(binding.pattern)];
    DataAxes source = DataAxes::of(binding.operands[0], spelling.source_channel_axes());
    DataAxes result = DataAxes::of(binding.result, spelling.result_channel_axes());
    return supported_choices(
        "onednn_deconvolution", data_layouts(source, result),
        [&](const DataLayouts& layouts) { return choice_of(binding, layouts); }, implementation);
}

/// Of the taps that the definition counts, one in stride * stride meets an element.
double estimate(const match::Binding& binding, const CallChoice& choice,
                const match::Machine& machine) {
    View weights = get_view(choice.parameters, "weights");
    View source = source_seen(choice.parameters);
    bool is_grouped = weights.dims.size() > source.dims.size();
    double operations = operations_of(binding);
    for (int64_t stride : get_window(choice.parameters).strides)
        operations /= static_cast<double>(stride);
    double efficiency = 0.7 * lane_use(weights.dims[is_grouped ? 1 : 0]);
    if (source.strides[1] != 1) efficiency *= 0.6;
    double seconds = copy_seconds(choice.parameters, machine) +
                     roofline(machine, operations, efficiency, bytes_of(binding));
    if (get_int(choice.parameters, "follows") == 0) return seconds;
    double moved =
        2 * sizeof(float) * static_cast<double>(element_count(binding.result.tensor->shape()));
    return seconds + machine.call_seconds + moved / machine.cache_bandwidth;
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto instance = std::make_unique<OneDnnInstance>(step, program);
    auto primitive =
        descriptor_or_fail([&] { return descriptor(step.parameters, instance->engine()); });
    Epilogue epilogue = fused(step.parameters);
    View result = get_view(step.parameters, "result");
    instance->bind(DNNL_ARG_SRC, 0, get_view(step.parameters, "source"),
                   source_seen(step.parameters).desc());
    instance->bind(DNNL_ARG_WEIGHTS, 1, get_view(step.parameters, "weights"),
                   primitive.weights_desc());
    if (epilogue.bias_argument) {
        View bias{{primitive.dst_desc().get_dims()[1]}, {1}};
        instance->bind(DNNL_ARG_BIAS, *epilogue.bias_argument, bias, bias.desc());
    }
    instance->bind(epilogue);
    instance->bind_result(DNNL_ARG_DST, 0, result);
    instance->finish(dnnl::deconvolution_forward(primitive), primitive.scratchpad_desc(),
                     primitive.impl_info_str());
    if (get_int(step.parameters, "follows") != 0)
        add_following(*instance, result, get_epilogue(step.parameters));
    return instance;
}

}  // namespace

extern const LibraryCall onednn_deconvolution{
    "onednn_deconvolution",
    "oneDNN",
    "transposed convolution over 1 to 3 spatial axes with stride, dilation, pads and groups; bias "
    "and element-wise operations follow, in registers where there is no stride",
    patterns(),
    choices,
    estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
