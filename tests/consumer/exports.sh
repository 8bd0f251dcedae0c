#!/usr/bin/env bash
# What shared libraries of ours show: names of include/cellar, and nothing of what they were built with.
#   exports.sh <include/cellar> <libcellar.so> <libcellar-hfile.so>
set -euo pipefail
headers=$1 engine=$2 files=$3
status=0
complain() {
  echo "$*" >&2
  status=1
}

for library in "$engine" "$files"; do
  names=$(nm -DC --defined-only "$library" | cut -c20- | sort -u)
  count=$(wc -l <<<"$names")
  ((count > 50)) || complain "$library shows $count names: were its headers marked with CELLAR_PUBLIC?"
  foreign=$(grep -Ev '^((typeinfo|typeinfo name|vtable|guard variable) for |non-virtual thunk to )?cellar::' <<<"$names" || true)
  [[ -z $foreign ]] || complain "$library shows what is not Cellar's:"$'\n'"$foreign"
  # The outermost class or function of each name must stand in a public header.
  sed -E 's/^.*(for |to )?cellar::([A-Za-z_0-9]+).*$/\2/; t; d' < <(sed -E 's/\(.*//; s/<.*//' <<<"$names") | sort -u |
    while read -r name; do
      grep -qrw -- "$name" "$headers" || echo "$name"
    done >"$library.hidden"
  [[ ! -s $library.hidden ]] || complain "$library shows what no public header has: $(tr '\n' ' ' <"$library.hidden")"
  rm "$library.hidden"
  echo "$(basename "$library"): $count names, all of them public"
done

# Functions that are templates are shown only if each of them says so.
shown=$(nm -DC --defined-only "$engine")
for template in 'cellar::aggregate<long>(' 'cellar::aggregate_groups<double>('; do
  grep -qF "$template" <<<"$shown" || complain "$engine does not show $template…)"
done

needed=$(readelf -d "$files" | grep NEEDED || true)
! grep -q spdlog <<<"$needed" || complain "$files needs the logger"
! nm -D --undefined-only "$files" | grep -q 'pthread_create\|_M_start_thread' || complain "$files starts threads"
! nm -DC --defined-only "$files" | grep -q 'cellar::Engine::' || complain "$files holds the engine"
exit $status
