#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results triangle(const Context& context, const Tensor* x) {
    require_rank(context, x, 2);
    int64_t diagonal = 0;
    if (context.has_input(1)) diagonal = context.constant_ints(1).at(0);
    std::vector<Axis> axes = axes_of(context.arena, x->shape());
    std::vector<Index> at = indices_of(axes);
    Index above = at[at.size() - 1] - at[at.size() - 2];
    bool is_upper = context.int_attribute("upper", 1) != 0;
    Predicate kept = is_upper ? above >= diagonal : above < diagonal + 1;
    Scalar body = context.arena.select(kept, read(x, at), context.arena.constant_scalar(0));
    return {context.define(0, x->type, axes, body)};
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    if (context.node.operator_name == "Trilu") return triangle(context, x);
    require_rank(context, x, 2, 2);
    ElementType type = x->type;
    if (auto number = find_int(context.node.attributes, "dtype")) {
        auto stated = numbered_type(*number);
        if (!stated) context.unsupported(fmt::format("element type {}", *number));
        type = *stated;
    }
    std::vector<Axis> axes = axes_of(context.arena, x->shape());
    std::vector<Index> at = indices_of(axes);
    Predicate is_diagonal = at[1] - at[0] == context.int_attribute("k", 0);
    Scalar body = context.arena.select(is_diagonal, context.arena.constant_scalar(1),
                                       context.arena.constant_scalar(0));
    return {context.define(0, type, axes, body)};
}

}  // namespace

extern const Operator trilu{"Trilu",
                            {"EyeLike"},
                            9,
                            "the upper or lower triangle of matrices; EyeLike: ones on a diagonal",
                            {{"upper", "Trilu: 1 (default) keeps the upper triangle"},
                             {"k", "EyeLike: the diagonal"},
                             {"dtype", "EyeLike: element type; default the input's"}},
                            express};

}  // namespace ollie::operators::entries
