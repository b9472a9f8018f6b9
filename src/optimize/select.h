#pragma once

#include <vector>

#include "express/express.h"
#include "optimize/solve.h"

/// Chooses one fragment per subprogram over the whole model.
namespace ollie::optimize {

struct Selection {
    std::vector<const Fragment*> fragments;  ///< Per subprogram.
    double seconds = 0;                      ///< Fragments and changes of layout.
};

/// Least total cost under the layouts of shared tensors: a beam over the subprograms in order, in
/// which states that agree on the layouts of all live tensors are merged (the cheaper stays). Exact
/// while fewer than `beam_width` combinations are live at once, in chains for instance.
constexpr size_t beam_width = 256;

enum class Among { Optimized, Unoptimized };
Selection select(const std::vector<express::Subprogram>&, const Solutions&, Among,
                 const match::Machine&);

}  // namespace ollie::optimize
