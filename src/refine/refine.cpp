#include "refine/refine.h"

namespace ollie::refine {
namespace {

using program::Buffer;
using program::Program;
using program::Role;
using program::Step;

/// Steps whose results nobody reads.
void drop_dead_steps(Program& program) {
    std::vector<char> needed(program.buffers.size(), 0);
    for (int output : program.outputs) needed[output] = 1;
    std::vector<Step> kept;
    for (size_t i = program.steps.size(); i-- > 0;) {
        Step& step = program.steps[i];
        bool is_needed = false;
        for (int result : step.results) is_needed = is_needed || needed[result];
        if (!is_needed) continue;
        for (int argument : step.arguments) needed[argument] = 1;
        kept.push_back(std::move(step));
    }
    program.steps.assign(std::make_move_iterator(kept.rbegin()),
                         std::make_move_iterator(kept.rend()));
}

void drop_unused_buffers(Program& program) {
    std::vector<char> used(program.buffers.size(), 0);
    for (int input : program.inputs) used[input] = 1;
    for (int output : program.outputs) used[output] = 1;
    for (const Step& step : program.steps) {
        for (int argument : step.arguments) used[argument] = 1;
        for (int result : step.results) used[result] = 1;
    }
    std::vector<int> moved(program.buffers.size(), -1);
    std::vector<Buffer> kept;
    for (size_t i = 0; i < program.buffers.size(); ++i) {
        if (!used[i]) continue;
        moved[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(program.buffers[i]));
    }
    program.buffers = std::move(kept);
    auto update = [&](std::vector<int>& list) {
        for (int& index : list) index = moved[index];
    };
    update(program.inputs);
    update(program.outputs);
    for (Step& step : program.steps) {
        update(step.arguments);
        update(step.results);
    }
}

}  // namespace

Program refine(const Program& program) {
    Program result = program;
    drop_dead_steps(result);
    drop_unused_buffers(result);
    return result;
}

}  // namespace ollie::refine
