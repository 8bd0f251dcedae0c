#!/usr/bin/env bash
# Live counters, and numbers and times as timestamps: examples/counters/run.sh [BUILD_DIRECTORY [STORE]]
program=example_counters
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

log=$(data access_log "$here/../visits/data/access.log")
say "Live counters"
application "$log"

say "Hits by month, day and hour"
"$build/example_periods" "${store}_periods" "$log"

say "Most frequent and last pages of visitors"
"$build/example_visitor_stats" "${store}_visitor_stats" "$log"

say "Rolling aggregate"
"$build/example_rolling" "${store}_rolling"

say "The same stores with the program cellar"
show get "$store" cookie_url_count far
show scan "${store}_visitor_stats" cookie_stats --start busy --limit 1
show describe "${store}_rolling" samples
