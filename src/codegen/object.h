#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ollie::codegen {

/// One compiled kernel between `compile` and `link`: relocatable code and what its entry needs.
struct KernelObject {
    std::string symbol;          ///< What callers look for.
    std::string implementation;  ///< The function in the code; the same for equal code.
    int arguments = 0;
    std::string code;  ///< Empty: the result has no elements, nothing is to be done.
};

std::vector<std::byte> to_bytes(const KernelObject&);
KernelObject object_from(std::span<const std::byte>);

/// A folder of this process alone, removed with the object.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace ollie::codegen
