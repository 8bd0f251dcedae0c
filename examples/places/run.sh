#!/usr/bin/env bash
# Places, regions and features by tile: examples/places/run.sh [BUILD_DIRECTORY [STORE]]
program=example_places
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"
places=$(data cities.json "$here/data/cities.json")

application "$places"

say "Regions of a tile, one family for each kind"
"$build/${program}_tiles" "$store.tiles" "$places"

say "Features of a tile, by class and code"
"$build/${program}_features" "$store.features" "$places"

say "The same stores with the program cellar"
show get "$store.tiles" tile_bounds '\x62\x3A' a --explain
show get "$store.features" tile_features 12020 h --filter "ColumnPrefixFilter('LKC')" --limit-per-family 3 --explain
show get "$store" info place-3

page "$places"
