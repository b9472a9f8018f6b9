#include <algorithm>

#include "backends/cpu/onednn/instance.h"
#include "backends/cpu/onednn/support.h"
#include "backends/cpu/onednn/window.h"
#include "match/group.h"

namespace ollie::backends::cpu::calls {
namespace {

const std::string start =
    "input A: f32[2, 3]\n"
    "M: f32[x:2] = max[j:3] A[x, j]\n"
    "S: f32[x:2] = sum[j:3] exp(A[x, j] - M[x])\n";

std::vector<std::string> patterns() {
    return {start + "Y: f32[x:2, j:3] = exp(A[x, j] - M[x]) / S[x]\n",
            start + "Y: f32[x:2, j:3] = A[x, j] - M[x] - log(S[x])\n"};
}

dnnl::algorithm algorithm_of(int pattern) {
    return pattern == 0 ? dnnl::algorithm::softmax_accurate : dnnl::algorithm::softmax_log;
}

dnnl::softmax_forward::primitive_desc descriptor(const Attributes& parameters,
                                                 const dnnl::engine& engine) {
    dnnl::primitive_attr attribute;
    attribute.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return {engine,
            dnnl::prop_kind::forward_inference,
            static_cast<dnnl::algorithm>(get_int(parameters, "algorithm")),
            get_view(parameters, "source").desc(),
            get_view(parameters, "result").desc(),
            1,
            attribute};
}

/// The library's dimensions are what lies outside of the normalized axes in storage, they, and what
/// lies inside; each is some axes of the result.
using Dimensions = std::vector<AxisGroup>;

/// The normalized axes innermost, then where they are in the row-major order.
std::vector<Dimensions> candidates_of(const match::Binding& binding) {
    const std::vector<int>& normalized = binding.group->axes.at("j");
    auto is_normalized = [&](int axis) {
        return std::find(normalized.begin(), normalized.end(), axis) != normalized.end();
    };
    AxisGroup others;
    for (int axis = 0; axis < static_cast<int>(binding.definition->rank()); ++axis)
        if (!is_normalized(axis)) others.push_back(axis);
    std::vector<Dimensions> candidates{{others, normalized, {}}};
    if (normalized.empty()) return candidates;
    auto first = std::find_if(others.begin(), others.end(),
                              [&](int axis) { return axis > normalized.front(); });
    candidates.push_back(
        {AxisGroup(others.begin(), first), normalized, AxisGroup(first, others.end())});
    return candidates;
}

Dimensions in_source(const match::Operand& source, const Dimensions& dimensions) {
    Dimensions result = dimensions;
    for (AxisGroup& group : result)
        for (int& axis : group) axis = source.axis_of[static_cast<size_t>(axis)];
    return result;
}

Layout layout_of(const expr::Tensor* tensor, const Dimensions& dimensions) {
    std::vector<int> order;
    for (const AxisGroup& group : dimensions) order.insert(order.end(), group.begin(), group.end());
    return layout_in_order(tensor, order);
}

OrRefusal<CallChoice> choice_of(const match::Binding& binding, const Dimensions& dimensions) {
    const match::Operand& source = binding.operands[0];
    Dimensions source_dimensions = in_source(source, dimensions);
    Layout source_layout = layout_of(source.tensor, source_dimensions);
    CallChoice choice;
    choice.result_layout = layout_of(binding.definition, dimensions);
    auto source_view = view_of(source.tensor, source_layout, source_dimensions);
    if (!source_view) return Refusal{source_view.reason()};
    auto result_view = view_of(binding.definition, choice.result_layout, dimensions);
    if (!result_view) return Refusal{result_view.reason()};
    ArgumentList arguments;
    arguments.add(source.tensor, source_layout);
    put(choice.parameters, "source", *source_view);
    put(choice.parameters, "result", *result_view);
    choice.parameters["algorithm"] = static_cast<int64_t>(algorithm_of(binding.pattern));
    // Rows with NaN or infinity come out as something else; -inf among numbers is right.
    choice.changes_nonfinite = true;
    std::move(arguments).move_to(choice);
    return choice;
}

OrRefusal<std::vector<CallChoice>> choices(const match::Binding& binding) {
    if (element_count(binding.definition->shape()) == 0) return refuse("the tensor is empty");
    return supported_choices(
        "onednn_softmax", candidates_of(binding),
        [&](const Dimensions& dimensions) { return choice_of(binding, dimensions); }, descriptor);
}

/// Two exponentials and some arithmetic per element, in vectors where the library has them along
/// the innermost dimension.
double estimate(const match::Binding& binding, const CallChoice& choice,
                const match::Machine& machine) {
    constexpr double operations = 40;
    double elements = static_cast<double>(element_count(binding.definition->shape()));
    double bytes = 2 * sizeof(float) * elements;
    double efficiency = get_ints(choice.parameters, "result").back() == 1 ? 0.3 : 0.2;
    return roofline(machine, operations * elements, efficiency, bytes);
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto instance = std::make_unique<OneDnnInstance>(step, program);
    auto primitive =
        descriptor_or_fail([&] { return descriptor(step.parameters, instance->engine()); });
    View source = get_view(step.parameters, "source");
    instance->bind(DNNL_ARG_SRC, 0, source, source.desc());
    instance->bind_result(DNNL_ARG_DST, 0, get_view(step.parameters, "result"));
    instance->finish(dnnl::softmax_forward(primitive), primitive.scratchpad_desc(),
                     primitive.impl_info_str());
    return instance;
}

}  // namespace

extern const LibraryCall onednn_softmax{
    "onednn_softmax",
    "oneDNN",
    "exponentials over their sum, or the logarithm of that, along one axis or several neighbours",
    patterns(),
    choices,
    estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
