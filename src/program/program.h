#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "expr/node.h"
#include "tensor/host_array.h"
#include "tensor/shape.h"

/// The program language: steps over buffers, in order of execution.
///
///   Program ::= Buffer* Step*
///   Buffer  ::= role name : type [extents] (layout order)        role: input output constant
///   scratch Step    ::= call target {parameters} (buffers) -> (buffers)  a library call
///             | kernel symbol {parameters} (buffers) -> (buffers)  generated code
///   each step carries its meaning (an Expr), its origin and its cost
///
/// Meaning of a step: its `meaning` is an Expr whose inputs are named by the argument buffers and
/// whose outputs by the result buffers, all in logical axes; the layouts say only how elements lie
/// in memory. Every buffer is written by exactly one step before it is read, inputs and constants
/// by none. Two views of one buffer do not exist, but a step that is the identity on storage
/// (`alias` call) shares its argument's storage. Definitions start at 0 on every axis.
namespace ollie::program {

enum class Role { Input, Output, Constant, Scratch };

struct Buffer {
    std::string name;
    ElementType type = ElementType::F32;
    Shape shape;    ///< Logical axes.
    Layout layout;  ///< Storage order; inputs and outputs of a whole program are row-major.
    Role role = Role::Scratch;
    std::shared_ptr<const HostArray> values;  ///< Constant: row-major in *logical* order.

    int64_t bytes() const { return element_count(shape) * size_of(type); }
    std::vector<int64_t> strides() const { return layout.strides(shape); }
};

enum class StepKind { Call, Kernel };

/// Seconds; negative where unknown.
struct StepCost {
    double estimated = -1;
    double measured = -1;
};

struct Step {
    StepKind kind = StepKind::Call;
    std::string target;     ///< Call: catalogue name, e.g. "onednn_convolution". Kernel: symbol.
    Attributes parameters;  ///< Call: what its emitter wrote. Kernel: its schedule.
    std::vector<int> arguments;  ///< Indices into buffers; the call or kernel fixes the order.
    std::vector<int> results;
    expr::Expr meaning;
    expr::Origin origin;
    StepCost cost;
    /// NaN or infinity may come out otherwise than the meaning says.
    bool changes_nonfinite = false;
};

/// One derivation step of the trail of a subprogram.
struct TrailStep {
    std::string rule;
    std::string place;       ///< Definition and position, e.g. "Y: sum[c, r, s]".
    std::string parameters;  ///< e.g. "split {r, s}".
    std::vector<std::string> facts;
    std::string after;  ///< The expression after the step, printed.
};

/// What was found for one subprogram, for `explain`.
struct Derivation {
    std::string name;
    expr::Origin origin;
    std::string before;  ///< Printed original expression.
    std::vector<TrailStep> trail;
    std::string chosen;                     ///< One line: the calls and kernels.
    StepCost cost;                          ///< Of the chosen program.
    StepCost unoptimized;                   ///< Of the unoptimized one.
    std::vector<std::string> alternatives;  ///< Tried and lost: what, cost, why.
    std::string identity;                   ///< Verdict, draws and points of identity testing.
    bool lets_nonfinite_spread = false;
    Attributes search;  ///< states, duplicates, refusals by reason, ...
};

/// Offsets into one arena; -1 for inputs, outputs and constants (which lie elsewhere).
struct Plan {
    std::vector<int64_t> offsets;          ///< Per buffer, bytes.
    std::vector<int64_t> scratch_offsets;  ///< Per step: workspace of calls; -1 if none.
    int64_t arena_bytes = 0;
};

struct Program {
    std::vector<Buffer> buffers;
    std::vector<Step> steps;
    std::vector<int> inputs;   ///< In the order of the model's inputs.
    std::vector<int> outputs;  ///< In the order of the model's outputs.
    /// All kernels as one shared object (position-independent, no runtime of Halide's); empty if
    /// there are none. Symbols are the kernels' targets.
    std::vector<std::byte> code;
    /// What the code was compiled for, e.g. "x86-64-avx512"; empty without code.
    std::string code_target;
    std::vector<Derivation> derivations;
    Attributes facts;  ///< Device key, versions, threads, settings, verification results.
};

}  // namespace ollie::program
