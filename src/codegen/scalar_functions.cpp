#include "codegen/scalar_functions.h"

#include <cmath>
#include <string>

#include <Halide.h>

#include "base/error.h"

namespace ollie::codegen {
namespace {

using HExpr = Halide::Expr;
using expr::Function;
using expr::Monoid;
using Halide::Internal::Call;

HExpr strict(Call::IntrinsicOp operation, Halide::Type type, HExpr a, HExpr b) {
    return Call::make(type, operation, {std::move(a), std::move(b)}, Call::PureIntrinsic);
}

/// Signed integers of 32 and 64 bits wrap here, as those of 8 and 16 bits do in Halide.
template <typename Operation>
HExpr wrapping(const HExpr& a, const HExpr& b, Operation operation) {
    Halide::Type type = a.type();
    if (!type.is_int() || type.bits() < 32) return operation(a, b);
    Halide::Type wide = type.with_code(halide_type_uint);
    return Halide::cast(type, operation(Halide::cast(wide, a), Halide::cast(wide, b)));
}

HExpr f(float value) { return HExpr(value); }

/// coefficients[0] + x * (coefficients[1] + ...).
HExpr polynomial(const HExpr& x, const std::vector<float>& coefficients) {
    HExpr result = f(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;)
        result = multiply_add(result, x, f(coefficients[i]));
    return result;
}

HExpr choose(const HExpr& condition, const HExpr& then, const HExpr& otherwise) {
    return Halide::select(condition, then, otherwise);
}

HExpr bits_of(const HExpr& x) { return Halide::reinterpret(Halide::Int(32), x); }
HExpr float_of(const HExpr& x) { return Halide::reinterpret(Halide::Float(32), x); }
HExpr absolute(const HExpr& x) { return float_of(bits_of(x) & 0x7fffffff); }
HExpr with_sign_of(const HExpr& magnitude, const HExpr& x) {
    return float_of(bits_of(magnitude) | (bits_of(x) & HExpr(int32_t(0x80000000u))));
}

/// x clamped below and above; NaN stays.
HExpr clamped(const HExpr& x, float lo, float hi) {
    HExpr bounded = choose(less(x, f(lo)), f(lo), x);
    return choose(less(f(hi), bounded), f(hi), bounded);
}

/// 2^n e^r with x = n ln 2 + r, |r| <= ln 2 / 2. Results below 2^-126 become 0.
HExpr exponential(const HExpr& argument) {
    HExpr x = clamped(argument, -104.0f, 88.9f);
    HExpr n = Halide::round(multiply(x, f(1.44269504f)));
    HExpr r = multiply_add(n, f(-0.693359375f), x);
    r = multiply_add(n, f(2.12194440e-4f), r);
    HExpr tail = polynomial(r, {5.000000095e-01f, 1.666651890e-01f, 4.166620602e-02f,
                                8.368882366e-03f, 1.395047666e-03f});
    HExpr value = multiply_add(multiply(r, r), tail, add(r, f(1)));
    // 2^n as two factors, since n alone may be below and above what an exponent holds.
    HExpr exponent = Halide::cast(Halide::Int(32), n);
    HExpr half = exponent >> 1;
    HExpr first = float_of((half + 127) << 23);
    HExpr second = float_of((exponent - half + 127) << 23);
    return multiply(multiply(value, first), second);
}

HExpr logarithm(const HExpr& argument) {
    HExpr tiny = less(argument, f(1.17549435e-38f));
    HExpr x = choose(tiny, multiply(argument, f(16777216.0f)), argument);
    HExpr shifted = bits_of(x) - 0x3f3504f3;  // The bits of sqrt(1/2).
    HExpr exponent = shifted >> 23;
    HExpr m = float_of((shifted & 0x007fffff) + 0x3f3504f3);
    HExpr e = Halide::cast(Halide::Float(32), exponent - choose(tiny, 24, 0));
    HExpr t = add(m, f(-1));
    HExpr tail = polynomial(t, {3.333331057e-01f, -2.499998675e-01f, 2.000221971e-01f,
                                -1.666923898e-01f, 1.421876777e-01f, -1.238459626e-01f,
                                1.187249749e-01f, -1.178827570e-01f, 6.914542147e-02f});
    HExpr square = multiply(t, t);
    HExpr value = multiply(multiply(square, t), tail);
    value = multiply_add(e, f(-2.12194440e-4f), value);
    value = add(multiply_add(f(-0.5f), square, value), t);
    value = multiply_add(e, f(0.693359375f), value);
    const float infinity = INFINITY;
    value = choose(less(argument, f(infinity)), value, argument);  // +inf and NaN.
    value = choose(equal(argument, f(0)), f(-infinity), value);
    return choose(less(argument, f(0)), f(NAN), value);
}

HExpr reciprocal_of(const HExpr& x) { return divide(Halide::cast(x.type(), 1), x); }

HExpr sigmoid(const HExpr& x) { return reciprocal_of(add(f(1), exponential(multiply(x, f(-1))))); }

HExpr hyperbolic_tangent(const HExpr& x) {
    HExpr magnitude = absolute(x);
    HExpr t = exponential(multiply(magnitude, f(-2)));
    HExpr large = divide(subtract(f(1), t), add(f(1), t));
    HExpr square = multiply(x, x);
    HExpr tail = polynomial(square, {-3.333326288e-01f, 1.333089974e-01f, -5.369296638e-02f,
                                     2.048331136e-02f, -5.528629021e-03f});
    HExpr small = multiply_add(multiply(square, x), tail, x);
    return choose(less(magnitude, f(0.625f)), small, with_sign_of(large, x));
}

HExpr error_function(const HExpr& x) {
    HExpr magnitude = absolute(x);
    HExpr square = multiply(x, x);
    HExpr small =
        multiply(x, polynomial(square, {1.128379166e+00f, -3.761262714e-01f, 1.128360018e-01f,
                                        -2.685444459e-02f, 5.189535335e-03f, -8.020841245e-04f,
                                        7.889119414e-05f}));
    HExpr bounded = clamped(magnitude, 0.0f, 4.0f);
    HExpr t = reciprocal_of(multiply_add(bounded, f(0.5f), f(1)));
    HExpr complement = multiply(
        multiply(exponential(multiply(multiply(bounded, bounded), f(-1))), t),
        polynomial(t, {2.822755149e-01f, 2.792499998e-01f, 2.655918723e-01f, 1.104575881e-01f,
                       2.095891388e-01f, -1.090992007e-01f, -9.071188083e-02f, 5.287341896e-02f}));
    HExpr large = with_sign_of(subtract(f(1), complement), x);
    return choose(less(magnitude, f(1)), small, large);
}

/// max(x, 0) + log(1 + e^-|x|); the logarithm keeps its precision where 1 + t rounds.
HExpr softplus(const HExpr& x) {
    HExpr t = exponential(multiply(absolute(x), f(-1)));
    HExpr u = add(f(1), t);
    HExpr correction = divide(subtract(t, subtract(u, f(1))), u);
    return add(maximum(x, f(0)), add(logarithm(u), correction));
}

HExpr library_call(const std::string& name, const std::vector<HExpr>& arguments) {
    Halide::Type type = arguments[0].type();
    CHECK(type.is_float(), "{} of an integer", name);
    return Call::make(type, type.bits() == 32 ? name + "f" : name, arguments, Call::PureExtern);
}

HExpr sign_of(const HExpr& x) {
    Halide::Type type = x.type();
    HExpr zero = Halide::cast(type, 0);
    HExpr one = Halide::cast(type, 1);
    HExpr minus_one = Halide::cast(type, -1);
    HExpr signed_one = choose(less(x, zero), minus_one, x);
    return choose(less(zero, x), one, signed_one);
}

HExpr absolute_value(const HExpr& x) {
    Halide::Type type = x.type();
    if (type == Halide::Float(32)) return absolute(x);
    if (type.is_uint()) return x;
    return Halide::cast(type, Halide::abs(x));
}

/// Rounds to zero; by zero gives zero (no trap).
HExpr truncated_quotient(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return Halide::trunc(divide(a, b));
    HExpr zero = Halide::cast(a.type(), 0);
    if (a.type().is_uint()) return a / b;
    HExpr quotient = Halide::cast(a.type(), Halide::abs(a) / Halide::abs(b));
    HExpr negated = wrapping(zero, quotient, [](HExpr x, HExpr y) { return x - y; });
    return choose((a < zero) != (b < zero), negated, quotient);
}

HExpr truncated_remainder(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return library_call("fmod", {a, b});
    return subtract(a, multiply(truncated_quotient(a, b), b));
}

HExpr floored_remainder(const HExpr& a, const HExpr& b) {
    HExpr remainder = truncated_remainder(a, b);
    HExpr zero = Halide::cast(a.type(), 0);
    HExpr wrong_sign = !equal(remainder, zero) && (less(remainder, zero) != less(b, zero));
    return choose(wrong_sign, add(remainder, b), remainder);
}

HExpr rounded(Function function, const HExpr& x) {
    if (!x.type().is_float()) return x;
    if (function == Function::Floor) return Halide::floor(x);
    if (function == Function::Ceil) return Halide::ceil(x);
    return Halide::round(x);
}

std::string library_name(Function function) {
    switch (function) {
        case Function::Exp:
            return "exp";
        case Function::Log:
            return "log";
        case Function::Tanh:
            return "tanh";
        case Function::Erf:
            return "erf";
        case Function::Sin:
            return "sin";
        case Function::Cos:
            return "cos";
        case Function::Tan:
            return "tan";
        case Function::Asin:
            return "asin";
        case Function::Acos:
            return "acos";
        case Function::Atan:
            return "atan";
        case Function::Sinh:
            return "sinh";
        case Function::Cosh:
            return "cosh";
        case Function::Asinh:
            return "asinh";
        case Function::Acosh:
            return "acosh";
        case Function::Atanh:
            return "atanh";
        case Function::Pow:
            return "pow";
        default:
            CHECK(false, "not a function of libm");
    }
}

HExpr wide_sigmoid(const HExpr& x) {
    HExpr one = Halide::cast(x.type(), 1);
    return divide(one, add(one, library_call("exp", {subtract(Halide::cast(x.type(), 0), x)})));
}

HExpr wide_softplus(const HExpr& x) {
    HExpr zero = Halide::cast(x.type(), 0);
    HExpr t = library_call("exp", {subtract(zero, library_call("fabs", {x}))});
    return add(maximum(x, zero), library_call("log1p", {t}));
}

bool is_number(const HExpr& x) {
    if (const double* value = Halide::Internal::as_const_float(x) ? new double : nullptr) {
        delete value;
        return !std::isnan(*Halide::Internal::as_const_float(x));
    }
    return false;
}

}  // namespace

HExpr add(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return strict(Call::strict_add, a.type(), a, b);
    return wrapping(a, b, [](HExpr x, HExpr y) { return x + y; });
}

HExpr subtract(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return strict(Call::strict_sub, a.type(), a, b);
    return wrapping(a, b, [](HExpr x, HExpr y) { return x - y; });
}

HExpr multiply(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return strict(Call::strict_mul, a.type(), a, b);
    return wrapping(a, b, [](HExpr x, HExpr y) { return x * y; });
}

HExpr divide(const HExpr& a, const HExpr& b) {
    CHECK(a.type().is_float(), "a quotient of integers");
    return strict(Call::strict_div, a.type(), a, b);
}

HExpr multiply_add(const HExpr& a, const HExpr& b, const HExpr& c) {
    if (a.type().is_float()) return c + a * b;
    return add(c, multiply(a, b));
}

HExpr less(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return strict(Call::strict_lt, Halide::Bool(), a, b);
    return a < b;
}

HExpr less_equal(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return strict(Call::strict_le, Halide::Bool(), a, b);
    return a <= b;
}

HExpr equal(const HExpr& a, const HExpr& b) {
    if (a.type().is_float()) return strict(Call::strict_eq, Halide::Bool(), a, b);
    return a == b;
}

/// `constant < x ? x : constant` would lose a NaN in x; `x < constant ? constant : x` keeps it and
/// is one instruction.
HExpr maximum(const HExpr& a, const HExpr& b) {
    if (!a.type().is_float()) return Halide::max(a, b);
    if (is_number(b)) return choose(less(a, b), b, a);
    if (is_number(a)) return choose(less(b, a), a, b);
    return choose(less(a, b) || Halide::is_nan(b), b, a);
}

HExpr minimum(const HExpr& a, const HExpr& b) {
    if (!a.type().is_float()) return Halide::min(a, b);
    if (is_number(b)) return choose(less(b, a), b, a);
    if (is_number(a)) return choose(less(a, b), a, b);
    return choose(less(b, a) || Halide::is_nan(b), b, a);
}

HExpr combine(Monoid monoid, const HExpr& a, const HExpr& b) {
    switch (monoid) {
        case Monoid::Sum:
            return add(a, b);
        case Monoid::Prod:
            return multiply(a, b);
        case Monoid::Max:
            return maximum(a, b);
        case Monoid::Min:
            return minimum(a, b);
    }
    CHECK(false);
}

HExpr call(Function function, const std::vector<HExpr>& a) {
    const bool fast = a[0].type() == Halide::Float(32);
    switch (function) {
        case Function::Reciprocal:
            return reciprocal_of(a[0]);
        case Function::Exp:
            return fast ? exponential(a[0]) : library_call("exp", a);
        case Function::Log:
            return fast ? logarithm(a[0]) : library_call("log", a);
        case Function::Tanh:
            return fast ? hyperbolic_tangent(a[0]) : library_call("tanh", a);
        case Function::Erf:
            return fast ? error_function(a[0]) : library_call("erf", a);
        case Function::Sigmoid:
            return fast ? sigmoid(a[0]) : wide_sigmoid(a[0]);
        case Function::Softplus:
            return fast ? softplus(a[0]) : wide_softplus(a[0]);
        case Function::Sqrt:
            return Halide::sqrt(a[0]);
        case Function::Abs:
            return absolute_value(a[0]);
        case Function::Sign:
            return sign_of(a[0]);
        case Function::Floor:
        case Function::Ceil:
        case Function::Round:
            return rounded(function, a[0]);
        case Function::Max:
            return maximum(a[0], a[1]);
        case Function::Min:
            return minimum(a[0], a[1]);
        case Function::TruncDiv:
            return truncated_quotient(a[0], a[1]);
        case Function::TruncMod:
            return truncated_remainder(a[0], a[1]);
        case Function::FloorMod:
            return floored_remainder(a[0], a[1]);
        default:
            return library_call(library_name(function), a);
    }
}

HExpr identity_of(Monoid monoid, ElementType type) {
    const bool largest = monoid == Monoid::Min;
    Halide::Type t;
    switch (type) {
        case ElementType::F32:
            t = Halide::Float(32);
            break;
        case ElementType::F64:
            t = Halide::Float(64);
            break;
        case ElementType::I8:
            t = Halide::Int(8);
            break;
        case ElementType::I16:
            t = Halide::Int(16);
            break;
        case ElementType::I32:
            t = Halide::Int(32);
            break;
        case ElementType::I64:
            t = Halide::Int(64);
            break;
        case ElementType::U16:
            t = Halide::UInt(16);
            break;
        case ElementType::U32:
            t = Halide::UInt(32);
            break;
        case ElementType::U64:
            t = Halide::UInt(64);
            break;
        case ElementType::U8:
        case ElementType::Bool:
            t = Halide::UInt(8);
            break;
    }
    if (monoid == Monoid::Sum) return Halide::cast(t, 0);
    if (monoid == Monoid::Prod) return Halide::cast(t, 1);
    if (t.is_float()) return Halide::Internal::make_const(t, largest ? INFINITY : -INFINITY);
    return largest ? t.max() : t.min();
}

}  // namespace ollie::codegen
