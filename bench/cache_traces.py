#!/usr/bin/env python3
"""Records block traces of three loads with the program cellar, and prints the table of docs/caches.md.

    bench/cache_traces.py --cellar build/gcc/cellar --log apache_logs.gz --dir DIR

zipf: gets of 50,000 rows, by Zipf's law. scans: gets of 5,000 hot rows, and between them scans of 4,000 rows. weblog:
the requests of an access log (Apache's combined format) in the order of the log; each page is a cell with as many
bytes as its answer had, 60,000 at most. DIR keeps the traces. The stores in it are removed.
"""

import argparse
import bisect
import gzip
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys

FAMILY = ["d:block_bytes=4096,compression=none"]
CACHE_BYTES = 8 << 20
SIZES = "2%,5%,10%,20%,40%"


def row(number):
    return f"row{number:06}"


def text(generator, length):
    return "".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=length))


class Zipf:
    """Numbers below count; the n-th in a shuffled order comes in proportion to 1 / n^skew."""

    def __init__(self, generator, count, skew):
        self.generator = generator
        self.order = list(range(count))
        generator.shuffle(self.order)
        self.up_to = list(itertools.accumulate(1 / (n + 1) ** skew for n in range(count)))

    def next(self):
        return self.order[bisect.bisect(self.up_to, self.generator.random() * self.up_to[-1])]


def zipf_load(generator):
    rows = [(row(n), text(generator, 1000)) for n in range(50_000)]
    zipf = Zipf(generator, len(rows), 0.9)
    return rows, [f"get 't', '{row(zipf.next())}'" for _ in range(200_000)]


def scans_load(generator):
    rows = [(row(n), text(generator, 1000)) for n in range(50_000)]
    zipf = Zipf(generator, 5_000, 0.6)
    steps = []
    for start in range(0, 40):
        steps += [f"get 't', '{row(10 * zipf.next())}'" for _ in range(3_000)]
        steps.append(f"scan 't', {{STARTROW => '{row(start * 7919 % 46_000)}', LIMIT => 4000}}")
    return rows, steps


def weblog_load(generator, log):
    request = re.compile(r'"(?:GET|HEAD|POST) (\S+) [^"]*" \d+ (\d+|-)')
    sizes = {}
    steps = []
    with gzip.open(log, "rt", errors="replace") as lines:
        for line in lines:
            found = request.search(line)
            if found is None:
                continue
            page = re.sub(r"[^A-Za-z0-9/._-]", "_", found[1])[:200]
            answered = 0 if found[2] == "-" else int(found[2])
            sizes[page] = max(sizes.get(page, 1), min(answered, 60_000))
            steps.append(f"get 't', '{page}'")
    return [(page, text(generator, size)) for page, size in sorted(sizes.items())], steps


def record(options, name, rows, steps):
    def path(end):
        return os.path.join(options.dir, name + end)

    shutil.rmtree(path(".store"), ignore_errors=True)
    if os.path.exists(path(".trace")):
        os.remove(path(".trace"))
    with open(path(".jsonl"), "w") as cells:
        for key, value in rows:
            json.dump({"row": key, "family": "d", "qualifier": "q", "ts": 1, "type": "Put", "value": value}, cells)
            cells.write("\n")
    with open(path(".steps"), "w") as lines:
        lines.write("\n".join(steps) + "\n")

    def run(*words, **more):
        done = subprocess.run([options.cellar, *words], capture_output=True, text=True, **more)
        if done.returncode != 0:
            sys.exit(f"cellar {' '.join(words)}: {done.stderr}")

    run("create", path(".store"), "t", *FAMILY)
    run("load", path(".store"), "t", path(".jsonl"))
    run("flush", path(".store"))
    run("compact", path(".store"), "--major")
    settings = f"cache_bytes={CACHE_BYTES},cache_shards=1,block_trace={path('.trace')}"
    run("shell", path(".store"), "-f", path(".steps"), env={**os.environ, "CELLAR_ENGINE": settings})
    shutil.rmtree(path(".store"))
    for end in (".jsonl", ".steps"):
        os.remove(path(end))


def print_table(options, name):
    trace = os.path.join(options.dir, name + ".trace")
    printed = subprocess.run([options.cellar, "simulate", "cache", trace, "--sizes", SIZES, "--format", "json"],
                             check=True, capture_output=True).stdout
    answer = json.loads(printed)
    policies = list(dict.fromkeys(each["policy"] for each in answer["simulations"]))
    misses = {(each["capacity_bytes"], each["policy"]): 1 - each["hits"] / answer["lookups"]
              for each in answer["simulations"]}
    print(f"\n{name}: {answer['lookups']:,} lookups of {answer['blocks']:,} blocks, "
          f"{answer['distinct_bytes'] / 2**20:.1f} MiB\n")
    print("| cache | " + " | ".join(policies) + " |")
    print("|---:|" + "---:|" * len(policies))
    for size in sorted({size for size, _ in misses}):
        share = f"{size / answer['distinct_bytes']:.0%}"
        print(f"| {share} | " + " | ".join(f"{100 * misses[size, policy]:.1f}" for policy in policies) + " |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cellar", default="build/gcc/cellar")
    arguments.add_argument("--log", required=True, help="an access log, compressed by gzip")
    arguments.add_argument("--dir", required=True)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--loads", default="zipf,scans,weblog")
    options = arguments.parse_args()
    if not os.path.exists(options.log):
        sys.exit(f"{options.log} does not exist: name an access log, compressed by gzip")
    os.makedirs(options.dir, exist_ok=True)
    loads = {"zipf": zipf_load, "scans": scans_load, "weblog": lambda generator: weblog_load(generator, options.log)}
    for name in options.loads.split(","):
        if name not in loads:
            sys.exit(f"unknown load {name}; known: {', '.join(loads)}")
        rows, steps = loads[name](random.Random(options.seed))
        record(options, name, rows, steps)
        print_table(options, name)


if __name__ == "__main__":
    main()
