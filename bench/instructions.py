#!/usr/bin/env python3
"""Counts the instructions of single operations under callgrind, and compares two such counts.

The figures repeat to a fraction of a percent, however busy the machine is, so they tell whether a change made an
operation longer. They do not tell how long it takes: a cache miss counts as one instruction.

  bench/instructions.py run build/gcc/cellar_instructions [--json FILE]
  bench/instructions.py compare BEFORE.json AFTER.json [--at-most RATIO]
  bench/instructions.py check build/gcc/cellar_instructions [--kept FILE] [--tolerance SHARE]

`check` counts and fails if an operation differs from the counts in bench/instructions.json by more than 3 %. A count
that fell is kept with `run --json bench/instructions.json`. A count that rose needs a reason in the commit.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")


def operations_of(output):
    """The lines "<operation> <how often>" that the program prints."""
    return {name: int(times) for name, times in (line.split() for line in output.splitlines() if line.strip())}


def instructions_of(annotated):
    """Instructions by operation, from the inclusive listing of callgrind_annotate."""
    found = {}
    for line in annotated.splitlines():
        match = re.match(r"\s*([\d,]+) .*[: ]measure_(\w+)(?:'\d+)?(?:\(.*)?(?:\s+\[.*\])?\s*$", line)
        if match:
            count = int(match.group(1).replace(",", ""))
            found[match.group(2)] = max(found.get(match.group(2), 0), count)
    return found


def per_operation(operations, instructions):
    missing = sorted(set(operations) - set(instructions))
    if missing:
        raise SystemExit("instructions.py: callgrind did not see " + ", ".join(missing))
    return {name: instructions[name] / times for name, times in operations.items()}


def run(program):
    for tool in ("valgrind", "callgrind_annotate"):
        if shutil.which(tool) is None:
            raise SystemExit("instructions.py: " + tool + " is missing; install the package valgrind")
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "callgrind.out")
        command = ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=" + out,
                   "--toggle-collect=measure_*", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit("instructions.py: the program failed under callgrind:\n" + done.stdout + done.stderr)
        listing = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                                 capture_output=True, text=True, check=True).stdout
    return per_operation(operations_of(done.stdout), instructions_of(listing))


def compare(before, after):
    """Rows of (operation, before, after, ratio), of the operations that both have."""
    return [(name, before[name], after[name], after[name] / before[name]) for name in before if name in after]


def check(kept, found, tolerance):
    """Prints what differs, and returns 1 if something does."""
    complaints = [f"{name} is not counted any more" for name in kept if name not in found]
    for name, count in found.items():
        if name not in kept:
            complaints.append(f"{name} has no kept count")
        elif abs(count / kept[name] - 1) > tolerance:
            way = "rose" if count > kept[name] else "fell"
            complaints.append(f"{name} {way} from {kept[name]:,.0f} to {count:,.0f} instructions")
    for complaint in complaints:
        print("instructions.py: " + complaint, file=sys.stderr)
    if complaints:
        print("instructions.py: if this is meant, keep the new counts with: bench/instructions.py run "
              "build/gcc/cellar_instructions --json bench/instructions.json", file=sys.stderr)
        return 1
    print(f"counted {len(found)} operations whose instructions are as they were")
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(description="Counts instructions of single operations.")
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="count, print a table")
    running.add_argument("program")
    running.add_argument("--json", help="also write the figures to this file")
    comparing = commands.add_parser("compare", help="compare two files of figures")
    comparing.add_argument("before")
    comparing.add_argument("after")
    comparing.add_argument("--at-most", type=float, help="fail if a ratio after/before is above this")
    checking = commands.add_parser("check", help="count, and compare with the counts that are kept")
    checking.add_argument("program")
    checking.add_argument("--kept", default=KEPT, help="the counts that are kept")
    checking.add_argument("--tolerance", type=float, default=0.03, help="the share by which a count may differ")
    chosen = parser.parse_args(arguments)

    if chosen.command == "check":
        with open(chosen.kept, encoding="utf-8") as kept:
            return check(json.load(kept), run(chosen.program), chosen.tolerance)
    if chosen.command == "run":
        figures = run(chosen.program)
        for name, count in figures.items():
            print(f"{name:<16}{count:>12,.1f} instructions")
        if chosen.json:
            with open(chosen.json, "w", encoding="utf-8") as file:
                json.dump({name: round(count, 1) for name, count in figures.items()}, file, indent=2)
                file.write("\n")
        return 0

    with open(chosen.before, encoding="utf-8") as before, open(chosen.after, encoding="utf-8") as after:
        rows = compare(json.load(before), json.load(after))
    if not rows:
        raise SystemExit("instructions.py: the two files have no operation in common")
    print(f"{'operation':<16}{'before':>12}{'after':>12}{'ratio':>8}")
    for name, old, new, ratio in rows:
        print(f"{name:<16}{old:>12,.1f}{new:>12,.1f}{ratio:>8.3f}")
    over = [name for name, _, _, ratio in rows if chosen.at_most and ratio > chosen.at_most]
    if over:
        print(f"more than {chosen.at_most} times as many instructions as before: " + ", ".join(over), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
