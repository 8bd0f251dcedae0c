"""HFiles both ways: Cellar's read by HBase, HBase's read by Cellar, bulk loads, and directories that HBase left."""

import concurrent.futures
import json
import os
import pathlib
import subprocess

from common import CELLAR, FILE_SECONDS, WRITER, Failed, Tally, must


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
