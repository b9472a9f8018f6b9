#pragma once

/// The classes of the ONNX schema, which only sources include (onnx.pb.h).
namespace onnx {
class AttributeProto;
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
class ValueInfoProto;
}  // namespace onnx
