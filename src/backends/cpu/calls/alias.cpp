#include <cstring>

#include "backends/cpu/calls.h"
#include "backends/cpu/storage_map.h"

namespace ollie::backends::cpu::calls {
namespace {

/// Where argument and result share storage, as the plan arranges for scratch buffers, nothing is
/// left to do.
class AliasInstance : public CallInstance {
public:
    explicit AliasInstance(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {}

    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        if (bytes_ > 0 && arguments[0] != results[0]) std::memcpy(results[0], arguments[0], bytes_);
    }

private:
    size_t bytes_;
};

OrRefusal<std::vector<CallChoice>> choices(const match::Binding&) {
    return refuse(
        "whether storage stays as it is depends on layouts: use copy, refine makes it an "
        "alias");
}

double estimate(const match::Binding&, const CallChoice&, const match::Machine&) { return 0; }

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    auto map = storage_map(step, program);
    const program::Buffer& source = program.buffers[static_cast<size_t>(step.arguments.at(0))];
    const program::Buffer& target = program.buffers[static_cast<size_t>(step.results.at(0))];
    CHECK(map && map->offset == 0 && source.bytes() == target.bytes() &&
              StridedCopy(1, map->axes).is_contiguous(),
          "alias: \"{}\" is not stored like \"{}\"", target.name, source.name);
    return std::make_unique<AliasInstance>(target.bytes());
}

}  // namespace

extern const LibraryCall alias{
    "alias",  "none", "the identity on storage: shares its argument's memory", {}, choices,
    estimate, prepare};

}  // namespace ollie::backends::cpu::calls
