#!/usr/bin/env python3
"""The design space of compactions: runs it, draws pictures, fills docs/design-space.md in.

  bench/design_space.py --tool build/gcc/cellar            simulations and engine: figures, pictures, page
  bench/design_space.py --tool build/gcc/cellar --simulate   simulations alone: exact on a busy machine
  bench/design_space.py --tool build/gcc/cellar --quick      a few minutes, on little data, written to build/experiments
  bench/design_space.py --tool build/gcc/cellar --check      are page and pictures what docs/plots/design_space.jsonl gives?

The ten strategies are those of Sarkar, Staratzis, Zhu and Athanassoulis, "Constructing and Analyzing the LSM
Compaction Design Space", PVLDB 14(11), 2021. The words of the page are written by hand. The parts between
<!-- NAME --> and <!-- /NAME --> are written here, with the verdicts on its observations.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "design-space.md"
WHICH = ROOT / "docs" / "which-policy.md"
PLOTS = ROOT / "docs" / "plots"
FIGURES = PLOTS / "design_space.jsonl"
EXPERIMENTS = ROOT / "share" / "cellar" / "experiments"
TEXT = EXPERIMENTS / "design-space.json"
OUT = ROOT / "build" / "experiments"

MIB = 1 << 20
# The sizes of the paper: ten million entries of 128 bytes, a write buffer of 8 MiB, a size ratio of 10.
ENTRY = 128
BUFFER = 8
DATA = 10_000_000 * ENTRY
PUT_RATE = 200 * MIB  # of a simulated writer, bytes per second

PARTIAL = ["LO+1", "LO+2", "RR", "Cold", "Old"]
LEVELED = ["Full"] + PARTIAL
PLAIN = LEVELED + ["Tier", "1-Lvl"]  # TSD and TSA do as LO+1 where nothing is deleted
ALL = LEVELED + ["TSD", "TSA", "Tier", "1-Lvl"]


def strategies(buffer, seconds):
    """The policies, for memtables of `buffer` MiB and a history that takes `seconds`."""
    def leveled(pick, runs_min=1):
        return f"leveled(runs_min={runs_min},targets=fixed,fanout=10,base_bytes={10 * buffer}m,pick={pick})"
    age = max(1, int(seconds * 500))
    return {
        "Full": leveled("whole"), "LO+1": leveled("least_overlap"), "LO+2": leveled("least_overlap_grandparent"),
        "RR": leveled("round_robin"), "Cold": leveled("coldest"), "Old": leveled("oldest"),
        "TSD": leveled("tombstones").replace(")", ",tombstones=0.3)"),
        "TSA": leveled("tombstone_age").replace(")", f",tombstone_age={age}ms)"),
        "Tier": "tiered(runs=10,space_max=200)", "1-Lvl": leveled("least_overlap", 4)}


# The names of the policies of share/cellar/experiments/design-space.json, by what is particular to each.
def strategy_of(policy):
    if policy.startswith("tiered"):
        return "Tier"
    if "runs_min=4" in policy:
        return "1-Lvl"
    pick = re.search(r"pick=(\w+)", policy).group(1)
    return {"whole": "Full", "least_overlap": "LO+1", "least_overlap_grandparent": "LO+2", "round_robin": "RR",
            "coldest": "Cold", "oldest": "Old", "tombstones": "TSD", "tombstone_age": "TSA"}[pick]


# ---- Simulations ----

def cases(quick):
    """(experiment, case, strategies, options): what is simulated. Bytes loaded first are not counted."""
    data = DATA // (8 if quick else 1)
    insert = dict(writes="insert", data=BUFFER * MIB, put=data)
    yield "insert", 0, PLAIN, insert
    yield "insert_reads", 0, PLAIN, dict(insert, writes="insert(reads=1)")
    yield "append", 0, PLAIN, dict(insert, writes="append")
    for writes in ("overwrite", "zipf"):
        yield writes, 0, PLAIN, dict(insert, writes=writes, data=data // 2)
    for percent in (0, 25, 50, 75, 90):
        yield "updates", percent, PLAIN, dict(insert, writes=f"insert(updates={percent / 100})")
    for percent in (2, 5, 10, 20):
        yield "deletes", percent, ALL, dict(insert, writes=f"insert(deletes={percent / 100})")
    for mib in (64, 128) if quick else (128, 512, 2048, 4096, 8192, 16384):
        yield "size", mib, PLAIN, dict(insert, put=mib * MIB, resolution=64)
    for mib in (4, 8) if quick else (2, 4, 8, 16, 32, 64):
        yield "buffer", mib, PLAIN, dict(insert, data=mib * MIB, buffer=mib)
    # One thread compacts, and a writer may be as many runs ahead as the layout has, and two.
    for names, stop in ((LEVELED, 5), (["1-Lvl"], 8), (["Tier"], 18)):
        yield "stalls", 0, names, dict(insert, stop=stop, device="disk(write=100MiB,read=200MiB,merge=250MiB,threads=1,put=6MiB)")


def simulate(tool, names, options):
    buffer = options.get("buffer", BUFFER)
    seconds = (options["put"] + options["data"]) / PUT_RATE
    policies = strategies(buffer, seconds)
    command = [tool, "simulate", "--format", "json", "--quiet", "--writes", options["writes"],
               "--data", str(options["data"]), "--times", f"{options['put'] / options['data']:.6f}",
               "--memtable-bytes", f"{buffer}MiB", "--cell-bytes", str(ENTRY),
               "--resolution", str(options.get("resolution", 256)), "--files-stop", str(options.get("stop", 60)),
               "--device", options.get("device", "instant")]
    for name in names:
        command += ["--policy", policies[name]]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    answers = json.loads(run.stdout)["policies"]
    return {name: answer for name, answer in zip(names, answers)}


def simulated(tool, quick):
    lines = []
    for experiment, case, names, options in cases(quick):
        print(f"simulate {experiment} {case}", file=sys.stderr)
        for name, answer in simulate(tool, names, options).items():
            moved = answer["compaction_mean"] * answer["compactions"] / options["put"]
            line = {"kind": "result", "workload": experiment, "case": case, "peer": name, "moved": round(moved, 2)}
            for key in ("write", "space", "runs", "runs_most", "compactions", "moves", "markers", "marker_age_s",
                        "stalled_s", "longest_stall_s", "slowed_s"):
                if key in answer:
                    line[key] = answer[key]
            for key in ("compaction_mean", "compaction_most"):
                line[key + "_mib"] = round(answer[key] / MIB, 1)
            lines.append(line)
    return lines


# ---- The engine ----

# The figures of a result that the pages need.
KEPT = ["write_amplification", "space_amplification", "bytes_put", "bytes_compacted", "bytes_read", "reads", "files_read",
        "compactions", "flushes", "files", "sorted_runs"]


def engine(tool, quick):
    """Runs both texts of experiments. A second run of the command goes on where the first one stopped."""
    OUT.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in ("design-space", "which-policy"):
        text = (EXPERIMENTS / f"{name}.json").read_text()
        if quick:
            text = re.sub(r'"rows": \d+', '"rows": 20000', text)
            text = re.sub(r'"operations": \d+', '"operations": 10000', text)
        source = OUT / f"{name}{'.quick' if quick else ''}.json"
        source.write_text(text)
        run = subprocess.run([tool, "experiment", source, "--directory", OUT / (source.stem + ".runs"), "--format", "json"],
                             check=True, stdout=subprocess.PIPE, text=True)
        lines += engine_lines(name, json.loads(run.stdout)["results"])
    return lines


def engine_lines(text, results):
    """Medians over the repetitions."""
    found = {}
    for each in results:
        policy = each["options"]["compaction"]
        peer = strategy_of(policy) if text == "design-space" else policy
        kind = "engine" if text == "design-space" else "which"
        found.setdefault((f"{kind} {workload_of(each)}", peer), []).append(each)
    lines = []
    for (workload, peer), all_of in found.items():
        line = {"kind": "result", "workload": workload, "case": 0, "peer": peer}
        for key in KEPT:
            values = [each[key] for each in all_of if each.get(key) is not None]
            if values:
                median = statistics.median(values)
                line[key] = int(median) if median == int(median) and isinstance(values[0], int) else float(f"{median:.6g}")
        peaks = [max(sample["bytes_on_disk"] for sample in each["samples"]) / each["bytes_live"] for each in all_of
                 if each["samples"] and each["bytes_live"]]
        if peaks:
            line["space_peak"] = float(f"{statistics.median(peaks):.4g}")
        lines.append(line)
    return lines


def workload_of(result):
    """The name of a workload; of a mix, its operations and its choice of rows."""
    fields = result["fields"]
    name = result["workload"].split()[0]
    if name != "mix":
        return name
    return fields["mix"].replace("=", " ").replace(",", ", ") + ", " + fields["skew"].split(":")[0]


# ---- Tables ----

class Figures:
    """Lines by experiment, case and strategy."""

    def __init__(self, lines):
        self.lines = {(each["workload"], each["case"], each["peer"]): each for each in lines}

    def of(self, experiment, name, figure, case=0):
        return self.lines[experiment, case, name][figure]

    def all(self, experiment, names, figure, case=0):
        return [self.of(experiment, name, figure, case) for name in names]

    def cases(self, experiment):
        return sorted({case for workload, case, _ in self.lines if workload == experiment})

    def experiments(self):
        return list(dict.fromkeys(workload for workload, _, _ in self.lines))


def digits(value):
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def by_strategy(figures, experiment, names, columns, case=0):
    return table(["strategy"] + [heading for heading, _ in columns],
                 [[name] + [digits(figures.of(experiment, name, key, case)) for _, key in columns] for name in names])


def by_case(figures, experiment, names, figure, heading):
    cases = figures.cases(experiment)
    return table([heading] + [f"{case:,}" for case in cases],
                 [[name] + [digits(figures.of(experiment, name, figure, case)) for case in cases] for name in names])


INSERT = [("bytes moved for each byte", "moved"), ("compactions", "compactions"), ("moves", "moves"),
          ("MiB of one, mean", "compaction_mean_mib"), ("MiB of the largest", "compaction_most_mib"),
          ("runs of a get", "runs")]
ENGINE = [("write amplification", "write_amplification"), ("largest space", "space_peak"),
          ("compactions", "compactions"), ("runs at the end", "sorted_runs")]


def engine_table(figures, experiment):
    columns = list(ENGINE)
    if figures.of(experiment, "Full", "reads") > 0:
        for name in ALL:
            line = figures.lines[experiment, 0, name]
            line["files_per_read"] = line["files_read"] / line["reads"]
        columns.append(("files of a read", "files_per_read"))
    return by_strategy(figures, experiment, ALL, columns)


def engine_tables(figures):
    parts = [f"`{name.removeprefix('engine ')}`:\n\n" + engine_table(figures, name)
             for name in figures.experiments() if name.startswith("engine ")]
    return "\n".join(parts) if parts else "The engine has not been run.\n"


def which_policies(figures):
    return list(dict.fromkeys(peer for workload, _, peer in figures.lines if workload.startswith("which ")))


def reads_of(line):
    return line["files_read"] / line["reads"] if line["reads"] else None


def which_table(figures):
    """A row for each policy: bytes written, space, files of a read."""
    works = [each for each in figures.experiments() if each.startswith("which ")]
    rows = []
    for policy in sorted(which_policies(figures)):
        row = [f"`{policy}`"]
        for work in works:
            line = figures.lines[work, 0, policy]
            parts = [f"{line['write_amplification']:.1f}", f"{line['space_peak']:.2f}"]
            if line["reads"]:
                parts.append(f"{reads_of(line):.1f}")
            row.append(" / ".join(parts))
        rows.append(row)
    return table(["policy"] + [work.removeprefix("which ") for work in works], rows)


def best_table(figures):
    """For each workload, the policies with the least of each figure. Policies within 2 % count as equal."""
    rows = []
    for work in [each for each in figures.experiments() if each.startswith("which ")]:
        lines = {policy: figures.lines[work, 0, policy] for policy in which_policies(figures)}
        row = [work.removeprefix("which ")]
        for figure in (lambda each: each["write_amplification"], lambda each: each["space_peak"], reads_of):
            values = {policy: figure(line) for policy, line in lines.items() if figure(line) is not None}
            if not values:
                row.append("–")
                continue
            least = min(values.values())
            names = sorted(policy for policy, value in values.items() if value <= least * 1.02)
            row.append(", ".join(f"`{name}`" for name in names[:3]) + (", …" if len(names) > 3 else "") + f": {least:.2f}")
        rows.append(row)
    return table(["workload", "least written", "least space", "fewest files of a read"], rows).replace("---:", "---")


def strategy_table(figures):
    del figures
    rows = [[name, f"`{policy}`"] for name, policy in strategies(BUFFER, DATA / PUT_RATE).items()]
    return table(["strategy", "policy"], rows).replace("---:", "---")


TABLES = {
    "strategies": strategy_table,
    "insert": lambda f: by_strategy(f, "insert", PLAIN, INSERT),
    "stalls": lambda f: by_strategy(f, "stalls", PLAIN, [
        ("seconds of the longest stall", "longest_stall_s"), ("seconds stalled", "stalled_s"),
        ("seconds slowed down", "slowed_s"), ("MiB of the largest compaction", "compaction_most_mib")]),
    "distributions": lambda f: table(
        ["strategy", "insert", "append", "overwrite", "zipf"],
        [[name] + [digits(f.of(each, name, "moved")) for each in ("insert", "append", "overwrite", "zipf")]
         for name in PLAIN]),
    "updates": lambda f: by_case(f, "updates", PLAIN, "moved", "percent of updates"),
    "deletes": lambda f: by_case(f, "deletes", ALL, "markers", "percent of deletes"),
    "deletes_moved": lambda f: by_strategy(f, "deletes", ALL, [
        ("bytes moved for each byte", "moved"), ("markers left", "markers"), ("age of the oldest, s", "marker_age_s"),
        ("space", "space")], 10),
    "size": lambda f: by_case(f, "size", PLAIN, "moved", "MiB of data"),
    "size_largest": lambda f: by_case(f, "size", PLAIN, "compaction_most_mib", "MiB of data"),
    "buffer": lambda f: by_case(f, "buffer", PLAIN, "moved", "MiB of a memtable"),
    "engine": engine_tables,
}

# Pictures: arguments of cellar plot.
PICTURES = {
    "moved": ["--filter", "^insert/", "--x", "peer", "--y", "moved", "--title", "Inserts: bytes that compactions move",
              "--x-label", "strategy", "--y-label", "bytes for each byte put"],
    "largest": ["--filter", "^size/", "--x", "case", "--y", "compaction_most_mib", "--series", "peer", "--log-x", "--log-y",
                "--title", "The largest compaction", "--x-label", "data, MiB", "--y-label", "MiB read and written"],
    "runs": ["--filter", "^insert/", "--x", "peer", "--y", "runs", "--title", "Inserts: sorted runs of a get",
             "--x-label", "strategy", "--y-label", "runs"],
    "updates": ["--filter", "^updates/", "--x", "case", "--y", "moved", "--series", "peer",
                "--title", "Updates: bytes that compactions move", "--x-label", "percent of updates",
                "--y-label", "bytes for each byte put"],
    "deletes": ["--filter", "^deletes/(Full|LO|RR|TS|Tier|1-Lvl)", "--x", "case", "--y", "markers", "--series", "peer",
                "--title", "Delete markers left, for each delete", "--x-label", "percent of deletes",
                "--y-label", "markers for each delete"],
    "size": ["--filter", "^size/", "--x", "case", "--y", "moved", "--series", "peer", "--log-x",
             "--title", "Bytes that compactions move, by size", "--x-label", "data, MiB",
                "--y-label", "bytes for each byte put"],
    "buffer": ["--filter", "^buffer/", "--x", "case", "--y", "moved", "--series", "peer", "--log-x",
               "--title", "Bytes that compactions move, by memtable", "--x-label", "memtable, MiB",
                "--y-label", "bytes for each byte put"],
}


# ---- Observations: what the paper says, what was counted, whether that agrees ----

def span(values, form="{:.0f}"):
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def verdict(*parts):
    return "yes" if all(parts) else "in part" if any(parts) else "no"


def less(values, than):
    """By how many percent the values are below."""
    return [100 * (1 - value / than) for value in values]


def observations(f):
    moved = {name: f.of("insert", name, "moved") for name in PLAIN}
    runs = {name: f.of("insert", name, "runs") for name in PLAIN}
    partial = [moved[name] for name in PARTIAL]
    saved = less(partial, moved["Full"])
    yield ("O1", "compactions move the data many times over: Full 63 times, Tier 23 times",
           f"Full {moved['Full']:.0f} times, Tier {moved['Tier']:.1f} times", verdict(
               moved["Full"] > 10, moved["Tier"] < min(moved[n] for n in LEVELED) and moved["Tier"] > 2))
    others = [moved[name] for name in ("RR", "Cold", "Old")]
    overlap = less([moved["LO+1"], moved["LO+2"]], statistics.mean(others))
    jobs = [f.of("insert", n, "compactions") / f.of("insert", "Full", "compactions") for n in PARTIAL]
    yield ("O2", "partial compactions move 34 to 56 % less than Full; LO+1 and LO+2 10 to 23 % less than the others",
           f"partial {span([-each for each in saved])} % more than Full; LO+1 {overlap[0]:.0f} % less than the others, LO+2 "
           f"{abs(overlap[1]):.0f} % {'less' if overlap[1] > 0 else 'more'}",
           verdict(min(saved) > 0, overlap[0] > 5, overlap[1] > 5))
    mean = {name: f.of("insert", name, "compaction_mean_mib") for name in PLAIN}
    ratios = [mean["Full"] / mean[name] for name in PARTIAL]
    yield ("TA I", "Full compacts about 1 / L times as often, and each moves nearly 2 L times as much",
           f"with L = 3, partial compacts {span(jobs, '{:.1f}')} times as often; a compaction of Full is "
           f"{span(ratios, '{:.1f}')} times as large",
           verdict(min(jobs) > 1.5, min(ratios) > 3))
    yield ("O3", "a compaction of Full takes 1.2 to 1.9 times as long as a partial one, and 2.1 times as long as one of Tier",
           f"it is {span(ratios, '{:.1f}')} times as large as a partial one, and "
           f"{mean['Full'] / mean['Tier']:.1f} times as large as one of Tier",
           verdict(min(ratios) > 1.1, mean["Full"] > mean["Tier"]))
    stall = {name: f.of("stalls", name, "longest_stall_s") for name in PLAIN}
    most = {name: f.of("insert", name, "compaction_most_mib") for name in PLAIN}
    size_ratio = most["Tier"] / max(most[n] for n in PARTIAL)
    yield ("TA II", "the longest write stall is that of Tier, 19 times that of a partial strategy",
           f"Tier's largest compaction is {size_ratio:.0f} times a partial one, but stalls nobody. Full stalls "
           f"for {stall['Full']:.1f} s, partial ones for {span([stall[n] for n in PARTIAL], '{:.1f}')} s",
           verdict(size_ratio > 3, stall["Tier"] > max(stall[n] for n in LEVELED)))
    leveled = statistics.mean(runs[n] for n in LEVELED)
    yield ("O4", "point lookups are fastest with Full and slowest with Tier: 1.1 to 1.9 times, of absent keys 2.2 times",
           f"Tier has {runs['Tier'] / leveled:.1f} times as many runs as the leveled strategies; Full "
           f"{runs['Full'] / statistics.mean(runs[n] for n in PARTIAL):.2f} times as many as the partial ones",
           verdict(runs["Tier"] > 1.1 * leveled, runs["Full"] < min(runs[n] for n in PARTIAL)))
    spread = max(runs[n] for n in PARTIAL) / min(runs[n] for n in PARTIAL)
    yield ("TA III", "the choice of files does not change point lookups", f"runs of partial strategies differ by "
           f"{100 * (spread - 1):.0f} %", verdict(spread < 1.1))
    alike = [f.of("insert_reads", n, "moved") / moved[n] for n in PLAIN]
    yield ("O6", "lookups among the writes do not change the work of compactions",
           f"it changes by {100 * max(abs(each - 1) for each in alike):.1f} % at most, that of Cold",
           verdict(max(abs(each - 1) for each in alike) < 0.05))
    yield ("O7", "the distribution of new keys does not matter, as long as it stays the same",
           "exact: a policy sees the order of rows only", "yes")
    updates = f.cases("updates")
    falls = {n: f.of("updates", n, "moved", updates[-1]) / f.of("updates", n, "moved", updates[0]) for n in PLAIN}
    best = min(LEVELED, key=lambda n: f.of("updates", n, "moved", updates[-1]))
    most_updates = {n: f.of("updates", n, "moved", updates[-1]) for n in PLAIN}
    yield ("O8", "under updates Tier is far ahead, and LO+2 is the best of the leveled ones",
           f"with {updates[-1]} % updates Tier moves {most_updates['Tier']:.1f} times the data, the leveled ones "
           f"{span([most_updates[n] for n in LEVELED], '{:.1f}')}; {best} is the best of them",
           verdict(most_updates["Tier"] < min(most_updates[n] for n in LEVELED) / 2, best == "LO+2"))
    del falls
    left = {n: f.of("deletes", n, "markers", 10) for n in ALL}
    work = {n: f.of("deletes", n, "moved", 10) for n in ALL}
    gone = {n: 1 - left[n] for n in ALL}
    yield ("O9", "TSD purges 16 % more markers than Tier and 5 % more than LO+1; TSA leaves fewer than TSD; both move 18 % more "
           "than LO+1",
           f"TSD purges {100 * (gone['TSD'] / gone['Tier'] - 1):.0f} % more than Tier and "
           f"{100 * (gone['TSD'] / gone['LO+1'] - 1):.0f} % more than LO+1; TSA leaves "
           f"{100 * (1 - left['TSA'] / left['TSD']):.0f} % fewer than TSD; they move "
           f"{100 * (work['TSD'] / work['LO+1'] - 1):.0f} % and {100 * (work['TSA'] / work['LO+1'] - 1):.0f} % more",
           verdict(gone["TSD"] > gone["Tier"] and gone["TSD"] > gone["LO+1"], left["TSA"] < left["TSD"],
                   work["TSD"] > work["LO+1"] and work["TSA"] > work["LO+1"]))
    sizes = f.cases("size")
    ratio = [f.of("size", "Tier", "moved", s) / f.of("size", "LO+1", "moved", s) for s in (sizes[0], sizes[-1])]
    largest = [f.of("size", n, "compaction_most_mib", sizes[-1]) for n in ("Tier", "LO+1")]
    yield ("O10", "beyond 8 GB Tier gains less, and stalls longer",
           f"Tier moves {100 * ratio[0]:.0f} % of LO+1's bytes at {sizes[0]:,} MiB and {100 * ratio[1]:.0f} % at "
           f"{sizes[-1]:,} MiB. Its largest compaction then has {largest[0]:,.0f} MiB, LO+1's "
           f"{largest[1]:,.0f} MiB",
           verdict(ratio[1] > ratio[0], largest[0] > 3 * largest[1]))
    buffers = f.cases("buffer")
    gain = {n: f.of("buffer", n, "moved", buffers[-1]) / f.of("buffer", n, "moved", buffers[0]) for n in PLAIN}
    job = [f.of("buffer", n, "compaction_mean_mib", buffers[-1]) / f.of("buffer", n, "compaction_mean_mib", buffers[0])
           for n in PARTIAL]
    yield ("O12", "larger memtables make larger compactions, and help Tier most",
           f"from {buffers[0]} to {buffers[-1]} MiB a partial compaction grows {span(job)} times. Tier moves "
           f"{100 * (1 - gain['Tier']):.0f} % less, the partial ones "
           f"{span([100 * (1 - gain[n]) for n in PARTIAL])} % less",
           verdict(min(job) > 2, gain["Tier"] < min(gain[n] for n in PARTIAL)))


def summary(figures):
    rows = [[name, paper, here, holds] for name, paper, here, holds in observations(figures)]
    return table(["", "the paper", "here", "holds"], rows).replace("---:", "---")


# ---- The page ----

def page_with(page, name, content):
    marks = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if len(marks.findall(page)) != 1:
        sys.exit(f"design_space.py: the page has no <!-- {name} --> … <!-- /{name} -->, or several")
    return marks.sub(lambda match: match.group(1) + content + match.group(2), page)


def filled(page, figures):
    page = page_with(page, "summary", summary(figures))
    for name, make in TABLES.items():
        page = page_with(page, name, make(figures))
    return page


def filled_which(page, figures):
    return page_with(page_with(page, "which", which_table(figures)), "best", best_table(figures))


def draw(tool, folder, source):
    for name, arguments in PICTURES.items():
        subprocess.run([tool, "plot", source, *arguments, "--out", folder / f"design_space_{name}.svg", "--quiet"], check=True)


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def check(tool):
    wrong = []
    page = PAGE.read_text()
    figures = Figures(read_lines(FIGURES))
    if filled(page, figures) != page:
        wrong.append("docs/design-space.md")
    if filled_which(WHICH.read_text(), figures) != WHICH.read_text():
        wrong.append("docs/which-policy.md")
    with tempfile.TemporaryDirectory() as folder:
        draw(tool, pathlib.Path(folder), FIGURES)
        wrong += [f"docs/plots/{each.name}" for each in sorted(pathlib.Path(folder).iterdir())
                  if not (PLOTS / each.name).exists() or (PLOTS / each.name).read_bytes() != each.read_bytes()]
    if wrong:
        sys.exit(f"design_space.py: not what docs/plots/design_space.jsonl gives: {', '.join(wrong)}\n"
                 "  ./dev experiments --draw writes them anew, without running anything")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program cellar")
    parser.add_argument("--simulate", action="store_true", help="keep the figures of the engine")
    parser.add_argument("--quick", action="store_true", help="little data; writes build/experiments/quick.md alone")
    parser.add_argument("--draw", action="store_true", help="page and pictures from the figures that are there")
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.tool)
    if arguments.quick:
        lines = simulated(arguments.tool, True) + engine(arguments.tool, True)
        write_lines(OUT / "quick.jsonl", lines)
        draw(arguments.tool, OUT, OUT / "quick.jsonl")
        (OUT / "quick.md").write_text(filled(PAGE.read_text(), Figures(lines)))
        (OUT / "which.quick.md").write_text(filled_which(WHICH.read_text(), Figures(lines)))
        print(summary(Figures(lines)))
        return None
    if not arguments.draw:
        kept = read_lines(FIGURES) if FIGURES.exists() and arguments.simulate else []
        lines = simulated(arguments.tool, False)
        if arguments.simulate:
            lines += [each for each in kept if each["workload"].startswith(("engine ", "which "))]
        else:
            lines += engine(arguments.tool, False)
        write_lines(FIGURES, lines)
    draw(arguments.tool, PLOTS, FIGURES)
    figures = Figures(read_lines(FIGURES))
    PAGE.write_text(filled(PAGE.read_text(), figures))
    WHICH.write_text(filled_which(WHICH.read_text(), figures))
    return None


if __name__ == "__main__":
    main()
