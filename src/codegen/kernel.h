#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "expr/node.h"
#include "expr/range.h"

/// A kernel made ready for translation: the group rewritten, in an arena of its own, so that what
/// is left is one loop nest per definition.
///
/// Every definition is a *stage*: either free of reductions, or a single reduction at the root of
/// its body. Reductions inside a larger body became stages of their own. Where the indices of the
/// result divide an axis (sub-pixel forms, residues), the axis is split into quotient and *phase*:
/// every phase is then a plain affine loop. Sums with a constant matrix are written out, one sum
/// for each row, and the axis of the rows is a phase too. Arguments are read by address: the scalar
/// product of indices and strides.
namespace ollie::codegen {

struct Argument {
    const expr::Tensor* tensor;
    std::vector<int64_t> strides;  ///< In elements, per axis of the tensor.
};

struct Stage {
    const expr::Tensor* tensor;
    /// A transform by a constant matrix, written out; its rows are phases.
    bool is_transform = false;

    /// The reduction at the root, or null.
    expr::Scalar reduction() const;
};

/// One loop of the result.
struct Loop {
    int64_t extent;
    int64_t stride;  ///< Of the stored result, in elements.
    bool is_phase;   ///< Short and unrolled.
    /// More than 1: so many at a time are unrolled because indices divide the axis by that, which
    /// is no multiple of it.
    int64_t period = 1;
};

struct Kernel {
    std::shared_ptr<expr::Arena> arena;
    std::vector<Argument> arguments;
    std::vector<Stage> stages;  ///< Producers first; the last one is the result.
    /// Per axis of the result: phases first, then in order of storage, outermost first.
    std::vector<Loop> loops;
    int64_t result_elements = 0;

    const Stage& result() const { return stages.back(); }
    const Argument* argument(const expr::Tensor*) const;
    /// The stage that computes the tensor; null for arguments.
    const Stage* stage(const expr::Tensor*) const;
};

/// Errors: InternalError where the layouts do not fit the group.
Kernel prepare(const expr::Expr& group, const std::vector<Layout>& argument_layouts,
               const Layout& result_layout);

/// Ranges of the axes of the tensor and of all reductions in its body.
expr::Ranges ranges_of(const expr::Tensor*);

}  // namespace ollie::codegen
