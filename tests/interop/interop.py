#!/usr/bin/env python3
"""Holds Cellar's HFiles against HBase itself, both ways. Run it as ./dev interop [--short] [--seed N] [--bench].

Exit status 0: everything compared was equal, or, said loudly, nothing could be compared because Maven or its
repository is out of reach. 1: a difference, named above. The last lines count what was compared; the same stands in
build/interop/summary.json.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

import region
from benches import bench
from clusters import client, client_briefly, copied, hdfs, tls
from common import (ROOT, WORK, WRITER, Failed, Release, Skipped, Tally, fresh, is_2_4, must, say, serves, skip_loudly)
from hfiles import bulk_load, cellar_to_hbase, directories, hbase_to_cellar
from programs import programs
from served import serve


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


CLUSTER_STEPS = ("client", "hdfs", "tls", "copies")


def compare(release, options):
    """All comparisons with one release."""
    def asked(key):
        """Whether a long comparison is made: in a short run only if it is asked for."""
        return not options.short or options.only == key or (options.cluster and key in CLUSTER_STEPS)

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
    if serves() and not is_2_4(release) and asked("programs"):
        steps.append(("Programs for HBase on a served store", "programs",
                      lambda: programs(release, fresh(work / "programs"), options)))
    if serves():
        of_client = client if asked("client") else client_briefly
        steps.append(("The client on a cluster and a store", "client",
                      lambda: of_client(release, fresh(work / "client"), options)))
    if serves() and asked("hdfs"):
        steps.append(("The client on a cluster on HDFS", "hdfs", lambda: hdfs(release, fresh(work / "hdfs"), options)))
    if serves() and not is_2_4(release) and asked("tls"):
        steps.append(("TLS, in both directions", "tls", lambda: tls(release, fresh(work / "tls"), options)))
    if serves() and asked("copies"):
        steps.append(("Copies to a cluster and back", "copies", lambda: copied(release, fresh(work / "copies"), options)))
    steps = [each for each in steps if options.only in (None, each[1]) and (not options.cluster or each[1] in CLUSTER_STEPS)]

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


def parse():
    parser = argparse.ArgumentParser(prog="./dev interop", description="Cellar's HFiles against HBase, both ways.")
    parser.add_argument("--short", action="store_true", help="fewer files of each kind; minutes, not quarters of an hour")
    parser.add_argument("--bench", action="store_true", help="only measure: files, operations and clients, Cellar beside HBase")
    parser.add_argument("--seed", type=int, default=None, help="repeats the run that printed it (else a new one)")
    parser.add_argument("--hbase", default="2.6,2.4", help="profiles of pom.xml, with commas (2.6,2.4)")
    parser.add_argument("--only", help="one comparison: cellar_to_hbase, hbase_to_cellar, bulk_load, directories, region, "
                                       "serve, programs, client, hdfs, tls, copies; with --bench: files, operations, clients")
    parser.add_argument("--cluster", action="store_true", help="only the comparisons with a whole cluster: "
                        + ", ".join(CLUSTER_STEPS))
    parser.add_argument("--ycsb", help="for programs: YCSB's hbase2/src/main/java/site/ycsb/db/hbase2/HBaseClient2.java")
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
            skip_loudly(f"HBase {name} was not compared with, and nothing was proven", skipped)
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
