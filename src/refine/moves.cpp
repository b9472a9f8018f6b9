#include <algorithm>

#include "expr/build.h"
#include "expr/simplify.h"
#include "expr/verify.h"
#include "expr/visit.h"
#include "program/storage_map.h"
#include "refine/passes.h"
#include "refine/substitute.h"

namespace ollie::refine {
namespace {

using namespace expr;
using program::Buffer;
using program::Program;
using program::Role;
using program::Step;
using program::StepKind;

bool is_move(const Step& step) {
    return step.kind == StepKind::Call && (step.target == "copy" || step.target == "alias");
}

/// How many arguments of steps the buffer is, plus one for being an output of the program.
int64_t uses_of(const Program& program, int buffer) {
    int64_t uses = std::count(program.outputs.begin(), program.outputs.end(), buffer);
    for (const Step& step : program.steps)
        uses += std::count(step.arguments.begin(), step.arguments.end(), buffer);
    return uses;
}

void become_move(Step& step, const std::string& target) {
    step.kind = StepKind::Call;
    step.target = target;
    step.parameters.clear();
    step.cost = {};
    if (target == "alias") step.cost = {0, 0};
}

/// Y[x] = A[x].
bool is_same_tensor(const Tensor* definition) {
    Scalar read = program::bare_read(definition);
    if (!read || read->tensor->shape() != definition->shape()) return false;
    for (size_t k = 0; k < read->indices.size(); ++k)
        if (as_iterator(read->indices[k]) != definition->axes[k].iterator) return false;
    return true;
}

/// The second move with the first inlined: Y[x] = A[phi(psi(x))].
Expr joined_meaning(const Step& first, const Step& second) {
    auto arena = std::make_shared<Arena>();
    const Tensor* middle = copy_to(arena, first.meaning).outputs.front();
    Expr result = copy_to(arena, second.meaning);
    const Tensor* read = result.outputs.front()->body->tensor;
    auto inlined = [&](Scalar scalar) { return body_at(middle, scalar->indices); };
    result = change_reads(result, read, inlined);
    const Tensor*& output = result.outputs.front();
    output = with_body(output, simplify(output->body, output->axes));
    return result;
}

const Step* move_that_writes(const Program& program, int buffer) {
    for (const Step& step : program.steps)
        if (is_move(step) && step.results.front() == buffer) return &step;
    return nullptr;
}

/// The step of both, if there is one, its reads are provably inside, and it is not dearer.
std::optional<Step> joined(const Program& program, const Step& first, const Step& second) {
    bool only_reader = uses_of(program, second.arguments.front()) == 1;
    if (second.target == "alias" && first.target == "copy" && !only_reader) return std::nullopt;
    Step step = second;
    step.arguments = first.arguments;
    step.meaning = joined_meaning(first, second);
    step.origin = merge(first.origin, second.origin);
    if (!program::storage_map(step, program)) return std::nullopt;
    if (!expr::violations(step.meaning).empty()) return std::nullopt;
    become_move(step, program::keeps_storage(step, program) ? "alias" : "copy");
    return step;
}

/// Lets the argument take the place of the result or the reverse.
bool drop_move(Program& program, size_t position) {
    Step step = program.steps[position];
    int source = step.arguments.front();
    int target = step.results.front();
    const Buffer& from = program.buffers[static_cast<size_t>(source)];
    const Buffer& to = program.buffers[static_cast<size_t>(target)];
    bool is_same = is_same_tensor(step.meaning.outputs.front()) && from.layout == to.layout;
    if (!is_same || are_read_together(program, source, target)) return false;
    if (to.role != Role::Scratch && from.role != Role::Scratch) return false;
    program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(position));
    if (to.role == Role::Scratch)
        substitute(program, target, source);
    else
        substitute(program, source, target);
    return true;
}

}  // namespace

bool name_moves(Program& program) {
    bool changed = false;
    for (Step& step : program.steps) {
        if ((!is_move(step) && step.kind != StepKind::Kernel) || step.target == "alias") continue;
        if (!program::storage_map(step, program)) continue;
        std::string target = program::keeps_storage(step, program) ? "alias" : "copy";
        if (is_move(step) && step.target == target) continue;
        become_move(step, target);
        changed = true;
    }
    return changed;
}

bool join_moves(Program& program) {
    bool changed = false;
    for (Step& step : program.steps) {
        if (!is_move(step)) continue;
        const Step* first = move_that_writes(program, step.arguments.front());
        if (first == nullptr) continue;
        auto both = joined(program, *first, step);
        if (!both) continue;
        step = std::move(*both);
        changed = true;
    }
    return changed;
}

bool drop_moves(Program& program) {
    bool changed = false;
    for (size_t i = 0; i < program.steps.size();) {
        if (is_move(program.steps[i]) && drop_move(program, i))
            changed = true;
        else
            ++i;
    }
    return changed;
}

}  // namespace ollie::refine
