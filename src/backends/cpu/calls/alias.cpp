#include "backends/cpu/calls.h"
#include "program/storage_map.h"
#include "tensor/strided_copy.h"

namespace ollie::backends::cpu::calls {
namespace {

/// Where argument and result share storage, as the plan arranges for scratch buffers, nothing is
/// left to do.
class AliasInstance : public CallInstance {
public:
    explicit AliasInstance(int64_t bytes) : copy_(1, {{bytes, 1, 1}}) {}

    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        if (arguments[0] != results[0]) copy_.run(arguments[0], results[0]);
    }

private:
    StridedCopy copy_;
};

OrRefusal<std::vector<CallChoice>> choices(const match::Binding&) {
    return refuse(
        "whether storage stays as it is depends on layouts: use copy, refine makes it an "
        "alias");
}

double estimate(const match::Binding&, const CallChoice&, const match::Machine&) { return 0; }

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    const program::Buffer& source = program.buffers[static_cast<size_t>(step.arguments.at(0))];
    const program::Buffer& target = program.buffers[static_cast<size_t>(step.results.at(0))];
    CHECK(program::keeps_storage(step, program), "alias: \"{}\" is not stored like \"{}\"",
          target.name, source.name);
    return std::make_unique<AliasInstance>(target.bytes());
}

}  // namespace

extern const LibraryCall alias{
    "alias",  "none", "the identity on storage: shares its argument's memory", {}, choices,
    estimate, prepare};

}  // namespace ollie::backends::cpu::calls
