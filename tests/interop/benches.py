"""Cellar measured beside HBase: files, operations on a region, and clients of one cluster."""

import json
import shutil

import clients
import operations
from clusters import whole_cluster
from common import CELLAR, CLUSTER, WRITER, Failed, fresh, is_2_4, must, say, serves

CLIENT_HEAP = "256m"  # of HBase's client where memory is measured: a small service's
GOALS = {"none": 5.0, "snappy": 3.0}  # times HBase's speed, for writing and for scanning


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
