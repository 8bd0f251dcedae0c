#!/usr/bin/env bash
# Eleven cells and their files: examples/storage_picture/run.sh [BUILD_DIRECTORY [STORE]]
program=example_storage_picture
source "$(dirname "${BASH_SOURCE[0]}")/../application.sh"

application

say "The same store with the program cellar"
show describe "$store" figure
show get "$store" figure r5
for family in CF1 CF2; do
  for file in "$store"/tables/*/"$family"/*; do
    show dump "$file"
    show inspect "$file"
  done
done
