#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "program/program.h"

namespace ollie::runtime {

/// All of a program but the values of constants and the code, as JSON, and the device it is for.
std::string header_text(const program::Program&, const std::string& device);

struct Header {
    program::Program program;  ///< Constants have no values yet, and there is no code.
    uint64_t code_bytes = 0;
    std::string device;
};

/// The reverse. What is given is not trusted: indices, extents, orders and kinds are checked.
/// Errors: UserError that begins with `where`.
Header program_from_header(std::string_view text, const std::string& where);

}  // namespace ollie::runtime
