#include "tensor/host_array.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace ollie {
namespace {

constexpr size_t alignment = 64;

std::byte* allocate(int64_t bytes) {
    if (bytes == 0) return nullptr;
    size_t rounded = (static_cast<size_t>(bytes) + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
}

/// Elements, or bytes of a shape that no memory could hold, must not wrap around.
int64_t checked_bytes(ElementType type, const Shape& shape) {
    int64_t bytes = size_of(type);
    bool is_empty = false;
    for (int64_t extent : shape) {
        CHECK(extent >= 0, "shape {}", to_text(shape));
        is_empty = is_empty || extent == 0;
    }
    if (is_empty) return 0;
    for (int64_t extent : shape)
        if (__builtin_mul_overflow(bytes, extent, &bytes)) throw std::bad_alloc();
    return bytes;
}

/// Calls body with a pointer to the elements.
template <typename Void, typename Body>
auto visit(ElementType type, Void* data, Body body) {
    auto as = [&]<typename T>(T) {
        if constexpr (std::is_const_v<Void>)
            return body(static_cast<const T*>(data));
        else
            return body(static_cast<T*>(data));
    };
    switch (type) {
        case ElementType::F32:
            return as(float{});
        case ElementType::F64:
            return as(double{});
        case ElementType::I8:
            return as(int8_t{});
        case ElementType::I16:
            return as(int16_t{});
        case ElementType::I32:
            return as(int32_t{});
        case ElementType::I64:
            return as(int64_t{});
        case ElementType::U16:
            return as(uint16_t{});
        case ElementType::U32:
            return as(uint32_t{});
        case ElementType::U64:
            return as(uint64_t{});
        case ElementType::U8:
        case ElementType::Bool:
            break;
    }
    return as(uint8_t{});
}

/// The nearest integer modulo 2^64; 0 for what is not finite.
uint64_t wrapped(double value) {
    if (!std::isfinite(value)) return 0;
    double nearest = std::nearbyint(value);
    if (std::abs(nearest) < 0x1p63) return static_cast<uint64_t>(static_cast<int64_t>(nearest));
    double rest = std::fmod(nearest, 0x1p64);
    return rest < 0 ? 0 - static_cast<uint64_t>(-rest) : static_cast<uint64_t>(rest);
}

}  // namespace

void HostArray::Free::operator()(std::byte* pointer) const { std::free(pointer); }

HostArray::HostArray(ElementType type, Shape shape)
    : type_(type), shape_(std::move(shape)), data_(allocate(checked_bytes(type_, shape_))) {
    if (data_) std::memset(data_.get(), 0, static_cast<size_t>(bytes()));
}

HostArray::HostArray(const HostArray& other)
    : type_(other.type_), shape_(other.shape_), data_(allocate(other.data_ ? other.bytes() : 0)) {
    if (data_) std::memcpy(data_.get(), other.data_.get(), static_cast<size_t>(bytes()));
}

HostArray& HostArray::operator=(const HostArray& other) {
    if (this != &other) *this = HostArray(other);
    return *this;
}

double HostArray::at(int64_t index) const {
    CHECK(index >= 0 && index < size(), "index {} of {}", index, size());
    return visit(type_, data(),
                 [&](const auto* elements) { return static_cast<double>(elements[index]); });
}

int64_t HostArray::int_at(int64_t index) const {
    CHECK(index >= 0 && index < size(), "index {} of {}", index, size());
    CHECK(!is_float(type_));
    return visit(type_, data(),
                 [&](const auto* elements) { return static_cast<int64_t>(elements[index]); });
}

void HostArray::set(int64_t index, double value) {
    CHECK(index >= 0 && index < size(), "index {} of {}", index, size());
    if (type_ == ElementType::Bool) {
        as<uint8_t>()[static_cast<size_t>(index)] = value != 0;
        return;
    }
    visit(type_, data(), [&]<typename T>(T* elements) {
        if constexpr (std::is_floating_point_v<T>)
            elements[index] = static_cast<T>(value);
        else
            elements[index] = static_cast<T>(wrapped(value));
    });
}

}  // namespace ollie
