#!/usr/bin/env python3
"""Adds up the lines "counted <number> <what>" of long tests, prints the sums, and sets them against goals.txt.

usage: goals.py COMMAND FILE...

COMMAND is a word of goals.txt (full, soak), "part" if only a part of that work was to be done, or "none".
Ends with 1 if a goal of the command is missed. A part must count something of each goal of "full".
"""
import pathlib
import re
import sys
from collections import Counter


def sums_of(texts):
    """The sum of each thing that the texts count."""
    sums = Counter()
    for text in texts:
        for number, what in re.findall(r"^counted (\d+) (.+?)\s*$", text, re.MULTILINE):
            sums[what] += int(number)
    return sums


def goals_of(text, command):
    """The goals of a command: the least number, and what is counted."""
    lines = [line.split(None, 2) for line in text.splitlines() if line and not line.startswith("#")]
    return [(int(least), what) for of, least, what in lines if of == command]


def verdicts(goals, sums, part):
    """A line for each goal, and whether it is met."""
    for least, what in goals:
        number = sum(sums[each] for each in what.split(" + "))
        met = number > 0 if part else number >= least
        word = "MISSED" if not met else "met" if number >= least else "met in part"
        yield f"goal {word}: {number:,} of {least:,} {what}", met


def main(command, files):
    sums = sums_of(pathlib.Path(file).read_text(errors="replace") for file in files)
    for what in sorted(sums):
        print(f"{sums[what]:12d} {what}")
    goals = goals_of(pathlib.Path(__file__).with_name("goals.txt").read_text(),
                     "full" if command == "part" else command)
    missed = 0
    for line, met in verdicts(goals, sums, command == "part"):
        print(line)
        missed += not met
    if missed:
        print(f"{missed} of {len(goals)} goals are missed (tests/goals.txt)", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("full", "soak", "part", "none"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
