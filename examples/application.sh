# What the scripts of the applications share. A run.sh names its program and sources this file:
#
#   program=example_students
#   source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"
#
# Then `build` is the build directory, `store` the folder of the application's store, `here` the folder of the
# application. The arguments of each run.sh are [BUILD_DIRECTORY [STORE]].
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
build=$(cd "${1:-$here/../../build/gcc}" && pwd) || { echo "$0: there is no such build: ./dev examples makes it" >&2; exit 1; }
store=${2:-$build/examples/$(basename "$here")}
cellar=$build/cellar
for needed in "$cellar" "$build/$program"; do
  [[ -x $needed ]] || { echo "$0: $needed is missing: ./dev examples builds it" >&2; exit 1; }
done
mkdir -p "$(dirname "$store")"

say() { printf '\n== %s\n' "$*"; }

# application FILE...: runs the program on a new store.
application() { "$build/$program" "$store" "$@"; }

# show ARGUMENT...: prints a command of the program cellar as it would be typed, and runs it.
show() {
  local argument
  printf '\n$ cellar'
  for argument; do
    if [[ $argument == *\'* && $argument != *[\"\$\`\\!]* ]]; then
      argument="\"$argument\""
    elif [[ ! $argument =~ ^[A-Za-z0-9_./:=@%+,-]+$ ]]; then
      argument=${argument@Q}
    fi
    printf ' %s' "$argument"
  done
  printf '\n'
  "$cellar" "$@" 2>&1
}

# data NAME SAMPLE: prints the file of real data NAME if examples/get_data.sh has it (CELLAR_EXAMPLE_DATA names
# its folder), else the sample, and says on standard error which one it is.
data() {
  local folder=${CELLAR_EXAMPLE_DATA:-}
  if [[ -n $folder && -s $folder/$1 ]]; then
    printf 'data: %s\n' "$1, complete" >&2
    printf '%s\n' "$folder/$1"
  else
    printf 'data: %s\n' "the sample $(basename "$2"); ./dev examples --real runs on complete data where it can be had" >&2
    printf '%s\n' "$2"
  fi
}

# page FILE...: types or pans over HTTP in the page of the program, and says how a person opens the page.
page() {
  if [[ ! -x $build/${program}_page ]]; then
    say "The page is not built: it needs libcpp-httplib-dev and pkg-config"
    return
  fi
  say "The page, over HTTP"
  "$build/${program}_page" "$store" "$@" "$here/page.html" --replay
  say "To see it in a browser: ${program}_page $store $* $here/page.html --port 8080"
}
