#include "match/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ollie::match {
namespace {

using expr::Function;
using expr::Scalar;
using expr::ScalarKind;
using Kind = EpilogueStep::Kind;

bool is_function(Scalar scalar, Function function) {
    return scalar->kind == ScalarKind::Function && scalar->function == function;
}

bool is_constant(Scalar scalar, double value) {
    std::optional<double> constant = constant_of(scalar);
    return constant && *constant == value;
}

/// constant * rest; the rest is null for a constant.
struct Scaled {
    double constant = 1;
    Scalar rest;
};

Scaled split_constant(Scalar scalar) {
    if (std::optional<double> constant = constant_of(scalar)) return {*constant, {}};
    if (scalar->kind != ScalarKind::Mul) return {1, scalar};
    Scaled result;
    std::vector<Scalar> rest;
    for (Scalar operand : scalar->operands) {
        if (std::optional<double> constant = constant_of(operand))
            result.constant *= *constant;
        else
            rest.push_back(operand);
    }
    result.rest = scalar->arena->mul(rest);
    return result;
}

/// rest + constant.
struct Shifted {
    double constant = 0;
    Scalar rest;
};

std::optional<Shifted> split_sum(Scalar scalar) {
    if (scalar->kind != ScalarKind::Add || scalar->operands.size() != 2) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}})
        if (std::optional<double> constant = constant_of(scalar->operands[i]))
            return Shifted{*constant, scalar->operands[1 - i]};
    return std::nullopt;
}

/// min(max(rest, lower), upper), in either order.
struct Clipped {
    double lower;
    double upper;
    Scalar rest;
};

std::optional<Clipped> split_clip(Scalar scalar) {
    for (bool min_outside : {true, false}) {
        if (!is_function(scalar, min_outside ? Function::Min : Function::Max)) continue;
        for (size_t i : {size_t{0}, size_t{1}}) {
            Scalar inner = scalar->operands[i];
            std::optional<double> outer = constant_of(scalar->operands[1 - i]);
            if (!outer || !is_function(inner, min_outside ? Function::Max : Function::Min))
                continue;
            for (size_t j : {size_t{0}, size_t{1}}) {
                std::optional<double> bound = constant_of(inner->operands[1 - j]);
                if (!bound) continue;
                return min_outside ? Clipped{*bound, *outer, inner->operands[j]}
                                   : Clipped{*outer, *bound, inner->operands[j]};
            }
        }
    }
    return std::nullopt;
}

/// What the value is multiplied by, as a function of the value: gate(u), and u * gate(u) as a step
/// times `scale`.
struct Gate {
    Scalar argument;
    EpilogueStep step;
    double scale = 1;
};

std::optional<Gate> gate_of(Scalar scalar) {
    if (is_function(scalar, Function::Sigmoid)) {
        auto [alpha, rest] = split_constant(scalar->operands[0]);
        EpilogueStep step{Kind::Swish};
        step.constant = alpha;
        return Gate{rest, step};
    }
    if (auto clip = split_clip(scalar); clip && clip->lower == 0 && clip->upper > 0) {
        auto sum = split_sum(clip->rest);
        if (!sum) return std::nullopt;
        auto [alpha, rest] = split_constant(sum->rest);
        EpilogueStep step{Kind::HardSwish};
        step.constant = alpha / clip->upper;
        step.upper = sum->constant / clip->upper;
        return Gate{rest, step, clip->upper};
    }
    auto sum = split_sum(scalar);
    if (!sum || sum->constant != 1 || !is_function(sum->rest, Function::Erf)) return std::nullopt;
    auto [alpha, rest] = split_constant(sum->rest->operands[0]);
    if (std::abs(alpha * std::numbers::sqrt2 - 1) > 1e-6) return std::nullopt;
    return Gate{rest, EpilogueStep{Kind::Gelu}, 2};
}

/// The product without one occurrence of each factor of the divisor.
std::optional<std::vector<Scalar>> without(std::vector<Scalar> factors, Scalar divisor) {
    std::vector<Scalar> divisors{divisor};
    if (divisor->kind == ScalarKind::Mul) divisors = divisor->operands;
    for (Scalar one : divisors) {
        auto found = std::find(factors.begin(), factors.end(), one);
        if (found == factors.end()) return std::nullopt;
        factors.erase(found);
    }
    return factors;
}

/// u * gate(u) * constants. The u of the gate may come with a constant that the product lacks.
std::optional<Activation> gated(Scalar product) {
    for (Scalar operand : product->operands) {
        std::optional<Gate> gate = gate_of(operand);
        if (!gate || !gate->argument) continue;
        auto others = without(product->operands, operand);
        auto left = without(*others, gate->argument);
        if (!left) continue;
        double scale = gate->scale;
        bool is_constant = true;
        for (Scalar factor : *left) {
            std::optional<double> constant = constant_of(factor);
            is_constant = is_constant && constant;
            scale *= constant.value_or(1);
        }
        if (is_constant) return Activation{gate->argument, gate->step, scale};
    }
    return std::nullopt;
}

/// where(u < 0, alpha * (exp(u) - 1), u) or where(0 < u or 0 <= u, u, alpha * (exp(u) - 1)).
std::optional<Activation> elu(Scalar scalar) {
    Scalar condition = scalar->operands[0];
    bool is_less = is_function(condition, Function::Less);
    if (!is_less && !is_function(condition, Function::LessEqual)) return std::nullopt;
    bool is_below = is_less && is_constant(condition->operands[1], 0);
    if (!is_below && !is_constant(condition->operands[0], 0)) return std::nullopt;
    Scalar argument = condition->operands[is_below ? 0 : 1];
    if (scalar->operands[is_below ? 2 : 1] != argument) return std::nullopt;
    auto [alpha, rest] = split_constant(scalar->operands[is_below ? 1 : 2]);
    auto sum = rest ? split_sum(rest) : std::nullopt;
    bool is_expected = sum && sum->constant == -1 && is_function(sum->rest, Function::Exp) &&
                       sum->rest->operands[0] == argument;
    if (!is_expected) return std::nullopt;
    EpilogueStep step{Kind::Elu};
    step.constant = alpha;
    return Activation{argument, step};
}

}  // namespace

std::optional<Activation> activation_of(Scalar scalar) {
    if (scalar->kind == ScalarKind::Mul) return gated(scalar);
    if (is_function(scalar, Function::Where)) return elu(scalar);
    return std::nullopt;
}

std::optional<double> constant_of(Scalar scalar) {
    if (scalar->kind == ScalarKind::Constant) return scalar->constant;
    bool is_reciprocal =
        scalar->kind == ScalarKind::Function && scalar->function == Function::Reciprocal;
    if (scalar->kind != ScalarKind::Mul && !is_reciprocal) return std::nullopt;
    double product = 1;
    for (Scalar operand : scalar->operands) {
        std::optional<double> factor = constant_of(operand);
        if (!factor) return std::nullopt;
        product *= *factor;
    }
    return is_reciprocal ? 1 / product : product;
}

}  // namespace ollie::match
