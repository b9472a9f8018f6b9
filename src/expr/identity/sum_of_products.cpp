#include "expr/identity/sum_of_products.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ollie::expr {
namespace {

constexpr double epsilon = 0x1p-52;

FieldValue value_of_numerator(int64_t n) {
    FieldValue value;
    value.tag = FieldTag::Finite;
    auto magnitude = static_cast<uint64_t>(n < 0 ? -n : n);
    value.p = n < 0 ? FieldP::prime - magnitude : magnitude;
    value.q = n < 0 ? FieldQ::prime - magnitude : magnitude;
    value.s = n < 0 ? FieldS::prime - magnitude : magnitude;
    value.companion = static_cast<double>(n);
    return value;
}

/// Sum over i of the product of columns i for one residue, reduced late.
template <typename Field, uint64_t FieldValue::*Member>
Wide sum_residues(const FieldValue* const* columns, size_t factors, int64_t length) {
    Wide total = 0;
    for (int64_t i = 0; i < length; ++i) {
        uint64_t product = columns[0][i].*Member;
        for (size_t f = 1; f + 1 < factors; ++f)
            product = Field::multiply(product, columns[f][i].*Member);
        total += factors > 1 ? Wide{product} * (columns[factors - 1][i].*Member) : Wide{product};
        if ((i & 7) == 7) total = Field::fold(total);
    }
    return Field::fold(total);
}

}  // namespace

void FieldEvaluator::fill(Definition& definition, const FactorCode& factor, const ReduceCode& code,
                          int64_t* slots, int64_t first, int64_t count, const Row& row,
                          Column& column, int64_t at) {
    if (factor.read >= 0) {
        const Place& place = places_[definition.code.reads[factor.read].tensor];
        int64_t start = row.base + row.step * first;
        column.has_numerators = place.source >= 0 && sources_[place.source].has_numerators();
        if (column.has_numerators) {
            sources_[place.source].numerators(start, row.step, count, &column.numerators[at]);
            return;
        }
        int tensor = definition.code.reads[factor.read].tensor;
        for (int64_t i = 0; i < count; ++i)
            column.values[at + i] = element(tensor, start + row.step * i);
        return;
    }
    Columns& columns = *columns_[columns_in_use_ - 1];
    size_t number = static_cast<size_t>(&column - columns.column.data());
    column.has_numerators = false;
    if (factor.uses_inner) {
        for (int64_t i = 0; i < count; ++i) {
            slots[code.axes[code.inner].slot] = first + i;
            column.values[at + i] = node(definition, factor.node, slots);
        }
        return;
    }
    FieldValue value;
    if (factor.is_invariant && columns.has_invariant[number]) {
        value = columns.invariant[number];
    } else {
        value = node(definition, factor.node, slots);
        columns.invariant[number] = value;
        columns.has_invariant[number] = true;
    }
    std::fill_n(column.values.begin() + at, count, value);
}

void FieldEvaluator::fill_box(const ReadCode& read, const FactorCode& factor, int64_t base,
                              Column& column) {
    const Place& place = places_[read.tensor];
    column.has_numerators = place.source >= 0 && sources_[place.source].has_numerators();
    if (column.has_numerators) {
        sources_[place.source].numerators(base, factor.offsets, column.numerators.data());
        return;
    }
    for (size_t i = 0; i < factor.offsets.size(); ++i)
        column.values[i] = element(read.tensor, base + factor.offsets[i]);
}

void FieldEvaluator::close(const ReduceCode& code, Columns& columns, Total& total) {
    if (columns.length == 0) return;
    size_t factors = code.factors.size();
    bool has_only_numerators = factors <= 3;
    for (size_t f = 0; f < factors; ++f)
        has_only_numerators = has_only_numerators && columns.column[f].has_numerators;
    if (has_only_numerators)
        close_numerators(factors, columns, total);
    else
        close_values(factors, code.is_integer, columns, total);
    columns.length = 0;
}

void FieldEvaluator::close_numerators(size_t factors, Columns& columns, Total& total) {
    const auto& a = columns.column[0].numerators;
    const auto& b = columns.column[1].numerators;
    const auto& c = columns.column[2].numerators;
    int64_t length = columns.length;
    total.numerator_terms += length;
    if (factors == 1) {
        for (int64_t i = 0; i < length; ++i) total.numerators += a[i];
    } else if (factors == 2) {
        int64_t sum = 0;
        for (int64_t i = 0; i < length; ++i) sum += a[i] * b[i];
        total.numerators += sum;
    } else {
        for (int64_t i = 0; i < length; ++i)
            total.numerators += static_cast<SignedWide>(a[i] * b[i]) * c[i];
    }
}

void FieldEvaluator::close_values(size_t factors, bool is_integer, Columns& columns, Total& total) {
    const FieldValue* values[most_columns];
    bool is_plain = true;
    total.scaled_factors = 0;
    uint8_t levels = 3;
    for (size_t f = 0; f < factors; ++f) {
        Column& column = columns.column[f];
        values[f] = column.values.data();
        if (column.has_numerators) {
            ++total.scaled_factors;
            for (int64_t i = 0; i < columns.length; ++i)
                column.values[i] = value_of_numerator(column.numerators[i]);
            continue;
        }
        for (int64_t i = 0; i < columns.length; ++i) {
            FieldValue& value = column.values[i];
            if (value.is_integer() && !is_integer) value = as_finite(value);
            is_plain = is_plain && value.tag == FieldTag::Finite;
            levels = std::min(levels, value.levels);
        }
    }
    if (!is_plain) {
        FieldValue scale = finite_of(1, dyadic_places * total.scaled_factors);
        for (int64_t i = 0; i < columns.length; ++i) {
            FieldValue product = values[0][i];
            for (size_t f = 1; f < factors; ++f)
                product = arithmetic_.multiply(product, values[f][i]);
            if (total.scaled_factors > 0) product = arithmetic_.multiply(product, scale);
            total.other = total.has_other ? arithmetic_.add(total.other, product) : product;
            total.has_other = true;
        }
        return;
    }
    total.levels = std::min(total.levels, levels);
    total.value_terms += columns.length;
    total.p = FieldP::fold(total.p +
                           sum_residues<FieldP, &FieldValue::p>(values, factors, columns.length));
    if (arithmetic_.levels() > 1)
        total.q = FieldQ::fold(
            total.q + sum_residues<FieldQ, &FieldValue::q>(values, factors, columns.length));
    if (arithmetic_.levels() > 2)
        total.s = FieldS::fold(
            total.s + sum_residues<FieldS, &FieldValue::s>(values, factors, columns.length));
    for (int64_t i = 0; i < columns.length; ++i) {
        double product = values[0][i].companion;
        double error = values[0][i].error;
        for (size_t f = 1; f < factors; ++f) {
            const FieldValue& next = values[f][i];
            error =
                error * (std::fabs(next.companion) + next.error) + std::fabs(product) * next.error;
            product *= next.companion;
        }
        total.companion += product;
        total.absolute += std::fabs(product);
        total.error += error;
    }
}

FieldValue FieldEvaluator::result(const ReduceCode& code, Total& total) const {
    size_t factors = code.factors.size();
    FieldValue sum;
    bool is_empty = true;
    auto include = [&](const FieldValue& part) {
        sum = is_empty ? part : arithmetic_.add(sum, part);
        is_empty = false;
    };
    if (total.numerator_terms > 0)
        include(finite_of(total.numerators, dyadic_places * static_cast<int>(factors)));
    if (total.value_terms > 0) {
        FieldValue value = finite_of(1, dyadic_places * total.scaled_factors);
        double scale = value.companion;
        value.p = FieldP::multiply(value.p, FieldP::reduce(total.p));
        value.q = FieldQ::multiply(value.q, FieldQ::reduce(total.q));
        value.s = FieldS::multiply(value.s, FieldS::reduce(total.s));
        value.levels = total.levels;
        auto roundings = static_cast<double>(total.value_terms + static_cast<int64_t>(factors));
        value.companion = total.companion * scale;
        value.error = (total.error + roundings * epsilon * total.absolute) * scale;
        if (!std::isfinite(value.companion) || !std::isfinite(value.error)) {
            value.companion = 0;
            value.error = std::numeric_limits<double>::infinity();
        }
        include(value);
    }
    if (total.has_other) include(total.other);
    return sum;
}

}  // namespace ollie::expr
