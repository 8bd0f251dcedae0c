#!/usr/bin/env python3
"""Which lines of crash-safe code the sweeps reach: a table of files, the ranges of lines not reached, the total.

usage: sweep_coverage.py <lcov file> <source>...   (./dev coverage sweeps)

Ends with 1 when fewer lines than the goal are reached.
"""
import os
import sys

GOAL = 90.0


def read_lcov(path):
    """By source: how often each line with code ran."""
    files, lines = {}, {}
    with open(path, encoding="utf-8") as report:
        for line in report:
            kind, _, rest = line.rstrip("\n").partition(":")
            if kind == "SF":
                lines = files.setdefault(os.path.relpath(rest), {})
            elif kind == "DA":
                number, count = rest.split(",")[:2]
                lines[int(number)] = max(lines.get(int(number), 0), int(count))
    return files


def ranges_of(lines):
    """The runs of lines that did not run: those between two of them without code belong to them."""
    ranges, open_range = [], None
    for number in sorted(lines):
        if lines[number] == 0:
            open_range = (open_range[0], number) if open_range else (number, number)
        elif open_range:
            ranges.append(open_range)
            open_range = None
    if open_range:
        ranges.append(open_range)
    return ranges


def percent(reached, lines):
    return 100.0 * reached / lines if lines else 100.0


def main():
    files = read_lcov(sys.argv[1])
    missing = [source for source in sys.argv[2:] if source not in files]
    if missing:
        sys.exit("sweep_coverage: nothing is known of " + ", ".join(missing))
    total = total_reached = 0
    print(f"{'source':32} {'lines':>6} {'reached':>8} {'percent':>8}")
    for source in sys.argv[2:]:
        lines = files[source]
        reached = sum(count > 0 for count in lines.values())
        total, total_reached = total + len(lines), total_reached + reached
        print(f"{source:32} {len(lines):6} {reached:8} {percent(reached, len(lines)):8.1f}")
    print(f"{'all of them':32} {total:6} {total_reached:8} {percent(total_reached, total):8.1f}")
    print("\nnot reached:")
    for source in sys.argv[2:]:
        gone = ranges_of(files[source])
        if gone:
            texts = [str(first) if first == last else f"{first}-{last}" for first, last in gone]
            print(f"  {source}: {', '.join(texts)}")
    reached = percent(total_reached, total)
    print(f"\n{reached:.1f} % of {total} lines, goal {GOAL:.0f} %")
    return 0 if reached >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
