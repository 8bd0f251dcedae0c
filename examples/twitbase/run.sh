#!/usr/bin/env bash
# TwitBase, users and their posts: examples/twitbase/run.sh [BUILD_DIRECTORY [STORE]]
program=example_twitbase
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

say "Users, and three designs of followed_by"
application
show scan "$store" users --limit 3
show count "$store" middle

say "A second table that the engine keeps"
"$build/example_twitbase_second" "$store.second"
show second-table verify "$store.second" followed_by

say "Streams that forget"
"$build/example_twitbase_stream" "$store.stream"
show describe "$store.stream" streams

say "One post to many streams"
followers=2000
[[ -z ${CELLAR_EXAMPLE_DATA:-} ]] || followers=100000
"$build/example_twitbase_fan_out" "$store.fan_out" "$followers"

say "Joined or kept ready"
"$build/example_twitbase_join" "$store.join"
