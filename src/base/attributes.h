#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ollie {

/// A neutral map from names to values: the attributes of a graph node, the parameters of a step.
using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

std::optional<int64_t> find_int(const Attributes&, std::string_view name);
std::optional<double> find_float(const Attributes&, std::string_view name);
std::optional<std::string> find_string(const Attributes&, std::string_view name);
std::optional<std::vector<int64_t>> find_ints(const Attributes&, std::string_view name);
std::optional<std::vector<double>> find_floats(const Attributes&, std::string_view name);
std::optional<std::vector<std::string>> find_strings(const Attributes&, std::string_view name);

/// One attribute as text: 3, 0.5 (always with a point or exponent), "text", [1, 2], [0.5], ["a"].
std::string to_text(const Attribute&);

class TextReader;
/// The reverse. Errors: as the reader's.
Attribute read_attribute(TextReader&);

}  // namespace ollie
