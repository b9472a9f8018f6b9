#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/element_type.h"
#include "tensor/host_array.h"
#include "tensor/shape.h"

/// The expression language: tensors defined by index notation, without operator names.
///
///   Expr       ::= Tensor+                                        its outputs; a DAG through reads
///   Tensor     ::= input  name : type [extents]                   bound when run
///                | weight name : type [extents] (values)?         constant; values may be known
///                | name : type [axis, ...] = Scalar               a definition
///   axis       ::= iterator : lo..hi                              a traversal iterator, [lo, hi)
///   Scalar     ::= constant                                       an exact double, +-inf, nan
///                | Tensor [Index, ...] (| outside)?               a read
///                | number(Index)                                  an index as a value
///                | Scalar + Scalar ... | Scalar * Scalar ...      n-ary, in the order of
///                evaluation | function(Scalar, ...) | select(Predicate, Scalar, Scalar) by
///                position | monoid[iterator : lo..hi, ...] Scalar          a reduction | cast type
///                (Scalar)
///   Index      ::= integer + sum of integer * Atom                always in this linear form
///   Atom       ::= iterator | Index div k | min(Index, Index) | max(Index, Index) | table[Index]
///   Predicate  ::= true | false | Index >= 0 | Index == 0 | and | or | not
///
/// Meaning. A definition is the tensor whose element at x is the body at x, for x in its domain.
/// It is over the reals with +-inf and NaN as tags; rounding is no part of it. `Index div k` rounds
/// to minus infinity, k > 0; `e mod k` is e - k * (e div k). A read outside the domain of the
/// tensor has the value `outside`; without one the verifier must be able to prove that it does not
/// happen. Only the chosen branch of a select has a value. Over an empty range a reduction is its
/// monoid's identity. a - b is a + -1 * b, and a / b is a * reciprocal(b).
///
/// Nodes are immutable, owned by an Arena and interned there: equal structure is equal address.
/// Handles (Index, Scalar, ...) are pointers with value semantics. Iterators are symbols; within
/// one definition two binders never share one, other definitions may use the same symbols again.
/// Tensors are not interned; `key` (canonical.h) compares them.
namespace ollie::expr {

class Arena;
struct Tensor;
struct IteratorNode;
struct AtomNode;
struct IndexNode;
struct PredicateNode;
struct ScalarNode;

/// A handle: a pointer to an interned node that compares by address and orders by creation.
template <typename Node>
class Handle {
public:
    Handle() = default;
    explicit Handle(const Node* node) : node_(node) {}
    const Node* operator->() const { return node_; }
    const Node& operator*() const { return *node_; }
    const Node* get() const { return node_; }
    explicit operator bool() const { return node_ != nullptr; }
    friend bool operator==(Handle a, Handle b) { return a.node_ == b.node_; }
    /// Order of creation in the arena: deterministic, never the address.
    friend bool operator<(Handle a, Handle b) { return a.node_->id < b.node_->id; }

private:
    const Node* node_ = nullptr;
};

using Iterator = Handle<IteratorNode>;
using Atom = Handle<AtomNode>;
using Index = Handle<IndexNode>;
using Predicate = Handle<PredicateNode>;
using Scalar = Handle<ScalarNode>;

struct IteratorNode {
    uint32_t id;
    Arena* arena;
    std::string name;  ///< A hint for printing; not an identity.
};

/// An iterator with its range [lo, hi).
struct Axis {
    Iterator iterator;
    int64_t lo = 0;
    int64_t hi = 0;
    int64_t extent() const { return hi - lo; }
};

enum class AtomKind : uint8_t { Iterator, FloorDiv, Min, Max, Table };

struct AtomNode {
    uint32_t id;
    Arena* arena;
    AtomKind kind;
    Iterator iterator;           ///< Iterator
    Index a;                     ///< FloorDiv: numerator. Min, Max: first. Table: position.
    Index b;                     ///< Min, Max: second.
    int64_t divisor = 1;         ///< FloorDiv
    std::vector<int64_t> table;  ///< Table: value at positions 0, 1, ...
};

struct Term {
    int64_t coefficient;
    Atom atom;
    bool operator==(const Term&) const = default;
};

/// constant + sum of coefficient * atom; terms sorted by atom id, no coefficient is zero.
struct IndexNode {
    uint32_t id;
    Arena* arena;
    int64_t constant;
    std::vector<Term> terms;
};

enum class PredicateKind : uint8_t { True, False, NonNegative, Zero, And, Or, Not };

struct PredicateNode {
    uint32_t id;
    Arena* arena;
    PredicateKind kind;
    Index index;                      ///< NonNegative: index >= 0. Zero: index == 0.
    std::vector<Predicate> operands;  ///< And, Or: two or more. Not: one.
};

enum class ScalarKind : uint8_t {
    Constant,
    Read,
    Number,
    Add,
    Mul,
    Function,
    Select,
    Reduce,
    Cast
};

/// Max and Min give NaN if either is NaN. Comparisons and logic give 0 or 1. Where picks its second
/// operand if the first is not 0, else its third; only the picked operand has a value. Mod is
/// ONNX's: FloorMod takes the divisor's sign, TruncMod the dividend's; TruncDiv rounds to zero.
/// Round is to nearest even. Erf, Sin, ... as in <cmath>.
enum class Function : uint8_t {
    Reciprocal,
    Exp,
    Log,
    Sqrt,
    Tanh,
    Sigmoid,
    Softplus,
    Erf,
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Not,
    IsNan,
    Max,
    Min,
    Pow,
    TruncDiv,
    FloorMod,
    TruncMod,
    Less,
    LessEqual,
    Equal,
    And,
    Or,
    Xor,
    Where
};

enum class Monoid : uint8_t { Sum, Prod, Max, Min };

struct ScalarNode {
    uint32_t id;
    Arena* arena;
    ScalarKind kind;
    ElementType type = ElementType::F32;  ///< Cast: the target.
    Function function = {};               ///< Function
    Monoid monoid = {};                   ///< Reduce
    bool has_outside = false;             ///< Read
    double constant = 0;                  ///< Constant: the value. Read: the value outside.
    const Tensor* tensor = nullptr;       ///< Read
    std::vector<Index> indices = {};      ///< Read: one per axis. Number: one.
    Predicate predicate = {};             ///< Select
    std::vector<Axis> axes = {};          ///< Reduce
    std::vector<Scalar> operands = {};    ///< Add, Mul, Function, Select (then, else), Reduce, Cast
};

enum class TensorKind : uint8_t { Input, Weight, Definition };

/// Names of the original graph nodes that something came from, sorted, without repetition.
using Origin = std::vector<std::string>;
Origin merge(const Origin&, const Origin&);

struct Tensor {
    uint32_t id;
    Arena* arena;
    TensorKind kind;
    std::string name;
    ElementType type;
    std::vector<Axis> axes;                   ///< Inputs and weights: [0, extent).
    Scalar body;                              ///< Definition
    std::shared_ptr<const HostArray> values;  ///< Weight, where known.
    bool pinned = false;                      ///< Normalization must not undo this definition.
    Origin origin;

    bool is_definition() const { return kind == TensorKind::Definition; }
    size_t rank() const { return axes.size(); }
    Shape shape() const;
};

/// A tensor program: its outputs and everything that they read.
struct Expr {
    std::shared_ptr<Arena> arena;
    std::vector<const Tensor*> outputs;
};

/// Owns and interns nodes. One per subprogram; dropped as a whole. Not thread-safe.
class Arena {
public:
    Arena();
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// A new symbol, different from every other.
    Iterator iterator(std::string name);

    Index constant(int64_t value);
    Index index(Iterator);
    /// constant + sum of terms; terms may repeat and be in any order.
    Index linear(int64_t constant, std::vector<Term> terms);
    /// Round to minus infinity; divisor > 0. Normalizes what needs no ranges.
    Index floor_div(Index, int64_t divisor);
    Index min(Index, Index);
    Index max(Index, Index);
    Index table(std::vector<int64_t> values, Index position);

    Predicate truth(bool);
    Predicate non_negative(Index);
    Predicate zero(Index);
    Predicate conjunction(std::vector<Predicate>);
    Predicate disjunction(std::vector<Predicate>);
    Predicate negation(Predicate);

    Scalar constant_scalar(double);
    Scalar read(const Tensor*, std::vector<Index>, std::optional<double> outside = std::nullopt);
    Scalar number(Index);
    /// Flattens nested sums (products) and drops neutral elements; of one operand, that operand.
    Scalar add(std::vector<Scalar>);
    Scalar mul(std::vector<Scalar>);
    Scalar function(Function, std::vector<Scalar>);
    Scalar select(Predicate, Scalar then, Scalar otherwise);
    Scalar reduce(Monoid, std::vector<Axis>, Scalar body);
    Scalar cast(ElementType, Scalar);

    const Tensor* input(std::string name, ElementType, const Shape&);
    const Tensor* weight(std::string name, ElementType, const Shape&,
                         std::shared_ptr<const HostArray> values = nullptr);
    const Tensor* define(std::string name, ElementType, std::vector<Axis>, Scalar body, Origin = {},
                         bool pinned = false);

    /// Bytes held by nodes, for the memory limit of a search.
    int64_t bytes() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace ollie::expr
