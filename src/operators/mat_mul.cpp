#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// All axes before the last two.
Shape batch_shape(const Shape& shape) {
    return shape.size() <= 2 ? Shape{} : Shape(shape.begin(), shape.end() - 2);
}

std::vector<Axis> batch_axes(const Context& context, const Shape& a, const Shape& b) {
    size_t rank = std::max(a.size(), b.size());
    std::vector<Axis> axes;
    for (size_t i = 0; i < rank; ++i) {
        int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
        int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
        if (x != y && x != 1 && y != 1)
            context.fail(
                fmt::format("batch shapes {} and {} cannot be broadcast", to_text(a), to_text(b)));
        std::string name = rank == 1 ? "b" : fmt::format("b{}", i);
        axes.push_back(axis_of(context.arena, name, x == 1 ? y : x));
    }
    return axes;
}

std::vector<Index> batch_indices(const Shape& shape, const std::vector<Axis>& axes) {
    std::vector<Index> indices;
    for (size_t i = 0; i < shape.size(); ++i) {
        const Axis& axis = axes[axes.size() - shape.size() + i];
        Index index = index_of(axis.iterator);
        indices.push_back(shape[i] == axis.extent() ? index : index->arena->constant(0));
    }
    return indices;
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* a = context.input(0);
    const Tensor* b = context.input(1);
    require_rank(context, a, 1);
    require_rank(context, b, 1);
    require_same_type(context, {a, b});
    Shape left = a->shape();
    Shape right = b->shape();
    int64_t shared = right.size() == 1 ? right[0] : right[right.size() - 2];
    if (left.back() != shared)
        context.fail(fmt::format("shapes {} and {} do not agree", to_text(left), to_text(right)));

    std::vector<Axis> result = batch_axes(context, batch_shape(left), batch_shape(right));
    std::vector<Index> a_indices = batch_indices(batch_shape(left), result);
    std::vector<Index> b_indices = batch_indices(batch_shape(right), result);
    Axis k = axis_of(arena, "k", shared);
    if (left.size() > 1) {
        result.push_back(axis_of(arena, "m", left[left.size() - 2]));
        a_indices.push_back(index_of(result.back().iterator));
    }
    a_indices.push_back(index_of(k.iterator));
    b_indices.push_back(index_of(k.iterator));
    if (right.size() > 1) {
        result.push_back(axis_of(arena, "n", right.back()));
        b_indices.push_back(index_of(result.back().iterator));
    }
    return {context.define(0, a->type, result, sum({k}, read(a, a_indices) * read(b, b_indices)))};
}

}  // namespace

extern const Operator mat_mul{
    "MatMul", {}, 1, "matrix product over the last two axes, batch axes broadcast", {}, express};

}  // namespace ollie::operators::entries
