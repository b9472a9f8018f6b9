#include "backends/cpu/calls.h"

#include <algorithm>

namespace ollie::backends::cpu {

const LibraryCall* find(std::string_view name) {
    const auto& calls = catalogue();
    auto found = std::find_if(calls.begin(), calls.end(),
                              [&](const LibraryCall* call) { return call->name == name; });
    return found == calls.end() ? nullptr : *found;
}

}  // namespace ollie::backends::cpu
