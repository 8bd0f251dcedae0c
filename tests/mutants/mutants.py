#!/usr/bin/env python3
"""Seeded bugs: puts each bug of tests/mutants/*.txt into a copy of the tree, one at a time, and runs the tests.

usage: ./dev mutants [--list] [--check] [--only NAME]... [--again] [--jobs N] [--tree DIR] [--results DIR]

  --list         prints the bugs, and which tests are tried first
  --check        only checks that each bug still applies to the sources
  --only NAME    only these bugs; a name may end in * (repeatable)
  --again        tries bugs that have a result already, too
  --jobs N       tries N bugs at a time, each in its own copy of the tree; otherwise as many as processors
  --tree DIR     a copy of the tree, configured in build/gcc, instead of build/mutants/tree (with one job)
  --results DIR  where results are kept, instead of build/mutants/results

A bug counts as found when a test fails, crashes or does not end in time, and the same test passes without the bug.
"""
import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STEP_SECONDS = 600  # a test program that runs longer has found the bug: it hangs
SHARE_WANTED = 0.95

# The test programs that are tried after those that a bug names, by the folder of the changed source.
TAILS = {
    "base": ["base", "cell", "hfile", "engine"],
    "bloom": ["bloom", "hfile", "engine"],
    "cache": ["cache", "hfile", "engine", "metamorphic"],
    "cell": ["cell", "compaction", "engine", "metamorphic"],
    "compaction": ["compaction", "engine", "metamorphic"],
    "engine": ["engine", "metamorphic", "sim", "kill", "tools"],
    "filter": ["filter", "engine"],
    "hfile": ["hfile", "fuzz", "engine", "tools"],
    "memtable": ["memtable", "engine", "metamorphic"],
    "platform": ["platform", "engine", "kill"],
}
FIELDS = ("file", "tests", "why")


class Bad(Exception):
    """The list of bugs, the tree or the build is not as it must be."""


class Mutant:
    def __init__(self, name, fields, old, new, place):
        self.name, self.old, self.new, self.place = name, old, new, place
        self.file, self.why = fields["file"], fields["why"]
        self.first = fields["tests"].split()

    def steps(self):
        tail = TAILS[self.file.split("/")[0]]
        return self.first + [step for step in tail if step not in self.first]

    def digest(self):
        return hashlib.sha256(repr((self.file, self.old, self.new)).encode()).hexdigest()

    def problem(self, tree):
        """Why the bug cannot be put into this tree, or None."""
        try:
            with open(os.path.join(tree, self.file), encoding="utf-8") as source:
                times = source.read().count(self.old)
        except FileNotFoundError:
            return f"there is no file {self.file}"
        if times != 1:
            return f"its old text occurs {times} times in {self.file}"
        return "its new text is the old one" if self.old == self.new else None


def parse(path):
    """The bugs of one file: "mutant NAME", fields, and the texts between lines <<<<, ==== and >>>>."""
    mutants, name, fields, part, texts = [], None, {}, None, {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            place = f"{os.path.relpath(path, ROOT)}:{number}"
            bare = line.rstrip("\n")
            if part is not None:
                if bare == "====" and part == "old":
                    part = "new"
                elif bare == ">>>>" and part == "new":
                    missing = [field for field in FIELDS if field not in fields]
                    if missing or name is None:
                        raise Bad(f"{place}: mutant {name} lacks {', '.join(missing)}")
                    old, new = texts["old"].rstrip("\n"), texts["new"].rstrip("\n")
                    mutants.append(Mutant(name, fields, old, new, place))
                    name, fields, part = None, {}, None
                else:
                    texts[part] += line
            elif bare == "<<<<":
                part, texts = "old", {"old": "", "new": ""}
            elif bare and not bare.startswith("#"):
                key, _, value = bare.partition(" ")
                if key == "mutant":
                    name, fields = value.strip(), {}
                elif key in FIELDS and name is not None:
                    fields[key] = value.strip()
                else:
                    raise Bad(f"{place}: \"{bare}\" is not a field; fields are mutant, {', '.join(FIELDS)}")
    if part is not None or name is not None:
        raise Bad(f"{path}: mutant {name} has no end")
    return mutants


def load():
    mutants = []
    for entry in sorted(os.listdir(HERE)):
        if entry.endswith(".txt"):
            mutants += parse(os.path.join(HERE, entry))
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Bad(f"two mutants are named {', '.join(twice)}")
    return mutants


def check(mutants, tree):
    problems = [f"{m.place}: mutant {m.name} no longer applies: {m.problem(tree)}" for m in mutants if m.problem(tree)]
    if problems:
        raise Bad("\n".join(problems))


def copy_tree(tree):
    """Copies what git knows, leaving alone what is the same, so that builds go on from where they were."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))}
    for name in wanted:
        source, target = os.path.join(ROOT, name), os.path.join(tree, name)
        with open(source, "rb") as file:
            content = file.read()
        if os.path.exists(target):
            with open(target, "rb") as file:
                if file.read() == content:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    for folder, folders, files in os.walk(tree):
        if folder == tree and "build" in folders:
            folders.remove("build")
        for file in files:
            path = os.path.join(folder, file)
            if os.path.relpath(path, tree) not in wanted:
                os.remove(path)


def configure(tree):
    done = subprocess.run(["cmake", "--preset", "gcc", "-DCELLAR_BUILD_TESTS=ON", "-DCELLAR_BUILD_EXAMPLES=OFF",
                           "-DCELLAR_BUILD_BENCHMARKS=OFF"], cwd=tree, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Bad("configuring the copy failed:\n" + done.stdout)


def target_of(step):
    program = step.split(":")[0]
    return "cellar_outside" if program == "outside" else "cellar_tests_" + program


def command_of(step):
    """A step is a test program, perhaps with a filter; or "outside" with faults, see tests/outside/outside.py."""
    program, _, wanted = step.partition(":")
    if program == "outside":
        return ["python3", "tests/outside/outside.py", "--build", "build/gcc", *(["--only", wanted] if wanted else
                                                                                ["--short"])]
    command = ["build/gcc/" + target_of(step), "--gtest_brief=1", "--gtest_fail_fast"]
    return command + (["--gtest_filter=" + wanted] if wanted else [])


class Bench:
    """The copy of the tree: builds it and runs its tests."""

    def __init__(self, tree):
        self.tree = tree
        self.sound = {}  # by step: whether it passes without a bug
        self.environment = dict(os.environ, CCACHE_BASEDIR=tree, CCACHE_NOHASHDIR="1")

    def ninja(self, *targets):
        """What the build printed at its end if it failed, or None."""
        done = subprocess.run(["ninja", "-C", "build/gcc", *targets], cwd=self.tree, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return None if done.returncode == 0 else done.stdout[-3000:]

    def build(self, step):
        return self.ninja(target_of(step))

    def run(self, step):
        """What failed, or None."""
        program = step.split(":")[0]
        try:
            done = subprocess.run(command_of(step), cwd=self.tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=STEP_SECONDS, errors="replace", text=True)
        except subprocess.TimeoutExpired:
            return f"{program}: does not end"
        if done.returncode == 0:
            return None
        failed = re.search(r"^(?:\[  FAILED  \]|FAILED) ([^ ,\n]+)", done.stdout, re.M)
        if failed:
            return f"{program}: {failed.group(1)}"
        return f"{program}: ends with signal {-done.returncode}" if done.returncode < 0 else f"{program}: fails"

    def passes_without_bug(self, step):
        if step not in self.sound:
            trouble = self.build(step)
            if trouble:
                raise Bad("the tree does not build without a bug:\n" + trouble)
            self.sound[step] = self.run(step)
        return self.sound[step] is None

    def attempt(self, mutant):
        path = os.path.join(self.tree, mutant.file)
        with open(path, encoding="utf-8") as source:
            original = source.read()
        begun = time.monotonic()
        result = {"name": mutant.name, "digest": mutant.digest(), "found": False, "by": "", "step": ""}
        try:
            with open(path, "w", encoding="utf-8") as source:
                source.write(original.replace(mutant.old, mutant.new))
            for step in mutant.steps():
                trouble = self.build(step)
                if trouble:
                    raise Bad(f"mutant {mutant.name} does not build:\n{trouble}")
                failed = self.run(step)
                if failed:
                    result.update(found=True, by=failed, step=step)
                    break
        finally:
            with open(path, "w", encoding="utf-8") as source:
                source.write(original)
        result["seconds"] = round(time.monotonic() - begun)
        if result["found"] and not self.passes_without_bug(result["step"]):
            raise Bad(f"{result['step']} fails without a bug, too: {self.sound[result['step']]}")
        return result


def known_result(results, mutant):
    try:
        with open(os.path.join(results, mutant.name + ".json"), encoding="utf-8") as file:
            result = json.load(file)
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return result if result["digest"] == mutant.digest() else None


def line_of(result):
    verdict = "found" if result["found"] else "NOT FOUND"
    return f"{verdict:10} {result['name']:44} {result['seconds']:5} s  {result['by']}"


def jobs_of(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"it must be a number of at least 1, not \"{text}\"")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0], add_help=False)
    for option in ("--list", "--check", "--again", "--help"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=jobs_of)
    parser.add_argument("--tree")
    parser.add_argument("--results", default=os.path.join(ROOT, "build/mutants/results"))
    return parser.parse_args()


def chosen(mutants, only):
    if not only:
        return mutants
    for pattern in only:
        if not any(fnmatch.fnmatchcase(mutant.name, pattern) for mutant in mutants):
            raise Bad(f"no mutant is named {pattern} (see --list)")
    return [m for m in mutants if any(fnmatch.fnmatchcase(m.name, pattern) for pattern in only)]


def benches(options, wanted):
    """A bench for each job, but no more than there are bugs to try."""
    if options.tree:
        if options.jobs not in (None, 1):
            raise Bad("--tree names one copy of the tree: use it without --jobs, or with --jobs 1")
        return [Bench(os.path.abspath(options.tree))]
    first = os.path.join(ROOT, "build/mutants/tree")
    jobs = min(options.jobs or os.cpu_count(), wanted)
    made = [Bench(first if number == 1 else f"{first}{number}") for number in range(1, jobs + 1)]
    for bench in made:
        copy_tree(bench.tree)
        configure(bench.tree)
    return made


def result_of(mutant, options, free):
    """Tries a bug on a bench that is free. Returns what came of it, or the fault that makes the bug unusable."""
    bench = free.get()
    try:
        result = bench.attempt(mutant)
    except Bad as bad:
        return None, bad
    finally:
        free.put(bench)
    with open(os.path.join(options.results, mutant.name + ".json"), "w", encoding="utf-8") as file:
        json.dump(result, file)
    return result, None


def run(options, mutants):
    os.makedirs(options.results, exist_ok=True)
    check(mutants, options.tree or ROOT)
    known = [None if options.again else known_result(options.results, mutant) for mutant in mutants]
    results, unusable = [result for result in known if result is not None], 0
    for result in results:
        print(line_of(result), flush=True)
    left = [mutant for mutant, result in zip(mutants, known) if result is None]
    free = queue.Queue()
    for bench in benches(options, len(left)):
        free.put(bench)
    with concurrent.futures.ThreadPoolExecutor(max(1, free.qsize())) as pool:
        tried = {pool.submit(result_of, mutant, options, free): mutant for mutant in left}
        for done in concurrent.futures.as_completed(tried):
            result, bad = done.result()
            if bad is None:
                results.append(result)
                print(line_of(result), flush=True)
            else:
                unusable += 1
                print(f"{'UNUSABLE':10} {tried[done].name:44}          {str(bad)[:2000]}", flush=True)
    found = sum(result["found"] for result in results)
    for result in results:
        if not result["found"]:
            print(f"not found: {result['name']}: write a test that fails with it")
    print(f"counted {found} seeded bugs found of {len(results)}")
    return 1 if unusable or found < SHARE_WANTED * len(results) else 0


def main():
    options = arguments()
    if options.help:
        print(__doc__)
        return 0
    mutants = load()
    if options.list:
        for mutant in chosen(mutants, options.only):
            print(f"{mutant.name:44} {mutant.file:32} {' '.join(mutant.first):40} {mutant.why}")
        return 0
    if options.check:
        check(mutants, ROOT)
        print(f"counted {len(mutants)} seeded bugs that apply to the sources")
        return 0
    return run(options, chosen(mutants, options.only))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Bad as bad:
        print(f"mutants: {bad}", file=sys.stderr)
        sys.exit(1)
