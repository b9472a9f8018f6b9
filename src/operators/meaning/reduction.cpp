#include "operators/meaning/reduction.h"

#include <algorithm>
#include <numeric>

#include "expr/build.h"

namespace ollie::operators {

using namespace expr;

double Reduction::count() const {
    double result = 1;
    for (const Axis& axis : reduced) result *= static_cast<double>(axis.extent());
    return result;
}

Reduction reduction(const Context& context, const Tensor* x, const std::vector<size_t>& axes,
                    bool keeps_axes) {
    Reduction result;
    result.all = axes_of(context.arena, x->shape());
    result.input = indices_of(result.all);
    for (size_t i = 0; i < x->rank(); ++i) {
        const Axis& axis = result.all[i];
        if (!std::binary_search(axes.begin(), axes.end(), i)) {
            result.kept.push_back(axis);
            result.result.push_back(axis);
            continue;
        }
        result.reduced.push_back(axis);
        if (keeps_axes)
            result.result.push_back(axis_of(context.arena, axis.iterator->name + "1", 1));
    }
    return result;
}

std::vector<size_t> reduced_axes(const Context& context, const Tensor* x) {
    auto axes = context.ints_attribute("axes");
    if (context.has_input(1)) axes = context.constant_ints(1);
    if (axes && !axes->empty()) return normalized_axes(context, *axes, x->rank());
    if (context.int_attribute("noop_with_empty_axes", 0) != 0) return {};
    std::vector<size_t> all(x->rank());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Moments moments(const Context& context, const Tensor* x, const std::vector<size_t>& axes) {
    Reduction over = reduction(context, x, axes, false);
    Scalar count = context.arena.constant_scalar(over.count());
    Scalar total = sum(over.reduced, read(x, over.input));
    const Tensor* mean = context.define_part("mean", x->type, over.kept, total / count);

    over = reduction(context, x, axes, false);
    Scalar deviation = read(x, over.input) - read(mean, indices_of(over.kept));
    total = sum(over.reduced, deviation * deviation);
    return {mean, context.define_part("var", x->type, over.kept, total / count)};
}

Spread spread(const Context& context, const Tensor* x, const std::vector<size_t>& reduced) {
    Spread result;
    result.axes = axes_of(context.arena, x->shape());
    result.all = indices_of(result.axes);
    for (size_t i = 0; i < x->rank(); ++i)
        if (!std::binary_search(reduced.begin(), reduced.end(), i))
            result.kept.push_back(result.all[i]);
    return result;
}

}  // namespace ollie::operators
