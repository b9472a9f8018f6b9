#include "expr/identity/field_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/hash.h"

namespace ollie::expr {
namespace {

constexpr double epsilon = 0x1p-52;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Where the companion has overflowed nothing is known about it.
FieldValue checked(FieldValue value) {
    if (!std::isfinite(value.companion) || !std::isfinite(value.error)) {
        value.companion = 0;
        value.error = infinity;
    }
    return value;
}

FieldTag infinity_of(int sign) {
    return sign > 0 ? FieldTag::PositiveInfinity : FieldTag::NegativeInfinity;
}

bool is_infinite(const FieldValue& a) {
    return a.tag == FieldTag::PositiveInfinity || a.tag == FieldTag::NegativeInfinity;
}

/// value = mantissa * 2^exponent with an odd mantissa.
int64_t odd_mantissa(double value, int& exponent) {
    auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    exponent -= 53;
    while (mantissa != 0 && mantissa % 2 == 0) {
        mantissa /= 2;
        ++exponent;
    }
    return mantissa;
}

/// The first convergent of the continued fraction within four units in the last place.
bool find_fraction(double value, int64_t& numerator, int64_t& denominator) {
    double tolerance = 4 * epsilon * std::fabs(value);
    double rest = std::fabs(value);
    int64_t n0 = 0, n1 = 1, d0 = 1, d1 = 0;
    for (int step = 0; step < 24; ++step) {
        double whole = std::floor(rest);
        if (whole > 0x1p36) return false;
        auto a = static_cast<int64_t>(whole);
        int64_t n2 = a * n1 + n0, d2 = a * d1 + d0;
        n0 = n1, n1 = n2, d0 = d1, d1 = d2;
        if (static_cast<double>(n1) * static_cast<double>(d1) > 0x1p36) return false;
        if (std::fabs(static_cast<double>(n1) / static_cast<double>(d1) - std::fabs(value)) <=
            tolerance) {
            numerator = value < 0 ? -n1 : n1;
            denominator = d1;
            return true;
        }
        rest = 1 / (rest - whole);
    }
    return false;
}

}  // namespace

FieldValue finite_of(SignedWide numerator, int binary_scale) {
    FieldValue value;
    value.tag = FieldTag::Finite;
    value.p = FieldP::from_integer(numerator);
    value.q = FieldQ::from_integer(numerator);
    value.s = FieldS::from_integer(numerator);
    if (binary_scale != 0) {
        value.p = FieldP::multiply(value.p, FieldP::power_of_two(-binary_scale));
        value.q = FieldQ::multiply(value.q, FieldQ::power_of_two(-binary_scale));
        value.s = FieldS::multiply(value.s, FieldS::power_of_two(-binary_scale));
    }
    value.companion = std::ldexp(static_cast<double>(numerator), -binary_scale);
    bool is_exact = numerator > -(int64_t{1} << 53) && numerator < (int64_t{1} << 53);
    value.error = is_exact ? 0 : std::fabs(value.companion) * epsilon;
    return value;
}

FieldValue field_dyadic(double value) {
    if (std::isnan(value)) return FieldValue::of_tag(FieldTag::NaN);
    if (std::isinf(value)) return FieldValue::of_tag(infinity_of(value > 0 ? 1 : -1));
    int exponent = 0;
    int64_t mantissa = odd_mantissa(value, exponent);
    FieldValue result = finite_of(mantissa, -exponent);
    result.companion = value;
    return result;
}

FieldValue field_constant(double value) {
    if (std::floor(value) == value && std::fabs(value) < 0x1p31)
        return FieldValue::of_integer(static_cast<int64_t>(value));
    int exponent = 0;
    int64_t numerator = 0, denominator = 1;
    bool is_short = !std::isfinite(value) || std::llabs(odd_mantissa(value, exponent)) < 1ll << 30;
    if (is_short || !find_fraction(value, numerator, denominator)) return field_dyadic(value);
    FieldValue result = finite_of(numerator);
    result.p = FieldP::multiply(result.p, FieldP::inverse(FieldP::from_integer(denominator)));
    result.q = FieldQ::multiply(result.q, FieldQ::inverse(FieldQ::from_integer(denominator)));
    result.s = FieldS::multiply(result.s, FieldS::inverse(FieldS::from_integer(denominator)));
    result.companion = value;
    result.error = 4 * epsilon * std::fabs(value);
    return result;
}

FieldValue as_finite(const FieldValue& a) { return a.is_integer() ? finite_of(a.integer()) : a; }

int64_t wrap(int64_t value, ElementType type) {
    switch (type) {
        case ElementType::I8:
            return static_cast<int8_t>(value);
        case ElementType::I16:
            return static_cast<int16_t>(value);
        case ElementType::I32:
            return static_cast<int32_t>(value);
        case ElementType::U8:
            return static_cast<uint8_t>(value);
        case ElementType::U16:
            return static_cast<uint16_t>(value);
        case ElementType::U32:
            return static_cast<uint32_t>(value);
        case ElementType::Bool:
            return value != 0 ? 1 : 0;
        default:
            return value;
    }
}

std::string text_of(const FieldValue& a) {
    switch (a.tag) {
        case FieldTag::Integer:
            return fmt::format("{}", a.integer());
        case FieldTag::PositiveInfinity:
            return "inf";
        case FieldTag::NegativeInfinity:
            return "-inf";
        case FieldTag::NaN:
            return "nan";
        default:
            break;
    }
    if (std::isinf(a.error)) return fmt::format("residue {}", a.p);
    return fmt::format("{}", a.companion);
}

void FieldArithmetic::start_draw(uint64_t seed, int levels) {
    seed_ = mix(seed);
    levels_ = levels;
    has_used_oracle_ = false;
    if (levels < 2) return;
    exp_p_.set_base(FieldP::power(3 + (mix(seed_ + 1) >> 3), 8));
    exp_q_.set_base(FieldQ::power(3 + (mix(seed_ + 2) >> 6), 4));
}

FieldValue FieldArithmetic::add(const FieldValue& a, const FieldValue& b) const {
    if (a.is_integer() && b.is_integer())
        return FieldValue::of_integer(static_cast<int64_t>(a.p + b.p));
    if (a.is_nan() || b.is_nan()) return FieldValue::of_tag(FieldTag::NaN);
    if (is_infinite(a))
        return is_infinite(b) && a.tag != b.tag ? FieldValue::of_tag(FieldTag::NaN) : a;
    if (is_infinite(b)) return b;
    if (a.is_integer()) return add(as_finite(a), b);
    if (b.is_integer()) return add(a, as_finite(b));
    FieldValue sum;
    sum.tag = FieldTag::Finite;
    sum.p = FieldP::add(a.p, b.p);
    sum.q = FieldQ::add(a.q, b.q);
    sum.s = FieldS::add(a.s, b.s);
    sum.levels = std::min(a.levels, b.levels);
    sum.companion = a.companion + b.companion;
    sum.error = a.error + b.error + std::fabs(sum.companion) * epsilon;
    return checked(sum);
}

FieldValue FieldArithmetic::multiply(const FieldValue& a, const FieldValue& b) const {
    if (a.is_integer() && b.is_integer())
        return FieldValue::of_integer(static_cast<int64_t>(a.p * b.p));
    if (a.is_nan() || b.is_nan()) return FieldValue::of_tag(FieldTag::NaN);
    if (is_infinite(a) || is_infinite(b)) {
        int product = sign(a) * sign(b);
        return FieldValue::of_tag(product == 0 ? FieldTag::NaN : infinity_of(product));
    }
    if (a.is_integer()) return multiply(as_finite(a), b);
    if (b.is_integer()) return multiply(a, as_finite(b));
    FieldValue product;
    product.tag = FieldTag::Finite;
    product.p = FieldP::multiply(a.p, b.p);
    if (levels_ > 1) product.q = FieldQ::multiply(a.q, b.q);
    if (levels_ > 2) product.s = FieldS::multiply(a.s, b.s);
    product.levels = std::min(a.levels, b.levels);
    double x = std::fabs(a.companion), y = std::fabs(b.companion);
    product.companion = a.companion * b.companion;
    product.error =
        x * b.error + y * a.error + a.error * b.error + std::fabs(product.companion) * epsilon;
    return checked(product);
}

bool FieldArithmetic::is_zero(const FieldValue& a) const { return a.is_finite() && a.p == 0; }

FieldValue FieldArithmetic::reciprocal(const FieldValue& x) const {
    if (x.is_nan()) return x;
    if (is_infinite(x)) return finite_of(0);
    FieldValue a = as_finite(x);
    if (a.p == 0) {
        if (std::fabs(a.companion) > a.error) throw Redraw();
        return FieldValue::of_tag(FieldTag::PositiveInfinity);
    }
    if ((levels_ > 1 && a.levels > 1 && a.q == 0) || (levels_ > 2 && a.levels > 2 && a.s == 0))
        throw Redraw();
    a.p = FieldP::inverse(a.p);
    if (levels_ > 1) a.q = FieldQ::inverse(a.q);
    if (levels_ > 2) a.s = FieldS::inverse(a.s);
    double least = std::fabs(a.companion) - a.error;
    a.companion = 1 / a.companion;
    a.error = least > 0
                  ? a.error / least * std::fabs(a.companion) + 2 * epsilon * std::fabs(a.companion)
                  : infinity;
    return checked(a);
}

int FieldArithmetic::compare(const FieldValue& a, const FieldValue& b) const {
    if (a.is_integer() && b.is_integer())
        return a.integer() < b.integer() ? -1 : a.integer() > b.integer() ? 1 : 0;
    if (is_infinite(a) || is_infinite(b)) {
        if (a.tag == b.tag) return 0;
        if (is_infinite(a)) return a.tag == FieldTag::PositiveInfinity ? 1 : -1;
        return b.tag == FieldTag::PositiveInfinity ? -1 : 1;
    }
    if (a.is_integer()) return compare(as_finite(a), b);
    if (b.is_integer()) return compare(a, as_finite(b));
    double difference = a.companion - b.companion;
    double bound = a.error + b.error + epsilon * std::fabs(difference);
    if (std::fabs(difference) > bound) return difference > 0 ? 1 : -1;
    if (a.p == b.p) return 0;
    throw Redraw();
}

FieldValue FieldArithmetic::maximum(const FieldValue& a, const FieldValue& b) const {
    if (a.is_nan() || b.is_nan()) return FieldValue::of_tag(FieldTag::NaN);
    return compare(a, b) >= 0 ? a : b;
}

FieldValue FieldArithmetic::minimum(const FieldValue& a, const FieldValue& b) const {
    if (a.is_nan() || b.is_nan()) return FieldValue::of_tag(FieldTag::NaN);
    return compare(a, b) <= 0 ? a : b;
}

}  // namespace ollie::expr
