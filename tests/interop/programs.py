"""Programs that were written for HBase work unchanged on a store that Cellar serves: only the address is given."""

import contextlib
import json
import os
import pathlib
import re
import subprocess

from common import (CELLAR, HERE, OPENS, WORK, Failed, Skipped, Tally, compile_java, fresh, jars_of, must, skip_loudly)

VERTICES = 2000
RECORDS = 5000
YCSB = """workload=site.ycsb.workloads.CoreWorkload
recordcount={0}
operationcount={0}
readproportion=0.4
updateproportion=0.3
scanproportion=0.1
insertproportion=0.1
readmodifywriteproportion=0.1
requestdistribution=zipfian
dataintegrity=true
fieldlengthdistribution=constant
"""


@contextlib.contextmanager
def served(folder):
    """Serves FOLDER/store. Gives its address, and a directory with an hbase-site.xml that names it."""
    store, site = folder / "store", fresh(folder / "site")
    server = subprocess.Popen([CELLAR, "serve", store, "--port", "0", "--load-from", folder], stdout=subprocess.PIPE,
                              text=True)
    try:
        line = server.stdout.readline()
        if " at " not in line:
            raise Failed(f"cellar serve {store} says: {line}")
        address = line.split()[-1]
        settings = {"hbase.client.registry.impl": "org.apache.hadoop.hbase.client.RpcConnectionRegistry",
                    "hbase.masters": address}
        properties = "".join(f"<property><name>{name}</name><value>{value}</value></property>"
                             for name, value in settings.items())
        (site / "hbase-site.xml").write_text(f"<configuration>{properties}</configuration>\n")
        yield address, site
    finally:
        server.terminate()
        if server.wait(timeout=60) != 0:
            raise Failed(f"cellar serve {store} ended with {server.returncode}")


def java(paths, program, *arguments):
    classpath = os.pathsep.join(map(str, paths))
    return must(["nice", "-n", "10", "java", "-Xmx1g", *OPENS, "-cp", classpath, program, *arguments])


def janusgraph(folder, tally):
    """A graph database keeps a graph in the store, and changes it."""
    work = WORK / "janusgraph"
    jars = jars_of(HERE / "programs/pom.xml", work)
    classes = compile_java(work, jars, [HERE / "programs/ChainOfVertices.java"])
    with served(folder) as (address, _):
        lines = java([classes, *jars], "ChainOfVertices", address, VERTICES)
    expected = [f"vertices {VERTICES}", f"edges {VERTICES - 2}", f"weights {VERTICES * (VERTICES - 1) // 2 - 5}",
                "path [v2, three, v4]"]
    tally.count("vertices that JanusGraph wrote", VERTICES)
    tally.count("answers of JanusGraph", len(expected))
    if lines != expected:
        tally.differ(f"JanusGraph answers {lines}, not {expected}")


def canary(release, folder, tally):
    """HBase's own probe reads a row of every region and column family."""
    for table in ("one", "two"):
        must([CELLAR, "create", folder / "store", table, "a", "b"])
        must([CELLAR, "put", folder / "store", table, "row", "a:x", "1"])
    with served(folder) as (_, site):
        must(release.command("ProbeRegions", site=site))
        tally.count("tables that HBase's CanaryTool probed", 2)


def bulk_load(release, folder, tally):
    """HBase's own tool loads exported files, and cuts those that lie in several regions."""
    source, files = folder / "source", folder / "files"
    lines = [json.dumps({"row": f"row{row:05}", "family": family, "qualifier": "q", "ts": 1000 + row, "value": "v" * (row % 50)})
             for row in range(3000) for family in "ab"]
    (folder / "cells.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "splits").write_text("row01000\nrow02000\n")
    must([CELLAR, "create", source, "loaded", "a", "b"])
    must([CELLAR, "load", source, "loaded", folder / "cells.jsonl", "--quiet"])
    must([CELLAR, "export", source, "loaded", "--to", "hfile", "-o", files, "--quiet"])
    with served(folder) as (address, site):
        name = f"hbase://{address}"
        must([CELLAR, "create", name, "loaded", "a", "b", "--splits", folder / "splits"])
        must(release.command("LoadFiles", files, "loaded", site=site))
        cells = [must([CELLAR, "scan", place, "loaded", "--format", "jsonl", "--quiet"]) for place in (source, name)]
    tally.count("cells that HBase's tool bulk loaded", len(cells[1]))
    if cells[0] != cells[1] or len(cells[0]) != len(lines):
        tally.differ(f"bulk load: {len(lines)} cells became {len(cells[1])}")


def ycsb(client, folder, tally):
    """YCSB with its binding for HBase 2, whose source is `client`: the values that it reads are verified."""
    work = WORK / "ycsb"
    jars = jars_of(HERE / "programs/ycsb.xml", work)
    classes = compile_java(work, jars, [client])
    workload = folder / "workload"
    workload.write_text(YCSB.format(RECORDS))
    must([CELLAR, "create", folder / "store", "usertable", "family"])
    for phase in ("-load", "-t"):
        with served(folder) as (_, site):
            lines = java([site, classes, *jars], "site.ycsb.Client", phase, "-db", "site.ycsb.db.hbase2.HBaseClient2", "-P",
                         workload, "-p", "columnfamily=family", "-threads", "2")
        for line in lines:
            if result := re.fullmatch(r"\[([A-Z-]+)\], Return=(\w+), (\d+)", line):
                operation, status, count = result.groups()
                tally.count(f"{operation} of YCSB: {status}", int(count))
                if status != "OK":
                    tally.differ(f"YCSB: {line}")
    if not tally.counts["VERIFY of YCSB: OK"]:
        tally.differ("YCSB verified nothing")


def programs(release, folder, options):
    tally = Tally()
    try:
        janusgraph(fresh(folder / "janusgraph"), tally)
    except Skipped as skipped:
        skip_loudly("JanusGraph was not tried", skipped)
    canary(release, fresh(folder / "canary"), tally)
    bulk_load(release, fresh(folder / "bulk"), tally)
    if options.ycsb:
        ycsb(pathlib.Path(options.ycsb), fresh(folder / "ycsb"), tally)
    else:
        print("YCSB was left out: Maven does not have its binding for HBase. --ycsb takes the source of it", flush=True)
    return tally
