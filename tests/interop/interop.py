#!/usr/bin/env python3
"""Holds Cellar's HFiles against HBase itself, both ways. Run it as ./dev interop [--short] [--seed N] [--bench].

Exit status 0: everything compared was equal, or, said loudly, nothing could be compared because Maven or its
repository is out of reach. 1: a difference, named above. The last lines count what was compared; the same stands in
build/interop/summary.json.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import certificates
import clients
import copies
import operations
import region

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "interop"
BUILD = ROOT / os.environ.get("CELLAR_BUILD", "build/gcc")
CELLAR = BUILD / "cellar"
WRITER = BUILD / "cellar_interop"
CLUSTER = BUILD / "cellar_cluster"
QUICK_START = BUILD / "example_quick_start_on_a_cluster"
# What HBase and Hadoop reach into on Java 17.
OPENS = [f"--add-opens=java.base/{package}=ALL-UNNAMED"
         for package in ("java.lang", "java.lang.reflect", "java.nio", "java.util", "sun.nio.ch", "jdk.internal.ref")]
OPENS += ["--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
          "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"]
FETCH_SECONDS = 300  # for the jars; what takes longer is skipped, loudly
STEP_SECONDS = {True: 600, False: 3600}  # for one program, in the short form and the full; more is a failure
FILE_SECONDS = 120  # for one file and Cellar
CLIENT_HEAP = "256m"  # of HBase's client where memory is measured: a small service's
GOALS = {"none": 5.0, "snappy": 3.0}  # times HBase's speed, for writing and for scanning


class Skipped(Exception):
    """Nothing can be compared, and that is nobody's fault here."""


class Failed(Exception):
    """A program ended as it must not."""


def say(text):
    print(f"\n== {text}", flush=True)


class Release:
    """One release of HBase: a profile of pom.xml, its jars, and the Java programs compiled against them."""

    def __init__(self, name):
        self.name = name
        self.folder = WORK / f"hbase-{name}"
        self.jars = self.resolve()
        self.version = next(re.search(r"hbase-server-(.*)\.jar", jar)[1] for jar in self.jars if "hbase-server-" in jar)
        self.compile()

    def resolve(self):
        """The jars, from Maven; asked once, until pom.xml changes."""
        kept = self.folder / "classpath"
        pom = HERE / "pom.xml"
        if kept.exists() and kept.stat().st_mtime > pom.stat().st_mtime:
            jars = kept.read_text().split(os.pathsep)
            if all(pathlib.Path(jar).exists() for jar in jars):
                return jars
        self.folder.mkdir(parents=True, exist_ok=True)
        if not shutil.which("mvn"):
            raise Skipped("Maven is not installed (apt-get install maven default-jdk-headless)")
        print(f"asking Maven for the jars of the profile hbase-{self.name} (some 100 MB when they are new)", flush=True)
        try:
            run = subprocess.run(["mvn", "-q", "-B", "-f", str(pom), "-P", f"hbase-{self.name}",
                                  "dependency:build-classpath", f"-Dmdep.outputFile={kept}"],
                                 capture_output=True, text=True, timeout=FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            raise Skipped(f"Maven has not given HBase's jars within {FETCH_SECONDS} seconds")
        if run.returncode != 0 or not kept.exists():
            said = next((line for line in (run.stdout + run.stderr).splitlines() if "[ERROR]" in line), "no message")
            raise Skipped(f"Maven does not give HBase's jars: {said[:300]}")
        return kept.read_text().split(os.pathsep)

    def compile(self):
        sources = sorted((HERE / "src/main/java").rglob("*.java"))
        self.classes = self.folder / "classes"
        stamp = self.folder / "compiled"
        if not shutil.which("javac"):
            raise Skipped("no Java compiler is installed (apt-get install default-jdk-headless)")
        newest = max(path.stat().st_mtime for path in [*sources, HERE / "pom.xml"])
        if not stamp.exists() or stamp.stat().st_mtime < newest:
            shutil.rmtree(self.classes, ignore_errors=True)
            self.classes.mkdir(parents=True)
            run = subprocess.run(["javac", "-nowarn", "-d", self.classes, "-cp", os.pathsep.join(self.jars), *sources],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                raise Failed(f"javac for HBase {self.version}:\n{run.stdout}{run.stderr}")
            stamp.touch()
        shutil.copytree(HERE / "src/main/resources", self.classes, dirs_exist_ok=True)
        for pages in ("hdfs", "datanode"):  # a NameNode looks for its pages, which Maven's jars do not have
            (self.classes / "webapps" / pages).mkdir(parents=True, exist_ok=True)

    def command(self, program, *arguments, site=None, heap="2g"):
        """`site`: a directory with an hbase-site.xml."""
        classpath = os.pathsep.join([*([str(site)] if site else []), str(self.classes), *self.jars])
        return ["java", f"-Xmx{heap}", *OPENS, "-cp", classpath, f"interop.{program}", *map(str, arguments)]

    def java(self, program, *arguments, niced=True, site=None):
        """Runs one of the programs: its exit status and its lines."""
        return started([*(["nice", "-n", "10"] if niced else []), *self.command(program, *arguments, site=site)])


def started(command):
    seconds = STEP_SECONDS["--short" in sys.argv]
    try:
        run = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        what = next((word for word in map(str, command) if word.startswith("interop.")), str(command[0]))
        raise Failed(f"{what} did not end within {seconds} s") from None
    return run.returncode, run.stdout.splitlines()


def must(command):
    status, lines = started(command)
    if status != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {status}:\n" + "\n".join(lines[-20:]))
    return lines


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class Tally:
    """What was compared, by name, and what differed."""

    def __init__(self):
        self.counts = collections.Counter()
        self.differences = 0

    def differ(self, text):
        self.differences += 1
        print(f"difference {text}", flush=True)

    def count(self, what, by=1):
        self.counts[what] += by

    def add(self, other, where):
        for what, count in other.counts.items():
            self.count(f"{what}, {where}", count)
        self.differences += other.differences

    def take(self, status, lines, program):
        """The lines of a Java program: differences are shown, counts are added up."""
        for line in lines:
            counted = re.fullmatch(r"counted (\d+) (.*)", line)
            if counted and counted[2] == "differences":
                self.differences += int(counted[1])
            elif counted:
                self.count(counted[2], int(counted[1]))
            else:
                print(line)
        if status != 0 and not any(line.startswith("difference ") for line in lines):
            self.differ(f"{program} ended with {status}")
        if not any(line.startswith("counted ") and line.endswith(" differences") for line in lines):
            self.differ(f"{program} did not finish")

    def show(self, title):
        say(title)
        for what, number in sorted(self.counts.items()):
            print(f"counted {number} {what}")
        print(f"counted {self.differences} differences", flush=True)

    def summary(self):
        return {**self.counts, "differences": self.differences}


def cellar_to_hbase(release, folder, seed, shapes):
    """Files by Cellar, read by HBase."""
    tally = Tally()
    for line in must([WRITER, "files", folder, seed, shapes]):
        tally.count(line.split(" ", 2)[2], 1)
    tally.take(*release.java("ReadFiles", folder), "ReadFiles")
    if not tally.counts["files"] or not tally.counts["cells scanned"]:
        tally.differ("no file was read")
    return tally


def supported(description, parts):
    """Whether this build of Cellar says that it has the encoding and codec of a file."""
    encoding, codec = (word.split()[0].lower() for word in description.split(", ")[:2])
    return (encoding.removesuffix("_v1") in parts["encoding"] and codec in parts["compression"]
            and "prefix tree" not in description)


def reason(stderr, path):
    """The sentence of a failed command, without the file's name."""
    text = stderr.decode(errors="replace").strip()
    try:
        text = json.loads(text.splitlines()[-1])["error"]["message"]
    except (ValueError, KeyError, IndexError):
        pass  # not a document of the tool: as it stands
    return text.replace(f"{path}: ", "")


def read_with_cellar(path, description, parts, tally):
    """Dumps and verifies one file."""
    dump = subprocess.run([CELLAR, "dump", path, "--mvcc", "--tags", "--format", "jsonl", "--quiet"],
                          capture_output=True)
    if dump.returncode == 4 and not supported(description, parts):
        tally.count(f"files not supported by this build: {reason(dump.stderr, path)}")
        return
    expected = path.with_name(path.name + ".jsonl").read_bytes()
    name = f"{path.name} ({description})"
    if dump.returncode != 0:
        tally.differ(f"{name}: dump ends with {dump.returncode}: {reason(dump.stderr, path)}")
    elif dump.stdout != expected:
        ours, theirs = dump.stdout.splitlines(), expected.splitlines()
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
        tally.differ(f"{name}: {len(ours)} cells, HBase wrote {len(theirs)}; cell {at} is "
                     f"{ours[at:at + 1]}, written as {theirs[at:at + 1]}"[:1000])
    verify = subprocess.run([CELLAR, "verify", path, "--level", "deep"], capture_output=True, text=True,
                            timeout=FILE_SECONDS)
    if verify.returncode != 0:
        tally.differ(f"{name}: verify ends with {verify.returncode}: {verify.stdout} {verify.stderr}"[:1000])
    tally.count("files")
    tally.count("cells compared", expected.count(b"\n"))


def hbase_to_cellar(release, folder, seed, files):
    """Files by HBase, read by Cellar."""
    tally = Tally()
    status, lines = release.java("WriteFiles", folder, seed, files)
    if status != 0:
        raise Failed("WriteFiles failed:\n" + "\n".join(lines[-20:]))
    parts = json.loads("\n".join(must([CELLAR, "version", "--format", "json"])))
    written = [line.split("\t") for line in (folder / "files.tsv").read_text().splitlines()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda each: read_with_cellar(folder / each[0], each[3], parts, tally), written))
    tally.count("files written by HBase", len(written))
    if not tally.counts["files"] or not tally.counts["cells compared"]:
        tally.differ("no file was read")
    return tally


def take_back(files, answer, store, tally):
    """A directory of HFiles ingested by a store that did not exist: it answers like the one they came from."""
    must([CELLAR, "bulkload", "ingest", files, store, "loaded", "--create", "--by", "copy"])
    found = subprocess.run([CELLAR, "scan", store, "loaded", "--versions", "3", "--format", "jsonl", "--quiet"],
                           capture_output=True, check=True).stdout
    if found != answer.read_bytes():
        tally.differ("a store that ingested the exported files answers differently")
    tally.count("cells compared after an ingest", found.count(b"\n"))


def bulk_load(release, folder, seed):
    """Cellar's files into a table of HBase, and the same cells into a store of Cellar: both answer alike."""
    tally = Tally()
    must([WRITER, "bulk", folder, seed])
    store = folder / "store"
    must([CELLAR, "create", store, "loaded", "a:max_versions=3", "b:max_versions=3"])
    must([CELLAR, "load", store, "loaded", folder / "a.jsonl", folder / "b.jsonl", "--quiet"])
    answer = folder / "answer.jsonl"
    with answer.open("wb") as out:
        subprocess.run([CELLAR, "scan", store, "loaded", "--versions", "3", "--format", "jsonl", "--quiet"],
                       stdout=out, check=True)
    exported, splits = folder / "exported", folder / "splits.txt"
    splits.write_text("row0200\nrow0600\n")
    must([CELLAR, "export", store, "loaded", "--to", "hfile", "-o", exported, "--splits", splits])
    must([CELLAR, "bulkload", "check", exported, "--splits", splits])
    take_back(exported, answer, folder / "back", tally)
    tally.take(*release.java("BulkLoad", folder / "hbase", folder / "bulk", answer, exported), "BulkLoad")
    if not tally.counts["gets after a bulk load"]:
        tally.differ("nothing was got after the bulk load")
    return tally


def answer_from_directory(line, tally):
    """One question to Cellar, of a directory that HBase left."""
    expected, *words = line.split("\t")
    expected = pathlib.Path(expected).read_bytes()
    run = subprocess.run([CELLAR, *words, "--format", "jsonl", "--quiet"], capture_output=True, timeout=FILE_SECONDS)
    if run.returncode != (1 if words[0] == "get" and not expected else 0):
        tally.differ(f"{' '.join(words)}: ends with {run.returncode}: {run.stderr.decode(errors='replace')}"[:1000])
    elif run.stdout != expected:
        ours, theirs = run.stdout.splitlines(), expected.splitlines()
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
        tally.differ(f"{' '.join(words)}: {len(ours)} cells, HBase answers {len(theirs)}; cell {at} is "
                     f"{ours[at:at + 1]}, HBase answers {theirs[at:at + 1]}"[:1000])
    tally.count(f"{words[0]}s of directories, and of copies of them")
    tally.count("cells answered from directories", expected.count(b"\n"))


def copy_directories(lines, folder, tally):
    """Each directory is copied into a store, which then answers the questions about it as HBase did."""
    places = {}
    for line in lines:
        expected, command, place, *options = line.split("\t")
        # A copy has what is visible, without a range of times. A name after the directory is a table of a root.
        if command != "scan" or {"--raw", "--time"} & set(options) or (options and not options[0].startswith("-")):
            continue
        if place not in places:
            places[place] = f"t{len(places)}"
            tally.count("tables copied from directories into a store")
            must([CELLAR, "copy", place, folder / "copies", "--as", places[place]])
        answer_from_directory("\t".join([expected, command, str(folder / "copies"), places[place], *options]), tally)


def directories(release, folder, seed):
    """What HBase's client answered while it ran, asked of the directories it left."""
    tally = Tally()
    status, said = release.java("Directories", folder, seed)
    if status != 0:
        raise Failed("Directories failed:\n" + "\n".join(said[-20:]))
    lines = (folder / "questions.tsv").read_text().splitlines()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda line: answer_from_directory(line, tally), lines))
    copy_directories(lines, folder, tally)
    if not tally.counts["cells answered from directories"]:
        tally.differ("HBase left no directories to ask")
    return tally


def one_region(release, folder, seed, tables):
    """The same random operations on a region of HBase and on a table of Cellar."""
    tally = Tally()
    operations = folder / "operations"
    region.write_operations(operations, seed, tables)
    must([WRITER, "region", folder / "store", operations, folder / "cellar"])
    status, said = release.java("Region", operations, folder / "hbase", folder / "work")
    if status != 0:
        raise Failed("Region failed:\n" + "\n".join(said[-20:]))
    lines = [path.read_text("latin-1").splitlines() for path in (operations, folder / "cellar", folder / "hbase")]
    if not len(lines[0]) == len(lines[1]) == len(lines[2]):
        raise Failed(f"of {len(lines[0])} operations Cellar answered {len(lines[1])} and HBase {len(lines[2])}")
    region.compare_answers(*lines, tally)
    if not tally.counts["reads that found something"]:
        tally.differ("no read found anything")
    return tally


def serve(release, folder, seed, tables, tls=()):
    """The same random operations through HBase's client on a served store, and on a table; and statements."""
    *files, site = tls or [None]  # the server's certificate, the issuer's, and the directory of the client's settings
    tally = Tally()
    operations = folder / "operations"
    region.write_operations(operations, seed, tables)
    # A client cannot choose the files of a compaction, and which markers it drops depends on them.
    drawn = operations.read_text("latin-1").splitlines(keepends=True)
    operations.write_text("".join(line for line in drawn if not line.startswith("compact\t")), "latin-1")
    must([WRITER, "region", folder / "store", operations, folder / "cellar"])
    tally.take(*release.java("Serve", folder / "served", operations, folder / "client", WRITER, "serve", *files, site=site), "Serve")
    lines = [path.read_text("latin-1").splitlines() for path in (operations, folder / "cellar", folder / "client")]
    if not len(lines[0]) == len(lines[1]) == len(lines[2]):
        raise Failed(f"of {len(lines[0])} operations Cellar answered {len(lines[1])} and the client {len(lines[2])}")
    # A client does not see what files a table has.
    for at, answer in enumerate(lines[2]):
        if answer == "rewritten" and lines[1][at].startswith("files"):
            lines[2][at] = lines[1][at]
    region.compare_answers(*lines, tally)
    if not tally.counts["reads that found something"]:
        tally.differ("no read found anything")
    return tally


def is_2_4(release):
    return release.version.startswith("2.4.")


def families_for(release, *families):
    """Families as `cellar create` takes them. HBase 2.4 has no Snappy in Java, which is the default."""
    def chosen(family):
        return family if "compression=" in family else f"{family}{',' if ':' in family else ':'}compression=gz"
    return [chosen(each) for each in families] if is_2_4(release) else list(families)


def serves():
    """Whether this build can serve, and find clusters."""
    return (BUILD / "CMakeCache.txt").exists() and "CELLAR_WITH_HBASE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()


def ask(cluster, change):
    """Asks for a change of the cluster, and waits for its end. Returns HBase's answer."""
    cluster.stdin.write(change + "\n")
    cluster.stdin.flush()
    return cluster.stdout.readline().strip()


def relay(program, cluster, tally):
    """Runs a program that asks for changes of the cluster by lines "do …", and takes what it counted."""
    run = subprocess.Popen(list(map(str, program)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    lines = []
    for line in run.stdout:
        line = line.rstrip("\n")
        if not line.startswith("do "):
            lines.append(line)
            continue
        answer = ask(cluster, line[3:])
        tally.count(f"{line.split()[1]}s of regions asked for" if answer == "done" else "changes that HBase refused")
        run.stdin.write(answer + "\n")
        run.stdin.flush()
    tally.take(run.wait(), lines, pathlib.Path(program[0]).name)


def commands(release, name, folder, tally):
    """The quick start, and commands of `cellar`, print the same for the cluster and for a store."""
    shell = "; ".join(["put orders u3 d:name Grace", "get orders u3", "scan orders", "count orders",
                       "incr orders u3 d:n 4", "delete orders u3 d:name", "deleteall orders u2", "scan orders"])
    statements = [["create", "orders", *families_for(release, "d", "c")], ["put", "orders", "u1", "d:name", "Ada"],
                  ["put", "orders", "u2", "d:name", "Bob", "c:x", "3"], ["incr", "orders", "u1", "c:n", "5"],
                  ["get", "orders", "u1", "--format", "jsonl"], ["scan", "orders", "--format", "jsonl"],
                  ["count", "orders", "--format", "jsonl"], ["get-counter", "orders", "u1", "c:n"],
                  ["alter", "orders", "d:max_versions=5"], ["flush", "orders"], ["compact", "orders", "--major"],
                  ["shell"], ["scan", "orders", "--format", "jsonl"], ["truncate", "orders"], ["count", "orders"],
                  ["drop", "orders"], ["list", "--format", "jsonl"]]

    def answers(where):
        for command, *operands in statements:
            asked = [CELLAR, command, where, *operands, *(["-c", shell, "--format", "jsonl"] if command == "shell" else [])]
            lines = [] if command in ("flush", "compact") else must(asked)
            if command in ("flush", "compact"):  # a cluster has no sizes
                must(asked)
            # Times are those of each clock, of writes and of the commands themselves.
            yield command, [re.sub(r'"ts":\d+|[\d.,]+ [mnµ]?s$', "", line) for line in lines]

    for (command, ours), (_, theirs) in zip(answers(folder / "shop"), answers(name), strict=True):
        tally.count("commands compared on a cluster and on a store")
        if ours != theirs:
            tally.differ(f"cellar {command}\n  store   {ours}\n  cluster {theirs}")
    if is_2_4(release):
        for where in (folder / "quick", name):
            must([CELLAR, "create", where, "orders", *families_for(release, "d:max_versions=3", "c:ttl_s=604800")])
    quick = [must([QUICK_START, where]) for where in (folder / "quick", name)]
    must([CELLAR, "drop", name, "orders"])
    rows = [[line for line in lines if not line.startswith(("get:", "scan:"))] for lines in quick]  # costs differ
    tally.count("quick starts on a cluster and on a store")
    if rows[0] != rows[1]:
        tally.differ(f"the quick start\n  store   {quick[0]}\n  cluster {quick[1]}")


def told(cluster, question):
    """Asks what the cluster must be able to answer. Returns what it says besides "done"."""
    answer = ask(cluster, question)
    if not answer.startswith("done"):
        raise Failed(f"{question}: {answer}")
    return answer.removeprefix("done").strip()


def bulk_loads(cluster, name, folder, seed, tally, on_hdfs=False):
    """Exported files are loaded through the library's client: copied, and cut at the regions' borders and moved."""
    stagings = (f"{told(cluster, 'hdfs')}/staging{number}" for number in itertools.count()) if on_hdfs else None
    must([WRITER, "bulk", folder, seed])
    families = [f"{family}:max_versions=3,compression=gz" for family in "ab"]
    store, splits = folder / "store", ["row0200", "row0600"]
    must([CELLAR, "create", store, "loaded", *families])
    must([CELLAR, "load", store, "loaded", folder / "a.jsonl", folder / "b.jsonl", "--quiet"])

    def scan(where, table):
        return must([CELLAR, "scan", where, table, "--versions", "3", "--format", "jsonl", "--quiet"])

    def load(directory, table, *options):
        cells = scan(store, "loaded")
        must(["chmod", "-R", "a+rwX", directory])  # the servers act as the user of the client
        staging = next(stagings) if on_hdfs else None
        if on_hdfs:
            told(cluster, f"put {directory} {staging}")
            options = [*options, "--staging", staging]
        ingest = [CELLAR, "bulkload", "ingest", directory, name, table, "--level", "cells", *options]
        if on_hdfs and "move" in options:
            refused(ingest, "must also own them", table)
            told(cluster, f"put {directory} {staging}")  # HBase does not bring back what it could not move
            told(cluster, f"own {staging} cellar")
        files = len(list(directory.glob("*/*")))
        must(ingest)
        if on_hdfs and "move" in options:
            tally.count("files that left HDFS's staging directory when they were moved", files)
            if (rest := told(cluster, f"count {staging}")) != "1":  # _schema.json
                tally.differ(f"{name}: {rest} files are left of those moved")
        found = scan(name, table)
        tally.count("cells scanned after a bulk load through the library", len(found))
        if found != cells or not cells:
            tally.differ(f"{name}: {len(cells)} cells became {len(found)} by a bulk load of {directory.name}")

    def refused(ingest, words, table):
        run = subprocess.run(list(map(str, ingest)), capture_output=True, text=True)
        tally.count("bulk loads that must be refused")
        if run.returncode == 0 or words not in run.stderr or scan(name, table):
            tally.differ(f"{name}: refused with other words than {words}: {run.returncode} {run.stderr}")

    (folder / "splits.txt").write_text("\n".join(splits) + "\n")
    must([CELLAR, "export", store, "loaded", "--to", "hfile", "-o", folder / "fitting", "--splits", folder / "splits.txt"])
    must([CELLAR, "export", store, "loaded", "--to", "hfile", "-o", folder / "wide"])
    for table in ("copied", "moved"):
        must([CELLAR, "create", name, table, *families])
        for row in splits:
            told(cluster, f"split {table} {row}")
    load(folder / "fitting", "copied")
    load(folder / "fitting", "copied")  # equal cells show once
    refused([CELLAR, "bulkload", "ingest", folder / "wide", name, "moved"], "in 3 regions of table moved; nothing was loaded",
            "moved")
    for file in list((folder / "wide").glob("*/*")):
        parts = fresh(folder / "parts")
        must([CELLAR, "split", file, "-o", parts, "--at", splits[0], "--at", splits[1]])
        file.unlink()
        for number, part in enumerate(parts.iterdir()):  # HBase's tool skips hex digits with a dot
            part.rename(file.parent / f"{file.name}{number}")
    load(folder / "wide", "moved", "--by", "move")
    left = [str(each) for each in (folder / "wide").glob("*/*") if not each.name.endswith(".crc")]
    if left:
        tally.differ(f"{name}: files are still there after they were moved: {left}")
    for table in ("copied", "moved"):
        must([CELLAR, "drop", name, table])


@contextlib.contextmanager
def whole_cluster(release, folder, options, site=None, on_hdfs=False):
    """A whole HBase in another process: gives that process, and the names by which the library's client finds it."""
    command = release.command("ClientCluster", folder / "hbase", *(["hdfs"] if on_hdfs else []), site=site)
    cluster = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=(folder / "hbase.log").open("w"), text=True)
    # Its end is the end of whatever waits for it.
    guard = threading.Timer(STEP_SECONDS[options.short], cluster.kill)
    guard.start()
    try:
        line = cluster.stdout.readline().split()
        if line[:1] != ["cluster"]:
            raise Failed(f"HBase does not start; see {folder / 'hbase.log'}")
        yield cluster, {"masters": f"hbase://{line[1]}", "zookeeper": f"hbase+zk://{line[2]}/hbase"}
    finally:
        guard.cancel()
        cluster.stdin.close()
        try:
            cluster.wait(timeout=60)
        except subprocess.TimeoutExpired:
            cluster.kill()


def client(release, folder, options):
    """The library's client against a whole HBase, and against a store: both answer alike, however it is found."""
    tally = Tally()
    with whole_cluster(release, folder, options) as (cluster, names):
        certificates.refuses_plain(lambda name: started([CELLAR, "list", name]), names["masters"], tally)
        for number, (road, name) in enumerate(names.items()):
            place = fresh(folder / road)
            seed = options.seed + number
            commands(release, name, place, tally)
            relay([CLUSTER, "compare", name, place / "store", seed, 2_000 if options.short else 20_000], cluster, tally)
            relay([CLUSTER, "upset", name, seed, 8 if options.short else 40], cluster, tally)
            bulk_loads(cluster, name, fresh(place / "bulk"), seed, tally)
            ask(cluster, "start")  # in place of the server that the upsets killed
    return tally


def hdfs(release, folder, options):
    """The library's client on a cluster whose logs and files lie on HDFS."""
    tally = Tally()
    with whole_cluster(release, folder, options, on_hdfs=True) as (cluster, names):
        name = names["zookeeper" if is_2_4(release) else "masters"]
        relay([CLUSTER, "compare", name, folder / "store", options.seed, 1_000 if options.short else 20_000], cluster, tally)
        relay([CLUSTER, "upset", name, options.seed, 8 if options.short else 40], cluster, tally)
        bulk_loads(cluster, name, fresh(folder / "bulk"), options.seed, tally, on_hdfs=True)
    return tally


def tls(release, folder, options):
    """The library's client on a cluster that speaks TLS alone, and HBase's client on a store that is served so."""
    tally = Tally()
    pem = certificates.Certificates(fresh(folder / "certificates"))
    with whole_cluster(release, folder, options, pem.site(pem.server)) as (cluster, names):
        certificates.refusals(lambda name: started([CELLAR, "list", name]), names["masters"], pem, tally)
        for number, (road, name) in enumerate(names.items()):
            name, place, seed = f"{name}?{pem.options()}", fresh(folder / road), options.seed + number
            commands(release, name, place, tally)
            relay([CLUSTER, "compare", name, place / "store", seed, 2_000 if options.short else 20_000], cluster, tally)
            relay([CLUSTER, "upset", name, seed, 8], cluster, tally)
            ask(cluster, "start")  # in place of the server that the upset killed
    served = serve(release, fresh(folder / "serve"), options.seed, 10 if options.short else 100,
                   (pem.server, pem.issuer, pem.site(pem.client)))
    tally.add(served, "through TLS to a served store")
    return tally


def copied(release, folder, options):
    """A table is copied to a whole HBase and back, while its regions move and processes die."""
    tally = Tally()
    with whole_cluster(release, folder, options) as (cluster, names):
        copies.copies(CELLAR, must, names["zookeeper" if is_2_4(release) else "masters"], folder, lambda change: ask(cluster, change), options.seed,
                      100_000 if options.short else 1_000_000, families_for(release, *copies.FAMILIES), tally, Failed)
    return tally


def compare(release, options):
    """All comparisons with one release."""
    summary = {}
    work = fresh(release.folder / "files")
    steps = [("Cellar's files read by HBase", "cellar_to_hbase",
              lambda: cellar_to_hbase(release, fresh(work / "cellar"), options.seed, 1 if options.short else 8)),
             ("HBase's files read by Cellar", "hbase_to_cellar",
              lambda: hbase_to_cellar(release, fresh(work / "hbase"), options.seed, 2 if options.short else 8))]
    steps.append(("Cellar's files bulk loaded into HBase", "bulk_load",
                  lambda: bulk_load(release, fresh(work / "bulk"), options.seed)))
    steps.append(("HBase's directories answered from by Cellar", "directories",
                  lambda: directories(release, fresh(work / "directories"), options.seed)))
    steps.append(("The same operations on a region and a table", "region",
                  lambda: one_region(release, fresh(work / "region"), options.seed, 20 if options.short else 280)))
    # The client of HBase 2.4 has no RpcConnectionRegistry.
    if serves() and not is_2_4(release):
        steps.append(("HBase's client on a served store", "serve",
                      lambda: serve(release, fresh(work / "serve"), options.seed, 10 if options.short else 100)))
    if serves() and (not options.short or options.only == "client"):
        steps.append(("The client on a cluster and a store", "client",
                      lambda: client(release, fresh(work / "client"), options)))
    if serves() and (not options.short or options.only == "hdfs"):
        steps.append(("The client on a cluster on HDFS", "hdfs", lambda: hdfs(release, fresh(work / "hdfs"), options)))
    if serves() and not is_2_4(release) and (not options.short or options.only == "tls"):
        steps.append(("TLS, in both directions", "tls", lambda: tls(release, fresh(work / "tls"), options)))
    if serves() and (not options.short or options.only == "copies"):
        steps.append(("Copies to a cluster and back", "copies", lambda: copied(release, fresh(work / "copies"), options)))
    steps = [each for each in steps if not options.only or each[1] == options.only]

    def timed(title, step):
        begin = time.monotonic()
        tally = step()
        return tally, f"{title} ({release.version}, {time.monotonic() - begin:.0f} s)"

    # Each is mostly a program of one thread, in a folder of its own.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [(key, pool.submit(timed, title, step)) for title, key, step in steps]
        for key, future in waiting:
            tally, title = future.result()
            tally.show(title)
            summary[key] = tally.summary()
    if not options.keep and not any(each["differences"] for each in summary.values()):
        shutil.rmtree(work)
    return summary


def bench(release, options):
    parts = {"files": bench_files, "operations": bench_operations}
    if serves() and not is_2_4(release):
        parts["clients"] = bench_clients
    return {name: part(release, options) for name, part in parts.items() if options.only in (None, name)}


def bench_files(release, options):
    """Both engines write and scan the same cells, one after the other."""
    folder = fresh(release.folder / "bench")
    say(f"measuring {options.cells} cells, one thread each: Cellar beside HBase {release.version}")
    lines = must([WRITER, "bench", folder, options.cells, options.rounds])
    status, theirs = release.java("Bench", folder, options.rounds, niced=False)
    if status != 0:
        raise Failed("Bench failed:\n" + "\n".join(theirs[-20:]))
    best = {}
    size = {}
    for line in [*lines, *theirs]:
        if not line.startswith("{"):
            continue
        each = json.loads(line)
        for clock in ("wall", "cpu"):
            key = (each["codec"], each["work"], each["engine"], clock)
            best[key] = min(each[clock], best.get(key, each[clock]))
        size[each["codec"], each["engine"]] = each["bytes"]
    rows = []
    print(f"fastest of {options.rounds} rounds, seconds\n"
          f"{'codec':8} {'work':6} {'HBase':>7} {'Cellar':>7} {'ratio':>6} {'of processor time':>18} {'goal':>5}  bytes")
    for codec, work in sorted({key[:2] for key in best}):
        hbase, cellar = (best[codec, work, engine, "wall"] for engine in ("hbase", "cellar"))
        cpu = best[codec, work, "hbase", "cpu"] / best[codec, work, "cellar", "cpu"]
        goal = GOALS.get(codec)
        bytes_ratio = size[codec, "cellar"] / size[codec, "hbase"]
        met = "" if goal is None else "met" if hbase / cellar >= goal else "missed"
        print(f"{codec:8} {work:6} {hbase:7.3f} {cellar:7.3f} {hbase / cellar:6.1f} {cpu:18.1f} {goal or '':>5}  "
              f"{bytes_ratio:.4f} {met}")
        rows.append({"codec": codec, "work": work, "hbase_seconds": hbase, "cellar_seconds": cellar,
                     "ratio": hbase / cellar, "processor_ratio": cpu, "goal": goal, "bytes_ratio": bytes_ratio})
    if not options.keep:
        shutil.rmtree(folder)
    return rows


def bench_operations(release, options):
    """Both engines do the same operations in turns."""
    folder = fresh(release.folder / "operations")
    rows = options.cells // 5
    say(f"measuring operations on {rows} rows without a log, blocks of 64 KiB, NONE: medians of {options.rounds} rounds")
    try:
        measured = operations.compare([WRITER, "operations", folder / "cellar", rows],
                                      release.command("RegionBench", folder / "hbase", rows), options.rounds)
    except (operations.Differ, RuntimeError) as failed:
        raise Failed(str(failed)) from None
    operations.show(measured)
    shutil.rmtree(folder)
    return measured


def bench_clients(release, options):
    """Both clients ask one cluster in turns."""
    folder = fresh(release.folder / "clients")
    rows, table = 20_000, "bench"
    with whole_cluster(release, folder, options) as (_, names):
        name = names["masters"]
        must([CELLAR, "create", name, table, "f:compression=none"])
        say(f"measuring two clients of one cluster, {rows} rows of 100 bytes: medians of {options.rounds} rounds")
        masters = name.removeprefix("hbase://")
        java = lambda *words: release.command("ClientBench", *words, heap=CLIENT_HEAP)
        try:
            measured = clients.compare(
                {"cellar": [CLUSTER, "bench", name, table, rows], "hbase": java("bench", masters, table, rows)},
                {"cellar": [CLUSTER, "first", name, table], "hbase": java("first", masters, table)}, options.rounds)
        except (operations.Differ, RuntimeError) as failed:
            raise Failed(str(failed)) from None
    clients.show(measured)
    shutil.rmtree(folder)
    return measured


def skip_loudly(why):
    line = "*" * 100
    print(f"\n{line}\nSKIPPED: HBase was not compared with, and nothing was proven.\n  {why}\n{line}", flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="./dev interop", description="Cellar's HFiles against HBase, both ways.")
    parser.add_argument("--short", action="store_true", help="fewer files of each kind; minutes, not quarters of an hour")
    parser.add_argument("--bench", action="store_true", help="only measure: files, operations and clients, Cellar beside HBase")
    parser.add_argument("--seed", type=int, default=None, help="repeats the run that printed it (else a new one)")
    parser.add_argument("--hbase", default="2.6,2.4", help="profiles of pom.xml, with commas (2.6,2.4)")
    parser.add_argument("--only", help="one comparison: cellar_to_hbase, hbase_to_cellar, bulk_load, directories, region, "
                                       "serve, client, hdfs, tls, copies; with --bench: files, operations, clients")
    parser.add_argument("--cells", type=int, default=1_500_000, help="of --bench")
    parser.add_argument("--rounds", type=int, default=5, help="of --bench")
    parser.add_argument("--keep", action="store_true", help="keep the files, in build/interop")
    options = parser.parse_args()
    options.releases = options.hbase.split(",")
    if options.bench:
        options.releases = options.releases[:1]
    if options.short:
        options.releases = options.releases[:1]
    if options.seed is None:
        options.seed = int(time.time())
    return options


def main():
    options = parse()
    print(f"seed {options.seed}; to repeat: ./dev interop --seed {options.seed}{' --short' if options.short else ''}")
    summary = {"seed": options.seed, "hbase": {}}
    compared = 0
    for name in options.releases:
        try:
            release = Release(name)
            summary["hbase"][release.version] = bench(release, options) if options.bench else compare(release, options)
            compared += 1
        except Skipped as skipped:
            skip_loudly(f"HBase {name}: {skipped}")
            summary["hbase"][name] = {"skipped": str(skipped)}
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    if options.bench:
        return 0
    differences = sum(part["differences"] for release in summary["hbase"].values() for part in release.values()
                      if isinstance(part, dict))
    say(f"{compared} of {len(options.releases)} releases of HBase compared, {differences} differences, "
        f"seed {options.seed}; {WORK.relative_to(ROOT)}/summary.json")
    return 1 if differences else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, subprocess.SubprocessError) as failed:
        print(f"interop: {failed}", file=sys.stderr)
        sys.exit(1)
