#include "expr/evaluation/domain.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ollie::expr::evaluation {
namespace {

bool gives_truth(Function function) {
    switch (function) {
        case Function::Not:
        case Function::IsNan:
        case Function::Less:
        case Function::LessEqual:
        case Function::Equal:
        case Function::And:
        case Function::Or:
        case Function::Xor:
            return true;
        default:
            return false;
    }
}

bool keeps_integers(Function function) {
    switch (function) {
        case Function::Abs:
        case Function::Sign:
        case Function::Floor:
        case Function::Ceil:
        case Function::Round:
        case Function::Max:
        case Function::Min:
        case Function::Pow:
        case Function::TruncDiv:
        case Function::FloorMod:
        case Function::TruncMod:
            return true;
        default:
            return false;
    }
}

bool is_whole(double value) { return std::abs(value) < 9.2e18 && value == std::floor(value); }

}  // namespace

Domain domain_of(ElementType type) { return is_float(type) ? Domain::Real : Domain::Integer; }

Domain Domains::of(Scalar s) { return kind(s) == Kind::Integer ? Domain::Integer : Domain::Real; }

Domain Domains::of_operands(Scalar s) {
    size_t first = s->kind == ScalarKind::Function && s->function == Function::Where ? 1 : 0;
    bool is_real = s->kind == ScalarKind::Function && !gives_truth(s->function) &&
                   !keeps_integers(s->function) && s->function != Function::Where;
    if (is_real) return Domain::Real;
    kind(s);
    return joined(s->operands, first) == Kind::Integer ? Domain::Integer : Domain::Real;
}

Domains::Kind Domains::join(Kind x, Kind y) {
    if (x == Kind::Real || y == Kind::Real) return Kind::Real;
    return x == Kind::Integer || y == Kind::Integer ? Kind::Integer : Kind::Constant;
}

Domains::Kind Domains::joined(const std::vector<Scalar>& operands, size_t first) {
    Kind result = Kind::Constant;
    for (size_t i = first; i < operands.size(); ++i)
        result = join(result, kinds_.at(operands[i].get()));
    return result;
}

Domains::Kind Domains::own_kind(Scalar s) {
    switch (s->kind) {
        case ScalarKind::Constant:
            return is_whole(s->constant) ? Kind::Constant : Kind::Real;
        case ScalarKind::Read:
            return is_float(s->tensor->type) ? Kind::Real : Kind::Integer;
        case ScalarKind::Number:
            return Kind::Integer;
        case ScalarKind::Cast:
            return is_float(s->type) ? Kind::Real : Kind::Integer;
        case ScalarKind::Function:
            if (gives_truth(s->function)) return Kind::Integer;
            if (s->function == Function::Where) return joined(s->operands, 1);
            return keeps_integers(s->function) ? joined(s->operands, 0) : Kind::Real;
        default:
            return joined(s->operands, 0);
    }
}

/// Operands first, without recursion: bodies may be deep.
Domains::Kind Domains::kind(Scalar s) {
    std::vector<Scalar> open{s};
    while (!open.empty()) {
        Scalar top = open.back();
        size_t before = open.size();
        if (!kinds_.contains(top.get())) {
            for (Scalar operand : top->operands)
                if (!kinds_.contains(operand.get())) open.push_back(operand);
            if (open.size() > before) continue;
            kinds_.emplace(top.get(), own_kind(top));
        }
        open.pop_back();
    }
    return kinds_.at(s.get());
}

}  // namespace ollie::expr::evaluation
