#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "expr/identity/field_value.h"
#include "expr/node.h"
#include "expr/range.h"

/// Bodies of definitions compiled to arrays: iterators are slots of a frame, tensors are numbers,
/// and reductions over sums know which products they sum and along which axis their reads run in a
/// straight line.
namespace ollie::expr {

/// An index left the domain of a tensor or table and there is no value for that.
struct OutsideRead : std::exception {
    explicit OutsideRead(std::string name) : tensor(std::move(name)) {}
    std::string tensor;
};

struct IndexCode;

struct AtomCode {
    int64_t coefficient;
    AtomKind kind;
    int64_t divisor;
    std::vector<IndexCode> operands;
    std::vector<int64_t> table;
};

struct IndexCode {
    struct SlotTerm {
        int slot;
        int64_t coefficient;
    };
    int64_t constant = 0;
    std::vector<SlotTerm> terms;
    std::vector<AtomCode> atoms;

    int64_t evaluate(const int64_t* slots) const;
    /// Coefficient of the slot as a plain term.
    int64_t coefficient(int slot) const;
    bool has_inside_atom(int slot) const;
};

struct PredicateCode {
    PredicateKind kind = PredicateKind::True;
    IndexCode index;
    std::vector<PredicateCode> operands;

    bool evaluate(const int64_t* slots) const;
    bool uses(int slot) const;
};

/// One axis of a read: position in the tensor is index - lo.
struct ReadAxis {
    IndexCode index;
    int64_t lo;
    int64_t extent;
    int64_t stride;
    bool may_be_outside;  ///< Not proved to be inside.
};

struct ReadCode {
    int tensor = -1;
    std::vector<ReadAxis> axes;
    bool has_outside = false;
    FieldValue outside;
};

/// A factor of a summed product.
struct FactorCode {
    int node = -1;
    int read = -1;              ///< A read that runs straight along the inner axis, else -1.
    bool uses_inner = false;    ///< The inner axis occurs in it.
    bool is_invariant = false;  ///< No axis of the reduction occurs in it.
    /// Small boxes: distance of each term's element from the first's, and the least and greatest
    /// distance along each axis of the read.
    std::vector<int64_t> offsets;
    std::vector<Interval> reach;
};

struct ReduceCode {
    Monoid monoid = Monoid::Sum;
    struct SlotRange {
        int slot;
        int64_t lo;
        int64_t hi;
    };
    std::vector<SlotRange> axes;
    int body = -1;
    bool is_integer = false;  ///< All leaves are integers.
    // Sums only:
    std::vector<FactorCode> factors;
    PredicateCode guard;  ///< The summand is 0 where it does not hold.
    int inner = -1;       ///< Position in `axes` of the axis along which rows run.
    /// Terms of a box so small that it is summed as one column, if all its reads are inside; else
    /// 0.
    int64_t small_box = 0;
};

struct NodeCode {
    ScalarKind kind = ScalarKind::Constant;
    Function function = {};
    ElementType type = ElementType::F32;
    FieldValue constant;
    std::vector<int> operands;
    int read = -1;
    int reduce = -1;
    int index = -1;
    int predicate = -1;
    bool is_integer = false;
};

/// The most terms that are summed as one column.
constexpr int64_t column_length = 128;

struct BodyCode {
    std::vector<NodeCode> nodes;
    std::vector<ReadCode> reads;
    std::vector<ReduceCode> reductions;
    std::vector<IndexCode> indices;
    std::vector<PredicateCode> predicates;
    std::vector<int64_t> axis_lo;  ///< Slot i of the frame starts as position + lo.
    std::vector<int64_t> extents;
    int root = -1;
    int slots = 0;
};

/// `numbers` names every tensor that the definition reads.
BodyCode compile(const Tensor* definition, const std::map<const Tensor*, int>& numbers);

/// What the whole expression asks of the arithmetic.
struct ExprTraits {
    int exp_depth = 0;          ///< Most exps on one path that no oracle interrupts.
    bool is_branching = false;  ///< Data decide branches.
};
ExprTraits traits_of(const Expr&);

}  // namespace ollie::expr
