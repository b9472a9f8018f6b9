#include "expr/evaluation/elements.h"

#include <algorithm>

#include "base/error.h"
#include "expr/evaluation/functions.h"

namespace ollie::expr::evaluation {
namespace {

template <typename From, typename To>
std::vector<To> converted(const HostArray& array) {
    std::span<const From> from = array.as<From>();
    return {from.begin(), from.end()};
}

std::vector<int64_t> integers_of(const HostArray& array) {
    switch (array.type()) {
        case ElementType::I8:
            return converted<int8_t, int64_t>(array);
        case ElementType::I16:
            return converted<int16_t, int64_t>(array);
        case ElementType::I32:
            return converted<int32_t, int64_t>(array);
        case ElementType::U16:
            return converted<uint16_t, int64_t>(array);
        case ElementType::U32:
            return converted<uint32_t, int64_t>(array);
        case ElementType::I64:
        case ElementType::U64:
            return converted<int64_t, int64_t>(array);
        default:
            return converted<uint8_t, int64_t>(array);
    }
}

}  // namespace

template <typename Real>
Elements<Real> elements_of(const HostArray& array) {
    Elements<Real> result{domain_of(array.type()), {}, {}};
    if (array.type() == ElementType::F32)
        result.reals = converted<float, Real>(array);
    else if (array.type() == ElementType::F64)
        result.reals = converted<double, Real>(array);
    else
        result.integers = integers_of(array);
    return result;
}

template <typename Real>
Elements<Real> elements_for(ElementType type, const Shape& shape) {
    Elements<Real> result{domain_of(type), {}, {}};
    auto count = static_cast<size_t>(element_count(shape));
    if (result.domain == Domain::Real)
        result.reals.resize(count);
    else
        result.integers.resize(count);
    return result;
}

template <typename Real>
HostArray array_of(const Elements<Real>& elements, ElementType type, const Shape& shape) {
    if (elements.domain == Domain::Real) {
        HostArray array(sizeof(Real) == 4 ? ElementType::F32 : ElementType::F64, shape);
        std::copy(elements.reals.begin(), elements.reals.end(), array.as<Real>().begin());
        return array;
    }
    HostArray array(type, shape);
    for (size_t i = 0; i < elements.integers.size(); ++i) {
        // Little-endian: the low bytes are the wrapped value.
        auto* to = static_cast<std::byte*>(array.data()) + i * size_of(type);
        auto* from = reinterpret_cast<const std::byte*>(&elements.integers[i]);
        std::copy(from, from + size_of(type), to);
    }
    return array;
}

template Elements<double> elements_of(const HostArray&);
template Elements<float> elements_of(const HostArray&);
template Elements<double> elements_for(ElementType, const Shape&);
template Elements<float> elements_for(ElementType, const Shape&);
template HostArray array_of(const Elements<double>&, ElementType, const Shape&);
template HostArray array_of(const Elements<float>&, ElementType, const Shape&);

const HostArray& bound_array(const Tensor* tensor, const Bindings& bindings) {
    auto found = bindings.find(tensor->name);
    const HostArray* array = found == bindings.end() ? tensor->values.get() : found->second;
    if (array == nullptr) throw_user_error("no values are given for '{}'", tensor->name);
    if (array->shape() != tensor->shape())
        throw_user_error("'{}' has the shape {}, expected {}", tensor->name,
                         to_text(array->shape()), to_text(tensor->shape()));
    if (domain_of(array->type()) != domain_of(tensor->type))
        throw_user_error("'{}' has the type {}, expected {}", tensor->name, name_of(array->type()),
                         name_of(tensor->type));
    return *array;
}

}  // namespace ollie::expr::evaluation
