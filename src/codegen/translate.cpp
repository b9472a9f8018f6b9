#include "codegen/translate.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/scalar_functions.h"
#include "expr/build.h"
#include "expr/visit.h"

namespace ollie::codegen {
namespace {

using namespace expr;
using HExpr = Halide::Expr;
using Functions = std::map<const Tensor*, StageFunction>;

/// Translates the body of one stage.
class BodyTranslator {
public:
    BodyTranslator(const Kernel& kernel, const Stage& stage,
                   const std::vector<Halide::ImageParam>& arguments, const Functions& functions)
        : kernel_(kernel),
          arguments_(arguments),
          functions_(functions),
          ranges_(ranges_of(stage.tensor)) {}

    void bind(Iterator iterator, HExpr value) { iterators_[iterator] = std::move(value); }

    HExpr index(Index i) {
        HExpr result;
        for (const Term& term : i->terms) {
            HExpr atom = this->atom(*term.atom);
            HExpr product = term.coefficient == 1 ? atom : atom * constant(term.coefficient);
            result = result.defined() ? result + product : product;
        }
        if (!result.defined()) return constant(i->constant);
        return i->constant == 0 ? result : result + constant(i->constant);
    }

    HExpr predicate(Predicate p) {
        switch (p->kind) {
            case PredicateKind::True:
                return Halide::Internal::const_true();
            case PredicateKind::False:
                return Halide::Internal::const_false();
            case PredicateKind::NonNegative:
                return index(p->index) >= 0;
            case PredicateKind::Zero:
                return index(p->index) == 0;
            case PredicateKind::Not:
                return !predicate(p->operands[0]);
            default:
                break;
        }
        HExpr result = predicate(p->operands[0]);
        for (size_t i = 1; i < p->operands.size(); ++i)
            result = p->kind == PredicateKind::And ? result && predicate(p->operands[i])
                                                   : result || predicate(p->operands[i]);
        return result;
    }

    /// A value of the type; constants take it, other operands keep their own until converted.
    HExpr value(Scalar s, Halide::Type type) {
        HExpr result = natural(s, type);
        return result.type() == type ? result : convert(result, type);
    }

    /// The type in which the scalar is computed if nothing else is asked for.
    Halide::Type natural_type(Scalar s, Halide::Type otherwise) {
        switch (s->kind) {
            case ScalarKind::Read:
                return type_of(s->tensor->type);
            case ScalarKind::Cast:
                return type_of(s->type);
            case ScalarKind::Constant:
            case ScalarKind::Number:
                return otherwise;
            case ScalarKind::Function:
                if (gives_bool(s->function)) return Halide::UInt(8);
                if (s->function == Function::Where)
                    return common_type({s->operands[1], s->operands[2]}, otherwise);
                break;
            default:
                break;
        }
        return common_type(s->operands, otherwise);
    }

    /// Index products of a sum's term, to be fused into multiply-adds: the two factors, or none.
    std::optional<std::pair<HExpr, HExpr>> factors(Scalar s, Halide::Type type) {
        if (s->kind != ScalarKind::Mul || !type.is_float()) return std::nullopt;
        HExpr rest = value(s->operands[1], type);
        for (size_t i = 2; i < s->operands.size(); ++i)
            rest = multiply(rest, value(s->operands[i], type));
        return std::pair{value(s->operands[0], type), rest};
    }

private:
    static HExpr constant(int64_t value) { return HExpr(static_cast<int32_t>(value)); }

    static bool gives_bool(Function f) {
        switch (f) {
            case Function::Less:
            case Function::LessEqual:
            case Function::Equal:
            case Function::And:
            case Function::Or:
            case Function::Xor:
            case Function::Not:
            case Function::IsNan:
                return true;
            default:
                return false;
        }
    }

    static HExpr convert(const HExpr& from, Halide::Type type) {
        if (type.is_uint() && type.bits() == 8 && from.type().is_bool())
            return Halide::select(from, Halide::cast(type, 1), Halide::cast(type, 0));
        return Halide::cast(type, from);
    }

    Halide::Type common_type(const std::vector<Scalar>& operands, Halide::Type otherwise) {
        std::optional<Halide::Type> widest;
        for (Scalar operand : operands) {
            if (operand->kind == ScalarKind::Constant || operand->kind == ScalarKind::Number)
                continue;
            Halide::Type type = natural_type(operand, otherwise);
            bool wider = !widest || (type.is_float() && !widest->is_float()) ||
                         (type.is_float() == widest->is_float() && type.bits() > widest->bits());
            if (wider) widest = type;
        }
        return widest.value_or(otherwise);
    }

    HExpr atom(const AtomNode& a) {
        switch (a.kind) {
            case AtomKind::Iterator:
                return iterators_.at(a.iterator);
            case AtomKind::FloorDiv:
                return index(a.a) / constant(a.divisor);
            case AtomKind::Min:
                return Halide::min(index(a.a), index(a.b));
            case AtomKind::Max:
                return Halide::max(index(a.a), index(a.b));
            case AtomKind::Table:
                break;
        }
        Halide::Buffer<int32_t> table(static_cast<int>(a.table.size()));
        for (size_t i = 0; i < a.table.size(); ++i)
            table(static_cast<int>(i)) = static_cast<int32_t>(a.table[i]);
        return table(
            Halide::clamp(index(a.a), 0, constant(static_cast<int64_t>(a.table.size()) - 1)));
    }

    HExpr natural(Scalar s, Halide::Type wanted) {
        switch (s->kind) {
            case ScalarKind::Constant:
                return literal(s->constant, wanted);
            case ScalarKind::Number:
                return Halide::cast(wanted, index(s->indices[0]));
            case ScalarKind::Read:
                return read(s);
            case ScalarKind::Cast:
                return cast(s);
            case ScalarKind::Select: {
                Halide::Type type = natural_type(s, wanted);
                return Halide::select(predicate(s->predicate),
                                      Halide::likely(value(s->operands[0], type)),
                                      value(s->operands[1], type));
            }
            case ScalarKind::Function:
                return function(s, wanted);
            case ScalarKind::Add:
                return sum(s, natural_type(s, wanted));
            case ScalarKind::Mul: {
                Halide::Type type = natural_type(s, wanted);
                HExpr result = value(s->operands[0], type);
                for (size_t i = 1; i < s->operands.size(); ++i)
                    result = multiply(result, value(s->operands[i], type));
                return result;
            }
            case ScalarKind::Reduce:
                break;
        }
        CHECK(false, "a reduction inside a body");
    }

    HExpr sum(Scalar s, Halide::Type type) {
        HExpr result = value(s->operands[0], type);
        for (size_t i = 1; i < s->operands.size(); ++i) {
            Scalar operand = s->operands[i];
            bool negated = operand->kind == ScalarKind::Mul && operand->operands.size() == 2 &&
                           operand->operands[0]->kind == ScalarKind::Constant &&
                           operand->operands[0]->constant == -1;
            result = negated ? subtract(result, value(operand->operands[1], type))
                             : add(result, value(operand, type));
        }
        return result;
    }

    static HExpr literal(double x, Halide::Type type) {
        if (type.is_float()) return Halide::Internal::make_const(type, x);
        return Halide::cast(type,
                            Halide::Internal::make_const(Halide::Int(64), static_cast<int64_t>(x)));
    }

    HExpr cast(Scalar s) {
        Halide::Type type = type_of(s->type);
        HExpr operand = value(s->operands[0], natural_type(s->operands[0], type));
        if (s->type == ElementType::Bool)
            return convert(!equal(operand, Halide::cast(operand.type(), 0)), type);
        if (operand.type().is_float() && !type.is_float()) {
            HExpr known =
                Halide::select(Halide::is_nan(operand), Halide::cast(operand.type(), 0), operand);
            return Halide::cast(type, Halide::cast(Halide::Int(64), known));
        }
        return Halide::cast(type, operand);
    }

    HExpr truth(Scalar s) {
        Halide::Type type = natural_type(s, Halide::Float(32));
        HExpr v = value(s, type);
        return !equal(v, Halide::cast(type, 0));
    }

    HExpr function(Scalar s, Halide::Type wanted) {
        Halide::Type type = natural_type(s, wanted);
        switch (s->function) {
            case Function::And:
                return convert(truth(s->operands[0]) && truth(s->operands[1]), type);
            case Function::Or:
                return convert(truth(s->operands[0]) || truth(s->operands[1]), type);
            case Function::Xor:
                return convert(truth(s->operands[0]) != truth(s->operands[1]), type);
            case Function::Not:
                return convert(!truth(s->operands[0]), type);
            case Function::IsNan: {
                HExpr x = value(s->operands[0], natural_type(s->operands[0], wanted));
                return convert(
                    x.type().is_float() ? Halide::is_nan(x) : Halide::Internal::const_false(),
                    type);
            }
            case Function::Where:
                return Halide::select(truth(s->operands[0]), value(s->operands[1], type),
                                      value(s->operands[2], type));
            default:
                break;
        }
        Halide::Type inner = common_type(s->operands, wanted);
        std::vector<HExpr> operands;
        for (Scalar operand : s->operands) operands.push_back(value(operand, inner));
        switch (s->function) {
            case Function::Less:
                return convert(less(operands[0], operands[1]), type);
            case Function::LessEqual:
                return convert(less_equal(operands[0], operands[1]), type);
            case Function::Equal:
                return convert(equal(operands[0], operands[1]), type);
            default:
                return call(s->function, operands);
        }
    }

    /// The index is clamped wherever it is not proved to lie inside, so that nothing beyond the
    /// tensor is ever touched, not even where the value is then thrown away.
    HExpr read(Scalar s) {
        const Tensor* tensor = s->tensor;
        HExpr inside;
        std::vector<HExpr> at;
        bool is_argument = kernel_.argument(tensor) != nullptr;
        for (size_t d = 0; d < s->indices.size(); ++d) {
            const Axis& axis = tensor->axes[d];
            HExpr i = index(s->indices[d]);
            Interval interval = interval_of(s->indices[d], ranges_);
            bool proved = interval.lo >= axis.lo && interval.hi < axis.hi;
            bool plain = as_iterator(s->indices[d]).has_value();
            if (!proved && s->has_outside) {
                HExpr condition = i >= constant(axis.lo) && i < constant(axis.hi);
                inside = inside.defined() ? inside && condition : condition;
            }
            if (!proved || (!is_argument && !plain))
                i = Halide::clamp(proved ? i : Halide::likely(i), constant(axis.lo),
                                  constant(std::max(axis.lo, axis.hi - 1)));
            at.push_back(i);
        }
        HExpr element = is_argument ? load(tensor, at) : stage_value(tensor, at);
        if (!inside.defined()) return element;
        return Halide::select(inside, Halide::likely(element),
                              literal(s->constant, element.type()));
    }

    HExpr load(const Tensor* tensor, const std::vector<HExpr>& at) {
        size_t k = 0;
        while (kernel_.arguments[k].tensor != tensor) ++k;
        HExpr address;
        for (size_t d = 0; d < at.size(); ++d) {
            if (tensor->axes[d].extent() <= 1) continue;
            HExpr term = at[d] * constant(kernel_.arguments[k].strides[d]);
            address = address.defined() ? address + term : term;
        }
        return arguments_[k](address.defined() ? address : HExpr(0));
    }

    HExpr stage_value(const Tensor* tensor, std::vector<HExpr> at) {
        std::reverse(at.begin(), at.end());
        return functions_.at(tensor).function(at);
    }

    const Kernel& kernel_;
    const std::vector<Halide::ImageParam>& arguments_;
    const Functions& functions_;
    Ranges ranges_;
    std::map<Iterator, HExpr> iterators_;
};

class Translator {
public:
    explicit Translator(const Kernel& kernel) : kernel_(kernel) {
        for (size_t i = 0; i < kernel.arguments.size(); ++i) {
            const Tensor* tensor = kernel.arguments[i].tensor;
            Halide::ImageParam argument(type_of(tensor->type), 1, "a" + std::to_string(i));
            int64_t count = element_count(tensor->shape());
            argument.dim(0).set_bounds(0, static_cast<int32_t>(count)).set_stride(1);
            result_.arguments.push_back(argument);
        }
    }

    Translation run() {
        for (const Stage& stage : kernel_.stages) {
            StageFunction function = stage.reduction() ? reduction(stage) : pure(stage);
            functions_[stage.tensor] = function;
            result_.stages.push_back(function);
        }
        result_.result = kernel_.result().reduction() ? copy_of_result() : result_.stages.back();
        return std::move(result_);
    }

private:
    StageFunction fresh(const std::string& name, const Tensor* tensor) {
        StageFunction f;
        f.function = Halide::Func(name);
        for (size_t i = 0; i < tensor->rank(); ++i)
            f.variables.emplace_back("axis" + std::to_string(i));
        return f;
    }

    static std::vector<Halide::Var> reversed(std::vector<Halide::Var> variables) {
        std::reverse(variables.begin(), variables.end());
        return variables;
    }

    BodyTranslator translator(const Stage& stage, const StageFunction& f) {
        BodyTranslator body(kernel_, stage, result_.arguments, functions_);
        for (size_t i = 0; i < f.variables.size(); ++i)
            body.bind(stage.tensor->axes[i].iterator, f.variables[i]);
        return body;
    }

    std::string next_name() { return "stage" + std::to_string(result_.stages.size()); }

    StageFunction pure(const Stage& stage) {
        StageFunction f = fresh(next_name(), stage.tensor);
        f.function(reversed(f.variables)) =
            translator(stage, f).value(stage.tensor->body, type_of(stage.tensor->type));
        return f;
    }

    StageFunction reduction(const Stage& stage) {
        Scalar reduce = stage.reduction();
        Halide::Type type = type_of(stage.tensor->type);
        StageFunction f = fresh(next_name(), stage.tensor);
        std::vector<Halide::Range> ranges;
        for (const Axis& axis : reversed_axes(reduce->axes))
            ranges.push_back({static_cast<int32_t>(axis.lo), static_cast<int32_t>(axis.extent())});
        f.domain = Halide::RDom(ranges, "taps" + std::to_string(result_.stages.size()));
        BodyTranslator body = translator(stage, f);
        std::vector<Axis> axes = reversed_axes(reduce->axes);
        for (size_t i = 0; i < axes.size(); ++i)
            body.bind(axes[i].iterator, f.domain[static_cast<int>(i)]);
        std::vector<Halide::Var> at = reversed(f.variables);
        std::vector<HExpr> here(at.begin(), at.end());
        f.function(at) = identity_of(reduce->monoid, stage.tensor->type);
        Scalar term = reduce->operands[0];
        auto factors = reduce->monoid == Monoid::Sum ? body.factors(term, type) : std::nullopt;
        f.function(at) = factors
                             ? multiply_add(factors->first, factors->second, f.function(here))
                             : combine(reduce->monoid, f.function(here), body.value(term, type));
        return f;
    }

    static std::vector<Axis> reversed_axes(std::vector<Axis> axes) {
        std::reverse(axes.begin(), axes.end());
        return axes;
    }

    StageFunction copy_of_result() {
        const Tensor* tensor = kernel_.result().tensor;
        StageFunction f = fresh("result", tensor);
        std::vector<Halide::Var> at = reversed(f.variables);
        f.function(at) = result_.stages.back().function(std::vector<HExpr>(at.begin(), at.end()));
        return f;
    }

    const Kernel& kernel_;
    Functions functions_;
    Translation result_;
};

}  // namespace

Halide::Type type_of(ElementType type) {
    switch (type) {
        case ElementType::F32:
            return Halide::Float(32);
        case ElementType::F64:
            return Halide::Float(64);
        case ElementType::I8:
            return Halide::Int(8);
        case ElementType::I16:
            return Halide::Int(16);
        case ElementType::I32:
            return Halide::Int(32);
        case ElementType::I64:
            return Halide::Int(64);
        case ElementType::U8:
        case ElementType::Bool:
            return Halide::UInt(8);
        case ElementType::U16:
            return Halide::UInt(16);
        case ElementType::U32:
            return Halide::UInt(32);
        case ElementType::U64:
            return Halide::UInt(64);
    }
    CHECK(false);
}

Translation translate(const Kernel& kernel) { return Translator(kernel).run(); }

}  // namespace ollie::codegen
