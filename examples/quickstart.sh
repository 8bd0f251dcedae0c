#!/usr/bin/env bash
# The main job on real data: load, flush, compact, get, scan, look inside the files, and what each costs.
#
#   examples/quickstart.sh [BUILD_DIRECTORY [STORE]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build/gcc}
store=${2:-$build/quickstart_store}
cellar=$build/cellar
began=$(date +%s.%N)

say() { printf '\n== %s\n' "$*"; }
# show <arguments>: prints the command as it would be typed, runs it with the real tool.
show() {
  printf '\n$ cellar'
  printf ' %q' "$@" | sed 's/\\\\/\\/g'
  printf '\n'
  "$cellar" "$@" 2>&1
}
took() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f s", b - a }'; }

for program in cellar example_ip_ranges; do
  [[ -x $build/$program ]] || { echo "quickstart: $build/$program is not there: ./dev quickstart builds it" >&2; exit 1; }
done

data=(/usr/share/tor/geoip /usr/share/tor/geoip6)
if [[ ! -r ${data[0]} || ! -r ${data[1]} ]]; then
  echo "The package tor-geoipdb is not installed: this uses the sample in examples/ip_ranges/data, 750 ranges."
  data=(examples/ip_ranges/data/ip_ranges_v4.csv examples/ip_ranges/data/ip_ranges_v6.csv)
fi

say "Which country is an address in? $(cat "${data[@]}" | grep -vc '^#') ranges of addresses (IPFire, CC BY-SA 4.0)"
echo "row = first address, big-endian; family r = the range, family c = the country; a look-up is the nearest row below"
"$build/example_ip_ranges" "$store" "${data[@]}"

say "The same store with the program cellar"
show list "$store"
show flush "$store"
show compact "$store" --major
row='\x08\x08\x08\x00'
[[ ${data[0]} == /usr/* ]] || row='\x01\x00\x00\x00'
show scan "$store" ipv4 --start "$row" --reverse --limit 1 --explain
found=$("$cellar" scan "$store" ipv4 --start "$row" --reverse --limit 1 --format jsonl --quiet |
  sed -n '1s/^{"row":"\([^"]*\)".*/\1/p' | sed 's/\\\\/\\/g')
show get "$store" ipv4 "$found" c:code --explain
show scan "$store" ipv6 --limit 2 --column c
show count "$store" ipv4

say "One row by its key: get, scan of that row, scan of everything"
if [[ -x $build/cellar_get_vs_scan ]]; then
  "$build/cellar_get_vs_scan" --benchmark_filter='select_row/(get|scan_of_row|full_scan)_(cached|uncached)' --benchmark_min_time=0.3 2>&1 |
    sed -n '/^Benchmark/,$p'
else
  echo "$build/cellar_get_vs_scan is not there; ./dev bench micro --benchmark_filter=select_row measures the same"
fi

say "Inside a store file that Cellar wrote, and inside one that HBase wrote"
file=$(find "$store/tables" -type f -size +0 | sort | sed -n 1p)
show inspect "$file"
show verify "$store"
show inspect examples/data/versions.hfile --layout
show dump examples/data/versions.hfile --format jsonl --limit 3

say "Done in $(took "$began"). To try next:"
cat <<TEXT
  $cellar scan $store ipv4 --limit 5
  $cellar describe $store --files
  $cellar help
TEXT
