#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "expr/identity/field_value.h"

namespace ollie::expr {
namespace {

constexpr double epsilon = 0x1p-52;
constexpr double infinity = std::numeric_limits<double>::infinity();

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double sigmoid(double x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double companion_of(Function function, double x) {
    switch (function) {
        case Function::Exp:
            return std::exp(x);
        case Function::Log:
            return std::log(x);
        case Function::Sqrt:
            return std::sqrt(x);
        case Function::Tanh:
            return std::tanh(x);
        case Function::Sigmoid:
            return sigmoid(x);
        case Function::Softplus:
            return softplus(x);
        case Function::Erf:
            return std::erf(x);
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
            CHECK(false, "function {} has no companion", static_cast<int>(function));
    }
}

/// How far the function moves when its argument moves by the error.
double error_of(Function function, double x, double error, double value) {
    if (!std::isfinite(error)) return infinity;
    double rounding = 4 * epsilon * std::fabs(value) + std::numeric_limits<double>::denorm_min();
    if (error == 0) return rounding;
    double above = std::fabs(companion_of(function, x + error) - value);
    double below = std::fabs(companion_of(function, x - error) - value);
    double moved = 2 * std::max(above, below);
    return std::isfinite(moved) ? moved + rounding : infinity;
}

FieldValue with_companion(FieldValue value, Function function, const FieldValue& x) {
    value.companion = companion_of(function, x.companion);
    value.error = error_of(function, x.companion, x.error, value.companion);
    if (!std::isfinite(value.companion) || !std::isfinite(value.error)) {
        value.companion = 0;
        value.error = infinity;
    }
    return value;
}

double tagged(const FieldValue& x) {
    if (x.is_nan()) return std::numeric_limits<double>::quiet_NaN();
    return x.tag == FieldTag::PositiveInfinity ? infinity : -infinity;
}

int64_t floor_quotient(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

}  // namespace

/// Values as random as a hash, equal for equal arguments.
FieldValue FieldArithmetic::oracle(Function function, uint64_t key, double companion,
                                   double error) {
    has_used_oracle_ = true;
    uint64_t hash = combine(combine(seed_, static_cast<uint64_t>(function)), key);
    FieldValue value;
    value.tag = FieldTag::Finite;
    value.p = FieldP::reduce(mix(hash + 1));
    value.q = FieldQ::reduce(mix(hash + 2));
    value.s = FieldS::reduce(mix(hash + 3));
    value.companion = companion;
    value.error = error;
    return value;
}

FieldValue FieldArithmetic::oracle(Function function, const FieldValue& x) {
    if (x.p == 0) return field_constant(companion_of(function, 0));
    return with_companion(oracle(function, x.p, 0, 0), function, x);
}

FieldValue FieldArithmetic::exponential(const FieldValue& x) {
    if (x.p == 0) return finite_of(1);
    FieldValue argument = x;
    if (argument.levels < 2) argument = oracle(Function::Exp, x.p, x.companion, x.error);
    FieldValue result;
    result.tag = FieldTag::Finite;
    result.p = exp_p_.power(argument.q);
    result.levels = static_cast<uint8_t>(std::min<int>(argument.levels, levels_) - 1);
    if (result.levels > 1) result.q = exp_q_.power(argument.s);
    return with_companion(result, Function::Exp, x);
}

/// sigmoid, tanh, softplus, sinh and cosh by exp, as long as x has a residue for it.
FieldValue FieldArithmetic::logistic(Function function, const FieldValue& x) {
    if (x.levels < 2) return oracle(function, x);
    FieldValue one = finite_of(1);
    auto exp_of = [&](int64_t factor) { return exponential(multiply(x, finite_of(factor))); };
    FieldValue result;
    switch (function) {
        case Function::Sigmoid:
            result = reciprocal(add(one, exp_of(-1)));
            break;
        case Function::Tanh:
            result = add(multiply(finite_of(2), reciprocal(add(one, exp_of(-2)))), finite_of(-1));
            break;
        case Function::Softplus:
            result = logarithm(add(one, exp_of(1)));
            break;
        default: {
            FieldValue up = multiply(exp_of(1), finite_of(1, 1));
            FieldValue down = multiply(exp_of(-1), finite_of(1, 1));
            result = add(up, function == Function::Cosh ? down : multiply(down, finite_of(-1)));
        }
    }
    if (!result.is_finite()) throw Redraw();
    return with_companion(result, function, x);
}

FieldValue FieldArithmetic::square_root(const FieldValue& x) {
    int sign = this->sign(x);
    if (sign < 0) return FieldValue::of_tag(FieldTag::NaN);
    if (sign == 0) return finite_of(0);
    // A root that is a short dyadic number is known exactly.
    double scaled = std::sqrt(x.companion) * 0x1p20;
    if (std::isfinite(x.error) && scaled < 0x1p50) {
        FieldValue root = finite_of(std::llround(scaled), 20);
        if (FieldP::multiply(root.p, root.p) == x.p) return root;
    }
    return oracle(Function::Sqrt, x);
}

FieldValue FieldArithmetic::logarithm(const FieldValue& x) {
    int sign = std::isfinite(x.error) ? this->sign(x) : 1;
    if (sign < 0) return FieldValue::of_tag(FieldTag::NaN);
    if (sign == 0) return FieldValue::of_tag(FieldTag::NegativeInfinity);
    if (x.p == 1) return finite_of(0);
    return oracle(Function::Log, x);
}

FieldValue FieldArithmetic::power(const FieldValue& x, const FieldValue& y) {
    if (!y.is_finite() || !x.is_finite()) {
        auto value = [](const FieldValue& a) {
            return a.is_finite() ? as_finite(a).companion : tagged(a);
        };
        return field_constant(std::pow(value(x), value(y)));
    }
    if (y.is_integer() && std::llabs(y.integer()) <= 64) {
        FieldValue result = x.is_integer() ? FieldValue::of_integer(1) : finite_of(1);
        for (int64_t i = 0; i < std::llabs(y.integer()); ++i) result = multiply(result, x);
        return y.integer() < 0 ? reciprocal(result) : result;
    }
    FieldValue base = as_finite(x), exponent = as_finite(y);
    if (exponent.error == 0 && std::fabs(exponent.companion) == 0.5) {
        FieldValue root = square_root(base);
        return exponent.companion > 0 ? root : reciprocal(root);
    }
    double value = std::pow(base.companion, exponent.companion);
    if (std::isinf(base.error) || std::isinf(exponent.error)) throw Redraw();
    if (std::isnan(value)) return FieldValue::of_tag(FieldTag::NaN);
    double error = 0;
    for (double u : {-1.0, 1.0})
        for (double v : {-1.0, 1.0})
            error = std::max(error, std::fabs(std::pow(base.companion + u * base.error,
                                                       exponent.companion + v * exponent.error) -
                                              value));
    error = 2 * error + 4 * epsilon * std::fabs(value);
    if (!std::isfinite(value) || !std::isfinite(error)) value = 0, error = infinity;
    return oracle(Function::Pow, combine(base.p, exponent.p), value, error);
}

FieldValue FieldArithmetic::rounded(Function function, const FieldValue& x) const {
    if (!x.is_finite() || x.is_integer()) return x;
    if (!(std::fabs(x.companion) < 0x1p50) || !(x.error < 0.25)) throw Redraw();
    // Close to a boundary only the residue can tell that x lies exactly on it.
    double boundary =
        function == Function::Round ? std::floor(x.companion) + 0.5 : std::nearbyint(x.companion);
    if (std::fabs(x.companion - boundary) <= x.error) {
        if (x.p != finite_of(std::llround(2 * boundary), 1).p) throw Redraw();
        if (function == Function::Round) return finite_of(std::llrint(boundary));
        return finite_of(std::llround(boundary));
    }
    switch (function) {
        case Function::Floor:
            return finite_of(std::llround(std::floor(x.companion)));
        case Function::Ceil:
            return finite_of(std::llround(std::ceil(x.companion)));
        case Function::Round:
            return finite_of(std::llrint(x.companion));
        default:
            return finite_of(std::llround(std::trunc(x.companion)));
    }
}

FieldValue FieldArithmetic::division(Function function, const FieldValue& a,
                                     const FieldValue& b) const {
    if (a.is_integer() && b.is_integer()) {
        int64_t n = a.integer(), d = b.integer();
        if (d == 0) return FieldValue::of_integer(0);
        if (d == -1) return FieldValue::of_integer(function == Function::TruncDiv ? -n : 0);
        if (function == Function::TruncDiv) return FieldValue::of_integer(n / d);
        if (function == Function::TruncMod) return FieldValue::of_integer(n % d);
        return FieldValue::of_integer(n - d * floor_quotient(n, d));
    }
    FieldValue exact = multiply(a, reciprocal(b));
    bool is_floor = function == Function::FloorMod;
    FieldValue whole = rounded(is_floor ? Function::Floor : Function::TruncDiv, exact);
    if (function == Function::TruncDiv) return whole;
    return add(a, multiply(finite_of(-1), multiply(whole, b)));
}

FieldValue FieldArithmetic::unary(Function function, const FieldValue& x) {
    switch (function) {
        case Function::Reciprocal:
            return reciprocal(x);
        case Function::Abs:
            if (x.is_nan() || sign(x) >= 0) return x;
            return multiply(x, FieldValue::of_integer(-1));
        case Function::Sign:
            return x.is_nan() ? x : FieldValue::of_integer(sign(x));
        case Function::Floor:
        case Function::Ceil:
        case Function::Round:
            return rounded(function, x);
        case Function::Not:
            return FieldValue::of_integer(is_true(x) ? 0 : 1);
        case Function::IsNan:
            return FieldValue::of_integer(x.is_nan() ? 1 : 0);
        default:
            break;
    }
    if (!x.is_finite()) return as_finite(field_constant(companion_of(function, tagged(x))));
    FieldValue a = as_finite(x);
    switch (function) {
        case Function::Exp:
            return exponential(a);
        case Function::Log:
            return logarithm(a);
        case Function::Sqrt:
            return square_root(a);
        case Function::Tanh:
        case Function::Sigmoid:
        case Function::Softplus:
        case Function::Sinh:
        case Function::Cosh:
            return logistic(function, a);
        default:
            break;
    }
    if (std::isfinite(a.error) && std::isnan(companion_of(function, a.companion)))
        return FieldValue::of_tag(FieldTag::NaN);
    return oracle(function, a);
}

FieldValue FieldArithmetic::apply(Function function, std::span<const FieldValue> operands) {
    if (operands.size() == 1) return unary(function, operands[0]);
    const FieldValue& a = operands[0];
    const FieldValue& b = operands[1];
    auto truth = [](bool value) { return FieldValue::of_integer(value ? 1 : 0); };
    bool has_nan = a.is_nan() || b.is_nan();
    switch (function) {
        case Function::Max:
        case Function::Min: {
            FieldValue result = a;
            for (const FieldValue& x : operands.subspan(1))
                result = function == Function::Max ? maximum(result, x) : minimum(result, x);
            return result;
        }
        case Function::Pow:
            return power(a, b);
        case Function::TruncDiv:
        case Function::FloorMod:
        case Function::TruncMod:
            return division(function, a, b);
        case Function::Less:
            return truth(!has_nan && compare(a, b) < 0);
        case Function::LessEqual:
            return truth(!has_nan && compare(a, b) <= 0);
        case Function::Equal:
            return truth(!has_nan && compare(a, b) == 0);
        case Function::And:
            return truth(std::all_of(operands.begin(), operands.end(),
                                     [&](const FieldValue& x) { return is_true(x); }));
        case Function::Or:
            return truth(std::any_of(operands.begin(), operands.end(),
                                     [&](const FieldValue& x) { return is_true(x); }));
        case Function::Xor:
            return truth(is_true(a) != is_true(b));
        case Function::Where:
            return is_true(a) ? b : operands[2];
        default:
            CHECK(false, "function {} takes one operand", static_cast<int>(function));
    }
}

FieldValue FieldArithmetic::cast(const FieldValue& x, ElementType type) {
    if (is_float(type)) return as_finite(x);
    if (type == ElementType::Bool) return FieldValue::of_integer(is_true(x) ? 1 : 0);
    if (x.is_integer()) return FieldValue::of_integer(wrap(x.integer(), type));
    if (!x.is_finite()) return FieldValue::of_integer(0);
    FieldValue whole = rounded(Function::TruncDiv, x);
    return FieldValue::of_integer(wrap(std::llround(whole.companion), type));
}

}  // namespace ollie::expr
