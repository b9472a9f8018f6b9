#include "refine/refine.h"

#include "refine/passes.h"

namespace ollie::refine {

program::Program refine(const program::Program& program) {
    program::Program result = program;
    drop_dead_steps(result);
    merge_constants(result);
    bool changed = true;
    while (changed) {
        changed = name_moves(result);
        changed = join_moves(result) || changed;
        changed = drop_moves(result) || changed;
        changed = merge_steps(result) || changed;
        changed = drop_dead_steps(result) || changed;
    }
    drop_unused_buffers(result);
    return result;
}

}  // namespace ollie::refine
