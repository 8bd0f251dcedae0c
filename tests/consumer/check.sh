#!/usr/bin/env bash
# Whether others can link Cellar: installs it, and builds and runs the programs beside this file in each way.
#   check.sh --short <build directory>   the installed static library, with the compiler of that build
#   check.sh <build directory>           static, shared, add_subdirectory and FetchContent, with all compilers found
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$source/tests/consumer
short=0
if [[ ${1:-} == --short ]]; then
  short=1
  shift
fi
build=$(cd "$1" && pwd)
work=$build/consumer
rm -rf "$work/run" "$work/static" "$work/shared" "$work"/from_*
mkdir -p "$work/run"
compiler=$(command -v "$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")")
compilers=("$compiler")
for other in g++ clang++-14; do
  path=$(command -v "$other" || true)
  [[ $short == 1 || -z $path || $(readlink -f "$path") == "$(readlink -f "$compiler")" ]] || compilers+=("$path")
done
bare='-fno-rtti -fno-exceptions'
launcher=()
! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
passed=0

# run_both <what> <folder with the programs> [library path]: the programs work, and no plug-in is lost on the way.
run_programs() {
  local what=$1 folder=$2 scratch=$work/run/$passed output
  mkdir -p "$scratch"
  output=$(LD_LIBRARY_PATH=${3:-} "$folder/files" "$scratch")
  local codecs files
  codecs=$(wc -w <<<"${output#codecs:}")
  files=$(grep -c '^    cellar_plugin_hfile_codec_compressor_' "$build/generated/hfile_codec_plugins.cc")  # some may be left out
  ((codecs >= files)) || { echo "$what: $files codecs in the build, but the program knows: $output" >&2; return 1; }
  [[ ! -x $folder/write_hbase_file ]] ||
    (cd "$scratch" && LD_LIBRARY_PATH=${3:-} "$folder/write_hbase_file" >/dev/null)
  if [[ -x $folder/store ]]; then
    output=$(LD_LIBRARY_PATH=${3:-} "$folder/store" "$scratch/store")
    local file
    for file in "$source"/compaction/policy_*.cc; do
      local name
      name=$(sed -n 's/^CELLAR_PLUGIN([^"]*"\([^"]*\)".*/\1/p' "$file")
      [[ $output == *"$name"* ]] || { echo "$what: policy $name is not in the library: $output" >&2; return 1; }
    done
  fi
  passed=$((passed + 1))
  echo "ok  $what"
}

# with_cmake <from> <compiler> <flags> <standard> [cmake argument...]
with_cmake() {
  local from=$1 cxx=$2 flags=$3 standard=$4 folder=$work/from_$1.$passed
  shift 4
  local log=$folder.log
  mkdir -p "$folder"
  { cmake -G Ninja -S "$here" -B "$folder" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="$flags" \
    ${launcher[@]+"${launcher[@]}"} -DCMAKE_CXX_STANDARD="$standard" -DCONSUMER_FROM="$from" "$@" && cmake --build "$folder"; } >"$log" 2>&1 ||
    { tail -n 40 "$log" >&2; echo "cannot be built: $from with $cxx $flags $*" >&2; return 1; }
  run_programs "$from, $(basename "$cxx"), C++$standard $flags ${*##*/}" "$folder"
  rm -rf "$folder"
}

# with_pkg_config <prefix> <compiler> <flags>: with `pkg-config --cflags --libs` alone, also for a static library.
with_pkg_config() {
  local prefix=$1 cxx=$2 flags=$3 folder=$work/from_pkg_config.$passed words
  mkdir -p "$folder"
  local pair
  for pair in store:cellar files:cellar-hfile; do
    words=$(PKG_CONFIG_PATH=$(pkg_config_path "$prefix") pkg-config --cflags --libs "${pair#*:}")
    # shellcheck disable=SC2086  # words are words
    "$cxx" -std=c++20 -Wall -Wextra -Werror $flags "$here/${pair%:*}.cc" -o "$folder/${pair%:*}" $words
  done
  run_programs "pkg-config, $(basename "$cxx"), $flags ${prefix##*/}" "$folder" "$(library_path "$prefix")"
  rm -rf "$folder"
}

pkg_config_path() { dirname "$(find "$1" -name cellar.pc)"; }
library_path() { dirname "$(pkg_config_path "$1")"; }

# with_examples <prefix> <compiler>: the installed examples build against the installed package, and one runs. The
# short form configures all of them and builds two; the suite itself builds the same files against the same headers.
with_examples() {
  local prefix=$1 cxx=$2 folder=$work/from_examples.$passed targets=()
  local log=$folder.log
  ((!short)) || targets=(--target quick_start students)
  { cmake -G Ninja -S "$prefix/share/cellar/examples" -B "$folder" -DCMAKE_CXX_COMPILER="$cxx" \
    ${launcher[@]+"${launcher[@]}"} -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$folder" ${targets[@]+"${targets[@]}"}; } >"$log" 2>&1 ||
    { tail -n 40 "$log" >&2; echo "the installed examples cannot be built: $prefix with $cxx" >&2; return 1; }
  local example name
  for example in "$source"/examples/*.cc "$source"/examples/*/*.cc; do
    name=$(basename "$example" .cc)
    [[ $name != *_page ]] || pkg-config --exists cpp-httplib || continue
    if ((short)); then
      grep -q "^build $name: CXX_EXECUTABLE" "$folder/build.ninja" || { echo "not among the examples: $name" >&2; return 1; }
      continue
    fi
    [[ -x $folder/$name ]] || { echo "the installed example $name was not built" >&2; return 1; }
  done
  (cd "$folder" && LD_LIBRARY_PATH=$(library_path "$prefix") ./quick_start >/dev/null)
  passed=$((passed + 1))
  echo "ok  installed examples, $(basename "$cxx"), ${prefix##*/}"
  rm -rf "$folder"
}

# through_prefix <kind>: all compilers and flags against one installed Cellar.
through_prefix() {
  local kind=$1 cxx prefix=$work/$1
  for cxx in "${compilers[@]}"; do
    with_cmake package "$cxx" '' 20 -DCMAKE_PREFIX_PATH="$prefix"
    with_cmake package "$cxx" "$bare" 20 -DCMAKE_PREFIX_PATH="$prefix"
    ((short)) || with_cmake package "$cxx" '' 23 -DCMAKE_PREFIX_PATH="$prefix"
    with_pkg_config "$prefix" "$cxx" ''
    ((short)) || with_pkg_config "$prefix" "$cxx" "$bare"
  done
  with_cmake hfile "$compiler" '' 20 -DCMAKE_PREFIX_PATH="$prefix"
  with_examples "$prefix" "$compiler"
}

cmake --install "$build" --prefix "$work/static" >/dev/null
through_prefix static
if ((!short)); then
  shared=$work/build_shared
  { cmake -G Ninja -S "$source" -B "$shared" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=ON -DCELLAR_BUILD_TOOLS=OFF -DCELLAR_BUILD_TESTS=OFF -DCELLAR_BUILD_EXAMPLES=OFF \
    -DCELLAR_BUILD_BENCHMARKS=OFF && cmake --build "$shared" && cmake --install "$shared" --prefix "$work/shared"; } \
    >"$shared.log" 2>&1 || { tail -n 40 "$shared.log" >&2; exit 1; }
  bash "$here/exports.sh" "$source/include/cellar" "$shared/libcellar.so" "$shared/libcellar-hfile.so"
  through_prefix shared
  for cxx in "${compilers[@]}"; do
    with_cmake subdirectory "$cxx" "$bare" 20
  done
  with_cmake fetch "$compiler" '' 20 -DBUILD_SHARED_LIBS=ON
fi
echo "$passed ways to link Cellar work"
