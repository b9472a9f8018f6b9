#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace ollie::onnx {

struct ImportOptions {
    /// Input name -> shape; symbolic dimensions must be bound by these (or have a value).
    std::map<std::string, Shape> shapes;
};

/// Reads an ONNX file (opset 7 on, external data): static shapes are inferred from the operators'
/// meanings, constant subgraphs (shape arithmetic) are folded, dropout-like identities kept as
/// nodes. Errors: UserError with the path (not an ONNX file, truncated), the node (bad attribute,
/// found, allowed), the input (symbolic dimension without --shape); Unsupported listing every node
/// with an unknown operator or opset at once.
graph::Graph read(const std::filesystem::path&, const ImportOptions& = {});

}  // namespace ollie::onnx
