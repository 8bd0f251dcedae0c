"""Measures operations of Cellar and of HBase in two programs, which stay alive and take turns."""

import json
import statistics
import subprocess

GOAL = 10.0  # times the speed of a region, in processor time


class Differ(Exception):
    """The programs did not read the same."""


class Program:
    """A program that measures once for each line, and prints a JSON line for each kind of operation."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        results = {}
        for line in self.process.stdout:
            if line == "done\n":
                return results
            if line.startswith("{"):
                each = json.loads(line)
                results[each["work"]] = each
        raise RuntimeError(f"{self.name} ended with {self.process.wait()}: {self.process.stderr.read()[-2000:]}")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


def table(rounds):
    """Rows of medians from rounds: each is a dictionary by engine of a dictionary by kind of operation."""
    rows = []
    for work, first in rounds[0]["hbase"].items():
        times = {(engine, clock): statistics.median(each[engine][work][clock] for each in rounds)
                 for engine in ("hbase", "cellar") for clock in ("wall", "cpu")}
        sums = {engine: {each[engine][work]["sum"] for each in rounds} for engine in ("hbase", "cellar")}
        if len(sums["hbase"] | sums["cellar"]) != 1:
            raise Differ(f"{work}: HBase read {sums['hbase']}, Cellar {sums['cellar']}")
        rows.append({"work": work, "operations": first["operations"],
                     "hbase_microseconds": times["hbase", "wall"] / first["operations"] * 1e6,
                     "cellar_microseconds": times["cellar", "wall"] / first["operations"] * 1e6,
                     "ratio": times["hbase", "wall"] / times["cellar", "wall"],
                     "processor_ratio": times["hbase", "cpu"] / times["cellar", "cpu"]})
    return rows


def show(rows, judged="processor_ratio", goal=GOAL):
    """`judged` is the column that the goal is for."""
    print(f"{'operation':16} {'HBase us':>9} {'Cellar us':>10} {'ratio':>6} {'of processor time':>18}  goal {goal:.0f}")
    for row in rows:
        met = "met" if row[judged] >= goal else "missed"
        print(f"{row['work']:16} {row['hbase_microseconds']:9.3f} {row['cellar_microseconds']:10.3f} "
              f"{row['ratio']:6.1f} {row['processor_ratio']:18.1f}  {met}")


def compare(cellar, hbase, rounds, warm_up=2, at_end=lambda program: None):
    """Runs both in turns, the first rounds only to warm up; then at_end(program). Returns the rows of the table."""
    programs = [Program("cellar", cellar), Program("hbase", hbase)]
    measured = []
    try:
        for number in range(rounds + warm_up):
            results = {program.name: program.round() for program in programs}
            if number >= warm_up:
                measured.append(results)
        for program in programs:
            at_end(program)
    finally:
        for program in programs:
            program.close()
    return table(measured)
