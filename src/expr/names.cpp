#include <array>

#include "base/error.h"
#include "expr/print.h"

namespace ollie::expr {
namespace {

struct FunctionRow {
    Function function;
    std::string_view name;
    size_t arity;
};

constexpr std::array<FunctionRow, 39> functions{{
    {Function::Reciprocal, "reciprocal", 1},
    {Function::Exp, "exp", 1},
    {Function::Log, "log", 1},
    {Function::Sqrt, "sqrt", 1},
    {Function::Tanh, "tanh", 1},
    {Function::Sigmoid, "sigmoid", 1},
    {Function::Softplus, "softplus", 1},
    {Function::Erf, "erf", 1},
    {Function::Abs, "abs", 1},
    {Function::Sign, "sign", 1},
    {Function::Floor, "floor", 1},
    {Function::Ceil, "ceil", 1},
    {Function::Round, "round", 1},
    {Function::Sin, "sin", 1},
    {Function::Cos, "cos", 1},
    {Function::Tan, "tan", 1},
    {Function::Asin, "asin", 1},
    {Function::Acos, "acos", 1},
    {Function::Atan, "atan", 1},
    {Function::Sinh, "sinh", 1},
    {Function::Cosh, "cosh", 1},
    {Function::Asinh, "asinh", 1},
    {Function::Acosh, "acosh", 1},
    {Function::Atanh, "atanh", 1},
    {Function::Not, "not", 1},
    {Function::IsNan, "is_nan", 1},
    {Function::Max, "max", 2},
    {Function::Min, "min", 2},
    {Function::Pow, "pow", 2},
    {Function::TruncDiv, "trunc_div", 2},
    {Function::FloorMod, "floor_mod", 2},
    {Function::TruncMod, "trunc_mod", 2},
    {Function::Less, "less", 2},
    {Function::LessEqual, "less_equal", 2},
    {Function::Equal, "equal", 2},
    {Function::And, "and", 2},
    {Function::Or, "or", 2},
    {Function::Xor, "xor", 2},
    {Function::Where, "where", 3},
}};

constexpr std::array<std::string_view, 4> monoids{"sum", "prod", "max", "min"};

const FunctionRow& row_of(Function function) {
    const FunctionRow& row = functions.at(static_cast<size_t>(function));
    CHECK(row.function == function);
    return row;
}

}  // namespace

std::string_view name_of(Function function) { return row_of(function).name; }

std::optional<Function> function_of(std::string_view name) {
    for (const FunctionRow& row : functions)
        if (row.name == name) return row.function;
    return std::nullopt;
}

size_t arity_of(Function function) { return row_of(function).arity; }

std::string_view name_of(Monoid monoid) { return monoids.at(static_cast<size_t>(monoid)); }

std::optional<Monoid> monoid_of(std::string_view name) {
    for (size_t i = 0; i < monoids.size(); ++i)
        if (monoids[i] == name) return static_cast<Monoid>(i);
    return std::nullopt;
}

}  // namespace ollie::expr
