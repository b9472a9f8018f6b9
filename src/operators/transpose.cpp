#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

std::vector<int64_t> permutation(const Context& context, size_t rank) {
    std::vector<int64_t> reversed;
    for (size_t i = rank; i-- > 0;) reversed.push_back(static_cast<int64_t>(i));
    auto order = context.ints_attribute("perm").value_or(reversed);
    if (order.size() != rank || normalized_axes(context, order, rank).size() != rank)
        context.fail(fmt::format("attribute perm is [{}], expected a permutation of {} axes",
                                 fmt::join(order, ", "), rank));
    return order;
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    std::vector<int64_t> order = permutation(context, x->rank());
    std::vector<std::string> names = axis_names(x->rank());
    std::vector<Axis> result;
    std::vector<Index> at(x->rank());
    for (int64_t source : order) {
        size_t axis = normalized_axis(context, source, x->rank());
        result.push_back(axis_of(context.arena, names[axis], x->axes[axis].extent()));
        at[axis] = index_of(result.back().iterator);
    }
    return {context.define(0, x->type, result, read(x, at))};
}

}  // namespace

extern const Operator transpose{
    "Transpose", {}, 1, "the axes in another order", {{"perm", "default reversed"}}, express};

}  // namespace ollie::operators::entries
