#include "backends/cpu/onednn/instance.h"
#include "backends/cpu/onednn/support.h"
#include "backends/cpu/onednn/window.h"

namespace ollie::backends::cpu::calls {
namespace {

/// How the groups of a convolution show in its accesses.
enum class Groups {
    None,
    Divided,  ///< The filter's quotient chooses the channels.
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
            list.push_back({rank, Groups::Divided, true});
            for (bool source : {false, true})
                for (bool weights : {false, true})
                    list.push_back({rank, Groups::Explicit, source, weights});
        }
        return list;
    }();
    return all;
}

std::string pattern_of(const Spelling& spelling) {
    bool is_explicit = spelling.groups == Groups::Explicit;
    std::string group = is_explicit ? "g" : "(f div $fg)";
    std::string source = "c";
    std::string weights = "f";
    if (spelling.groups != Groups::None)
        source = spelling.source_has_axis ? group + (is_explicit ? "" : " + 0") + ", c"
                                          : "$cg*" + group + " + c";
    if (spelling.source_has_axis && !is_explicit) source = "f div $fg, c";
    if (is_explicit) weights = spelling.weights_have_axis ? "g, f" : "$fg*g + f";
    return fmt::format("Y[n, {}f, {}] = sum[c, {}] A[n, {}, {} | 0] * K[{}, c, {}]{}",
                       is_explicit ? "g, " : "", for_each_spatial(spelling.rank, "@h"),
                       for_each_spatial(spelling.rank, "@r"), source,
                       for_each_spatial(spelling.rank, "$s@h*@h + $d@h*@r - $p@h"), weights,
                       for_each_spatial(spelling.rank, "@r"), no_units(spelling.rank, is_explicit));
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
    if (spelling.groups == Groups::None) return channels;
    if (spelling.groups == Groups::Divided) {
        int64_t per_group = binding.parameter("fg");
        if (channels.filters % per_group != 0) return refuse("the last group is partial");
        channels.groups = channels.filters / per_group;
        channels.filters = per_group;
    } else {
        channels.groups = binding.extent("g");
    }
    if (channels.groups == 1) return refuse("there is one group: a plain convolution takes it");
    if (!spelling.source_has_axis && binding.parameter("cg") != channels.source)
        return refuse("groups of channels overlap");
    if (spelling.groups == Groups::Explicit && !spelling.weights_have_axis &&
        binding.parameter("fg") != channels.filters)
        return refuse("groups of filters overlap");
    return channels;
}

View weights_view(const match::Binding& binding, const Spelling& spelling, const Channels& channels,
                  const std::vector<WindowAxis>& window, const Layout& layout) {
    PatternStrides strides(binding.operands[1], layout);
    int filter = spelling.weights_have_axis ? 1 : 0;
    View view;
    if (channels.groups > 1) {
        view.dims.push_back(channels.groups);
        view.strides.push_back(spelling.weights_have_axis ? strides[0]
                                                          : strides[0] * channels.filters);
    }
    view.dims.insert(view.dims.end(), {channels.filters, channels.source});
    view.strides.insert(view.strides.end(), {strides[filter], strides[filter + 1]});
    for (size_t i = 0; i < window.size(); ++i) {
        view.dims.push_back(window[i].taps);
        view.strides.push_back(strides[filter + 2 + static_cast<int>(i)]);
    }
    set_unit_strides(view);
    return view;
}

dnnl::convolution_forward::primitive_desc descriptor(const Attributes& parameters,
                                                     const dnnl::engine& engine) {
    View source = source_seen(parameters);
    View result = get_view(parameters, "result");
    WindowParameters window = get_window(parameters);
    Epilogue epilogue = get_epilogue(parameters);
    dnnl::memory::desc bias;
    if (epilogue.bias_argument) bias = View{{result.dims[1]}, {1}}.desc();
    return {engine,
            dnnl::prop_kind::forward_inference,
            dnnl::algorithm::convolution_direct,
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

/// A window that has one position and reads the whole axis: its taps might as well be channels.
bool covers(const match::Operand& source, const Spelling& spelling, size_t spatial,
            const WindowAxis& axis) {
    int at = source.axis_of[1 + static_cast<size_t>(spelling.source_channel_axes()) + spatial];
    if (spelling.rank == 1 || at < 0 || axis.positions != 1 || axis.pad_begin != 0) return false;
    return axis.taps > 1 && axis.taps == source.tensor->axes[at].extent();
}

/// The views and windows of one combination of layouts.
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
    for (size_t i = 0; i < axes->size(); ++i)
        if (channels->source == 1 && covers(binding.operands[0], spelling, i, (*axes)[i]))
            return refuse("taps are channels: a convolution of lower rank takes it");
    auto source_view =
        view_of(source.tensor, layouts.source, source.groups(), layouts.is_source_last);
    if (!source_view) return Refusal{source_view.reason()};
    auto result_view =
        view_of(result.tensor, layouts.result, result.groups(), layouts.is_result_last);
    if (!result_view) return Refusal{result_view.reason()};
    bool is_copied = layouts.is_mixed();
    auto window = window_parameters(*axes, *source_view, layouts.is_source_last, is_copied);
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
    put_source(choice.parameters, *source_view, is_copied);
    put(choice.parameters, "weights",
        weights_view(binding, spelling, *channels, *axes, kernel_layout));
    put(choice.parameters, "result", *result_view);
    put(choice.parameters, *window);
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
        "onednn_convolution", data_layouts(source, result),
        [&](const DataLayouts& layouts) { return choice_of(binding, layouts); }, descriptor);
}

double estimate(const match::Binding& binding, const CallChoice& choice,
                const match::Machine& machine) {
    View weights = get_view(choice.parameters, "weights");
    View source = source_seen(choice.parameters);
    bool is_grouped = weights.dims.size() > source.dims.size();
    int64_t filters = weights.dims[is_grouped ? 1 : 0];
    int64_t channels = weights.dims[is_grouped ? 2 : 1];
    bool is_depthwise = filters == 1 && channels == 1;
    double efficiency = 0.9 * lane_use(filters) * (channels < 8 ? 0.5 : 1.0);
    if (is_depthwise) efficiency = 0.15;
    bool is_channels_last = source.strides[1] == 1;
    if (!is_channels_last) efficiency *= 0.6;
    return copy_seconds(choice.parameters, machine) +
           roofline(machine, operations_of(binding), efficiency, bytes_of(binding));
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto instance = std::make_unique<OneDnnInstance>(step, program);
    auto primitive =
        descriptor_or_fail([&] { return descriptor(step.parameters, instance->engine()); });
    Epilogue epilogue = get_epilogue(step.parameters);
    instance->bind(DNNL_ARG_SRC, 0, get_view(step.parameters, "source"),
                   source_seen(step.parameters).desc());
    instance->bind(DNNL_ARG_WEIGHTS, 1, get_view(step.parameters, "weights"),
                   primitive.weights_desc());
    if (epilogue.bias_argument) {
        View bias{{primitive.dst_desc().get_dims()[1]}, {1}};
        instance->bind(DNNL_ARG_BIAS, *epilogue.bias_argument, bias, bias.desc());
    }
    instance->bind(epilogue);
    instance->bind_result(DNNL_ARG_DST, 0, get_view(step.parameters, "result"));
    instance->finish(dnnl::convolution_forward(primitive), primitive.scratchpad_desc(),
                     primitive.impl_info_str());
    return instance;
}

}  // namespace

extern const LibraryCall onednn_convolution{
    "onednn_convolution",
    "oneDNN",
    "convolution over 1 to 3 spatial axes with stride, dilation, pads and groups; bias and "
    "element-wise operations follow in registers",
    patterns(),
    choices,
    estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
