#include <fmt/format.h>

#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {
namespace {

Results express(const Context& context) {
    Shape shape = context.input(0)->shape();
    int64_t rank = static_cast<int64_t>(shape.size());
    int64_t axis = context.int_attribute("axis", 1);
    if (axis < -rank || axis > rank)
        context.fail(fmt::format("axis {} is outside [{}, {}]", axis, -rank, rank));
    auto middle = shape.begin() + (axis < 0 ? axis + rank : axis);
    return reshaped(context,
                    {element_count({shape.begin(), middle}), element_count({middle, shape.end()})});
}

}  // namespace

extern const Operator flatten{"Flatten",
                              {},
                              1,
                              "a matrix of the axes before `axis` and those from it on",
                              {{"axis", "default 1"}},
                              express};

}  // namespace ollie::operators::entries
