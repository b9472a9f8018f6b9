#include "expr/visit.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "expr/build.h"

namespace ollie::expr {

void for_each_scalar(Scalar scalar, const std::function<void(Scalar)>& visit) {
    for (Scalar operand : scalar->operands) for_each_scalar(operand, visit);
    visit(scalar);
}

std::vector<Scalar> reads_of(Scalar body) {
    std::vector<Scalar> reads;
    for_each_scalar(body, [&](Scalar s) {
        if (s->kind == ScalarKind::Read) reads.push_back(s);
    });
    return reads;
}

std::vector<const Tensor*> sources_of(const Tensor* tensor) {
    std::vector<const Tensor*> sources;
    if (!tensor->is_definition()) return sources;
    for (Scalar read : reads_of(tensor->body))
        if (std::find(sources.begin(), sources.end(), read->tensor) == sources.end())
            sources.push_back(read->tensor);
    return sources;
}

namespace {

void collect(const Tensor* root, std::set<const Tensor*>& seen, std::vector<const Tensor*>& order) {
    std::vector<std::pair<const Tensor*, bool>> stack{{root, false}};
    while (!stack.empty()) {
        auto [tensor, expanded] = stack.back();
        stack.pop_back();
        if (expanded) {
            order.push_back(tensor);
            continue;
        }
        if (!seen.insert(tensor).second) continue;
        stack.emplace_back(tensor, true);
        auto sources = sources_of(tensor);
        for (auto it = sources.rbegin(); it != sources.rend(); ++it)
            if (!seen.contains(*it)) stack.emplace_back(*it, false);
    }
}

}  // namespace

std::vector<const Tensor*> tensors_of(const std::vector<const Tensor*>& outputs) {
    std::set<const Tensor*> seen;
    std::vector<const Tensor*> order;
    for (const Tensor* output : outputs) collect(output, seen, order);
    return order;
}

std::vector<const Tensor*> tensors_of(const Expr& expr) { return tensors_of(expr.outputs); }

std::vector<const Tensor*> definitions_of(const Expr& expr) {
    std::vector<const Tensor*> result = tensors_of(expr);
    std::erase_if(result, [](const Tensor* tensor) { return !tensor->is_definition(); });
    return result;
}

std::map<const Tensor*, int> use_counts(const Expr& expr) {
    std::map<const Tensor*, int> counts;
    for (const Tensor* tensor : tensors_of(expr))
        for (const Tensor* source : sources_of(tensor)) ++counts[source];
    for (const Tensor* output : expr.outputs) ++counts[output];
    return counts;
}

namespace {

void collect(Index index, std::set<Iterator>& found) {
    for (const Term& term : index->terms) {
        if (term.atom->kind == AtomKind::Iterator) found.insert(term.atom->iterator);
        if (term.atom->a) collect(term.atom->a, found);
        if (term.atom->b) collect(term.atom->b, found);
    }
}

void collect(Predicate predicate, std::set<Iterator>& found) {
    if (predicate->index) collect(predicate->index, found);
    for (Predicate operand : predicate->operands) collect(operand, found);
}

}  // namespace

std::set<Iterator> iterators_of(Index index) {
    std::set<Iterator> found;
    collect(index, found);
    return found;
}

std::set<Iterator> iterators_of(Predicate predicate) {
    std::set<Iterator> found;
    collect(predicate, found);
    return found;
}

bool is_transform(Scalar s) {
    if (s->kind != ScalarKind::Reduce || s->monoid != Monoid::Sum) return false;
    Scalar body = s->operands[0];
    return body->kind == ScalarKind::Mul &&
           std::any_of(body->operands.begin(), body->operands.end(), [](Scalar factor) {
               return factor->kind == ScalarKind::Number && factor->indices[0]->terms.size() == 1 &&
                      factor->indices[0]->terms[0].atom->kind == AtomKind::Table;
           });
}

std::set<Iterator> free_iterators(Scalar scalar) {
    std::set<Iterator> found;
    for (Index index : scalar->indices) collect(index, found);
    if (scalar->predicate) collect(scalar->predicate, found);
    for (Scalar operand : scalar->operands) found.merge(free_iterators(operand));
    for (const Axis& axis : scalar->axes) found.erase(axis.iterator);
    return found;
}

Index substitute(Index index, const Substitution& substitution) {
    Arena& arena = *index->arena;
    bool changed = false;
    Index result = arena.constant(index->constant);
    for (const Term& term : index->terms) {
        const AtomNode& atom = *term.atom;
        const Index itself = arena.linear(0, {{1, term.atom}});
        Index value = itself;
        if (atom.kind == AtomKind::Iterator) {
            auto found = substitution.find(atom.iterator);
            if (found != substitution.end()) value = found->second;
        } else {
            Index a = substitute(atom.a, substitution);
            Index b = atom.b ? substitute(atom.b, substitution) : atom.b;
            if (a != atom.a || b != atom.b) {
                switch (atom.kind) {
                    case AtomKind::FloorDiv:
                        value = arena.floor_div(a, atom.divisor);
                        break;
                    case AtomKind::Min:
                        value = arena.min(a, b);
                        break;
                    case AtomKind::Max:
                        value = arena.max(a, b);
                        break;
                    default:
                        value = arena.table(atom.table, a);
                        break;
                }
            }
        }
        changed = changed || value != itself;
        result = result + value * term.coefficient;
    }
    return changed ? result : index;
}

namespace {

Predicate rebuild(Predicate p, const std::function<Index(Index)>& change) {
    Arena& arena = *p->arena;
    switch (p->kind) {
        case PredicateKind::NonNegative: {
            Index index = change(p->index);
            return index == p->index ? p : arena.non_negative(index);
        }
        case PredicateKind::Zero: {
            Index index = change(p->index);
            return index == p->index ? p : arena.zero(index);
        }
        case PredicateKind::And:
        case PredicateKind::Or:
        case PredicateKind::Not: {
            std::vector<Predicate> operands;
            for (Predicate operand : p->operands) operands.push_back(rebuild(operand, change));
            if (operands == p->operands) return p;
            if (p->kind == PredicateKind::And) return arena.conjunction(std::move(operands));
            if (p->kind == PredicateKind::Or) return arena.disjunction(std::move(operands));
            return arena.negation(operands.front());
        }
        default:
            return p;
    }
}

Scalar with_operands(Scalar s, std::vector<Scalar> operands) {
    Arena& arena = *s->arena;
    switch (s->kind) {
        case ScalarKind::Add:
            return arena.add(std::move(operands));
        case ScalarKind::Mul:
            return arena.mul(std::move(operands));
        case ScalarKind::Function:
            return arena.function(s->function, std::move(operands));
        case ScalarKind::Select:
            return arena.select(s->predicate, operands[0], operands[1]);
        case ScalarKind::Reduce:
            return arena.reduce(s->monoid, s->axes, operands[0]);
        case ScalarKind::Cast:
            return arena.cast(s->type, operands[0]);
        default:
            return s;
    }
}

Scalar with_changed_indices(Scalar s, const std::function<Index(Index)>& change) {
    Arena& arena = *s->arena;
    if (s->kind == ScalarKind::Select) {
        Predicate predicate = rebuild(s->predicate, change);
        if (predicate == s->predicate) return s;
        return arena.select(predicate, s->operands[0], s->operands[1]);
    }
    if (s->indices.empty()) return s;
    std::vector<Index> indices;
    for (Index index : s->indices) indices.push_back(change(index));
    if (indices == s->indices) return s;
    if (s->kind == ScalarKind::Number) return arena.number(indices.front());
    return with_indices(s, std::move(indices));
}

/// Bottom-up rewriting with a memo, since equal subtrees are one node.
class Rewriter {
public:
    explicit Rewriter(const std::function<Scalar(Scalar)>& change) : change_(change) {}

    Scalar operator()(Scalar scalar) {
        auto found = memo_.find(scalar.get());
        if (found != memo_.end()) return found->second;
        std::vector<Scalar> operands;
        for (Scalar operand : scalar->operands) operands.push_back((*this)(operand));
        Scalar rebuilt =
            operands == scalar->operands ? scalar : with_operands(scalar, std::move(operands));
        Scalar result = change_(rebuilt);
        memo_.emplace(scalar.get(), result);
        return result;
    }

private:
    const std::function<Scalar(Scalar)>& change_;
    std::unordered_map<const ScalarNode*, Scalar> memo_;
};

}  // namespace

Predicate substitute(Predicate predicate, const Substitution& substitution) {
    return rebuild(predicate, [&](Index index) { return substitute(index, substitution); });
}

Scalar rewrite(Scalar scalar, const std::function<Scalar(Scalar)>& change) {
    return Rewriter(change)(scalar);
}

Scalar rewrite_indices(Scalar scalar, const std::function<Index(Index)>& change) {
    return rewrite(scalar, [&](Scalar s) { return with_changed_indices(s, change); });
}

Scalar substitute(Scalar scalar, const Substitution& substitution) {
    if (substitution.empty()) return scalar;
    return rewrite_indices(scalar, [&](Index index) { return substitute(index, substitution); });
}

Scalar with_fresh_reductions(Scalar scalar) {
    if (scalar->operands.empty()) return scalar;
    Arena& arena = *scalar->arena;
    std::vector<Scalar> operands;
    for (Scalar operand : scalar->operands) operands.push_back(with_fresh_reductions(operand));
    if (scalar->kind != ScalarKind::Reduce)
        return operands == scalar->operands ? scalar : with_operands(scalar, std::move(operands));
    std::vector<Axis> axes = fresh(arena, scalar->axes);
    Substitution renaming;
    for (size_t i = 0; i < axes.size(); ++i)
        renaming[scalar->axes[i].iterator] = index_of(axes[i].iterator);
    return arena.reduce(scalar->monoid, std::move(axes), substitute(operands.front(), renaming));
}

Scalar body_at(const Tensor* definition, const std::vector<Index>& indices) {
    CHECK(definition->is_definition() && indices.size() == definition->rank());
    Substitution substitution;
    for (size_t i = 0; i < indices.size(); ++i)
        substitution[definition->axes[i].iterator] = indices[i];
    return substitute(with_fresh_reductions(definition->body), substitution);
}

namespace {

/// Rebuilds all consumers of changed tensors, bottom-up.
class Rebuilder {
public:
    explicit Rebuilder(std::map<const Tensor*, const Tensor*> replaced)
        : current_(std::move(replaced)) {}

    /// Reads of `tensor` become `change(read)` instead of reads of its replacement.
    void change_reads_of(const Tensor* tensor, const ReadChange& change) {
        changed_ = tensor;
        change_ = &change;
    }

    const Tensor* operator()(const Tensor* tensor) {
        auto found = current_.find(tensor);
        if (found != current_.end()) return found->second;
        const Tensor* result = tensor;
        if (tensor->is_definition()) {
            for (const Tensor* source : sources_of(tensor)) (*this)(source);
            Scalar body = rewrite(tensor->body, [&](Scalar s) { return rebuilt_read(s); });
            if (body != tensor->body) result = with_body(tensor, body);
        }
        return current_[tensor] = result;
    }

private:
    Scalar rebuilt_read(Scalar s) {
        if (s->kind != ScalarKind::Read) return s;
        if (s->tensor == changed_) return (*change_)(s);
        auto found = current_.find(s->tensor);
        if (found == current_.end() || found->second == s->tensor) return s;
        return s->arena->read(found->second, s->indices, outside_of(s));
    }

    std::map<const Tensor*, const Tensor*> current_;
    const Tensor* changed_ = nullptr;
    const ReadChange* change_ = nullptr;
};

}  // namespace

Expr replace(const Expr& expr, const std::map<const Tensor*, const Tensor*>& replacements) {
    Rebuilder rebuild(replacements);
    Expr result{expr.arena, {}};
    for (const Tensor* output : expr.outputs) result.outputs.push_back(rebuild(output));
    return result;
}

Expr change_reads(const Expr& expr, const Tensor* tensor, const ReadChange& change,
                  const Tensor* output) {
    std::map<const Tensor*, const Tensor*> unchanged{{tensor, tensor}};
    Rebuilder rebuild(std::move(unchanged));
    rebuild.change_reads_of(tensor, change);
    Expr result{expr.arena, {}};
    for (const Tensor* old : expr.outputs) {
        CHECK(old != tensor || output != nullptr, "{} is an output", tensor->name);
        result.outputs.push_back(old == tensor ? output : rebuild(old));
    }
    return result;
}

Scalar with_indices(Scalar read, std::vector<Index> indices) {
    return read->arena->read(read->tensor, std::move(indices), outside_of(read));
}

std::optional<double> outside_of(Scalar read) {
    return read->has_outside ? std::optional(read->constant) : std::nullopt;
}

std::string unused_name(const Expr& expr, const std::string& stem) {
    std::set<std::string> taken;
    for (const Tensor* tensor : tensors_of(expr)) taken.insert(tensor->name);
    std::string name = stem;
    for (int suffix = 2; taken.contains(name); ++suffix) name = stem + "_" + std::to_string(suffix);
    return name;
}

const Tensor* with_body(const Tensor* tensor, Scalar body) {
    return with_body(tensor, tensor->axes, body);
}

const Tensor* with_body(const Tensor* tensor, std::vector<Axis> axes, Scalar body) {
    return tensor->arena->define(tensor->name, tensor->type, std::move(axes), body, tensor->origin,
                                 tensor->pinned);
}

namespace {

/// Copies nodes into another arena.
class Copier {
public:
    explicit Copier(Arena& arena) : arena_(arena) {}

    const Tensor* tensor(const Tensor* source) {
        auto found = tensors_.find(source);
        CHECK(found != tensors_.end(), "{} is read before it is copied", source->name);
        return found->second;
    }

    const Tensor* copy(const Tensor* source) {
        if (tensors_.contains(source)) return tensors_[source];
        const Tensor* result = nullptr;
        if (source->kind == TensorKind::Input)
            result = arena_.input(source->name, source->type, source->shape());
        else if (source->kind == TensorKind::Weight)
            result = arena_.weight(source->name, source->type, source->shape(), source->values);
        else
            result = arena_.define(source->name, source->type, axes(source->axes),
                                   scalar(source->body), source->origin, source->pinned);
        return tensors_[source] = result;
    }

    const std::map<const Tensor*, const Tensor*>& tensors() const { return tensors_; }

private:
    Iterator iterator(Iterator source) {
        auto [found, is_new] = iterators_.try_emplace(source.get());
        if (is_new) found->second = arena_.iterator(source->name);
        return found->second;
    }

    std::vector<Axis> axes(const std::vector<Axis>& source) {
        std::vector<Axis> result;
        for (const Axis& axis : source)
            result.push_back({iterator(axis.iterator), axis.lo, axis.hi});
        return result;
    }

    Index index(Index source) {
        Index result = arena_.constant(source->constant);
        for (const Term& term : source->terms)
            result = result + atom(*term.atom) * term.coefficient;
        return result;
    }

    Index atom(const AtomNode& atom) {
        switch (atom.kind) {
            case AtomKind::Iterator:
                return arena_.index(iterator(atom.iterator));
            case AtomKind::FloorDiv:
                return arena_.floor_div(index(atom.a), atom.divisor);
            case AtomKind::Min:
                return arena_.min(index(atom.a), index(atom.b));
            case AtomKind::Max:
                return arena_.max(index(atom.a), index(atom.b));
            case AtomKind::Table:
                return arena_.table(atom.table, index(atom.a));
        }
        CHECK(false);
    }

    Predicate predicate(Predicate p) {
        std::vector<Predicate> operands;
        for (Predicate operand : p->operands) operands.push_back(predicate(operand));
        switch (p->kind) {
            case PredicateKind::True:
                return arena_.truth(true);
            case PredicateKind::False:
                return arena_.truth(false);
            case PredicateKind::NonNegative:
                return arena_.non_negative(index(p->index));
            case PredicateKind::Zero:
                return arena_.zero(index(p->index));
            case PredicateKind::And:
                return arena_.conjunction(std::move(operands));
            case PredicateKind::Or:
                return arena_.disjunction(std::move(operands));
            case PredicateKind::Not:
                return arena_.negation(operands.front());
        }
        CHECK(false);
    }

    std::vector<Scalar> scalars(const std::vector<Scalar>& source) {
        std::vector<Scalar> result;
        for (Scalar s : source) result.push_back(scalar(s));
        return result;
    }

    Scalar scalar(Scalar s) {
        auto found = memo_.find(s.get());
        if (found != memo_.end()) return found->second;
        Scalar result = build(s);
        memo_.emplace(s.get(), result);
        return result;
    }

    Scalar build(Scalar s) {
        std::vector<Index> indices;
        for (Index i : s->indices) indices.push_back(index(i));
        switch (s->kind) {
            case ScalarKind::Constant:
                return arena_.constant_scalar(s->constant);
            case ScalarKind::Read:
                return arena_.read(tensor(s->tensor), std::move(indices), outside_of(s));
            case ScalarKind::Number:
                return arena_.number(indices.front());
            case ScalarKind::Add:
                return arena_.add(scalars(s->operands));
            case ScalarKind::Mul:
                return arena_.mul(scalars(s->operands));
            case ScalarKind::Function:
                return arena_.function(s->function, scalars(s->operands));
            case ScalarKind::Select:
                return arena_.select(predicate(s->predicate), scalar(s->operands[0]),
                                     scalar(s->operands[1]));
            case ScalarKind::Reduce:
                return arena_.reduce(s->monoid, axes(s->axes), scalar(s->operands[0]));
            case ScalarKind::Cast:
                return arena_.cast(s->type, scalar(s->operands[0]));
        }
        CHECK(false);
    }

    Arena& arena_;
    std::map<const Tensor*, const Tensor*> tensors_;
    std::unordered_map<const IteratorNode*, Iterator> iterators_;
    std::unordered_map<const ScalarNode*, Scalar> memo_;
};

}  // namespace

Expr copy_to(const std::shared_ptr<Arena>& arena, const Expr& expr,
             std::map<const Tensor*, const Tensor*>* map) {
    Copier copier(*arena);
    for (const Tensor* tensor : tensors_of(expr)) copier.copy(tensor);
    Expr result{arena, {}};
    for (const Tensor* output : expr.outputs) result.outputs.push_back(copier.copy(output));
    if (map != nullptr) *map = copier.tensors();
    return result;
}

}  // namespace ollie::expr
