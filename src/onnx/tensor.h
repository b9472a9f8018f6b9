#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "onnx/proto.h"
#include "tensor/host_array.h"

namespace ollie::onnx {

/// The type with this number in the schema, nothing if it is none of ours.
std::optional<ElementType> element_type_of(int number);
/// The schema's name of a type: "FLOAT16".
std::string type_name(int number);

/// Whether a tensor can have this shape: no extent is below 0, and neither extents nor bytes are
/// over 2^48, so that sums and products of a few of them do not overflow.
bool is_possible(ElementType, const Shape&);

/// The elements of a tensor, wherever they are: raw, typed, or in a file of the model's folder.
/// `what` names the tensor in messages: `initializer "w"`. Errors: Unsupported for an element type
/// that is none of ours; UserError for extents and data that disagree, and for external data
/// that is missing, too short, or outside the folder (also by way of links).
HostArray read_tensor(const ::onnx::TensorProto&, const std::filesystem::path& folder,
                      const std::string& what);

}  // namespace ollie::onnx
