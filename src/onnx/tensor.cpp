#include "onnx/tensor.h"

#include <algorithm>
#include <cstring>

#include <onnx.pb.h>

#include "base/error.h"
#include "onnx/external.h"

namespace ollie::onnx {
namespace {

using Proto = ::onnx::TensorProto;

Shape shape_of(const Proto& tensor, ElementType type, const std::string& what) {
    Shape shape(tensor.dims().begin(), tensor.dims().end());
    if (!is_possible(type, shape))
        throw_user_error("{}: shape {} is not possible", what, to_text(shape));
    return shape;
}

/// Sizes are compared before memory is taken: a damaged file may state any extents.
template <typename To, typename Data>
HostArray from_typed(const Data& data, ElementType type, const Shape& shape,
                     const std::string& what) {
    if (data.size() != element_count(shape))
        throw_user_error("{}: {} elements of data, expected {} for shape {}", what, data.size(),
                         element_count(shape), to_text(shape));
    HostArray array(type, shape);
    auto elements = array.as<To>();
    for (int i = 0; i < data.size(); ++i)
        elements[static_cast<size_t>(i)] = static_cast<To>(data[i]);
    return array;
}

/// Small integers share a field of the schema, as do the unsigned ones of 32 and 64 bits.
HostArray from_typed(const Proto& tensor, ElementType type, const Shape& shape,
                     const std::string& what) {
    auto from = [&]<typename To>(To, const auto& data) {
        return from_typed<To>(data, type, shape, what);
    };
    switch (type) {
        case ElementType::F32:
            return from(float{}, tensor.float_data());
        case ElementType::F64:
            return from(double{}, tensor.double_data());
        case ElementType::I8:
            return from(int8_t{}, tensor.int32_data());
        case ElementType::I16:
            return from(int16_t{}, tensor.int32_data());
        case ElementType::I32:
            return from(int32_t{}, tensor.int32_data());
        case ElementType::I64:
            return from(int64_t{}, tensor.int64_data());
        case ElementType::U16:
            return from(uint16_t{}, tensor.int32_data());
        case ElementType::U32:
            return from(uint32_t{}, tensor.uint64_data());
        case ElementType::U64:
            return from(uint64_t{}, tensor.uint64_data());
        case ElementType::U8:
        case ElementType::Bool:
            break;
    }
    return from(uint8_t{}, tensor.int32_data());
}

HostArray from_raw(const std::string& raw, ElementType type, const Shape& shape,
                   const std::string& what) {
    int64_t bytes = element_count(shape) * size_of(type);
    if (static_cast<int64_t>(raw.size()) != bytes)
        throw_user_error("{}: {} bytes of data, expected {} for {}[{}]", what, raw.size(), bytes,
                         name_of(type), to_text(shape));
    HostArray array(type, shape);
    if (!raw.empty()) std::memcpy(array.data(), raw.data(), raw.size());
    return array;
}

HostArray read(const Proto& tensor, ElementType type, const Shape& shape,
               const std::filesystem::path& folder, const std::string& what) {
    if (tensor.data_location() == Proto::EXTERNAL)
        return read_external(tensor, type, shape, folder, what);
    if (tensor.has_raw_data()) return from_raw(tensor.raw_data(), type, shape, what);
    return from_typed(tensor, type, shape, what);
}

}  // namespace

std::optional<ElementType> element_type_of(int number) {
    switch (number) {
        case Proto::FLOAT:
            return ElementType::F32;
        case Proto::DOUBLE:
            return ElementType::F64;
        case Proto::INT8:
            return ElementType::I8;
        case Proto::INT16:
            return ElementType::I16;
        case Proto::INT32:
            return ElementType::I32;
        case Proto::INT64:
            return ElementType::I64;
        case Proto::UINT8:
            return ElementType::U8;
        case Proto::UINT16:
            return ElementType::U16;
        case Proto::UINT32:
            return ElementType::U32;
        case Proto::UINT64:
            return ElementType::U64;
        case Proto::BOOL:
            return ElementType::Bool;
        default:
            return std::nullopt;
    }
}

std::string type_name(int number) {
    if (!Proto::DataType_IsValid(number)) return fmt::format("{}", number);
    return Proto::DataType_Name(static_cast<Proto::DataType>(number));
}

bool is_possible(ElementType type, const Shape& shape) {
    constexpr int64_t limit = int64_t{1} << 48;
    int64_t bytes = size_of(type);
    bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    for (int64_t extent : shape) {
        if (extent < 0 || extent > limit) return false;
        if (is_empty) continue;
        if (extent > limit / bytes) return false;
        bytes *= extent;
    }
    return true;
}

HostArray read_tensor(const Proto& tensor, const std::filesystem::path& folder,
                      const std::string& what) {
    auto type = element_type_of(tensor.data_type());
    if (!type) throw_unsupported("{}: element type {}", what, type_name(tensor.data_type()));
    if (tensor.has_segment()) throw_unsupported("{}: a segment of a tensor", what);
    HostArray array = read(tensor, *type, shape_of(tensor, *type, what), folder, what);
    if (*type == ElementType::Bool)
        for (uint8_t& element : array.as<uint8_t>()) element = element != 0;
    return array;
}

}  // namespace ollie::onnx
