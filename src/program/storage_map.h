#pragma once

#include <optional>
#include <vector>

#include "program/program.h"
#include "tensor/strided_copy.h"

namespace ollie::program {

/// A step that only moves elements: result storage [sum target_stride * i] is argument storage
/// [offset + sum source_stride * i].
struct StorageMap {
    std::vector<CopyAxis> axes;
    int64_t offset = 0;  ///< Elements.
};

/// The map of a step whose meaning is Y[x] = A[phi(x)], if phi is linear in the digits of x under
/// the two layouts: permutations, reshapes, slices, reversals, repetitions.
std::optional<StorageMap> storage_map(const Step&, const Program&);

/// True if the result's storage equals the argument's, byte by byte: the step may be an `alias`.
bool keeps_storage(const Step&, const Program&);

/// The bare read that the definition consists of, without an outside value; null if it is more.
expr::Scalar bare_read(const expr::Tensor* definition);

}  // namespace ollie::program
