# The program `cellar_bench`: micro benchmarks, with Google Benchmark. The program `cellar_driver`: whole engines,
# Cellar and those it is compared with, as far as they are installed.
cellar_sources(cellar_bench_sources bench)
if(cellar_bench_sources)
  find_package(benchmark REQUIRED)
  add_executable(cellar_bench ${cellar_bench_sources})
  cellar_target(cellar_bench)
  cellar_unity(cellar_bench)
  cellar_link_layers(cellar_bench engine bench/workload)
  target_link_libraries(cellar_bench PRIVATE fmt::fmt benchmark::benchmark benchmark::benchmark_main)
  # What the quickstart shows of it, alone: it builds in a fifteenth of the time.
  add_executable(cellar_get_vs_scan EXCLUDE_FROM_ALL bench/get_vs_scan.cc)
  cellar_target(cellar_get_vs_scan)
  cellar_link_layers(cellar_get_vs_scan engine)
  target_link_libraries(cellar_get_vs_scan PRIVATE fmt::fmt benchmark::benchmark benchmark::benchmark_main)
endif()

find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
# The layer of the workloads as a library.
add_library(cellar_workload STATIC $<TARGET_OBJECTS:cellar_bench_workload>)
cellar_target(cellar_workload)
set_target_properties(cellar_workload PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(cellar_workload PUBLIC cellar)
target_include_directories(cellar_workload PUBLIC "${PROJECT_SOURCE_DIR}")

cellar_sources(cellar_driver_sources bench/driver EXCLUDE "/main\\.cc$" "rocksdb[^/]*\\.cc$" "leveldb[^/]*\\.cc$" "lmdb[^/]*\\.cc$")
add_library(cellar_driver_parts STATIC ${cellar_driver_sources})  # all but main.cc, for tests too
# --replay
target_sources(cellar_driver_parts PRIVATE tools/trace/replay.cc tools/trace/replay_plan.cc)
target_link_libraries(cellar_driver_parts PRIVATE CLI11::CLI11)
cellar_target(cellar_driver_parts)
target_link_libraries(cellar_driver_parts PUBLIC cellar_workload cellar PRIVATE fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
target_include_directories(cellar_driver_parts PUBLIC "${PROJECT_SOURCE_DIR}")
target_compile_definitions(cellar_driver_parts PRIVATE CELLAR_DRIVER_VERSION="${PROJECT_VERSION}")
add_executable(cellar_driver bench/driver/main.cc)
cellar_target(cellar_driver)
target_link_libraries(cellar_driver PRIVATE cellar_driver_parts nlohmann_json::nlohmann_json)

# cellar_peer(<name> <header> <package> <library>...): an engine the driver compares with, linked statically: the
# shared libraries cost it 10 to 20 %. Left out, with a word, where it is not installed and CELLAR_BENCH_PEERS is off.
function(cellar_peer name header package)
  set(required OPTIONAL)
  if(CELLAR_BENCH_PEERS)
    set(required "")
  endif()
  cellar_find(${name} ${header} lib${name}.a ${package} ${required})
  string(TOUPPER ${name} upper)
  if(NOT CELLAR_${upper}_LIBRARY)
    message(STATUS "The driver runs without ${name}: ${package} is not installed")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/driver/*${name}*.cc")
  target_sources(cellar_driver_parts PRIVATE ${sources})
  target_compile_definitions(cellar_driver_parts PRIVATE CELLAR_WITH_${upper}=1)
  target_link_libraries(cellar_driver_parts PRIVATE cellar_dep::${name} ${ARGN})
endfunction()
cellar_peer(rocksdb rocksdb/db.h librocksdb-dev
  Snappy::snappy cellar_dep::lz4 cellar_dep::zstd bz2 ZLIB::ZLIB Threads::Threads)
cellar_peer(leveldb leveldb/db.h libleveldb-dev Snappy::snappy Threads::Threads)
cellar_peer(lmdb lmdb.h liblmdb-dev Threads::Threads)
cellar_unity(cellar_driver_parts ALONE "/meter\\.cc$" "(rocksdb|leveldb|lmdb)[^/]*\\.cc$")

# The program `cellar_instructions`: single operations, for a tool that counts instructions.
add_executable(cellar_instructions bench/instructions/main.cc)
cellar_target(cellar_instructions)
target_link_libraries(cellar_instructions PRIVATE cellar)

# The program `cellar_endurance`: a store under load for hours.
cellar_sources(cellar_endurance_sources bench/endurance EXCLUDE "/main\\.cc$")
add_library(cellar_endurance_parts STATIC ${cellar_endurance_sources} bench/driver/meter.cc)  # for tests too
cellar_target(cellar_endurance_parts)
cellar_unity(cellar_endurance_parts ALONE "/meter\\.cc$")
target_link_libraries(cellar_endurance_parts PUBLIC cellar_workload cellar PRIVATE nlohmann_json::nlohmann_json)
add_executable(cellar_endurance bench/endurance/main.cc)
cellar_target(cellar_endurance)
target_link_libraries(cellar_endurance PRIVATE cellar_endurance_parts fmt::fmt CLI11::CLI11)

# The program `cellar_damage`: what engines do about every damaged byte.
cellar_sources(cellar_damage_sources bench/damage EXCLUDE "rocksdb[^/]*\\.cc$")
add_executable(cellar_damage ${cellar_damage_sources})
cellar_target(cellar_damage)
target_include_directories(cellar_damage PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(cellar_damage PRIVATE cellar)
if(CELLAR_ROCKSDB_LIBRARY)
  target_sources(cellar_damage PRIVATE bench/damage/rocksdb.cc)
  target_compile_definitions(cellar_damage PRIVATE CELLAR_WITH_ROCKSDB=1)
  target_link_libraries(cellar_damage PRIVATE cellar_dep::rocksdb
    Snappy::snappy cellar_dep::lz4 cellar_dep::zstd bz2 ZLIB::ZLIB Threads::Threads)
endif()

if(CELLAR_BUILD_TESTS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # Every case of the micro benchmarks and of the claims on little data, for as short as it goes: that they run, and
  # that what they read is what they wrote.
  foreach(group IN ITEMS claims:^Claim/ reads:^Reads/ micro:^\(merge|block|bloom|cache|hfile|verify\)/)
    string(REPLACE ":" ";" group "${group}")
    list(GET group 0 name)
    list(GET group 1 filter)
    add_test(NAME bench.${name} COMMAND cellar_bench "--benchmark_filter=${filter}" --benchmark_min_time=0.001
      "--benchmark_out=${PROJECT_BINARY_DIR}/${name}.json" --benchmark_out_format=json)
    set_tests_properties(bench.${name} PROPERTIES TIMEOUT 300 ENVIRONMENT CELLAR_BENCH_SCALE=0.01
      FAIL_REGULAR_EXPRESSION "ERROR OCCURRED|Failed to match")
  endforeach()
  add_test(NAME bench.claims_py COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/claims_test.py")
  add_test(NAME bench.claims_page COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/claims.py" --check
    --tool $<TARGET_FILE:cellar_tool>)
  # The page names a case of the program for each of the 45 claims.
  add_test(NAME bench.claims_cases COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/claims.py"
    --cases $<TARGET_FILE:cellar_bench>)
  add_test(NAME bench.get_or_scan_page COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/get_or_scan.py" --check
    --tool $<TARGET_FILE:cellar_tool>)
  set_tests_properties(bench.claims_cases bench.get_or_scan_page PROPERTIES TIMEOUT 60
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME bench.design_space_py COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/design_space_test.py")
  add_test(NAME bench.design_space_page COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/design_space.py" --check
    --tool $<TARGET_FILE:cellar_tool>)
  set_tests_properties(bench.design_space_py bench.design_space_page PROPERTIES TIMEOUT 60
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  # All workloads on few rows: that they end, and that all engines installed here read the same.
  add_test(NAME bench.driver COMMAND cellar_driver --n 2000 --rounds 1 --json "${PROJECT_BINARY_DIR}/driver.jsonl")
  # The same with options of engines and workloads, two threads, and memtables that are flushed often.
  add_test(NAME bench.driver_options COMMAND cellar_driver --n 4000 --rounds 1 --threads 2 --value-bytes uniform:10-200
    --peers "cellar[compaction=leveled(fanout=4)],cellar[compaction=tiered(runs=3),memtable=skip_list]"
    --memtable-bytes 64k --cache-policy lru --option compression=none)
  add_test(NAME bench.driver_time COMMAND cellar_driver --n 2000 --rounds 1 --peers cellar --duration 0.3 --skew latest
    --mix read=30,update=20,rmw=10,insert=20,scan=10,delete=10 --scan-length fixed:5)
  set_tests_properties(bench.driver_options bench.driver_time PROPERTIES TIMEOUT 300)
  add_test(NAME bench.endurance_py COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/endurance_test.py")
  # A small store under load for ten seconds, while commands read it.
  add_test(NAME bench.endurance COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/endurance.py" run
    --build "${PROJECT_BINARY_DIR}" --minutes 0.16 --bytes 20mib --interval 1 --pause 0.5 --replace
    --out "${PROJECT_BINARY_DIR}/endurance" --option memtable_bytes=1048576 --option log_segment_bytes=1048576)
  set_tests_properties(bench.endurance_py bench.endurance PROPERTIES TIMEOUT 120 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME bench.damage COMMAND cellar_damage --cellar)
  set_tests_properties(bench.damage PROPERTIES TIMEOUT 120)
  add_test(NAME bench.compare COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/compare_test.py")
  add_test(NAME bench.sustained COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/sustained_test.py")
  add_test(NAME bench.growth_py COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/growth_test.py")
  # The workloads that the driver runs only if they are named, on few rows.
  add_test(NAME bench.growth COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/growth.py" run
    --driver $<TARGET_FILE:cellar_driver> --rows 1000,2000 --peers cellar,cellar_leveled --tool $<TARGET_FILE:cellar_tool>
    --out "${PROJECT_BINARY_DIR}/growth.jsonl" --picture "${PROJECT_BINARY_DIR}/growth.svg")
  # A dash would be a figure that is missing.
  set_tests_properties(bench.growth PROPERTIES TIMEOUT 300 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1
    FAIL_REGULAR_EXPRESSION "–")
  add_test(NAME bench.instructions COMMAND cellar_instructions)
  # Other compilers and options compile to other counts than those that are kept.
  find_program(CELLAR_VALGRIND valgrind)
  if(CELLAR_VALGRIND AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12 AND
     CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13 AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CELLAR_OPTIMIZE AND
     NOT CELLAR_SANITIZE)
    add_test(NAME bench.instructions_kept COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/instructions.py" check
      $<TARGET_FILE:cellar_instructions>)
    set_tests_properties(bench.instructions_kept PROPERTIES TIMEOUT 300 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  else()
    message(STATUS "The tests do not count instructions: that needs valgrind, g++ 12 and its release settings")
  endif()
  add_test(NAME bench.instructions_py COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/instructions_test.py")
  add_test(NAME bench.compare_runs COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/compare.py"
    "${PROJECT_BINARY_DIR}/driver.jsonl" "${PROJECT_BINARY_DIR}/driver.jsonl")
  set_tests_properties(bench.driver PROPERTIES TIMEOUT 300 FIXTURES_SETUP driver_lines)
  set_tests_properties(bench.compare_runs PROPERTIES TIMEOUT 60 FIXTURES_REQUIRED driver_lines)
  set_tests_properties(bench.compare bench.sustained bench.growth_py bench.claims_page bench.claims_py bench.instructions
    bench.instructions_py PROPERTIES TIMEOUT 60)
  set_tests_properties(bench.compare bench.sustained bench.growth_py bench.compare_runs bench.claims_page bench.claims_py
    bench.instructions_py PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
