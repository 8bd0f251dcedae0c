#!/usr/bin/env python3
"""What docs/claims.md shows: reduces a run of the claims to medians, draws a picture of each, fills the tables in.

  bench/claims.py run.json --tool build/gcc/cellar     docs/plots/claims.json, docs/plots/*.svg, docs/claims.md
  bench/claims.py --check --tool build/gcc/cellar        are pictures and tables what docs/plots/claims.json gives?

The words of docs/claims.md are written by hand; what stands between <!-- Q01 --> and <!-- /Q01 --> is written here.
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
PAGE = ROOT / "docs" / "claims.md"
PLOTS = ROOT / "docs" / "plots"

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


# ---- Measurements: medians over the repetitions ----

def reduced(run):
    """A file of the same form with one entry for each case, and without what says nothing elsewhere."""
    cases = {}
    for each in run["benchmarks"]:
        if each.get("error_occurred"):
            sys.exit(f"claims.py: {each['name']} failed: {each.get('error_message')}")
        if each.get("run_type", "iteration") == "iteration":
            cases.setdefault(each["run_name"], []).append(each)
    dull = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
            "repetition_index", "threads", "iterations", "time_unit"}
    benchmarks = []
    for name, runs in cases.items():
        one = {"name": tidy_name(name), "time_unit": "ns"}
        for key in runs[0]:
            if key in dull or isinstance(runs[0][key], str):
                continue
            value = statistics.median(r[key] for r in runs)
            if key in ("real_time", "cpu_time"):
                value *= NANOSECONDS[runs[0]["time_unit"]]
            one[key] = float(f"{value:.4g}")
        benchmarks.append(one)
    context = run["context"]
    kept = {key: context[key] for key in ("date", "num_cpus", "mhz_per_cpu") if key in context}
    kept |= {key: context[key] for key in ("commit", "processor", "kernel", "compiler") if key in context}
    kept["repetitions"] = max(len(runs) for runs in cases.values())
    return {"context": kept, "benchmarks": benchmarks}


def tidy_name(name):
    """Without what Google Benchmark adds about how it measured."""
    parts = name.split("/")
    return "/".join(p for p in parts if p not in ("manual_time", "real_time", "process_time")
                    and not re.match(r"(iterations|min_warmup_time|min_time|repeats):", p))


class Cases:
    def __init__(self, document):
        self.context = document["context"]
        self.all = []
        for each in document["benchmarks"]:
            fields = dict(p.split(":", 1) for p in each["name"].split("/") if ":" in p)
            self.all.append((each["name"], fields, each))

    def of(self, claim):
        return [case for case in self.all if case[0].startswith(f"Claim/{claim}_")]


# ---- Tables ----

def digits(value):
    """Three digits that matter, thousands parted."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        size = 10 ** max(0, len(str(int(abs(value)))) - 3)
        return f"{int(round(value / size) * size):,}"
    return f"{value:.3g}"


def whole(value):
    return digits(round(value, 2) if value < 1000 else value)


def micros(value):
    return digits(value / 1e3)


def millions(value):
    return digits(value / 1e6)


def words(text):
    return text.replace("_", " ")


def table(cases, keys, columns):
    """Rows by the values of `keys` (field, heading); columns are (heading, {field: value}, counter, form)."""
    rows = []
    for _, fields, _ in cases:
        row = tuple(fields[key] for key, _ in keys)
        if row not in rows:
            rows.append(row)
    lines = ["| " + " | ".join([h for _, h in keys] + [c[0] for c in columns]) + " |",
             "|" + "---|" * len(keys) + "---:|" * len(columns)]
    for row in rows:
        texts = [words(value) for value in row]
        for heading, chosen, counter, form in columns:
            wanted = dict(zip((key for key, _ in keys), row)) | chosen
            found = [each[counter] for _, fields, each in cases
                     if counter in each and all(fields.get(k) == v for k, v in wanted.items())]
            if len(found) > 1:
                sys.exit(f"claims.py: {heading} of {row} is ambiguous")
            texts.append(form(found[0]) if found else "–")
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def values_of(cases, field):
    return list(dict.fromkeys(fields[field] for _, fields, _ in cases))


def q01(cases):
    cold, warm = {"cache": "cold"}, {"cache": "warm"}
    return table(cases, [("yield", "selects"), ("files", "times of files"), ("by", "by")], [
        ("cold, µs", cold, "real_time", micros), ("warm, µs", warm, "real_time", micros),
        ("files searched", cold, "files searched", whole), ("blocks", cold, "blocks", whole),
        ("cells examined", cold, "cells examined", whole)])


def q04(cases):
    hours = values_of(cases, "hours")
    return table(cases, [("stamps", "time stamps"), ("asked", "hours asked")],
                 [(f"{h} h: files", {"hours": h}, "files searched", whole) for h in hours] +
                 [(f"{h} h: µs", {"hours": h}, "real_time", micros) for h in hours])


def q06(cases):
    return table(cases, [("gets", "gets"), ("bloom", "filter")], [
        ("time, µs", {}, "cpu_time", micros), ("files searched", {}, "files searched", whole),
        ("blocks", {}, "blocks", whole), ("of them from disk", {}, "blocks from disk", whole),
        ("hit ratio of rows that exist", {}, "hit ratio", digits)])


def q08(cases):
    names = values_of(cases, "lookup")
    return table(cases, [("files_of_family", "files")],
                 [(f"{n}, µs", {"lookup": n}, "cpu_time", micros) for n in names] +
                 [(f"{n}: files searched", {"lookup": n}, "files searched", whole) for n in names])


def q09(cases):
    blocks = values_of(cases, "blocks")
    return table(cases, [("k", "rows")],
                 [(f"blocks {words(b)}, µs", {"blocks": b}, "cpu_time", micros) for b in blocks] +
                 [("blocks", {"blocks": blocks[-1]}, "blocks", whole)])


def q10(cases):
    return table(cases, [("columns", "columns of a row")], [
        ("warm, µs", {"cache": "warm"}, "real_time", micros), ("cold, µs", {"cache": "cold"}, "real_time", micros),
        ("blocks", {"cache": "cold"}, "blocks", whole),
        ("bytes per cell", {"cache": "cold"}, "bytes per cell", digits)])


def q11(cases):
    cold = {"cache": "cold"}
    return table(cases, [("files", "files"), ("way", "way")], [
        ("cold, µs", cold, "real_time", micros), ("warm, µs", {"cache": "warm"}, "real_time", micros),
        ("files searched", cold, "files searched", whole), ("blocks", cold, "blocks", whole),
        ("cells examined", cold, "cells examined", whole)])


def q12(cases):
    names = values_of(cases, "name_bytes")
    return table(cases, [("encoding", "encoding"), ("codec", "codec")],
                 [(f"bytes per cell, names of {n}", {"name_bytes": n}, "bytes per cell", digits) for n in names] +
                 [(f"M cells/s, names of {n}", {"name_bytes": n}, "items_per_second", millions) for n in names])


def q16(cases):
    keys = values_of(cases, "keys")
    return table(cases, [("codec", "codec")],
                 [(f"ratio, {k}", {"keys": k}, "compression ratio", digits) for k in keys] +
                 [(f"bytes per row, {k}", {"keys": k}, "bytes per cell", digits) for k in keys] +
                 [(f"M rows/s read, {k}", {"keys": k}, "items_per_second", millions) for k in keys])


def q17(cases):
    codecs = values_of(cases, "codec")
    return table(cases, [("kB", "block, KiB")],
                 [(f"{c}, µs", {"codec": c}, "cpu_time", micros) for c in codecs] +
                 [(f"{c}, bytes per cell", {"codec": c}, "bytes per cell", digits) for c in codecs])


def q18(cases):
    return table(cases, [("data", "data"), ("cells", "cells"), ("from", "blocks from")], [
        ("p50, µs", {}, "p50 µs", digits), ("p99, µs", {}, "p99 µs", digits),
        ("p99.9, µs", {}, "p99.9 µs", digits),
        ("blocks from disk", {}, "blocks from disk", whole)])


def q25(cases):
    return table(cases, [("durability", "durability"), ("rows", "rows")],
                 [(f"{t} thread{'s' if t != '1' else ''}, 1/s", {"threads": t}, "items_per_second", digits)
                  for t in values_of(cases, "threads")])


# ---- Claims: table, and picture as arguments of cellar plot ----

CLAIMS = {
    "Q01": (q01, ["--filter", "Q01.*a_fifth/cache:warm", "--x", "by", "--series", "files", "--log-y",
                  "--title", "A fifth of all cells, by one coordinate (warm)"]),
    "Q04": (q04, ["--filter", "Q04.*asked:oldest", "--x", "hours", "--series", "stamps", "--y", "files searched",
                  "--title", "Files searched for the oldest hours of 24", "--x-label", "hours asked for"]),
    "Q06": (q06, ["--filter", "Q06", "--x", "gets", "--series", "bloom", "--y", "cpu_time", "--log-y",
                  "--title", "Gets, half or all of them of rows that are missing"]),
    "Q08": (q08, ["--filter", "Q08", "--x", "files_of_family", "--series", "lookup", "--y", "cpu_time",
                  "--log-x", "--title", "A row that exists: exact, next above, next below",
                  "--x-label", "files of the family"]),
    "Q09": (q09, ["--filter", "Q09", "--x", "k", "--series", "blocks", "--y", "cpu_time",
                  "--log-x", "--log-y", "--title", "Reading k neighbouring rows of 100 bytes", "--x-label", "rows"]),
    "Q10": (q10, ["--filter", "Q10", "--x", "columns", "--series", "cache", "--log-x",
                  "--title", "Ten thousand cells", "--x-label", "columns of a row"]),
    "Q11": (q11, ["--filter", "Q11.*cold", "--x", "way", "--series", "files", "--log-y",
                  "--title", "One day of a user's blogs (cold)"]),
    "Q12": (q12, ["--filter", "Q12.*encoding:none", "--x", "name_bytes", "--series", "codec", "--y", "bytes per cell",
                  "--title", "Short names: bytes of a cell on disk (encoding none)",
                  "--x-label", "bytes of family and qualifier, each"]),
    "Q16": (q16, ["--filter", "Q16", "--x", "codec", "--series", "keys", "--y", "compression ratio",
                  "--title", "Completions of prefixes: neighbours together or apart"]),
    "Q17": (q17, ["--filter", "Q17", "--x", "kB", "--series", "codec", "--y", "cpu_time", "--log-x", "--log-y",
                  "--title", "A get that reads and unpacks its block", "--x-label", "block, KiB"]),
    "Q18": (q18, ["--filter", "Q18.*data:rows", "--x", "cells", "--series", "from", "--y", "p50 µs",
                  "--log-x", "--log-y", "--title", "A get, median of many",
                  "--x-label", "rows", "--y-label", "time, µs"]),
    "Q25": (q25, ["--filter", "Q25.*uniform", "--x", "threads", "--series", "durability", "--y", "items_per_second",
                  "--log-x", "--log-y", "--title", "Counter updates, ten thousand counters",
                  "--x-label", "threads", "--y-label", "updates per second"]),
}


def machine(context):
    return (f"Measured on {context['date'][:10]} with Cellar {context.get('commit', '?')}: "
            f"{context['num_cpus']} cores of {context.get('processor', 'an unknown processor')},\n"
            f"Linux {context.get('kernel', '?')}, "
            f"{context.get('compiler', '?')}; medians of {context['repetitions']} repetitions.\n")


def page_with(page, name, content):
    marks = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if len(marks.findall(page)) != 1:
        sys.exit(f"claims.py: docs/claims.md has no <!-- {name} --> … <!-- /{name} -->, or several")
    return marks.sub(lambda match: match.group(1) + content + match.group(2), page)


def filled(page, cases):
    page = page_with(page, "machine", machine(cases.context))
    for name, (make, arguments) in CLAIMS.items():
        title = arguments[arguments.index("--title") + 1]
        page = page_with(page, name, make(cases.of(name)) + f"\n![{title}](plots/{name.lower()}.svg)\n")
    return page


def draw(tool, source, folder):
    for name, (_, arguments) in CLAIMS.items():
        picture = folder / f"{name.lower()}.svg"
        subprocess.run([tool, "plot", source, *arguments, "--out", picture, "--quiet"], check=True)


def check(tool):
    source = PLOTS / "claims.json"
    page = PAGE.read_text()
    wrong = []
    if filled(page, Cases(json.loads(source.read_text()))) != page:
        wrong.append("docs/claims.md")
    with tempfile.TemporaryDirectory() as folder:
        draw(tool, source, pathlib.Path(folder))
        wrong += [f"docs/plots/{each.name}" for each in sorted(pathlib.Path(folder).iterdir())
                  if not (PLOTS / each.name).exists() or (PLOTS / each.name).read_bytes() != each.read_bytes()]
    if wrong:
        sys.exit(f"claims.py: not what docs/plots/claims.json gives: {', '.join(wrong)}\n"
                 "  ./dev bench claims --draw writes them anew, without measuring")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", help="JSON of cellar_bench; without it docs/plots/claims.json")
    parser.add_argument("--tool", required=True, help="the program cellar, which draws")
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.tool)
    PLOTS.mkdir(exist_ok=True)
    source = PLOTS / "claims.json"
    if arguments.run:
        document = reduced(json.loads(pathlib.Path(arguments.run).read_text()))
        lines = ",\n".join("  " + json.dumps(each, ensure_ascii=False) for each in document["benchmarks"])
        source.write_text('{"context": ' + json.dumps(document["context"], ensure_ascii=False) +
                          ',\n"benchmarks": [\n' + lines + "\n]}\n")
    draw(arguments.tool, source, PLOTS)
    PAGE.write_text(filled(PAGE.read_text(), Cases(json.loads(source.read_text()))))


if __name__ == "__main__":
    main()
