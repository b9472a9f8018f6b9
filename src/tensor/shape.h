#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ollie {

/// Extents per axis, outermost first; rank 0 is a scalar with one element. Extents may be 0.
using Shape = std::vector<int64_t>;

int64_t element_count(const Shape&);

/// "1x3x224x224"; a scalar is "scalar".
std::string to_text(const Shape&);

/// Row-major strides in elements.
std::vector<int64_t> dense_strides(const Shape&);

/// The order in which axes are stored, outermost first: order[k] is the logical axis at storage
/// position k. Identity is row-major; {0, 2, 3, 1} stores axis 1 innermost (channels last).
/// Storage is dense.
struct Layout {
    std::vector<int> order;

    static Layout row_major(size_t rank);
    /// Axis 1 moved innermost; row-major below rank 3.
    static Layout channels_last(size_t rank);
    bool is_row_major() const;
    /// Strides in elements per logical axis of a dense tensor of this shape stored in this order.
    std::vector<int64_t> strides(const Shape&) const;
    /// "0 2 3 1".
    std::string text() const;
    auto operator<=>(const Layout&) const = default;
};

}  // namespace ollie
