"""Measures two clients of one cluster, Cellar's library and HBase's own: operations, memory and the time to start."""

import re
import statistics
import subprocess
import time

import operations

GOALS = {"operations": 1.0, "memory": 10.0, "start_ms": 20.0}
STARTS = 10


def peak_bytes(process):
    """The most memory that the program has used so far."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024


def start_seconds(command):
    begin = time.monotonic()
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {run.returncode}: {(run.stdout + run.stderr)[-2000:]}")
    return time.monotonic() - begin


def compare(bench, first, rounds):
    """`bench` and `first` are commands by client, "cellar" and "hbase". Returns what was measured."""
    memory = {}
    rows = operations.compare(bench["cellar"], bench["hbase"], rounds,
                              at_end=lambda program: memory.setdefault(program.name, peak_bytes(program.process)))
    starts = [{client: start_seconds(command) for client, command in first.items()} for _ in range(STARTS)]
    return {"operations": rows, "peak_bytes": memory,
            "start_seconds": {client: statistics.median(each[client] for each in starts) for client in first}}


def show(measured):
    operations.show(measured["operations"], "ratio", GOALS["operations"])
    memory, start = measured["peak_bytes"], measured["start_seconds"]
    ratio = memory["hbase"] / memory["cellar"]
    print(f"peak memory: HBase's client {memory['hbase'] / 2**20:.0f} MiB, Cellar's {memory['cellar'] / 2**20:.1f} MiB, "
          f"ratio {ratio:.1f}, goal {GOALS['memory']:.0f} {'met' if ratio >= GOALS['memory'] else 'missed'}")
    print(f"a process that reads one row, median of {STARTS}: HBase's client {start['hbase'] * 1e3:.0f} ms, "
          f"Cellar's {start['cellar'] * 1e3:.1f} ms, goal {GOALS['start_ms']:.0f} ms "
          f"{'met' if start['cellar'] * 1e3 <= GOALS['start_ms'] else 'missed'}")
