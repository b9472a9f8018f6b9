#pragma once

#include <filesystem>
#include <string>

#include "onnx/proto.h"
#include "tensor/host_array.h"

namespace ollie::onnx {

/// The elements in the file that the tensor names, which must lie in the model's folder. Errors:
/// UserError that begins with `what`, before any memory is taken.
HostArray read_external(const ::onnx::TensorProto&, ElementType, const Shape&,
                        const std::filesystem::path& folder, const std::string& what);

}  // namespace ollie::onnx
