#include "onnx/attributes.h"

#include <onnx.pb.h>

#include "base/error.h"
#include "onnx/tensor.h"

namespace ollie::onnx {
namespace {

using Proto = ::onnx::AttributeProto;

/// Early files state no type: the field that is filled tells it.
Proto::AttributeType type_of(const Proto& attribute) {
    if (attribute.type() != Proto::UNDEFINED) return attribute.type();
    if (attribute.has_f()) return Proto::FLOAT;
    if (attribute.has_i()) return Proto::INT;
    if (attribute.has_s()) return Proto::STRING;
    if (attribute.has_t()) return Proto::TENSOR;
    if (attribute.has_g()) return Proto::GRAPH;
    if (attribute.floats_size() > 0) return Proto::FLOATS;
    if (attribute.strings_size() > 0) return Proto::STRINGS;
    return Proto::INTS;
}

template <typename T, typename Data>
std::vector<T> list_of(const Data& data) {
    return std::vector<T>(data.begin(), data.end());
}

std::string title(const graph::Node& node, const std::string& name) {
    return fmt::format("node \"{}\" ({}): attribute {}", node.name, node.operator_name, name);
}

void read_one(const Proto& attribute, const std::filesystem::path& folder, graph::Node& node) {
    const std::string& name = attribute.name();
    Attributes& to = node.attributes;
    Proto::AttributeType type = type_of(attribute);
    if (!attribute.ref_attr_name().empty())
        throw_unsupported("{}: refers to an attribute of a function", title(node, name));
    switch (type) {
        case Proto::FLOAT:
            to[name] = static_cast<double>(attribute.f());
            break;
        case Proto::INT:
            to[name] = static_cast<int64_t>(attribute.i());
            break;
        case Proto::STRING:
            to[name] = attribute.s();
            break;
        case Proto::FLOATS:
            to[name] = list_of<double>(attribute.floats());
            break;
        case Proto::INTS:
            to[name] = list_of<int64_t>(attribute.ints());
            break;
        case Proto::STRINGS:
            to[name] = list_of<std::string>(attribute.strings());
            break;
        case Proto::TENSOR:
            node.tensors[name] = std::make_shared<const HostArray>(
                read_tensor(attribute.t(), folder, title(node, name)));
            break;
        default:
            throw_unsupported("{} is a {}", title(node, name), Proto::AttributeType_Name(type));
    }
}

}  // namespace

void read_attributes(const ::onnx::NodeProto& proto, const std::filesystem::path& folder,
                     graph::Node& node) {
    for (const Proto& attribute : proto.attribute()) {
        const std::string& name = attribute.name();
        if (node.attributes.contains(name) || node.tensors.contains(name))
            throw_user_error("{} is given twice", title(node, name));
        read_one(attribute, folder, node);
    }
}

}  // namespace ollie::onnx
