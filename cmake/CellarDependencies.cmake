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
cellar_find(re2 re2/re2.h re2 libre2-dev)  # regular expressions in filters: linear time on hostile input

# cellar_choice(<NAME> <default> <text>): CELLAR_WITH_<NAME>, which is AUTO (where its libraries are found), ON (they must
# be) or OFF.
function(cellar_choice name default text)
  set(CELLAR_WITH_${name} ${default} CACHE STRING "${text}")
  set_property(CACHE CELLAR_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
endfunction()

# cellar_find_chosen(<NAME> <name> <header> <library> <package>): as cellar_find, by the choice CELLAR_WITH_<NAME>. The
# library is defined as present where it is found.
function(cellar_find_chosen choice name header library package)
  if(CELLAR_WITH_${choice} STREQUAL "AUTO" OR CELLAR_WITH_${choice})
    cellar_find(${name} ${header} ${library} ${package} OPTIONAL)
    get_target_property(type cellar_dep::${name} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY" AND NOT CELLAR_WITH_${choice} STREQUAL "AUTO")
      message(FATAL_ERROR "${library} was not found: install the package ${package}, or set CELLAR_WITH_${choice} to OFF")
    endif()
  else()
    add_library(cellar_dep::${name} INTERFACE IMPORTED GLOBAL)
  endif()
endfunction()

# cellar_find_webhdfs(): by the choice CELLAR_WITH_WEBHDFS, cellar_dep::webhdfs and cellar_webhdfs_flags, with which a
# source compiles that includes httplib.h. Its pkg-config file says them. cpp-httplib 0.20 has another interface.
# The answers of WebHDFS need the header of nlohmann-json.
function(cellar_find_webhdfs)
  set(packages "libcpp-httplib-dev, nlohmann-json3-dev and pkg-config")
  if(CELLAR_WITH_WEBHDFS STREQUAL "AUTO" OR CELLAR_WITH_WEBHDFS)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(CELLAR_HTTPLIB QUIET "cpp-httplib>=0.11" "cpp-httplib<0.20")
    endif()
    find_path(CELLAR_JSON_INCLUDE nlohmann/json.hpp)
    mark_as_advanced(CELLAR_JSON_INCLUDE)
    if(NOT CELLAR_HTTPLIB_FOUND OR NOT CELLAR_JSON_INCLUDE)
      if(NOT CELLAR_WITH_WEBHDFS STREQUAL "AUTO")
        message(FATAL_ERROR "cpp-httplib 0.11 to 0.19 was not found: install the packages ${packages}, or set CELLAR_WITH_WEBHDFS to OFF")
      endif()
      set(CELLAR_WITH_WEBHDFS OFF)
    endif()
  endif()
  cellar_find_chosen(WEBHDFS webhdfs httplib.h cpp-httplib libcpp-httplib-dev)
  set(cellar_webhdfs_flags "${CELLAR_HTTPLIB_CFLAGS_OTHER}" PARENT_SCOPE)
endfunction()

# Codecs that need not be in a build. The plug-in of one that is not in the build is left out of it, and reading such a
# file names the option.
# cellar_codec(<name> <default> <package> "<library> <header>"...)
function(cellar_codec name default package)
  string(TOUPPER ${name} upper)
  cellar_choice(${upper} ${default} "Codec ${upper}: AUTO, where ${package} is found, ON or OFF")
  set(complete TRUE)
  foreach(pair IN LISTS ARGN)
    separate_arguments(pair)
    list(GET pair 0 library)
    list(GET pair 1 header)
    cellar_find_chosen(${upper} ${library} ${header} ${library} ${package})
    get_target_property(type cellar_dep::${library} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(complete FALSE)
    endif()
  endforeach()
  if(NOT complete)
    set_property(GLOBAL APPEND PROPERTY CELLAR_PLUGINS_LEFT_OUT "hfile/codec/compressor_${name}.cc")
  endif()
endfunction()
cellar_codec(bzip2 AUTO libbz2-dev "bz2 bzlib.h")
cellar_codec(brotli AUTO libbrotli-dev "brotlienc brotli/encode.h" "brotlidec brotli/decode.h")
cellar_codec(lzma AUTO liblzma-dev "lzma lzma.h")
cellar_codec(lzo OFF liblzo2-dev "lzo2 lzo/lzo1x.h")  # GPL: whoever wants it says so

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
