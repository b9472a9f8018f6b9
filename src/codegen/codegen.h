#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "expr/node.h"
#include "tensor/shape.h"

/// Generated kernels: a group of definitions becomes machine code through Halide.
///
/// A kernel computes the outputs of `group`; definitions inside that are not outputs live only
/// within it (inlined, or computed per tile of their consumer). Its inputs and weights are the
/// kernel's arguments. Arguments come in order of first appearance in tensors_of(group), then the
/// outputs in order; each is a dense buffer in its layout. The code uses no runtime of Halide's.
namespace ollie::codegen {

/// A point in the space of schedules of one kernel. Printed into the step's parameters.
struct Schedule {
    int vector_axis = -1;  ///< Axis of the output that is vectorized; -1: the innermost stored.
    int unroll = 1;        ///< Vectors in flight along vector_axis (register tile).
    int rows_axis = -1;    ///< Second axis of the register tile; -1: none.
    int rows = 1;          ///< Points of rows_axis held in registers.
    int parallel = 1;      ///< Outermost stored axes fused into the parallel loop; 0: serial.
    bool root_intermediates = false;  ///< Inner definitions stored whole instead of per tile.
    auto operator<=>(const Schedule&) const = default;
    std::string text() const;
};

struct KernelProblem {
    expr::Expr group;
    std::vector<Layout> argument_layouts;
    std::vector<Layout> result_layouts;
    Schedule schedule;
    std::string symbol;  ///< A C identifier.
};

/// Arguments in the kernel's order.
std::vector<const expr::Tensor*> arguments_of(const expr::Expr& group);

/// Schedules worth measuring for this problem (its own schedule is not read), best guess first,
/// never empty.
std::vector<Schedule> schedules(const KernelProblem&, int threads);

/// Whether the group can be generated at all (types, functions), with the reason if not.
OrRefusal<bool> can_generate(const expr::Expr& group);

/// Relocatable object code for one kernel, for the machine at hand or `target` (as in
/// target_name). The symbol has the signature
///   int symbol(void* const* arguments, void* const* results, void* context)
/// Cached by (key of the group with layouts, schedule, target) in `cache` folder if that is not
/// empty. Safe to call from several threads. Errors: InternalError with Halide's message.
std::vector<std::byte> compile(const KernelProblem&, const std::string& target = {},
                               const std::string& cache = {});
/// Halide's lowered statement of the kernel, for `emit source`.
std::string source(const KernelProblem&);
/// "x86-64-avx2-fma" or "x86-64-avx512": what this machine runs.
std::string target_name();
/// What the code of a kernel depends on besides problem and target: "Halide 19.0.0, generation 3".
std::string version();

/// Links objects into one shared object, as bytes, together with the stub that provides the
/// parallel loop (an OpenMP loop shared with the process), malloc and free. Needs a C compiler
/// driver `cc`. Errors: UserError with the linker's message.
std::vector<std::byte> link(const std::vector<std::vector<std::byte>>& objects);

}  // namespace ollie::codegen
