#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

template <typename T>
HostArray array_of(ElementType type, const Shape& shape, const std::vector<T>& values) {
    HostArray array(type, shape);
    for (size_t i = 0; i < values.size(); ++i) {
        if (type == ElementType::F32)
            array.as<float>()[i] = static_cast<float>(values[i]);
        else
            array.as<int64_t>()[i] = static_cast<int64_t>(values[i]);
    }
    return array;
}

std::shared_ptr<const HostArray> value_of(const Context& context) {
    const Attributes& attributes = context.node.attributes;
    auto tensor = context.node.tensors.find("value");
    if (tensor != context.node.tensors.end()) return tensor->second;
    HostArray array;
    if (auto number = find_float(attributes, "value_float"))
        array = array_of<double>(ElementType::F32, {}, {*number});
    else if (auto integer = find_int(attributes, "value_int"))
        array = array_of<int64_t>(ElementType::I64, {}, {*integer});
    else if (auto numbers = find_floats(attributes, "value_floats"))
        array = array_of(ElementType::F32, {static_cast<int64_t>(numbers->size())}, *numbers);
    else if (auto integers = find_ints(attributes, "value_ints"))
        array = array_of(ElementType::I64, {static_cast<int64_t>(integers->size())}, *integers);
    else
        context.unsupported("a constant that is neither a dense tensor nor numbers");
    return std::make_shared<const HostArray>(std::move(array));
}

Results express(const Context& context) {
    auto values = value_of(context);
    return {context.arena.weight(context.output_name(0), values->type(), values->shape(), values)};
}

}  // namespace

extern const Operator constant{
    "Constant",
    {},
    1,
    "a weight with known values",
    {{"value", "a dense tensor"}, {"value_float", "or value_floats, value_int, value_ints"}},
    express};

}  // namespace ollie::operators::entries
