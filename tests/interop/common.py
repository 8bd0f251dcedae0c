"""What all comparisons with HBase use: the programs, a release of HBase, how programs are run, and counts."""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

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


class Skipped(Exception):
    """Nothing can be compared, and that is nobody's fault here."""


class Failed(Exception):
    """A program ended as it must not."""


def say(text):
    print(f"\n== {text}", flush=True)


def jars_of(pom, folder, profile=None):
    """The jars that a pom.xml names, from Maven. Asked once for a folder, until the pom.xml changes."""
    kept = folder / "classpath"
    if kept.exists() and kept.stat().st_mtime > pom.stat().st_mtime:
        jars = kept.read_text().split(os.pathsep)
        if all(pathlib.Path(jar).exists() for jar in jars):
            return jars
    folder.mkdir(parents=True, exist_ok=True)
    if not shutil.which("mvn"):
        raise Skipped("Maven is not installed (apt-get install maven default-jdk-headless)")
    print(f"asking Maven for the jars of {pom.relative_to(ROOT)}, {profile or 'all'} (some 100 MB when they are new)", flush=True)
    try:
        run = subprocess.run(["mvn", "-q", "-B", "-f", str(pom), *(["-P", profile] if profile else []),
                              "dependency:build-classpath", f"-Dmdep.outputFile={kept}"],
                             capture_output=True, text=True, timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        raise Skipped(f"Maven has not given the jars within {FETCH_SECONDS} seconds") from None
    if run.returncode != 0 or not kept.exists():
        said = next((line for line in (run.stdout + run.stderr).splitlines() if "[ERROR]" in line), "no message")
        raise Skipped(f"Maven does not give the jars: {said[:300]}")
    return kept.read_text().split(os.pathsep)


def compile_java(folder, jars, sources):
    """Compiles what is newer than its classes. Returns the directory of the classes."""
    classes, stamp = folder / "classes", folder / "compiled"
    if not shutil.which("javac"):
        raise Skipped("no Java compiler is installed (apt-get install default-jdk-headless)")
    newest = max(path.stat().st_mtime for path in [*sources, folder / "classpath"])
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        shutil.rmtree(classes, ignore_errors=True)
        classes.mkdir(parents=True)
        run = subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", os.pathsep.join(jars), *sources],
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise Failed(f"javac for {folder.name}:\n{run.stdout}{run.stderr}")
        stamp.touch()
    return classes


class Release:
    """One release of HBase: a profile of pom.xml, its jars, and the Java programs compiled against them."""

    def __init__(self, name):
        self.name = name
        self.folder = WORK / f"hbase-{name}"
        self.jars = self.resolve()
        self.version = next(re.search(r"hbase-server-(.*)\.jar", jar)[1] for jar in self.jars if "hbase-server-" in jar)
        self.compile()

    def resolve(self):
        return jars_of(HERE / "pom.xml", self.folder, f"hbase-{self.name}")

    def compile(self):
        self.classes = compile_java(self.folder, self.jars, sorted((HERE / "src/main/java").rglob("*.java")))
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


def skip_loudly(what, why):
    line = "*" * 100
    print(f"\n{line}\nSKIPPED: {what}.\n  {why}\n{line}", flush=True)


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


def is_2_4(release):
    return release.version.startswith("2.4.")


def serves():
    """Whether this build can serve, and find clusters."""
    return (BUILD / "CMakeCache.txt").exists() and "CELLAR_WITH_HBASE:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()
