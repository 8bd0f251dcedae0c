#!/usr/bin/env bash
# A graph of links three ways, and nodes with very many links: examples/links/run.sh [BUILD_DIRECTORY [STORE]]
program=example_links
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

packages=$(data packages.txt "$here/data/packages.txt")
application "$packages"

say "Nodes with very many links"
"$build/example_link_shards" "${store}_shards" "$packages"

say "Links that change all the time"
"$build/example_link_changes" "${store}_changes"

say "The same stores with the program cellar"
show get "$store" edges --key from=git,into=perl --explain
show get "$store" edges --key from=git,into=inkscape --explain || [[ $? == 1 ]]  # a row that is missing
show count "${store}_shards" into_shards --prefix '4everything\x00'
