#include "tensor/element_type.h"

#include <array>

namespace ollie {
namespace {

struct Row {
    ElementType type;
    std::string_view name;
    int64_t size;
};

constexpr std::array<Row, 11> rows{{{ElementType::F32, "f32", 4},
                                    {ElementType::F64, "f64", 8},
                                    {ElementType::I8, "i8", 1},
                                    {ElementType::I16, "i16", 2},
                                    {ElementType::I32, "i32", 4},
                                    {ElementType::I64, "i64", 8},
                                    {ElementType::U8, "u8", 1},
                                    {ElementType::U16, "u16", 2},
                                    {ElementType::U32, "u32", 4},
                                    {ElementType::U64, "u64", 8},
                                    {ElementType::Bool, "bool", 1}}};

}  // namespace

std::string_view name_of(ElementType type) { return rows[static_cast<size_t>(type)].name; }

std::optional<ElementType> element_type_of(std::string_view name) {
    for (const Row& row : rows)
        if (row.name == name) return row.type;
    return std::nullopt;
}

int64_t size_of(ElementType type) { return rows[static_cast<size_t>(type)].size; }

bool is_float(ElementType type) { return type == ElementType::F32 || type == ElementType::F64; }

bool is_integer(ElementType type) { return !is_float(type) && type != ElementType::Bool; }

}  // namespace ollie
