#pragma once

#include <filesystem>

#include "graph/graph.h"
#include "onnx/proto.h"

namespace ollie::onnx {

/// Reads the node's attributes and tensor attributes into `node`. Errors: Unsupported for graphs,
/// sparse tensors and types as attributes.
void read_attributes(const ::onnx::NodeProto&, const std::filesystem::path& folder,
                     graph::Node& node);

}  // namespace ollie::onnx
