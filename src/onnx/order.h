#pragma once

#include <string>
#include <vector>

#include "onnx/proto.h"

namespace ollie::onnx {

/// The nodes that the outputs need, as positions in the file, each after those that it reads and
/// otherwise in the order of the file. Errors: UserError for a name that is defined twice, read but
/// never defined, or that depends on itself.
std::vector<int> order_of(const ::onnx::GraphProto&);

/// "node "conv1" (Conv)", by position in the file where the node has no name.
std::string title_of(const ::onnx::GraphProto&, int node);

}  // namespace ollie::onnx
