#!/usr/bin/env bash
# Unique identifiers: examples/identifiers/run.sh [BUILD_DIRECTORY [STORE]]
program=example_identifiers
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "The same store with the program cellar"
show get-counter "$store" ids workers n:starts
show verify "$store"
