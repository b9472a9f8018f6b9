#include "tensor/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"

namespace ollie {
namespace {

constexpr int64_t tile = 16;
/// Rows and columns of one unit of work: few rows, so that each is read as a stream.
constexpr int64_t unit_rows = 32;
constexpr int64_t unit_columns = 1024;
/// A contiguous row is cut into pieces of so many elements.
constexpr int64_t piece = 16384;
constexpr int64_t parallel_bytes = 128 << 10;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Axes by target stride, outermost first, without units, neighbours merged where both sides allow.
std::vector<CopyAxis> normalized(std::vector<CopyAxis> axes) {
    std::erase_if(axes, [](const CopyAxis& axis) { return axis.extent == 1; });
    std::stable_sort(axes.begin(), axes.end(), [](const CopyAxis& a, const CopyAxis& b) {
        return a.target_stride > b.target_stride;
    });
    std::vector<CopyAxis> result;
    for (const CopyAxis& axis : axes) {
        if (!result.empty()) {
            CopyAxis& last = result.back();
            if (last.target_stride == axis.target_stride * axis.extent &&
                last.source_stride == axis.source_stride * axis.extent) {
                last = {last.extent * axis.extent, axis.source_stride, axis.target_stride};
                continue;
            }
        }
        result.push_back(axis);
    }
    return result;
}

template <typename Element>
void copy_row(const Element* source, int64_t source_stride, Element* target, int64_t target_stride,
              int64_t count) {
    if (source_stride == 1 && target_stride == 1) {
        std::memcpy(target, source, static_cast<size_t>(count) * sizeof(Element));
        return;
    }
    for (int64_t i = 0; i < count; ++i) target[i * target_stride] = source[i * source_stride];
}

/// A tile of rows x columns: target[r + c * target_stride] = source[r * source_stride + c].
template <typename Element>
void copy_tile(const Element* source, int64_t source_stride, Element* target, int64_t target_stride,
               int64_t rows, int64_t columns) {
    if (rows == tile && columns == tile) {
        Element square[tile][tile];
        for (int64_t r = 0; r < tile; ++r)
            std::memcpy(square[r], source + r * source_stride, sizeof(square[r]));
        for (int64_t c = 0; c < tile; ++c)
            for (int64_t r = 0; r < tile; ++r) target[c * target_stride + r] = square[r][c];
        return;
    }
    for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < rows; ++r)
            target[c * target_stride + r] = source[r * source_stride + c];
}

}  // namespace

StridedCopy::StridedCopy(int64_t element_bytes, std::vector<CopyAxis> axes)
    : element_bytes_(element_bytes) {
    bytes_ = element_bytes;
    for (const CopyAxis& axis : axes) bytes_ *= axis.extent;
    if (bytes_ == 0) return;
    outer_ = normalized(std::move(axes));
    if (outer_.empty()) outer_.push_back({1, 1, 1});
    row_ = outer_.back();
    outer_.pop_back();
    auto innermost = std::find_if(outer_.begin(), outer_.end(),
                                  [](const CopyAxis& axis) { return axis.source_stride == 1; });
    if (row_.source_stride != 1 && row_.target_stride == 1 && innermost != outer_.end()) {
        column_ = *innermost;
        outer_.erase(innermost);
    }
    units_ = column_.extent > 1
                 ? ceil_div(column_.extent, unit_columns) * ceil_div(row_.extent, unit_rows)
                 : ceil_div(row_.extent, piece);
    for (const CopyAxis& axis : outer_) units_ *= axis.extent;
}

StridedCopy StridedCopy::between(int64_t element_bytes, const Shape& shape, const Layout& source,
                                 const Layout& target) {
    std::vector<int64_t> from = source.strides(shape);
    std::vector<int64_t> to = target.strides(shape);
    std::vector<CopyAxis> axes;
    for (size_t k = 0; k < shape.size(); ++k) axes.push_back({shape[k], from[k], to[k]});
    return {element_bytes, std::move(axes)};
}

bool StridedCopy::is_contiguous() const {
    return bytes_ == 0 || (outer_.empty() && column_.extent == 1 && row_.source_stride == 1 &&
                           row_.target_stride == 1);
}

template <typename Element>
void StridedCopy::run_unit(const Element* source, Element* target, int64_t unit) const {
    bool is_tiled = column_.extent > 1;
    int64_t across = ceil_div(row_.extent, is_tiled ? unit_rows : piece);
    int64_t row_part = unit % across;
    unit /= across;
    int64_t down = ceil_div(column_.extent, unit_columns);
    int64_t column_part = unit % down;
    unit /= down;
    for (size_t k = outer_.size(); k-- > 0;) {
        int64_t i = unit % outer_[k].extent;
        unit /= outer_[k].extent;
        source += i * outer_[k].source_stride;
        target += i * outer_[k].target_stride;
    }
    if (is_tiled) {
        copy_tiles(source, target, row_part * unit_rows, column_part * unit_columns);
        return;
    }
    int64_t begin = row_part * piece;
    copy_row(source + begin * row_.source_stride, row_.source_stride,
             target + begin * row_.target_stride, row_.target_stride,
             std::min(piece, row_.extent - begin));
}

template <typename Element>
void StridedCopy::copy_tiles(const Element* source, Element* target, int64_t first_row,
                             int64_t first_column) const {
    int64_t last_row = std::min(row_.extent, first_row + unit_rows);
    int64_t last_column = std::min(column_.extent, first_column + unit_columns);
    for (int64_t row = first_row; row < last_row; row += tile)
        for (int64_t column = first_column; column < last_column; column += tile)
            copy_tile(source + row * row_.source_stride + column, row_.source_stride,
                      target + row + column * column_.target_stride, column_.target_stride,
                      std::min(tile, last_row - row), std::min(tile, last_column - column));
}

template <typename Element>
void StridedCopy::run_as(const void* source, void* target) const {
    struct Job {
        const StridedCopy& copy;
        const Element* source;
        Element* target;
        int64_t parts;
    } job{*this, static_cast<const Element*>(source), static_cast<Element*>(target), 1};
    if (bytes_ >= parallel_bytes) job.parts = std::min<int64_t>(units_, 4 * threads());
    // One reference is small enough for std::function to hold without allocating.
    parallel_for(job.parts, [&job](int64_t part) {
        int64_t units = job.copy.units_;
        for (int64_t u = part * units / job.parts; u < (part + 1) * units / job.parts; ++u)
            job.copy.run_unit(job.source, job.target, u);
    });
}

void StridedCopy::run(const void* source, void* target) const {
    if (bytes_ == 0) return;
    switch (element_bytes_) {
        case 1:
            return run_as<uint8_t>(source, target);
        case 2:
            return run_as<uint16_t>(source, target);
        case 4:
            return run_as<uint32_t>(source, target);
        case 8:
            return run_as<uint64_t>(source, target);
        default:
            CHECK(false, "elements of {} bytes", element_bytes_);
    }
}

}  // namespace ollie
