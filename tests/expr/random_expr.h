#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "expr/build.h"
#include "expr/evaluate.h"
#include "expr/node.h"
#include "expr/range.h"
#include "expr/visit.h"
#include "tensor/host_array.h"

/// Random valid expressions and inputs for them, the same for the same seed on every machine.
namespace ollie::expr::testing {

/// A deterministic stream of numbers.
class Random {
public:
    explicit Random(uint64_t seed) : state_(mix(seed)) {}
    uint64_t bits() { return state_ = mix(state_ + 1); }
    /// From [lo, hi].
    int64_t integer(int64_t lo, int64_t hi) {
        return lo + static_cast<int64_t>(bits() % static_cast<uint64_t>(hi - lo + 1));
    }
    bool chance(double probability) {
        return static_cast<double>(bits() >> 11) < probability * 9007199254740992.0;
    }
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from[static_cast<size_t>(integer(0, static_cast<int64_t>(from.size()) - 1))];
    }

private:
    uint64_t state_;
};

struct RandomOptions {
    int sources = 3;
    int definitions = 4;
    int depth = 4;                  ///< Of the scalar of one body.
    int64_t rank = 3;               ///< At most.
    int64_t extent = 6;             ///< At most, of traversal axes; of reductions half of it.
    bool empty_ranges = false;      ///< Extents of 0 now and then.
    bool integers = false;          ///< Definitions and inputs of integer and bool types, casts.
    bool functions = true;          ///< Beside + and *.
    bool rough_functions = false;   ///< log, sqrt, pow, 1 / x, ...: may give inf and NaN.
    bool branches = true;           ///< max, min, select on data, comparisons.
    bool selects = true;            ///< By position.
    bool outside = true;            ///< Reads that may be outside.
    bool infinite_outside = false;  ///< Outside values of -inf.
    bool quotients = true;          ///< div, mod, min, max and tables in indices.
    bool other_monoids = true;      ///< Beside sum.
    bool numbers = true;            ///< Indices as values.
    bool pins = false;
};

/// Makes one Expr. All definitions that no other reads are outputs.
class ExprGenerator {
public:
    ExprGenerator(uint64_t seed, const RandomOptions& options)
        : random_(seed), options_(options), arena_(std::make_shared<Arena>()) {}

    Expr make() {
        for (int i = 0; i < options_.sources; ++i) tensors_.push_back(source(i));
        std::vector<const Tensor*> defined;
        for (int i = 0; i < options_.definitions; ++i) {
            defined.push_back(definition(i));
            tensors_.push_back(defined.back());
        }
        Expr expr{arena_, {}};
        for (const Tensor* tensor : defined)
            if (!used_.contains(tensor)) expr.outputs.push_back(tensor);
        return expr;
    }

private:
    int64_t extent(int64_t most) {
        if (options_.empty_ranges && random_.chance(0.03)) return 0;
        return random_.integer(1, std::max<int64_t>(1, most));
    }

    ElementType type() {
        if (!options_.integers || random_.chance(0.4)) return ElementType::F32;
        return random_.pick<ElementType>({ElementType::I8, ElementType::U8, ElementType::I32,
                                          ElementType::I64, ElementType::Bool, ElementType::F64});
    }

    const Tensor* source(int number) {
        Shape shape;
        for (int64_t rank = random_.integer(0, options_.rank); rank > 0; --rank)
            shape.push_back(extent(options_.extent));
        if (random_.chance(0.5)) return arena_->input("A" + std::to_string(number), type(), shape);
        return arena_->weight("W" + std::to_string(number), type(), shape);
    }

    std::vector<Axis> axes(const std::vector<std::string>& names, int64_t most) {
        std::vector<Axis> result;
        for (const std::string& name : names) {
            int64_t lo = random_.chance(0.2) ? random_.integer(-3, 3) : 0;
            result.push_back({arena_->iterator(name), lo, lo + extent(most)});
        }
        return result;
    }

    const Tensor* definition(int number) {
        static const std::vector<std::string> names{"i", "j", "k", "l", "m"};
        auto rank = random_.integer(0, options_.rank);
        scope_ = axes({names.begin(), names.begin() + rank}, options_.extent);
        std::vector<Axis> traversal = scope_;
        reduced_ = 1;
        Scalar body = scalar(options_.depth);
        Origin origin;
        if (random_.chance(0.3)) origin.push_back("node" + std::to_string(number));
        bool pinned = options_.pins && random_.chance(0.3);
        return arena_->define("T" + std::to_string(number), type(), traversal, body, origin,
                              pinned);
    }

    Scalar scalar(int depth) {
        if (depth <= 0) return leaf();
        switch (random_.integer(0, 11)) {
            case 0:
                return scalar(depth - 1) + scalar(depth - 1);
            case 1:
                return scalar(depth - 1) - scalar(depth - 2);
            case 2:
                return scalar(depth - 1) * scalar(depth - 1);
            case 3:
                return scalar(depth - 1) * constant() + scalar(depth - 2);
            case 4:
            case 5:
            case 6:
                return reduction(depth);
            case 7:
                return options_.selects ? select(depth) : scalar(depth - 1);
            case 8:
                return options_.branches ? branch(depth) : scalar(depth - 1);
            case 9:
                return options_.functions ? function(depth) : scalar(depth - 1);
            case 10:
                return options_.integers ? arena_->cast(type(), scalar(depth - 1))
                                         : scalar(depth - 1);
            default:
                return leaf();
        }
    }

    Scalar constant() {
        static const std::vector<double> values{0.5, -1, 2, 3, -0.25, 1.5};
        return arena_->constant_scalar(random_.pick(values));
    }

    Scalar leaf() {
        if (options_.numbers && random_.chance(0.08)) return arena_->number(index());
        return random_.chance(0.1) ? constant() : read();
    }

    Scalar function(int depth) {
        static const std::vector<Function> smooth{Function::Tanh, Function::Sigmoid, Function::Sin,
                                                  Function::Erf};
        static const std::vector<Function> rough{
            Function::Exp,      Function::Log,      Function::Sqrt,    Function::Reciprocal,
            Function::Floor,    Function::Ceil,     Function::Sign,    Function::Round,
            Function::IsNan,    Function::Not,      Function::Pow,     Function::FloorMod,
            Function::TruncMod, Function::TruncDiv, Function::Softplus};
        bool is_rough = options_.rough_functions && random_.chance(0.5);
        Function chosen = random_.pick(is_rough ? rough : smooth);
        bool is_binary = chosen == Function::Pow || chosen == Function::FloorMod ||
                         chosen == Function::TruncMod || chosen == Function::TruncDiv;
        std::vector<Scalar> operands{scalar(depth - 1)};
        if (is_binary) operands.push_back(scalar(depth - 2));
        return arena_->function(chosen, operands);
    }

    Scalar branch(int depth) {
        static const std::vector<Function> binary{
            Function::Max,   Function::Max, Function::Min, Function::Less, Function::LessEqual,
            Function::Equal, Function::And, Function::Or,  Function::Xor};
        if (random_.chance(0.2)) return relu(scalar(depth - 1));
        if (random_.chance(0.1)) return arena_->function(Function::Abs, {scalar(depth - 1)});
        if (random_.chance(0.25))
            return arena_->function(Function::Where,
                                    {arena_->function(Function::Less, {read(), constant()}),
                                     scalar(depth - 1), scalar(depth - 1)});
        return arena_->function(random_.pick(binary), {scalar(depth - 1), scalar(depth - 1)});
    }

    Predicate predicate(int depth) {
        Index e = index();
        Ranges ranges(scope_);
        Interval interval = interval_of(e, ranges);
        if (interval.lo > interval.hi) interval = {0, 0};
        int64_t bound = random_.integer(interval.lo, interval.hi);
        if (depth > 0 && random_.chance(0.3)) {
            Predicate a = predicate(depth - 1);
            Predicate b = predicate(depth - 1);
            return random_.chance(0.6) ? a && b : a || !b;
        }
        if (random_.chance(0.3)) return mod(e, random_.integer(2, 3)) == 0;
        if (random_.chance(0.2)) return e == bound;
        return random_.chance(0.5) ? e >= bound : e < bound;
    }

    Scalar select(int depth) {
        if (random_.chance(0.3) && !tensors_.empty()) return guarded_read();
        return arena_->select(predicate(1), scalar(depth - 1), scalar(depth - 2));
    }

    /// A read without outside value under the predicate that keeps it inside.
    Scalar guarded_read() {
        const Tensor* tensor = random_.pick(tensors_);
        std::vector<Index> indices;
        Predicate inside = arena_->truth(true);
        for (const Axis& axis : tensor->axes) {
            indices.push_back(index());
            inside = inside && in_range(indices.back(), axis.lo, axis.hi);
        }
        if (inside->kind != PredicateKind::False) used_.insert(tensor);
        return arena_->select(inside, arena_->read(tensor, indices), constant());
    }

    Scalar reduction(int depth) {
        static const std::vector<std::string> names{"r", "s", "t"};
        if (reduced_ > 40) return scalar(depth - 1);
        auto count = random_.integer(1, 2);
        std::vector<Axis> bound =
            axes({names.begin(), names.begin() + count}, std::max<int64_t>(2, options_.extent / 2));
        int64_t outer = reduced_;
        for (const Axis& axis : bound) reduced_ *= std::max<int64_t>(1, axis.extent());
        scope_.insert(scope_.end(), bound.begin(), bound.end());
        Scalar body = random_.chance(0.4) ? read() * read() : scalar(depth - 1);
        scope_.resize(scope_.size() - bound.size());
        reduced_ = outer;
        Monoid monoid = Monoid::Sum;
        if (options_.other_monoids && random_.chance(0.35))
            monoid = random_.pick<Monoid>({Monoid::Max, Monoid::Min, Monoid::Prod});
        return arena_->reduce(monoid, bound, body);
    }

    Index iterator() {
        if (scope_.empty()) return arena_->constant(random_.integer(-1, 2));
        return index_of(random_.pick(scope_).iterator);
    }

    Index index() {
        Index e = iterator();
        if (random_.chance(0.35)) e = e + iterator() * random_.integer(-2, 2);
        if (random_.chance(0.15)) e = e * random_.integer(2, 3);
        if (random_.chance(0.3)) e = e + random_.integer(-2, 2);
        if (!options_.quotients || !random_.chance(0.3)) return e;
        switch (random_.integer(0, 4)) {
            case 0:
                return div(e, random_.integer(2, 4));
            case 1:
                return mod(e, random_.integer(2, 4));
            case 2:
                return arena_->min(e, iterator() + random_.integer(0, 2));
            case 3:
                return arena_->max(e, arena_->constant(random_.integer(-1, 2)));
            default:
                return arena_->table({2, 0, 1, 1, 3}, mod(e, 5));
        }
    }

    Scalar read() {
        if (tensors_.empty()) return constant();
        const Tensor* tensor = random_.pick(tensors_);
        std::vector<Index> indices;
        bool may_wrap = !options_.outside || random_.chance(0.4);
        Ranges ranges(scope_);
        for (const Axis& axis : tensor->axes) {
            Index e = index();
            Interval interval = interval_of(e, ranges);
            bool is_inside = interval.lo >= axis.lo && interval.hi < axis.hi;
            if (!is_inside && may_wrap && axis.extent() > 0) e = mod(e, axis.extent()) + axis.lo;
            indices.push_back(e);
        }
        used_.insert(tensor);
        if (is_inside(tensor, indices, ranges)) return arena_->read(tensor, indices);
        static const std::vector<double> values{0, 0, 0, 1, -0.5};
        double outside = random_.pick(values);
        if (options_.infinite_outside && random_.chance(0.3))
            outside = -std::numeric_limits<double>::infinity();
        return arena_->read(tensor, indices, outside);
    }

    Random random_;
    RandomOptions options_;
    std::shared_ptr<Arena> arena_;
    std::vector<const Tensor*> tensors_;
    std::set<const Tensor*> used_;
    std::vector<Axis> scope_;
    int64_t reduced_ = 1;
};

inline Expr random_expr(uint64_t seed, const RandomOptions& options = {}) {
    return ExprGenerator(seed, options).make();
}

/// Inputs (and weights without values) with random values: multiples of 1/8 in [-4, 4], small
/// integers, and non-finite values now and then if asked for.
class RandomInputs {
public:
    RandomInputs(const Expr& expr, uint64_t seed, bool non_finite = false) : random_(seed) {
        for (const Tensor* tensor : tensors_of(expr)) {
            if (tensor->is_definition() || tensor->values) continue;
            auto array = std::make_unique<HostArray>(tensor->type, tensor->shape());
            for (int64_t i = 0; i < array->size(); ++i) array->set(i, value(tensor->type));
            if (non_finite && is_float(tensor->type)) spoil(*array);
            bindings_[tensor->name] = array.get();
            arrays_.push_back(std::move(array));
        }
    }
    const Bindings& bindings() const { return bindings_; }

private:
    double value(ElementType type) {
        if (type == ElementType::Bool) return static_cast<double>(random_.integer(0, 1));
        if (is_float(type)) return static_cast<double>(random_.integer(-32, 32)) / 8;
        bool is_signed = name_of(type)[0] == 'i';
        return static_cast<double>(random_.integer(is_signed ? -5 : 0, 9));
    }

    void spoil(HostArray& array) {
        double infinity = std::numeric_limits<double>::infinity();
        for (int64_t i = 0; i < array.size(); ++i)
            if (random_.chance(0.1))
                array.set(i, random_.pick<double>({infinity, -infinity, 0.0, -0.0,
                                                   std::numeric_limits<double>::quiet_NaN()}));
    }

    Random random_;
    std::vector<std::unique_ptr<HostArray>> arrays_;
    Bindings bindings_;
};

}  // namespace ollie::expr::testing
