#include "runtime/calls.h"

#include <fmt/ranges.h>

#include "backends/cpu/calls.h"
#include "backends/reference/calls.h"

namespace ollie::runtime {

const backends::LibraryCall& find_call(std::string_view name) {
    std::vector<std::string> known;
    for (const auto* calls : {&backends::cpu::catalogue(), &backends::reference::catalogue()}) {
        for (const backends::LibraryCall* call : *calls) {
            if (call->name == name) return *call;
            known.push_back(call->name);
        }
    }
    throw_user_error(
        "the program uses the call \"{}\", which this library does not have; it has {}", name,
        fmt::join(known, ", "));
}

}  // namespace ollie::runtime
