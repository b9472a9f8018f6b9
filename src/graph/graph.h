#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/attributes.h"
#include "base/hash.h"
#include "tensor/host_array.h"
#include "tensor/shape.h"

/// The graph language: operators, values, attributes, static shapes; one node per ONNX node.
///
///   Graph     ::= graph name opset integer Line*
///   Line      ::= input Value | constant Value     in the order of the file
///               | Results = Operator Attributes? ( Arguments ) node
///               | output name
///   Value     ::= name : type [ extents ]
///   Results   ::= Value or - , ...                 - stands for an omitted one
///   Arguments ::= name or - , ...
///   Operator  ::= (domain text)? name              without a domain: ai.onnx
///   Attributes::= < name = (attribute | tensor type [ extents ]) , ... >
///
///   graph fsrcnn opset 17
///   input x: f32[1, 1, 32, 32]
///   constant body.0.weight: f32[56, 1, 5, 5]
///   y: f32[1, 56, 32, 32] = Conv<pads = [2, 2, 2, 2]>(x, body.0.weight) "/body/0"
///   output y
///
/// Nodes are in topological order; every value is an input, a constant or the result of one node.
/// Names that are no identifiers, or words of the language, are quoted.
namespace ollie::graph {

struct Value {
    std::string name;
    ElementType type = ElementType::F32;
    Shape shape;
    std::shared_ptr<const HostArray> constant;  ///< Initializers and folded values.
};

struct Node {
    std::string name;  ///< Unique; made from operator and position where the file has none.
    std::string operator_name;  ///< "Conv"
    std::string domain;         ///< "" is ai.onnx
    Attributes attributes;
    std::map<std::string, std::shared_ptr<const HostArray>> tensors;  ///< Tensor attributes.
    std::vector<int> inputs;   ///< Indices into values; -1 for an omitted optional input.
    std::vector<int> outputs;  ///< -1 for an omitted optional output.
};

struct Graph {
    std::string name;
    int64_t opset = 0;  ///< Of ai.onnx.
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<int> inputs;  ///< Without initializers.
    std::vector<int> outputs;
};

std::string print(const Graph&);
/// Reads what print wrote; values of constants are no part of the text (zeros of their shape).
/// Errors: UserError with line, column, found and expected.
Graph parse(std::string_view text);
/// Throws InternalError with all violations.
void verify(const Graph&);
/// Depends on what the graph computes and on the names of its inputs, outputs and nodes; not on
/// the names or the numbering of its other values.
Key hash(const Graph&);

}  // namespace ollie::graph
