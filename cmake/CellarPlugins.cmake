# Plug-ins: a file named <kind>_<name>.cc in a layer's folder is one. No list is kept: the folder is the list.
#
# For each layer a source is generated that calls cellar_plugin_<layer>_<stem>() for every such file, hfile_codec for the layer hfile/codec. The calls are
# real references, so a static library keeps the plug-ins, and they are registered in one known order.
set(CELLAR_PLUGIN_KINDS policy encoding compressor type filter ordered cmd)
set(CELLAR_PLUGIN_LAYERS filter memtable bloom cache hfile hfile/codec hfile/encoding compaction tools
  tools/frame tools/store tools/query tools/transfer tools/files tools/repair tools/shell tools/plot tools/simulate
  tools/trace tools/experiment)
if(CELLAR_WITH_HBASE)
  list(APPEND CELLAR_PLUGIN_LAYERS tools/serve)
endif()

# cellar_plugins(<layer> <variable>): puts the generated source into <variable>; empty for a layer without plug-ins.
function(cellar_plugins layer out)
  set(${out} "" PARENT_SCOPE)
  if(NOT layer IN_LIST CELLAR_PLUGIN_LAYERS)
    return()
  endif()
  set(files "")
  foreach(kind IN LISTS CELLAR_PLUGIN_KINDS)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${layer}"
      "${PROJECT_SOURCE_DIR}/${layer}/${kind}_*.cc")
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  string(REPLACE / _ layer_name ${layer})
  get_property(left_out GLOBAL PROPERTY CELLAR_PLUGINS_LEFT_OUT)
  foreach(file IN LISTS files)
    if("${layer}/${file}" IN_LIST left_out)
      list(REMOVE_ITEM files "${file}")
    endif()
  endforeach()

  set(declarations "")
  set(calls "")
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.cc$" "" stem "${file}")
    string(APPEND declarations "void cellar_plugin_${layer_name}_${stem}();\n")
    string(APPEND calls "    cellar_plugin_${layer_name}_${stem}();\n")
  endforeach()
  # Registering the plug-ins of a folder registers those of its folders.
  foreach(inner IN LISTS CELLAR_PLUGIN_LAYERS)
    if(inner MATCHES "^${layer}/")
      string(REPLACE / _ inner_name ${inner})
      string(APPEND calls "    register_${inner_name}_plugins();\n")
    endif()
  endforeach()
  set(CELLAR_LAYER ${layer_name})
  set(CELLAR_DECLARATIONS "${declarations}")
  set(CELLAR_CALLS "${calls}")
  set(source "${PROJECT_BINARY_DIR}/generated/${layer_name}_plugins.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/plugins.cc.in" "${source}" @ONLY)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()
