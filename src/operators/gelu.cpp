#include <numbers>

#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/broadcast.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar exact(Scalar x) {
    Scalar erf = x->arena->function(Function::Erf, {x * (1 / std::numbers::sqrt2)});
    return x * 0.5 * (erf + 1.0);
}

Scalar by_tanh(Scalar x) {
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    Scalar inner = (x + x * x * x * 0.044715) * scale;
    return x * 0.5 * (x->arena->function(Function::Tanh, {inner}) + 1.0);
}

Results express(const Context& context) {
    std::string form = context.string_attribute("approximate", "none");
    if (form != "none" && form != "tanh")
        context.fail(fmt::format("attribute approximate is \"{}\", expected none or tanh", form));
    return elementwise(context, form == "none" ? exact : by_tanh);
}

}  // namespace

extern const Operator gelu{"Gelu",
                           {},
                           20,
                           "x / 2 * (1 + erf(x / sqrt(2))), or its approximation by tanh",
                           {{"approximate", "none (default) or tanh"}},
                           express};

}  // namespace ollie::operators::entries
