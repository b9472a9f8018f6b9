#include "operators/meaning/domain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "expr/build.h"

namespace ollie::operators {

using namespace expr;

namespace {

std::vector<std::string> numbered(const std::string& prefix, size_t count) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
    return names;
}

std::vector<std::string> last(const std::vector<std::string>& names, size_t count) {
    return {names.end() - static_cast<std::ptrdiff_t>(count), names.end()};
}

}  // namespace

std::vector<std::string> axis_names(size_t rank) {
    static const std::vector<std::vector<std::string>> names{
        {}, {"i"}, {"n", "c"}, {"n", "c", "w"}, {"n", "c", "h", "w"}, {"n", "c", "d", "h", "w"}};
    return rank < names.size() ? names[rank] : numbered("i", rank);
}

std::vector<std::string> spatial_names(size_t rank) {
    return rank <= 3 ? last({"d", "h", "w"}, rank) : numbered("x", rank);
}

std::vector<std::string> window_names(size_t rank) {
    return rank <= 3 ? last({"t", "r", "s"}, rank) : numbered("r", rank);
}

std::vector<Axis> axes_of(Arena& arena, const Shape& shape) {
    return axes_of(arena, shape, axis_names(shape.size()));
}

std::vector<Axis> axes_of(Arena& arena, const Shape& shape, const std::vector<std::string>& names) {
    std::vector<Axis> axes;
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(axis_of(arena, names[i], shape[i]));
    return axes;
}

Axis axis_of(Arena& arena, const std::string& name, int64_t extent) {
    return {arena.iterator(name), 0, extent};
}

size_t normalized_axis(const Context& context, int64_t axis, size_t rank) {
    int64_t size = static_cast<int64_t>(rank);
    if (axis < -size || axis >= size)
        context.fail(fmt::format("axis {} is outside [{}, {})", axis, -size, size));
    return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

std::vector<size_t> normalized_axes(const Context& context, const std::vector<int64_t>& axes,
                                    size_t rank) {
    std::vector<size_t> result;
    for (int64_t axis : axes) result.push_back(normalized_axis(context, axis, rank));
    std::sort(result.begin(), result.end());
    if (std::adjacent_find(result.begin(), result.end()) != result.end())
        context.fail("an axis occurs twice");
    return result;
}

Scalar read(const Tensor* tensor, const std::vector<Index>& indices, const Ranges& ranges,
            double outside) {
    std::vector<Index> simple;
    for (Index index : indices) simple.push_back(simplify(index, ranges));
    if (is_inside(tensor, simple, ranges)) return tensor->arena->read(tensor, simple);
    return tensor->arena->read(tensor, simple, outside);
}

Scalar read(const Tensor* tensor, const std::vector<Index>& indices) {
    return tensor->arena->read(tensor, indices);
}

std::optional<double> known_scalar(const Tensor* tensor) {
    if (tensor->kind != TensorKind::Weight || tensor->values == nullptr) return std::nullopt;
    if (tensor->values->size() != 1) return std::nullopt;
    double value = tensor->values->at(0);
    constexpr double exact = 9007199254740992;  // 2^53: beyond it, integers are not exact.
    if (!is_float(tensor->type) && std::abs(value) >= exact) return std::nullopt;
    return value;
}

void require_rank(const Context& context, const Tensor* tensor, size_t least, size_t most) {
    size_t rank = tensor->rank();
    if (rank < least || rank > most)
        context.fail(fmt::format("\"{}\" has rank {}, expected {}{}", tensor->name, rank, least,
                                 most == least      ? std::string()
                                 : most == SIZE_MAX ? std::string(" or more")
                                                    : fmt::format(" to {}", most)));
}

void require_same_type(const Context& context, const std::vector<const Tensor*>& tensors) {
    for (const Tensor* tensor : tensors)
        if (tensor->type != tensors.front()->type)
            context.fail(fmt::format("\"{}\" has type {}, \"{}\" has {}", tensors.front()->name,
                                     name_of(tensors.front()->type), tensor->name,
                                     name_of(tensor->type)));
}

namespace {

int bits_of_magnitude(ElementType type) {
    bool is_signed = type == ElementType::I8 || type == ElementType::I16 ||
                     type == ElementType::I32 || type == ElementType::I64;
    return static_cast<int>(size_of(type)) * 8 - (is_signed ? 1 : 0);
}

}  // namespace

double lowest(ElementType type) {
    if (is_float(type)) return -std::numeric_limits<double>::infinity();
    bool is_signed = bits_of_magnitude(type) % 8 != 0;
    return type == ElementType::Bool || !is_signed ? 0 : -std::ldexp(1, bits_of_magnitude(type));
}

double highest(ElementType type) {
    if (is_float(type)) return std::numeric_limits<double>::infinity();
    return type == ElementType::Bool ? 1 : std::ldexp(1, bits_of_magnitude(type)) - 1;
}

std::optional<ElementType> numbered_type(int64_t number) {
    switch (number) {
        case 1:
            return ElementType::F32;
        case 2:
            return ElementType::U8;
        case 3:
            return ElementType::I8;
        case 4:
            return ElementType::U16;
        case 5:
            return ElementType::I16;
        case 6:
            return ElementType::I32;
        case 7:
            return ElementType::I64;
        case 9:
            return ElementType::Bool;
        case 11:
            return ElementType::F64;
        case 12:
            return ElementType::U32;
        case 13:
            return ElementType::U64;
        default:
            return std::nullopt;
    }
}

}  // namespace ollie::operators
