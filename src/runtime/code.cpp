#include "runtime/code.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace ollie::runtime {
namespace {

/// Writes everything; false with errno where that fails.
bool write_all(int file, const std::byte* data, size_t size) {
    while (size > 0) {
        ssize_t written = write(file, data, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        data += written;
        size -= static_cast<size_t>(written);
    }
    return true;
}

struct Feature {
    std::string_view name;
    bool is_present;
};

#if defined(__x86_64__)
/// Names with dots are no parts of targets.
std::array<Feature, 13> features() {
    __builtin_cpu_init();
    auto has = [](int supported) { return supported != 0; };
    bool avx512 =
        has(__builtin_cpu_supports("avx512f")) && has(__builtin_cpu_supports("avx512bw")) &&
        has(__builtin_cpu_supports("avx512dq")) && has(__builtin_cpu_supports("avx512vl")) &&
        has(__builtin_cpu_supports("avx512cd"));
    return {{{"x86", true},
             {"64", true},
             {"sse42", has(__builtin_cpu_supports("sse4.2"))},
             {"avx", has(__builtin_cpu_supports("avx"))},
             {"f16c", has(__builtin_cpu_supports("f16c"))},
             {"fma", has(__builtin_cpu_supports("fma"))},
             {"avx2", has(__builtin_cpu_supports("avx2"))},
             {"bmi2", has(__builtin_cpu_supports("bmi2"))},
             {"avx512", avx512},
             {"vnni", has(__builtin_cpu_supports("avx512vnni"))},
             {"ifma", has(__builtin_cpu_supports("avx512ifma"))},
             {"bf16", has(__builtin_cpu_supports("avx512bf16"))},
             {"vbmi", has(__builtin_cpu_supports("avx512vbmi"))}}};
}
#else
std::array<Feature, 1> features() { return {{{"generic", true}}}; }
#endif

}  // namespace

Code::Code(const std::vector<std::byte>& bytes) {
    file_ = memfd_create("ollie-kernels", MFD_CLOEXEC);
    if (file_ < 0) throw_user_error("generated code cannot be loaded: {}", std::strerror(errno));
    if (!write_all(file_, bytes.data(), bytes.size())) {
        std::string reason = std::strerror(errno);
        close(file_);
        throw_user_error("generated code cannot be loaded: {}", reason);
    }
    // The loader knows libraries by name: the file stays open as long as the library is loaded, so
    // that no other gets its name.
    handle_ = dlopen(fmt::format("/proc/self/fd/{}", file_).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* message = dlerror();
    std::string reason = message != nullptr ? message : "unknown reason";
    close(file_);
    throw_user_error("generated code cannot be loaded: {}", reason);
}

Code::~Code() {
    dlclose(handle_);
    close(file_);
}

Code::Entry Code::entry(const std::string& symbol) const {
    void* address = dlsym(handle_, symbol.c_str());
    if (address == nullptr) throw_user_error("the program's code has no kernel \"{}\"", symbol);
    return reinterpret_cast<Entry>(address);
}

std::string missing_features(std::string_view target) {
    std::string missing;
    auto known = features();
    while (!target.empty()) {
        size_t end = std::min(target.find('-'), target.size());
        std::string_view name = target.substr(0, end);
        target.remove_prefix(std::min(end + 1, target.size()));
        bool is_present = false;
        for (const Feature& feature : known)
            is_present = is_present || (feature.name == name && feature.is_present);
        if (!is_present) missing += (missing.empty() ? "" : " ") + std::string(name);
    }
    return missing;
}

std::string processor_features() {
    std::string text;
    for (const Feature& feature : features())
        if (feature.is_present) text += (text.empty() ? "" : " ") + std::string(feature.name);
    return text;
}

}  // namespace ollie::runtime
