#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ollie::runtime {

/// Generated machine code, loaded from memory.
class Code {
public:
    /// int symbol(arguments, results, context); 0 is success.
    using Entry = int (*)(void* const* arguments, void* const* results, void* context);

    /// A shared object as bytes. Errors: UserError with the loader's message.
    explicit Code(const std::vector<std::byte>& bytes);
    ~Code();
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;

    /// Errors: UserError if there is no such symbol.
    Entry entry(const std::string& symbol) const;

private:
    int file_ = -1;
    void* handle_ = nullptr;
};

/// What the target (as in Program::code_target) needs and this processor lacks, as text; empty if
/// the code can run here.
std::string missing_features(std::string_view target);

/// The features of this processor that code may depend on: "x86-64 sse4.2 avx avx2 fma ...".
std::string processor_features();

}  // namespace ollie::runtime
