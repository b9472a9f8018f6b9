# The target onnx_proto: C++ classes of the ONNX schema, #include <onnx.pb.h>. The schema comes from
# the onnx wheel, the classes from the system's protoc, which fits the system's protobuf.

find_package(Protobuf 3.21 REQUIRED)

file(GLOB _onnx_wheels "${OLLIE_VENV}/lib/python3*/site-packages/onnx")
find_file(ONNX_SCHEMA NAMES onnx.proto onnx-ml.proto HINTS ${_onnx_wheels} NO_DEFAULT_PATH)
mark_as_advanced(ONNX_SCHEMA)
if(NOT ONNX_SCHEMA)
    message(FATAL_ERROR "no ONNX schema: run `make setup` first")
endif()

set(_onnx_directory "${CMAKE_BINARY_DIR}/generated/onnx_proto")
add_custom_command(
    OUTPUT "${_onnx_directory}/onnx.pb.cc" "${_onnx_directory}/onnx.pb.h"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${_onnx_directory}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${ONNX_SCHEMA}" "${_onnx_directory}/onnx.proto"
    COMMAND protobuf::protoc "--proto_path=${_onnx_directory}" "--cpp_out=${_onnx_directory}"
            onnx.proto
    DEPENDS "${ONNX_SCHEMA}"
    COMMENT "Generating onnx.pb.h"
    VERBATIM)

add_library(onnx_proto STATIC "${_onnx_directory}/onnx.pb.cc")
target_compile_options(onnx_proto PRIVATE -w)
target_include_directories(onnx_proto SYSTEM PUBLIC "${_onnx_directory}")
target_link_libraries(onnx_proto PUBLIC protobuf::libprotobuf)
