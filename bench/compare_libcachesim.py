#!/usr/bin/env python3
"""Compares the simulation of caches with libCacheSim's on the same lookups (pip install libcachesim).

    cellar simulate cache shop.trace --export shop.csv --format json > shop.json
    bench/compare_libcachesim.py shop.csv shop.json

Prints both numbers of hits for each policy and size. Only traces without readers that pass the cache by, without
prefetching and without closed files have the same lookups in both. docs/caches.md says which numbers are equal.
"""

import csv
import json
import sys


def next_uses(lookups):
    """The index of the next lookup of the same block; libCacheSim's value for never is 2^63 - 1."""
    after = [2**63 - 1] * len(lookups)
    seen = {}
    for i in range(len(lookups) - 1, -1, -1):
        block = lookups[i][0]
        after[i] = seen.get(block, 2**63 - 1)
        seen[block] = i
    return after


def hits_of(make, capacity, lookups, after):
    import libcachesim

    cache = make(cache_size=capacity)
    request = libcachesim.Request()
    hits = 0
    for i, (block, size) in enumerate(lookups):
        request.obj_id = block
        request.obj_size = size
        request.next_access_vtime = after[i]
        hits += cache.get(request)
    return hits


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        import libcachesim
    except ImportError:
        sys.exit("libcachesim is not installed: pip install libcachesim")
    others = {
        "lru": libcachesim.LRU,
        "clock": libcachesim.Clock,
        "sieve": libcachesim.Sieve,
        "s3fifo": libcachesim.S3FIFO,
        "arc": libcachesim.ARC,
        "belady": libcachesim.Belady,
    }
    with open(sys.argv[1], newline="") as file:
        lookups = [(int(row["id"]), int(row["bytes"])) for row in csv.DictReader(file)]
    with open(sys.argv[2]) as file:
        simulations = json.load(file)["simulations"]
    after = next_uses(lookups)
    print(f"{'policy':10} {'bytes':>14} {'hits':>12} {'libCacheSim':>12} {'difference':>12}")
    for each in simulations:
        make = others.get(each["policy"])
        if make is None:
            continue
        theirs = hits_of(make, each["capacity_bytes"], lookups, after)
        print(f"{each['policy']:10} {each['capacity_bytes']:14} {each['hits']:12} {theirs:12} "
              f"{each['hits'] - theirs:12}")


if __name__ == "__main__":
    main()
