#include <algorithm>

#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Results integers(const Context& context, const Shape& shape, const std::vector<int64_t>& values) {
    HostArray array(ElementType::I64, shape);
    std::copy(values.begin(), values.end(), array.as<int64_t>().begin());
    return {context.arena.weight(context.output_name(0), ElementType::I64, shape,
                                 std::make_shared<const HostArray>(std::move(array)))};
}

Results express(const Context& context) {
    Shape shape = context.input(0)->shape();
    if (context.node.operator_name == "Size") return integers(context, {}, {element_count(shape)});
    int64_t rank = static_cast<int64_t>(shape.size());
    auto bound = [&](const std::string& name, int64_t otherwise) {
        int64_t value = context.int_attribute(name, otherwise);
        return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
    };
    int64_t start = bound("start", 0);
    int64_t end = std::max(bound("end", rank), start);
    std::vector<int64_t> part(shape.begin() + start, shape.begin() + end);
    return integers(context, {end - start}, part);
}

}  // namespace

extern const Operator shape{"Shape",
                            {"Size"},
                            1,
                            "extents of the input, or their product, as a weight with known values",
                            {{"start", "Shape: first axis, default 0"},
                             {"end", "Shape: axis behind the last, default all"}},
                            express};

}  // namespace ollie::operators::entries
