#!/usr/bin/env bash
# Autocompletion of titles: examples/autocomplete/run.sh [BUILD_DIRECTORY [STORE]]
program=example_autocomplete
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"
titles=$(data packages.txt "$here/data/titles.tsv")

application "$titles"

say "Other designs, and their cost"
"$build/${program}_costs" "$store.costs" "$titles"

say "The same store with the program cellar"
show describe "$store" prefixes
show get "$store" prefixes chime
show count "$store" prefixes --prefix python3

page "$titles"
