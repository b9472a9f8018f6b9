#include "expr/build.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// The first or last position along the axis at which the extremum is met.
Scalar position(const Context& context, const Reduction& over, Scalar is_met) {
    Arena& arena = context.arena;
    bool is_last = context.int_attribute("select_last_index", 0) != 0;
    const Axis& axis = over.reduced.front();
    Scalar none = arena.constant_scalar(is_last ? -1 : static_cast<double>(axis.extent()));
    Scalar here = arena.number(index_of(axis.iterator));
    return arena.reduce(is_last ? Monoid::Max : Monoid::Min, over.reduced,
                        arena.function(Function::Where, {is_met, here, none}));
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    require_rank(context, x, 1);
    size_t axis = normalized_axis(context, context.int_attribute("axis", 0), x->rank());
    Monoid monoid = context.node.operator_name == "ArgMax" ? Monoid::Max : Monoid::Min;
    Reduction over = reduction(context, x, {axis}, false);
    const Tensor* extremum = context.define_part(
        "extremum", x->type, over.kept, arena.reduce(monoid, over.reduced, read(x, over.input)));
    over = reduction(context, x, {axis}, context.int_attribute("keepdims", 1) != 0);
    Scalar is_met = arena.function(Function::Equal,
                                   {read(x, over.input), read(extremum, indices_of(over.kept))});
    return {context.define(0, ElementType::I64, over.result, position(context, over, is_met))};
}

}  // namespace

extern const Operator arg_max{"ArgMax",
                              {"ArgMin"},
                              1,
                              "position of the greatest or least element along an axis",
                              {{"axis", "default 0"},
                               {"keepdims", "1 (default) keeps the axis with extent 1"},
                               {"select_last_index", "1: the last such position; default 0"}},
                              express};

}  // namespace ollie::operators::entries
