"""The library's client and `cellar` on a whole HBase, which runs in another process."""

import contextlib
import itertools
import pathlib
import re
import subprocess
import threading

import certificates
import copies
from common import (CELLAR, CLUSTER, QUICK_START, STEP_SECONDS, WRITER, Failed, Tally, fresh, is_2_4, must, started)
from served import serve


def families_for(release, *families):
    """Families as `cellar create` takes them. HBase 2.4 has no Snappy in Java, which is the default."""
    def chosen(family):
        return family if "compression=" in family else f"{family}{',' if ':' in family else ':'}compression=gz"
    return [chosen(each) for each in families] if is_2_4(release) else list(families)


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
        # HDFS may say something first.
        line = next((line.split() for line in cluster.stdout if line.startswith("cluster ")), None)
        if line is None:
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


def client_briefly(release, folder, options):
    """What of that fits into a minute: found by its masters, with fewer requests and changes."""
    tally = Tally()
    with whole_cluster(release, folder, options) as (cluster, names):
        relay([CLUSTER, "compare", names["masters"], folder / "store", options.seed, 500], cluster, tally)
        relay([CLUSTER, "upset", names["masters"], options.seed, 4], cluster, tally)
    return tally


def hdfs(release, folder, options):
    """The library's client on a cluster whose logs and files lie on HDFS."""
    tally = Tally()
    with whole_cluster(release, folder, options, on_hdfs=True) as (cluster, names):
        name = names["zookeeper" if is_2_4(release) else "masters"]
        relay([CLUSTER, "compare", name, folder / "store", options.seed, 1_000 if options.short else 20_000], cluster, tally)
        relay([CLUSTER, "upset", name, options.seed, 8 if options.short else 40], cluster, tally)
        bulk_loads(cluster, name, fresh(folder / "bulk"), options.seed, tally, on_hdfs=True)
        if is_2_4(release):  # with its jars, a DataNode of Hadoop 2.10 never answers WebHDFS, nor does it answer curl
            print("copies through WebHDFS were left out with HBase 2.4", flush=True)
            return tally
        place = f"webhdfs://{told(cluster, 'webhdfs')}/loads"
        copy_there_and_back(release, cluster, name, fresh(folder / "copies"), options, tally, place)
        if (rest := told(cluster, "count /loads")) != "0":
            tally.differ(f"{rest} files are left on HDFS of copies that loaded them")
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


def copy_there_and_back(release, cluster, name, folder, options, tally, staging=None):
    copies.copies(CELLAR, must, name, folder, lambda change: ask(cluster, change), options.seed,
                  100_000 if options.short else 1_000_000, families_for(release, *copies.FAMILIES), tally, Failed, staging)


def copied(release, folder, options):
    """A table is copied to a whole HBase and back, in batches and as files, while regions move and processes die."""
    tally = Tally()
    with whole_cluster(release, folder, options) as (cluster, names):
        name = names["zookeeper" if is_2_4(release) else "masters"]
        for number, staging in enumerate((None, folder / "files1")):
            place = fresh(folder / f"copies{number}")
            copy_there_and_back(release, cluster, name, place, options, tally, staging)
            must([CELLAR, "drop", name, "copied"])
            ask(cluster, "start")  # in place of the server that the changes killed
    return tally
