"""The writer program under faults: plans, and what must be found after each of them.

A plan is a list of steps for cellar_outside_writer (program_writer.cc). Every write puts cells of its own, so that
what is found tells which writes are there. What was acknowledged must be there, what failed may be, whole.
"""
import os
import shutil

from injection import Wrong

PATIENCE_MS = 1500  # how long the program writes on before it goes to stronger means
LAST = 900  # the number of the write after the fault


def row(number):
    return f"r{number:05}"


# What the program writes after the fault (Writer::probe).
AFTER = f"put {LAST} fsync 10 t/a/{row(LAST)} u/d/{row(LAST)} t/b/last"


def long_plan():
    """All kinds of changes; memtables of 48 KiB and log segments of 64 KiB fill several times."""
    steps, numbers = ["open", "create v"], iter(range(1, LAST))

    def put(durability, size, *places):
        number = next(numbers)
        steps.append(f"put {number} {durability} {size} " + " ".join(f"{place}/{row(number)}" for place in places) +
                     (" t/b/last" if places[0][0] != "v" else ""))
        return number

    first = put("sync", 3000, "t/a", "u/d")
    for durability in ("async", "fsync", "sync"):
        put(durability, 2500, "t/b", "t/c")
    gone = put("sync", 100, "t/a", "u/d")
    steps.append("flush")
    put("fsync", 4000, "t/a", "t/b", "u/d")
    steps += ["increment sync", f"delete sync {row(gone)}", "snapshot s1"]
    put("async", 9000, "t/c")
    steps += ["feed f", "increment fsync", "clone s1 c"]
    put("sync", 12000, "t/a", "t/b")
    put("sync", 300, "v/e")
    put("async", 9000, "t/a")
    steps += ["flush", "alter", "truncate v"]
    put("fsync", 300, "v/e")
    put("sync", 14000, "t/b", "u/d")
    steps += [f"delete fsync {row(first)}", "compact minor", "checkpoint copy"]
    put("async", 12000, "t/a")
    put("fsync", 10000, "t/c", "t/b")
    steps += ["flush", "drop-snapshot s1", "compact major", "close", "open"]
    put("sync", 800, "t/a", "u/d")
    steps += ["increment sync", "drop v"]
    put("fsync", 20000, "t/b")
    return steps


def scattered_plan():
    return ["open", "put 500 sync 50 t/a/r00500 t/b/last", "increment sync", "close", "open",
            "put 501 fsync 50 t/c/r00501 t/b/last"]


def scattered_preparation():
    """Opened and closed so often that the next open writes the many small log segments to files."""
    steps = []
    for number in range(1, 34):
        steps += ["open", f"put {number} sync 20 t/a/{row(number)} t/b/last", "close"]
    return steps


class Write:
    """One write of a plan, and what became of it: ok, no, or None where that was not told."""

    def __init__(self, number, size, places, at):
        self.number, self.size, self.at = number, size, at
        self.places = [place for place in places if not place.endswith("/last")]
        self.fate = "never"
        self.times = None  # the true time before and after it, in milliseconds, of a write that succeeded
        self.ends = []  # fates of later steps that remove it, with their places in the plan

    def allowed(self, until):
        """(must it be there, may it be there) after the first `until` steps."""
        if self.at >= until or self.fate == "never":
            return False, False
        ends = [fate for at, fate in self.ends if at < until]
        if "ok" in ends:
            return False, False
        return self.fate == "ok" and not [fate for fate in ends if fate != "never"], True

    def stamps(self, steps_ms):
        """Ranges of stamps that the clock may have given it."""
        return [(self.times[0] + step, self.times[1] + step) for step in steps_ms]


class Course:
    """A plan with the replies to its steps; `step_s` is by how much the clock was wrong at times."""

    def __init__(self, steps, replies, step_s=0):
        self.steps, self.writes, self.increments = steps, [], []
        self.fates, self.replies = ["never"] * len(steps), (list(replies) + [""] * len(steps))[:len(steps)]
        self.steps_ms = {0, 1000 * step_s}
        for at, reply in enumerate(replies[:len(steps)]):
            self.fates[at] = reply.split(" ")[0]
        if len(replies) < len(steps):
            self.fates[len(replies)] = None  # under way when the program ended
        for at, step in enumerate(steps):
            self.take(at, step.split(" "))

    def add(self, step, reply):
        """One more step that was carried out; the reply is None if the program ended before it told."""
        self.steps.append(step)
        self.replies.append(reply)
        self.fates.append(reply and reply.split(" ")[0])
        self.take(len(self.steps) - 1, step.split(" "))

    def take(self, at, words):
        fate = self.fates[at]
        if words[0] == "put":
            write = Write(int(words[1]), int(words[3]), words[4:], at)
            write.fate = fate
            times = self.replies[at].split(" ")[1:] if fate == "ok" else []
            write.times = tuple(map(int, times)) if len(times) == 2 else None
            self.writes.append(write)
        elif words[0] == "increment":
            self.increments.append((at, fate))
        elif words[0] in ("delete", "truncate", "drop"):
            for write in self.writes:
                place = write.places[0] if write.places else ""
                if place.endswith("/" + words[-1]) or place.startswith(words[-1] + "/"):
                    write.ends.append((at, fate))

    def acknowledged(self):
        return sum(fate == "ok" for step, fate in zip(self.steps, self.fates)
                   if step.split(" ")[0] in ("put", "delete", "increment"))

    def fate_of(self, step):
        return self.fates[self.steps.index(step)] if step in self.steps else "never"

    def check(self, found, until, tables, where):
        """`found`: numbers and sizes by place, of these tables. Compares with the first `until` steps."""
        found = dict(found)
        for write in self.writes:
            places = [place for place in write.places if place.split("/")[0] in tables]
            there = [place for place in places if place in found]
            must, may = write.allowed(until)
            if (must and len(there) < len(places)) or (there and not may) or 0 < len(there) < len(places):
                raise Wrong(f"{where}: of write {write.number} ({write.fate}, later {write.ends}) {there} is there of "
                            f"{places}")
            for place in there:
                if found.pop(place) != (write.number, write.size, write.number):
                    raise Wrong(f"{where}: {place} does not hold what was written")
        self.check_last(found, until, tables, where)
        self.check_counter(found, until, tables, where)
        if found:
            raise Wrong(f"{where}: nobody wrote {sorted(found)}")

    def check_last(self, found, until, tables, where):
        if "t" not in tables:
            return
        tried = [write for write in self.writes if write.at < until and not write.places[0].startswith("v/")]
        number, _, stamp = found.pop("t/b/last", (None, 0, 0))
        if len(self.steps_ms) > 1:
            return self.check_last_by_stamp(tried, number, stamp, where)
        newest = max((write.number for write in tried if write.fate == "ok"), default=None)
        fine = {write.number for write in tried
                if write.fate in ("no", None) and (newest is None or write.number > newest)} | {newest}
        if number not in fine:
            raise Wrong(f"{where}: the column that each write overwrites is of write {number}, should be of one of "
                        f"{fine}")
        return None

    def check_last_by_stamp(self, tried, number, stamp, where):
        """When the clock steps, the greatest stamp wins, as in HBase: the one shown must be a stamp that its write
        can have, and no other write can have only greater ones."""
        shown = [write for write in tried if write.number == number]
        if len(shown) != 1:
            raise Wrong(f"{where}: the column that each write overwrites is of write {number}, which was not made")
        if shown[0].times and not any(low <= stamp <= high for low, high in shown[0].stamps(self.steps_ms)):
            raise Wrong(f"{where}: write {number} has stamp {stamp}, should be in one of "
                        f"{shown[0].stamps(self.steps_ms)}")
        for write in tried:
            if write.times is None or write is shown[0]:
                continue
            low = write.times[0] + min(self.steps_ms)
            if low > stamp:
                raise Wrong(f"{where}: the column that each write overwrites is of write {number} with stamp {stamp}, "
                            f"but write {write.number} has one of {write.stamps(self.steps_ms)}")

    def check_counter(self, found, until, tables, where):
        if "t" not in tables:
            return
        fates = [fate for at, fate in self.increments if at < until]
        value = found.pop("t/c/counter", (0, 0, 0))[0]
        if not fates.count("ok") <= value <= fates.count("ok") + fates.count("no") + fates.count(None):
            raise Wrong(f"{where}: the counter is {value} after increments that ended {fates}")


def parse_dump(lines):
    """Tables and snapshots by name; number, size and stamp of cells by place."""
    tables, snapshots, cells = set(), set(), {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "table":
            tables.add(words[1])
        elif words[0] == "snapshot":
            snapshots.add(words[1])
        elif words[0] == "cell":
            cells[words[1]] = (int(words[2]), int(words[3]), int(words[4]))
    return tables, snapshots, cells


def cells_of(cells, prefix, tables, renamed=None):
    found = {}
    for place, value in cells.items():
        if not place.startswith(prefix) or (not prefix and ":" in place):
            continue
        table, _, rest = place[len(prefix):].partition("/")
        if table in tables:
            found[f"{renamed or table}/{rest}"] = value
    return found


def check_dump(course, lines, where):
    """Everything in a store: tables, the clone, the snapshot."""
    tables, snapshots, cells = parse_dump(lines)
    end = len(course.steps)
    own = {"t", "u"} | ({"v"} if "v" in tables else set())
    if not {"t", "u"} <= tables and "ok" in [course.fate_of("open")]:
        raise Wrong(f"{where}: tables are missing: there are {tables}")
    course.check(cells_of(cells, "", own), end, own, where)
    check_named(course, "create v", "drop v", "v" in tables, f"{where}: table v")
    check_named(course, "snapshot s1", "drop-snapshot s1", "s1" in snapshots, f"{where}: snapshot s1")
    check_named(course, "clone s1 c", None, "c" in tables, f"{where}: table c")
    if "snapshot s1" not in course.steps:
        return
    taken = course.steps.index("snapshot s1")
    if "s1" in snapshots:
        course.check(cells_of(cells, "s1:", {"t", "u"}), taken, {"t", "u"}, f"{where}: snapshot s1")
    if "c" in tables:
        course.check(cells_of(cells, "", {"c"}, "t"), taken, {"t"}, f"{where}: the clone of it")


def check_named(course, makes, ends, there, what):
    made, gone = course.fate_of(makes), course.fate_of(ends) if ends else "never"
    if there and (made == "never" or gone == "ok"):
        raise Wrong(f"{what} is there, but its creation is \"{made}\" and its end \"{gone}\"")
    if not there and made == "ok" and gone == "never":
        raise Wrong(f"{what} was made and is not there")


class WriterWork:
    """A plan for the writer program; `preparation`, if any, is carried out before, without faults."""

    def __init__(self, name, plan, preparation=()):
        self.name, self.plan, self.preparation = name, plan, list(preparation)
        self.template, self.prepared = None, []

    def prepare(self, programs, directory):
        if not self.preparation:
            return
        os.makedirs(directory, exist_ok=True)
        self.template = os.path.join(directory, "store")
        ended = programs.run([programs.writer, self.template], directory, text="\n".join(self.preparation),
                             replies=True)
        if len(ended.replies) != len(self.preparation) or not all(line.startswith("ok") for line in ended.replies):
            raise Wrong(f"preparing {self.name}: {ended.replies[-1:]} {ended.error}")
        self.prepared = ended.replies

    def all_steps(self):
        return self.preparation + self.plan

    def begin(self, programs, directory, fault):
        store = os.path.join(directory, "store")
        if self.template:
            shutil.copytree(self.template, store)
        after = ["over", f"recover {LAST} {PATIENCE_MS}", "health", "dump", "close"]
        return store, programs.run([programs.writer, store], directory, fault, "\n".join(self.plan + after), True)

    def count_calls(self, programs, directory, fault):
        return self.begin(programs, directory, fault)[1].calls

    def run(self, programs, tally, directory, fault):
        store, ended = self.begin(programs, directory, fault)
        if ended.struck == 0:
            if ended.status != 0:
                raise Wrong(f"without a fault it ends with {ended.status}: {ended.error[-1000:]}")
            return False
        killed = fault.kills()
        if not killed and ended.status != 0:
            raise Wrong(f"it ends with {ended.status}: {ended.error[-1000:]}")
        replies = self.prepared + ended.replies
        course = Course(self.all_steps(), replies, fault.step_s())
        after = replies[len(self.all_steps()):]
        if not killed:
            self.check_end(course, ended, after, fault, tally, directory)
        elif len(after) > 1:
            raise Wrong("it was killed after the fault was over")
        elif after:  # struck in another thread, just before the fault was over
            course.add(AFTER, None)
        tally.add("acknowledged writes that outlived the faults", course.acknowledged())
        self.check_again(programs, store, directory, course)
        return True

    def check_end(self, course, ended, after, fault, tally, directory):
        """What the program told after the fault was over."""
        if len(after) < 4:
            raise Wrong(f"it ended too early: {after}")
        failed = [f"{step}: {reply}" for step, reply in zip(self.plan, ended.replies) if not reply.startswith("ok")]
        recovered = after[1]
        if not recovered.startswith("ok"):
            raise Wrong(f"the store does not recover: {recovered}; before that {failed[:3]}")
        means = recovered.split(" ")[1]
        if fault.transparent() and (failed or means != "itself"):
            raise Wrong(f"a fault that must not be noticed failed {failed[:3]}, recovered by {means}")
        if failed:
            tally.add({"itself": "faults over by themselves", "resume": "faults over after Engine::resume()",
                       "reopen": "faults over after closing and opening", "open": "faults that failed an open()"}[means])
        else:
            tally.add("faults that failed no step")
        number = after[2].split(" ")[1] if after[2].startswith("ok") else "0"
        told = failed or number != "0" or means != "itself"
        if fault.call in ("fsync", "fdatasync") and not fault.transparent() and not told:
            # On a log segment made ahead nothing depends before it is taken. The name of a store that was there
            # already is only synced for the sake of another process that may have died while it made the store.
            name = os.path.basename(ended.path)
            if name != "wal" and not (name == os.path.basename(directory) and (self.template or fault.at > 1)):
                raise Wrong(f"a sync of {ended.path} failed, and nobody was told")
            tally.add("failed syncs on which nothing depended")
        course.add(AFTER, "ok")
        dumped = [line for line in after[3:] if line.split(" ")[0] in ("cell", "table", "snapshot")]
        if after[3 + len(dumped)] != "ok":
            raise Wrong(f"reading after the fault: {after[3 + len(dumped)]}")
        check_dump(course, dumped, "in the same process")

    def check_again(self, programs, store, directory, course):
        """Opens the store in a new process, compares, writes, and opens it once more."""
        verified = programs.run([programs.tool, "verify", "--level", "cells", "--quiet", store], directory)
        if os.path.exists(os.path.join(store, "CURRENT")) and verified.status != 0:
            raise Wrong(f"verify ends with {verified.status}: {verified.out}{verified.error}")
        probe = f"put {LAST + 1} sync 10 t/a/{row(LAST + 1)} t/b/last"
        ended = programs.run([programs.writer, store], directory, text="\n".join(
            ["open", "dump", probe, "flush", "close", "open", "dump", "close"]), replies=True)
        bad = [line for line in ended.replies if line.startswith("no")]
        if bad or ended.status != 0:
            raise Wrong(f"the store does not open again: {bad} {ended.error[-500:]}")
        ends = [at for at, line in enumerate(ended.replies) if line.startswith("ok")]
        check_dump(course, ended.replies[ends[0] + 1:ends[1]], "in a new process")
        course.add(probe, ended.replies[ends[1] + 1])
        check_dump(course, ended.replies[ends[5] + 1:ends[6]], "opened once more")
        self.check_copy(programs, store, directory, course)

    def check_copy(self, programs, store, directory, course):
        if course.fate_of("checkpoint copy") != "ok":
            return
        ended = programs.run([programs.writer, store + ".copy"], directory, text="open\ndump\nclose", replies=True)
        if not ended.replies or ended.replies[0] != "ok" or ended.replies[-1] != "ok":
            raise Wrong(f"the checkpoint does not open: {ended.replies[:1]} {ended.replies[-1:]}")
        tables, _, cells = parse_dump(ended.replies)
        own = {"t", "u"} | ({"v"} & tables)
        course.check(cells_of(cells, "", own), course.steps.index("checkpoint copy"), own, "the checkpoint")


def works():
    return {"writer": WriterWork("writer", long_plan()),
            "scattered": WriterWork("scattered", scattered_plan(), scattered_preparation())}
