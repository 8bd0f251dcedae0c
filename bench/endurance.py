#!/usr/bin/env python3
"""A store under load for hours, with commands that read it meanwhile: what it takes up over time, and is it bounded?

  endurance.py run --build build/gcc --minutes 120 --out build/endurance     load, readers, limits, pictures
  endurance.py report build/endurance --build build/gcc                      limits and pictures of a run that is over
  endurance.py report build/endurance --build build/gcc --page               and docs/endurance.md with its pictures

Options of `run` that it does not know go to cellar_endurance (--bytes 5gib, --rate 5000, --option KEY=VALUE). The
command ends with 1 if an answer was wrong, a command failed, or a limit was passed.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20

# What programs that read do again and again while the store is written; {} is the store.
COMMANDS = (
    ("status", ["status", "{}"]),
    ("list", ["list", "{}"]),
    ("get", ["get", "{}", "counters", "user000000000000"]),
    ("scan", ["scan", "{}", "rows", "--limit", "1000", "--format", "json"]),
    ("count", ["count", "{}", "events"]),
)


class Failure(Exception):
    """Something that the user must know: it ends the command with 1."""


# ---- The run ----

class Readers(threading.Thread):
    """Runs the commands in turn, a pause between two, until it is stopped; keeps how long each took."""

    def __init__(self, tool, store, pause):
        super().__init__(daemon=True)
        self.tool, self.store, self.pause = tool, str(store), pause
        self.over = threading.Event()
        self.runs, self.errors = [], []

    def run(self):
        begun = time.monotonic()
        # The first one waits until the program has created the tables.
        while not self.over.wait(self.pause):
            for name, words in COMMANDS:
                if self.over.is_set():
                    return
                self.run_one(begun, name, [word.replace("{}", self.store) for word in words])

    def run_one(self, begun, name, words):
        start = time.monotonic()
        done = subprocess.run([self.tool, *words], capture_output=True, text=True, check=False)
        if self.over.is_set():
            return  # the store may have been closed meanwhile
        self.runs.append({"kind": "reader", "command": name, "seconds": round(start - begun, 3),
                          "took": round(time.monotonic() - start, 4), "status": done.returncode,
                          "bytes": len(done.stdout)})
        if done.returncode != 0:
            self.errors.append(f"cellar {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[:300]}")


def run(options, others):
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    store = out / "store"
    if store.exists() and options.replace:
        shutil.rmtree(store)
    if store.exists():
        raise Failure(f"{store} exists: say --replace to remove it, or name another directory with --out")
    samples = out / "samples.jsonl"
    readers = Readers(options.build / "cellar", store, options.pause)
    with open(samples, "w", encoding="utf-8") as file:
        program = subprocess.Popen([options.build / "cellar_endurance", store, "--seconds",
                                    str(options.minutes * 60), *others], stdout=subprocess.PIPE, text=True)
        for line in program.stdout:
            file.write(line)
            file.flush()
            kind = json.loads(line)["kind"]
            if kind == "sample" and not readers.is_alive() and not readers.over.is_set():
                readers.start()
            if options.show and kind == "sample":
                show(json.loads(line))
            if kind == "sample" and json.loads(line)["seconds"] >= options.minutes * 60:
                readers.over.set()
        readers.over.set()
        code = program.wait()
        if readers.ident:
            readers.join()
        for each in readers.runs:
            file.write(json.dumps(each) + "\n")
    if code != 0:
        raise Failure(f"cellar_endurance ended with {code}; the store stays in {store}")
    if readers.errors:
        raise Failure("commands that read failed:\n  " + "\n  ".join(readers.errors[:10]))


def show(sample):
    print(f"{sample['seconds']:8.0f} s  {sample['rate']:8.0f} operations/s  longest {sample['longest_ms']:8.1f} ms  "
          f"memory {sample['anonymous_bytes'] / MIB:6.0f} MiB  disk {sample['disk_bytes'] / MIB:7.0f} MiB  "
          f"{sample['files']:3} files", file=sys.stderr)


# ---- The figures ----

class Record:
    """The lines of a run."""

    def __init__(self, path):
        self.context, self.end, self.samples, self.readers = None, None, [], []
        try:
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        except OSError as error:
            raise Failure(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            raise Failure(f"{path} is not a record of a run: {error}") from error
        for line in lines:
            kind = line.get("kind")
            if kind == "context":
                self.context = line
            elif kind == "end":
                self.end = line
            elif kind == "sample" and line["operations"]:
                self.samples.append(line)
            elif kind == "reader":
                self.readers.append(line)
        if not self.context or not self.end or len(self.samples) < 4:
            raise Failure(f"{path} holds no whole run of at least four samples")

    def quarter(self, number):
        """Samples of a quarter of the time, 0 to 3."""
        size = len(self.samples) // 4
        return self.samples[number * size:(number + 1) * size]

    def largest(self, field, samples=None):
        return max(each[field] for each in samples or self.samples)

    def median(self, field, samples=None):
        return statistics.median(each[field] for each in samples or self.samples)

    def budget(self):
        """What the options allow to be in memory: cache, memtables, and what the program itself knows of each row."""
        context = self.context
        return context["cache_bytes"] + context["memtable_bytes_total"] + 16 * context["rows"]


# A limit: its name, the value, and the largest one that is allowed.
def limits_of(record):
    second, last = record.quarter(1), record.quarter(3)
    extra = 112 * MIB  # readers, compactions, the allocator, code
    # Small runs are mostly memtables that fill up, and two segments of the log.
    grown, segments = 64 * MIB / record.median("anonymous_bytes", second), 192 * MIB / record.median("live_bytes")
    engine = record.context["cache_bytes"] + record.context["memtable_bytes_total"]
    yield ("memory of the process, MiB", record.largest("anonymous_bytes") / MIB, (record.budget() + extra) / MIB)
    yield ("memory that the engine counts, MiB", record.largest("memory_bytes") / MIB, (engine + extra) / MIB)
    yield ("memory in the last quarter over the second", record.median("anonymous_bytes", last) /
           record.median("anonymous_bytes", second), 1.1 + grown)
    yield ("descriptors", record.largest("descriptors"), 200)
    yield ("descriptors in the last quarter over the second", record.largest("descriptors", last) /
           record.largest("descriptors", second), 1.5)
    yield ("threads", record.largest("threads"), record.context["writers"] + 8)
    yield ("files", record.largest("files"), 120)
    yield ("sorted runs of a family", record.largest("sorted_runs"), 16)
    yield ("disk space over live data", record.largest("space_amplification"), 5 + segments)
    yield ("longest operation, s", record.end["longest_ms"] / 1e3, 10)
    yield ("samples that are not healthy", sum(each["health"] != "ok" for each in record.samples), 0)
    yield ("commands that failed", sum(each["status"] != 0 for each in record.readers), 0)


def table_of_limits(record):
    rows = ["| figure | largest | limit |", "|---|---:|---:|"]
    passed = []
    for name, value, limit in limits_of(record):
        rows.append(f"| {name} | {number(value)} | {number(limit)} |")
        if value > limit:
            passed.append(f"{name}: {number(value)}, and the limit is {number(limit)}")
    return "\n".join(rows), passed


def number(value):
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def table_of_operations(record):
    rows = ["| operation | number | p50, µs | p99, µs | p99.9, µs | longest, ms |", "|---|---:|---:|---:|---:|---:|"]
    for name, each in record.end["operations"].items():
        rows.append(f"| {name} | {each['count']:,} | {each['p50_us']:.1f} | {each['p99_us']:.0f} | "
                    f"{each['p999_us']:.0f} | {each['max_us'] / 1e3:.0f} |")
    return "\n".join(rows)


def table_of_readers(record):
    rows = ["| command | runs | median, ms | longest, ms |", "|---|---:|---:|---:|"]
    for name, _ in COMMANDS:
        times = [each["took"] * 1e3 for each in record.readers if each["command"] == name]
        if times:
            rows.append(f"| {name} | {len(times):,} | {statistics.median(times):.0f} | {max(times):.0f} |")
    return "\n".join(rows)


def sentences(record):
    context, end = record.context, record.end
    last = record.samples[-1]
    stalls = "\n".join(["| writers waited for | times | seconds in all | longest, s |", "|---|---:|---:|---:|"] + [
        f"| {name} | {each['count']:,} | {each['seconds']:.1f} | {each['max_seconds']:.2f} |"
        for name, each in last["stalls"].items()])
    rate = f"{context['rate']:,.0f} operations a second" if context["rate"] else "as many operations as it could"
    return "\n".join((
        f"The processor was {context.get('processor', 'unknown')} with {context['processors']} cores. "
        f"{context['rows']:,} rows of {context['value_bytes']:,} bytes were loaded first, "
        f"{context['rows'] * context['value_bytes'] / (1 << 30):.2f} GiB. "
        f"Then {context['writers']} threads did {rate} for {end['seconds'] / 60:.3g} minutes, "
        f"{end['count']:,} in all. Meanwhile {end['whole_scans']:,} scans over the whole table ended, and "
        f"{len(record.readers):,} commands read the store.",
        "",
        stalls,
        "",
        f"Write amplification was {last['write_amplification']:.2f} at the end. "
        f"Disk space was {record.median('space_amplification'):.2f} times the live data in the median. "
        f"Opening the store again took {end['reopen_seconds']:.2f} s."))


# ---- Pictures ----

# Name of the picture, its title, its y axis, its lines (a member of a sample and its name), a divisor, a logarithm.
PICTURES = (
    ("memory", "Memory over time", "MiB", (("anonymous_bytes", "the process"), ("memory_bytes", "the engine"),
                                            ("cache_bytes", "cache"), ("memtable_bytes", "memtables")), MIB, False),
    ("space", "Disk space over time", "GiB", (("disk_bytes", "on disk"), ("live_bytes", "live data")), 1 << 30, False),
    ("counts", "Files, descriptors and threads", "number", (("files", "files"), ("descriptors", "descriptors"),
                                                            ("threads", "threads")), 1, False),
    ("amplification", "Amplification over time", "factor", (("write_amplification", "write"),
                                                            ("space_amplification", "space"),
                                                            ("sorted_runs", "sorted runs")), 1, False),
    ("longest", "Longest operation", "ms", (("longest_ms", "longest operation"),), 1, True),
)


def draw(record, tool, folder, points=80):
    """A point is the largest value of the samples that it stands for."""
    size = max(1, len(record.samples) // points)
    groups = [record.samples[at:at + size] for at in range(0, len(record.samples), size)]
    for name, title, axis, series, divisor, log in PICTURES:
        lines = [{"kind": "result", "workload": "endurance", "peer": label, "round": 0, "unit": axis,
                  "minutes": round(group[-1]["seconds"] / 60, 3),
                  "value": max(each[field] for each in group) / divisor}
                 for field, label in series for group in groups]
        subprocess.run([tool, "plot", "-", "--x", "minutes", "--series", "peer", "--y", "value", "--title", title,
                        "--x-label", "minutes", "--y-label", axis, *(["--log-y"] if log else []), "--quiet",
                        "--out", folder / f"endurance_{name}.svg"],
                       input="\n".join(map(json.dumps, lines)), text=True, check=True)


def write_page(record, limits):
    page = ROOT / "docs" / "endurance.md"
    text = page.read_text(encoding="utf-8")
    parts = {"run": sentences(record), "limits": limits, "operations": table_of_operations(record),
             "readers": table_of_readers(record)}
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if begin not in text or end not in text:
            raise Failure(f"{page} has no place {begin}")
        text = text[:text.index(begin) + len(begin)] + f"\n{part}\n" + text[text.index(end):]
    page.write_text(text, encoding="utf-8")


def report(options):
    record = Record(pathlib.Path(options.out) / "samples.jsonl")
    limits, passed = table_of_limits(record)
    print("\n\n".join((sentences(record), limits, table_of_operations(record), table_of_readers(record))))
    draw(record, options.build / "cellar", pathlib.Path(options.out))
    if options.page:
        draw(record, options.build / "cellar", ROOT / "docs" / "plots")
        write_page(record, limits)
    if passed:
        raise Failure("limits were passed:\n  " + "\n  ".join(passed))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--minutes", type=float, default=120)
    running.add_argument("--out", default="build/endurance")
    running.add_argument("--pause", type=float, default=5, help="seconds between two rounds of the commands that read")
    running.add_argument("--replace", action="store_true", help="remove the store of an earlier run")
    running.add_argument("--show", action="store_true", help="a line for each sample")
    reporting = commands.add_parser("report")
    reporting.add_argument("out")
    for each in (running, reporting):
        each.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/gcc"))
        each.add_argument("--page", action="store_true", help="write docs/endurance.md and its pictures anew")
    options, others = parser.parse_known_args(arguments)
    options.build = options.build.resolve()
    if others and options.command == "report":
        parser.error(f"unknown options: {' '.join(others)}")
    try:
        if options.command == "run":
            run(options, others)
        report(options)
    except Failure as failure:
        print(f"endurance.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
