# oneDNN from its Python wheels, as DNNL::dnnl. The wheel holds full copies of the library where
# links should be; the one that carries the library's own name (soname) is used.

find_path(OneDnn_INCLUDE_DIR oneapi/dnnl/dnnl.hpp HINTS "${OLLIE_VENV}/include")
find_library(OneDnn_LIBRARY NAMES libdnnl.so.3 HINTS "${OLLIE_VENV}/lib")
mark_as_advanced(OneDnn_INCLUDE_DIR OneDnn_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDnn
    REQUIRED_VARS OneDnn_LIBRARY OneDnn_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "run `make setup` first")

if(OneDnn_FOUND AND NOT TARGET DNNL::dnnl)
    add_library(DNNL::dnnl SHARED IMPORTED)
    set_target_properties(DNNL::dnnl PROPERTIES
        IMPORTED_LOCATION "${OneDnn_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${OneDnn_INCLUDE_DIR}")
endif()
