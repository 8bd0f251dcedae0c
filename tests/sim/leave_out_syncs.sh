#!/usr/bin/env bash
# Leaves out each call in engine/ that makes something durable, one at a time, builds, and runs the tests that should
# miss it. Works on a copy of what is committed, in build/syncs. Prints a line per call; ends with 1 when nothing
# missed one of them, other than those that docs/testing.md explains (named below). Takes about a minute per call.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Calls whose loss no crash can show, with the reason in docs/testing.md: "file: text of the line".
harmless=()
[[ -f tests/sim/harmless_syncs.txt ]] && mapfile -t harmless < <(grep -v '^#' tests/sim/harmless_syncs.txt)

copy=$PWD/build/syncs
rm -rf "$copy"
mkdir -p "$copy"
git archive HEAD | tar -x -C "$copy"
cd "$copy"
export CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1

build() { cmake --build build/gcc --target cellar_tests_engine cellar_tests_sim >build/log.txt 2>&1; }
# The first test that fails ends it.
passes() {
  timeout 900 build/gcc/cellar_tests_engine --gtest_fail_fast --gtest_brief=1 --gtest_filter='*Crash*' >build/log.txt 2>&1 &&
    timeout 900 build/gcc/cellar_tests_sim --gtest_fail_fast --gtest_brief=1 --gtest_filter='CrashSweep.*:*/CrashSweep.*' >build/log.txt 2>&1
}

cmake --preset gcc -DCELLAR_BUILD_TESTS=ON -DCELLAR_BUILD_EXAMPLES=OFF -DCELLAR_BUILD_BENCHMARKS=OFF >/dev/null || exit 1
build || { tail -n 20 build/log.txt; exit 1; }

# A call: something.sync(), something->sync(), sync() of the same object, sync_…(…) of a table's directories.
call='([A-Za-z_.>()*-]+(->|\.))?sync\(\)|sync_table_directory\([^;]*\)'
status=0 calls=0 missed=0
while IFS=: read -r file line text; do
  text=$(sed 's/^ *//' <<<"$text")
  cp "$file" build/original
  case $text in
    *sync_table_directory*) sed -i -E "${line}s/sync_table_directory\(.*\)\)/Status())/" "$file" ;;
    *) sed -i -E "${line}s/([A-Za-z_.>-]+(\(\))?(->|\.))?sync\(\)/Status()/" "$file" ;;
  esac
  calls=$((calls + 1))
  verdict='missed by a test'
  if cmp -s "$file" build/original; then
    verdict='NOT CHANGED: the script does not know how' status=1
  elif ! build; then
    verdict='DOES NOT BUILD without it' status=1
  elif passes; then
    verdict='HARMLESS, as explained'
    printf '%s\n' "${harmless[@]}" | grep -qxF "$file: $text" || { verdict='MISSED BY NOTHING'; status=1; }
  else
    missed=$((missed + 1))
  fi
  printf '%-28s %s:%s  %s\n' "$verdict" "$file" "$line" "$text"
  cp build/original "$file"
done < <(grep -nE "$call" engine/*.cc engine/*/*.cc | grep -vE ':[0-9]+: *//|Status (Wal::|WalCore::)?sync\(\)|^[^:]*:[0-9]+:Status ')
echo "$calls calls make something durable; $missed left out were missed by a test"
exit "$status"
