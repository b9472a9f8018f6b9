#include <algorithm>

#include "backends/cpu/onednn/instance.h"
#include "backends/cpu/onednn/support.h"
#include "backends/cpu/onednn/window.h"
#include "expr/build.h"
#include "match/contraction.h"

namespace ollie::backends::cpu::calls {
namespace {

using expr::Axis;
using match::Access;
using match::Contraction;
using Axes = std::vector<Axis>;

/// The library computes result[batch, M, N] = source[batch, M, K] * weights[batch, K, N], rows of
/// the result contiguous. `parts` are the batch dimensions, each some iterators taken as one; one
/// that an operand lacks is broadcast.
struct Roles {
    bool is_swapped = false;  ///< The second operand is the library's source.
    std::vector<Axes> parts;
    Axes m;
    Axes n;
    Axes k;
};

enum class Storage {
    Plain,       ///< batch, outer, inner
    Transposed,  ///< batch, inner, outer
    Interleaved  ///< outer, batch, inner
};

struct Candidate {
    Roles roles;
    Storage source;
    Storage weights;
    Storage result;
};

const Access& source_of(const Contraction& c, const Roles& roles) {
    return roles.is_swapped ? c.second : c.first;
}
const Access& weights_of(const Contraction& c, const Roles& roles) {
    return roles.is_swapped ? c.first : c.second;
}

bool uses(const Access& access, const Axis& axis) {
    return std::any_of(access.indices.begin(), access.indices.end(),
                       [&](expr::Index index) { return expr::uses(index, axis.iterator); });
}

/// Iterators in the order in which the access uses them, axis by axis.
Axes in_order_of(const Access& access, Axes axes) {
    auto place = [&](const Axis& axis) {
        for (size_t i = 0; i < access.indices.size(); ++i)
            if (int64_t factor = expr::coefficient(access.indices[i], axis.iterator))
                return std::pair(static_cast<int64_t>(i), -factor);
        return std::pair(int64_t{0}, int64_t{0});
    };
    std::stable_sort(axes.begin(), axes.end(),
                     [&](const Axis& a, const Axis& b) { return place(a) < place(b); });
    return axes;
}

Axes without_first(const Axes& axes) { return {axes.begin() + 1, axes.end()}; }

Axes first_moved_last(Axes axes) {
    if (!axes.empty()) std::rotate(axes.begin(), axes.begin() + 1, axes.end());
    return axes;
}

/// Ways to share the iterators out among the library's dimensions.
std::vector<Roles> roles_of(const Contraction& c) {
    bool first_varies = !is_constant(c.first.tensor);
    Axes rows = in_order_of(first_varies ? c.first : c.result, c.rows);
    Axes columns = in_order_of(is_constant(c.second.tensor) ? c.result : c.second, c.columns);
    Axes reduced = in_order_of(first_varies ? c.first : c.second, c.reduced);
    Axes batch = in_order_of(c.result, c.batch);
    std::vector<Axes> parts;
    if (!batch.empty()) parts.push_back(batch);

    std::vector<Roles> all;
    auto add_both = [&](const std::vector<Axes>& with, const Axes& r, const Axes& f) {
        all.push_back({false, with, r, f, reduced});
        if (f.size() > 1) all.push_back({false, with, r, first_moved_last(f), reduced});
        all.push_back({true, with, f, r, reduced});
    };
    add_both(parts, rows, columns);
    if (rows.size() > 1) {
        std::vector<Axes> with = parts;
        with.push_back({rows.front()});
        add_both(with, without_first(rows), columns);
    }
    if (columns.size() > 1) {
        std::vector<Axes> with = parts;
        with.push_back({columns.front()});
        add_both(with, rows, without_first(columns));
    }
    return all;
}

std::vector<Candidate> candidates_of(const Contraction& c) {
    std::vector<Candidate> all;
    for (const Roles& roles : roles_of(c)) {
        auto storages = [&](const Access& access) {
            std::vector<Storage> list{Storage::Plain};
            if (!is_constant(access.tensor)) list.push_back(Storage::Transposed);
            return list;
        };
        for (Storage source : storages(source_of(c, roles)))
            for (Storage weights : storages(weights_of(c, roles)))
                all.push_back({roles, source, weights, Storage::Plain});
        bool has_batch = !c.batch.empty() && roles.parts.size() == 1;
        if (!has_batch) continue;
        bool source_varies = !is_constant(source_of(c, roles).tensor);
        bool weights_vary = !is_constant(weights_of(c, roles).tensor);
        all.push_back({roles, source_varies ? Storage::Interleaved : Storage::Plain,
                       weights_vary ? Storage::Interleaved : Storage::Plain, Storage::Interleaved});
    }
    return all;
}

void append(Axes& all, const Axes& more) { all.insert(all.end(), more.begin(), more.end()); }

/// The order of an access's iterators in storage.
Axes storage_order(const Access& access, const Roles& roles, const Axes& outer, const Axes& inner,
                   Storage storage) {
    Axes batch;
    for (const Axes& part : roles.parts) append(batch, part);
    Axes order;
    switch (storage) {
        case Storage::Plain:
            order = batch;
            append(order, outer);
            append(order, inner);
            break;
        case Storage::Transposed:
            order = batch;
            append(order, inner);
            append(order, outer);
            break;
        case Storage::Interleaved:
            order = outer;
            append(order, batch);
            append(order, inner);
            break;
    }
    std::erase_if(order, [&](const Axis& axis) { return !uses(access, axis); });
    return order;
}

/// Appends the iterators as one dimension or, for a batch, as several where they do not nest.
bool append_dimension(const Access& access, const Layout& layout, const Axes& axes, View& view) {
    auto merged = match::merge(access, layout, axes);
    if (!merged) return false;
    view.dims.push_back(merged->extent);
    view.strides.push_back(merged->stride);
    return true;
}

std::optional<View> view_of(const Access& access, const Layout& layout, const Roles& roles,
                            const Axes& outer, const Axes& inner) {
    View view;
    for (const Axes& part : roles.parts) {
        bool is_broadcast = !part.empty() && !uses(access, part.front());
        if (!append_dimension(access, layout, is_broadcast ? Axes{} : part, view))
            return std::nullopt;
    }
    if (!append_dimension(access, layout, outer, view)) return std::nullopt;
    if (!append_dimension(access, layout, inner, view)) return std::nullopt;
    view.offset = match::offset_of(access, layout);
    set_unit_strides(view);
    return view;
}

/// Dimensions of the result as axes of the definition.
std::vector<AxisGroup> result_groups(const Contraction& c, const Roles& roles) {
    auto group_of = [&](const Axes& axes) {
        AxisGroup group;
        for (const Axis& axis : axes)
            for (size_t i = 0; i < c.result.tensor->axes.size(); ++i)
                if (c.result.tensor->axes[i].iterator == axis.iterator)
                    group.push_back(static_cast<int>(i));
        return group;
    };
    std::vector<AxisGroup> groups;
    for (const Axes& part : roles.parts) groups.push_back(group_of(part));
    groups.push_back(group_of(roles.m));
    groups.push_back(group_of(roles.n));
    return groups;
}

bool is_packed(const Attributes& parameters, const std::string& name) {
    return get_int(parameters, name) != 0;
}

View bias_view(const Attributes& parameters) {
    View view = get_view(parameters, "result");
    std::fill(view.dims.begin(), view.dims.end() - 1, 1);
    view.strides.back() = 1;
    view.offset = 0;
    set_unit_strides(view);
    return view;
}

dnnl::matmul::primitive_desc descriptor(const Attributes& parameters, const dnnl::engine& engine) {
    Epilogue epilogue = get_epilogue(parameters);
    View weights = get_view(parameters, "weights");
    dnnl::memory::desc bias;
    if (epilogue.bias_argument) bias = bias_view(parameters).desc();
    return {engine,
            get_view(parameters, "source").desc(),
            is_packed(parameters, "weights_packed") ? weights.any() : weights.desc(),
            bias,
            get_view(parameters, "result").desc(),
            attribute_of(epilogue)};
}

/// oneDNN 3.2 shares a sum out among threads where there are more than blocks of the result, the
/// source is transposed and the sum has 2048 terms or more, but has no place for the parts of more
/// than one product: 2 of 16 x 17 came out wrong from 3 threads on, in part never written.
bool is_shared_out_wrongly(const View& source) {
    constexpr int64_t fewest_terms = 2048;
    bool has_batch =
        std::any_of(source.dims.begin(), source.dims.end() - 2, [](int64_t n) { return n > 1; });
    return has_batch && source.strides.back() != 1 && source.dims.back() >= fewest_terms;
}

OrRefusal<CallChoice> choice_of(const match::Binding& binding, const Candidate& candidate) {
    const Contraction& c = *binding.contraction;
    const Roles& roles = candidate.roles;
    const Access& source = source_of(c, roles);
    const Access& weights = weights_of(c, roles);
    auto source_layout =
        match::layout_for(source, storage_order(source, roles, roles.m, roles.k, candidate.source));
    auto weights_layout = match::layout_for(
        weights, storage_order(weights, roles, roles.k, roles.n, candidate.weights));
    auto result_layout = match::layout_for(
        c.result, storage_order(c.result, roles, roles.m, roles.n, candidate.result));
    if (!source_layout || !weights_layout || !result_layout)
        return refuse("an axis holds iterators of several classes");
    source_layout = simplest(source.tensor, *source_layout);
    weights_layout = simplest(weights.tensor, *weights_layout);
    result_layout = simplest(binding.definition, *result_layout);
    auto source_view = view_of(source, *source_layout, roles, roles.m, roles.k);
    auto weights_view = view_of(weights, *weights_layout, roles, roles.k, roles.n);
    auto result_view = view_of(c.result, *result_layout, roles, roles.m, roles.n);
    if (!source_view || !weights_view || !result_view)
        return refuse("iterators of one class do not nest");
    if (is_shared_out_wrongly(*source_view))
        return refuse("long sums of a batch take no transposed source");
    // The operands in the order of the binding, whatever their roles.
    ArgumentList arguments;
    int first = arguments.add(c.first.tensor, roles.is_swapped ? *weights_layout : *source_layout);
    int second =
        arguments.add(c.second.tensor, roles.is_swapped ? *source_layout : *weights_layout);
    if (second < 0) return refuse("both operands are one tensor, in two layouts");
    int channel = static_cast<int>(roles.parts.size()) + 1;
    auto epilogue = plan_epilogue(
        binding, {binding.definition, *result_layout, result_groups(c, roles), channel, 1},
        arguments);
    if (!epilogue) return Refusal{epilogue.reason()};
    // Seen to crash in oneDNN 3.2 where the batch is not the outermost dimension in storage.
    if (candidate.result == Storage::Interleaved && epilogue->reads_tensors())
        return refuse("nothing is added to an interleaved product");

    CallChoice choice;
    choice.result_layout = *result_layout;
    Attributes& parameters = choice.parameters;
    put(parameters, "source", *source_view);
    put(parameters, "weights", *weights_view);
    put(parameters, "result", *result_view);
    parameters["source_argument"] = int64_t{roles.is_swapped ? second : first};
    parameters["weights_argument"] = int64_t{roles.is_swapped ? first : second};
    parameters["weights_packed"] = int64_t{is_constant(weights.tensor)};
    choice.changes_nonfinite = epilogue->changes_nonfinite();
    put(parameters, *epilogue);
    std::move(arguments).move_to(choice);
    return choice;
}

OrRefusal<std::vector<CallChoice>> choices(const match::Binding& binding) {
    return supported_choices(
        "onednn_matmul", candidates_of(*binding.contraction),
        [&](const Candidate& candidate) { return choice_of(binding, candidate); }, descriptor);
}

double estimate(const match::Binding& binding, const CallChoice& choice,
                const match::Machine& machine) {
    View source = get_view(choice.parameters, "source");
    View result = get_view(choice.parameters, "result");
    double operations = 2 * static_cast<double>(source.dims.back());
    for (int64_t extent : result.dims) operations *= static_cast<double>(extent);
    auto k = static_cast<double>(source.dims.back());
    auto m = static_cast<double>(source.dims.end()[-2]);
    double efficiency = 0.95 * lane_use(result.dims.back()) * (k / (k + 8)) * (m / (m + 4));
    bool is_transposed = source.strides.back() != 1;
    bool is_interleaved = result.dims.size() > 2 && result.strides[0] < result.strides.end()[-2];
    if (is_transposed) efficiency *= 0.8;
    if (is_interleaved) efficiency *= 0.85;
    return roofline(machine, operations, efficiency, bytes_of(binding));
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto instance = std::make_unique<OneDnnInstance>(step, program);
    const Attributes& parameters = step.parameters;
    auto primitive = descriptor_or_fail([&] { return descriptor(parameters, instance->engine()); });
    Epilogue epilogue = get_epilogue(parameters);
    View source = get_view(parameters, "source");
    auto argument = [&](const std::string& name) {
        return static_cast<int>(get_int(parameters, name));
    };
    instance->bind(DNNL_ARG_SRC, argument("source_argument"), source, source.desc());
    instance->bind(DNNL_ARG_WEIGHTS, argument("weights_argument"), get_view(parameters, "weights"),
                   primitive.weights_desc());
    if (epilogue.bias_argument) {
        View bias = bias_view(parameters);
        instance->bind(DNNL_ARG_BIAS, *epilogue.bias_argument, bias, bias.desc());
    }
    instance->bind(epilogue);
    instance->bind_result(DNNL_ARG_DST, 0, get_view(parameters, "result"));
    instance->finish(dnnl::matmul(primitive), primitive.scratchpad_desc(),
                     primitive.impl_info_str());
    return instance;
}

}  // namespace

extern const LibraryCall onednn_matmul{
    "onednn_matmul",
    "oneDNN",
    "product of matrices, any number of iterators in a class, batched, operands and result stored "
    "in any order; bias and element-wise operations follow in registers",
    {"Y[batch.., rows.., columns..] = "
     "sum[reduced..] A[batch.., rows.., reduced..] * B[batch.., columns.., reduced..]"},
    choices,
    estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
