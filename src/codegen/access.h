#pragma once

#include <cstdint>
#include <optional>

#include "codegen/kernel.h"

/// How reads move through memory: what makes an axis a good or a bad one for vectors.
namespace ollie::codegen {

/// Neighbours up to that many apart are loaded densely and shuffled.
inline constexpr int64_t widest_shuffle = 4;

/// Elements by which the address of the read moves when the iterator grows by one. Null where that
/// is not one number: the iterator is divided, bounded or looked up.
std::optional<int64_t> address_step(const Kernel&, expr::Scalar read, expr::Iterator);

/// Instructions that reading one vector along the iterator takes, about: 1 where the elements are
/// neighbours, one for each lane where they are far apart.
double vector_weight(const Kernel&, expr::Scalar read, expr::Iterator, int lanes);

/// The same over all reads of the stage's body, 1 at least.
double vector_weight(const Kernel&, const Stage&, expr::Iterator, int lanes);

/// Instructions for the whole kernel with vectors of that many lanes along the axis of the result.
double vector_cost(const Kernel&, int axis, int lanes);

/// Points of the stage's reduction; 1 where there is none.
int64_t taps_of(const Stage&);

}  // namespace ollie::codegen
