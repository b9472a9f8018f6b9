#include <map>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

const std::map<std::string, Function>& functions() {
    static const std::map<std::string, Function> table{
        {"Abs", Function::Abs},           {"Sqrt", Function::Sqrt},
        {"Exp", Function::Exp},           {"Log", Function::Log},
        {"Floor", Function::Floor},       {"Ceil", Function::Ceil},
        {"Round", Function::Round},       {"Sign", Function::Sign},
        {"Erf", Function::Erf},           {"Sin", Function::Sin},
        {"Cos", Function::Cos},           {"Tan", Function::Tan},
        {"Asin", Function::Asin},         {"Acos", Function::Acos},
        {"Atan", Function::Atan},         {"Sinh", Function::Sinh},
        {"Cosh", Function::Cosh},         {"Asinh", Function::Asinh},
        {"Acosh", Function::Acosh},       {"Atanh", Function::Atanh},
        {"Tanh", Function::Tanh},         {"Sigmoid", Function::Sigmoid},
        {"Softplus", Function::Softplus}, {"Reciprocal", Function::Reciprocal}};
    return table;
}

Results express(const Context& context) {
    const std::string& name = context.node.operator_name;
    return elementwise(context, [&](Scalar x) {
        return name == "Neg" ? -x : x->arena->function(functions().at(name), {x});
    });
}

}  // namespace

extern const Operator unary{
    "Abs",
    {"Neg",  "Sqrt", "Reciprocal", "Exp",   "Log",   "Floor", "Ceil",    "Round",
     "Sign", "Erf",  "Sin",        "Cos",   "Tan",   "Asin",  "Acos",    "Atan",
     "Sinh", "Cosh", "Asinh",      "Acosh", "Atanh", "Tanh",  "Sigmoid", "Softplus"},
    6,
    "the function of that name, element-wise; Round takes halves to even",
    {},
    express};

}  // namespace ollie::operators::entries
