#!/usr/bin/env bash
# The country of an address: examples/ip_ranges/run.sh [BUILD_DIRECTORY [STORE]]
program=example_ip_ranges
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

files=("$(data ip_ranges_v4.csv "$here/data/ip_ranges_v4.csv")" "$here/data/ip_ranges_v6.csv")
# The sample has no overlaps: add made-up ones.
[[ ${files[0]} != "$here"/* ]] || files+=("$here/data/overlaps.csv")
application "${files[@]}"

say "The same store with the program cellar"
show scan "$store" ipv4 --start '\x01\x00\x00\x01' --reverse --limit 1 --explain
show scan "$store" ipv4_by_last --start 01000001 --limit 2
