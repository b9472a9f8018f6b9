#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "expr/node.h"

/// Matching a definition against the meaning of a library call.
///
/// A pattern is a definition in the text form of expr/print.h in which extents are left out and
/// integers may be free parameters `$name`; inputs are the names read:
///
///   Y[n, f, h, w] = sum[c, r, s] A[n, c, $sh*h + $dh*r - $ph, $sw*w + $dw*s - $pw | 0] * K[f, c,
///   r, s]
///
/// An iterator whose range is 1 may be missing from the definition: the pattern's iterator is then
/// a unit, and the pattern's axes that it indexes alone are unit axes of the tensor or missing from
/// it. The axes of a tensor may be in any order. Names that end in `..` stand for any number of
/// iterators; a pattern with them is the general contraction (match/contraction.h):
///
///   Y[batch.., rows.., columns..] = sum[reduced..] A[batch.., rows.., reduced..] * B[...]
///
/// A pattern of several lines is a whole expression (expr/parse.h) of several definitions, of which
/// only the last is visible outside. In it every iterator stands for any number of iterators, and
/// its extents mean nothing:
///
///   input A: f32[2, 3]
///   M: f32[x:2] = max[j:3] A[x, j]
///   S: f32[x:2] = sum[j:3] exp(A[x, j] - M[x])
///   Y: f32[x:2, j:3] = exp(A[x, j] - M[x]) / S[x]
///
/// An epilogue is whatever surrounds the contraction in the definition's body: it is split off
/// first and given to the call's constraints as an expression of the contraction's value.
namespace ollie::match {

/// Measured peaks of the machine, for estimates: operations and bytes per second of all threads.
struct Machine {
    double flops = 2e11;
    double memory_bandwidth = 4e10;
    double cache_bandwidth = 1.5e11;  ///< Last-level cache.
    int64_t cache_bytes = 32 << 20;
    double call_seconds = 2e-6;  ///< Start of one call or kernel.
    int threads = 2;
};

/// What a definition is to a contraction pattern: where each iterator occurs.
enum class IteratorClass { Batch, Rows, Columns, Reduced };

/// One difference between a definition and a target. Shown to people, ordered by, and removed by
/// guided derivation.
struct Mismatch {
    enum class Kind {
        NotThisForm,       ///< Not a reduction of a product of two reads, wrong monoid, ...
        TooManyIterators,  ///< In a class.
        MissingIterator,   ///< In a class.
        Order,
        Stride,
        Offset,
        Range,
        OutsideValue,
        OperandLayout,
        Type
    };
    Kind kind;
    IteratorClass iterator_class = IteratorClass::Batch;
    int operand = -1;  ///< Index of the operand; -1 for the result.
    std::string text;
};

/// How a definition instantiates a pattern. Every pattern operand is bound to a tensor; pattern
/// axes correspond one to one to the tensor's axes through `axis_of`.
struct Operand {
    std::string name;  ///< In the pattern.
    const expr::Tensor* tensor = nullptr;
    /// Pattern axis -> axis of the tensor; -1: a unit axis that the tensor lacks. Axes of the
    /// tensor that are the image of none have extent 1. For a contraction: the identity.
    std::vector<int> axis_of;
};

struct Contraction;  ///< contraction.h
struct Group;        ///< group.h

struct Binding {
    const expr::Tensor* definition = nullptr;
    int pattern = 0;  ///< Which of the call's patterns; set by who tries one after another.
    std::map<std::string, int64_t> parameters;  ///< $name -> value
    /// Pattern iterator -> iterator of the definition; a null iterator of range 1 for a unit.
    std::map<std::string, expr::Axis> iterators;
    std::vector<Operand> operands;
    Operand result;
    std::shared_ptr<const Contraction> contraction;  ///< For a contraction pattern.
    std::shared_ptr<const Group> group;              ///< For a pattern of several definitions.
    expr::Scalar core;                               ///< The matched subexpression of the body.
    /// The body with the core replaced by a read of `core_value`, an input of the result's shape;
    /// just that read where there is no epilogue. A constant factor inside the core is here too.
    expr::Scalar epilogue;
    const expr::Tensor* core_value = nullptr;
    bool has_epilogue = false;

    int64_t parameter(std::string_view name) const { return parameters.at(std::string(name)); }
    int64_t extent(std::string_view iterator) const {
        return iterators.at(std::string(iterator)).extent();
    }
};

struct Pattern;  ///< Parsed.
/// Errors: InternalError, since patterns are the project's own text.
std::shared_ptr<const Pattern> parse_pattern(std::string_view text);

/// A binding, or what keeps the definition from being this call: fewer mismatches are nearer, and
/// those that are removed most easily come first.
using MatchResult = std::variant<Binding, std::vector<Mismatch>>;

struct Form;  ///< form.h

/// A definition taken apart, once for many patterns.
class Subject {
public:
    explicit Subject(const expr::Tensor* definition);
    const expr::Tensor* definition() const { return definition_; }
    const std::vector<Form>& forms() const { return *forms_; }

private:
    const expr::Tensor* definition_;
    std::shared_ptr<const std::vector<Form>> forms_;
};

MatchResult match(const Subject&, const Pattern&);
MatchResult match(const expr::Tensor* definition, const Pattern&);

}  // namespace ollie::match
