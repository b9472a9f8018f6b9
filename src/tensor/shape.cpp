#include "tensor/shape.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ollie {

int64_t element_count(const Shape& shape) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
}

std::string to_text(const Shape& shape) {
    return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

std::vector<int64_t> dense_strides(const Shape& shape) {
    return Layout::row_major(shape.size()).strides(shape);
}

Layout Layout::row_major(size_t rank) {
    Layout layout;
    layout.order.resize(rank);
    std::iota(layout.order.begin(), layout.order.end(), 0);
    return layout;
}

Layout Layout::channels_last(size_t rank) {
    Layout layout = row_major(rank);
    if (rank >= 3)
        std::rotate(layout.order.begin() + 1, layout.order.begin() + 2, layout.order.end());
    return layout;
}

bool Layout::is_row_major() const { return std::is_sorted(order.begin(), order.end()); }

std::vector<int64_t> Layout::strides(const Shape& shape) const {
    std::vector<int64_t> result(shape.size());
    int64_t stride = 1;
    for (size_t k = order.size(); k-- > 0;) {
        result[order[k]] = stride;
        stride *= shape[order[k]];
    }
    return result;
}

std::string Layout::text() const { return fmt::format("{}", fmt::join(order, " ")); }

}  // namespace ollie
