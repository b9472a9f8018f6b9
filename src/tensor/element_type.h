#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ollie {

/// Types of tensor elements. Integers are exact and wrap; Bool is one byte, 0 or 1.
enum class ElementType { F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool };

/// "f32", "f64", "i8", ..., "u64", "bool".
std::string_view name_of(ElementType);
std::optional<ElementType> element_type_of(std::string_view name);

/// Bytes of one element.
int64_t size_of(ElementType);
bool is_float(ElementType);
bool is_integer(ElementType);

}  // namespace ollie
