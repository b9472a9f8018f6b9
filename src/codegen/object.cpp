#include "codegen/object.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/error.h"

namespace ollie::codegen {

std::vector<std::byte> to_bytes(const KernelObject& object) {
    std::string text =
        fmt::format("{} {} {}\n", object.symbol, object.implementation, object.arguments) +
        object.code;
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

KernelObject object_from(std::span<const std::byte> bytes) {
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    size_t end = text.find('\n');
    CHECK(end != std::string::npos, "not an object of a kernel");
    KernelObject object;
    std::istringstream(text.substr(0, end)) >> object.symbol >> object.implementation >>
        object.arguments;
    object.code = text.substr(end + 1);
    return object;
}

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ollie-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
        throw_user_error("cannot make a temporary folder {}: {}", pattern, std::strerror(errno));
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace ollie::codegen
