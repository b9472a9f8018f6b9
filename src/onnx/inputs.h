#pragma once

#include <vector>

#include "graph/graph.h"
#include "onnx/onnx.h"
#include "onnx/proto.h"

namespace ollie::onnx {

/// The graph's inputs without initializers, with static shapes: those of the file, where symbolic
/// dimensions are bound by the options. A symbol bound by one input's shape is bound in all.
/// Errors: UserError for a shape of an unknown input, of another rank, that contradicts the file
/// or another; one that names every dimension which stays open. Unsupported for element types
/// that are none of ours and for inputs that are no tensors.
std::vector<graph::Value> inputs_of(const ::onnx::GraphProto&, const ImportOptions&);

}  // namespace ollie::onnx
