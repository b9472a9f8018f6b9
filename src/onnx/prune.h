#pragma once

#include "graph/graph.h"

namespace ollie::onnx {

/// Drops nodes and constants that no output needs. Inputs stay.
void prune(graph::Graph&);

}  // namespace ollie::onnx
