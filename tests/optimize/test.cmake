# The tests write model files by the classes of the schema.
target_link_libraries(test_${name} PRIVATE onnx_proto)
