#include "backends/cpu/version.h"
#include "base/error.h"
#include "runtime/session.h"

namespace ollie::runtime {

std::string device_key() {
    __builtin_cpu_init();
    std::string features;
    auto add = [&](const char* name, bool has) {
        if (has) features += features.empty() ? name : std::string(" ") + name;
    };
    add("avx2", __builtin_cpu_supports("avx2"));
    add("fma", __builtin_cpu_supports("fma"));
    add("avx512f", __builtin_cpu_supports("avx512f"));
    add("avx512bw", __builtin_cpu_supports("avx512bw"));
    add("avx512dq", __builtin_cpu_supports("avx512dq"));
    add("avx512vl", __builtin_cpu_supports("avx512vl"));
    return fmt::format("{}; {}", features, backends::cpu::library_versions());
}

}  // namespace ollie::runtime
