#pragma once

#include <filesystem>

#include "onnx/proto.h"

namespace ollie::onnx {

/// Reads a model file. External tensors stay where they are. Errors: UserError with the path: it
/// cannot be read, is empty, over 2 GiB (the limit of the format), truncated, no protobuf, has no
/// graph.
void load(const std::filesystem::path&, ::onnx::ModelProto&);

}  // namespace ollie::onnx
