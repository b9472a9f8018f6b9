# Tests: every folder below tests/ that has .cpp files becomes one GoogleTest program test_<folder>.
#
# Where src/ has a layer of that name, the program is linked to that layer and to those it uses;
# any other folder is linked to all layers but the command line, and its tests find the path of the
# program in the environment variable OLLIE. Every test is a ctest entry with the folder as its
# label; a folder named slow or slow_* has the label slow besides, and `make test` leaves it out.
# tests/support/ holds headers that tests share. A folder's test.cmake, where there is one, is
# included after its target test_${name} is made. A folder with an own.cmake makes its tests there.

include(GoogleTest)

# Layers whose tests have the label pure (run under the address and undefined behaviour sanitizers)
# or threaded (run under the thread sanitizer).
set(OLLIE_PURE_LAYERS base tensor expr graph program operators onnx express derive match refine plan
    runtime backends backends/reference search)
set(OLLIE_THREADED_LAYERS base runtime search)

function(ollie_add_test folder)
    if(EXISTS "${CMAKE_SOURCE_DIR}/tests/${folder}/own.cmake")
        include("${CMAKE_SOURCE_DIR}/tests/${folder}/own.cmake")
        return()
    endif()
    ollie_sources("${CMAKE_SOURCE_DIR}/tests" ${folder} sources)
    if(NOT sources)
        return()
    endif()
    string(REPLACE "/" "_" name "${folder}")
    if(folder IN_LIST OLLIE_LAYERS)
        ollie_layer_closure(layers ${folder})
    else()
        set(layers ${OLLIE_LAYERS})
        list(REMOVE_ITEM layers cli)
    endif()
    set(labels "${name}")
    if(folder MATCHES "^slow(_|$)")
        list(APPEND labels slow)
    endif()
    if(folder IN_LIST OLLIE_PURE_LAYERS)
        list(APPEND labels pure)
    endif()
    if(folder IN_LIST OLLIE_THREADED_LAYERS)
        list(APPEND labels threaded)
    endif()
    # One label with pluses: gtest_discover_tests cannot pass a list.
    list(JOIN labels "+" label)

    add_executable(test_${name} ${sources})
    set_target_properties(test_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    target_include_directories(test_${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
    ollie_compose(test_${name} has_objects ${layers})
    target_link_libraries(test_${name} PRIVATE
        ollie_common GTest::gmock GTest::gtest GTest::gtest_main nlohmann_json::nlohmann_json)
    target_link_options(test_${name} PRIVATE -Wl,--as-needed)
    include("${CMAKE_SOURCE_DIR}/tests/${folder}/test.cmake" OPTIONAL)
    gtest_discover_tests(test_${name}
        TEST_PREFIX "${name}."
        WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
        DISCOVERY_MODE PRE_TEST
        DISCOVERY_TIMEOUT 60
        PROPERTIES LABELS "${label}" TIMEOUT 300
            ENVIRONMENT "OLLIE=${CMAKE_BINARY_DIR}/bin/ollie")
    if(TARGET ollie_cli AND NOT folder IN_LIST OLLIE_PURE_LAYERS)
        add_dependencies(test_${name} ollie_cli)
    endif()

    if(folder IN_LIST OLLIE_PURE_LAYERS)
        add_dependencies(pure_tests test_${name})
    endif()
    if(folder IN_LIST OLLIE_THREADED_LAYERS)
        add_dependencies(threaded_tests test_${name})
    endif()
endfunction()

# A check of the house: a script of tools/ that fails with a reason.
function(ollie_add_check name)
    add_test(NAME house.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(house.${name} PROPERTIES LABELS house TIMEOUT 120)
endfunction()

function(ollie_add_tests)
    add_custom_target(pure_tests)
    add_custom_target(threaded_tests)
    file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true
        RELATIVE "${CMAKE_SOURCE_DIR}/tests" "${CMAKE_SOURCE_DIR}/tests/*")
    list(APPEND folders ${OLLIE_LAYERS})
    list(REMOVE_DUPLICATES folders)
    list(REMOVE_ITEM folders support)
    foreach(folder IN LISTS folders)
        ollie_add_test(${folder})
    endforeach()

    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    ollie_add_check(format tools/check_format.sh)
    ollie_add_check(layers "${Python3_EXECUTABLE}" tools/check_layers.py)
    ollie_add_check(size "${Python3_EXECUTABLE}" tools/check_size.py)
    ollie_add_check(docs tools/generate_docs.sh --check "${CMAKE_BINARY_DIR}/bin/ollie")
    ollie_add_check(runtime_links tools/check_runtime_links.sh "$<TARGET_FILE:ollie_runtime>")
endfunction()

# Every bench/<name>.cpp is a Google Benchmark program bench_<name>, made by the target benchmarks.
function(ollie_add_benchmarks)
    add_custom_target(benchmarks)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bench/*.cpp")
    if(NOT sources)
        return()
    endif()
    find_package(benchmark REQUIRED)
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        add_executable(bench_${name} EXCLUDE_FROM_ALL "${source}")
        target_link_libraries(bench_${name} PRIVATE
            ollie_common ollie DNNL::dnnl benchmark::benchmark_main)
        add_dependencies(benchmarks bench_${name})
    endforeach()
endfunction()
