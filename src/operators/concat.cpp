#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

struct Part {
    const Tensor* tensor;
    int64_t begin;
};

std::vector<Part> parts_of(const Context& context, size_t axis, int64_t& total) {
    std::vector<Part> parts;
    Shape first = context.input(0)->shape();
    total = 0;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
        const Tensor* tensor = context.input(i);
        require_same_type(context, {context.input(0), tensor});
        Shape shape = tensor->shape();
        if (shape.size() == first.size()) shape[axis] = first[axis];
        if (shape != first)
            context.fail(fmt::format("shapes {} and {} do not agree", to_text(first),
                                     to_text(tensor->shape())));
        if (tensor->axes[axis].extent() > 0) parts.push_back({tensor, total});
        total += tensor->axes[axis].extent();
    }
    if (parts.empty()) parts.push_back({context.input(0), 0});
    return parts;
}

/// A balanced tree of selects over the parts [lo, hi).
Scalar choose(const std::vector<Part>& parts, size_t lo, size_t hi, std::vector<Index> at,
              size_t axis, const Ranges& ranges) {
    if (hi - lo > 1) {
        size_t middle = (lo + hi) / 2;
        Predicate is_before = at[axis] < parts[middle].begin;
        return at[axis]->arena->select(is_before, choose(parts, lo, middle, at, axis, ranges),
                                       choose(parts, middle, hi, at, axis, ranges));
    }
    at[axis] = at[axis] - parts[lo].begin;
    return read(parts[lo].tensor, at, ranges, 0);
}

Results express(const Context& context) {
    const Tensor* first = context.input(0);
    require_rank(context, first, 1);
    auto stated = find_int(context.node.attributes, "axis");
    if (!stated) context.fail("attribute axis is missing");
    size_t axis = normalized_axis(context, *stated, first->rank());
    int64_t total = 0;
    std::vector<Part> parts = parts_of(context, axis, total);
    Shape shape = first->shape();
    shape[axis] = total;
    std::vector<Axis> result = axes_of(context.arena, shape);
    Scalar body = choose(parts, 0, parts.size(), indices_of(result), axis, Ranges(result));
    return {context.define(0, first->type, result, body)};
}

}  // namespace

extern const Operator concat{
    "Concat", {}, 4, "tensors one behind another along an axis", {{"axis", "required"}}, express};

}  // namespace ollie::operators::entries
