#include "expr/evaluation/interpreter.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "expr/evaluation/functions.h"
#include "expr/visit.h"

namespace ollie::expr::evaluation {
namespace {

constexpr int64_t page_size = 1024;
constexpr int deepest = 10000;

int64_t floor_quotient(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

}  // namespace

template <typename Real>
struct Interpreter<Real>::Page {
    std::array<bool, page_size> is_there{};
    std::array<Value, page_size> values;
};

template <typename Real>
struct Interpreter<Real>::Store {
    std::vector<int64_t> strides;
    Elements<Real> elements;                   ///< Of an input or weight.
    std::vector<std::unique_ptr<Page>> pages;  ///< Of a definition.
};

template <typename Real>
Interpreter<Real>::Interpreter(const Expr& expr, const Bindings& bindings) {
    for (const Tensor* tensor : tensors_of(expr)) add_store(tensor, bindings);
}

template <typename Real>
Interpreter<Real>::~Interpreter() = default;

template <typename Real>
void Interpreter<Real>::add_store(const Tensor* tensor, const Bindings& bindings) {
    auto store = std::make_unique<Store>();
    store->strides = dense_strides(tensor->shape());
    if (tensor->is_definition()) {
        int64_t pages = (element_count(tensor->shape()) + page_size - 1) / page_size;
        store->pages.resize(static_cast<size_t>(pages));
    } else {
        store->elements = elements_of<Real>(bound_array(tensor, bindings));
    }
    stores_[tensor] = std::move(store);
}

template <typename Real>
typename Interpreter<Real>::Store& Interpreter<Real>::store_of(const Tensor* tensor) {
    auto found = stores_.find(tensor);
    CHECK(found != stores_.end(), "{} is no part of the expression", tensor->name);
    return *found->second;
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::at(const Tensor* tensor,
                                                        const std::vector<int64_t>& point) {
    CHECK(point.size() == tensor->rank());
    const Store& store = store_of(tensor);
    int64_t offset = 0;
    for (size_t i = 0; i < point.size(); ++i) {
        const Axis& axis = tensor->axes[i];
        CHECK(point[i] >= axis.lo && point[i] < axis.hi, "{} at {} on axis {}", tensor->name,
              point[i], i);
        offset += (point[i] - axis.lo) * store.strides[i];
    }
    return element({tensor, offset});
}

/// Evaluates what is missing first, from a stack of its own: chains of definitions may be long.
template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::element(const Place& wanted) {
    depth_ = 0;
    std::vector<Place> open{wanted};
    while (!open.empty()) {
        Place place = open.back();
        if (find(place.tensor, place.offset)) {
            open.pop_back();
            continue;
        }
        enter(place);
        missing_.clear();
        Value result = value(place.tensor->body);
        if (missing_.empty()) {
            keep(place, result);
            open.pop_back();
        }
        open.insert(open.end(), missing_.rbegin(), missing_.rend());
    }
    return *find(wanted.tensor, wanted.offset);
}

template <typename Real>
std::optional<typename Interpreter<Real>::Value> Interpreter<Real>::find(const Tensor* tensor,
                                                                         int64_t offset) {
    const Store& store = store_of(tensor);
    if (!tensor->is_definition()) {
        Value value{store.elements.domain};
        auto at = static_cast<size_t>(offset);
        if (value.domain == Domain::Real)
            value.real = store.elements.reals[at];
        else
            value.integer = store.elements.integers[at];
        return value;
    }
    const auto& page = store.pages[static_cast<size_t>(offset / page_size)];
    auto at = static_cast<size_t>(offset % page_size);
    if (!page || !page->is_there[at]) return std::nullopt;
    return page->values[at];
}

template <typename Real>
void Interpreter<Real>::keep(const Place& place, const Value& value) {
    ElementType type = place.tensor->type;
    Value kept{domain_of(type)};
    if (kept.domain == Domain::Real)
        kept.real = in_domain(value, Domain::Real).real;
    else
        kept.integer = value.domain == Domain::Real ? cast_to_integer(type, value.real)
                                                    : wrapped(type, value.integer);
    auto& page = store_of(place.tensor).pages[static_cast<size_t>(place.offset / page_size)];
    if (!page) page = std::make_unique<Page>();
    auto at = static_cast<size_t>(place.offset % page_size);
    page->values[at] = kept;
    page->is_there[at] = true;
}

template <typename Real>
void Interpreter<Real>::enter(const Place& place) {
    int64_t rest = place.offset;
    const Store& store = store_of(place.tensor);
    for (size_t i = 0; i < place.tensor->rank(); ++i) {
        const Axis& axis = place.tensor->axes[i];
        if (axis.iterator->id >= position_.size()) position_.resize(axis.iterator->id + 1);
        position_[axis.iterator->id] = axis.lo + rest / store.strides[i];
        rest %= store.strides[i];
    }
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::in_domain(Value value, Domain domain) const {
    if (value.domain == domain) return value;
    Value result{domain, 0, 0, value.is_known};
    if (domain == Domain::Real)
        result.real = static_cast<Real>(value.integer);
    else
        result.integer = to_integer(value.real);
    return result;
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::value(Scalar s) {
    CHECK(++depth_ <= deepest, "a body is nested more than {} deep", deepest);
    Value result;
    switch (s->kind) {
        case ScalarKind::Constant:
            result.real = static_cast<Real>(s->constant);
            break;
        case ScalarKind::Read:
            result = read(s);
            break;
        case ScalarKind::Number:
            result = {Domain::Integer, 0, index(s->indices.front())};
            break;
        case ScalarKind::Add:
        case ScalarKind::Mul:
            result = folded(s);
            break;
        case ScalarKind::Function:
            result = function(s);
            break;
        case ScalarKind::Select:
            result = value(s->operands[is_true(s->predicate) ? 0 : 1]);
            break;
        case ScalarKind::Reduce:
            result = reduce(s);
            break;
        case ScalarKind::Cast:
            result = cast(s);
            break;
    }
    --depth_;
    return in_domain(result, domains_.of(s));
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::read(Scalar s) {
    const std::vector<int64_t>& strides = store_of(s->tensor).strides;
    int64_t offset = 0;
    for (size_t i = 0; i < s->indices.size(); ++i) {
        const Axis& axis = s->tensor->axes[i];
        int64_t at = index(s->indices[i]);
        if (at < axis.lo || at >= axis.hi) {
            CHECK(s->has_outside, "{} is read at {} on axis {}", s->tensor->name, at, i);
            return in_domain({Domain::Real, static_cast<Real>(s->constant)},
                             domain_of(s->tensor->type));
        }
        offset += (at - axis.lo) * strides[i];
    }
    if (auto found = find(s->tensor, offset)) return *found;
    missing_.push_back({s->tensor, offset});
    return {domain_of(s->tensor->type), 0, 0, false};
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::folded(Scalar s) {
    Domain domain = domains_.of_operands(s);
    Monoid monoid = s->kind == ScalarKind::Add ? Monoid::Sum : Monoid::Prod;
    Value result = in_domain(value(s->operands.front()), domain);
    for (size_t i = 1; i < s->operands.size(); ++i) {
        Value operand = in_domain(value(s->operands[i]), domain);
        result.real = combine(monoid, result.real, operand.real);
        result.integer = combine(monoid, result.integer, operand.integer);
        result.is_known = result.is_known && operand.is_known;
    }
    return result;
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::function(Scalar s) {
    if (s->function == Function::Where) {
        Value condition = value(s->operands[0]);
        if (!condition.is_known) return {domains_.of(s), 0, 0, false};
        bool holds =
            condition.domain == Domain::Real ? condition.real != 0 : condition.integer != 0;
        return value(s->operands[holds ? 1 : 2]);
    }
    Domain domain = domains_.of_operands(s);
    bool is_real = domain == Domain::Real;
    Value x = in_domain(value(s->operands[0]), domain);
    Value result{is_test(s->function) ? Domain::Integer : domain, 0, 0, x.is_known};
    if (s->operands.size() == 1) {
        if (is_test(s->function))
            result.integer = is_real ? test(s->function, x.real) : test(s->function, x.integer);
        else if (is_real)
            result.real = apply(s->function, x.real);
        else
            result.integer = apply(s->function, x.integer);
        return result;
    }
    Value y = in_domain(value(s->operands[1]), domain);
    result.is_known = x.is_known && y.is_known;
    if (is_test(s->function))
        result.integer =
            is_real ? test(s->function, x.real, y.real) : test(s->function, x.integer, y.integer);
    else if (is_real)
        result.real = apply(s->function, x.real, y.real);
    else
        result.integer = apply(s->function, x.integer, y.integer);
    return result;
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::reduce(Scalar s) {
    Value result{domains_.of(s), identity_of<Real>(s->monoid), identity_of<int64_t>(s->monoid)};
    for (const Axis& axis : s->axes) {
        if (axis.extent() <= 0) return result;
        if (axis.iterator->id >= position_.size()) position_.resize(axis.iterator->id + 1);
        position_[axis.iterator->id] = axis.lo;
    }
    while (true) {
        Value operand = in_domain(value(s->operands.front()), result.domain);
        if (result.domain == Domain::Real)
            result.real = combine(s->monoid, result.real, operand.real);
        else
            result.integer = combine(s->monoid, result.integer, operand.integer);
        result.is_known = result.is_known && operand.is_known;
        size_t axis = s->axes.size();
        for (; axis > 0; --axis) {
            int64_t& at = position_[s->axes[axis - 1].iterator->id];
            if (++at < s->axes[axis - 1].hi) break;
            at = s->axes[axis - 1].lo;
        }
        if (axis == 0) return result;
    }
}

template <typename Real>
typename Interpreter<Real>::Value Interpreter<Real>::cast(Scalar s) {
    Value operand = value(s->operands.front());
    Value result{domain_of(s->type), 0, 0, operand.is_known};
    if (result.domain == Domain::Real)
        result.real = cast_to_float(s->type, in_domain(operand, Domain::Real).real);
    else
        result.integer = operand.domain == Domain::Real ? cast_to_integer(s->type, operand.real)
                                                        : wrapped(s->type, operand.integer);
    return result;
}

template <typename Real>
bool Interpreter<Real>::is_true(Predicate p) const {
    auto holds = [&](Predicate operand) { return is_true(operand); };
    switch (p->kind) {
        case PredicateKind::True:
            return true;
        case PredicateKind::False:
            return false;
        case PredicateKind::NonNegative:
            return index(p->index) >= 0;
        case PredicateKind::Zero:
            return index(p->index) == 0;
        case PredicateKind::And:
            return std::all_of(p->operands.begin(), p->operands.end(), holds);
        case PredicateKind::Or:
            return std::any_of(p->operands.begin(), p->operands.end(), holds);
        case PredicateKind::Not:
            return !is_true(p->operands.front());
    }
    CHECK(false);
}

template <typename Real>
int64_t Interpreter<Real>::index(Index index) const {
    int64_t result = index->constant;
    for (const Term& term : index->terms) result += term.coefficient * atom(*term.atom);
    return result;
}

template <typename Real>
int64_t Interpreter<Real>::atom(const AtomNode& node) const {
    switch (node.kind) {
        case AtomKind::Iterator:
            CHECK(node.iterator->id < position_.size());
            return position_[node.iterator->id];
        case AtomKind::FloorDiv:
            return floor_quotient(index(node.a), node.divisor);
        case AtomKind::Min:
            return std::min(index(node.a), index(node.b));
        case AtomKind::Max:
            return std::max(index(node.a), index(node.b));
        case AtomKind::Table: {
            int64_t at = index(node.a);
            CHECK(at >= 0 && at < static_cast<int64_t>(node.table.size()), "table position {}", at);
            return node.table[static_cast<size_t>(at)];
        }
    }
    CHECK(false);
}

template class Interpreter<double>;
template class Interpreter<float>;

}  // namespace ollie::expr::evaluation
