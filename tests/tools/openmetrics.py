#!/usr/bin/env python3
"""A strict parser of OpenMetrics 1.0 text: complains about all that the specification does not allow.

openmetrics.py FILE… checks files, "-" is standard input; openmetrics.py --self-test checks the parser itself.
https://github.com/OpenObservability/OpenMetrics/blob/main/specification/OpenMetrics.md is the specification.
"""
import math
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL_NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = re.compile(rf'({LABEL_NAME})="((?:[^"\\\n]|\\[\\n"])*)"')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)( \S+)?$")
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|[+-]?Inf$|NaN$")
SUFFIXES = {
    "counter": {"_total", "_created"},
    "gauge": {""},
    "histogram": {"_bucket", "_count", "_sum", "_created"},
    "summary": {"", "_count", "_sum", "_created"},
    "info": {"_info"},
    "stateset": {""},
    "unknown": {""},
}


class Family:
    def __init__(self, name):
        self.name = name
        self.type = None
        self.unit = None
        self.help = None
        self.samples = []  # (suffix, labels, value)


class Parser:
    def __init__(self):
        self.complaints = []
        self.families = {}
        self.family = None
        self.line = 0

    def complain(self, text):
        self.complaints.append(f"line {self.line}: {text}")

    def parse(self, text):
        if not text.endswith("\n"):
            self.complain("the text does not end with a line end")
        lines = text.split("\n")[:-1]
        if not lines or lines[-1] != "# EOF":
            self.complain("the last line is not # EOF")
        for self.line, line in enumerate(lines[:-1], 1):
            if line == "# EOF":
                self.complain("# EOF before the end")
            elif line.startswith("#"):
                self.metadata(line)
            else:
                self.sample(line)
        for family in self.families.values():
            self.finish(family)
        return self.complaints

    def metadata(self, line):
        found = re.match(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)$", line)
        if not found:
            return self.complain(f"no line of metadata: {line!r}")
        kind, name, value = found.groups()
        if self.family is None or self.family.name != name:
            if name in self.families:
                return self.complain(f"{name} comes back after another family")
            self.family = self.families[name] = Family(name)
        family = self.family
        if family.samples:
            self.complain(f"{kind} of {name} after its samples")
        if getattr(family, kind.lower()) is not None:
            self.complain(f"{name} has two lines of {kind}")
        setattr(family, kind.lower(), value)
        if kind == "TYPE" and value not in SUFFIXES:
            self.complain(f"{name} has the unknown type {value!r}")
        if kind == "UNIT" and value and not name.endswith("_" + value):
            self.complain(f"{name} does not end with its unit {value}")
        if kind == "HELP" and re.search(r'(?<!\\)(?:\\\\)*\\[^\\n"]', value):
            self.complain(f"HELP of {name} has an invalid escape")

    def labels(self, text):
        labels = {}
        at = 0
        while at < len(text):
            found = LABEL.match(text, at)
            if not found:
                self.complain(f"invalid labels {text!r}")
                return labels
            if found.group(1) in labels:
                self.complain(f"label {found.group(1)} comes twice")
            labels[found.group(1)] = found.group(2)
            at = found.end()
            if at < len(text):
                if text[at] != "," or at + 1 == len(text):
                    self.complain(f"invalid labels {text!r}")
                    return labels
                at += 1
        return labels

    def sample(self, line):
        found = SAMPLE.match(line)
        if not found:
            return self.complain(f"no sample: {line!r}")
        name, labels, value, stamp = found.groups()
        labels = self.labels(labels or "")
        if not NUMBER.match(value):
            self.complain(f"{value!r} is no number")
            return None
        if stamp is not None and not NUMBER.match(stamp[1:]):
            self.complain(f"{stamp!r} is no timestamp")
        family = self.family
        if family is None or not name.startswith(family.name):
            return self.complain(f"{name} stands outside of its family")
        suffix = name[len(family.name):]
        if suffix not in SUFFIXES.get(family.type or "unknown", {""}):
            return self.complain(f"{name} does not fit a {family.type}")
        key = (suffix, tuple(sorted(labels.items())))
        if any((each[0], tuple(sorted(each[1].items()))) == key for each in family.samples):
            self.complain(f"{line!r} comes twice")
        family.samples.append((suffix, labels, float(value)))
        return None

    def finish(self, family):
        self.line = 0
        if family.type is None or family.help is None:
            self.complain(f"{family.name} has no TYPE or no HELP")
        if not family.samples:
            self.complain(f"{family.name} has no samples")
        if family.type in ("counter", "histogram"):
            for suffix, labels, value in family.samples:
                if math.isnan(value) or value < 0:
                    self.complain(f"{family.name}{suffix} {labels} is negative")
        if family.type == "histogram":
            self.finish_histogram(family)

    def finish_histogram(self, family):
        groups = {}
        for suffix, labels, value in family.samples:
            rest = tuple(sorted(item for item in labels.items() if item[0] != "le"))
            group = groups.setdefault(rest, {"buckets": []})
            if suffix == "_bucket":
                if "le" not in labels:
                    self.complain(f"a bucket of {family.name} has no le")
                    continue
                group["buckets"].append((float(labels["le"].replace("+Inf", "inf")), value))
            else:
                group[suffix] = value
        for rest, group in groups.items():
            of = f"{family.name} {dict(rest)}"
            bounds = [bound for bound, _ in group["buckets"]]
            counts = [count for _, count in group["buckets"]]
            if not bounds or bounds[-1] != math.inf:
                self.complain(f"{of} has no bucket +Inf at its end")
            elif counts[-1] != group.get("_count"):
                self.complain(f"{of}: the bucket +Inf is not _count")
            if bounds != sorted(set(bounds)):
                self.complain(f"{of}: bounds do not ascend")
            if counts != sorted(counts):
                self.complain(f"{of}: buckets are not cumulative")
            if ("_sum" in group) != ("_count" in group):
                self.complain(f"{of} has _sum without _count, or the other way round")


def check(text):
    return Parser().parse(text)


GOOD = """# TYPE a_seconds histogram
# UNIT a_seconds seconds
# HELP a_seconds Times.
a_seconds_bucket{of="x",le="0.5"} 1
a_seconds_bucket{of="x",le="+Inf"} 2
a_seconds_count{of="x"} 2
a_seconds_sum{of="x"} 1.5e-06
# TYPE b counter
# HELP b Back\\\\slash.
b_total{n="quo\\"te\\\\ \\n"} 3
# EOF
"""
# Replacements that make the text invalid.
BAD = [
    ("# EOF\n", ""),
    ("# EOF\n", "# EOF"),
    ("b_total", "b"),
    ("b_total{", "c_total{"),
    (" 3\n", " three\n"),
    (" 3\n", " -3\n"),
    (" 3\n", "\n"),
    ("# TYPE b counter\n", ""),
    ("# TYPE b counter\n", "# TYPE b counter\n# TYPE b counter\n"),
    ("# TYPE b counter\n", "# TYPE b count\n"),
    ("# TYPE b counter\n", "# a remark\n"),
    ("# HELP b Back\\\\slash.\n", ""),
    ("# UNIT a_seconds seconds", "# UNIT a_seconds bytes"),
    ('le="0.5"} 1', 'le="0.5"} 3'),
    ('le="0.5"', 'le="+Inf"'),
    ('a_seconds_bucket{of="x",le="+Inf"} 2\n', ""),
    ("a_seconds_count", "a_seconds_number"),
    ('a_seconds_sum{of="x"} 1.5e-06\n', ""),
    ('{of="x",le="0.5"}', '{of="x" le="0.5"}'),
    ('{of="x",le="0.5"}', '{of="x",of="y",le="0.5"}'),
    ('quo\\"te', 'quo"te'),
    ("b_total{", 'b_total{n="quo\\"te\\\\ \\n"} 3\nb_total{'),
]


def self_test():
    failures = [f"the good text: {complaint}" for complaint in check(GOOD)]
    for old, new in BAD:
        assert old in GOOD, old
        if not check(GOOD.replace(old, new, 1)):
            failures.append(f"accepted: {old!r} replaced by {new!r}")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        complaints = self_test()
    else:
        complaints = []
        for name in arguments:
            if name == "-":
                text = sys.stdin.buffer.read().decode("utf-8")
            else:
                with open(name, encoding="utf-8") as file:
                    text = file.read()
            complaints += [f"{name}: {complaint}" for complaint in check(text)]
        if not arguments:
            complaints = [__doc__]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
