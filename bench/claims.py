#!/usr/bin/env python3
"""What docs/claims.md shows: reduces a run of the claims to medians, draws a picture of each, fills the tables in.

  bench/claims.py run.json --tool build/gcc/cellar     docs/plots/claims.json, docs/plots/*.svg, docs/claims.md
  bench/claims.py run.json --part --tool …             the same for a run of some of the claims
  bench/claims.py --check --tool build/gcc/cellar        are pictures and tables what docs/plots/claims.json gives?
  bench/claims.py --cases build/bench/cellar_bench       does the table name the case of each claim?

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

from claim_tables import ALL_CLAIMS, CLAIMS

ROOT = pathlib.Path(__file__).resolve().parent.parent
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

    def of(self, section):
        """The cases of a claim or of another section: those of Claim/Q08_… for Q08, of Reads/codec/… for codec."""
        return [case for case in self.all if section_of(case[0]) == section]


def section_of(name):
    return name.split("/")[1].split("_")[0]


def measured(context):
    return (f"Measured on {context['date'][:10]} with Cellar {context.get('commit', '?')}: "
            f"{context['num_cpus']} cores of {context.get('processor', 'an unknown processor')},\n"
            f"Linux {context.get('kernel', '?')}, "
            f"{context.get('compiler', '?')}; medians of {context['repetitions']} repetitions.\n")


def machine(context, others):
    """When and where the cases ran, and which of them ran at another time."""
    text = measured(context)
    for other in others:
        names = [re.sub(r"^Q0", "Q", name) for name in other["claims"]]
        when = measured(other)
        text += f"\n{', '.join(names)}:\n{when[0].lower()}{when[1:]}"
    return text


def page_with(page, name, content):
    marks = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if len(marks.findall(page)) != 1:
        sys.exit(f"claims.py: the page has no <!-- {name} --> … <!-- /{name} -->, or several")
    return marks.sub(lambda match: match.group(1) + content + match.group(2), page)


class Page:
    """A page whose tables and pictures come from measurements: `sections` as CLAIMS."""

    def __init__(self, path, source, sections, picture):
        self.path, self.source, self.sections, self.picture = ROOT / path, ROOT / source, sections, picture

    def document(self):
        return json.loads(self.source.read_text())

    def filled(self, page, document):
        cases = Cases(document)
        page = page_with(page, "machine", machine(cases.context, document.get("others", [])))
        for name, (make, arguments) in self.sections.items():
            of_section = cases.of(name)
            content = make(of_section) if of_section else "Not measured yet.\n"
            if of_section and arguments:
                title = arguments[arguments.index("--title") + 1]
                content += f"\n![{title}](plots/{self.picture.format(name.lower())})\n"
            page = page_with(page, name, content)
        return page

    def draw(self, tool, folder):
        cases = Cases(self.document())
        for name, (_, arguments) in self.sections.items():
            if not arguments or not cases.of(name):
                continue
            picture = folder / self.picture.format(name.lower())
            subprocess.run([tool, "plot", self.source, *arguments, "--out", picture, "--quiet"], check=True)

    def check(self, tool):
        page = self.path.read_text()
        wrong = []
        if self.filled(page, self.document()) != page:
            wrong.append(self.path.name)
        missing = [name for name in self.sections if not Cases(self.document()).of(name)]
        if missing:
            sys.exit(f"claims.py: {self.source.name} has no measurement of {', '.join(missing)}")
        with tempfile.TemporaryDirectory() as folder:
            self.draw(tool, pathlib.Path(folder))
            wrong += [f"docs/plots/{each.name}" for each in sorted(pathlib.Path(folder).iterdir())
                      if not (PLOTS / each.name).exists() or (PLOTS / each.name).read_bytes() != each.read_bytes()]
        if wrong:
            sys.exit(f"claims.py: not what {self.source.name} gives: {', '.join(wrong)}\n"
                     "  ./dev bench claims --draw writes them anew, without measuring")

    def write(self, tool, run, part):
        PLOTS.mkdir(exist_ok=True)
        if run:
            document = reduced(json.loads(pathlib.Path(run).read_text()))
            self.source.write_text(written(merged(self.document(), document) if part else document))
        self.draw(tool, PLOTS)
        self.path.write_text(self.filled(self.path.read_text(), self.document()))


def merged(old, part):
    """`old` with the sections of a run of some of them, and with a note of when those ran."""
    fresh = {section_of(each["name"]) for each in part["benchmarks"]}
    others = [other | {"claims": [name for name in other["claims"] if name not in fresh]}
              for other in old.get("others", [])]
    others = [other for other in others if other["claims"]] + [part["context"] | {"claims": sorted(fresh)}]
    kept = [each for each in old["benchmarks"] if section_of(each["name"]) not in fresh]
    all_of_them = sorted(kept + part["benchmarks"], key=lambda each: section_of(each["name"]))
    return {"context": old["context"], "others": others, "benchmarks": all_of_them}


def written(document):
    """A line for each measurement, so that a difference shows what changed."""
    lines = ",\n".join("  " + json.dumps(each, ensure_ascii=False) for each in document["benchmarks"])
    heads = [f'"{key}": ' + json.dumps(document[key], ensure_ascii=False) for key in ("context", "others")
             if key in document]
    return "{" + ",\n".join(heads) + ',\n"benchmarks": [\n' + lines + "\n]}\n"


PAGE = Page("docs/claims.md", "docs/plots/claims.json", CLAIMS, "{}.svg")


# ---- The table of all claims ----

def anchor(heading):
    """The link of a heading, as GitHub makes it."""
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def faults_of_index(page, names):
    """The table names each claim once, with its section, its answer, and its case, of which `names` are run."""
    rows = re.findall(r"^\| \[(Q\d+)\]\((#[^)]*)\) [^|]+ \| ([^|]+) \| `(Claim/[^`]+)` \|$", page, re.M)
    headings = [anchor(each) for each in re.findall(r"^## (.*)$", page, re.M)]
    faults = []
    for claim in ALL_CLAIMS:
        of_claim = [row for row in rows if row[0] == claim]
        if len(of_claim) != 1:
            faults.append(f"the table of docs/claims.md has {len(of_claim)} rows of {claim}")
            continue
        _, link, answer, case = of_claim[0]
        if headings.count(link) != 1 or not link.startswith(f"#{claim.lower()}-"):
            faults.append(f"{claim}: {link} is no heading of it")
        if not answer.strip():
            faults.append(f"{claim} has no answer")
        if not case.startswith(f"Claim/Q{int(claim[1:]):02}_") or not any(n.split("/")[1] == case[6:] for n in names):
            faults.append(f"{claim}: no case is named {case}")
    unknown = {row[0] for row in rows} - set(ALL_CLAIMS)
    return faults + [f"{each} is no claim" for each in sorted(unknown)]


def check_cases(program):
    """That the program has the cases that the page names, and that the page shows all of its claims."""
    listed = subprocess.run([program, "--benchmark_list_tests", "--benchmark_filter=^Claim/"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout.splitlines()
    names = [line for line in listed if line.startswith("Claim/")]
    faults = faults_of_index(PAGE.path.read_text(), names)
    faults += [f"{each} has no table" for each in sorted({n[6:9] for n in names} - set(CLAIMS))]
    if faults:
        sys.exit("claims.py: " + "\n  ".join(faults))


def main(page=PAGE, about=__doc__, cases=check_cases):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", help="JSON of cellar_bench; without it the measurements that are kept")
    parser.add_argument("--tool", help="the program cellar, which draws")
    parser.add_argument("--part", action="store_true", help="the run has some of the claims: keep the others")
    parser.add_argument("--check", action="store_true", help="write nothing")
    if cases:
        parser.add_argument("--cases", metavar="PROGRAM", help="check the table of claims against cellar_bench alone")
    arguments = parser.parse_args()
    if cases and arguments.cases:
        return cases(arguments.cases)
    if not arguments.tool:
        parser.error("--tool is missing")
    if arguments.check:
        return page.check(arguments.tool)
    page.write(arguments.tool, arguments.run, arguments.part)


if __name__ == "__main__":
    main()
