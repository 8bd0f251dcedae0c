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

# cellar_layer(<name> [DEPENDS <layer>...] [LIBS <library>...] [EXCLUDE <regex>...]): target cellar_<name>.
function(cellar_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "DEPENDS;LIBS;EXCLUDE")
  cellar_sources(sources ${name} EXCLUDE ${layer_EXCLUDE})
  cellar_plugins(${name} plugins)
  set(below "")
  foreach(depend IN LISTS layer_DEPENDS)
    list(APPEND below ${depend} ${CELLAR_BELOW_${depend}})
  endforeach()
  list(REMOVE_DUPLICATES below)
  set(CELLAR_BELOW_${name} "${below}" PARENT_SCOPE)

  set(target cellar_${name})
  if(sources OR plugins)
    add_library(${target} OBJECT ${sources} ${plugins})
    cellar_target(${target})
    target_link_libraries(${target} PRIVATE ${layer_LIBS})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")
  foreach(depend IN LISTS layer_DEPENDS)
    target_link_libraries(${target} ${scope} cellar_${depend})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CELLAR_LAYERS ${name})
  set_target_properties(${target} PROPERTIES CELLAR_LIBS "${layer_LIBS}")
endfunction()

# cellar_link_layers(<target> <layer>...): links the objects of these layers and of all layers below them.
function(cellar_link_layers target)
  set(layers "")
  foreach(layer IN LISTS ARGN)
    list(APPEND layers ${layer} ${CELLAR_BELOW_${layer}})
  endforeach()
  list(REMOVE_DUPLICATES layers)
  list(TRANSFORM layers PREPEND cellar_)
  target_link_libraries(${target} PRIVATE ${layers})
endfunction()

# cellar_protobuf(<layer>): compiles the layer's .proto files. The generated code is the layer's private matter.
function(cellar_protobuf layer)
  file(GLOB protos CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${layer}/*.proto")
  set(generated "${PROJECT_BINARY_DIR}/generated")
  foreach(proto IN LISTS protos)
    get_filename_component(stem "${proto}" NAME_WE)
    set(outputs "${generated}/${layer}/${stem}.pb.cc" "${generated}/${layer}/${stem}.pb.h")
    add_custom_command(OUTPUT ${outputs} DEPENDS "${proto}" COMMENT "Compiling ${layer}/${stem}.proto" VERBATIM
      COMMAND protobuf::protoc --proto_path "${PROJECT_SOURCE_DIR}" --cpp_out "${generated}" "${proto}")
    target_sources(cellar_${layer} PRIVATE ${outputs})
    set_source_files_properties(${outputs} PROPERTIES COMPILE_OPTIONS -w)  # not our code, not our warnings
  endforeach()
  file(MAKE_DIRECTORY "${generated}/${layer}")
  target_include_directories(cellar_${layer} SYSTEM PRIVATE "${generated}")
endfunction()

# cellar_library(<layer>): the static library users link: the layer and everything below it.
function(cellar_library top)
  add_library(cellar STATIC)
  add_library(cellar::cellar ALIAS cellar)
  set_target_properties(cellar PROPERTIES LINKER_LANGUAGE CXX)
  cellar_target(cellar)
  cellar_link_layers(cellar ${top})
  target_include_directories(cellar PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")
endfunction()
