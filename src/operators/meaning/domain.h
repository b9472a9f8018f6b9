#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expr/range.h"
#include "operators/operator.h"

/// Axes and reads, as the meanings of operators use them.
namespace ollie::operators {

using Results = std::vector<const expr::Tensor*>;

/// Names of traversal iterators by rank, as people write them: n c h w for rank 4.
std::vector<std::string> axis_names(size_t rank);
/// Names of the iterators over 1 to 3 spatial axes and over the window at them: h w and r s.
std::vector<std::string> spatial_names(size_t rank);
std::vector<std::string> window_names(size_t rank);

/// Axes [0, extent) with fresh iterators.
std::vector<expr::Axis> axes_of(expr::Arena&, const Shape&);
std::vector<expr::Axis> axes_of(expr::Arena&, const Shape&, const std::vector<std::string>& names);
expr::Axis axis_of(expr::Arena&, const std::string& name, int64_t extent);

/// An axis counted from the end where negative. Errors: UserError if it lies outside the rank.
size_t normalized_axis(const Context&, int64_t axis, size_t rank);
/// Several axes, sorted. Errors: UserError if one occurs twice.
std::vector<size_t> normalized_axes(const Context&, const std::vector<int64_t>& axes, size_t rank);

/// A read that has the outside value only where it cannot be proved to be inside.
expr::Scalar read(const expr::Tensor*, const std::vector<expr::Index>&, const expr::Ranges&,
                  double outside);
/// A read that is inside by construction.
expr::Scalar read(const expr::Tensor*, const std::vector<expr::Index>&);
/// The value of a weight of one element, where known.
std::optional<double> known_scalar(const expr::Tensor*);

/// Errors: UserError unless the rank is in [least, most].
void require_rank(const Context&, const expr::Tensor*, size_t least, size_t most = SIZE_MAX);
/// Errors: UserError unless all have one type.
void require_same_type(const Context&, const std::vector<const expr::Tensor*>&);
/// The least and greatest value of a type, as the monoids' identities need them.
double lowest(ElementType);
double highest(ElementType);

/// Element types by their number in the ONNX schema; nothing for those that are not supported.
std::optional<ElementType> numbered_type(int64_t number);

}  // namespace ollie::operators
