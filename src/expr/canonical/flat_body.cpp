#include "expr/canonical/flat_body.h"

#include <cstring>
#include <numeric>

#include "base/error.h"

namespace ollie::expr {
namespace {

enum Tag : uint64_t {
    TagDefinition = 1,
    TagOutput,
    TagIndex,
    TagFloorDiv,
    TagMin,
    TagMax,
    TagTable,
    TagPredicate,
    TagConstant,
    TagRead,
    TagNumber,
    TagAdd,
    TagMul,
    TagFunction,
    TagSelect,
    TagReduce,
    TagCast,
    TagTraversal
};

uint64_t bits(double value) {
    if (value == 0) value = 0;
    uint64_t word;
    std::memcpy(&word, &value, sizeof(word));
    return word;
}

Key label(Tag tag) { return Hasher().add(uint64_t{tag}).key(); }
Key label(Tag tag, uint64_t value) { return Hasher().add(uint64_t{tag}).add(value).key(); }

int64_t floor_quotient(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// Functions of two operands that are associative and symmetric.
bool is_connective(Function function) {
    return function == Function::Max || function == Function::Min || function == Function::And ||
           function == Function::Or || function == Function::Xor;
}

bool is_same_operator(const ScalarNode& x, const ScalarNode& y) {
    return x.kind == y.kind && x.kind != ScalarKind::Reduce &&
           (x.kind != ScalarKind::Function || x.function == y.function);
}

}  // namespace

void BodyFlattener::flatten(const Tensor* definition, bool is_output,
                            const CanonicalTensors& tensors, FlatBody& body) {
    body_ = &body;
    tensors_ = &tensors;
    body.nodes.clear();
    body.edges.clear();
    body.iterators.clear();
    body.is_output = is_output;
    scope_.clear();
    pending_.clear();
    depth_ = 0;

    bind(definition->axes, TagTraversal, is_output);
    auto bound = static_cast<uint32_t>(body.iterators.size());
    depth_ = bound;
    int32_t root = scalar(*definition->body);
    Hasher hasher;
    hasher.add(uint64_t{is_output ? TagOutput : TagDefinition});
    hasher.add(static_cast<uint64_t>(definition->type)).add(uint64_t{definition->pinned});
    if (is_output)
        for (const Axis& axis : definition->axes) hasher.add(static_cast<uint64_t>(axis.extent()));
    pending_.push_back({root, 0});
    int32_t last = node(hasher.key(), 0);
    body.nodes[last].iterator_count = bound;
}

int32_t BodyFlattener::node(const Key& label, size_t first_pending) {
    FlatNode result;
    result.label = label;
    result.first_edge = static_cast<uint32_t>(body_->edges.size());
    result.edge_count = static_cast<uint32_t>(pending_.size() - first_pending);
    body_->edges.insert(body_->edges.end(), pending_.begin() + static_cast<int64_t>(first_pending),
                        pending_.end());
    pending_.resize(first_pending);
    body_->nodes.push_back(result);
    return static_cast<int32_t>(body_->nodes.size()) - 1;
}

void BodyFlattener::bind(const std::vector<Axis>& axes, uint64_t kind, bool by_position) {
    uint64_t position = 0;
    for (const Axis& axis : axes) {
        ++position;
        if (axis.extent() == 1) {
            scope_.push_back({axis.iterator.get(), -1, axis.lo});
            continue;
        }
        auto local = static_cast<int32_t>(body_->iterators.size());
        uint64_t color = combine(kind, static_cast<uint64_t>(axis.extent()));
        if (by_position) color = combine(color, position);
        body_->iterators.push_back({color, axis.extent()});
        scope_.push_back({axis.iterator.get(), local, axis.lo});
    }
}

const BodyFlattener::Binding& BodyFlattener::binding_of(const IteratorNode* iterator) const {
    for (size_t i = scope_.size(); i-- > 0;)
        if (scope_[i].iterator == iterator) return scope_[i];
    CHECK(false, "iterator {} is not bound", iterator->name);
}

/// Appends the terms, times `factor`, to the pending edges and returns the constant.
int64_t BodyFlattener::linear(const IndexNode& index, int64_t factor) {
    int64_t constant = index.constant * factor;
    for (const Term& term : index.terms) {
        int64_t coefficient = term.coefficient * factor;
        const AtomNode& atom = *term.atom;
        if (atom.kind == AtomKind::Iterator) {
            const Binding& binding = binding_of(atom.iterator.get());
            constant += coefficient * binding.lo;
            if (binding.local >= 0) pending_.push_back({~binding.local, coefficient});
        } else if (atom.kind == AtomKind::FloorDiv) {
            constant += quotient(atom, coefficient);
        } else {
            size_t first = pending_.size();
            Key key;
            if (atom.kind == AtomKind::Table) {
                Hasher hasher;
                hasher.add(uint64_t{TagTable});
                for (int64_t value : atom.table) hasher.add(static_cast<uint64_t>(value));
                key = hasher.key();
                pending_.push_back({this->index(*atom.a, 0, 1), 0});
            } else {
                key = label(atom.kind == AtomKind::Min ? TagMin : TagMax);
                int32_t a = this->index(*atom.a, 0, 1);
                int32_t b = this->index(*atom.b, 0, 1);
                pending_.push_back({a, 0});
                pending_.push_back({b, 0});
            }
            int32_t result = node(key, first);
            pending_.push_back({result, coefficient});
        }
    }
    return constant;
}

/// factor * (numerator div k): appends at most one term, returns the constant part.
int64_t BodyFlattener::quotient(const AtomNode& atom, int64_t factor) {
    size_t first = pending_.size();
    int64_t constant = linear(*atom.a, 1);
    int64_t whole = floor_quotient(constant, atom.divisor);
    if (pending_.size() == first) return factor * whole;
    int64_t rest = constant - whole * atom.divisor;
    int64_t common = atom.divisor;
    for (size_t i = first; i < pending_.size(); ++i) common = std::gcd(common, pending_[i].role);
    for (size_t i = first; i < pending_.size(); ++i) pending_[i].role /= common;
    Hasher hasher;
    hasher.add(uint64_t{TagFloorDiv}).add(static_cast<uint64_t>(atom.divisor / common));
    hasher.add(static_cast<uint64_t>(floor_quotient(rest, common)));
    if (common == atom.divisor) {
        for (size_t i = first; i < pending_.size(); ++i) pending_[i].role *= factor;
        return factor * whole;
    }
    int32_t result = node(hasher.key(), first);
    pending_.push_back({result, factor});
    return factor * whole;
}

/// sign * (index - shift)
int32_t BodyFlattener::index(const IndexNode& index, int64_t shift, int64_t sign) {
    size_t first = pending_.size();
    int64_t constant = linear(index, sign) - sign * shift;
    if (constant == 0 && pending_.size() == first + 1 && pending_.back().role == 1 &&
        pending_.back().target < 0) {
        int32_t iterator = pending_.back().target;
        pending_.pop_back();
        return iterator;
    }
    return node(label(TagIndex, static_cast<uint64_t>(constant)), first);
}

int32_t BodyFlattener::predicate(const PredicateNode& p) {
    size_t first = pending_.size();
    if (p.index) {
        // e == 0 is -e == 0: both, without order.
        int32_t positive = index(*p.index, 0, 1);
        pending_.push_back({positive, 0});
        if (p.kind == PredicateKind::Zero) {
            int32_t negative = index(*p.index, 0, -1);
            pending_.push_back({negative, 0});
        }
    }
    for (Predicate operand : p.operands) {
        int32_t result = predicate(*operand);
        pending_.push_back({result, 0});
    }
    return node(label(TagPredicate, static_cast<uint64_t>(p.kind)), first);
}

int32_t BodyFlattener::scalar(const ScalarNode& s) {
    size_t first = pending_.size();
    switch (s.kind) {
        case ScalarKind::Constant:
            return node(label(TagConstant, bits(s.constant)), first);
        case ScalarKind::Read:
            return read(s);
        case ScalarKind::Number: {
            int32_t operand = index(*s.indices.front(), 0, 1);
            pending_.push_back({operand, 0});
            return node(label(TagNumber), first);
        }
        case ScalarKind::Add:
            return connective(s, label(TagAdd));
        case ScalarKind::Mul:
            return connective(s, label(TagMul));
        case ScalarKind::Function:
            return function(s);
        case ScalarKind::Select: {
            bool is_negated = s.predicate->kind == PredicateKind::Not;
            const PredicateNode& p = is_negated ? *s.predicate->operands.front() : *s.predicate;
            int32_t condition = predicate(p);
            int32_t then = scalar(*s.operands[is_negated ? 1 : 0]);
            int32_t otherwise = scalar(*s.operands[is_negated ? 0 : 1]);
            pending_.push_back({condition, 0});
            pending_.push_back({then, 1});
            pending_.push_back({otherwise, 2});
            return node(label(TagSelect), first);
        }
        case ScalarKind::Reduce:
            return reduction(s);
        case ScalarKind::Cast: {
            int32_t operand = scalar(*s.operands.front());
            pending_.push_back({operand, 0});
            return node(label(TagCast, static_cast<uint64_t>(s.type)), first);
        }
    }
    CHECK(false);
}

int32_t BodyFlattener::read(const ScalarNode& s) {
    size_t first = pending_.size();
    const CanonicalTensor& source = tensors_->at(s.tensor);
    bool is_definition = s.tensor->is_definition();
    int64_t position = 0;
    for (size_t d = 0; d < s.indices.size(); ++d) {
        const Axis& axis = s.tensor->axes[d];
        if (axis.extent() == 1 && !s.has_outside) continue;
        int32_t operand = index(*s.indices[d], axis.lo, 1);
        if (axis.extent() != 1) {
            int64_t role = is_definition ? source.positions[position++] : static_cast<int64_t>(d);
            pending_.push_back({operand, role});
        } else if (operand < 0 || body_->nodes[operand].edge_count > 0 ||
                   body_->nodes[operand].label != label(TagIndex, 0)) {
            pending_.push_back({operand, unit_role});
        }
    }
    Hasher hasher;
    hasher.add(uint64_t{TagRead}).add(source.key);
    if (s.has_outside) hasher.add(bits(s.constant));
    int32_t result = node(hasher.key(), first);
    body_->nodes[result].tensor = s.tensor;
    if (is_definition) body_->nodes[result].source = &source;
    return result;
}

bool BodyFlattener::binds_nothing(const ScalarNode& s) const {
    for (const Axis& axis : s.axes)
        if (axis.extent() != 1) return false;
    return true;
}

int32_t BodyFlattener::reduction(const ScalarNode& s) {
    size_t first = pending_.size();
    size_t scope = scope_.size();
    uint32_t depth = depth_;
    auto first_iterator = static_cast<uint32_t>(body_->iterators.size());
    const ScalarNode* inner = &s;
    while (inner->kind == ScalarKind::Reduce &&
           (inner->monoid == s.monoid || binds_nothing(*inner))) {
        bind(inner->axes, combine(TagReduce, static_cast<uint64_t>(s.monoid)), false);
        inner = inner->operands.front().get();
    }
    auto bound = static_cast<uint32_t>(body_->iterators.size()) - first_iterator;
    depth_ += bound;
    int32_t result = scalar(*inner);
    if (bound > 0) {
        pending_.push_back({result, 0});
        result = node(label(TagReduce, static_cast<uint64_t>(s.monoid)), first);
        FlatNode& binder = body_->nodes[result];
        binder.first_iterator = first_iterator;
        binder.iterator_count = bound;
        binder.depth = depth;
    }
    depth_ = depth;
    scope_.resize(scope);
    return result;
}

int32_t BodyFlattener::function(const ScalarNode& s) {
    Key key = label(TagFunction, static_cast<uint64_t>(s.function));
    if (is_connective(s.function)) return connective(s, key);
    size_t first = pending_.size();
    bool is_symmetric = s.function == Function::Equal;
    for (size_t i = 0; i < s.operands.size(); ++i) {
        int32_t operand = scalar(*s.operands[i]);
        pending_.push_back({operand, is_symmetric ? 0 : static_cast<int64_t>(i)});
    }
    return node(key, first);
}

int32_t BodyFlattener::connective(const ScalarNode& s, const Key& key) {
    size_t first = pending_.size();
    append_operands(s, s);
    return node(key, first);
}

void BodyFlattener::append_operands(const ScalarNode& s, const ScalarNode& like) {
    if (is_same_operator(s, like)) {
        for (Scalar operand : s.operands) append_operands(*operand, like);
    } else if (s.kind == ScalarKind::Reduce && binds_nothing(s)) {
        size_t scope = scope_.size();
        bind(s.axes, 0, false);
        append_operands(*s.operands.front(), like);
        scope_.resize(scope);
    } else {
        int32_t result = scalar(s);
        pending_.push_back({result, 0});
    }
}

}  // namespace ollie::expr
