#include "backends/cpu/onednn/post_operations.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ollie::backends::cpu {
namespace {

using match::EpilogueStep;
using Kind = EpilogueStep::Kind;

struct Elementwise {
    std::string_view name;
    dnnl::algorithm algorithm;
    int numbers;             ///< How many of alpha and beta there are.
    bool changes_nonfinite;  ///< In some implementations.
    float alpha = 0;         ///< Where it is no number of the operation.
    std::optional<expr::Function> function = {};
};

constexpr Elementwise elementwise_table[] = {
    {"linear", dnnl::algorithm::eltwise_linear, 2, false},
    {"clip", dnnl::algorithm::eltwise_clip, 2, true},
    {"leaky", dnnl::algorithm::eltwise_relu, 1, false},
    {"swish", dnnl::algorithm::eltwise_swish, 1, true},
    {"gelu", dnnl::algorithm::eltwise_gelu_erf, 0, true},
    {"hardswish", dnnl::algorithm::eltwise_hardswish, 2, true},
    {"elu", dnnl::algorithm::eltwise_elu, 1, true},
    {"tanh", dnnl::algorithm::eltwise_tanh, 0, false, 0, expr::Function::Tanh},
    {"logistic", dnnl::algorithm::eltwise_logistic, 0, true, 0, expr::Function::Sigmoid},
    {"exp", dnnl::algorithm::eltwise_exp, 0, true, 0, expr::Function::Exp},
    {"abs", dnnl::algorithm::eltwise_abs, 0, false, 0, expr::Function::Abs},
    {"sqrt", dnnl::algorithm::eltwise_sqrt, 0, false, 0, expr::Function::Sqrt},
    {"log", dnnl::algorithm::eltwise_log, 0, false, 0, expr::Function::Log},
    {"softplus", dnnl::algorithm::eltwise_soft_relu, 0, true, 1, expr::Function::Softplus},
};

const Elementwise* find_elementwise(std::string_view name) {
    for (const Elementwise& row : elementwise_table)
        if (row.name == name) return &row;
    return nullptr;
}

struct Binary {
    std::string_view name;
    dnnl::algorithm algorithm;
    bool changes_nonfinite;
};

constexpr Binary binary_table[] = {
    {"add", dnnl::algorithm::binary_add, false}, {"sub", dnnl::algorithm::binary_sub, false},
    {"mul", dnnl::algorithm::binary_mul, false}, {"div", dnnl::algorithm::binary_div, false},
    {"max", dnnl::algorithm::binary_max, true},  {"min", dnnl::algorithm::binary_min, true},
};

const Binary* find_binary(std::string_view name) {
    for (const Binary& row : binary_table)
        if (row.name == name) return &row;
    return nullptr;
}

constexpr size_t longest_chain = 12;

/// Axes of a tensor of the epilogue in the order of the result's axes in storage.
Layout layout_like(const EpilogueStep& step, const Layout& result) {
    std::vector<int> order;
    for (int axis : result.order)
        for (size_t i = 0; i < step.axis_of.size(); ++i)
            if (step.axis_of[i] == axis) order.push_back(static_cast<int>(i));
    return layout_in_order(step.tensor, order);
}

/// The dimensions of the result as axes of the tensor: each wholly or not at all.
OrRefusal<std::vector<AxisGroup>> groups_of(const EpilogueStep& step,
                                            const ResultGeometry& geometry) {
    std::vector<AxisGroup> groups;
    for (const AxisGroup& dim : geometry.dims) {
        AxisGroup group;
        size_t wanted = 0;
        for (int axis : dim) {
            if (axis < 0 || geometry.definition->axes[axis].extent() == 1) continue;
            ++wanted;
            auto found = std::find(step.axis_of.begin(), step.axis_of.end(), axis);
            if (found != step.axis_of.end())
                group.push_back(static_cast<int>(found - step.axis_of.begin()));
        }
        if (!group.empty() && group.size() != wanted)
            return refuse("{} varies along a part of a merged axis", step.tensor->name);
        groups.push_back(std::move(group));
    }
    return groups;
}

class EpiloguePlanner {
public:
    EpiloguePlanner(const ResultGeometry& geometry, ArgumentList& arguments)
        : geometry_(geometry), arguments_(arguments) {}

    std::optional<Refusal> add(const EpilogueStep& step) {
        switch (step.kind) {
            case Kind::Relu:
                push({"leaky"});
                return std::nullopt;
            case Kind::Clip:
                push_clip(step);
                return std::nullopt;
            case Kind::Function:
                return add_function(step);
            case Kind::Leaky:
                if (step.tensor != nullptr) return add_tensor("prelu", step);
                push({"leaky", step.constant});
                return std::nullopt;
            case Kind::Add:
                if (step.tensor != nullptr) return add_tensor("add", step);
                push_linear(1, step.constant);
                return std::nullopt;
            case Kind::Mul:
                if (step.tensor != nullptr) return add_tensor("mul", step);
                push_linear(step.constant, 0);
                return std::nullopt;
            case Kind::Sub:
                return add_tensor("sub", step);
            case Kind::Div:
                return add_tensor("div", step);
            case Kind::Max:
                return add_tensor("max", step);
            case Kind::Min:
                return add_tensor("min", step);
            case Kind::Swish:
                push({"swish", step.constant});
                return std::nullopt;
            case Kind::Gelu:
                push({"gelu"});
                return std::nullopt;
            case Kind::HardSwish:
                push({"hardswish", step.constant, step.upper});
                return std::nullopt;
            case Kind::Elu:
                push({"elu", step.constant});
                return std::nullopt;
        }
        CHECK(false);
    }

    void push_linear(double alpha, double beta) {
        auto& operations = epilogue_.operations;
        if (!operations.empty() && operations.back().name == "linear") {
            operations.back().alpha *= alpha;
            operations.back().beta = operations.back().beta * alpha + beta;
        } else {
            push({"linear", alpha, beta});
        }
    }

    Epilogue take() && { return std::move(epilogue_); }

private:
    void push(PostOperation operation) { epilogue_.operations.push_back(std::move(operation)); }

    void push_clip(const EpilogueStep& step) {
        constexpr double largest = std::numeric_limits<float>::max();
        auto& operations = epilogue_.operations;
        bool follows_clip = !operations.empty() && operations.back().name == "clip";
        double lower = std::max(step.constant, -largest);
        double upper = std::min(step.upper, largest);
        if (follows_clip && step.constant < -largest && upper >= operations.back().alpha)
            operations.back().beta = std::min(operations.back().beta, upper);
        else
            push({"clip", lower, upper});
    }

    std::optional<Refusal> add_function(const EpilogueStep& step) {
        for (const Elementwise& row : elementwise_table) {
            if (row.function != step.function) continue;
            push({std::string(row.name)});
            return std::nullopt;
        }
        return refuse("a function that is no post-operation");
    }

    std::optional<Refusal> add_tensor(std::string name, const EpilogueStep& step) {
        if (step.tensor->type != ElementType::F32)
            return refuse("{} is not f32", step.tensor->name);
        auto groups = groups_of(step, geometry_);
        if (!groups) return Refusal{groups.reason()};
        Layout layout = layout_like(step, geometry_.layout);
        auto view = view_of(step.tensor, layout, *groups, geometry_.is_channels_last);
        if (!view) return Refusal{view.reason()};
        int argument = arguments_.add(step.tensor, layout);
        if (argument < 0) return refuse("{} is needed in two layouts", step.tensor->name);
        bool is_bias = name == "add" && epilogue_.operations.empty() && !epilogue_.bias_argument &&
                       is_by_channel(*view) && geometry_.takes_bias && geometry_.scale == 1;
        if (is_bias) {
            epilogue_.bias_argument = argument;
            return std::nullopt;
        }
        if (name == "prelu" && !is_by_channel(*view))
            return refuse("slopes vary along other axes than the channels");
        push({std::move(name), 0, 0, argument, *view});
        return std::nullopt;
    }

    bool is_by_channel(const View& view) const {
        for (size_t d = 0; d < view.dims.size(); ++d)
            if (static_cast<int>(d) != geometry_.channel && view.dims[d] != 1) return false;
        int64_t extent = 1;
        for (int axis : geometry_.dims[static_cast<size_t>(geometry_.channel)])
            if (axis >= 0) extent *= geometry_.definition->axes[axis].extent();
        return view.dims[static_cast<size_t>(geometry_.channel)] == extent;
    }

    const ResultGeometry& geometry_;
    ArgumentList& arguments_;
    Epilogue epilogue_;
};

std::string text_of(const PostOperation& operation) {
    const Elementwise* elementwise = find_elementwise(operation.name);
    int numbers = elementwise == nullptr ? 0 : elementwise->numbers;
    if (numbers == 2)
        return fmt::format("{} {} {}", operation.name, operation.alpha, operation.beta);
    return numbers == 1 ? fmt::format("{} {}", operation.name, operation.alpha) : operation.name;
}

PostOperation operation_of(const std::string& text) {
    PostOperation operation;
    size_t end = text.find(' ');
    operation.name = text.substr(0, end);
    if (end == std::string::npos) return operation;
    size_t read = 0;
    std::string rest = text.substr(end + 1);
    operation.alpha = std::stod(rest, &read);
    if (read < rest.size()) operation.beta = std::stod(rest.substr(read));
    return operation;
}

std::string post_name(size_t i) { return fmt::format("post{}", i); }

void append(dnnl::post_ops& operations, const PostOperation& operation) {
    if (const Elementwise* row = find_elementwise(operation.name)) {
        float alpha = row->numbers > 0 ? static_cast<float>(operation.alpha) : row->alpha;
        return operations.append_eltwise(row->algorithm, alpha, static_cast<float>(operation.beta));
    }
    if (const Binary* row = find_binary(operation.name))
        return operations.append_binary(row->algorithm, operation.view.desc());
    CHECK(operation.name == "prelu", "post-operation '{}'", operation.name);
    int mask = 0;
    for (size_t d = 0; d < operation.view.dims.size(); ++d)
        if (operation.view.dims[d] != 1) mask |= 1 << d;
    operations.append_prelu(mask);
}

}  // namespace

bool Epilogue::has(std::string_view name) const {
    return std::any_of(operations.begin(), operations.end(),
                       [&](const PostOperation& operation) { return operation.name == name; });
}

bool Epilogue::reads_tensors() const {
    return std::any_of(operations.begin(), operations.end(),
                       [](const PostOperation& operation) { return operation.argument >= 0; });
}

bool Epilogue::changes_nonfinite() const {
    auto changes = [](const PostOperation& operation) {
        bool is_relu = operation.name == "leaky" && operation.alpha == 0;
        const Elementwise* elementwise = find_elementwise(operation.name);
        const Binary* binary = find_binary(operation.name);
        return is_relu || (elementwise != nullptr && elementwise->changes_nonfinite) ||
               (binary != nullptr && binary->changes_nonfinite);
    };
    return std::any_of(operations.begin(), operations.end(), changes);
}

OrRefusal<Epilogue> plan_epilogue(const match::Binding& binding, const ResultGeometry& geometry,
                                  ArgumentList& arguments) {
    auto chain = match::epilogue_chain(binding);
    if (!chain) return Refusal{chain.reason()};
    if (chain->size() > longest_chain) return refuse("{} operations follow", chain->size());
    EpiloguePlanner planner(geometry, arguments);
    std::span<const EpilogueStep> steps = *chain;
    double scale = geometry.scale;
    if (!steps.empty() && steps[0].kind == Kind::Mul && steps[0].tensor == nullptr) {
        scale *= steps[0].constant;
        steps = steps.subspan(1);
    }
    if (std::abs(scale - 1) > 1e-12) planner.push_linear(scale, 0);
    for (const EpilogueStep& step : steps)
        if (auto refusal = planner.add(step)) return *refusal;
    return std::move(planner).take();
}

void put(Attributes& attributes, const Epilogue& epilogue) {
    if (epilogue.bias_argument) attributes["bias_argument"] = int64_t{*epilogue.bias_argument};
    std::vector<std::string> texts;
    for (size_t i = 0; i < epilogue.operations.size(); ++i) {
        const PostOperation& operation = epilogue.operations[i];
        texts.push_back(text_of(operation));
        if (operation.argument < 0) continue;
        put(attributes, post_name(i), operation.view);
        attributes[post_name(i) + "_argument"] = int64_t{operation.argument};
    }
    if (!texts.empty()) attributes["post"] = std::move(texts);
}

Epilogue get_epilogue(const Attributes& attributes) {
    Epilogue epilogue;
    if (auto bias = find_int(attributes, "bias_argument"))
        epilogue.bias_argument = static_cast<int>(*bias);
    auto texts = find_strings(attributes, "post").value_or(std::vector<std::string>{});
    for (size_t i = 0; i < texts.size(); ++i) {
        PostOperation operation = operation_of(texts[i]);
        if (auto argument = find_int(attributes, post_name(i) + "_argument")) {
            operation.argument = static_cast<int>(*argument);
            operation.view = get_view(attributes, post_name(i));
        }
        epilogue.operations.push_back(std::move(operation));
    }
    return epilogue;
}

dnnl::primitive_attr attribute_of(const Epilogue& epilogue) {
    dnnl::post_ops operations;
    for (const PostOperation& operation : epilogue.operations) append(operations, operation);
    dnnl::primitive_attr attribute;
    attribute.set_post_ops(operations);
    attribute.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attribute;
}

int execution_argument(const Epilogue& epilogue, size_t i) {
    int which = epilogue.operations[i].name == "prelu" ? DNNL_ARG_WEIGHTS : DNNL_ARG_SRC_1;
    return DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | which;
}

}  // namespace ollie::backends::cpu
