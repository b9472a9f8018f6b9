#include <algorithm>
#include <iterator>

#include "refine/passes.h"

namespace ollie::refine {

using program::Buffer;
using program::Program;
using program::Step;

bool drop_dead_steps(Program& program) {
    std::vector<char> needed(program.buffers.size(), 0);
    for (int output : program.outputs) needed[static_cast<size_t>(output)] = 1;
    size_t before = program.steps.size();
    std::vector<Step> kept;
    for (size_t i = before; i-- > 0;) {
        Step& step = program.steps[i];
        bool is_needed = std::any_of(step.results.begin(), step.results.end(), [&](int result) {
            return needed[static_cast<size_t>(result)] != 0;
        });
        if (!is_needed) continue;
        for (int argument : step.arguments) needed[static_cast<size_t>(argument)] = 1;
        kept.push_back(std::move(step));
    }
    program.steps.assign(std::make_move_iterator(kept.rbegin()),
                         std::make_move_iterator(kept.rend()));
    return program.steps.size() != before;
}

bool drop_unused_buffers(Program& program) {
    std::vector<std::vector<int>*> lists{&program.inputs, &program.outputs};
    for (Step& step : program.steps) {
        lists.push_back(&step.arguments);
        lists.push_back(&step.results);
    }
    std::vector<char> used(program.buffers.size(), 0);
    for (const std::vector<int>* list : lists)
        for (int index : *list) used[static_cast<size_t>(index)] = 1;
    std::vector<int> moved(program.buffers.size(), -1);
    std::vector<Buffer> kept;
    for (size_t i = 0; i < program.buffers.size(); ++i) {
        if (!used[i]) continue;
        moved[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(program.buffers[i]));
    }
    bool changed = kept.size() != program.buffers.size();
    program.buffers = std::move(kept);
    for (std::vector<int>* list : lists)
        for (int& index : *list) index = moved[static_cast<size_t>(index)];
    return changed;
}

}  // namespace ollie::refine
