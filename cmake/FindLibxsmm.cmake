# libxsmm, as libxsmm::libxsmm. It has no CMake files, and needs its library of BLAS stubs
# (noblas) where no BLAS is linked.

find_path(Libxsmm_INCLUDE_DIR libxsmm.h)
find_library(Libxsmm_LIBRARY xsmm)
find_library(Libxsmm_NOBLAS_LIBRARY xsmmnoblas)
mark_as_advanced(Libxsmm_INCLUDE_DIR Libxsmm_LIBRARY Libxsmm_NOBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libxsmm
    REQUIRED_VARS Libxsmm_LIBRARY Libxsmm_NOBLAS_LIBRARY Libxsmm_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "run `make setup` first")

if(Libxsmm_FOUND AND NOT TARGET libxsmm::libxsmm)
    find_package(Threads REQUIRED)
    add_library(libxsmm::libxsmm UNKNOWN IMPORTED)
    set_target_properties(libxsmm::libxsmm PROPERTIES
        IMPORTED_LOCATION "${Libxsmm_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Libxsmm_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "${Libxsmm_NOBLAS_LIBRARY};Threads::Threads;rt;dl;m")
endif()
