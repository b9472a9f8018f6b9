#include <fmt/format.h>

#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {
namespace {

/// Replaces 0 by the input's extent and -1 by what is left.
Shape resolved(const Context& context, Shape shape, const Shape& input) {
    bool keeps_zero = context.int_attribute("allowzero", 0) != 0;
    int64_t known = 1;
    int64_t* unknown = nullptr;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0 && !keeps_zero) {
            if (i >= input.size()) context.fail("a 0 of the shape has no axis to copy");
            shape[i] = input[i];
        }
        if (shape[i] < -1 || (shape[i] == -1 && unknown != nullptr))
            context.fail("the shape may have a single -1 and nothing below");
        if (shape[i] == -1)
            unknown = &shape[i];
        else
            known *= shape[i];
    }
    if (unknown == nullptr) return shape;
    int64_t count = element_count(input);
    if (known == 0 ? count != 0 : count % known != 0)
        context.fail(fmt::format("{} elements cannot be split by {}", count, known));
    *unknown = known == 0 ? 0 : count / known;
    return shape;
}

Results express(const Context& context) {
    Shape shape = context.constant_ints(1);
    return reshaped(context, resolved(context, shape, context.input(0)->shape()));
}

}  // namespace

extern const Operator reshape{
    "Reshape",
    {},
    5,
    "the same elements in row-major order under a constant shape (0 copies, -1 is inferred)",
    {{"allowzero", "1: a 0 of the shape means 0; default 0"}},
    express};

}  // namespace ollie::operators::entries
