# The sweep over the library's block sizes with a thousand problems of each call.
add_test(NAME backends_cpu.slow_sweep
    COMMAND test_backends_cpu --gtest_filter=Sweep.*
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
set_tests_properties(backends_cpu.slow_sweep PROPERTIES
    LABELS "backends_cpu+slow" TIMEOUT 3600 ENVIRONMENT OLLIE_FUZZ=1000)
