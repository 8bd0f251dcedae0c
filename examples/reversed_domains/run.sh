#!/usr/bin/env bash
# Addresses by reversed domain: examples/reversed_domains/run.sh [BUILD_DIRECTORY [STORE]]
program=example_reversed_domains
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application "$(data homepages.txt "$here/data/homepages.txt")"

say "The same store with the program cellar"
show scan "$store" pages --prefix org.apache. --limit 4
