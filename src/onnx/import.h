#pragma once

#include <filesystem>

#include "onnx/onnx.h"
#include "onnx/proto.h"

namespace ollie::onnx {

/// The graph of a model whose external tensors lie in `folder`. Tensors are taken out of the model
/// as they are read, so that there is one copy of them. Errors: as of read.
graph::Graph import_model(::onnx::ModelProto&, const std::filesystem::path& folder,
                          const ImportOptions&);

}  // namespace ollie::onnx
