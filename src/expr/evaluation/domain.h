#pragma once

#include <unordered_map>

#include "expr/node.h"

/// In which arithmetic a scalar is computed: integers and bool exactly in 64 bits, all else in
/// floating point.
///
/// Reads of integer and bool tensors, indices as numbers, comparisons and casts to integers are of
/// integers; sums, products, reductions, max, min, abs, sign, roundings, divisions, remainders and
/// selects are if all their operands are. Constants without fraction go along with their siblings
/// and are floating point where they are alone. Where an integer meets a floating-point operand it
/// is converted.
namespace ollie::expr::evaluation {

enum class Domain : uint8_t { Integer, Real };

class Domains {
public:
    /// Of the scalar's value.
    Domain of(Scalar);
    /// In which its operands are combined (of Where and Select: the branches).
    Domain of_operands(Scalar);

private:
    enum class Kind : uint8_t { Constant, Integer, Real };
    Kind kind(Scalar);
    Kind joined(const std::vector<Scalar>& operands, size_t first);
    Kind own_kind(Scalar);
    static Kind join(Kind, Kind);

    std::unordered_map<const ScalarNode*, Kind> kinds_;
};

Domain domain_of(ElementType);

}  // namespace ollie::expr::evaluation
