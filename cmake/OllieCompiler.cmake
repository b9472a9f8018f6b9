# How everything is compiled: language, warnings, sanitizers, cache. Layers, tests and tools get it
# from the target ollie_common.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

set(OLLIE_SANITIZE "" CACHE STRING "Empty, address,undefined or thread")
set_property(CACHE OLLIE_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

# Paths relative to the checkout let all checkouts share one cache.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" "${CCACHE_PROGRAM}")
endif()

file(RELATIVE_PATH OLLIE_SOURCE_FROM_BINARY "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}/src")
add_library(ollie_common INTERFACE)
target_include_directories(ollie_common INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(ollie_common INTERFACE
    -Wall -Wextra -Wpedantic -Werror
    -fno-semantic-interposition
    # A multiplication and an addition are rounded twice, so that results do not depend on what
    # the compiler chose to fuse.
    -ffp-contract=off
    # CHECK prints the place in the checkout, not on this machine. (The cache makes paths relative.)
    "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/="
    "-fmacro-prefix-map=${OLLIE_SOURCE_FROM_BINARY}=src")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarm on std::string in this release (GCC bug 105651).
    target_compile_options(ollie_common INTERFACE -Wno-restrict)
endif()

if(OLLIE_SANITIZE)
    target_compile_options(ollie_common INTERFACE
        "-fsanitize=${OLLIE_SANITIZE}" -fno-omit-frame-pointer -g1
        # Both warn about instrumented code that is fine.
        -Wno-maybe-uninitialized -Wno-stringop-overflow)
    target_link_options(ollie_common INTERFACE "-fsanitize=${OLLIE_SANITIZE}")
    if(OLLIE_SANITIZE MATCHES "undefined")
        target_compile_options(ollie_common INTERFACE -fno-sanitize-recover=undefined)
    endif()
    if(OLLIE_SANITIZE MATCHES "thread")
        # The thread sanitizer cannot see into libgomp: the parallel loop uses std::thread instead.
        target_compile_definitions(ollie_common INTERFACE OLLIE_THREAD_SANITIZER=1)
    endif()
endif()
