"""Random operations that a region of HBase and a table of Cellar both answer, and the comparison of their answers.

An operation is a line, its fields parted by tabs; each is answered by one line. Bytes stand as they are: rows, families
and qualifiers have no ':'. A time "-" is no timestamp, a range "-" all times. A value "#5" is the counter 5 in 8 bytes.

    table NAME FAMILY…           begins anew; FAMILY: "a versions=3 min=1 ttl=10 kept=TRUE order=sequence"
    clock MS                     the time is MS
    put ROW TTL F:Q:TIME:VALUE…
    delete ROW TIME [version:F:Q:TIME | latest:F:Q | column:F:Q:TIME | family:F:TIME | familyversion:F:TIME]…
    increment ROW TTL RANGE TIME F:Q:AMOUNT…
    append ROW TTL RANGE TIME F:Q:VALUE…
    mutate ROW MUTATION | MUTATION | …    all of them or none
    check ROW RANGE CONDITION MUTATION    CONDITION: F:Q:OPERATOR:VALUE or filter=TEXT
    flush, major                          all families
    compact F FROM COUNT                  COUNT files of a family, from one on
    get ROW OPTION…, exists ROW OPTION…, scan OPTION…, at OPTION…     "at" is the first row from a start on

Options of reads: family=F column=F:Q versions=N range=FROM-UNTIL filter=TEXT fuzzy=KEY,… ranges=START:i:STOP:e,…
start=ROW:i stop=ROW:e reversed raw limit=N batch=N familylimit=N familyoffset=N (of cells).
"""

import random

ROWS = ["a", "ab", "b", "ba", "c", "d"]
QUALIFIERS = ["", "p", "pq", "q", "r"]
VALUES = ["", "1", "2", "3", "12", "x", "xy", "X", "#1", "#2"]
OPERATORS = ["<", "<=", "=", "!=", ">=", ">"]
COMPARES = ["LESS", "LESS_OR_EQUAL", "EQUAL", "NOT_EQUAL", "GREATER_OR_EQUAL", "GREATER"]
# What may happen to a table. Rewrites of HBase drop the markers that come after the last version they keep of a column,
# Cellar keeps them (hbase-differences.md). So versions over a limit, markers and rewrites never meet in such a way that
# it shows: tables stay in memory, or hold fewer versions than the limit, or know neither markers of single versions
# nor reads that see more than the newest.
MEMORY, ROOMY, NEWEST = "memory", "roomy", "newest"
ENDING = ["versions=3 min=1 ttl=8", "versions=3 min=2 ttl=8 kept=TTL", "versions=3 min=1 ttl=8 kept=TRUE"]
SEQUENCE = ["versions=3 order=sequence", "order=sequence", "versions=2 ttl=10 order=sequence"]
KINDS = {
    MEMORY: ["", "versions=3", "versions=2", "versions=3 kept=TRUE", "versions=2 ttl=10", "ttl=6", *ENDING, *SEQUENCE],
    ROOMY: ["versions=1000", "versions=1000 kept=TRUE", "versions=1000 ttl=8", "versions=1000 ttl=8 kept=TRUE",
            "versions=1000 order=sequence", "versions=1000 ttl=10 order=sequence"],
    NEWEST: ["", "versions=3", "versions=2 ttl=10", "ttl=6", "kept=TRUE"],
}
HINTING = ("ColumnPrefixFilter", "MultipleColumnPrefixFilter", "ColumnRangeFilter")
REMEMBERING = ("DependentColumnFilter", "FirstKeyOnlyFilter", "ColumnPaginationFilter")
DECIDING = ("SingleColumnValue",)  # these judge a whole row by one of its columns
READS = ("get", "exists", "scan", "at")
STEP_MS = 1000  # timestamps lie so far apart, so that they collide
OPERATIONS_OF_TABLE = 400


class Table:
    """Draws operations on one table."""

    def __init__(self, draw, name, now):
        self.draw = draw
        self.now = now
        self.name = name
        self.mode = draw.choice([MEMORY, ROOMY, ROOMY, NEWEST])
        kinds = draw.sample(KINDS[self.mode], draw.choice([1, 2, 3]))
        self.families = {chr(ord("f") + i): kind for i, kind in enumerate(kinds)}
        self.rows = ROWS[:draw.choice([2, 4, len(ROWS)])]
        # In HBase a marker of a family does not hide the empty column if the order is by sequence.
        self.by_sequence = any("order=" in kind for kind in kinds)
        self.qualifiers = draw.sample(QUALIFIERS[1:] if self.by_sequence else QUALIFIERS, draw.choice([1, 2, 3]))
        # There, of puts with one timestamp and a marker between them, HBase counts each as a version.
        self.distinct_times = self.by_sequence and self.mode == MEMORY
        self.times_given = 0
        self.deletes = draw.choice([0.1, 0.3])  # of all writes
        self.reads = draw.choice([0.2, 0.4])

    # ---- Pieces ----

    def once_in(self, n):
        return self.draw.randrange(n) == 0

    def family(self):
        return self.draw.choice(list(self.families))

    def column(self):
        return f"{self.family()}:{self.draw.choice(self.qualifiers)}"

    def columns(self, least=1):
        """Different ones: a column twice in an Increment or Append is answered otherwise (hbase-differences.md)."""
        return list(dict.fromkeys(self.column() for _ in range(self.draw.choice([least, 1, 1, 2, 3]))))

    def row(self):
        return self.draw.choice(self.rows)

    def time(self):
        steps = self.draw.choice([-9, -6, -4, -3, -2, -1, -1, 0, 0, 1, 2])
        return (self.now // STEP_MS + steps) * STEP_MS

    def maybe_time(self):
        return "-" if self.once_in(2) else self.time()

    def put_time(self):
        time = self.maybe_time()
        if time == "-" or not self.distinct_times:
            return time
        self.times_given += 1
        return time + 2 * self.times_given % STEP_MS + 1  # odd; clocks are even

    def range(self):
        begin = self.draw.choice([0, self.time(), self.time() - 3 * STEP_MS])
        return f"{begin}-{begin + self.draw.randrange(1, 6) * STEP_MS if begin else self.time()}"

    def ttl(self):
        return self.draw.choice([1, 500, 1000, 2500, 7000]) if self.mode != NEWEST and self.once_in(6) else "-"

    def value(self):
        return self.draw.choice(VALUES)

    # ---- Writes ----

    def put(self, row):
        # Where the order is by sequence, HBase counts the cells of a column in one write as one version, Cellar each.
        again = self.once_in(3) and not self.by_sequence
        cells = [f"{column}:{self.put_time()}:{self.value()}"
                 for column in self.columns() + (self.columns() if again else [])]
        return ["put", row, self.ttl(), *cells]

    def marker(self):
        kinds = ["column", "family"] if self.mode == NEWEST else ["version", "latest"] * 2 + ["column", "family",
                                                                                               "familyversion"]
        kind = self.draw.choice(kinds)
        if kind == "family":
            return f"family:{self.family()}:{self.maybe_time()}"
        if kind == "familyversion":
            return f"familyversion:{self.family()}:{self.time()}"
        if kind == "latest":
            return f"latest:{self.column()}"
        return f"{kind}:{self.column()}:{self.time() if kind == 'version' else self.maybe_time()}"

    def delete(self, row):
        if self.once_in(12):
            return ["delete", row, self.maybe_time()]
        markers = [self.marker() for _ in range(self.draw.choice([1, 1, 1, 2, 3]))]
        # The newest version once for a column: the second one is read as named columns are, see read_options.
        once = [m for i, m in enumerate(markers) if not m.startswith("latest") or m not in markers[:i]]
        return ["delete", row, "-", *once]

    def increment(self, row):
        return ["increment", row, self.ttl(), self.maybe_range(), self.maybe_stamp(),
                *(f"{column}:{self.draw.choice([0, 1, 5, -3])}" for column in self.columns())]

    def append(self, row):
        return ["append", row, self.ttl(), self.maybe_range(), self.maybe_stamp(),
                *(f"{column}:{self.draw.choice(['', 'y', '#1'])}" for column in self.columns())]

    def maybe_range(self):
        return self.range() if self.mode != NEWEST and self.once_in(6) else "-"

    def maybe_stamp(self):
        return self.time() if self.once_in(8) and not self.distinct_times else "-"

    def mutation(self, row):
        makers = [self.put, self.put, self.delete, self.increment, self.append]
        return self.draw.choice(makers)(row)

    def mutate(self, row):
        fields = ["mutate", row]
        # … and its markers hide what is put beside them.
        for _ in range(1 if self.by_sequence else self.draw.choice([1, 2, 2, 3])):
            fields += [*self.mutation(row), "|"]
        return fields

    def check(self, row):
        if self.once_in(4) and "" not in self.qualifiers and not self.by_sequence:
            condition = f"filter={self.filter()}"
        else:
            condition = f"{self.column()}:{self.draw.choice(COMPARES)}:{self.value()}"
        change = self.mutate(row) if self.once_in(4) else self.mutation(row)
        return ["check", row, self.maybe_range(), condition, *change]

    def write(self):
        row = self.row()
        if self.draw.random() < self.deletes:
            return self.delete(row)
        makers = [self.put] * 6 + [self.increment, self.append, self.mutate, self.check, self.check]
        return self.draw.choice(makers)(row)

    # ---- Filters, as text ----

    def comparator(self, texts):
        kind = self.draw.choice(["binary", "binary", "binary", "binaryprefix", "substring", "regexstring"])
        return kind, f"'{kind}:{self.draw.choice(texts)}'"

    def compared(self, texts):
        kind, text = self.comparator(texts)
        # HBase knows the others for these two only where they make no sense.
        operator = self.draw.choice(["=", "!="] if kind in ("substring", "regexstring") else OPERATORS)
        return f"{operator}, {text}"

    def simple_filter(self, reverse=False, named=False):
        draw = self.draw
        texts = [value for value in VALUES if value and not value.startswith("#")]
        family, qualifier = self.column().split(":")
        flag = lambda: draw.choice(["true", "false"])
        # No ColumnCountGetFilter: scans of HBase do not always end where it is exceeded.
        pagination = lambda: f"ColumnPaginationFilter({draw.choice([1, 2])}, {draw.choice([0, 1, 2])})"
        return draw.choice([
            # Where the order is by sequence, HBase counts the versions of named columns.
            *([] if named and self.by_sequence else [pagination]),
            lambda: "KeyOnlyFilter()",
            lambda: f"KeyOnlyFilter({flag()})",
            lambda: "FirstKeyOnlyFilter()",
            # Of named columns in a file HBase's fails.
            *([] if named else [lambda: f"PrefixFilter('{draw.choice(['a', 'b', 'ba'])}')"]),
            lambda: f"ColumnPrefixFilter('{draw.choice(['p', 'q'])}')",
            lambda: "MultipleColumnPrefixFilter('pq', 'r')",
            lambda: f"PageFilter({draw.choice([1, 2, 3])})",
            # WHILE and SKIP do not tell it of the direction in HBase.
            *([] if reverse else [lambda: f"InclusiveStopFilter('{self.row()}')"]),
            lambda: f"TimestampsFilter({self.time()}, {self.time()}, {self.now})",
            lambda: f"RowFilter({self.compared(self.rows)})",
            lambda: f"FamilyFilter({self.compared(list(self.families))})",
            lambda: f"QualifierFilter({self.compared(['p', 'pq', 'q'])})",
            lambda: f"ValueFilter({self.compared(texts)})",
            lambda: f"ColumnRangeFilter('{draw.choice(['', 'p', 'pq'])}', {flag()}, "
                    f"'{draw.choice(['', 'q', 'r'])}', {flag()})",
            lambda: f"SingleColumnValueFilter('{family}', '{qualifier}', {self.compared(texts)}, "
                    f"{flag()}, {flag()})",
            lambda: f"SingleColumnValueExcludeFilter('{family}', '{qualifier}', {self.compared(texts)}, "
                    f"{flag()}, {flag()})",
            lambda: f"DependentColumnFilter('{family}', '{qualifier}', {flag()}, {self.compared(texts)})",
            lambda: f"DependentColumnFilter('{family}', '{qualifier}')",
            lambda: f"ColumnValueFilter('{family}', '{qualifier}', {self.compared(texts)})",
        ])()

    def filter(self, reverse=False, named=False):
        """Without lists in lists of lower precedence, which HBase's parser takes for unbalanced parentheses, and
        without OR in reversed scans, where HBase judges the hints of columns by the order of rows."""
        if self.once_in(3):
            joint = " AND " if reverse else self.draw.choice([" AND ", " OR "])
            members = [self.simple_filter(reverse, named) for _ in range(self.draw.choice([2, 2, 3]))]
            # HBase follows a hint past cells that another filter excluded and one that remembers cells must see.
            # In reversed scans it follows no hint within a row, so that a filter of DECIDING sees its column there.
            seeing = REMEMBERING + (DECIDING if reverse else ())
            if joint == " AND " and any(each.startswith(seeing) for each in members):
                members = [each for each in members if not each.startswith(HINTING)]
            return joint.join(members)
        prefix = self.draw.choice(["", "", "", "", "SKIP ", "WHILE "])
        each = self.simple_filter(reverse, named)
        # HBase 2.4 may find nothing with this one; 2.6 answers as it should.
        return each if prefix == "WHILE " and each.startswith("PrefixFilter") else prefix + each

    # ---- Reads ----

    def read_options(self, raw=False, reverse=False):
        options = []
        named = self.columns() if self.once_in(3) and not raw else []
        # Of named columns HBase returns one expired version that is none of MIN_VERSIONS (hbase-differences.md).
        surplus = any("min=" in self.families[column[0]] for column in named)
        if named:
            options += [f"column={column}" for column in named]
        elif self.once_in(4):
            options.append(f"family={self.family()}")
        if self.once_in(4):
            options.append(f"familylimit={self.draw.choice([1, 2, 3])}")
        if self.once_in(8):
            options.append(f"familyoffset={self.draw.choice([1, 2])}")
        if raw:
            return options + self.raw_options(reverse)
        if not self.once_in(3) and not surplus:
            options.append(f"versions={self.draw.choice([1, 2, 3, 10])}")
        if self.once_in(4) and self.mode != NEWEST:
            options.append(f"range={self.range()}")
        # Filters lead HBase past the markers of families, which lie among the versions of the empty column; and where
        # the order is by sequence it counts versions before it asks the filter.
        if self.once_in(3) and not surplus and "" not in self.qualifiers:
            # HBase does not end a reversed scan with a FuzzyRowFilter of keys of different lengths.
            options.append(self.row_set() if self.once_in(8) and not reverse else f"filter={self.filter(reverse, named)}")
            if self.by_sequence:
                options = [each for each in options if not each.startswith("versions=")] + ["versions=1000"]
        return options

    def raw_options(self, reverse):
        """HBase does not end some raw scans that pass over the rest of the empty column, and leaves out family markers
        there. They stand there if no put does, too: without a filter they do not count as versions, with one they do."""
        if "" in self.qualifiers:
            return ["versions=1000"]
        versions = f"versions={self.draw.choice([1, 2, 3, 1000])}"
        if self.once_in(2):
            return [versions]
        text = self.filter(reverse)
        while "ColumnPaginationFilter" in text:  # it counts each of them as a column there
            text = self.filter(reverse)
        return [versions, f"filter={text}"]

    def row_set(self):
        if self.once_in(2):
            return "fuzzy=" + ",".join(self.draw.sample(["a", "b", "?", "?a", "b?", "a?", "?b"], 2))
        ends = sorted(self.draw.choice(ROWS) for _ in range(4))
        ranges = [(begin, end) for begin, end in zip(ends[::2], ends[1::2]) if begin != end] or [(ends[0], "e")]
        return "ranges=" + ",".join(f"{begin}:{self.draw.choice('ie')}:{end}:{self.draw.choice('ie')}"
                                    for begin, end in ranges)

    def scan(self):
        raw = self.mode == MEMORY and self.once_in(6)
        reverse = self.once_in(3)
        options = self.read_options(raw, reverse)
        ends = sorted([self.draw.choice(ROWS + ["", "aa", "e"]) for _ in range(2)], reverse=reverse)
        if not self.once_in(3) and ends[0]:
            options.append(f"start={ends[0]}:{self.draw.choice('ie')}")
        if self.once_in(2) and ends[1]:
            options.append(f"stop={ends[1]}:{self.draw.choice('ie')}")
        options += ["reversed"] * reverse + ["raw"] * raw
        if self.once_in(4):
            options.append(f"limit={self.draw.choice([1, 2, 3])}")
        if self.once_in(6):
            options.append(f"batch={self.draw.choice([1, 2, 3])}")
        return ["scan", *options]

    def read(self):
        kind = self.draw.choice(["get", "get", "exists", "scan", "scan", "scan", "at"])
        if kind == "scan":
            return self.scan()
        if kind == "at":
            reverse = self.once_in(2)
            return ["at", f"start={self.draw.choice(ROWS + ['aa'])}:i", *(["reversed"] * reverse),
                    *self.read_options(reverse=reverse)]
        return [kind, self.row(), *self.read_options()]

    # ---- All ----

    def rewrite(self):
        """A flush comes first: Cellar's compaction keeps a marker that hides what lies in memory, HBase's does not
        (docs/decisions/snapshots-stay.md)."""
        if self.once_in(2):
            return [["flush"]]
        if self.once_in(3):
            return [["flush"], ["major"]]
        return [["flush"], ["compact", self.family(), self.draw.randrange(4), self.draw.randrange(2, 5)]]

    def operations(self):
        yield ["table", self.name, *(f"{name} {kind}".strip() for name, kind in self.families.items())]
        yield ["clock", self.now]
        for _ in range(OPERATIONS_OF_TABLE):
            if self.mode != MEMORY and self.once_in(30):
                yield from self.rewrite()
            elif self.once_in(10):
                self.now += self.draw.choice([2, 500, 500, 1000, 1000, 3000])
                yield ["clock", self.now]
            elif self.draw.random() < self.reads:
                yield self.read()
            else:
                if self.distinct_times:
                    self.now += 2
                    yield ["clock", self.now]
                yield self.write()


def write_operations(path, seed, tables):
    """The operations of so many tables; the same seed, the same operations."""
    with path.open("w", encoding="latin-1") as out:
        for number in range(tables):
            table = Table(random.Random(f"{seed}/{number}"), f"t{number}", 1_000_000 + number * 100_000)
            for fields in table.operations():
                out.write("\t".join(map(str, fields)) + "\n")


def same(ours, theirs):
    """Errors are alike, whatever they say; how many cells lie in files is for reading: HBase drops more markers."""
    if ours.startswith("files ") and theirs.startswith("files "):
        return True
    return ours == theirs or (ours.startswith("error ") and theirs.startswith("error "))


def compare_answers(operations, ours, theirs, tally):
    """Of each table the first difference is shown, with what went before on its table; the rest follows from it."""
    table = []
    differs = False
    for operation, our, their in zip(operations, ours, theirs, strict=True):
        kind = operation.split("\t", 1)[0]
        if their == "skipped":
            tally.count("operations skipped, since HBase did not end an earlier one of the table")
            continue
        if kind == "table":
            table, differs = [], False
            tally.count("tables")
        table.append(operation)
        tally.count("reads" if kind in READS else "writes, flushes and compactions")
        tally.count(f"answers to {kind}")
        if our.startswith("error ") and their.startswith("error "):
            tally.count("errors in both")
        if kind in READS and our not in ("rows", "cells", "no"):
            tally.count("reads that found something")
        # Out of bounds in a PrefixFilter, for one: no answer, and a change that was not made leaves the tables unequal.
        if their.startswith("error java.lang."):
            tally.count(f"operations at which HBase fails: {their[6:70]}")
            differs = differs or kind not in READS
        elif not differs and not same(our, their):
            differs = True
            tally.differ(f"after {len(table)} operations on {table[0]}\n  asked  {operation}\n  Cellar {our}\n"
                         f"  HBase  {their}\n  operations before:\n    " + "\n    ".join(table[-40:-1]))
