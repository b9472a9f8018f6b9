#pragma once

#include <string_view>

#include "program/program.h"

namespace ollie::program {

/// Reads what print(Program) wrote: print(parse(text)) == text. Values of constants, code and
/// derivations are no part of the text. Errors: UserError with line, found and expected.
Program parse(std::string_view text);

}  // namespace ollie::program
