#include <cstring>

#include "backends/cpu/calls.h"

namespace ollie::backends::cpu::calls {
namespace {

OrRefusal<std::vector<CallChoice>> choices(const match::Binding&) {
    return refuse("aliases are placed between steps, not derived");
}

double estimate(const match::Binding&, const CallChoice&, const match::Machine&) { return 0; }

class Alias : public CallInstance {
public:
    explicit Alias(int64_t bytes) : bytes_(bytes) {}

    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        if (results[0] != arguments[0] && bytes_ > 0)
            std::memcpy(results[0], arguments[0], static_cast<size_t>(bytes_));
    }

private:
    int64_t bytes_;
};

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    return std::make_unique<Alias>(program.buffers[step.results[0]].bytes());
}

}  // namespace

extern const LibraryCall alias{
    "alias", "none",  "the same storage under another shape; copied where it is not shared",
    {},      choices, estimate,
    prepare};

}  // namespace ollie::backends::cpu::calls
