#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* indices = context.input(0);
    auto depth = known_scalar(context.input(1));
    if (!depth) context.unsupported("the depth must be constant");
    const Tensor* values = context.input(2);
    if (values->shape() != Shape{2}) context.fail("values must be two: off and on");
    int64_t extent = static_cast<int64_t>(*depth);
    size_t axis = normalized_axis(context, context.int_attribute("axis", -1), indices->rank() + 1);
    Shape shape = indices->shape();
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), extent);
    std::vector<Axis> axes = axes_of(arena, shape);
    std::vector<Index> at = indices_of(axes);
    Index position = at[axis];
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    auto is_at = [&](Index where) {
        return arena.function(Function::Equal, {read(indices, at), arena.number(where)});
    };
    Scalar is_hot = arena.function(Function::Or, {is_at(position), is_at(position - extent)});
    auto value = [&](int64_t which) { return read(values, {arena.constant(which)}); };
    Scalar body = arena.function(Function::Where, {is_hot, value(1), value(0)});
    return {context.define(0, values->type, axes, body)};
}

}  // namespace

extern const Operator one_hot{
    "OneHot",
    {},
    9,
    "`on` where the index (from the end if negative) is the position, else `off`",
    {{"axis", "the new axis; default -1"}},
    express};

}  // namespace ollie::operators::entries
