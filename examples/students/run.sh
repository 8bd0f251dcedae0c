#!/usr/bin/env bash
# Students' applications by composite key: examples/students/run.sh [BUILD_DIRECTORY [STORE]]
program=example_students
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "The same store with the program cellar"
show describe "$store" by_user
show scan "$store" by_user --prefix '\x00\x00\x00\x00\x00\x00\x00\x07' --explain
show count "$store" by_application

say "Writers that are killed"
"$build/example_students_crash" "$store.crash"
show verify "$store.crash"
