"""Copies of a table to a cluster of HBase and back by `cellar copy`, while regions move and processes die."""

import contextlib
import difflib
import json
import random
import subprocess
import threading
import time

FAMILIES = ["d:max_versions=3,compression=gz,data_block_encoding=fast_diff,bloomfilter=rowcol,blocksize=8192",
            # Kept deleted cells count as versions. With fewer versions than stamps, what is visible would depend on when
            # HBase flushes.
            "e:keep_deleted_cells=true,ttl=864000000,max_versions=40"]
NEWEST_MS = 1_700_000_000_000  # the newest cell; what HBase writes itself must not be younger


def draw_cells(path, seed, cells):
    """Writes random cells as JSON lines: versions, markers, binary names, values up to 20,000 bytes."""
    draw = random.Random(seed)
    rows = max(1, cells // 8)
    with path.open("w") as out:
        for _ in range(cells):
            kind = draw.choices(["Put", "Delete", "DeleteColumn", "DeleteFamily"], [94, 3, 2, 1])[0]
            size = 20_000 if draw.random() < 0.0005 else draw.randrange(120)
            # A flush of HBase drops the markers of a family that follow a marker of its whole empty column.
            column = draw.randrange(1 if kind == "DeleteColumn" else 0, 6)
            cell = {"row": f"s{draw.randrange(rows):07}", "family": draw.choice("de"),
                    "qualifier": "" if kind == "DeleteFamily" else ["", "a", "b", "name", "\\x00\\xFF", "longer name"][column],
                    "ts": NEWEST_MS - draw.randrange(40), "type": kind}
            if kind == "Put":
                cell["value"] = draw.choice("abcdefgh") * size
            out.write(json.dumps(cell) + "\n")
    return rows


class Changes:
    """Changes of the cluster, drawn while a copy runs."""

    def __init__(self, ask, table, rows, seed, tally):
        self.ask, self.table, self.rows, self.tally = ask, table, rows, tally
        self.draw = random.Random(seed)
        self.number = 0

    def next(self):
        """Asks for the next change, and waits for its end. Returns false while there is no table."""
        kinds = ["split", "move", "split", "kill", "move", "merge"]
        kind = kinds[self.number % len(kinds)]
        if kind == "kill":
            self.ask("start")
        answer = self.ask(f"{kind} {self.table} s{self.draw.randrange(self.rows):07}")
        if "TableNotFound" in answer:  # the copy has not made it yet
            return False
        self.number += 1
        if answer != "done":
            print(f"note {kind}: {answer[:200]}", flush=True)
        self.tally.count(f"changes during copies: {kind}" if answer == "done" else "changes during copies that HBase refused")
        return True


def rows_of(state):
    """The rows that the state of a copy tells, or 0 if there is none."""
    try:
        return sum(table["rows"] for table in json.loads(state.read_text())["tables"])
    except OSError:
        return 0


@contextlib.contextmanager
def changing(changes):
    """Changes follow each other in a thread."""
    over = threading.Event()

    def work():
        while not over.is_set():
            changes.next()
            over.wait(0.2)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()


def copy(command, state, log, changes, kills, tally, failed):
    """Runs a copy to its end. It is killed so many times after it got on, and run again."""
    begin = time.monotonic()
    seen = 0
    with changing(changes):
        while True:
            with log.open("a") as out:
                run = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT)
            killed = False
            while run.poll() is None:
                if kills > 0 and not killed and (rows := rows_of(state)) > seen:
                    run.kill()
                    killed, seen = True, rows
                time.sleep(0.002)
            if run.returncode in (0, 1):
                break
            if not killed:
                raise failed(f"{' '.join(map(str, command))} ended with {run.returncode}; see {log}")
            kills -= 1
            tally.count("copies that were killed and run again")
    if run.returncode == 1:
        tally.differ(f"{log.stem}: the copy found differences:\n" + log.read_text())
    if kills > 0:
        tally.differ(f"{log.stem}: the copy ended before it was killed")
    print(f"{log.stem}: {time.monotonic() - begin:.1f} s", flush=True)


def schema(lines):
    """What `describe --format json` tells of families, without sizes."""
    families = json.loads("\n".join(lines))["tables"][0]["families"]
    return [(family["name"], sorted(family["options"].items())) for family in families]


def copies(cellar, must, name, folder, ask, seed, cells, families, tally, failed, staging=None):
    """A store, its copy on the cluster `name`, and the copy of that in a store: all show the same cells.

    With a place for staging, both copies load HFiles, and the table of the cluster begins with five regions.
    """
    loads = [["--batch", "256k"]] * 2
    if staging:
        loads = [["--staging", place, "--batch", "1m"] for place in (staging, folder / "files")]
    regions = ["--regions", "5"] if staging else []
    source, back, table = folder / "copied", folder / "copied_back", "copied"
    rows = draw_cells(folder / "cells.jsonl", seed, cells)
    must([cellar, "create", source, table, *families])
    must([cellar, "load", source, table, folder / "cells.jsonl", "--quiet"])
    changes = Changes(ask, table, rows, seed, tally)
    copy([cellar, "copy", source, name, table, "--raw", "--state", folder / "to_cluster.state", *loads[0], *regions],
         folder / "to_cluster.state", folder / "copy_to_a_cluster.log", changes, 2, tally, failed)
    must([cellar, "flush", name, table])
    copy([cellar, "copy", name, back, table, "--raw", *loads[1]], folder / "copied_back.copy",
         folder / "copy_from_a_cluster.log", changes, 2, tally, failed)
    cells_of = {place: must([cellar, "scan", place, table, "--versions", "all", "--format", "jsonl", "--quiet"])
                for place in (source, name, back)}
    tally.count("cells copied to a cluster and back", len(cells_of[source]))
    if not cells_of[source]:
        tally.differ("the copied table is empty")
    for place in (name, back):
        if cells_of[place] != cells_of[source]:
            changed = [line for line in difflib.unified_diff(cells_of[source], cells_of[place], n=0, lineterm="")
                       if line[0] in "+-"]
            tally.differ(f"copies: {len(cells_of[source])} cells became {len(cells_of[place])} in {place}\n"
                         + "\n".join(changed[:20]))
    schemas = [schema(must([cellar, "describe", store, table, "--format", "json"])) for store in (source, back)]
    tally.count("options of families copied there and back", sum(len(options) for _, options in schemas[0]))
    if schemas[0] != schemas[1]:
        tally.differ(f"schemas of copies:\n  store {schemas[0]}\n  back  {schemas[1]}")
    if staging and (left := list((folder / "files").iterdir())):
        tally.differ(f"copies that loaded files left {left}")
    # Planted: the comparison itself must find one cell that is missing.
    must([cellar, "put", name, table, f"s{rows // 2:07}", "d:planted", "x"])
    found = subprocess.run([cellar, "copy", source, name, table, "--verify", "only"], capture_output=True, text=True)
    tally.count("comparisons that must find a planted cell")
    if found.returncode != 1:
        tally.differ(f"a planted cell was not found: {found.returncode} {found.stdout}{found.stderr}")
