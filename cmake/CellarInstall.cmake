# Installing: the libraries, include/cellar, the program, and what finds the libraries again: a CMake package and two
# pkg-config files. A static library leaves its own libraries to whoever links it, so both say which those are.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(cellar_package "${CMAKE_INSTALL_LIBDIR}/cmake/cellar")

# A build of some targets alone, such as that of benchmarks, cannot be installed.
foreach(target IN ITEMS cellar cellar_hfile_library cellar_hbase cellar_tool)
  if(TARGET ${target})
    install(CODE "
      if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
        message(FATAL_ERROR \"${target} is not built in ${PROJECT_BINARY_DIR}: run ./dev build, then cmake --install build/gcc\")
      endif()")
  endif()
endforeach()
set(cellar_libraries cellar cellar_hfile_library)
if(TARGET cellar_hbase)
  list(APPEND cellar_libraries cellar_hbase)
endif()
foreach(library IN LISTS cellar_libraries)
  get_target_property(name ${library} EXPORT_NAME)
  install(TARGETS ${library} EXPORT cellar_${name}_targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT cellar_${name}_targets NAMESPACE cellar:: DESTINATION "${cellar_package}")
endforeach()
install(DIRECTORY include/cellar DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
if(TARGET cellar_tool)
  install(TARGETS cellar_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  # Texts for `cellar experiment`.
  install(DIRECTORY share/cellar/experiments DESTINATION "${CMAKE_INSTALL_DATADIR}/cellar" FILES_MATCHING PATTERN "*.json")
  # What the JSON of the program looks like.
  install(DIRECTORY share/cellar/schema DESTINATION "${CMAKE_INSTALL_DATADIR}/cellar" FILES_MATCHING PATTERN "*.json")
endif()

# The examples, with a build file of their own, their input, and what they print.
install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DATADIR}/cellar/examples"
  USE_SOURCE_PERMISSIONS
  FILES_MATCHING PATTERN "*.cc" PATTERN "*.h" PATTERN "*.txt" PATTERN "*.sh" PATTERN "*.md" PATTERN "*.html" PATTERN "data/*")

# How a library we link is found again: its target = the CMake package, empty for those of cellar_find = the pkg-config
# module, empty where it has none.
set(cellar_find_again
  "fmt::fmt=fmt=fmt"
  "spdlog::spdlog=spdlog=spdlog"
  "Snappy::snappy=Snappy=snappy"
  "ZLIB::ZLIB=ZLIB=zlib"
  "Threads::Threads=Threads="
  "cellar_dep::isal==libisal"
  "cellar_dep::lz4==liblz4"
  "cellar_dep::zstd==libzstd"
  "cellar_dep::bz2=="
  "cellar_dep::brotlienc==libbrotlienc"
  "cellar_dep::brotlidec==libbrotlidec"
  "cellar_dep::lzma==liblzma"
  "cellar_dep::lzo2==lzo2"
  "cellar_dep::protobuf_lite==protobuf-lite"
  "cellar_dep::re2==re2"
  "cellar_dep::zookeeper=="
  "cellar_dep::tls==libssl"
  "cellar_dep::crypto==libcrypto"
  "cellar_dep::webhdfs==cpp-httplib")

# cellar_found_again(<target> <cmake variable> <requires variable> <libs variable>): for a static library, the lines
# of a CMake package and of a pkg-config file that find its libraries; for a shared one nothing: it names them itself.
function(cellar_found_again target cmake_out requires_out libs_out)
  set(lines "")
  set(requires "")
  set(libs "")
  get_target_property(type ${target} TYPE)
  get_target_property(all ${target} CELLAR_LIBS)
  if(NOT type STREQUAL "STATIC_LIBRARY")
    set(all "")
  endif()
  foreach(lib IN LISTS all)
    set(entry "${cellar_find_again}")
    list(FILTER entry INCLUDE REGEX "^${lib}=")
    string(REGEX REPLACE "^[^=]*=([^=]*)=.*" "\\1" package "${entry}")
    string(REGEX REPLACE "^[^=]*=[^=]*=" "" module "${entry}")
    get_property(find GLOBAL PROPERTY "CELLAR_FIND_${lib}")
    if(package)
      string(APPEND lines "  find_dependency(${package})\n")
    elseif(find)
      string(APPEND lines "  cellar_find(${find})\n")
    else()
      message(FATAL_ERROR "${target} links ${lib}: say in cmake/CellarInstall.cmake how it is found again")
    endif()
    if(module)
      string(APPEND requires "${module} ")
    elseif(lib STREQUAL "Threads::Threads")
      string(APPEND libs "${CMAKE_THREAD_LIBS_INIT} ")
    else()
      string(REPLACE " " ";" find "${find}")
      list(GET find 2 word)
      string(APPEND libs "-l${word} ")
    endif()
  endforeach()
  string(STRIP "${requires}" requires)
  string(STRIP "${libs}" libs)
  set(${cmake_out} "${lines}" PARENT_SCOPE)
  set(${requires_out} "${requires}" PARENT_SCOPE)
  set(${libs_out} "${libs}" PARENT_SCOPE)
endfunction()

# cellar_pkg_config(<file> <target> <name> <description>): the paths are relative to the file: a tree can be moved. An
# install has the static library or the shared one. The libraries of a static one are not private: without them, that
# is without `pkg-config --static`, no program could be linked.
function(cellar_pkg_config file target name description)
  cellar_found_again(${target} unused CELLAR_REQUIRES CELLAR_LIBS)
  set(CELLAR_NAME "${name}")
  set(CELLAR_DESCRIPTION "${description}")
  set(CELLAR_LINK "-l$<TARGET_FILE_BASE_NAME:${target}>")
  set(folder "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH CELLAR_PREFIX_FROM_HERE "${folder}" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" CELLAR_PREFIX_FROM_HERE "${CELLAR_PREFIX_FROM_HERE}")
  file(RELATIVE_PATH CELLAR_LIBDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  file(RELATIVE_PATH CELLAR_INCLUDEDIR "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  configure_file(cmake/cellar.pc.in "${PROJECT_BINARY_DIR}/${file}.in" @ONLY)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${file}" INPUT "${PROJECT_BINARY_DIR}/${file}.in")
  install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

cellar_pkg_config(cellar.pc cellar "Cellar" "${PROJECT_DESCRIPTION}")
cellar_pkg_config(cellar-hfile.pc cellar_hfile_library "Cellar, files alone" "Reading and writing HBase's HFiles")

set(CELLAR_FIND_FOR_HBASE "")
if(TARGET cellar_hbase)
  cellar_found_again(cellar_hbase CELLAR_FIND_FOR_HBASE unused unused)
endif()
cellar_found_again(cellar CELLAR_FIND_FOR_CELLAR unused unused)
cellar_found_again(cellar_hfile_library CELLAR_FIND_FOR_HFILE unused unused)
configure_package_config_file(cmake/cellarConfig.cmake.in "${PROJECT_BINARY_DIR}/cellarConfig.cmake"
  INSTALL_DESTINATION "${cellar_package}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cellarConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cellarConfig.cmake" "${PROJECT_BINARY_DIR}/cellarConfigVersion.cmake"
  cmake/CellarFind.cmake DESTINATION "${cellar_package}")
