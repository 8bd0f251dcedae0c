#!/usr/bin/env python3
"""What engines do over time under overwrite_sustained of cellar_driver: how even, how late, how large.

  sustained.py RUN.jsonl                              a table, an engine a line
  sustained.py RUN.jsonl --tool build/gcc/cellar --rates RATES.svg --space SPACE.svg     and pictures over time

The run is cut into stretches of 30 seconds (--stretch); those of the first minute (--skip) are left out of the
table. "spread" is the factor by which the stretch furthest from the median differs from it. "space" is the largest
size on disk at the end of a window of five seconds, as a multiple of what the rows take up before the first
overwrite. Of several rounds the last counts.
"""
import argparse
import json
import statistics
import subprocess
import sys

WORKLOAD = "overwrite_sustained"
COLUMNS = ("engine", "puts/s, median", "slowest", "fastest", "spread", "p99.9, ms", "longest put, ms", "space",
           "peak memory, MB")


class Failure(Exception):
    """Something about the input that the user must mend."""


class Stretch:
    """Some windows that follow each other."""

    def __init__(self, begin):
        self.begin, self.seconds, self.ops, self.disk = begin, 0.0, 0, 0

    def add(self, window):
        self.seconds += window["seconds"]
        self.ops += window["ops"]
        self.disk = max(self.disk, window["bytes_on_disk"])

    def rate(self):
        return self.ops / self.seconds


def read_run(path):
    """The result of each engine, in their order."""
    results = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                try:
                    line = json.loads(text) if text.strip() else {}
                except ValueError as error:
                    raise Failure(f"{path}:{number}: not a line of cellar_driver: {error}") from error
                if line.get("kind") == "result" and line.get("workload") == WORKLOAD:
                    results[line["peer"]] = line
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    if not results:
        raise Failure(f"{path}: no results of {WORKLOAD}; run cellar_driver --workloads {WORKLOAD} --json {path}")
    return results


def stretches_of(result, length):
    """What comes last and is shorter than half a stretch is left out."""
    stretches, begin = [], 0.0
    for window in result["windows"]:
        if not stretches or stretches[-1].seconds >= length - window["seconds"] / 2:
            stretches.append(Stretch(begin))
        stretches[-1].add(window)
        begin += window["seconds"]
    return [each for each in stretches if each.seconds >= length / 2]


def summary(peer, result, length, skip):
    rates = [each.rate() for each in stretches_of(result, length) if each.begin >= skip - length / 2]
    if not rates:
        raise Failure(f"{peer} wrote for {result['seconds']:.0f} s: shorter than --skip and one --stretch")
    median = statistics.median(rates)
    space = max(window["bytes_on_disk"] for window in result["windows"]) / result["bytes_live"]
    return (peer, f"{median:,.0f}", f"{min(rates):,.0f}", f"{max(rates):,.0f}",
            f"{max(median / min(rates), max(rates) / median):.2f}", f"{result['p999_us'] / 1e3:.2f}",
            f"{result['max_us'] / 1e3:.0f}", f"{space:.2f}", f"{result['peak_rss_bytes'] / 1e6:.0f}")


def draw(tool, results, out, field, arguments):
    """Points for `cellar plot`: a line an engine, over minutes."""
    lines = []
    for peer, result in results.items():
        begin = 0.0
        for window in result["windows"]:
            begin += window["seconds"]
            lines.append({"kind": "result", "workload": WORKLOAD, "peer": peer, "round": 0, "unit": field,
                          "minutes": round(begin / 60, 3), "rate": window["ops"] / window["seconds"],
                          "space": window["bytes_on_disk"] / result["bytes_live"]})
    subprocess.run([tool, "plot", "-", "--x", "minutes", "--series", "peer", "--y", field, "--x-label", "minutes",
                    *arguments, "--out", out, "--quiet"], input="\n".join(map(json.dumps, lines)), text=True,
                   check=True)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--stretch", type=float, default=30)
    parser.add_argument("--skip", type=float, default=60)
    parser.add_argument("--tool", default="build/gcc/cellar")
    parser.add_argument("--rates")
    parser.add_argument("--space")
    options = parser.parse_args(arguments)
    try:
        results = read_run(options.run)
        print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
        for peer, result in results.items():
            print("| " + " | ".join(summary(peer, result, options.stretch, options.skip)) + " |")
        if options.rates:
            draw(options.tool, results, options.rates, "rate",
                 ["--log-y", "--title", "Random overwrites over time", "--y-label", "puts per second"])
        if options.space:
            draw(options.tool, results, options.space, "space",
                 ["--title", "Space on disk under random overwrites", "--y-label", "multiple of the rows' size"])
    except Failure as failure:
        print(f"sustained.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
