#!/usr/bin/env python3
"""Compares measurements of cellar_driver: engines within one file, or one engine between two files.

  compare.py RUN.jsonl                    Cellar against every other engine of the run, round by round
  compare.py RUN.jsonl --joined           the same in one table, with the ratios and their intervals
  compare.py BEFORE.jsonl AFTER.jsonl     Cellar after a change against Cellar before it

A ratio above 1 means faster: than the other engine, or than before. Within a file a ratio is taken inside each
round, where both engines met the same machine, and the figure is the median over rounds; between files it is the
ratio of the medians. The interval holds 95 % of the figures of 10,000 resamplings of the rounds (percentile
bootstrap); with fewer than five rounds it says little more than the extremes, and with one round there is none.
"""
import argparse
import fnmatch
import json
import random
import statistics
import sys
import typing

RESAMPLINGS = 10000
SEED = 20261121  # the same files give the same intervals


class Failure(Exception):
    """Something about the input that the user must mend."""


def read_run(path):
    """The context, the workloads in order with their units, and rates as {(workload, peer): {round: rate}}."""
    context, units, rates = {}, {}, {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                if not text.strip():
                    continue
                try:
                    line = json.loads(text)
                    if line["kind"] == "context":
                        context = line
                    elif line["kind"] == "result":
                        units[line["workload"]] = line["unit"]
                        rounds = rates.setdefault((line["workload"], line["peer"]), {})
                        rounds[line["round"]] = float(line["rate"])
                except (ValueError, KeyError, TypeError) as error:
                    raise Failure(f"{path}:{number}: not a line of cellar_driver: {error!r}") from error
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    if not rates:
        raise Failure(f"{path}: no results; was it written by cellar_driver --json?")
    return context, units, rates


def interval(resample, figure_of):
    """The middle 95 % of what `figure_of` makes of resamplings."""
    figures = sorted(figure_of(resample()) for _ in range(RESAMPLINGS))
    return figures[int(0.025 * RESAMPLINGS)], figures[int(0.975 * RESAMPLINGS) - 1]


def paired(ours, theirs, generator):
    """Ratio and interval of two engines in one run: rounds that both have."""
    ratios = [ours[round_] / theirs[round_] for round_ in sorted(ours) if theirs.get(round_)]
    if not ratios:
        return None
    if len(ratios) == 1:
        return ratios[0], None, 1
    limits = interval(lambda: generator.choices(ratios, k=len(ratios)), statistics.median)
    return statistics.median(ratios), limits, len(ratios)


def unpaired(before, after, generator):
    """Ratio and interval of two runs, whose rounds have nothing to do with each other."""
    old, new = list(before.values()), list(after.values())
    if not old or not new or not statistics.median(old):
        return None
    figure = statistics.median(new) / statistics.median(old)
    if len(old) == 1 or len(new) == 1:
        return figure, None, min(len(old), len(new))
    limits = interval(
        lambda: (generator.choices(old, k=len(old)), generator.choices(new, k=len(new))),
        lambda drawn: statistics.median(drawn[1]) / (statistics.median(drawn[0]) or 1e-9))
    return figure, limits, min(len(old), len(new))


def verdict(limits, rounds):
    if limits is None:
        return "one round"
    if rounds < 3:
        return "two rounds"
    if limits[0] > 1:
        return "faster"
    if limits[1] < 1:
        return "slower"
    return "not told apart"


def short(rate):
    for limit, divisor, digits, unit in ((9.995e5, 1e6, 2, "M"), (9.995e3, 1e3, 0, "k"), (999.5, 1e3, 2, "k")):
        if rate >= limit:
            return f"{rate / divisor:.{digits}f}{unit}"
    return f"{rate:.0f}"


class Row(typing.NamedTuple):
    cells: list  # as they are shown
    upper: float  # what the ratio hardly exceeds


def row_of(workload, unit, left, right, compared):
    figure, limits, rounds = compared
    span = "-" if limits is None else f"[{limits[0]:.2f}, {limits[1]:.2f}]"
    return Row([workload, unit, short(statistics.median(left.values())), short(statistics.median(right.values())),
                f"{figure:.2f}", span, str(rounds), verdict(limits, rounds)], limits[1] if limits else figure)


def compare_peers(run, peer, base, wanted):
    """Tables of one engine against others within a run: [(title, header, rows)]."""
    _, units, rates = run
    peers = list(dict.fromkeys(name for _, name in rates))
    if peer not in peers:
        raise Failure(f"the run has no engine {peer}; it has {', '.join(peers)}")
    others = [base] if base else [name for name in peers if name != peer]
    if not others:
        raise Failure(f"the run has {peer} alone: give a second file, or run the driver with --peers")
    tables = []
    for other in others:
        if other not in peers:
            raise Failure(f"the run has no engine {other}; it has {', '.join(peers)}")
        generator, rows = random.Random(SEED), []
        for workload, unit in units.items():
            ours, theirs = rates.get((workload, peer)), rates.get((workload, other))
            if ours is None or theirs is None or not wanted(workload):
                continue
            compared = paired(ours, theirs, generator)
            if compared:
                rows.append(row_of(workload, unit, theirs, ours, compared))
        header = ["workload", "unit", other, peer, "ratio", "95 % interval", "rounds", "verdict"]
        tables.append((f"{peer} against {other}", header, rows))
    return tables


def join_peers(run, peer, wanted):
    """One table of an engine against all others within a run: a line a workload."""
    _, units, rates = run
    others = [name for name in dict.fromkeys(name for _, name in rates) if name != peer]
    generator, rows = random.Random(SEED), []
    for workload, unit in units.items():
        ours = rates.get((workload, peer))
        if ours is None or not wanted(workload):
            continue
        cells, uppers = [], []
        for other in others:
            compared = paired(ours, rates.get((workload, other), {}), generator)
            if compared is None:
                cells.append("–")
                continue
            figure, limits, _ = compared
            uppers.append(limits[1] if limits else figure)
            cells.append(f"{figure:.2f}" + (f" [{limits[0]:.2f}, {limits[1]:.2f}]" if limits else ""))
        rows.append(Row([workload, unit, short(statistics.median(ours.values())), *cells], min(uppers, default=1)))
    if not others or not rows:
        raise Failure(f"the run does not compare {peer} with another engine")
    return [(f"{peer} against all", ["workload", "unit", peer] + [f"of {other}" for other in others], rows)]


def compare_runs(before, after, peer, wanted):
    generator, rows = random.Random(SEED), []
    for workload, unit in before[1].items():
        old, new = before[2].get((workload, peer)), after[2].get((workload, peer))
        if old is None or new is None or not wanted(workload):
            continue
        compared = unpaired(old, new, generator)
        if compared:
            rows.append(row_of(workload, unit, old, new, compared))
    if not rows:
        raise Failure(f"the files share no workload of {peer}")
    title = f"{peer}: {after[0].get('label') or 'after'} against {before[0].get('label') or 'before'}"
    return [(title, ["workload", "unit", "before", "after", "ratio", "95 % interval", "rounds", "verdict"], rows)]


def differences(before, after):
    """What differs in the circumstances of two runs, so that nobody compares two machines unaware."""
    ignored = {"kind", "label", "rounds", "peers"}
    keys = sorted((set(before) | set(after)) - ignored)
    return [f"{key}: {before.get(key)} before, {after.get(key)} after" for key in keys
            if before.get(key) != after.get(key)]


def as_text(header, rows):
    widths = [max(len(row[i]) for row in [header] + rows) for i in range(len(header))]
    def line(row):
        cells = [cell.ljust(width) if i in (0, 1, 7) else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        return "  ".join(cells).rstrip()
    return "\n".join(line(row) for row in [header] + rows)


def as_markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="lines of cellar_driver; the older run when there are two")
    parser.add_argument("after", nargs="?", help="lines of a later run")
    parser.add_argument("--peer", default="cellar", help="the engine looked at (cellar)")
    parser.add_argument("--base", help="the engine to compare with (all others of the run)")
    parser.add_argument("--workloads", default="*", help="globs, separated by commas")
    parser.add_argument("--joined", action="store_true", help="one table with a column for each other engine")
    parser.add_argument("--format", choices=["text", "markdown"], default="text")
    parser.add_argument("--fail-below", type=float, metavar="RATIO",
                        help="exit 1 when an interval (with one round: a ratio) lies wholly below RATIO")
    options = parser.parse_args(arguments)
    if options.after and options.base:
        parser.error("--base compares engines within one file")
    if options.joined and (options.after or options.base):
        parser.error("--joined compares all engines of one file")
    wanted = lambda name: any(fnmatch.fnmatch(name, glob) for glob in options.workloads.split(","))
    run = read_run(options.run)
    if options.after:
        after = read_run(options.after)
        tables = compare_runs(run, after, options.peer, wanted)
        for difference in differences(run[0], after[0]):
            print(f"note: the circumstances differ: {difference}", file=sys.stderr)
    elif options.joined:
        tables = join_peers(run, options.peer, wanted)
    else:
        tables = compare_peers(run, options.peer, options.base, wanted)
    render = as_markdown if options.format == "markdown" else as_text
    marks = ("### ", "\n") if options.format == "markdown" else ("", "")
    print("\n\n".join(f"{marks[0]}{title}{marks[1]}\n{render(header, [row.cells for row in rows])}" for title, header, rows in tables))
    return 1 if options.fail_below is not None and any(
        row.upper < options.fail_below for _, _, rows in tables for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        sys.exit(2)
