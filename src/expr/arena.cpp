#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "expr/build.h"
#include "expr/node.h"

namespace ollie::expr {
namespace {

uint64_t bits(double value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof(word));
    return word;
}

uint64_t hash_of(const AtomNode& n) {
    uint64_t h = combine(static_cast<uint64_t>(n.kind), static_cast<uint64_t>(n.divisor));
    h = combine(h, n.iterator ? n.iterator->id : ~0u);
    h = combine(h, n.a ? n.a->id : ~0u);
    h = combine(h, n.b ? n.b->id : ~0u);
    for (int64_t value : n.table) h = combine(h, static_cast<uint64_t>(value));
    return h;
}
bool same(const AtomNode& x, const AtomNode& y) {
    return x.kind == y.kind && x.iterator == y.iterator && x.a == y.a && x.b == y.b &&
           x.divisor == y.divisor && x.table == y.table;
}

uint64_t hash_of(const IndexNode& n) {
    uint64_t h = mix(static_cast<uint64_t>(n.constant));
    for (const Term& term : n.terms)
        h = combine(combine(h, static_cast<uint64_t>(term.coefficient)), term.atom->id);
    return h;
}
bool same(const IndexNode& x, const IndexNode& y) {
    return x.constant == y.constant && x.terms == y.terms;
}

uint64_t hash_of(const PredicateNode& n) {
    uint64_t h = combine(static_cast<uint64_t>(n.kind), n.index ? n.index->id : ~0u);
    for (Predicate p : n.operands) h = combine(h, p->id);
    return h;
}
bool same(const PredicateNode& x, const PredicateNode& y) {
    return x.kind == y.kind && x.index == y.index && x.operands == y.operands;
}

uint64_t hash_of(const ScalarNode& n) {
    uint64_t h = combine(static_cast<uint64_t>(n.kind), static_cast<uint64_t>(n.type));
    h = combine(h, static_cast<uint64_t>(n.function) << 8 | static_cast<uint64_t>(n.monoid));
    h = combine(h, bits(n.constant) + (n.has_outside ? 1 : 0));
    h = combine(h, n.tensor ? n.tensor->id : ~0u);
    h = combine(h, n.predicate ? n.predicate->id : ~0u);
    for (Index i : n.indices) h = combine(h, i->id);
    for (const Axis& a : n.axes)
        h = combine(combine(combine(h, a.iterator->id), static_cast<uint64_t>(a.lo)),
                    static_cast<uint64_t>(a.hi));
    for (Scalar s : n.operands) h = combine(h, s->id);
    return h;
}
bool same(const Axis& x, const Axis& y) {
    return x.iterator == y.iterator && x.lo == y.lo && x.hi == y.hi;
}
bool same(const ScalarNode& x, const ScalarNode& y) {
    return x.kind == y.kind && x.type == y.type && x.function == y.function &&
           x.monoid == y.monoid && x.has_outside == y.has_outside &&
           bits(x.constant) == bits(y.constant) && x.tensor == y.tensor &&
           x.predicate == y.predicate && x.indices == y.indices && x.operands == y.operands &&
           std::equal(x.axes.begin(), x.axes.end(), y.axes.begin(), y.axes.end(),
                      [](const Axis& a, const Axis& b) { return same(a, b); });
}

int64_t heap_bytes(const AtomNode& n) { return 8 * static_cast<int64_t>(n.table.size()); }
int64_t heap_bytes(const IndexNode& n) { return 16 * static_cast<int64_t>(n.terms.size()); }
int64_t heap_bytes(const PredicateNode& n) { return 8 * static_cast<int64_t>(n.operands.size()); }
int64_t heap_bytes(const ScalarNode& n) {
    return 8 * static_cast<int64_t>(n.indices.size() + n.operands.size() + 3 * n.axes.size());
}

/// Stores each distinct node once.
template <typename Node>
class Interner {
public:
    const Node* intern(Node candidate, int64_t& bytes) {
        auto found = nodes_.find(&candidate);
        if (found != nodes_.end()) return *found;
        candidate.id = static_cast<uint32_t>(storage_.size());
        storage_.push_back(std::move(candidate));
        const Node* node = &storage_.back();
        nodes_.insert(node);
        bytes += static_cast<int64_t>(sizeof(Node)) + 16 + heap_bytes(*node);
        return node;
    }

private:
    struct Hash {
        size_t operator()(const Node* node) const { return hash_of(*node); }
    };
    struct Same {
        bool operator()(const Node* x, const Node* y) const { return same(*x, *y); }
    };
    std::deque<Node> storage_;
    std::unordered_set<const Node*, Hash, Same> nodes_;
};

}  // namespace

struct Arena::Impl {
    std::deque<IteratorNode> iterators;
    Interner<AtomNode> atoms;
    Interner<IndexNode> indices;
    Interner<PredicateNode> predicates;
    Interner<ScalarNode> scalars;
    std::deque<Tensor> tensors;
    int64_t bytes = 0;

    Atom atom(Arena* arena, AtomKind kind, Index a, Index b, int64_t divisor,
              std::vector<int64_t> table = {}) {
        AtomNode node{0, arena, kind, {}, a, b, divisor, std::move(table)};
        return Atom(atoms.intern(std::move(node), bytes));
    }
    Scalar scalar(ScalarNode node) { return Scalar(scalars.intern(std::move(node), bytes)); }
};

Arena::Arena() : impl_(std::make_unique<Impl>()) {}
Arena::~Arena() = default;

Iterator Arena::iterator(std::string name) {
    impl_->iterators.push_back(
        {static_cast<uint32_t>(impl_->iterators.size()), this, std::move(name)});
    impl_->bytes += sizeof(IteratorNode);
    return Iterator(&impl_->iterators.back());
}

Index Arena::constant(int64_t value) { return linear(value, {}); }

Index Arena::index(Iterator iterator) {
    AtomNode node{0, this, AtomKind::Iterator, iterator, {}, {}, 1, {}};
    return linear(0, {{1, Atom(impl_->atoms.intern(std::move(node), impl_->bytes))}});
}

Index Arena::linear(int64_t constant, std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& x, const Term& y) { return x.atom < y.atom; });
    std::vector<Term> merged;
    for (const Term& term : terms) {
        if (!merged.empty() && merged.back().atom == term.atom)
            merged.back().coefficient += term.coefficient;
        else
            merged.push_back(term);
    }
    std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
    return Index(impl_->indices.intern({0, this, constant, std::move(merged)}, impl_->bytes));
}

namespace {

int64_t floor_quotient(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// The terms whose coefficients are multiples of the divisor, divided; the others stay in `rest`.
std::vector<Term> pull_multiples(const std::vector<Term>& terms, int64_t divisor,
                                 std::vector<Term>& rest) {
    std::vector<Term> pulled;
    for (const Term& term : terms) {
        if (term.coefficient % divisor == 0)
            pulled.push_back({term.coefficient / divisor, term.atom});
        else
            rest.push_back(term);
    }
    return pulled;
}

}  // namespace

Index Arena::floor_div(Index e, int64_t k) {
    CHECK(k > 0, "divisor {}", k);
    if (k == 1) return e;
    std::vector<Term> rest;
    std::vector<Term> pulled = pull_multiples(e->terms, k, rest);
    int64_t whole = floor_quotient(e->constant, k);
    int64_t offset = e->constant - whole * k;
    if (rest.empty()) return linear(whole, std::move(pulled));

    int64_t common = k;
    for (const Term& term : rest) common = std::gcd(common, term.coefficient);
    for (Term& term : rest) term.coefficient /= common;
    offset = floor_quotient(offset, common);
    int64_t divisor = k / common;
    Index numerator = linear(offset, rest);
    const Term& first = numerator->terms.front();
    if (numerator->terms.size() == 1 && first.coefficient == 1 &&
        first.atom->kind == AtomKind::FloorDiv) {
        int64_t inner = first.atom->divisor;
        Index collapsed = floor_div(first.atom->a + offset * inner, divisor * inner);
        return linear(whole, std::move(pulled)) + collapsed;
    }
    pulled.push_back({1, impl_->atom(this, AtomKind::FloorDiv, numerator, {}, divisor)});
    return linear(whole, std::move(pulled));
}

Index Arena::min(Index a, Index b) {
    if (a == b) return a;
    Index difference = a - b;
    if (is_constant(difference)) return difference->constant < 0 ? a : b;
    if (b < a) std::swap(a, b);
    return linear(0, {{1, impl_->atom(this, AtomKind::Min, a, b, 1)}});
}

Index Arena::max(Index a, Index b) {
    if (a == b) return a;
    Index difference = a - b;
    if (is_constant(difference)) return difference->constant > 0 ? a : b;
    if (b < a) std::swap(a, b);
    return linear(0, {{1, impl_->atom(this, AtomKind::Max, a, b, 1)}});
}

Index Arena::table(std::vector<int64_t> values, Index position) {
    if (is_constant(position)) {
        int64_t at = position->constant;
        CHECK(at >= 0 && at < static_cast<int64_t>(values.size()), "table position {}", at);
        return constant(values[at]);
    }
    return linear(0, {{1, impl_->atom(this, AtomKind::Table, position, {}, 1, std::move(values))}});
}

Predicate Arena::truth(bool value) {
    PredicateNode node{0, this, value ? PredicateKind::True : PredicateKind::False, {}, {}};
    return Predicate(impl_->predicates.intern(std::move(node), impl_->bytes));
}

Predicate Arena::non_negative(Index index) {
    if (is_constant(index)) return truth(index->constant >= 0);
    int64_t common = 0;
    for (const Term& term : index->terms) common = std::gcd(common, term.coefficient);
    if (common > 1) {
        std::vector<Term> terms = index->terms;
        for (Term& term : terms) term.coefficient /= common;
        index = linear(floor_quotient(index->constant, common), std::move(terms));
    }
    PredicateNode node{0, this, PredicateKind::NonNegative, index, {}};
    return Predicate(impl_->predicates.intern(std::move(node), impl_->bytes));
}

Predicate Arena::zero(Index index) {
    if (is_constant(index)) return truth(index->constant == 0);
    if (index->terms.front().coefficient < 0) index = -index;
    PredicateNode node{0, this, PredicateKind::Zero, index, {}};
    return Predicate(impl_->predicates.intern(std::move(node), impl_->bytes));
}

namespace {

/// Operands of an associative and idempotent connective: flat, without repetition, in order of
/// first appearance. Empty where `absorbing` occurs.
std::vector<Predicate> connective(const std::vector<Predicate>& operands, PredicateKind kind,
                                  PredicateKind neutral, PredicateKind absorbing, bool& absorbed) {
    std::vector<Predicate> flat;
    auto append = [&](Predicate p) {
        if (p->kind == absorbing) absorbed = true;
        if (p->kind == neutral || p->kind == absorbing) return;
        if (std::find(flat.begin(), flat.end(), p) == flat.end()) flat.push_back(p);
    };
    for (Predicate p : operands) {
        if (p->kind == kind)
            for (Predicate inner : p->operands) append(inner);
        else
            append(p);
    }
    return flat;
}

}  // namespace

Predicate Arena::conjunction(std::vector<Predicate> operands) {
    bool absorbed = false;
    auto flat = connective(operands, PredicateKind::And, PredicateKind::True, PredicateKind::False,
                           absorbed);
    if (absorbed) return truth(false);
    if (flat.empty()) return truth(true);
    if (flat.size() == 1) return flat.front();
    PredicateNode node{0, this, PredicateKind::And, {}, std::move(flat)};
    return Predicate(impl_->predicates.intern(std::move(node), impl_->bytes));
}

Predicate Arena::disjunction(std::vector<Predicate> operands) {
    bool absorbed = false;
    auto flat = connective(operands, PredicateKind::Or, PredicateKind::False, PredicateKind::True,
                           absorbed);
    if (absorbed) return truth(true);
    if (flat.empty()) return truth(false);
    if (flat.size() == 1) return flat.front();
    PredicateNode node{0, this, PredicateKind::Or, {}, std::move(flat)};
    return Predicate(impl_->predicates.intern(std::move(node), impl_->bytes));
}

Predicate Arena::negation(Predicate p) {
    switch (p->kind) {
        case PredicateKind::True:
            return truth(false);
        case PredicateKind::False:
            return truth(true);
        case PredicateKind::Not:
            return p->operands.front();
        case PredicateKind::NonNegative:
            return non_negative(-p->index - 1);
        default:
            break;
    }
    PredicateNode node{0, this, PredicateKind::Not, {}, {p}};
    return Predicate(impl_->predicates.intern(std::move(node), impl_->bytes));
}

Scalar Arena::constant_scalar(double value) {
    ScalarNode node{0, this, ScalarKind::Constant};
    node.constant = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
    return impl_->scalar(std::move(node));
}

Scalar Arena::read(const Tensor* tensor, std::vector<Index> indices,
                   std::optional<double> outside) {
    CHECK(indices.size() == tensor->rank(), "{} has rank {}, read with {} indices", tensor->name,
          tensor->rank(), indices.size());
    ScalarNode node{0, this, ScalarKind::Read};
    node.tensor = tensor;
    node.indices = std::move(indices);
    node.has_outside = outside.has_value();
    node.constant = outside.value_or(0);
    return impl_->scalar(std::move(node));
}

Scalar Arena::number(Index index) {
    if (is_constant(index)) return constant_scalar(static_cast<double>(index->constant));
    ScalarNode node{0, this, ScalarKind::Number};
    node.indices = {index};
    return impl_->scalar(std::move(node));
}

namespace {

std::vector<Scalar> flatten(const std::vector<Scalar>& operands, ScalarKind kind, double neutral) {
    std::vector<Scalar> flat;
    auto append = [&](Scalar s) {
        if (s->kind != ScalarKind::Constant || s->constant != neutral) flat.push_back(s);
    };
    for (Scalar s : operands) {
        if (s->kind == kind)
            for (Scalar inner : s->operands) append(inner);
        else
            append(s);
    }
    return flat;
}

}  // namespace

Scalar Arena::add(std::vector<Scalar> operands) {
    std::vector<Scalar> flat = flatten(operands, ScalarKind::Add, 0);
    if (flat.empty()) return constant_scalar(0);
    if (flat.size() == 1) return flat.front();
    ScalarNode node{0, this, ScalarKind::Add};
    node.operands = std::move(flat);
    return impl_->scalar(std::move(node));
}

Scalar Arena::mul(std::vector<Scalar> operands) {
    std::vector<Scalar> flat = flatten(operands, ScalarKind::Mul, 1);
    if (flat.empty()) return constant_scalar(1);
    if (flat.size() == 1) return flat.front();
    ScalarNode node{0, this, ScalarKind::Mul};
    node.operands = std::move(flat);
    return impl_->scalar(std::move(node));
}

Scalar Arena::function(Function function, std::vector<Scalar> operands) {
    ScalarNode node{0, this, ScalarKind::Function};
    node.function = function;
    node.operands = std::move(operands);
    return impl_->scalar(std::move(node));
}

Scalar Arena::select(Predicate predicate, Scalar then, Scalar otherwise) {
    if (predicate->kind == PredicateKind::True) return then;
    if (predicate->kind == PredicateKind::False) return otherwise;
    if (then == otherwise) return then;
    ScalarNode node{0, this, ScalarKind::Select};
    node.predicate = predicate;
    node.operands = {then, otherwise};
    return impl_->scalar(std::move(node));
}

Scalar Arena::reduce(Monoid monoid, std::vector<Axis> axes, Scalar body) {
    if (axes.empty()) return body;
    ScalarNode node{0, this, ScalarKind::Reduce};
    node.monoid = monoid;
    node.axes = std::move(axes);
    node.operands = {body};
    return impl_->scalar(std::move(node));
}

Scalar Arena::cast(ElementType type, Scalar operand) {
    ScalarNode node{0, this, ScalarKind::Cast};
    node.type = type;
    node.operands = {operand};
    return impl_->scalar(std::move(node));
}

const Tensor* Arena::input(std::string name, ElementType type, const Shape& shape) {
    std::vector<Axis> axes;
    for (int64_t extent : shape) axes.push_back({iterator("i"), 0, extent});
    impl_->tensors.push_back({static_cast<uint32_t>(impl_->tensors.size()),
                              this,
                              TensorKind::Input,
                              std::move(name),
                              type,
                              std::move(axes),
                              {},
                              nullptr,
                              false,
                              {}});
    impl_->bytes += sizeof(Tensor);
    return &impl_->tensors.back();
}

const Tensor* Arena::weight(std::string name, ElementType type, const Shape& shape,
                            std::shared_ptr<const HostArray> values) {
    Tensor& tensor = const_cast<Tensor&>(*input(std::move(name), type, shape));
    tensor.kind = TensorKind::Weight;
    tensor.values = std::move(values);
    return &tensor;
}

const Tensor* Arena::define(std::string name, ElementType type, std::vector<Axis> axes, Scalar body,
                            Origin origin, bool pinned) {
    impl_->tensors.push_back({static_cast<uint32_t>(impl_->tensors.size()), this,
                              TensorKind::Definition, std::move(name), type, std::move(axes), body,
                              nullptr, pinned, std::move(origin)});
    impl_->bytes += static_cast<int64_t>(sizeof(Tensor)) + 64;
    return &impl_->tensors.back();
}

int64_t Arena::bytes() const { return impl_->bytes; }

Origin merge(const Origin& x, const Origin& y) {
    Origin result;
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(result));
    return result;
}

Shape Tensor::shape() const {
    Shape result;
    for (const Axis& axis : axes) result.push_back(axis.extent());
    return result;
}

}  // namespace ollie::expr
