#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "tensor/host_array.h"

/// Inputs on which programs are compared.
namespace ollie::optimize {

/// The inputs that stand for ordinary ones; all others are special.
inline constexpr std::string_view ordinary_inputs = "random";

struct InputPattern {
    std::string name;  ///< "random", "zeros", "NaN", ...
    std::function<double(uint64_t seed, int64_t i)> value;
    bool finite = true;

    bool is_ordinary() const { return name == ordinary_inputs; }
};

/// The ordinary one first, those with NaN and infinity last.
std::vector<InputPattern> input_patterns();

/// Row-major, in the program's order; small integers where the type is one.
std::vector<HostArray> inputs_of(const program::Program&, const InputPattern&, uint64_t seed);

}  // namespace ollie::optimize
