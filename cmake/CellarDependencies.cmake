# The libraries Cellar stands on, all from the distribution.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Snappy REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Protobuf REQUIRED)  # the compiler; what it generates is linked with protobuf-lite, below

include(CellarFind)
cellar_find(isal isa-l/crc.h isal libisal-dev)
cellar_find(lz4 lz4.h lz4 liblz4-dev)
cellar_find(zstd zstd.h zstd libzstd-dev)
cellar_find(protobuf_lite google/protobuf/message_lite.h protobuf-lite libprotobuf-dev)
cellar_find(re2 re2/re2.h re2 libre2-dev OPTIONAL)  # regular expressions in filters: linear time on hostile input

# cellar_without_absent(<variable> <library>...): the list without optional libraries that this machine does not have.
function(cellar_without_absent out)
  set(present "")
  foreach(lib IN LISTS ARGN)
    get_target_property(type ${lib} TYPE)
    if(NOT (lib MATCHES "^cellar_dep::" AND type STREQUAL "INTERFACE_LIBRARY"))
      list(APPEND present ${lib})
    endif()
  endforeach()
  set(${out} "${present}" PARENT_SCOPE)
endfunction()
