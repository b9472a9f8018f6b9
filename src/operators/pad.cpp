#include <fmt/format.h>

#include "expr/build.h"
#include "expr/range.h"
#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

struct Pads {
    std::vector<int64_t> begin;
    std::vector<int64_t> end;
};

Pads pads_of(const Context& context, size_t rank) {
    auto given = ints_of(context, "pads", 1);
    if (!given) context.fail("pads are missing");
    std::vector<size_t> axes;
    if (auto stated = context.optional_constant_ints(3)) {
        for (int64_t axis : *stated) axes.push_back(normalized_axis(context, axis, rank));
    } else {
        for (size_t i = 0; i < rank; ++i) axes.push_back(i);
    }
    if (given->size() != 2 * axes.size())
        context.fail(
            fmt::format("pads has {} entries, expected {}", given->size(), 2 * axes.size()));
    Pads pads{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
    for (size_t i = 0; i < axes.size(); ++i) {
        pads.begin[axes[i]] = (*given)[i];
        pads.end[axes[i]] = (*given)[axes.size() + i];
    }
    return pads;
}

/// What is in the pads: a constant, or a scalar only known at run time.
Scalar fill_of(const Context& context) {
    Arena& arena = context.arena;
    if (!context.has_input(2)) return arena.constant_scalar(context.float_attribute("value", 0));
    const Tensor* value = context.input(2);
    require_same_type(context, {context.input(0), value});
    if (auto known = known_scalar(value)) return arena.constant_scalar(*known);
    if (element_count(value->shape()) != 1) context.fail("the constant is not a scalar");
    return read(value, std::vector<Index>(value->rank(), arena.constant(0)));
}

Scalar constant_pad(const Context& context, const Tensor* x, const std::vector<Index>& at,
                    const Ranges& ranges) {
    Scalar fill = fill_of(context);
    if (fill->kind == ScalarKind::Constant) return read(x, at, ranges, fill->constant);
    Predicate inside = context.arena.truth(true);
    for (size_t i = 0; i < at.size(); ++i)
        inside = inside && in_range(at[i], 0, x->axes[i].extent());
    return context.arena.select(simplify(inside, ranges), read(x, at, ranges, 0), fill);
}

/// The position inside [lo, hi) that stands for one that may be outside.
Index folded(Index at, int64_t lo, int64_t hi, const std::string& mode) {
    Arena& arena = *at->arena;
    if (mode == "wrap") return mod(at - lo, hi - lo) + lo;
    if (mode == "edge") return arena.max(arena.min(at, arena.constant(hi - 1)), arena.constant(lo));
    if (hi - lo == 1) return arena.constant(lo);
    int64_t period = 2 * (hi - lo - 1);
    Index phase = mod(at - lo, period);
    return arena.min(phase, -phase + period) + lo;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    Pads pads = pads_of(context, x->rank());
    Shape shape = x->shape();
    for (size_t i = 0; i < shape.size(); ++i) {
        shape[i] += pads.begin[i] + pads.end[i];
        if (shape[i] < 0) context.fail(fmt::format("axis {} is cropped to less than nothing", i));
    }
    std::vector<Axis> axes = axes_of(context.arena, shape);
    Ranges ranges(axes);
    std::vector<Index> at = indices_of(axes);
    for (size_t i = 0; i < at.size(); ++i) at[i] = at[i] - pads.begin[i];
    std::string mode = context.string_attribute("mode", "constant");
    if (mode == "constant")
        return {context.define(0, x->type, axes, constant_pad(context, x, at, ranges))};
    if (mode != "edge" && mode != "reflect" && mode != "wrap")
        context.fail(fmt::format(
            "attribute mode is \"{}\", expected constant, edge, reflect or wrap", mode));
    for (size_t i = 0; i < at.size(); ++i) {
        int64_t lo = std::max<int64_t>(-pads.begin[i], 0);
        int64_t hi = x->axes[i].extent() - std::max<int64_t>(-pads.end[i], 0);
        if (hi <= lo && shape[i] > 0) context.fail(fmt::format("axis {} has nothing to copy", i));
        if (interval_of(at[i], ranges).lo < lo || interval_of(at[i], ranges).hi >= hi)
            at[i] = simplify(folded(at[i], lo, hi, mode), ranges);
    }
    return {context.define(0, x->type, axes, read(x, at))};
}

}  // namespace

extern const Operator pad{"Pad",
                          {},
                          2,
                          "elements before and behind each axis; negative pads crop",
                          {{"mode", "constant (default), edge, reflect, wrap"},
                           {"pads", "before opset 11; then input 1, which must be constant"},
                           {"value", "before opset 11; then input 2"}},
                          express};

}  // namespace ollie::operators::entries
