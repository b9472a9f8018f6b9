#pragma once

#include <cstdint>
#include <vector>

#include "tensor/shape.h"

/// Moving elements between two orders of storage.
namespace ollie {

/// One loop of a copy; strides in elements.
struct CopyAxis {
    int64_t extent = 1;
    int64_t source_stride = 0;
    int64_t target_stride = 0;
};

/// A prepared copy: target[sum target_stride * i] = source[sum source_stride * i] for every point i
/// of the axes. The target's elements are distinct. Neighbouring axes are merged, rows that are
/// contiguous in both are moved whole, and where the two disagree on the innermost axis the copy
/// goes by square tiles. Large copies use the parallel loop. `run` allocates nothing.
class StridedCopy {
public:
    StridedCopy(int64_t element_bytes, std::vector<CopyAxis> axes);
    /// A dense tensor of this shape from one layout to another.
    static StridedCopy between(int64_t element_bytes, const Shape&, const Layout& source,
                               const Layout& target);

    /// True if source and target are one contiguous run of the same order: no relayout at all.
    bool is_contiguous() const;
    int64_t bytes() const { return bytes_; }
    void run(const void* source, void* target) const;

private:
    template <typename Element>
    void run_as(const void* source, void* target) const;
    template <typename Element>
    void run_unit(const Element* source, Element* target, int64_t unit) const;
    template <typename Element>
    void copy_tiles(const Element* source, Element* target, int64_t first_row,
                    int64_t first_column) const;

    int64_t element_bytes_;
    int64_t bytes_ = 0;
    std::vector<CopyAxis> outer_;  ///< Outermost first.
    CopyAxis row_;                 ///< Innermost in the target.
    CopyAxis column_;              ///< Innermost in the source; extent 1 where that is the row.
    int64_t units_ = 0;            ///< Independent pieces: outer points times tiles.
};

}  // namespace ollie
