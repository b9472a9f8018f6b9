#include "backends/cpu/calls.h"
#include "program/storage_map.h"
#include "tensor/strided_copy.h"

namespace ollie::backends::cpu::calls {
namespace {

class CopyInstance : public CallInstance {
public:
    CopyInstance(StridedCopy copy, int64_t offset_bytes)
        : copy_(std::move(copy)), offset_bytes_(offset_bytes) {}

    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        copy_.run(static_cast<const std::byte*>(arguments[0]) + offset_bytes_, results[0]);
    }
    std::string implementation() const override {
        return copy_.is_contiguous() ? "contiguous" : "strided";
    }

private:
    StridedCopy copy_;
    int64_t offset_bytes_;
};

/// Any storage order of the argument and row-major results: what refuses is not a bare read.
OrRefusal<std::vector<CallChoice>> choices(const match::Binding& binding) {
    expr::Scalar read = program::bare_read(binding.definition);
    if (!read) return refuse("it does more than move elements");
    std::vector<CallChoice> all;
    size_t rank = read->tensor->rank();
    for (const Layout& layout : {Layout::row_major(rank), Layout::channels_last(rank)})
        if (all.empty() || !layout.is_row_major())
            all.push_back(
                {{}, {layout}, {read->tensor}, Layout::row_major(binding.definition->rank())});
    return all;
}

double estimate(const match::Binding& binding, const CallChoice&, const match::Machine& machine) {
    const expr::Tensor* result = binding.definition;
    auto bytes = static_cast<double>(element_count(result->shape()) * size_of(result->type));
    return machine.call_seconds + 2 * bytes / machine.memory_bandwidth;
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto map = program::storage_map(step, program);
    CHECK(map.has_value(), "copy: the step does more than move elements");
    int64_t size = size_of(program.buffers[static_cast<size_t>(step.results[0])].type);
    return std::make_unique<CopyInstance>(StridedCopy(size, map->axes), map->offset * size);
}

}  // namespace

extern const LibraryCall copy{
    "copy",
    "none",
    "moves elements between storage orders; also permutations, reshapes and slices",
    {},
    choices,
    estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
