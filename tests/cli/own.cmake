# The tool as a user meets it: bad files, bad places for results, odd values.
add_test(NAME cli.bad_inputs
    COMMAND "${OLLIE_VENV}/bin/python" "${CMAKE_SOURCE_DIR}/tests/cli/bad_inputs_test.py"
        "$<TARGET_FILE:ollie_cli>")
set_tests_properties(cli.bad_inputs PROPERTIES LABELS cli TIMEOUT 300)
