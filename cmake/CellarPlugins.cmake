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

# These plug-ins are compiled together. One that is not named here is compiled alone, so that the names in a user's new file
# cannot meet those of another plug-in. Codecs have headers of different libraries. Encodings together take the room in which
# g++ inlines: reading without a cache would take 6 to 10 % more instructions.
set(CELLAR_PLUGINS_TOGETHER
  bloom/type_row bloom/type_rowcol bloom/type_rowprefix
  cache/policy_arc cache/policy_clock cache/policy_lru cache/policy_s3fifo cache/policy_sieve cache/policy_slru
  cache/policy_w_tinylfu
  compaction/policy_date_tiered compaction/policy_exploring compaction/policy_fifo compaction/policy_lazy_leveled
  compaction/policy_leveled compaction/policy_none compaction/policy_ratio compaction/policy_stripe
  compaction/policy_tiered compaction/policy_unified)

# cellar_plugins_alone(<variable> <source>...): the plug-ins among these sources that are compiled alone.
function(cellar_plugins_alone out)
  set(alone ${ARGN})
  list(FILTER alone INCLUDE REGEX "/(policy|encoding|compressor|type|ordered)_[^/]*\\.cc$")
  foreach(plugin IN LISTS CELLAR_PLUGINS_TOGETHER)
    list(REMOVE_ITEM alone "${PROJECT_SOURCE_DIR}/${plugin}.cc")
  endforeach()
  set(${out} "${alone}" PARENT_SCOPE)
endfunction()

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
