#include <algorithm>

#include <fmt/format.h>

#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {
namespace {

std::vector<size_t> unit_axes(const Shape& shape) {
    std::vector<size_t> axes;
    for (size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == 1) axes.push_back(i);
    return axes;
}

Results squeeze_axes(const Context& context) {
    Shape shape = context.input(0)->shape();
    auto given = ints_of(context, "axes", 1);
    auto axes = given ? normalized_axes(context, *given, shape.size()) : unit_axes(shape);
    for (size_t i = axes.size(); i-- > 0;) {
        if (shape[axes[i]] != 1)
            context.fail(fmt::format("axis {} has extent {}", axes[i], shape[axes[i]]));
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axes[i]));
    }
    return reshaped(context, shape);
}

Results unsqueeze_axes(const Context& context) {
    Shape shape = context.input(0)->shape();
    auto given = ints_of(context, "axes", 1);
    if (!given) context.fail("axes are missing");
    for (size_t axis : normalized_axes(context, *given, shape.size() + given->size()))
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return reshaped(context, shape);
}

Results express(const Context& context) {
    return context.node.operator_name == "Squeeze" ? squeeze_axes(context)
                                                   : unsqueeze_axes(context);
}

}  // namespace

extern const Operator squeeze{
    "Squeeze",
    {"Unsqueeze"},
    1,
    "drops axes of extent 1, or inserts them",
    {{"axes",
      "before opset 13; then input 1, which must be constant; Squeeze: default all of "
      "extent 1"}},
    express};

}  // namespace ollie::operators::entries
