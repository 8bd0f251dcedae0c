#!/usr/bin/env bash
# A blog in two designs: examples/blog/run.sh [BUILD_DIRECTORY [STORE]]
program=example_blog
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "The same store with the program cellar"
show get "$store" flat user1
show scan "$store" tall --prefix user1_ --limit 2
show scan "$store" flat --filter "QualifierFilter(<=, 'binary:9223372036832553585') AND QualifierFilter(>=, 'binary:9223372036821442474')"
