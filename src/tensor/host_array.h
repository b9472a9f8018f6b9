#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace ollie {

/// A dense row-major tensor in memory, 64-byte aligned, owned. Copying copies the elements.
class HostArray {
public:
    HostArray() = default;
    /// Elements are zero.
    HostArray(ElementType type, Shape shape);
    HostArray(const HostArray&);
    HostArray& operator=(const HostArray&);
    HostArray(HostArray&&) noexcept = default;
    HostArray& operator=(HostArray&&) noexcept = default;

    ElementType type() const { return type_; }
    const Shape& shape() const { return shape_; }
    int64_t size() const { return element_count(shape_); }
    int64_t bytes() const { return size() * size_of(type_); }
    void* data() { return data_.get(); }
    const void* data() const { return data_.get(); }

    /// The elements as T, which must have the size of the element type.
    template <typename T>
    std::span<T> as() {
        CHECK(sizeof(T) == static_cast<size_t>(size_of(type_)));
        return {static_cast<T*>(data()), static_cast<size_t>(size())};
    }
    template <typename T>
    std::span<const T> as() const {
        CHECK(sizeof(T) == static_cast<size_t>(size_of(type_)));
        return {static_cast<const T*>(data()), static_cast<size_t>(size())};
    }

    /// Any element as double (64-bit integers are exact to 2^53), and the reverse (rounds to the
    /// nearest, wraps for integers). Index in row-major order.
    double at(int64_t index) const;
    void set(int64_t index, double value);
    /// Integer element exactly.
    int64_t int_at(int64_t index) const;

private:
    struct Free {
        void operator()(std::byte* pointer) const;
    };
    ElementType type_ = ElementType::F32;
    Shape shape_{0};
    std::unique_ptr<std::byte[], Free> data_;
};

/// NumPy .npy files (format 1.0, little-endian, C order). Errors: UserError with the path.
HostArray read_npy(const std::filesystem::path&);
void write_npy(const std::filesystem::path&, const HostArray&);

}  // namespace ollie
