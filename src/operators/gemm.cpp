#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar scaled(Scalar value, double factor) {
    return factor == 1 ? value : value->arena->constant_scalar(factor) * value;
}

Scalar with_addend(const Context& context, Scalar product, const std::vector<Axis>& result) {
    double beta = context.float_attribute("beta", 1);
    if (!context.has_input(2) || beta == 0) return product;
    const Tensor* c = context.input(2);
    require_rank(context, c, 0, 2);
    for (size_t i = 0; i < c->rank(); ++i) {
        int64_t extent = c->shape()[i];
        int64_t expected = result[result.size() - c->rank() + i].extent();
        if (extent != 1 && extent != expected)
            context.fail(fmt::format("the addend has shape {}, which does not broadcast to {}x{}",
                                     to_text(c->shape()), result[0].extent(), result[1].extent()));
    }
    return product + scaled(broadcast_read(c, result), beta);
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* a = context.input(0);
    const Tensor* b = context.input(1);
    require_rank(context, a, 2, 2);
    require_rank(context, b, 2, 2);
    require_same_type(context, {a, b});
    bool is_a_transposed = context.int_attribute("transA", 0) != 0;
    bool is_b_transposed = context.int_attribute("transB", 0) != 0;
    int64_t shared = a->shape()[is_a_transposed ? 0 : 1];
    if (b->shape()[is_b_transposed ? 1 : 0] != shared)
        context.fail(
            fmt::format("shapes {} and {} do not agree", to_text(a->shape()), to_text(b->shape())));

    Axis m = axis_of(arena, "m", a->shape()[is_a_transposed ? 1 : 0]);
    Axis n = axis_of(arena, "n", b->shape()[is_b_transposed ? 0 : 1]);
    Axis k = axis_of(arena, "k", shared);
    auto at = [](const Tensor* tensor, const Axis& row, const Axis& column, bool is_transposed) {
        Index i = index_of(row.iterator);
        Index j = index_of(column.iterator);
        return is_transposed ? read(tensor, {j, i}) : read(tensor, {i, j});
    };
    Scalar product = sum({k}, at(a, m, k, is_a_transposed) * at(b, k, n, is_b_transposed));
    product = scaled(product, context.float_attribute("alpha", 1));
    return {context.define(0, a->type, {m, n}, with_addend(context, product, {m, n}))};
}

}  // namespace

extern const Operator gemm{"Gemm",
                           {},
                           7,
                           "alpha * A B + beta * C, either matrix transposed, C broadcast",
                           {{"alpha", "default 1"},
                            {"beta", "default 1"},
                            {"transA", "default 0"},
                            {"transB", "default 0"}},
                           express};

}  // namespace ollie::operators::entries
