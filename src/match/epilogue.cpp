#include "match/epilogue.h"

#include <algorithm>
#include <limits>

#include "expr/build.h"
#include "expr/print.h"
#include "match/activation.h"

namespace ollie::match {
namespace {

using expr::Function;
using expr::Scalar;
using expr::ScalarKind;
using Kind = EpilogueStep::Kind;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_constant(Scalar scalar, double value) {
    return scalar->kind == ScalarKind::Constant && scalar->constant == value;
}

bool reads(Scalar scalar, const expr::Tensor* tensor) {
    return scalar->tensor == tensor ||
           std::any_of(scalar->operands.begin(), scalar->operands.end(),
                       [&](Scalar operand) { return reads(operand, tensor); });
}

/// Peels operations off the body, the last first.
class Peeler {
public:
    explicit Peeler(const Binding& binding) : binding_(binding) {}

    OrRefusal<std::vector<EpilogueStep>> operator()() {
        Scalar rest = binding_.epilogue;
        while (rest->tensor != binding_.core_value) {
            std::optional<Scalar> inner = peel(rest);
            if (!inner) return refuse("`{}` cannot follow the call", expr::print(rest));
            rest = *inner;
        }
        std::reverse(steps_.begin(), steps_.end());
        return std::move(steps_);
    }

private:
    bool has_value(Scalar scalar) const { return reads(scalar, binding_.core_value); }

    std::optional<Scalar> peel(Scalar scalar) {
        if (auto activation = activation_of(scalar)) return peel(*activation);
        if (scalar->kind == ScalarKind::Add) return peel_operands(scalar, Kind::Add);
        if (scalar->kind == ScalarKind::Mul) return peel_operands(scalar, Kind::Mul);
        if (scalar->kind != ScalarKind::Function) return std::nullopt;
        switch (scalar->function) {
            case Function::Max:
                return peel_bound(scalar, true);
            case Function::Min:
                return peel_bound(scalar, false);
            case Function::Where:
                return peel_leaky(scalar);
            default:
                break;
        }
        if (scalar->operands.size() != 1) return std::nullopt;
        EpilogueStep step{Kind::Function};
        step.function = scalar->function;
        steps_.push_back(step);
        return scalar->operands[0];
    }

    std::optional<Scalar> peel(const Activation& activation) {
        if (!has_value(activation.argument)) return std::nullopt;
        if (activation.scale != 1) {
            steps_.push_back({Kind::Mul});
            steps_.back().constant = activation.scale;
        }
        steps_.push_back(activation.step);
        return activation.argument;
    }

    /// A sum or product in which one operand holds the value: the others are applied one by one.
    std::optional<Scalar> peel_operands(Scalar scalar, Kind kind) {
        std::optional<Scalar> inner;
        for (Scalar operand : scalar->operands) {
            if (!has_value(operand)) continue;
            if (inner) return std::nullopt;
            inner = operand;
        }
        for (auto operand = scalar->operands.rbegin(); operand != scalar->operands.rend();
             ++operand)
            if (*operand != inner && !peel_operand(*operand, kind)) return std::nullopt;
        return inner;
    }

    bool peel_operand(Scalar operand, Kind kind) {
        EpilogueStep step{kind};
        if (Scalar inverse = inverse_of(operand, kind)) {
            operand = inverse;
            step.kind = kind == Kind::Add ? Kind::Sub : Kind::Div;
        }
        if (!set_operand(operand, step)) return false;
        steps_.push_back(step);
        return true;
    }

    /// The read that is subtracted or divided by; null for anything else.
    static Scalar inverse_of(Scalar operand, Kind kind) {
        bool is_negative = kind == Kind::Add && operand->kind == ScalarKind::Mul &&
                           operand->operands.size() == 2 && is_constant(operand->operands[0], -1);
        bool is_reciprocal = kind == Kind::Mul && operand->kind == ScalarKind::Function &&
                             operand->function == Function::Reciprocal;
        if (!is_negative && !is_reciprocal) return {};
        Scalar inverse = operand->operands[is_negative ? 1 : 0];
        return inverse->kind == ScalarKind::Read ? inverse : Scalar();
    }

    /// A constant or a tensor read at the result's own axes.
    bool set_operand(Scalar operand, EpilogueStep& step) const {
        if (std::optional<double> constant = constant_of(operand)) {
            step.constant = *constant;
            return true;
        }
        if (operand->kind != ScalarKind::Read) return false;
        step.tensor = operand->tensor;
        for (size_t i = 0; i < operand->indices.size(); ++i) {
            auto axis = result_axis(operand->indices[i], operand->tensor->axes[i]);
            if (!axis) return false;
            if (*axis >= 0 &&
                std::find(step.axis_of.begin(), step.axis_of.end(), *axis) != step.axis_of.end())
                return false;
            step.axis_of.push_back(*axis);
        }
        return true;
    }

    std::optional<int> result_axis(expr::Index index, const expr::Axis& domain) const {
        if (domain.lo != 0) return std::nullopt;
        if (expr::is_constant(index) && domain.extent() == 1) return -1;
        std::optional<expr::Iterator> iterator = expr::as_iterator(index);
        if (!iterator) return std::nullopt;
        const std::vector<expr::Axis>& axes = binding_.definition->axes;
        for (size_t axis = 0; axis < axes.size(); ++axis)
            if (axes[axis].iterator == *iterator && axes[axis].extent() == domain.extent())
                return static_cast<int>(axis);
        return std::nullopt;
    }

    std::optional<Scalar> peel_bound(Scalar scalar, bool is_lower) {
        if (scalar->operands.size() != 2) return std::nullopt;
        Scalar inner = scalar->operands[0];
        Scalar bound = scalar->operands[1];
        if (inner->kind == ScalarKind::Constant) std::swap(inner, bound);
        if (bound->kind != ScalarKind::Constant) {
            if (has_value(inner) && has_value(bound))
                return is_lower ? peel_leaky_maximum(inner, bound) : std::nullopt;
            if (!has_value(inner)) std::swap(inner, bound);
            if (!peel_operand(bound, is_lower ? Kind::Max : Kind::Min)) return std::nullopt;
            return inner;
        }
        EpilogueStep step{is_lower && bound->constant == 0 ? Kind::Relu : Kind::Clip};
        step.constant = is_lower ? bound->constant : -infinity;
        step.upper = is_lower ? infinity : bound->constant;
        steps_.push_back(step);
        return inner;
    }

    /// max(u, alpha * u) with alpha in [0, 1].
    std::optional<Scalar> peel_leaky_maximum(Scalar a, Scalar b) {
        for (auto [value, scaled] : {std::pair(a, b), std::pair(b, a)}) {
            std::optional<Scalar> alpha = quotient(scaled, value);
            if (!alpha || (*alpha)->kind != ScalarKind::Constant) continue;
            if ((*alpha)->constant < 0 || (*alpha)->constant > 1) continue;
            EpilogueStep step{Kind::Leaky};
            step.constant = (*alpha)->constant;
            steps_.push_back(step);
            return value;
        }
        return std::nullopt;
    }

    /// where(u < 0, alpha * u, u) and where(0 < u or 0 <= u, u, alpha * u).
    std::optional<Scalar> peel_leaky(Scalar scalar) {
        Scalar condition = scalar->operands[0];
        if (condition->kind != ScalarKind::Function ||
            (condition->function != Function::Less && condition->function != Function::LessEqual))
            return std::nullopt;
        bool is_below = is_constant(condition->operands[1], 0);
        Scalar value = condition->operands[is_below ? 0 : 1];
        if (!is_below && !is_constant(condition->operands[0], 0)) return std::nullopt;
        Scalar scaled = scalar->operands[is_below ? 1 : 2];
        if (scalar->operands[is_below ? 2 : 1] != value) return std::nullopt;
        std::optional<Scalar> alpha = quotient(scaled, value);
        EpilogueStep step{Kind::Leaky};
        if (!alpha || has_value(*alpha) || !set_operand(*alpha, step)) return std::nullopt;
        steps_.push_back(step);
        return value;
    }

    /// The one factor by which `product` differs from `value`.
    static std::optional<Scalar> quotient(Scalar product, Scalar value) {
        if (product->kind != ScalarKind::Mul) return std::nullopt;
        std::vector<Scalar> factors = product->operands;
        std::vector<Scalar> divisors{value};
        if (value->kind == ScalarKind::Mul) divisors = value->operands;
        for (Scalar divisor : divisors) {
            auto found = std::find(factors.begin(), factors.end(), divisor);
            if (found == factors.end()) return scaled_constant(product, value);
            factors.erase(found);
        }
        if (factors.size() != 1) return std::nullopt;
        return factors.front();
    }

    /// Products whose leading constants have been multiplied together.
    static std::optional<Scalar> scaled_constant(Scalar product, Scalar value) {
        if (value->kind != ScalarKind::Mul || product->operands.size() != value->operands.size())
            return std::nullopt;
        std::optional<Scalar> ratio;
        for (size_t i = 0; i < product->operands.size(); ++i) {
            Scalar a = product->operands[i];
            Scalar b = value->operands[i];
            if (a == b) continue;
            if (ratio || a->kind != ScalarKind::Constant || b->kind != ScalarKind::Constant)
                return std::nullopt;
            ratio = a->arena->constant_scalar(a->constant / b->constant);
        }
        return ratio;
    }

    const Binding& binding_;
    std::vector<EpilogueStep> steps_;
};

}  // namespace

int EpilogueStep::only_axis() const {
    int only = -1;
    for (int axis : axis_of) {
        if (axis < 0) continue;
        if (only >= 0) return -1;
        only = axis;
    }
    return only;
}

OrRefusal<std::vector<EpilogueStep>> epilogue_chain(const Binding& binding) {
    return Peeler(binding)();
}

}  // namespace ollie::match
