#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "program/program.h"

namespace ollie::runtime {

/// All of a program but the values of constants and the code, as JSON.
std::string header_text(const program::Program&);

/// The reverse. Constants have arrays of zeros; `code_bytes` gets the length of the code. Errors:
/// UserError that begins with `where`.
program::Program program_from_header(std::string_view text, size_t& code_bytes,
                                     const std::string& where);

}  // namespace ollie::runtime
