#include "expr/identity/field_code.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

int64_t floor_quotient(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// Functions that keep integers integers.
bool is_integer_function(Function function) {
    switch (function) {
        case Function::Abs:
        case Function::Sign:
        case Function::Not:
        case Function::Max:
        case Function::Min:
        case Function::TruncDiv:
        case Function::FloorMod:
        case Function::TruncMod:
        case Function::And:
        case Function::Or:
        case Function::Xor:
        case Function::Where:
            return true;
        default:
            return false;
    }
}

bool is_comparison(Function function) {
    return function == Function::Less || function == Function::LessEqual ||
           function == Function::Equal || function == Function::IsNan;
}

class Compiler {
public:
    explicit Compiler(const std::map<const Tensor*, int>& numbers) : numbers_(numbers) {}

    BodyCode compile(const Tensor* definition) {
        ranges_.add(definition->axes);
        for (const Axis& axis : definition->axes) {
            slots_[axis.iterator.get()] = code_.slots++;
            code_.axis_lo.push_back(axis.lo);
            code_.extents.push_back(axis.extent());
        }
        code_.root = node(definition->body);
        return std::move(code_);
    }

private:
    IndexCode index(Index e) {
        IndexCode result;
        result.constant = e->constant;
        for (const Term& term : e->terms) {
            const AtomNode& atom = *term.atom;
            if (atom.kind == AtomKind::Iterator) {
                result.terms.push_back({slots_.at(atom.iterator.get()), term.coefficient});
                continue;
            }
            AtomCode code{term.coefficient, atom.kind, atom.divisor, {index(atom.a)}, atom.table};
            if (atom.b) code.operands.push_back(index(atom.b));
            result.atoms.push_back(std::move(code));
        }
        return result;
    }

    PredicateCode predicate(Predicate p) {
        PredicateCode result;
        result.kind = p->kind;
        if (p->index) result.index = index(p->index);
        for (Predicate operand : p->operands) result.operands.push_back(predicate(operand));
        return result;
    }

    int node(Scalar s) {
        auto found = memo_.find(s.get());
        if (found != memo_.end()) return found->second;
        NodeCode code;
        code.kind = s->kind;
        code.function = s->function;
        code.type = s->type;
        switch (s->kind) {
            case ScalarKind::Constant:
                code.constant = field_constant(s->constant);
                break;
            case ScalarKind::Read:
                code.read = read(s);
                break;
            case ScalarKind::Number:
                code.index = static_cast<int>(code_.indices.size());
                code_.indices.push_back(index(s->indices.front()));
                break;
            case ScalarKind::Select:
                code.predicate = static_cast<int>(code_.predicates.size());
                code_.predicates.push_back(predicate(s->predicate));
                break;
            case ScalarKind::Reduce:
                bind(s->axes);
                break;
            default:
                break;
        }
        for (Scalar operand : s->operands) code.operands.push_back(node(operand));
        if (is_constant_function(code)) fold(code);
        code.is_integer = is_integer(s, code);
        if (s->kind == ScalarKind::Reduce) code.reduce = reduce(s, code);
        code_.nodes.push_back(std::move(code));
        int number = static_cast<int>(code_.nodes.size()) - 1;
        // Iterators bound inside are symbols of their own, so sharing a node is sharing its slots.
        memo_.emplace(s.get(), number);
        return number;
    }

    /// Functions of constants mean their float64 value, as constant folding takes them.
    bool is_constant_function(const NodeCode& code) const {
        if (code.kind != ScalarKind::Function || code.function == Function::Reciprocal)
            return false;
        return std::all_of(code.operands.begin(), code.operands.end(), [&](int operand) {
            return code_.nodes[operand].kind == ScalarKind::Constant;
        });
    }

    void fold(NodeCode& code) {
        std::vector<FieldValue> operands;
        for (int operand : code.operands) operands.push_back(code_.nodes[operand].constant);
        FieldArithmetic arithmetic;
        arithmetic.start_draw(1, 2);
        FieldValue value = arithmetic.apply(code.function, operands);
        if (value.tag == FieldTag::Finite) value = field_constant(value.companion);
        code = NodeCode{};
        code.constant = value;
    }

    bool is_integer(Scalar s, const NodeCode& code) const {
        auto operands_are_integers = [&](size_t first) {
            return std::all_of(code.operands.begin() + static_cast<int64_t>(first),
                               code.operands.end(),
                               [&](int operand) { return code_.nodes[operand].is_integer; });
        };
        switch (code.kind) {
            case ScalarKind::Constant:
                return code.constant.is_integer();
            case ScalarKind::Read:
                return !is_float(s->tensor->type);
            case ScalarKind::Number:
                return true;
            case ScalarKind::Cast:
                return !is_float(s->type);
            case ScalarKind::Function:
                if (is_comparison(code.function)) return true;
                return is_integer_function(code.function) &&
                       operands_are_integers(code.function == Function::Where ? 1 : 0);
            default:
                return operands_are_integers(0);
        }
    }

    int read(Scalar s) {
        ReadCode code;
        code.tensor = numbers_.at(s->tensor);
        code.has_outside = s->has_outside;
        code.outside = field_constant(s->constant);
        if (is_float(s->tensor->type)) code.outside = as_finite(code.outside);
        std::vector<int64_t> strides = dense_strides(s->tensor->shape());
        for (size_t d = 0; d < s->indices.size(); ++d) {
            const Axis& axis = s->tensor->axes[d];
            Interval interval = interval_of(s->indices[d], ranges_);
            bool is_inside = interval.lo >= axis.lo && interval.hi < axis.hi;
            code.axes.push_back(
                {index(s->indices[d]), axis.lo, axis.extent(), strides[d], !is_inside});
        }
        code_.reads.push_back(std::move(code));
        return static_cast<int>(code_.reads.size()) - 1;
    }

    void bind(const std::vector<Axis>& axes) {
        ranges_.add(axes);
        for (const Axis& axis : axes)
            if (!slots_.contains(axis.iterator.get())) slots_[axis.iterator.get()] = code_.slots++;
    }

    int reduce(Scalar s, const NodeCode& node) {
        ReduceCode code;
        code.monoid = s->monoid;
        code.is_integer = node.is_integer;
        code.body = node.operands.front();
        for (const Axis& axis : s->axes)
            code.axes.push_back({slots_.at(axis.iterator.get()), axis.lo, axis.hi});
        if (code.monoid == Monoid::Sum) plan_sum(s, code);
        code_.reductions.push_back(std::move(code));
        return static_cast<int>(code_.reductions.size()) - 1;
    }

    bool is_zero(int node) const {
        const NodeCode& code = code_.nodes[node];
        return code.kind == ScalarKind::Constant && code.constant.is_finite() &&
               code.constant.p == 0;
    }

    void plan_sum(Scalar s, ReduceCode& code) {
        Scalar summand = s->operands.front();
        int body = code.body;
        if (code_.nodes[body].kind == ScalarKind::Select &&
            is_zero(code_.nodes[body].operands[1])) {
            code.guard = code_.predicates[code_.nodes[body].predicate];
            summand = summand->operands[0];
            body = code_.nodes[body].operands[0];
        }
        std::vector<Scalar> factors{summand};
        std::vector<int> nodes{body};
        constexpr size_t most_factors = 6;
        if (code_.nodes[body].kind == ScalarKind::Mul && summand->operands.size() <= most_factors) {
            factors = summand->operands;
            nodes = code_.nodes[body].operands;
        }
        choose_inner(nodes, code);
        for (size_t i = 0; i < nodes.size(); ++i)
            code.factors.push_back(factor(factors[i], nodes[i], s->axes, code));
        plan_small_box(code);
    }

    /// A reduction whose few terms lie at fixed distances from the first.
    void plan_small_box(ReduceCode& code) const {
        int64_t terms = 1;
        for (const auto& axis : code.axes)
            terms = std::min(terms * std::max<int64_t>(axis.hi - axis.lo, 0), column_length + 1);
        bool is_straight_everywhere =
            std::all_of(code.factors.begin(), code.factors.end(), [&](const FactorCode& factor) {
                return factor.is_invariant ||
                       (factor.read >= 0 &&
                        std::all_of(code.axes.begin(), code.axes.end(), [&](const auto& axis) {
                            return is_straight(factor.node, axis.slot);
                        }));
            });
        if (terms < 1 || terms > column_length || !is_straight_everywhere ||
            code.guard.kind != PredicateKind::True)
            return;
        code.small_box = terms;
        for (FactorCode& factor : code.factors)
            if (factor.read >= 0) lay_out(code, factor);
    }

    void lay_out(const ReduceCode& code, FactorCode& factor) const {
        const ReadCode& read = code_.reads[factor.read];
        factor.offsets.assign(1, 0);
        for (const auto& range : code.axes) {
            int64_t step = 0;
            for (const ReadAxis& axis : read.axes)
                step += axis.index.coefficient(range.slot) * axis.stride;
            std::vector<int64_t> offsets;
            for (int64_t offset : factor.offsets)
                for (int64_t i = 0; i < range.hi - range.lo; ++i)
                    offsets.push_back(offset + i * step);
            factor.offsets = std::move(offsets);
        }
        for (const ReadAxis& axis : read.axes) {
            Interval reach{0, 0};
            for (const auto& range : code.axes) {
                int64_t distance = axis.index.coefficient(range.slot) * (range.hi - 1 - range.lo);
                reach.lo += std::min<int64_t>(distance, 0);
                reach.hi += std::max<int64_t>(distance, 0);
            }
            factor.reach.push_back(reach);
        }
    }

    bool is_straight(int node, int slot) const {
        if (code_.nodes[node].kind != ScalarKind::Read) return true;
        for (const ReadAxis& axis : code_.reads[code_.nodes[node].read].axes)
            if (axis.index.has_inside_atom(slot)) return false;
        return true;
    }

    /// The longest axis along which all reads run straight.
    void choose_inner(const std::vector<int>& nodes, ReduceCode& code) const {
        for (size_t a = 0; a < code.axes.size(); ++a) {
            const auto& axis = code.axes[a];
            bool is_possible = !code.guard.uses(axis.slot) &&
                               std::all_of(nodes.begin(), nodes.end(),
                                           [&](int node) { return is_straight(node, axis.slot); });
            bool is_longer = code.inner < 0 || axis.hi - axis.lo > code.axes[code.inner].hi -
                                                                       code.axes[code.inner].lo;
            if (is_possible && is_longer) code.inner = static_cast<int>(a);
        }
    }

    FactorCode factor(Scalar s, int node, const std::vector<Axis>& axes,
                      const ReduceCode& reduce) const {
        FactorCode result;
        result.node = node;
        std::set<Iterator> free = free_iterators(s);
        result.uses_inner = reduce.inner >= 0 && free.contains(axes[reduce.inner].iterator);
        result.is_invariant = std::none_of(axes.begin(), axes.end(), [&](const Axis& axis) {
            return free.contains(axis.iterator);
        });
        if (code_.nodes[node].kind == ScalarKind::Read && !result.is_invariant) {
            const ReadCode& read = code_.reads[code_.nodes[node].read];
            bool is_absent_outside =
                !read.has_outside || (read.outside.is_finite() && read.outside.p == 0);
            if (is_absent_outside) result.read = code_.nodes[node].read;
        }
        return result;
    }

    const std::map<const Tensor*, int>& numbers_;
    BodyCode code_;
    Ranges ranges_;
    std::unordered_map<const IteratorNode*, int> slots_;
    std::unordered_map<const ScalarNode*, int> memo_;
};

bool is_exp_like(Function f) {
    return f == Function::Exp || f == Function::Sigmoid || f == Function::Tanh ||
           f == Function::Softplus || f == Function::Sinh || f == Function::Cosh;
}

bool is_oracle(Function f) {
    return (f >= Function::Log && f <= Function::Sqrt) || f == Function::Erf ||
           (f >= Function::Sin && f <= Function::Atan) ||
           (f >= Function::Asinh && f <= Function::Atanh) || f == Function::Pow ||
           f == Function::Softplus;
}

bool is_decided_by_data(Function f) {
    return (f >= Function::Abs && f <= Function::Round) ||
           (f >= Function::Not && f != Function::Pow);
}

class TraitFinder {
public:
    ExprTraits find(const Expr& expr) {
        for (const Tensor* tensor : definitions_of(expr)) depths_[tensor] = depth(tensor->body);
        return traits_;
    }

private:
    int depth(Scalar s) {
        auto found = memo_.find(s.get());
        if (found != memo_.end()) return found->second;
        int result = 0;
        for (Scalar operand : s->operands) result = std::max(result, depth(operand));
        if (s->kind == ScalarKind::Read) result = depths_[s->tensor];
        if (s->kind == ScalarKind::Function) {
            if (is_exp_like(s->function)) ++result;
            traits_.exp_depth = std::max(traits_.exp_depth, result);
            if (is_oracle(s->function)) result = 0;
            traits_.is_branching = traits_.is_branching || is_decided_by_data(s->function);
        }
        if (s->kind == ScalarKind::Reduce)
            traits_.is_branching =
                traits_.is_branching || s->monoid == Monoid::Max || s->monoid == Monoid::Min;
        memo_.emplace(s.get(), result);
        return result;
    }

    ExprTraits traits_;
    std::map<const Tensor*, int> depths_;
    std::unordered_map<const ScalarNode*, int> memo_;
};

}  // namespace

int64_t IndexCode::evaluate(const int64_t* slots) const {
    int64_t value = constant;
    for (const SlotTerm& term : terms) value += term.coefficient * slots[term.slot];
    for (const AtomCode& atom : atoms) {
        int64_t a = atom.operands[0].evaluate(slots);
        switch (atom.kind) {
            case AtomKind::FloorDiv:
                a = floor_quotient(a, atom.divisor);
                break;
            case AtomKind::Min:
                a = std::min(a, atom.operands[1].evaluate(slots));
                break;
            case AtomKind::Max:
                a = std::max(a, atom.operands[1].evaluate(slots));
                break;
            default:
                if (a < 0 || a >= static_cast<int64_t>(atom.table.size()))
                    throw OutsideRead("an index table");
                a = atom.table[a];
        }
        value += atom.coefficient * a;
    }
    return value;
}

int64_t IndexCode::coefficient(int slot) const {
    for (const SlotTerm& term : terms)
        if (term.slot == slot) return term.coefficient;
    return 0;
}

bool IndexCode::has_inside_atom(int slot) const {
    for (const AtomCode& atom : atoms)
        for (const IndexCode& operand : atom.operands)
            if (operand.coefficient(slot) != 0 || operand.has_inside_atom(slot)) return true;
    return false;
}

bool PredicateCode::evaluate(const int64_t* slots) const {
    auto holds = [&](const PredicateCode& operand) { return operand.evaluate(slots); };
    switch (kind) {
        case PredicateKind::True:
            return true;
        case PredicateKind::False:
            return false;
        case PredicateKind::NonNegative:
            return index.evaluate(slots) >= 0;
        case PredicateKind::Zero:
            return index.evaluate(slots) == 0;
        case PredicateKind::And:
            return std::all_of(operands.begin(), operands.end(), holds);
        case PredicateKind::Or:
            return std::any_of(operands.begin(), operands.end(), holds);
        case PredicateKind::Not:
            return !operands.front().evaluate(slots);
    }
    return false;
}

bool PredicateCode::uses(int slot) const {
    if (index.coefficient(slot) != 0 || index.has_inside_atom(slot)) return true;
    return std::any_of(operands.begin(), operands.end(),
                       [&](const PredicateCode& operand) { return operand.uses(slot); });
}

BodyCode compile(const Tensor* definition, const std::map<const Tensor*, int>& numbers) {
    return Compiler(numbers).compile(definition);
}

ExprTraits traits_of(const Expr& expr) { return TraitFinder().find(expr); }

}  // namespace ollie::expr
