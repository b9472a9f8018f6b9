# Halide from its Python wheel, as Halide::Halide. The wheel's own CMake files want CMake 3.28.

file(GLOB _halide_wheels "${OLLIE_VENV}/lib/python3*/site-packages/halide")
find_path(Halide_INCLUDE_DIR Halide.h HINTS ${_halide_wheels} PATH_SUFFIXES include)
find_library(Halide_LIBRARY Halide HINTS ${_halide_wheels} PATH_SUFFIXES lib64 lib)
mark_as_advanced(Halide_INCLUDE_DIR Halide_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Halide
    REQUIRED_VARS Halide_LIBRARY Halide_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "run `make setup` first")

if(Halide_FOUND AND NOT TARGET Halide::Halide)
    add_library(Halide::Halide SHARED IMPORTED)
    set_target_properties(Halide::Halide PROPERTIES
        IMPORTED_LOCATION "${Halide_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Halide_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS "HALIDE_ENABLE_RTTI;HALIDE_WITH_EXCEPTIONS")
endif()
