#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "expr/identity/residue.h"
#include "expr/node.h"

/// The numbers of identity testing: one real number as residues and as a float64 companion with a
/// bound on its error. Equality is equality of residues; the companion decides order.
namespace ollie::expr {

enum class FieldTag : uint8_t { Finite, Integer, PositiveInfinity, NegativeInfinity, NaN };

struct FieldValue {
    uint64_t p = 0;  ///< Integer: the value itself, and nothing else counts.
    uint64_t q = 0;
    uint64_t s = 0;
    double companion = 0;
    double error = 0;  ///< Infinite where the companion overflowed.
    FieldTag tag = FieldTag::Integer;
    uint8_t levels = 3;  ///< How many of p, q, s are known. exp takes away one.

    bool is_integer() const { return tag == FieldTag::Integer; }
    bool is_finite() const { return tag <= FieldTag::Integer; }
    bool is_nan() const { return tag == FieldTag::NaN; }
    int64_t integer() const { return static_cast<int64_t>(p); }

    static FieldValue of_integer(int64_t n) {
        FieldValue value;
        value.p = static_cast<uint64_t>(n);
        return value;
    }
    static FieldValue of_tag(FieldTag tag) {
        FieldValue value;
        value.tag = tag;
        return value;
    }
};

/// The companion is too close to a boundary to decide, or a divisor vanished by chance.
struct Redraw : std::exception {};

/// n, n / 2^k, or numerator / denominator with the companion.
FieldValue finite_of(SignedWide numerator, int binary_scale = 0);
/// Exactly a short dyadic number or else the fraction with small terms that rounds to this double:
/// a constant 0.1 in double precision means a tenth. Infinities and NaN give tags; small whole
/// numbers give Integer.
FieldValue field_constant(double value);
/// Exactly the double.
FieldValue field_dyadic(double value);
/// Integer as Finite; others unchanged.
FieldValue as_finite(const FieldValue&);
/// The integer wrapped to the type.
int64_t wrap(int64_t value, ElementType);
/// "1.25", "nan", "-inf".
std::string text_of(const FieldValue&);

/// Arithmetic under one draw: holds the bases of exp.
class FieldArithmetic {
public:
    /// How many residues are carried: 1 where no exp occurs, 2 and 3 for exp inside exp.
    void start_draw(uint64_t seed, int levels);
    int levels() const { return levels_; }
    /// Whether a function without its laws was evaluated: a mismatch may then be none.
    bool has_used_oracle() const { return has_used_oracle_; }

    FieldValue add(const FieldValue&, const FieldValue&) const;
    FieldValue multiply(const FieldValue&, const FieldValue&) const;
    FieldValue reciprocal(const FieldValue&) const;
    /// -1, 0, 1; neither is NaN.
    int compare(const FieldValue&, const FieldValue&) const;
    bool is_zero(const FieldValue& a) const;
    FieldValue maximum(const FieldValue&, const FieldValue&) const;
    FieldValue minimum(const FieldValue&, const FieldValue&) const;
    FieldValue apply(Function, std::span<const FieldValue> operands);
    FieldValue cast(const FieldValue&, ElementType);

private:
    FieldValue exponential(const FieldValue& x);
    FieldValue logistic(Function function, const FieldValue& x);
    FieldValue square_root(const FieldValue& x);
    FieldValue logarithm(const FieldValue& x);
    FieldValue power(const FieldValue& x, const FieldValue& y);
    FieldValue rounded(Function function, const FieldValue& x) const;
    FieldValue division(Function function, const FieldValue& a, const FieldValue& b) const;
    FieldValue unary(Function function, const FieldValue& x);
    FieldValue oracle(Function function, uint64_t key, double companion, double error);
    FieldValue oracle(Function function, const FieldValue& x);
    bool is_true(const FieldValue& a) const { return a.is_nan() || !is_zero(a); }
    int sign(const FieldValue& a) const { return compare(a, FieldValue::of_integer(0)); }

    uint64_t seed_ = 0;
    int levels_ = 1;
    bool has_used_oracle_ = false;
    PowerTable<FieldP> exp_p_;
    PowerTable<FieldQ> exp_q_;
};

}  // namespace ollie::expr
