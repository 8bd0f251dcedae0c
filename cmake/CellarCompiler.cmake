# Compiler settings: the language, what a build type means, warnings, sanitizers, and the fast path to a rebuild.
# What touches flags of the whole directory happens only when Cellar is the top-level project.
add_library(cellar_warnings INTERFACE)
add_library(cellar_sanitizers INTERFACE)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug" FORCE)
  endif()
  # One setting for what is installed and what is measured. Line tables cost a tenth of the time to compile and six
  # sevenths of the size: a release has none unless it is asked for them.
  set(CELLAR_OPTIMIZE "" CACHE STRING "Optimisation level; empty: -O2 in Release with -O3 for some layers, -O0 in Debug")
  set(CELLAR_DEBUG_INFO "" CACHE STRING "Debug information, such as -g1; empty: none in Release, -g1 in Debug")
  # gcc clears objects of 65 bytes and more with `rep stos` by default, which takes 30 cycles before it begins.
  set(cellar_clearing "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(cellar_clearing "-mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign")
  endif()
  if(CELLAR_OPTIMIZE)
    set(CMAKE_CXX_FLAGS_RELEASE "${CELLAR_OPTIMIZE} ${CELLAR_DEBUG_INFO} -DNDEBUG")
    set(CMAKE_CXX_FLAGS_DEBUG "${CELLAR_OPTIMIZE} -g1")
  else()
    set(CMAKE_CXX_FLAGS_RELEASE "-O2 ${cellar_clearing} ${CELLAR_DEBUG_INFO} -DNDEBUG")
    set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

  find_program(CELLAR_CCACHE ccache)
  if(CELLAR_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CELLAR_CCACHE}")
  endif()

  # Binaries name no directory of the machine that built them; and one build directory reuses what ccache has from another.
  add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-ffile-prefix-map=${PROJECT_BINARY_DIR}=.")

  target_compile_options(cellar_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual -Wundef -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # gcc 12 sees overlapping copies in plain std::string concatenation (its bug 105651), and values never set in a
    # std::optional<std::string> that is copied (80635). clang checks for the latter.
    target_compile_options(cellar_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(cellar_warnings INTERFACE -Wthread-safety)
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=lld CELLAR_HAVE_LLD)
    if(CELLAR_HAVE_LLD)
      add_link_options(-fuse-ld=lld)
    endif()
  endif()
endif()

if(CELLAR_SANITIZE STREQUAL "address")
  set(cellar_sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(CELLAR_SANITIZE STREQUAL "thread")
  set(cellar_sanitize_flags -fsanitize=thread)
elseif(CELLAR_SANITIZE STREQUAL "coverage")  # no sanitizer: counts what runs; clang alone
  set(cellar_sanitize_flags -fprofile-instr-generate -fcoverage-mapping)
elseif(CELLAR_SANITIZE)
  message(FATAL_ERROR "CELLAR_SANITIZE is '${CELLAR_SANITIZE}': use address, thread, coverage, or leave it empty")
endif()
if(cellar_sanitize_flags)
  target_compile_options(cellar_sanitizers INTERFACE ${cellar_sanitize_flags} -fno-omit-frame-pointer)
  target_link_options(cellar_sanitizers INTERFACE ${cellar_sanitize_flags})
endif()

# Several sources in one compilation share what they include: a whole build takes less than half the time. A plug-in that
# users write after an example stays alone, so that its names cannot meet those of another.
option(CELLAR_UNITY "Compile the sources of a folder several at a time" ON)
set(CELLAR_UNITY_BATCH 24 CACHE STRING "Sources in one compilation, with CELLAR_UNITY")

# cellar_unity(<target> [ALONE <regex>...]): compiles the target's sources together, except those that match.
function(cellar_unity target)
  if(NOT CELLAR_UNITY)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 unity "" "" "ALONE")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it takes the sources for headers, whose types others could see
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  else()  # a name of one source's anonymous namespace may be a local name in the next
    set_target_properties(${target} PROPERTIES UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma clang diagnostic ignored \"-Wshadow\"")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${CELLAR_UNITY_BATCH})
  get_target_property(sources ${target} SOURCES)
  foreach(pattern IN LISTS unity_ALONE)
    set(alone ${sources})
    list(FILTER alone INCLUDE REGEX "${pattern}")
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()

# cellar_target(<target>): what every target of ours, library or program, has in common.
function(cellar_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:CELLAR_DEBUG>)  # CELLAR_DCHECK is checked
  if(NOT PROJECT_IS_TOP_LEVEL)  # the host may build itself without them: our headers need neither, our sources both
    target_compile_options(${target} PRIVATE -frtti -fexceptions)
  endif()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cellar_warnings> $<BUILD_INTERFACE:cellar_sanitizers>)
endfunction()
