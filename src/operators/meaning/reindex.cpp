#include "operators/meaning/reindex.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "expr/build.h"

namespace ollie::operators {

using namespace expr;

namespace {

/// Indices for the axes [begin, end) of `from`, whose row-major position is `flat`.
void split(Index flat, const Shape& from, size_t begin, size_t end, const Ranges& ranges,
           std::vector<Index>& result) {
    int64_t stride = 1;
    std::vector<Index> reversed;
    for (size_t i = end; i-- > begin;) {
        Index index = div(flat, stride);
        if (i != begin) index = mod(index, from[i]);
        if (from[i] == 1) index = flat->arena->constant(0);
        reversed.push_back(simplify(index, ranges));
        stride *= from[i];
    }
    result.insert(result.end(), reversed.rbegin(), reversed.rend());
}

}  // namespace

std::vector<Index> row_major_indices(Arena& arena, const Shape& from, const std::vector<Axis>& at) {
    if (element_count(from) == 0) return std::vector<Index>(from.size(), arena.constant(0));
    Ranges ranges(at);
    std::vector<Index> result;
    size_t i = 0;
    size_t j = 0;
    while (i < from.size() || j < at.size()) {
        size_t begin = i;
        int64_t inner = i < from.size() ? from[i++] : 1;
        int64_t outer = 1;
        Index flat = arena.constant(0);
        auto take = [&] {
            flat = flat * at[j].extent() + index_of(at[j].iterator);
            outer *= at[j++].extent();
        };
        if (j < at.size()) take();
        while (inner != outer) {
            if (inner < outer)
                inner *= from[i++];
            else
                take();
        }
        split(flat, from, begin, i, ranges, result);
    }
    return result;
}

Results reshaped(const Context& context, const Shape& shape) {
    const Tensor* x = context.input(0);
    if (element_count(shape) != element_count(x->shape()))
        context.fail(fmt::format("shape {} cannot hold the elements of {}", to_text(shape),
                                 to_text(x->shape())));
    if (shape == x->shape()) return {x};
    std::vector<Axis> axes = axes_of(context.arena, shape);
    return {context.define(0, x->type, axes,
                           read(x, row_major_indices(context.arena, x->shape(), axes)))};
}

std::optional<std::vector<int64_t>> ints_of(const Context& context, const std::string& attribute,
                                            size_t input) {
    if (context.has_input(input)) return context.constant_ints(input);
    return context.ints_attribute(attribute);
}

namespace {

/// floor((i + offset) / k) where the values are that, for some k > 1.
std::optional<Index> as_quotient(const std::vector<int64_t>& values, Index position) {
    auto first_step = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>());
    if (first_step == values.end()) return std::nullopt;
    auto second_step = std::adjacent_find(first_step + 1, values.end(), std::not_equal_to<>());
    int64_t until_first = first_step - values.begin() + 1;
    int64_t divisor =
        std::max(second_step == values.end() ? until_first : second_step - first_step, until_first);
    Index quotient = div(position + (divisor - until_first), divisor) + values[0];
    for (size_t i = 0; i < values.size(); ++i)
        if (values[i] != values[0] + (static_cast<int64_t>(i) + divisor - until_first) / divisor)
            return std::nullopt;
    return quotient;
}

}  // namespace

Index lookup(std::vector<int64_t> values, Index position) {
    CHECK(!values.empty());
    int64_t step = values.size() > 1 ? values[1] - values[0] : 0;
    bool is_even = true;
    for (size_t i = 1; i < values.size(); ++i) is_even &= values[i] - values[i - 1] == step;
    if (is_even) return position * step + values[0];
    if (auto quotient = as_quotient(values, position)) return *quotient;
    return position->arena->table(std::move(values), position);
}

}  // namespace ollie::operators
