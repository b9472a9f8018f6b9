#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "expr/node.h"

/// Parts of outputs, for evaluations whose whole is too dear.
namespace ollie::optimize {

/// A box of a tensor: elements from `first`, `extent` along each axis.
struct Region {
    std::vector<int64_t> first;
    std::vector<int64_t> extent;

    bool operator==(const Region&) const = default;
    int64_t size() const;
    /// Calls with the row-major index of each element, first within the region and then within the
    /// tensor of this shape.
    void for_each(const Shape& shape, const std::function<void(int64_t, int64_t)>&) const;
};

/// The Expr whose outputs are these regions, one for each, and whose other definitions have just
/// what is read. All domains begin at 0.
expr::Expr restricted(const expr::Expr&, const std::vector<Region>&);

/// Of all definitions, as search/estimate.h counts them.
double operations(const expr::Expr&);

/// Regions of all outputs, from both ends and the middle, so that all together cost about
/// `most_operations`; the whole if it costs no more.
std::vector<std::vector<Region>> sampled_regions(const expr::Expr&, double most_operations);

}  // namespace ollie::optimize
