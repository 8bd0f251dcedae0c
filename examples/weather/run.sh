#!/usr/bin/env bash
# Weather by tile: examples/weather/run.sh [BUILD_DIRECTORY [STORE]]; with complete data, 20,000 stations
program=example_weather
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "The history of made-up stations"
"$build/${program}_history" "$store.history" "$([[ -n ${CELLAR_EXAMPLE_DATA:-} ]] && echo 20000 || echo 2000)"

say "The same stores with the program cellar"
show scan "$store" forecast --start 011123012 --limit 1 --explain
show scan "$store" forecast --start 011123110 --limit 1
show count "$store.history" history
