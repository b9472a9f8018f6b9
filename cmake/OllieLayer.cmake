# Layers: every folder listed in tools/layers.txt is a target named layer_<folder> (a slash becomes
# an underscore) made of all its .cpp files. Layers are object libraries and are compiled
# independently of one another; libraries, programs and tests are composed of them.
#
# A folder that needs something special has a file layer.cmake, included after its target is made.
# In it, ollie_link and ollie_catalogue speak of that folder.

set(OLLIE_LAYERS_FILE "${CMAKE_SOURCE_DIR}/tools/layers.txt")

# Sets OLLIE_LAYERS, and OLLIE_LAYER_USES_<folder> for each.
function(ollie_read_layers)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${OLLIE_LAYERS_FILE}")
    file(STRINGS "${OLLIE_LAYERS_FILE}" lines REGEX "^[a-z]")
    set(layers "")
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "^([a-z_/]+):(.*)$")
            message(FATAL_ERROR "tools/layers.txt: cannot read '${line}'")
        endif()
        set(folder "${CMAKE_MATCH_1}")
        string(STRIP "${CMAKE_MATCH_2}" uses)
        string(REGEX REPLACE " +" ";" uses "${uses}")
        list(APPEND layers "${folder}")
        set(OLLIE_LAYER_USES_${folder} "${uses}" PARENT_SCOPE)
    endforeach()
    set(OLLIE_LAYERS "${layers}" PARENT_SCOPE)
endfunction()

function(ollie_layer_target folder result)
    string(REPLACE "/" "_" name "${folder}")
    set(${result} "layer_${name}" PARENT_SCOPE)
endfunction()

# The layers that the given ones use, directly or not, and themselves.
function(ollie_layer_closure result)
    set(closure "")
    set(open ${ARGN})
    while(open)
        list(POP_FRONT open folder)
        if(NOT folder IN_LIST closure)
            list(APPEND closure "${folder}")
            list(APPEND open ${OLLIE_LAYER_USES_${folder}})
        endif()
    endwhile()
    set(${result} "${closure}" PARENT_SCOPE)
endfunction()

# The .cpp files below <root>/<folder> that belong to no listed folder further down.
function(ollie_sources root folder result)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${root}/${folder}/*.cpp")
    foreach(other IN LISTS OLLIE_LAYERS)
        if(other MATCHES "^${folder}/")
            list(FILTER sources EXCLUDE REGEX "^${root}/${other}/")
        endif()
    endforeach()
    set(${result} "${sources}" PARENT_SCOPE)
endfunction()

function(ollie_add_layer folder)
    ollie_layer_target(${folder} target)
    ollie_sources("${CMAKE_SOURCE_DIR}/src" ${folder} sources)
    list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
    if(sources)
        add_library(${target} OBJECT ${sources})
        target_link_libraries(${target} PRIVATE ollie_common)
    else()
        add_library(${target} INTERFACE)
    endif()
    set(OLLIE_LAYER_TARGET "${target}")
    include("${CMAKE_SOURCE_DIR}/src/${folder}/layer.cmake" OPTIONAL)
endfunction()

# A macro, so that the table stays known to what comes after.
macro(ollie_add_layers)
    ollie_read_layers()
    foreach(folder IN LISTS OLLIE_LAYERS)
        ollie_add_layer(${folder})
    endforeach()
endmacro()

# ollie_link(<library>...): in a layer.cmake. Only the .cpp files of this folder see the headers of
# these libraries; whatever is composed of the folder is linked to them.
function(ollie_link)
    get_target_property(kind ${OLLIE_LAYER_TARGET} TYPE)
    if(kind STREQUAL "INTERFACE_LIBRARY")
        target_link_libraries(${OLLIE_LAYER_TARGET} INTERFACE ${ARGN})
    else()
        target_link_libraries(${OLLIE_LAYER_TARGET} PRIVATE ${ARGN})
    endif()
endfunction()

# ollie_catalogue(FOLDER derive/rules TYPE Rule HEADER derive/rule.h NAMESPACE ollie::derive
#                 [ENTRIES rules] [EXCEPT name...]): in a layer.cmake.
#
# Defines, in this layer, the function
#     const std::vector<const TYPE*>& NAMESPACE::catalogue();
# which lists one object per .cpp file directly in the folder, sorted by name. HEADER defines the
# type and declares the function. The file split_sum.cpp must define, in the namespace
# NAMESPACE::ENTRIES (without ENTRIES: in NAMESPACE), the object of its own name,
#     extern const Rule split_sum{...};
# (extern, because a constant has internal linkage otherwise). Where there is none, linking fails.
# EXCEPT names files that have no entry.
function(ollie_catalogue)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "FOLDER;TYPE;HEADER;NAMESPACE;ENTRIES" "EXCEPT")
    foreach(required FOLDER TYPE HEADER NAMESPACE)
        if(NOT arg_${required})
            message(FATAL_ERROR "ollie_catalogue: ${required} is missing")
        endif()
    endforeach()
    set(prefix "")
    set(entries_namespace "${arg_NAMESPACE}")
    if(arg_ENTRIES)
        set(prefix "${arg_ENTRIES}::")
        string(APPEND entries_namespace "::${arg_ENTRIES}")
    endif()
    get_target_property(kind ${OLLIE_LAYER_TARGET} TYPE)
    if(kind STREQUAL "INTERFACE_LIBRARY")
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${arg_FOLDER}/*.cpp")
    set(names "")
    foreach(source IN LISTS sources)
        get_filename_component(name "${source}" NAME_WE)
        if(NOT name IN_LIST arg_EXCEPT)
            list(APPEND names "${name}")
        endif()
    endforeach()
    list(SORT names)
    set(declarations "")
    set(entries "")
    foreach(name IN LISTS names)
        string(APPEND declarations "extern const ${arg_TYPE} ${name};\n")
        string(APPEND entries "        &${prefix}${name},\n")
    endforeach()
    set(output "${CMAKE_BINARY_DIR}/generated/${arg_FOLDER}/catalogue.cpp")
    file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Generated by CMake from the file names in src/@arg_FOLDER@.
#include \"@arg_HEADER@\"

#include <vector>

namespace @entries_namespace@ {
@declarations@}  // namespace @entries_namespace@

namespace @arg_NAMESPACE@ {

const std::vector<const @arg_TYPE@*>& catalogue() {
    static const std::vector<const @arg_TYPE@*> entries = {
@entries@    };
    return entries;
}

}  // namespace @arg_NAMESPACE@
")
    target_sources(${OLLIE_LAYER_TARGET} PRIVATE "${output}")
endfunction()

# Links a target to the objects of the given layers. Sets <has_objects> in the caller to whether
# there are any.
function(ollie_compose target has_objects)
    set(any FALSE)
    foreach(folder IN LISTS ARGN)
        ollie_layer_target(${folder} layer)
        get_target_property(kind ${layer} TYPE)
        if(kind STREQUAL "OBJECT_LIBRARY")
            set(any TRUE)
        endif()
        target_link_libraries(${target} PRIVATE ${layer})
    endforeach()
    set(${has_objects} ${any} PARENT_SCOPE)
endfunction()

# ollie_shared_library(<name> LAYERS <folder>...)
# ollie_shared_library(<name> ALL_LAYERS_BUT <folder>... ON <library>): all layers that are neither
# named nor in that library. A symbol that is nowhere fails to link.
function(ollie_shared_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "ON" "LAYERS;ALL_LAYERS_BUT")
    if(arg_ALL_LAYERS_BUT)
        get_target_property(below ${arg_ON} OLLIE_LAYERS)
        set(arg_LAYERS ${OLLIE_LAYERS})
        list(REMOVE_ITEM arg_LAYERS ${arg_ALL_LAYERS_BUT} ${below})
    endif()
    file(WRITE "${CMAKE_BINARY_DIR}/generated/empty.cpp" "")
    add_library(${name} SHARED "${CMAKE_BINARY_DIR}/generated/empty.cpp")
    ollie_compose(${name} has_objects ${arg_LAYERS})
    set_target_properties(${name} PROPERTIES OLLIE_LAYERS "${arg_LAYERS}")
    target_link_libraries(${name} PUBLIC ${arg_ON} PRIVATE ollie_common)
    target_link_options(${name} PRIVATE -Wl,--as-needed -Wl,--exclude-libs,ALL)
    if(NOT OLLIE_SANITIZE)  # A sanitizer's own symbols come with the program.
        target_link_options(${name} PRIVATE -Wl,--no-undefined)
    endif()
endfunction()

# ollie_command_line(<target> OUTPUT <file name> LAYER <folder> ON <library>): the program, once the
# folder has a main.cpp.
function(ollie_command_line name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT;LAYER;ON" "")
    file(GLOB main CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${arg_LAYER}/main.cpp")
    if(NOT main)
        return()
    endif()
    add_executable(${name} ${main})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
    ollie_compose(${name} has_objects ${arg_LAYER})
    target_link_libraries(${name} PRIVATE ollie_common ${arg_ON})
endfunction()
