"""The shipped program under faults: one command at a time, on a copy of a prepared store.

A command that ends with 0 has done all of its work; one that fails has done all of it or nothing (load: some of its
batches). Done again without a fault it succeeds, or says that it was done already.
"""
import json
import os
import shutil
import threading

from injection import Wrong

BATCH = 40
ROWS = 120


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]


class State:
    """What a store holds, as the program tells it: tables with their options and cells, snapshots, feeds."""

    def __init__(self, programs, directory, store):
        self.programs, self.directory, self.store = programs, directory, store
        self.tables, self.snapshots, self.feeds, self.schema = {}, [], [], {}
        if not os.path.exists(os.path.join(store, "CURRENT")):
            return
        described = json.loads(self.ask("describe", store, "--format", "json"))
        for table in described["tables"]:
            families = [{"name": each["name"], "options": each["options"]} for each in table["families"]]
            self.schema[table["name"]] = {"options": table["options"], "families": families}
            self.tables[table["name"]] = self.cells(store, table["name"])
        for each in json.loads(self.ask("snapshot", "list", store, "--format", "json"))["snapshots"]:
            if each["error"]:
                raise Wrong(f"snapshot {each['snapshot']}: {each['error']}")
            self.snapshots.append(each["snapshot"])
            inside = os.path.join(store, "snapshots", each["snapshot"])
            for table in each["tables"]:
                self.tables[f"{each['snapshot']}:{table}"] = self.cells(inside, table)
        self.feeds = sorted(each["feed"] for each in
                            json.loads(self.ask("feed", "list", store, "--format", "json"))["feeds"])

    def ask(self, *command):
        ended = self.programs.run([self.programs.tool, *command], self.directory)
        if ended.status != 0:
            raise Wrong(f"cellar {' '.join(command)} ends with {ended.status}: {ended.error[-800:]}")
        return ended.out

    def cells(self, store, table):
        found = {}
        for cell in lines_of(self.ask("scan", store, table, "--versions", "all", "--format", "jsonl", "--quiet")):
            stamp = cell["ts"] if cell["ts"] < 1_000_000 else "now"  # those of the command itself differ by run
            found[f"{cell['row']}/{cell['family']}:{cell['qualifier']}@{stamp}"] = cell["value"]
        return found

    def key(self):
        return json.dumps([self.tables, self.snapshots, self.feeds, self.schema], sort_keys=True)


def is_between(before, after, found):
    """Whether some of the batches of a load are there, the first ones."""
    parts = [state.tables.get("t", {}) for state in (before, after, found)]
    added = [key for key in parts[1] if key not in parts[0]]
    there = [key for key in added if key in parts[2]]
    whole = {key: value for key, value in parts[2].items() if key not in there}
    return whole == parts[0] and there == added[:len(there)] and len(there) % BATCH == 0


class Command:
    """A command of the program: its arguments, S standing for the store and D for the directory around it."""

    def __init__(self, name, *arguments, made=None, again="", fresh=False):
        self.name, self.arguments = name, arguments
        self.made = made  # another store that it makes, with what the store holds
        self.again = again  # what a second run says when the first one did its work
        self.fresh = fresh  # there is no store before

    def line(self, programs, directory, inputs):
        places = {"S": os.path.join(directory, "store"), "D": directory, "I": inputs}
        return [programs.tool] + [places.get(word) or (places[word[0]] + word[1:] if word[:2] in ("D/", "I/") else word)
                                  for word in self.arguments]


COMMANDS = [
    Command("create", "create", "S", "n", "a:max_versions=3", "b", again="exists"),
    Command("create-store", "create", "S", "n", "a", fresh=True, again="exists"),
    Command("put", "put", "S", "t", "r0003", "a:q", "new", "b:q", "newer", "--ts", "777"),
    Command("incr", "incr", "S", "t", "counter", "b:n", "5"),
    Command("delete", "delete", "S", "t", "r0004", "a:q", "--ts", "100"),
    Command("load", "load", "S", "t", "I/more.jsonl", "--batch", str(BATCH)),
    Command("alter", "alter", "S", "t", "a:max_versions=7", "z:ttl_s=7d", "--remove", "gone", again="no family"),
    Command("flush", "flush", "S"),
    Command("compact", "compact", "S", "t", "--major"),
    Command("snapshot-create", "snapshot", "create", "S", "s2", again="already"),
    Command("snapshot-restore", "snapshot", "restore", "S", "s0"),
    Command("snapshot-clone", "snapshot", "clone", "S", "s0", "t", "copy", again="exists"),
    Command("snapshot-export", "snapshot", "export", "S", "s0", "D/exported", made="exported"),
    Command("snapshot-drop", "snapshot", "drop", "S", "s0", again="no snapshot"),
    Command("checkpoint", "checkpoint", "S", "D/copied", made="copied"),
    Command("feed-create", "feed", "create", "S", "f2", again="exists"),
    Command("truncate", "truncate", "S", "u"),
    Command("drop", "drop", "S", "u", again="no table"),
    Command("ingest", "bulkload", "ingest", "I/hfiles", "S", "u"),
    Command("scan", "scan", "S", "t", "--versions", "all", "--format", "jsonl", "--quiet"),
    Command("export", "export", "S", "t", "--to", "hfile", "-o", "D/out"),
]
READING = ("scan", "export")


class Inputs:
    """The store that every command begins with, and files that some read. Made once."""

    def __init__(self):
        self.directory, self.lock = None, threading.Lock()

    def make(self, programs, directory):
        with self.lock:
            if self.directory is None:
                self.fill(programs, directory)

    def fill(self, programs, directory):
        os.makedirs(directory)
        store = os.path.join(directory, "store")

        def do(*command):
            ended = programs.run([programs.tool, *command], directory)
            if ended.status != 0:
                raise Wrong(f"preparing: cellar {' '.join(command)}: {ended.error}")

        for name, first, stamp in (("some", 0, 100), ("rest", 60, 200), ("more", 200, 300)):
            with open(os.path.join(directory, name + ".jsonl"), "w", encoding="utf-8") as file:
                for number in range(first, first + ROWS):
                    file.write(json.dumps({"row": f"r{number:04}", "family": "a", "qualifier": "q", "ts": stamp,
                                           "type": "Put", "value": f"{name} {number} " + "x" * 40}) + "\n")
        do("create", store, "t", "a:max_versions=3", "b", "gone")
        do("create", store, "u", "a")
        do("load", store, "t", os.path.join(directory, "some.jsonl"))
        do("flush", store)
        do("load", store, "u", os.path.join(directory, "rest.jsonl"))
        do("create", store + "-2", "u", "a")
        do("load", store + "-2", "u", os.path.join(directory, "more.jsonl"))
        do("export", store + "-2", "u", "--to", "hfile", "-o", os.path.join(directory, "hfiles"))
        do("snapshot", "create", store, "s0")
        do("feed", "create", store, "f1")
        do("load", store, "t", os.path.join(directory, "rest.jsonl"))
        do("put", store, "t", "counter", "b:n", "7", "--as", "long", "--ts", "50")
        do("put", store, "t", "r0001", "gone:q", "x", "--ts", "60")
        self.directory = directory


INPUTS = Inputs()


class ToolWork:
    """One command; knows what a store holds before and after it."""

    def __init__(self, command):
        self.command = command
        self.before = self.after = None
        self.output = ""

    def prepare(self, programs, directory):
        INPUTS.make(programs, os.path.join(os.path.dirname(directory), "prepared-inputs"))
        os.makedirs(directory)
        store = self.lay_out(directory)
        self.before = State(programs, directory, store)
        ended = self.perform(programs, directory)
        if ended.status != 0:
            raise Wrong(f"{self.command.name} fails without a fault: {ended.error}")
        self.output = ended.out
        self.after = State(programs, directory, store)
        changes = self.command.name not in (*READING, "flush", "compact", "checkpoint", "snapshot-export")
        if (self.before.key() != self.after.key()) != changes:
            raise Wrong(f"{self.command.name} does not change what it should")
        self.check_words(programs, directory)

    # What a second run says is compared after a few of the faults only: here it is checked in every run.
    def check_words(self, programs, directory):
        if self.command.made or self.command.name in READING:
            return  # in do_again(), what they made is removed first
        again = self.perform(programs, directory)
        if again.status != 0 and (not self.command.again or self.command.again not in again.out + again.error):
            raise Wrong(f"{self.command.name} without a fault, done again, ends with {again.status} and does not say "
                        f"\"{self.command.again}\": {again.error}")

    def lay_out(self, directory):
        store = os.path.join(directory, "store")
        if not self.command.fresh:
            shutil.copytree(os.path.join(INPUTS.directory, "store"), store)
        return store

    def perform(self, programs, directory, fault=None):
        return programs.run(self.command.line(programs, directory, INPUTS.directory), directory, fault)

    def count_calls(self, programs, directory, fault):
        self.lay_out(directory)
        return self.perform(programs, directory, fault).calls

    def run(self, programs, tally, directory, fault):
        store = self.lay_out(directory)
        ended = self.perform(programs, directory, fault)
        if ended.struck == 0:
            return False
        if fault.transparent() and ended.status != 0:
            raise Wrong(f"a fault that must not be noticed ends it with {ended.status}: {ended.error[-500:]}")
        if ended.status == 0 and not fault.kills():
            tally.add("commands that did their work in spite of a fault")
        if self.command.name in READING:
            return self.check_reading(directory, ended)
        found = State(programs, directory, store)
        self.check_state(found, ended.status == 0)
        self.check_made(programs, directory, ended.status == 0)
        self.do_again(programs, directory, store, found, ended)
        return True

    def check_reading(self, directory, ended):
        if ended.status == 0 and self.command.name == "scan" and ended.out != self.output:
            raise Wrong("it ends with 0, and its answer is another one")
        if ended.status == 0 and self.command.name == "export" and not os.path.isdir(os.path.join(directory, "out")):
            raise Wrong("it ends with 0, and wrote nothing")
        return True

    def check_state(self, found, done):
        key = found.key()
        if key == self.after.key() or (not done and key == self.before.key()):
            return
        if not done and self.command.name == "load" and is_between(self.before, self.after, found):
            return
        raise Wrong(f"the store holds neither what it held before nor what it should hold (ended "
                    f"{'with 0' if done else 'with an error'}): {difference(self.before, self.after, found)}")

    # A store that the command makes is whole, or none.
    def check_made(self, programs, directory, done):
        if self.command.made is None:
            return
        made = os.path.join(directory, self.command.made)
        if not os.path.exists(os.path.join(made, "CURRENT")):
            if done:
                raise Wrong("it ends with 0, and made no store")
            return
        expected = self.before.tables
        if self.command.name == "snapshot-export":
            expected = {name[3:]: cells for name, cells in expected.items() if name.startswith("s0:")}
        else:
            expected = {name: cells for name, cells in expected.items() if ":" not in name}
        if State(programs, directory, made).tables != expected:
            raise Wrong("the store that it made does not hold what it should")

    def do_again(self, programs, directory, store, found, ended):
        """Without a fault: the work is done in the end, and the store sound."""
        if found.key() == self.before.key() != self.after.key() or ended.status != 0:
            made = self.command.made and os.path.join(directory, self.command.made)
            if made and os.path.exists(made):
                shutil.rmtree(made)
            if not (self.command.name == "incr" and found.key() == self.after.key()):
                again = self.perform(programs, directory)
                already = found.key() == self.after.key() and self.command.again and \
                    self.command.again in again.out + again.error
                if again.status != 0 and not already:
                    raise Wrong(f"done again it ends with {again.status}: {again.error[-500:]}")
            self.check_state(State(programs, directory, store), True)
        verified = programs.run([programs.tool, "verify", "--level", "cells", "--quiet", store], directory)
        if verified.status != 0:
            raise Wrong(f"verify ends with {verified.status}: {verified.out[-800:]}{verified.error[-300:]}")


def difference(before, after, found):
    """In few words."""
    parts = []
    for name in sorted({*before.tables, *after.tables, *found.tables}):
        cells = found.tables.get(name)
        for other in (before, after):
            if cells == other.tables.get(name):
                break
        else:
            parts.append(f"table {name} with {len(cells) if cells is not None else 'no'} cells")
    for what in ("snapshots", "feeds", "schema"):
        if getattr(found, what) not in (getattr(before, what), getattr(after, what)):
            parts.append(f"{what} {getattr(found, what)}")
    return "; ".join(parts) or "parts of both"


def works():
    return {command.name: ToolWork(command) for command in COMMANDS}
