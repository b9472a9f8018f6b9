#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "match/form.h"

/// Contractions: sums of a product of two reads, by the classes of their iterators.
///
///   O[batch, rows, columns] = sum[reduced] A[batch, rows, reduced] * B[batch, columns, reduced]
///
/// Every index is linear, and no two of a read's positions are the same element: then each operand
/// is a strided view of its tensor in which every iterator has one stride. Iterators whose range is
/// 1 are in no class.
namespace ollie::match {

struct Access {
    const expr::Tensor* tensor = nullptr;
    std::vector<expr::Index> indices;  ///< Per axis of the tensor.
};

struct Contraction {
    std::vector<expr::Axis> batch;    ///< In both operands and the result.
    std::vector<expr::Axis> rows;     ///< In the first operand and the result.
    std::vector<expr::Axis> columns;  ///< In the second operand and the result.
    std::vector<expr::Axis> reduced;  ///< In both operands only.
    Access first;
    Access second;
    Access result;  ///< The definition, read at its own axes.
};

/// Elements between neighbours along the iterator in the tensor stored in this order.
int64_t stride_of(const Access&, const Layout&, expr::Iterator);
/// Elements from the tensor's start to where every iterator is 0.
int64_t offset_of(const Access&, const Layout&);

/// A storage order of the access's tensor in which the iterators lie in the given order, outermost
/// first; nothing where indices that use several iterators do not allow it. Unit axes come first.
std::optional<Layout> layout_for(const Access&, const std::vector<expr::Axis>& order);

/// Extent and stride of the iterators taken as one, the last the fastest; nothing if their strides
/// do not nest.
struct MergedAxis {
    int64_t extent = 1;
    int64_t stride = 0;
};
std::optional<MergedAxis> merge(const Access&, const Layout&, const std::vector<expr::Axis>&);

/// The classes, or what is in the way.
MatchResult match_contraction(const expr::Tensor* definition, const Form&);

}  // namespace ollie::match
