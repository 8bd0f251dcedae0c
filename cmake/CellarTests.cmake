# Tests: one program per folder of tests/, linked with its own layer and those below it. The tests within are found
# when ctest runs, so that a build is not held up by them, and run as one ctest test each.
find_package(GTest REQUIRED)
include(GoogleTest)

set(CELLAR_TEST_TIMEOUT_S 300 CACHE STRING "Seconds after which one test has failed")
set(CELLAR_FIXTURES_DIR "$ENV{CELLAR_FIXTURES_DIR}" CACHE PATH "More HFiles for tests; empty: none")
set(cellar_fixtures "${CELLAR_FIXTURES_DIR}")
if(NOT cellar_fixtures)
  set(cellar_fixtures "(CELLAR_FIXTURES_DIR is not set)")  # no folder has this name
endif()

set(cellar_test_definitions
  CELLAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  CELLAR_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data"
  CELLAR_FIXTURES_DIR="${cellar_fixtures}")

# What tests add to the flags; what they test keeps its level. -O0: their own code compiles in half the time of
# -O1. Tests that themselves work hard keep -O1. Under sanitizers they do not: there -O1 takes three times as long to
# compile, and the tests do little. What tests share, such as the model of a store, takes most of the time of random
# tests, and keeps the level of what is tested.
set(cellar_tests_that_work_hard cell hfile memtable metamorphic sim fuzz kill scale)
# Folders whose tests are compiled several at a time: those with many of them.
set(cellar_tests_together base platform keys cell filter memtable bloom cache hfile compaction engine metamorphic
  sim simulate hbase hbase_both hbase_serve fuzz bench tools)
function(cellar_test_target target)
  cellar_target(${target})
  string(REPLACE cellar_tests_ "" name ${target})
  if(name IN_LIST cellar_tests_that_work_hard AND NOT CELLAR_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# cellar_test_support(<target> <folder> <layer>...): helpers shared by test programs; may use these layers only.
function(cellar_test_support target folder)
  cellar_sources(sources ${folder})
  if(sources)
    add_library(${target} STATIC ${sources})
    cellar_target(${target})
    cellar_unity(${target})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_compile_definitions(${target} ${scope} ${cellar_test_definitions})
  target_link_libraries(${target} ${scope} GTest::gtest GTest::gmock fmt::fmt)
  # Headers only: the objects come from the test program's own layers.
  foreach(layer IN LISTS ARGN)
    target_include_directories(${target} ${scope} $<TARGET_PROPERTY:cellar_${layer},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()

cellar_test_support(cellar_test_support tests/support base platform)
cellar_test_support(cellar_test_cell_support tests/cell_support base cell)
cellar_test_support(cellar_test_hfile_support tests/hfile_support base cell platform hfile)

# cellar_tests(<name> <folder> LAYERS <layer>... [SUPPORT <library>...] [WHOLE]): the program cellar_tests_<name>.
# Each test is a ctest test of its own; with WHOLE the program is one, since its tests share what takes long.
function(cellar_tests name folder)
  cmake_parse_arguments(PARSE_ARGV 2 tests "WHOLE" "" "LAYERS;SUPPORT")
  cellar_sources(sources ${folder} EXCLUDE "/program_[^/]*\\.cc$")  # a program of its own, for the tests to run
  if(NOT sources)
    return()
  endif()
  set(target cellar_tests_${name})
  add_executable(${target} ${sources})
  cellar_test_target(${target})
  if(name IN_LIST cellar_tests_together)
    cellar_unity(${target})
  endif()
  target_compile_definitions(${target} PRIVATE ${cellar_test_definitions})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${target} PRIVATE ${tests_SUPPORT} GTest::gmock_main GTest::gmock GTest::gtest fmt::fmt)
  cellar_link_layers(${target} ${tests_LAYERS})
  if(tests_WHOLE)
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1 WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${CELLAR_TEST_TIMEOUT_S})
    return()
  endif()
  gtest_discover_tests(${target} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" PROPERTIES TIMEOUT ${CELLAR_TEST_TIMEOUT_S})
endfunction()

if(NOT CELLAR_SANITIZE)
  cellar_tests(tidy tests WHOLE)  # tests/tidy_test.cc: the style guard, which reads all sources once
endif()
foreach(layer IN ITEMS base platform keys)
  cellar_tests(${layer} tests/${layer} LAYERS ${layer} platform SUPPORT cellar_test_support)
endforeach()
foreach(layer IN ITEMS cell filter memtable bloom cache compaction engine)
  cellar_tests(${layer} tests/${layer} LAYERS ${layer} cell platform SUPPORT cellar_test_cell_support cellar_test_support)
endforeach()
# Where threads write a file is a program of its own: of the tests of files, ThreadSanitizer needs only these.
foreach(folder IN ITEMS hfile hfile_threads)
  cellar_tests(${folder} tests/${folder} LAYERS hfile cell platform
    SUPPORT cellar_test_hfile_support cellar_test_cell_support cellar_test_support)
endforeach()
if(TARGET cellar_tests_hfile)
  get_property(cellar_left_out GLOBAL PROPERTY CELLAR_PLUGINS_LEFT_OUT)
  list(JOIN cellar_left_out " " cellar_left_out)
  target_compile_definitions(cellar_tests_hfile PRIVATE CELLAR_PLUGINS_LEFT_OUT="${cellar_left_out}")
endif()
foreach(folder IN ITEMS metamorphic sim kill scale compat)
  cellar_tests(${folder} tests/${folder} LAYERS engine SUPPORT cellar_test_cell_support cellar_test_support)
endforeach()
if(TARGET cellar_tools_simulate)
  cellar_tests(simulate tests/simulate LAYERS tools/simulate engine platform
    SUPPORT cellar_test_cell_support cellar_test_support)
endif()
if(CELLAR_WITH_HBASE)
  cellar_tests(hbase_serve tests/hbase_serve LAYERS hbase/serve engine platform SUPPORT cellar_test_support)
  if(TARGET cellar_tests_hbase_serve)
    target_link_libraries(cellar_tests_hbase_serve PRIVATE cellar_dep_asio cellar_dep::protobuf_lite)
  endif()
endif()
cellar_tests(fuzz tests/fuzz LAYERS hfile platform SUPPORT cellar_test_cell_support cellar_test_support)
if(CELLAR_FUZZ)  # clang alone has it; the layers under fuzz count which of their code runs
  cellar_layers_and_below(cellar_fuzz_layers hfile platform)
  foreach(layer IN LISTS cellar_fuzz_layers)
    cellar_layer_target(under ${layer})
    get_target_property(type ${under} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      target_compile_options(${under} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endforeach()
  foreach(target IN ITEMS file block codec section)
    add_executable(cellar_fuzz_${target} tests/fuzz/program_libfuzzer.cc tests/fuzz/targets.cc tests/fuzz/fuzz_files.cc)
    cellar_test_target(cellar_fuzz_${target})
    target_compile_definitions(cellar_fuzz_${target} PRIVATE CELLAR_FUZZ_TARGET=fuzz_${target})
    target_include_directories(cellar_fuzz_${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
    target_link_libraries(cellar_fuzz_${target} PRIVATE fmt::fmt)
    target_compile_options(cellar_fuzz_${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(cellar_fuzz_${target} PRIVATE -fsanitize=fuzzer)
    cellar_link_layers(cellar_fuzz_${target} hfile platform)
  endforeach()
endif()
if(TARGET cellar_tests_kill)
  add_executable(cellar_kill_writer tests/kill/program_writer.cc tests/kill/kill_plan.cc)
  cellar_test_target(cellar_kill_writer)
  target_link_libraries(cellar_kill_writer PRIVATE fmt::fmt)
  cellar_link_layers(cellar_kill_writer engine)
  target_compile_definitions(cellar_tests_kill PRIVATE CELLAR_KILL_WRITER_PATH="$<TARGET_FILE:cellar_kill_writer>")
  add_dependencies(cellar_tests_kill cellar_kill_writer)
endif()
# ./dev outside: programs whose system calls fail, by a preloaded library. Not under sanitizers, which preload their own.
if(TARGET cellar_tool AND NOT CELLAR_SANITIZE)
  add_executable(cellar_outside_writer tests/outside/program_writer.cc tests/kill/kill_plan.cc)
  cellar_test_target(cellar_outside_writer)
  target_link_libraries(cellar_outside_writer PRIVATE fmt::fmt ${CMAKE_DL_LIBS})
  cellar_link_layers(cellar_outside_writer engine)
  add_library(cellar_outside_faults MODULE tests/outside/program_faults.cc)
  cellar_test_target(cellar_outside_faults)
  target_link_libraries(cellar_outside_faults PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(cellar_outside_faults PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  add_custom_target(cellar_outside DEPENDS cellar_tool cellar_outside_writer cellar_outside_faults)
  add_test(NAME outside.short COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/outside/outside.py" --short
    --build "${PROJECT_BINARY_DIR}")
  set_tests_properties(outside.short PROPERTIES TIMEOUT ${CELLAR_TEST_TIMEOUT_S} PROCESSORS 2)
endif()
# What long tests must reach: ./dev test and ./dev soak set their counts against it.
add_test(NAME goals COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/goals_test.py")
# ./dev mutants: whether each seeded bug still finds its place in the sources.
if(NOT CELLAR_SANITIZE)
  add_test(NAME mutants.apply COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/mutants/mutants.py" --check)
endif()
# ./dev interop: files for HBase to read. Built when asked for; the other half is Java (tests/interop/README.md).
cellar_sources(cellar_interop_sources tests/interop EXCLUDE "/serve\\.cc$")
add_executable(cellar_interop EXCLUDE_FROM_ALL ${cellar_interop_sources})
cellar_target(cellar_interop)
target_link_libraries(cellar_interop PRIVATE fmt::fmt)
cellar_link_layers(cellar_interop engine)
if(CELLAR_WITH_HBASE)
  target_sources(cellar_interop PRIVATE "${PROJECT_SOURCE_DIR}/tests/interop/serve.cc")
  target_compile_definitions(cellar_interop PRIVATE CELLAR_WITH_HBASE)
  cellar_link_layers(cellar_interop hbase/serve)
  cellar_sources(cellar_cluster_sources tests/cluster)
  add_executable(cellar_cluster EXCLUDE_FROM_ALL ${cellar_cluster_sources})
  cellar_target(cellar_cluster)
  target_link_libraries(cellar_cluster PRIVATE fmt::fmt)
  cellar_link_layers(cellar_cluster engine hbase/client)
  cellar_tests(hbase_both tests/hbase_both LAYERS engine hbase/client hbase/serve platform
    SUPPORT cellar_test_cell_support cellar_test_support)
  if(TARGET cellar_tests_hbase_both)
    cellar_sources(cellar_cluster_parts tests/cluster EXCLUDE "/program_[^/]*\\.cc$")
    target_sources(cellar_tests_hbase_both PRIVATE ${cellar_cluster_parts}
      "${PROJECT_SOURCE_DIR}/tests/engine/semantics_story.cc" "${PROJECT_SOURCE_DIR}/tests/engine/semantics_words.cc")
    target_link_libraries(cellar_tests_hbase_both PRIVATE cellar_dep_asio cellar_dep::protobuf_lite cellar_dep::tls
      cellar_dep::crypto)
  endif()
  cellar_tests(hbase tests/hbase LAYERS engine hbase/client SUPPORT cellar_test_support)
  # CELLAR_WITH_ZOOKEEPER and CELLAR_WITH_WEBHDFS, where the client has them.
  target_compile_definitions(cellar_tests_hbase PRIVATE
    $<TARGET_PROPERTY:cellar_dep::zookeeper,INTERFACE_COMPILE_DEFINITIONS>
    $<TARGET_PROPERTY:cellar_dep::webhdfs,INTERFACE_COMPILE_DEFINITIONS>)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/hbase/fake_hdfs.cc" PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "${cellar_webhdfs_flags}")
  if(TARGET cellar_tests_hbase)
    target_link_libraries(cellar_tests_hbase PRIVATE cellar_dep_asio cellar_dep::protobuf_lite)
  endif()
endif()
if(TARGET cellar_driver_parts)
  cellar_tests(bench tests/bench SUPPORT cellar_test_support cellar_driver_parts cellar_endurance_parts)
endif()
if(TARGET cellar_tool)
  cellar_tests(tools tests/tools LAYERS tools SUPPORT cellar_test_cell_support cellar_test_support)
  if(TARGET cellar_tests_tools)
    target_link_libraries(cellar_tests_tools PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json)
    target_compile_definitions(cellar_tests_tools PRIVATE CELLAR_TOOL_PATH="$<TARGET_FILE:cellar_tool>")
    # Whether lines can be edited decides what a test of the shell at a terminal may expect.
    set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/tools/shell_test.cc" PROPERTIES
      COMPILE_DEFINITIONS "$<TARGET_PROPERTY:cellar_dep::edit,INTERFACE_COMPILE_DEFINITIONS>")
    add_dependencies(cellar_tests_tools cellar_tool)
  endif()
endif()

# Whether misuse of the API is refused by the compiler, with a message that helps.
add_test(NAME compile_fail COMMAND python3 "${PROJECT_SOURCE_DIR}/tests/compile_fail/check.py"
  "${CMAKE_CXX_COMPILER}" "${PROJECT_SOURCE_DIR}/include")
set_tests_properties(compile_fail PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${CELLAR_TEST_TIMEOUT_S})

# Whether others can link what is installed, and what a shared library shows; ./dev consumer tries all the ways.
if(CELLAR_INSTALL AND NOT CELLAR_SANITIZE)
  cellar_library(cellar_shared       NAME shared       LAYERS engine SHARED)
  cellar_library(cellar_hfile_shared NAME hfile_shared LAYERS hfile platform_files SHARED)
  add_test(NAME consumer.exports COMMAND bash "${PROJECT_SOURCE_DIR}/tests/consumer/exports.sh"
    "${PROJECT_SOURCE_DIR}/include/cellar" $<TARGET_FILE:cellar_shared> $<TARGET_FILE:cellar_hfile_shared>)
  add_test(NAME consumer.installed COMMAND bash "${PROJECT_SOURCE_DIR}/tests/consumer/check.sh" --short
    "${PROJECT_BINARY_DIR}")
  # It compiles all examples, in turn with other tests.
  set_tests_properties(consumer.installed PROPERTIES TIMEOUT 900)
endif()
