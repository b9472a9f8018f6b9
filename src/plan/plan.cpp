#include "plan/plan.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace ollie::plan {
namespace {

using program::Program;
using program::Role;

constexpr int64_t alignment = 64;

/// Something that occupies a piece of the arena from step `first` to step `last`.
struct Block {
    int64_t bytes;
    int first;
    int last;
    int64_t offset = -1;

    int64_t end() const { return offset + bytes; }
    bool lives_with(const Block& other) const { return first <= other.last && other.first <= last; }
};

int64_t aligned(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// The lowest gap between blocks that live at the same time.
int64_t lowest_gap(const Block& block, std::vector<const Block*> placed) {
    std::erase_if(placed, [&](const Block* other) { return !block.lives_with(*other); });
    std::sort(placed.begin(), placed.end(),
              [](const Block* x, const Block* y) { return x->offset < y->offset; });
    int64_t offset = 0;
    for (const Block* other : placed) {
        if (offset + block.bytes <= other->offset) break;
        offset = std::max(offset, other->end());
    }
    return offset;
}

void place(std::vector<Block>& blocks) {
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return blocks[x].bytes > blocks[y].bytes; });
    std::vector<const Block*> placed;
    for (size_t i : order) {
        blocks[i].offset = lowest_gap(blocks[i], placed);
        placed.push_back(&blocks[i]);
    }
}

/// For each buffer the one whose storage it shares: through `alias` steps between scratch buffers.
std::vector<int> storage_of(const Program& program) {
    std::vector<int> storage(program.buffers.size());
    std::iota(storage.begin(), storage.end(), 0);
    for (const program::Step& step : program.steps)
        if (step.target == "alias" && step.kind == program::StepKind::Call &&
            program.buffers[step.results[0]].role == Role::Scratch &&
            program.buffers[step.arguments[0]].role == Role::Scratch)
            storage[step.results[0]] = storage[step.arguments[0]];
    return storage;
}

}  // namespace

program::Plan plan(const Program& program, const std::vector<int64_t>& workspace_bytes) {
    std::vector<int> storage = storage_of(program);
    std::vector<int> block_of(program.buffers.size(), -1);
    std::vector<Block> blocks;
    auto use = [&](int buffer, int step) {
        if (program.buffers[buffer].role != Role::Scratch) return;
        int owner = storage[buffer];
        if (block_of[owner] < 0) {
            block_of[owner] = static_cast<int>(blocks.size());
            blocks.push_back({aligned(program.buffers[owner].bytes()), step, step});
        }
        blocks[block_of[owner]].last = step;
    };
    std::vector<int> workspace(program.steps.size(), -1);
    for (size_t i = 0; i < program.steps.size(); ++i) {
        int step = static_cast<int>(i);
        for (int buffer : program.steps[i].results) use(buffer, step);
        for (int buffer : program.steps[i].arguments) use(buffer, step);
        if (i >= workspace_bytes.size() || workspace_bytes[i] == 0) continue;
        workspace[i] = static_cast<int>(blocks.size());
        blocks.push_back({aligned(workspace_bytes[i]), step, step});
    }
    place(blocks);
    program::Plan plan;
    for (size_t i = 0; i < program.buffers.size(); ++i) {
        int block = block_of[storage[i]];
        plan.offsets.push_back(block < 0 ? -1 : blocks[block].offset);
    }
    for (int block : workspace)
        plan.scratch_offsets.push_back(block < 0 ? -1 : blocks[block].offset);
    for (const Block& block : blocks) plan.arena_bytes = std::max(plan.arena_bytes, block.end());
    return plan;
}

}  // namespace ollie::plan
