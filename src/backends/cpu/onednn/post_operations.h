#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/onednn/view.h"
#include "match/epilogue.h"

/// What oneDNN applies to a result before it is stored.
namespace ollie::backends::cpu {

/// In text, as kept in the parameter `post`:
///   "linear a b"   a * v + b            "clip lo hi"      "leaky alpha"  (0: relu)
///   "swish alpha", "elu alpha"          "hardswish alpha beta"
///   "tanh", "logistic", "exp", "gelu", ...
///   "add", "sub", "mul", "div", "max", "min", "prelu"   with the tensor of view POSTi, where i is
///                                       its position in the chain, and argument POSTi_argument
struct PostOperation {
    std::string name;
    double alpha = 0;
    double beta = 0;
    int argument = -1;
    View view = {};
};

struct Epilogue {
    std::optional<int> bias_argument;
    std::vector<PostOperation> operations;

    bool is_empty() const { return !bias_argument && operations.empty(); }
    bool has(std::string_view name) const;
    bool reads_tensors() const;  ///< Besides the bias.
    /// Some of the library's functions turn NaN into something else.
    bool changes_nonfinite() const;
};

/// What a call needs to know to place tensors of an epilogue.
struct ResultGeometry {
    const expr::Tensor* definition = nullptr;
    Layout layout;
    std::vector<AxisGroup> dims;  ///< The result's dimensions for oneDNN as axes of the definition.
    int channel = 1;              ///< The dimension that bias and prelu vary along.
    double scale = 1;             ///< The library's value times this is the core's value.
    bool takes_bias = true;
    bool is_channels_last = false;
};

/// The epilogue in oneDNN's terms; its tensors are added to the arguments.
OrRefusal<Epilogue> plan_epilogue(const match::Binding&, const ResultGeometry&, ArgumentList&);

void put(Attributes&, const Epilogue&);
Epilogue get_epilogue(const Attributes&);

/// The attribute of a primitive with these operations and scratch memory given by the caller.
dnnl::primitive_attr attribute_of(const Epilogue&);
/// The part of the arguments of execution for the tensor of operation i.
int execution_argument(const Epilogue&, size_t i);

}  // namespace ollie::backends::cpu
