#!/usr/bin/env python3
"""Faults from outside: runs real programs with failing system calls, and checks what they leave.

usage: outside.py --build DIR [--short] [--only WORK[:CALL[:ACTION[:once|ever[:K]]]]]... [--jobs N] [--keep]

  --build DIR  where the programs lie: cellar, cellar_outside_writer, libcellar_outside_faults.so
  --short      a sample of the faults, drawn from a seed (CELLAR_SEED; a new one when it is not given)
  --only …     these faults alone: writer, scattered or a command of the program; a call; what becomes of it; from
               the K-th call on. "*" stands for all of them; repeatable
  --jobs N     so many at a time (as many as there are processors)
  --keep       leaves the stores of runs that fail

Each run lets one call fail (or all from there on), or ends the process at it; the K-th, for every K until no call is
struck any more. CELLAR_OUTSIDE_DIRECTORY says where the stores lie (default: memory, /dev/shm).
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import random
import shutil
import sys
import tempfile
import threading
import time

import tool_work
import writer_work
from injection import Programs, Wrong, counting, series_of

SHORT_SECONDS, SHORT_SECONDS_MIN = 30, 5  # of a sample; CELLAR_TEST_SCALE multiplies them
SHORT_COMMANDS = 5


class Tally:
    """What was done, for the lines at the end."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.failures = []

    def add(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def fail(self, fault, wrong, directory):
        with self.lock:
            self.failures.append(fault)
            print(f"FAILED {fault}: {wrong}\n  repeat: python3 tests/outside/outside.py --build build/gcc --only '{fault}'"
                  f"{'; its files: ' + directory if directory else ''}", flush=True)


class Session:
    """All runs of one call of this program."""

    def __init__(self, options):
        self.options = options
        self.programs = Programs(os.path.abspath(options.build))
        self.tally = Tally()
        place = os.environ.get("CELLAR_OUTSIDE_DIRECTORY") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.scratch = tempfile.mkdtemp(prefix="cellar-outside-", dir=place)
        self.numbers = itertools.count(1)
        self.works = {}
        self.works.update(writer_work.works())
        self.works.update(tool_work.works())
        self.wanted = [only.split(":") + ["*"] * 5 for only in options.only]
        self.draw = random.Random()
        if options.short:
            self.begin_short()

    # A few of the works, others each day: preparing all of them takes too long.
    def begin_short(self):
        seed = int(os.environ.get("CELLAR_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"seed {seed}; repeat: CELLAR_SEED={seed} python3 tests/outside/outside.py --build build/gcc --short",
              flush=True)
        self.draw.seed(seed)
        commands = sorted(tool_work.works())
        chosen = self.draw.sample(commands, SHORT_COMMANDS)
        for name in commands:
            if name not in chosen and not self.wanted:
                del self.works[name]

    def chosen(self, fault):
        ever = "ever" if fault.ever else "once"
        parts = (fault.work, fault.call, fault.action, ever)
        return not self.wanted or any(all(want in ("*", part) for want, part in zip(only, parts))
                                      for only in self.wanted)

    def numbers_wanted(self):
        return {int(only[4]) for only in self.wanted if only[4].isdigit()}

    def run_one(self, fault):
        """Whether the fault struck."""
        directory = os.path.join(self.scratch, f"run{next(self.numbers)}")
        os.mkdir(directory)
        struck, failed = True, False
        try:
            struck = self.works[fault.work].run(self.programs, self.tally, directory, fault)
            self.tally.add("runs of programs with an injected fault", 1 if struck else 0)
            if struck and fault.kills():
                self.tally.add("kills at a system call")
        except Wrong as wrong:
            failed = True
            self.tally.fail(fault, wrong, directory if self.options.keep else "")
        if not (failed and self.options.keep):
            shutil.rmtree(directory, ignore_errors=True)
            if os.path.exists(directory + ".counts"):
                os.remove(directory + ".counts")
        return struck

    def run_series(self, series):
        for number in itertools.count(1):
            if not self.run_one(series._replace(at=number)):
                return
            if len(self.tally.failures) >= 20:
                return

    def prepare(self, pool):
        wanted = [name for name in self.works if any(self.chosen(fault) for fault in series_of(name))]
        list(pool.map(lambda name: self.works[name].prepare(self.programs,
                                                            os.path.join(self.scratch, "prepared-" + name)), wanted))

    def everything(self):
        return [fault for name in self.works for fault in series_of(name) if self.chosen(fault)]

    def run(self):
        series = self.everything()
        if not series:
            sys.exit("outside: --only names no fault")
        jobs = self.options.jobs or os.cpu_count() or 1
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            self.prepare(pool)
            if self.numbers_wanted():
                list(pool.map(self.run_one, [fault._replace(at=number) for fault in series
                                             for number in sorted(self.numbers_wanted())]))
            elif self.options.short:
                self.sample(pool, jobs, series)
            else:
                list(pool.map(self.run_series, series))

    def sample(self, pool, jobs, series):
        """Faults at random until the time is up, every series at most once in a round."""
        scale = float(os.environ.get("CELLAR_TEST_SCALE", 1))
        until = time.monotonic() + max(SHORT_SECONDS_MIN, scale * SHORT_SECONDS)
        names = sorted({fault.work for fault in series})
        counted = dict(zip(names, pool.map(self.count_calls, names)))
        series = [fault for fault in series if counted[fault.work][fault.call] > 0]
        weights = [min(counted[fault.work][fault.call], 40) for fault in series]

        def go_on(_):
            while time.monotonic() < until and not self.tally.failures:
                with self.tally.lock:
                    fault = self.draw.choices(series, weights)[0]
                    number = self.draw.randint(1, counted[fault.work][fault.call])
                self.run_one(fault._replace(at=number))

        list(pool.map(go_on, range(jobs)))

    def count_calls(self, name):
        directory = os.path.join(self.scratch, f"run{next(self.numbers)}")
        os.mkdir(directory)
        try:
            return self.works[name].count_calls(self.programs, directory, counting(name))
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--build", default="build/gcc")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=0)
    for flag in ("--short", "--keep", "--help"):
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    if options.help:
        print(__doc__)
        return 0
    session = Session(options)
    try:
        session.run()
    finally:
        if not options.keep:
            shutil.rmtree(session.scratch, ignore_errors=True)
    for what, number in sorted(session.tally.counts.items()):
        print(f"counted {number} {what}")
    if session.tally.failures:
        print(f"{len(session.tally.failures)} runs failed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
