#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "expr/build.h"
#include "expr/node.h"
#include "expr/visit.h"

/// Small random expressions full of ties, and ways to rebuild them: the same meaning in another
/// form, or with one thing changed.
namespace ollie::expr {

class Dice {
public:
    explicit Dice(uint64_t seed) : state_(mix(seed)) {}
    int64_t below(int64_t bound) {
        state_ = mix(state_);
        return static_cast<int64_t>(state_ % static_cast<uint64_t>(bound));
    }
    int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
    bool coin() { return below(2) == 0; }
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
    }
    template <typename T>
    void shuffle(std::vector<T>& items) {
        for (size_t i = items.size(); i > 1; --i)
            std::swap(items[i - 1], items[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    }

private:
    uint64_t state_;
};

/// Two inputs, up to three intermediates and one output; extents from 1 to 3, every read with a
/// value outside.
class TiedExpr {
public:
    explicit TiedExpr(uint64_t seed) : dice_(seed), arena_(std::make_shared<Arena>()) {}

    Expr make() {
        tensors_.push_back(arena_->input("A", ElementType::F32, {3, 3}));
        tensors_.push_back(arena_->input("B", ElementType::F32, {3}));
        int64_t count = dice_.between(0, 3);
        for (int64_t i = 0; i <= count; ++i) define("T" + std::to_string(i));
        return {arena_, {tensors_.back()}};
    }

private:
    std::vector<Axis> axes(int64_t most, const char* name) {
        std::vector<Axis> result;
        for (int64_t i = dice_.between(1, most); i > 0; --i)
            result.push_back({arena_->iterator(name), 0, dice_.between(1, 3)});
        return result;
    }

    void define(const std::string& name) {
        std::vector<Axis> bound = axes(3, "i");
        scope_.clear();
        for (const Axis& axis : bound) scope_.push_back(axis.iterator);
        tensors_.push_back(
            arena_->define(name, ElementType::F32, bound, scalar(3), {}, dice_.below(6) == 0));
    }

    Index index() {
        Index e = index_of(dice_.pick(scope_));
        switch (dice_.below(8)) {
            case 0:
                return e + dice_.between(-1, 1);
            case 1:
                return e + index_of(dice_.pick(scope_));
            case 2:
                return div(e + index_of(dice_.pick(scope_)), 2);
            case 3:
                return mod(e + dice_.between(0, 2), 2);
            case 4:
                return arena_->min(e, index_of(dice_.pick(scope_)) + 1);
            case 5:
                return e * 2 - 1;
            default:
                return e;
        }
    }

    Predicate predicate() {
        Index e = index() - index();
        return dice_.coin() ? e >= 0 : e == dice_.between(0, 1);
    }

    Scalar read() {
        const Tensor* tensor = dice_.pick(tensors_);
        std::vector<Index> indices;
        for (size_t d = 0; d < tensor->rank(); ++d) indices.push_back(index());
        return arena_->read(tensor, std::move(indices), dice_.coin() ? 0.0 : 1.0);
    }

    Scalar scalar(int depth) {
        if (depth == 0) return dice_.below(6) == 0 ? number() : read();
        switch (dice_.below(8)) {
            case 0:
            case 1:
                return scalar(depth - 1) + scalar(depth - 1);
            case 2:
            case 3:
                return scalar(depth - 1) * scalar(depth - 1);
            case 4:
                return relu(scalar(depth - 1));
            case 5:
                return arena_->select(predicate(), scalar(depth - 1), scalar(depth - 1));
            default:
                return reduction(depth);
        }
    }

    Scalar number() {
        return dice_.coin() ? arena_->constant_scalar(static_cast<double>(dice_.between(2, 3)))
                            : arena_->number(index());
    }

    Scalar reduction(int depth) {
        std::vector<Axis> bound = axes(2, "r");
        size_t outer = scope_.size();
        for (const Axis& axis : bound) scope_.push_back(axis.iterator);
        Scalar body = scalar(depth - 1);
        scope_.resize(outer);
        return arena_->reduce(dice_.below(4) == 0 ? Monoid::Max : Monoid::Sum, bound, body);
    }

    Dice dice_;
    std::shared_ptr<Arena> arena_;
    std::vector<const Tensor*> tensors_;
    std::vector<Iterator> scope_;
};

/// Copies an expression into another arena with everything in another form that must not matter:
/// axes of intermediates and of reductions in another order, ranges shifted, operands shuffled,
/// nested reductions joined or split. With a mutation, the one thing of that number is changed.
class Rebuild {
public:
    explicit Rebuild(uint64_t seed, int64_t mutation = -1)
        : dice_(seed), mutation_(mutation), arena_(std::make_shared<Arena>()) {}

    Expr operator()(const Expr& expr) {
        outputs_.insert(expr.outputs.begin(), expr.outputs.end());
        for (const Tensor* tensor : tensors_of(expr)) tensor_copy(tensor);
        Expr result{arena_, {}};
        for (const Tensor* output : expr.outputs) result.outputs.push_back(tensors_.at(output));
        return result;
    }
    /// How many things can be changed.
    int64_t places() const { return places_; }

private:
    bool is_mutated() { return places_++ == mutation_; }

    void tensor_copy(const Tensor* tensor) {
        if (tensor->kind == TensorKind::Input) {
            tensors_[tensor] = arena_->input(tensor->name, tensor->type, tensor->shape());
            return;
        }
        if (tensor->kind == TensorKind::Weight) {
            tensors_[tensor] =
                arena_->weight(tensor->name, tensor->type, tensor->shape(), tensor->values);
            return;
        }
        std::vector<size_t> order(tensor->rank());
        std::iota(order.begin(), order.end(), 0);
        if (!outputs_.contains(tensor)) dice_.shuffle(order);
        std::vector<Axis> axes;
        for (size_t d : order) axes.push_back(shifted(tensor->axes[d], false));
        scope_.clear();
        for (const Axis& axis : tensor->axes) scope_.push_back(axis.iterator);
        orders_[tensor] = order;
        tensors_[tensor] = arena_->define(tensor->name + "'", tensor->type, axes,
                                          scalar(tensor->body), {}, tensor->pinned != is_mutated());
    }

    Axis shifted(const Axis& axis, bool may_mutate) {
        int64_t shift = dice_.between(-2, 2);
        Iterator fresh = arena_->iterator("x");
        iterators_[axis.iterator] = index_of(fresh) - shift;
        int64_t more = may_mutate && is_mutated() ? 1 : 0;
        return {fresh, axis.lo + shift, axis.hi + shift + more};
    }

    Index index(Index e) {
        Index result = arena_->constant(e->constant + (is_mutated() ? 1 : 0));
        for (const Term& term : e->terms)
            result = result + atom(*term.atom) * (term.coefficient + (is_mutated() ? 1 : 0));
        return result;
    }

    Index atom(const AtomNode& atom) {
        switch (atom.kind) {
            case AtomKind::Iterator:
                if (is_mutated() && !scope_.empty()) return iterators_.at(scope_.front());
                return iterators_.at(atom.iterator);
            case AtomKind::FloorDiv:
                return div(index(atom.a), atom.divisor + (is_mutated() ? 1 : 0));
            case AtomKind::Min:
                return arena_->min(index(atom.b), index(atom.a));
            case AtomKind::Max:
                return arena_->max(index(atom.b), index(atom.a));
            default:
                return arena_->table(atom.table, index(atom.a));
        }
    }

    Predicate predicate(Predicate p) {
        if (p->kind == PredicateKind::NonNegative) return index(p->index) >= 0;
        if (p->kind == PredicateKind::Zero) {
            Index e = index(p->index);
            return (dice_.coin() ? e : -e) == 0;
        }
        std::vector<Predicate> operands;
        for (Predicate operand : p->operands) operands.push_back(predicate(operand));
        dice_.shuffle(operands);
        switch (p->kind) {
            case PredicateKind::And:
                return arena_->conjunction(operands);
            case PredicateKind::Or:
                return arena_->disjunction(operands);
            case PredicateKind::Not:
                return arena_->negation(operands.front());
            default:
                return arena_->truth(p->kind == PredicateKind::True);
        }
    }

    Scalar read(Scalar s) {
        std::vector<Index> indices;
        for (Index e : s->indices) indices.push_back(index(e));
        if (indices.size() > 1 && is_mutated()) std::swap(indices[0], indices[1]);
        auto order = orders_.find(s->tensor);
        const Tensor* copy = tensors_.at(s->tensor);
        if (order != orders_.end()) {
            std::vector<Index> permuted;
            for (size_t d = 0; d < order->second.size(); ++d)
                permuted.push_back(indices[order->second[d]] + copy->axes[d].lo -
                                   s->tensor->axes[order->second[d]].lo);
            indices = permuted;
        }
        if (!s->has_outside) return arena_->read(copy, indices);
        return arena_->read(copy, indices, s->constant + (is_mutated() ? 1 : 0));
    }

    std::vector<Scalar> operands(Scalar s, bool is_symmetric) {
        std::vector<Scalar> result;
        for (Scalar operand : s->operands) result.push_back(scalar(operand));
        if (is_symmetric) dice_.shuffle(result);
        return result;
    }

    Scalar reduction(Scalar s) {
        std::vector<Axis> axes;
        for (const Axis& axis : s->axes) axes.push_back(shifted(axis, true));
        Monoid monoid = is_mutated() ? Monoid::Min : s->monoid;
        dice_.shuffle(axes);
        Scalar body = scalar(s->operands.front());
        if (axes.size() < 2 || dice_.coin()) return arena_->reduce(monoid, axes, body);
        return arena_->reduce(monoid, {axes[0]}, arena_->reduce(monoid, {axes[1]}, body));
    }

    static bool is_symmetric(Function f) {
        return f == Function::Max || f == Function::Min || f == Function::Equal ||
               f == Function::And || f == Function::Or || f == Function::Xor;
    }

    Scalar scalar(Scalar s) {
        switch (s->kind) {
            case ScalarKind::Constant:
                return arena_->constant_scalar(s->constant + (is_mutated() ? 1 : 0));
            case ScalarKind::Read:
                return read(s);
            case ScalarKind::Number:
                return arena_->number(index(s->indices.front()));
            case ScalarKind::Add:
                return arena_->add(operands(s, true));
            case ScalarKind::Mul:
                return arena_->mul(operands(s, true));
            case ScalarKind::Function:
                return arena_->function(s->function, operands(s, is_symmetric(s->function)));
            case ScalarKind::Cast:
                return arena_->cast(s->type, scalar(s->operands.front()));
            case ScalarKind::Select: {
                Predicate p = predicate(s->predicate);
                std::vector<Scalar> branches = operands(s, false);
                if (is_mutated()) std::swap(branches[0], branches[1]);
                return arena_->select(p, branches[0], branches[1]);
            }
            default:
                return reduction(s);
        }
    }

    Dice dice_;
    int64_t mutation_;
    int64_t places_ = 0;
    std::shared_ptr<Arena> arena_;
    std::set<const Tensor*> outputs_;
    std::map<const Tensor*, const Tensor*> tensors_;
    std::map<const Tensor*, std::vector<size_t>> orders_;
    std::map<Iterator, Index> iterators_;
    std::vector<Iterator> scope_;
};

}  // namespace ollie::expr
