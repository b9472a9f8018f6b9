#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ollie::runtime {

/// The program's machine code, loaded from memory.
class Code {
public:
    using Entry = int (*)(void* const* arguments, void* const* results, void* context);

    /// `target`: what it was compiled for. Errors: UserError where this machine cannot run it.
    Code(std::span<const std::byte> bytes, const std::string& target);
    ~Code();
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;

    Entry entry(const std::string& symbol) const;

private:
    /// Kept open: the loader knows libraries by name, and the name is this number.
    int file_ = -1;
    void* handle_ = nullptr;
};

}  // namespace ollie::runtime
