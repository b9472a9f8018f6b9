#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    std::vector<int64_t> stated = context.constant_ints(1);
    if (stated.size() != 1) context.fail("the axis is not a scalar");
    size_t axis = normalized_axis(context, stated[0], x->rank());
    bool is_exclusive = context.int_attribute("exclusive", 0) != 0;
    bool is_reverse = context.int_attribute("reverse", 0) != 0;
    std::vector<Axis> axes = axes_of(arena, x->shape());
    Axis j = axis_of(arena, "j", axes[axis].extent());
    std::vector<Index> at = indices_of(axes);
    Index distance = at[axis] - index_of(j.iterator);
    if (is_reverse) distance = -distance;
    at[axis] = index_of(j.iterator);
    bool is_product = context.node.operator_name == "CumProd";
    Scalar neutral = arena.constant_scalar(is_product ? 1 : 0);
    Scalar term = arena.select(distance >= (is_exclusive ? 1 : 0), read(x, at), neutral);
    Scalar body = arena.reduce(is_product ? Monoid::Prod : Monoid::Sum, {j}, term);
    return {context.define(0, x->type, axes, body)};
}

}  // namespace

extern const Operator cum_sum{"CumSum",
                              {"CumProd"},
                              11,
                              "sum or product of all elements up to each one along a constant axis",
                              {{"exclusive", "1 leaves the element itself out; default 0"},
                               {"reverse", "1 goes from the end; default 0"}},
                              express};

}  // namespace ollie::operators::entries
