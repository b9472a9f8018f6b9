# The meanings of operators against what others compute: the node tests of the onnx package, and
# random single-operator models by ONNX Runtime. Both need the Python packages of the venv.
add_executable(evaluate_cases "${CMAKE_SOURCE_DIR}/tests/conformance/evaluate_cases.cpp")
set_target_properties(evaluate_cases PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
ollie_layer_closure(layers onnx express)
ollie_compose(evaluate_cases has_objects ${layers})
target_link_libraries(evaluate_cases PRIVATE ollie_common)
target_link_options(evaluate_cases PRIVATE -Wl,--as-needed)

foreach(kind node random)
    add_test(NAME conformance.${kind}
        COMMAND "${OLLIE_VENV}/bin/python" "${CMAKE_SOURCE_DIR}/tests/conformance/compare.py"
            ${kind} "$<TARGET_FILE:evaluate_cases>")
    set_tests_properties(conformance.${kind} PROPERTIES LABELS conformance TIMEOUT 300)
endforeach()
