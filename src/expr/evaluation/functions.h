#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "expr/node.h"

/// The meaning of functions, monoids and conversions on single numbers. Real is double or float;
/// each operation is rounded to it.
namespace ollie::expr::evaluation {

/// Rounds to zero; what does not fit, and NaN, is the least integer.
template <typename Real>
int64_t to_integer(Real x) {
    constexpr Real limit = static_cast<Real>(9223372036854775808.0);
    return x >= -limit && x < limit ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}

/// The value that an element of this type holds: wrapped to its bits; of bool, 0 or 1.
inline int64_t wrapped(ElementType type, int64_t x) {
    switch (type) {
        case ElementType::I8:
            return static_cast<int8_t>(x);
        case ElementType::I16:
            return static_cast<int16_t>(x);
        case ElementType::I32:
            return static_cast<int32_t>(x);
        case ElementType::U8:
            return static_cast<uint8_t>(x);
        case ElementType::U16:
            return static_cast<uint16_t>(x);
        case ElementType::U32:
            return static_cast<uint32_t>(x);
        case ElementType::Bool:
            return x != 0 ? 1 : 0;
        default:
            return x;
    }
}

/// Conversion to an integer type or bool.
template <typename Real>
int64_t cast_to_integer(ElementType type, Real x) {
    if (type == ElementType::Bool) return x != 0 ? 1 : 0;
    return wrapped(type, to_integer(x));
}

/// Conversion to a float type: F32 rounds.
template <typename Real>
Real cast_to_float(ElementType type, Real x) {
    return type == ElementType::F32 ? static_cast<Real>(static_cast<float>(x)) : x;
}

// Integer arithmetic wraps.
inline int64_t plus(int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
inline int64_t times(int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
inline double plus(double x, double y) { return x + y; }
inline double times(double x, double y) { return x * y; }
inline float plus(float x, float y) { return x + y; }
inline float times(float x, float y) { return x * y; }

template <typename T>
T maximum(T x, T y) {
    T larger = x < y ? y : x;
    return x != x ? x : (y != y ? y : larger);
}
template <typename T>
T minimum(T x, T y) {
    T smaller = y < x ? y : x;
    return x != x ? x : (y != y ? y : smaller);
}

template <typename T>
T combine(Monoid monoid, T x, T y) {
    switch (monoid) {
        case Monoid::Sum:
            return plus(x, y);
        case Monoid::Prod:
            return times(x, y);
        case Monoid::Max:
            return maximum(x, y);
        default:
            return minimum(x, y);
    }
}

/// Of integers the least and greatest stand for -inf and +inf.
template <typename T>
T identity_of(Monoid monoid) {
    using Limits = std::numeric_limits<T>;
    switch (monoid) {
        case Monoid::Sum:
            return 0;
        case Monoid::Prod:
            return 1;
        case Monoid::Max:
            return Limits::has_infinity ? -Limits::infinity() : Limits::min();
        default:
            return Limits::has_infinity ? Limits::infinity() : Limits::max();
    }
}

template <typename Real>
Real sign(Real x) {
    return x > 0 ? Real(1) : (x < 0 ? Real(-1) : x);
}

/// A function of one floating-point number with a floating-point value.
template <typename Real>
Real apply(Function function, Real x) {
    switch (function) {
        case Function::Reciprocal:
            return 1 / x;
        case Function::Exp:
            return std::exp(x);
        case Function::Log:
            return std::log(x);
        case Function::Sqrt:
            return std::sqrt(x);
        case Function::Tanh:
            return std::tanh(x);
        case Function::Sigmoid:
            return 1 / (1 + std::exp(-x));
        case Function::Softplus:
            return maximum(x, Real(0)) + std::log1p(std::exp(-std::abs(x)));
        case Function::Erf:
            return std::erf(x);
        case Function::Abs:
            return std::abs(x);
        case Function::Sign:
            return sign(x);
        case Function::Floor:
            return std::floor(x);
        case Function::Ceil:
            return std::ceil(x);
        case Function::Round:
            return std::nearbyint(x);
        case Function::Sin:
            return std::sin(x);
        case Function::Cos:
            return std::cos(x);
        case Function::Tan:
            return std::tan(x);
        case Function::Asin:
            return std::asin(x);
        case Function::Acos:
            return std::acos(x);
        case Function::Atan:
            return std::atan(x);
        case Function::Sinh:
            return std::sinh(x);
        case Function::Cosh:
            return std::cosh(x);
        case Function::Asinh:
            return std::asinh(x);
        case Function::Acosh:
            return std::acosh(x);
        case Function::Atanh:
            return std::atanh(x);
        default:
            return std::numeric_limits<Real>::quiet_NaN();
    }
}

template <typename Real>
Real floor_remainder(Real x, Real y) {
    Real remainder = std::fmod(x, y);
    return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
}

/// A function of two floating-point numbers with a floating-point value.
template <typename Real>
Real apply(Function function, Real x, Real y) {
    switch (function) {
        case Function::Max:
            return maximum(x, y);
        case Function::Min:
            return minimum(x, y);
        case Function::Pow:
            return std::pow(x, y);
        case Function::TruncDiv:
            return std::trunc(x / y);
        case Function::FloorMod:
            return floor_remainder(x, y);
        case Function::TruncMod:
            return std::fmod(x, y);
        default:
            return std::numeric_limits<Real>::quiet_NaN();
    }
}

/// A function of one integer with an integer value.
inline int64_t apply(Function function, int64_t x) {
    if (function == Function::Abs) return x < 0 ? times(x, -1) : x;
    if (function == Function::Sign) return x > 0 ? 1 : (x < 0 ? -1 : 0);
    return x;
}

/// By squaring; a negative exponent leaves 0 unless x is 1 or -1.
inline int64_t power(int64_t x, int64_t exponent) {
    if (exponent < 0) {
        if (x == 1) return 1;
        return x == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    }
    int64_t result = 1;
    for (; exponent > 0; exponent /= 2, x = times(x, x))
        if (exponent % 2 == 1) result = times(result, x);
    return result;
}

/// Rounds to zero. Of a division by zero the quotient and the remainder are 0.
inline int64_t quotient(int64_t x, int64_t y) {
    if (y == 0) return 0;
    return y == -1 ? times(x, -1) : x / y;
}
inline int64_t remainder(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

/// A function of two integers with an integer value.
inline int64_t apply(Function function, int64_t x, int64_t y) {
    switch (function) {
        case Function::Max:
            return x < y ? y : x;
        case Function::Min:
            return y < x ? y : x;
        case Function::Pow:
            return power(x, y);
        case Function::TruncDiv:
            return quotient(x, y);
        case Function::FloorMod: {
            int64_t rest = remainder(x, y);
            return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
        }
        default:
            return remainder(x, y);
    }
}

/// A truth about one number.
template <typename T>
int64_t test(Function function, T x) {
    if (function == Function::Not) return x == 0 ? 1 : 0;
    return x != x ? 1 : 0;
}

/// A truth about two numbers.
template <typename T>
int64_t test(Function function, T x, T y) {
    switch (function) {
        case Function::Less:
            return x < y ? 1 : 0;
        case Function::LessEqual:
            return x <= y ? 1 : 0;
        case Function::Equal:
            return x == y ? 1 : 0;
        case Function::And:
            return x != 0 && y != 0 ? 1 : 0;
        case Function::Or:
            return x != 0 || y != 0 ? 1 : 0;
        default:
            return (x != 0) != (y != 0) ? 1 : 0;
    }
}

/// Whether the function's value is a truth.
constexpr bool is_test(Function function) {
    return function == Function::Not || function == Function::IsNan || function == Function::Less ||
           function == Function::LessEqual || function == Function::Equal ||
           function == Function::And || function == Function::Or || function == Function::Xor;
}

}  // namespace ollie::expr::evaluation
