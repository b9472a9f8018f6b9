#pragma once

#include <array>

#include "expr/identity/field_evaluator.h"

/// The rows and columns over which FieldEvaluator sums products.
namespace ollie::expr {

constexpr size_t most_columns = 6;

/// Where a read runs along the inner axis: element = base + step * i for i in [first, last).
struct FieldEvaluator::Row {
    int64_t base = 0;
    int64_t step = 0;
    int64_t first = 0;
    int64_t last = 0;
};

/// One factor of consecutive terms.
struct FieldEvaluator::Column {
    bool has_numerators = false;
    std::array<int64_t, column_length> numerators;
    std::array<FieldValue, column_length> values;
};

struct FieldEvaluator::Columns {
    std::array<Column, most_columns> column;
    std::array<FieldValue, most_columns> invariant;
    std::array<bool, most_columns> has_invariant;
    int64_t length = 0;
};

/// A sum under way: numerators over 2^(17 * factors), residues times 2^(17 * numerator factors),
/// and what is neither.
struct FieldEvaluator::Total {
    SignedWide numerators = 0;
    double magnitude = 0;
    int64_t numerator_terms = 0;

    Wide p = 0;
    Wide q = 0;
    Wide s = 0;
    double companion = 0;
    double absolute = 0;
    double error = 0;
    int64_t value_terms = 0;
    int scaled_factors = 0;
    uint8_t levels = 3;

    bool has_other = false;
    FieldValue other;
};

}  // namespace ollie::expr
