#!/usr/bin/env bash
# Visitor journeys from a web log: examples/visits/run.sh [BUILD_DIRECTORY [STORE]]
program=example_visits
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

log=$(data access_log "$here/data/access.log")
application "$log"

say "Jobs over all visits, by four threads"
"$build/example_visit_jobs" "$store" "$log"

say "The same store with the program cellar"
show scan "$store" visits --column z --limit 3 --explain
show scan "$store" visits --column p --limit 2 --format jsonl
show aggregate "$store" ip_hours --group-by ip --limit 8
show aggregate "$store" ip_hours --group-by hour --limit 4
