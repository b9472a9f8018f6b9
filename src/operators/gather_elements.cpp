#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

int64_t counted(const Context& context, int64_t position, int64_t extent) {
    if (position < -extent || position >= extent)
        context.fail(fmt::format("index {} is outside [{}, {})", position, -extent, extent));
    return position < 0 ? position + extent : position;
}

/// The row-major position among the first `count` axes.
Index flat_index(Arena& arena, const std::vector<Axis>& axes, size_t count) {
    Index flat = arena.constant(0);
    for (size_t i = 0; i < count; ++i) flat = flat * axes[i].extent() + index_of(axes[i].iterator);
    return flat;
}

Index table_at(const std::vector<int64_t>& values, Index position) {
    return values.empty() ? position->arena->constant(0) : lookup(values, position);
}

Results by_element(const Context& context, const Tensor* x) {
    size_t axis = normalized_axis(context, context.int_attribute("axis", 0), x->rank());
    require_rank(context, context.input(1), x->rank(), x->rank());
    std::vector<int64_t> positions = context.constant_ints(1);
    for (int64_t& position : positions) position = counted(context, position, x->shape()[axis]);
    std::vector<Axis> axes = axes_of(context.arena, context.input(1)->shape());
    std::vector<Index> at = indices_of(axes);
    at[axis] = table_at(positions, flat_index(context.arena, axes, axes.size()));
    return {context.define(0, x->type, axes, read(x, at))};
}

/// Every row of the index tensor is the beginning of an index.
Results by_row(const Context& context, const Tensor* x) {
    size_t batch = static_cast<size_t>(context.int_attribute("batch_dims", 0));
    Shape rows = context.input(1)->shape();
    require_rank(context, context.input(1), 1);
    size_t depth = static_cast<size_t>(rows.back());
    if (batch + depth > x->rank()) context.fail("the index rows are longer than the rank");
    std::vector<int64_t> values = context.constant_ints(1);
    Shape shape(rows.begin(), rows.end() - 1);
    size_t outer = shape.size();
    for (size_t i = batch + depth; i < x->rank(); ++i) shape.push_back(x->shape()[i]);
    std::vector<Axis> axes = axes_of(context.arena, shape);
    Index row = flat_index(context.arena, axes, outer);
    std::vector<Index> at;
    for (size_t i = 0; i < batch; ++i) at.push_back(index_of(axes[i].iterator));
    for (size_t k = 0; k < depth; ++k) {
        std::vector<int64_t> column;
        for (size_t i = k; i < values.size(); i += depth)
            column.push_back(counted(context, values[i], x->shape()[batch + k]));
        at.push_back(table_at(column, row));
    }
    for (size_t i = outer; i < axes.size(); ++i) at.push_back(index_of(axes[i].iterator));
    return {context.define(0, x->type, axes, read(x, at))};
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 1);
    return context.node.operator_name == "GatherND" ? by_row(context, x) : by_element(context, x);
}

}  // namespace

extern const Operator gather_elements{
    "GatherElements",
    {"GatherND"},
    11,
    "elements at constant positions along an axis; GatherND: slices at constant index rows",
    {{"axis", "GatherElements: default 0"}, {"batch_dims", "GatherND: default 0"}},
    express};

}  // namespace ollie::operators::entries
