# Layers: one object library per folder. A program names the highest layers it uses and gets the objects of those
# and of the layers below them, nothing else: an include or a call that goes up the table does not link.

# cellar_sources(<variable> <folder> [EXCLUDE <regex>...]): the .cc files of a folder, looked up again at each build.
function(cellar_sources out folder)
  cmake_parse_arguments(PARSE_ARGV 2 sources "" "" "EXCLUDE")
  file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cc")
  foreach(pattern IN LISTS sources_EXCLUDE)
    list(FILTER found EXCLUDE REGEX "${pattern}")
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# cellar_layer_part(<layer> <part> <regex> [DEPENDS <layer>...] [LIBS <library>...]): files of a layer that can be linked
# without the rest of it. Said before the layer itself, which then stands on its part.
function(cellar_layer_part layer part regex)
  cellar_sources(sources ${layer})
  list(FILTER sources INCLUDE REGEX "${regex}")
  cellar_layer(${layer}_${part} SOURCES ${sources} ${ARGN})
  set(CELLAR_BELOW_${layer}_${part} "${CELLAR_BELOW_${layer}_${part}}" PARENT_SCOPE)
  set(CELLAR_PART_OF_${layer} ${layer}_${part} PARENT_SCOPE)
  set(CELLAR_PART_REGEX_${layer} "${regex}" PARENT_SCOPE)
endfunction()

# cellar_layer_target(<variable> <layer>): the layer's target: cellar_log for log, cellar_engine_log for engine/log.
function(cellar_layer_target out layer)
  string(REPLACE / _ name ${layer})
  set(${out} cellar_${name} PARENT_SCOPE)
endfunction()

# cellar_layer(<name> [DEPENDS <layer>...] [LIBS <library>...] [EXCLUDE <regex>...]): the sources of the folder <name>,
# without those of its folders, which are layers of their own.
function(cellar_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "DEPENDS;LIBS;EXCLUDE;SOURCES")
  cellar_sources(sources ${name} EXCLUDE ${layer_EXCLUDE} ${CELLAR_PART_REGEX_${name}})
  list(APPEND sources ${layer_SOURCES})
  get_property(left_out GLOBAL PROPERTY CELLAR_PLUGINS_LEFT_OUT)
  list(TRANSFORM left_out PREPEND "${PROJECT_SOURCE_DIR}/")
  list(REMOVE_ITEM sources ${left_out})
  cellar_plugins(${name} plugins)
  set(below "")
  foreach(depend IN LISTS CELLAR_PART_OF_${name} layer_DEPENDS)
    list(APPEND below ${depend} ${CELLAR_BELOW_${depend}})
  endforeach()
  list(REMOVE_DUPLICATES below)
  set(CELLAR_BELOW_${name} "${below}" PARENT_SCOPE)

  cellar_layer_target(target ${name})
  file(GLOB protos CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${name}/*.proto")  # see cellar_protobuf()
  if(sources OR plugins OR protos)
    add_library(${target} OBJECT ${sources} ${plugins})
    cellar_target(${target})
    # The two sources of cell/ would take the room in which g++ inlines the comparisons of merges.
    cellar_unity(${target} ALONE "/generated/" "/cell/(timeline|sequence_tracker)\\.cc$")
    cellar_plugins_alone(alone ${sources})
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_link_libraries(${target} PRIVATE ${layer_LIBS})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  foreach(depend IN LISTS layer_DEPENDS)
    cellar_layer_target(under ${depend})
    target_link_libraries(${target} ${scope} ${under})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CELLAR_LAYERS ${name})
  set_target_properties(${target} PROPERTIES CELLAR_LIBS "${layer_LIBS}")
endfunction()

# cellar_layers_and_below(<variable> <layer>...): these layers and all below them, each once.
function(cellar_layers_and_below out)
  set(layers "")
  foreach(layer IN LISTS ARGN)
    list(APPEND layers ${layer} ${CELLAR_BELOW_${layer}})
  endforeach()
  list(REMOVE_DUPLICATES layers)
  set(${out} "${layers}" PARENT_SCOPE)
endfunction()

# cellar_link_layers(<target> <layer>...): links the objects of these layers and of all layers below them.
function(cellar_link_layers target)
  cellar_layers_and_below(layers ${ARGN})
  foreach(layer IN LISTS layers)
    cellar_layer_target(under ${layer})
    target_link_libraries(${target} PRIVATE ${under})
  endforeach()
endfunction()

# cellar_protobuf(<layer> [PUBLIC] [IMPORTS <layer>...]): compiles the layer's .proto files, which may import those of
# other layers. The generated code is the layer's private matter, unless it is public.
function(cellar_protobuf layer)
  cmake_parse_arguments(PARSE_ARGV 1 protobuf "PUBLIC" "" "IMPORTS")
  set(imported "")
  foreach(folder IN LISTS layer protobuf_IMPORTS)
    file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.proto")
    list(APPEND imported ${found})
  endforeach()
  file(GLOB protos CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${layer}/*.proto")
  set(generated "${PROJECT_BINARY_DIR}/generated")
  cellar_layer_target(target ${layer})
  foreach(proto IN LISTS protos)
    get_filename_component(stem "${proto}" NAME_WE)
    set(outputs "${generated}/${layer}/${stem}.pb.cc" "${generated}/${layer}/${stem}.pb.h")
    add_custom_command(OUTPUT ${outputs} DEPENDS ${imported} COMMENT "Compiling ${layer}/${stem}.proto" VERBATIM
      COMMAND protobuf::protoc --proto_path "${PROJECT_SOURCE_DIR}" --cpp_out "${generated}" "${proto}")
    target_sources(${target} PRIVATE ${outputs})
    set_source_files_properties(${outputs} PROPERTIES COMPILE_OPTIONS -w)  # not our code, not our warnings
  endforeach()
  file(MAKE_DIRECTORY "${generated}/${layer}")
  set(scope PRIVATE)
  if(protobuf_PUBLIC)
    set(scope PUBLIC)
  endif()
  target_include_directories(${target} SYSTEM ${scope} "${generated}")
endfunction()

# cellar_library(<target> NAME <name> LAYERS <layer>...): a library users link, cellar::<name>: the objects of these
# layers and of all below them, and the libraries those need, as its private matter. Static, or shared where the
# project or user sets BUILD_SHARED_LIBS; SHARED makes it so in any case.
function(cellar_library target)
  cmake_parse_arguments(PARSE_ARGV 1 library "SHARED" "NAME" "LAYERS")
  set(kind "")
  if(library_SHARED)
    set(kind SHARED)
  endif()
  add_library(${target} ${kind})
  cellar_target(${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ${library_NAME})

  cellar_layers_and_below(layers ${library_LAYERS})
  set(libs "")
  foreach(layer IN LISTS layers)
    cellar_layer_target(under ${layer})
    get_target_property(type ${under} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${under}>)
      get_target_property(layer_libs ${under} CELLAR_LIBS)
      list(APPEND libs ${layer_libs})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES libs)
  cellar_without_absent(libs ${libs})
  target_link_libraries(${target} PRIVATE ${libs})
  set_target_properties(${target} PROPERTIES CELLAR_LIBS "${libs}")
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")

  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    # Until 1.0 minor versions may differ in their interface: both numbers are in the soname.
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map"
      "LINKER:--exclude-libs,ALL")
  endif()
endfunction()
