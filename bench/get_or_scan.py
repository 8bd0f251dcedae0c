#!/usr/bin/env python3
"""What docs/get-or-scan.md shows: as claims.py does for docs/claims.md, from the cases Reads/… of cellar_bench.

  bench/get_or_scan.py run.json --tool build/gcc/cellar    docs/plots/get_or_scan.json, its pictures and tables
  bench/get_or_scan.py --check --tool build/gcc/cellar     are they what docs/plots/get_or_scan.json gives?
"""

import sys

import claims
from claim_tables import digits, micros, table, values_of, whole, words

READS = {"get": "get", "next_row": "next row", "10_rows_back": "10 rows back", "1000_rows_forward": "1000 rows"}
SOURCES = {"engine_cache": "cached", "system_cache": "page cache"}


def kinds(cases):
    cached, read = {"from": "engine_cache"}, {"from": "system_cache"}
    return table(cases, [("read", "read")], [
        ("cached, µs", cached, "cpu_time", micros), ("page cache, µs", read, "cpu_time", micros),
        ("blocks", cached, "blocks", whole), ("blocks from disk", read, "blocks from disk", whole),
        ("cells examined", cached, "cells examined", whole)])


def varied(field, heading, counter="bytes per cell"):
    """A row for each value of the field; columns for the four reads, cached and from the page cache."""
    def make(cases):
        columns = [(f"{short}, {place}, µs", {"read": read, "from": source}, "cpu_time", micros)
                   for source, place in SOURCES.items() for read, short in READS.items()]
        some = {"read": "get", "from": "engine_cache"}
        return table(cases, [(field, heading)], columns + [(counter, some, counter, digits)])
    return make


def wide(cases):
    encodings = values_of(cases, "encoding")
    columns = [(f"{words(encoding)}, {place}, µs", {"encoding": encoding, "from": source}, "cpu_time", micros)
               for source, place in SOURCES.items() for encoding in encodings]
    some = {"encoding": encodings[0], "from": "engine_cache"}
    return table(cases, [("read", "read")], columns + [("cells examined", some, "cells examined", whole)])


def picture(section, field, title, *more):
    return ["--filter", f"Reads/{section}/.*engine_cache", "--x", field, "--series", "read", "--y", "cpu_time",
            "--log-y", "--title", title, *more]


SECTIONS = {
    "kinds": (kinds, ["--filter", "Reads/kinds/", "--x", "read", "--series", "from", "--y", "cpu_time", "--log-y",
                      "--title", "Reads of a table in one file"]),
    "wide": (wide, ["--filter", "Reads/wide/.*engine_cache", "--x", "read", "--series", "encoding", "--y", "cpu_time",
                    "--log-y", "--title", "A row of a hundred columns, cached"]),
    "runs": (varied("runs", "sorted runs", "files searched"),
             picture("runs", "runs", "Reads by the number of sorted runs, cached", "--log-x",
                     "--x-label", "sorted runs")),
    "block": (varied("kB", "block, KiB"),
              ["--filter", "Reads/block/.*system_cache", "--x", "kB", "--series", "read", "--y", "cpu_time", "--log-x",
               "--log-y", "--title", "Reads by the size of a block, from the page cache", "--x-label", "block, KiB"]),
    "encoding": (varied("encoding", "encoding"), picture("encoding", "encoding", "Reads by encoding, cached")),
    "codec": (varied("codec", "codec"),
              ["--filter", "Reads/codec/.*system_cache", "--x", "codec", "--series", "read", "--y", "cpu_time",
               "--log-y", "--title", "Reads by codec, from the page cache"]),
}
PAGE = claims.Page("docs/get-or-scan.md", "docs/plots/get_or_scan.json", SECTIONS, "get_or_scan_{}.svg")

if __name__ == "__main__":
    sys.exit(claims.main(PAGE, __doc__, None))
