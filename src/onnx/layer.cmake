ollie_link(onnx_proto)
