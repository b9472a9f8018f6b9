#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "expr/build.h"
#include "expr/node.h"
#include "graph/graph.h"

/// The import catalogue: one file per ONNX operator says its names and opsets, attributes, and its
/// meaning as expressions. Shapes and types of the results are those of the meaning.
namespace ollie::operators {

/// What the meaning of one node is built from.
struct Context {
    expr::Arena& arena;
    const graph::Graph& graph;
    const graph::Node& node;
    int64_t opset;
    /// Per input of the node, null where omitted. Constants are weights that know their values.
    std::vector<const expr::Tensor*> inputs;

    /// Attributes with ONNX's defaults. Errors: UserError naming node and attribute.
    int64_t int_attribute(const std::string& name, int64_t otherwise) const;
    double float_attribute(const std::string& name, double otherwise) const;
    std::string string_attribute(const std::string& name, const std::string& otherwise) const;
    std::optional<std::vector<int64_t>> ints_attribute(const std::string& name) const;

    bool has_input(size_t index) const { return index < inputs.size() && inputs[index] != nullptr; }
    /// Errors: UserError naming the node if the input is missing.
    const expr::Tensor* input(size_t index) const;
    /// The integers of a constant input (shapes, axes, pads). Errors: Unsupported if not constant.
    std::vector<int64_t> constant_ints(size_t index) const;
    std::optional<std::vector<int64_t>> optional_constant_ints(size_t index) const;
    /// A UserError that begins with the node and its operator.
    [[noreturn]] void fail(const std::string& what) const;
    [[noreturn]] void unsupported(const std::string& what) const;
    /// The name of the output value, the name for the definition.
    std::string output_name(size_t index) const;
    /// Defines an output with the node as its origin.
    const expr::Tensor* define(size_t output, ElementType, std::vector<expr::Axis>,
                               expr::Scalar body) const;
    /// Defines an intermediate value of the node: the first output's name, `_` and the suffix (made
    /// unique among the graph's values).
    const expr::Tensor* define_part(const std::string& suffix, ElementType, std::vector<expr::Axis>,
                                    expr::Scalar body) const;
    /// A weight that the meaning itself needs, named in the same way.
    const expr::Tensor* weight_part(const std::string& suffix, HostArray values) const;
};

struct Attribute {
    std::string name;
    std::string summary;  ///< Meaning and default.
};

struct Operator {
    std::string name;               ///< "Conv"
    std::vector<std::string> also;  ///< Other operators of the same file, e.g. all of Relu-like.
    int since;                      ///< Least opset whose meaning is implemented.
    std::string summary;            ///< One line: what it computes, limits.
    std::vector<Attribute> attributes;
    /// One definition (or an input itself, for identities) per output of the node.
    std::vector<const expr::Tensor*> (*express)(const Context&);
};

/// The operator, or nothing if the catalogue has none of that name.
const Operator* find(const std::string& domain, const std::string& name);
const std::vector<const Operator*>& catalogue();
/// The meaning of one node: a tensor per output of the node, null where the output is omitted.
/// Errors: UserError and Unsupported that name the node.
std::vector<const expr::Tensor*> express(const Context&);
/// The catalogue as a page of Markdown.
std::string documentation();

}  // namespace ollie::operators
