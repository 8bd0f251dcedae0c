#!/usr/bin/env python3
"""How the cost of an operation grows with the number of rows in the store, by the workloads growth_* of cellar_driver.

  growth.py run --driver build/bench/cellar_driver --rows 1e5,1e6,1e7 --peers cellar,rocksdb --out growth.jsonl
  growth.py report growth.jsonl                                   a table for each engine
  growth.py report growth.jsonl --tool build/bench/cellar --picture growth.svg    and a picture of the first engine's costs

`run` ends with the report.

Times are the mean of a stretch divided by its operations, and the median over the rounds. "memory" is the largest
resident memory while the store was opened five times.
"""
import argparse
import json
import statistics
import subprocess
import sys

# A column: its title, the workload, the figure of one result, the format.
COLUMNS = (
    ("load, puts/s", "growth_load", lambda line: line["rate"], "{:,.0f}"),
    ("open, ms", "growth_open", lambda line: line["seconds"] / line["ops"] * 1e3, "{:.1f}"),
    ("memory, MiB", "growth_open", lambda line: line["peak_rss_bytes"] / (1 << 20), "{:,.0f}"),
    ("get, µs", "growth_get", lambda line: line["seconds"] / line["ops"] * 1e6, "{:.2f}"),
    ("get of 100,000 rows, µs", "growth_get_hot", lambda line: line["seconds"] / line["ops"] * 1e6, "{:.2f}"),
    ("scan of 10 of them, µs", "growth_scan10_hot", lambda line: line["seconds"] / line["ops"] * 1e6, "{:.2f}"),
    ("put, µs", "growth_put", lambda line: line["seconds"] / line["ops"] * 1e6, "{:.2f}"),
    ("disk, bytes a row", "growth_open", lambda line: line["bytes_of_runs"] / line["n"], "{:.0f}"),
)
DRAWN = ("open, ms", "get, µs", "get of 100,000 rows, µs", "scan of 10 of them, µs", "put, µs")


class Failure(Exception):
    """Something about the input that the user must mend."""


def call(program, arguments, **how):
    """Runs a program. Its output as text, if `how` asks for it."""
    try:
        return subprocess.run([program, *arguments], text=True, check=True, **how).stdout
    except OSError as error:
        raise Failure(f"cannot run {program}: {error.strerror}; build it, or name another one") from error
    except subprocess.CalledProcessError as error:
        raise Failure(f"{program} ended with {error.returncode}") from error


def run(options):
    """One call of the driver for each number of rows; a line keeps its number."""
    try:
        sizes = [int(float(text)) for text in options.rows.split(",")]
    except ValueError as error:
        raise Failure(f"--rows takes numbers with commas between them, as 1e5,1e6: {error}") from error
    with open(options.out, "w", encoding="utf-8") as out:
        for rows in sizes:
            print(f"{rows:,} rows", file=sys.stderr)
            lines = call(options.driver, ["--workloads", "growth_*", "--n", str(rows), "--peers", options.peers,
                                          "--rounds", str(options.rounds), "--dir", options.dir],
                         stdout=subprocess.PIPE)
            for text in lines.splitlines():
                out.write(json.dumps({**json.loads(text), "n": rows}) + "\n")
            out.flush()


def figures_of(path):
    """The figures by engine, number of rows and column: medians over the rounds."""
    rounds = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                try:
                    line = json.loads(text)
                except ValueError as error:
                    raise Failure(f"{path}:{number}: not a line of cellar_driver: {error}") from error
                for title, workload, figure, _ in COLUMNS:
                    if line.get("kind") == "result" and line["workload"] == workload:
                        at = rounds.setdefault(line["peer"], {}).setdefault(line["n"], {})
                        at.setdefault(title, []).append(figure(line))
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    if not rounds:
        raise Failure(f"{path}: no results of growth_*; run growth.py run --out {path}")
    return {peer: {rows: {title: statistics.median(values) for title, values in columns.items()}
                   for rows, columns in sorted(sizes.items())} for peer, sizes in rounds.items()}


def table_of(sizes):
    lines = ["| rows | " + " | ".join(title for title, *_ in COLUMNS) + " |", "|---:" * (len(COLUMNS) + 1) + "|"]
    for rows, columns in sizes.items():
        cells = [form.format(columns[title]) if title in columns else "–" for title, _, _, form in COLUMNS]
        lines.append(f"| {rows:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(tool, sizes, out):
    """A line for each cost, over the number of rows; both axes are logarithmic."""
    points = [{"kind": "result", "workload": "growth", "peer": title, "round": 0, "unit": "cost", "rows": rows,
               "cost": columns[title]}
              for title in DRAWN for rows, columns in sizes.items() if title in columns]
    call(tool, ["plot", "-", "--x", "rows", "--series", "peer", "--y", "cost", "--log-x", "--log-y", "--title",
                "Costs by the number of rows", "--x-label", "rows in the store", "--y-label", "time of one", "--out",
                out, "--quiet"], input="\n".join(map(json.dumps, points)))


def report(options, path):
    figures = figures_of(path)
    for peer, sizes in figures.items():
        print(f"{peer}:\n\n{table_of(sizes)}\n")
    if options.picture:
        draw(options.tool, next(iter(figures.values())), options.picture)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--driver", default="build/bench/cellar_driver")
    running.add_argument("--rows", default="1e5,1e6,1e7", help="numbers of rows, multiples of 1000")
    running.add_argument("--peers", default="cellar")
    running.add_argument("--rounds", type=int, default=1)
    running.add_argument("--dir", default="/tmp", help="a directory on the disk to measure")
    running.add_argument("--out", required=True)
    reporting = commands.add_parser("report")
    reporting.add_argument("run")
    for each in (running, reporting):
        each.add_argument("--tool", default="build/bench/cellar")
        each.add_argument("--picture", help="an SVG of the costs of the first engine")
    options = parser.parse_args(arguments)
    try:
        if options.command == "run":
            run(options)
        report(options, options.out if options.command == "run" else options.run)
    except Failure as failure:
        print(f"growth.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
