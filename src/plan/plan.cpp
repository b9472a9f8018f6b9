#include "plan/plan.h"

#include <algorithm>
#include <numeric>

namespace ollie::plan {
namespace {

using program::Program;
using program::Role;
using program::Step;

constexpr int64_t alignment = 64;

int64_t rounded(int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Something that needs memory from its first step to its last, both included.
struct Block {
    int64_t bytes = 0;
    int first = 0;
    int last = 0;
    int64_t offset = -1;

    bool lives_with(const Block& other) const { return first <= other.last && other.first <= last; }
};

/// Greedy by size: larger blocks first, each at the lowest offset where it meets no block that
/// lives at the same time (Pisarchyk and Lee, 2020).
int64_t place(std::vector<Block>& blocks) {
    std::vector<Block*> order;
    for (Block& block : blocks) order.push_back(&block);
    std::stable_sort(order.begin(), order.end(),
                     [](const Block* a, const Block* b) { return a->bytes > b->bytes; });
    std::vector<Block*> placed;  // By offset.
    int64_t arena = 0;
    for (Block* block : order) {
        int64_t offset = 0;
        for (const Block* other : placed) {
            if (!block->lives_with(*other)) continue;
            if (offset + block->bytes <= other->offset) break;
            offset = std::max(offset, other->offset + other->bytes);
        }
        block->offset = offset;
        arena = std::max(arena, offset + block->bytes);
        auto after =
            std::upper_bound(placed.begin(), placed.end(), block,
                             [](const Block* a, const Block* b) { return a->offset < b->offset; });
        placed.insert(after, block);
    }
    return arena;
}

class Planner {
public:
    Planner(const Program& program, const std::vector<int64_t>& workspace_bytes)
        : program_(program), workspace_bytes_(workspace_bytes) {
        CHECK(workspace_bytes.empty() || workspace_bytes.size() == program.steps.size(),
              "{} workspaces for {} steps", workspace_bytes.size(), program.steps.size());
        holder_ = storage_holders(program);
        block_of_.assign(program.buffers.size(), -1);
    }

    program::Plan run() {
        add_blocks();
        program::Plan plan;
        plan.arena_bytes = place(blocks_);
        plan.offsets.assign(program_.buffers.size(), -1);
        for (size_t i = 0; i < program_.buffers.size(); ++i) {
            int block = block_of_[static_cast<size_t>(holder_[i])];
            if (program_.buffers[i].role == Role::Scratch && block >= 0)
                plan.offsets[i] = blocks_[static_cast<size_t>(block)].offset;
        }
        plan.scratch_offsets.assign(program_.steps.size(), -1);
        for (const auto& [step, block] : workspaces_)
            plan.scratch_offsets[step] = blocks_[block].offset;
        return plan;
    }

private:
    void add_blocks() {
        for (size_t s = 0; s < program_.steps.size(); ++s) {
            int time = static_cast<int>(s);
            for (int index : program_.steps[s].results) use(index, time);
            for (int index : program_.steps[s].arguments) use(index, time);
            if (workspace_bytes_.empty() || workspace_bytes_[s] == 0) continue;
            workspaces_.emplace_back(s, blocks_.size());
            blocks_.push_back({rounded(workspace_bytes_[s]), time, time});
        }
    }

    void use(int index, int time) {
        auto holder = static_cast<size_t>(holder_[static_cast<size_t>(index)]);
        const program::Buffer& buffer = program_.buffers[holder];
        if (buffer.role != Role::Scratch) return;
        if (block_of_[holder] < 0) {
            block_of_[holder] = static_cast<int>(blocks_.size());
            blocks_.push_back({rounded(buffer.bytes()), time, time});
        }
        blocks_[static_cast<size_t>(block_of_[holder])].last = time;
    }

    const Program& program_;
    const std::vector<int64_t>& workspace_bytes_;
    std::vector<int> holder_;
    std::vector<int> block_of_;  ///< Per buffer that holds storage of its own.
    std::vector<Block> blocks_;
    std::vector<std::pair<size_t, size_t>> workspaces_;  ///< Step and block.
};

}  // namespace

std::vector<int> storage_holders(const Program& program) {
    std::vector<int> holder(program.buffers.size());
    std::iota(holder.begin(), holder.end(), 0);
    auto role = [&](int buffer) { return program.buffers[static_cast<size_t>(buffer)].role; };
    for (const Step& step : program.steps) {
        if (step.kind != program::StepKind::Call || step.target != "alias") continue;
        int result = step.results.front();
        int source = holder[static_cast<size_t>(step.arguments.front())];
        if (role(result) == Role::Scratch)
            holder[static_cast<size_t>(result)] = source;
        else if (role(result) == Role::Output && role(source) == Role::Scratch)
            std::replace(holder.begin(), holder.end(), source, result);
    }
    return holder;
}

program::Plan plan(const Program& program, const std::vector<int64_t>& workspace_bytes) {
    return Planner(program, workspace_bytes).run();
}

}  // namespace ollie::plan
