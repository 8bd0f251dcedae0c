#!/usr/bin/env bash
# Keys that rise, and what spreads them: examples/spread_keys/run.sh [BUILD_DIRECTORY [STORE]]
program=example_spread_keys
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "The same store with the program cellar"
show estimate "$store" plain --parts 4
show estimate "$store" salted --parts 4
show scan "$store" by_sensor --prefix s07 --limit 2
