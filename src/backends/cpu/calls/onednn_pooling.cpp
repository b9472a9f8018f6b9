#include <cmath>

#include "backends/cpu/onednn/instance.h"
#include "backends/cpu/onednn/support.h"
#include "backends/cpu/onednn/window.h"
#include "expr/visit.h"

namespace ollie::backends::cpu::calls {
namespace {

struct Spelling {
    int rank;
    bool is_maximum;
};

Spelling spelling_of(int pattern) { return {pattern / 2 + 1, pattern % 2 == 0}; }

std::vector<std::string> patterns() {
    std::vector<std::string> texts;
    for (int pattern = 0; pattern < 2 * most_spatial_axes; ++pattern) {
        Spelling spelling = spelling_of(pattern);
        texts.push_back(fmt::format(
            "Y[n, c, {}] = {}[{}] A[n, c, {} | {}]{}", for_each_spatial(spelling.rank, "@h"),
            spelling.is_maximum ? "max" : "sum", for_each_spatial(spelling.rank, "@r"),
            for_each_spatial(spelling.rank, "$s@h*@h + $d@h*@r - $p@h"),
            spelling.is_maximum ? "-inf" : "0", no_units(spelling.rank)));
    }
    return texts;
}

using Point = std::map<expr::Iterator, int64_t>;

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// The value of an index at a point.
int64_t value_at(expr::Index index, const Point& point) {
    int64_t value = index->constant;
    for (const expr::Term& term : index->terms) {
        const expr::AtomNode& atom = *term.atom;
        int64_t part = 0;
        switch (atom.kind) {
            case expr::AtomKind::Iterator:
                part = point.at(atom.iterator);
                break;
            case expr::AtomKind::FloorDiv:
                part = floor_quotient(value_at(atom.a, point), atom.divisor);
                break;
            case expr::AtomKind::Min:
                part = std::min(value_at(atom.a, point), value_at(atom.b, point));
                break;
            case expr::AtomKind::Max:
                part = std::max(value_at(atom.a, point), value_at(atom.b, point));
                break;
            case expr::AtomKind::Table:
                part = atom.table.at(static_cast<size_t>(value_at(atom.a, point)));
                break;
        }
        value += term.coefficient * part;
    }
    return value;
}

/// A product of indices and constants, 1 / such a product; nothing for anything else.
std::optional<double> value_at(expr::Scalar scalar, const Point& point) {
    if (scalar->kind == expr::ScalarKind::Constant) return scalar->constant;
    if (scalar->kind == expr::ScalarKind::Number)
        return static_cast<double>(value_at(scalar->indices[0], point));
    double product = 1;
    for (expr::Scalar operand : scalar->operands) {
        std::optional<double> factor = value_at(operand, point);
        if (!factor) return std::nullopt;
        product *= *factor;
    }
    if (scalar->kind == expr::ScalarKind::Mul) return product;
    bool is_reciprocal = scalar->kind == expr::ScalarKind::Function &&
                         scalar->function == expr::Function::Reciprocal;
    if (is_reciprocal) return 1 / product;
    return std::nullopt;
}

int64_t taps_inside(const WindowAxis& axis, int64_t position, int64_t extent) {
    int64_t count = 0;
    for (int64_t tap = 0; tap < axis.taps; ++tap) {
        int64_t at = position * axis.stride + tap * axis.dilation - axis.pad_begin;
        count += at >= 0 && at < extent;
    }
    return count;
}

bool uses_numbers(expr::Scalar scalar) {
    return scalar->kind == expr::ScalarKind::Number ||
           std::any_of(scalar->operands.begin(), scalar->operands.end(), uses_numbers);
}

/// Whether the factor is 1 over the number of taps inside, at every position.
bool is_reciprocal_count(expr::Scalar factor, const match::Binding& binding,
                         const std::vector<WindowAxis>& axes, const DataAxes& source) {
    int rank = static_cast<int>(axes.size());
    int64_t points = 1;
    for (const WindowAxis& axis : axes) points *= axis.positions;
    constexpr int64_t most_points = 1 << 20;
    if (points > most_points) return false;
    for (int64_t flat = 0; flat < points; ++flat) {
        Point point;
        int64_t count = 1;
        int64_t rest = flat;
        for (int i = rank; i-- > 0;) {
            const WindowAxis& axis = axes[static_cast<size_t>(i)];
            int64_t position = rest % axis.positions;
            rest /= axis.positions;
            expr::Iterator iterator = binding.iterators.at(position_names(rank)[i]).iterator;
            if (iterator) point[iterator] = position;
            int tensor_axis = source.spatial[static_cast<size_t>(i)];
            count *= taps_inside(axis, position,
                                 tensor_axis < 0 ? 1 : source.tensor->axes[tensor_axis].extent());
        }
        std::optional<double> value = value_at(factor, point);
        if (!value || std::abs(*value * static_cast<double>(count) - 1) > 1e-12) return false;
    }
    return true;
}

struct Pool {
    dnnl::algorithm algorithm;
    match::Binding binding;  ///< Without the factor that the algorithm applies.
    double scale = 1;
};

/// A sum is the average times the number of taps; where the sum is divided by the number of taps
/// inside, that is an algorithm of its own.
OrRefusal<Pool> pool_of(const match::Binding& binding, const std::vector<WindowAxis>& axes,
                        const DataAxes& source) {
    Pool pool{dnnl::algorithm::pooling_max, binding};
    if (spelling_of(binding.pattern).is_maximum) return pool;
    for (const WindowAxis& axis : axes) pool.scale *= static_cast<double>(axis.taps);
    pool.algorithm = dnnl::algorithm::pooling_avg_include_padding;
    if (!uses_numbers(binding.epilogue)) return pool;
    expr::Scalar inverse = binding.definition->arena->constant_scalar(1 / pool.scale);
    bool is_found = false;
    pool.binding.epilogue = expr::rewrite(binding.epilogue, [&](expr::Scalar scalar) {
        bool is_candidate = scalar->kind == expr::ScalarKind::Function &&
                            scalar->function == expr::Function::Reciprocal && uses_numbers(scalar);
        if (!is_candidate || !is_reciprocal_count(scalar, binding, axes, source)) return scalar;
        is_found = true;
        return inverse;
    });
    if (!is_found) return refuse("the divisor is not the number of taps inside");
    pool.algorithm = dnnl::algorithm::pooling_avg_exclude_padding;
    return pool;
}

dnnl::pooling_forward::primitive_desc descriptor(const Attributes& parameters,
                                                 const dnnl::engine& engine) {
    WindowParameters window = get_window(parameters);
    return {engine,
            dnnl::prop_kind::forward_inference,
            static_cast<dnnl::algorithm>(get_int(parameters, "algorithm")),
            source_seen(parameters).desc(),
            get_view(parameters, "result").desc(),
            window.strides,
            get_ints(parameters, "kernel"),
            window.dilations,
            window.pads_begin,
            window.pads_end,
            attribute_of(get_epilogue(parameters))};
}

OrRefusal<CallChoice> choice_of(const match::Binding& binding, const DataLayouts& layouts) {
    auto axes = window_axes(binding, spelling_of(binding.pattern).rank);
    if (!axes) return Refusal{axes.reason()};
    DataAxes source = DataAxes::of(binding.operands[0], 1);
    DataAxes result = DataAxes::of(binding.result, 1);
    auto pool = pool_of(binding, *axes, source);
    if (!pool) return Refusal{pool.reason()};
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
    arguments.add(source.tensor, layouts.source);
    ResultGeometry geometry{.definition = binding.definition,
                            .layout = layouts.result,
                            .dims = result.groups(),
                            .scale = pool->scale,
                            .takes_bias = false,
                            .is_channels_last = layouts.is_result_last};
    auto epilogue = plan_epilogue(pool->binding, geometry, arguments);
    if (!epilogue) return Refusal{epilogue.reason()};
    // Seen to fail in oneDNN 3.2 when run.
    if (epilogue->has("prelu")) return refuse("slopes of a pool vary");
    // Seen to read the tensor in the wrong order.
    if (epilogue->reads_tensors() && result_view->strides[1] != 1)
        return refuse("tensors follow a pool with channels first");
    std::vector<int64_t> kernel;
    for (const WindowAxis& axis : *axes) kernel.push_back(axis.taps);
    choice.parameters["kernel"] = std::move(kernel);
    choice.parameters["algorithm"] = static_cast<int64_t>(pool->algorithm);
    put_source(choice.parameters, *source_view, is_copied);
    put(choice.parameters, "result", *result_view);
    put(choice.parameters, *window);
    // The library's maximum ignores NaN and never is -inf.
    choice.changes_nonfinite =
        pool->algorithm == dnnl::algorithm::pooling_max || epilogue->changes_nonfinite();
    put(choice.parameters, *epilogue);
    std::move(arguments).move_to(choice);
    return choice;
}

OrRefusal<std::vector<CallChoice>> choices(const match::Binding& binding) {
    DataAxes source = DataAxes::of(binding.operands[0], 1);
    DataAxes result = DataAxes::of(binding.result, 1);
    return supported_choices(
        "onednn_pooling", data_layouts(source, result),
        [&](const DataLayouts& layouts) { return choice_of(binding, layouts); }, descriptor);
}

double estimate(const match::Binding& binding, const CallChoice& choice,
                const match::Machine& machine) {
    bool is_channels_last = source_seen(choice.parameters).strides[1] == 1;
    return copy_seconds(choice.parameters, machine) + roofline(machine, operations_of(binding),
                                                               is_channels_last ? 0.1 : 0.03,
                                                               bytes_of(binding));
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto instance = std::make_unique<OneDnnInstance>(step, program);
    auto primitive =
        descriptor_or_fail([&] { return descriptor(step.parameters, instance->engine()); });
    instance->bind(DNNL_ARG_SRC, 0, get_view(step.parameters, "source"),
                   source_seen(step.parameters).desc());
    instance->bind(get_epilogue(step.parameters));
    instance->bind_result(DNNL_ARG_DST, 0, get_view(step.parameters, "result"));
    instance->finish(dnnl::pooling_forward(primitive), primitive.scratchpad_desc(),
                     primitive.impl_info_str());
    return instance;
}

}  // namespace

extern const LibraryCall onednn_pooling{
    "onednn_pooling",
    "oneDNN",
    "maximum, sum or average of windows over 1 to 3 spatial axes, pads counted or not",
    patterns(),
    choices,
    estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
