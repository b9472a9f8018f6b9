#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/attributes.h"
#include "base/hash.h"
#include "tensor/host_array.h"
#include "tensor/shape.h"

/// The graph language: operators, values, attributes, static shapes; one node per ONNX node.
///
///   Graph ::= Value* Node*            nodes in topological order
///   Value ::= name : type [extents] (= constant)?
///   Node  ::= outputs = Operator<attributes>(inputs) "name"
namespace ollie::graph {

struct Value {
    std::string name;
    ElementType type = ElementType::F32;
    Shape shape;
    std::shared_ptr<const HostArray> constant;  ///< Initializers and folded values.
};

struct Node {
    std::string name;           ///< Unique; made from operator and position where the file has none.
    std::string operator_name;  ///< "Conv"
    std::string domain;         ///< "" is ai.onnx
    Attributes attributes;
    std::map<std::string, std::shared_ptr<const HostArray>> tensors;  ///< Tensor attributes.
    std::vector<int> inputs;    ///< Indices into values; -1 for an omitted optional input.
    std::vector<int> outputs;   ///< -1 for an omitted optional output.
};

struct Graph {
    std::string name;
    int64_t opset = 0;  ///< Of ai.onnx.
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<int> inputs;   ///< Without initializers.
    std::vector<int> outputs;
};

std::string print(const Graph&);
/// Reads what print wrote; values of constants are no part of the text (zeros of their shape).
Graph parse(std::string_view text);
/// Throws InternalError with all violations.
void verify(const Graph&);
Key hash(const Graph&);

}  // namespace ollie::graph
