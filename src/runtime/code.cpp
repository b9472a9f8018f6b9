#include "runtime/code.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace ollie::runtime {
namespace {

void check_machine(const std::string& target) {
    __builtin_cpu_init();
    bool narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool wide = narrow && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    bool runs = target == "x86-64-avx512" ? wide : target == "x86-64-avx2-fma" && narrow;
    if (!runs)
        throw_user_error("the program was compiled for {}, which this machine is not", target);
}

void write_all(int file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written <= 0) throw_user_error("no memory for the program's code");
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
}

}  // namespace

Code::Code(std::span<const std::byte> bytes, const std::string& target) {
    if (bytes.empty()) return;
    check_machine(target);
    file_ = memfd_create("ollie-kernels", MFD_CLOEXEC);
    try {
        if (file_ < 0) throw_user_error("no memory for the program's code");
        write_all(file_, bytes);
        std::string path = "/proc/self/fd/" + std::to_string(file_);
        handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle_) throw_user_error("the program's code cannot be loaded: {}", dlerror());
    } catch (...) {
        if (file_ >= 0) close(file_);
        throw;
    }
}

Code::~Code() {
    if (handle_) dlclose(handle_);
    if (file_ >= 0) close(file_);
}

Code::Entry Code::entry(const std::string& symbol) const {
    void* address = handle_ ? dlsym(handle_, symbol.c_str()) : nullptr;
    if (!address) throw_user_error("the program's code has no kernel \"{}\"", symbol);
    return reinterpret_cast<Entry>(address);
}

}  // namespace ollie::runtime
