#!/usr/bin/env python3
"""Tests of endurance.py: limits that are passed are named, and records that are no whole run are refused."""
import contextlib
import io
import json
import os
import pathlib
import stat
import tempfile
import unittest

import endurance

MIB = endurance.MIB


def sample(second, **fields):
    line = {"kind": "sample", "seconds": float(second), "rate": 100.0, "longest_ms": 3.0,
            "anonymous_bytes": 100 * MIB, "memory_bytes": 50 * MIB, "cache_bytes": 20 * MIB, "memtable_bytes": 9 * MIB,
            "descriptors": 20, "threads": 8, "files": 12, "sorted_runs": 3, "disk_bytes": 2048 * MIB,
            "live_bytes": 1024 * MIB, "space_amplification": 2.0, "write_amplification": 4.0, "health": "ok",
            "stalls": {"flush": {"count": 1, "seconds": 0.5, "max_seconds": 0.5}},
            "operations": {"put": {"count": 500}}}
    return {**line, **fields}


def record(samples, readers=(), end=True, longest_ms=30.0):
    context = {"kind": "context", "processor": "p", "processors": 2, "rows": 1000, "value_bytes": 100, "seconds": 80,
               "rate": 100, "writers": 2, "cache_bytes": 64 * MIB, "memtable_bytes_total": 64 * MIB}
    times = {"count": 9000, "p50_us": 1.5, "p99_us": 20.0, "p999_us": 300.0, "max_us": longest_ms * 1e3}
    last = {"kind": "end", "seconds": 80.0, "count": 9000, "longest_ms": longest_ms, "whole_scans": 3,
            "reopen_seconds": 0.25, "operations": {"put": times}}
    return "".join(json.dumps(each) + "\n" for each in (context, *samples, *readers, *((last,) if end else ())))


class Endurance(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name)
        tool = self.out / "cellar"  # draws nothing: it writes its input where the picture would be
        tool.write_text('#!/bin/sh\nwhile [ "$1" != --out ]; do shift; done\ncat >"$2"\n', encoding="utf-8")
        os.chmod(tool, os.stat(tool).st_mode | stat.S_IXUSR)

    def tearDown(self):
        self.folder.cleanup()

    def report(self, text):
        (self.out / "samples.jsonl").write_text(text, encoding="utf-8")
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = endurance.main(["report", str(self.out), "--build", str(self.out)])
        return code, out.getvalue(), error.getvalue()

    def test_a_run_within_its_limits(self):
        readers = [{"kind": "reader", "command": "get", "took": took, "status": 0} for took in (0.1, 0.2, 0.9)]
        code, out, error = self.report(record([sample(5 * i) for i in range(1, 17)], readers))
        self.assertEqual((code, error), (0, ""))
        self.assertIn("| memory of the process, MiB | 100 | 240 |", out)
        self.assertIn("| get | 3 | 200 | 900 |", out)
        self.assertIn("| put | 9,000 | 1.5 | 20 | 300 | 30 |", out)
        points = [json.loads(line) for line in (self.out / "endurance_space.svg").read_text().splitlines()]
        self.assertEqual(len(points), 32)
        self.assertEqual({point["value"] for point in points}, {2.0, 1.0})

    def test_limits_that_are_passed(self):
        samples = [sample(5 * i, anonymous_bytes=(100 + 40 * i) * MIB, threads=8 + i,
                          health="ok" if i < 16 else "io_error: disk") for i in range(1, 17)]
        readers = [{"kind": "reader", "command": "get", "took": 0.1, "status": 5}]
        code, _, error = self.report(record(samples, readers, longest_ms=10500.0))
        self.assertEqual(code, 1)
        for name in ("memory of the process", "memory in the last quarter", "threads: 24", "longest operation, s: 10.50",
                     "samples that are not healthy: 1", "commands that failed: 1"):
            self.assertIn(name, error)
        self.assertNotIn("descriptors", error)

    def test_records_that_are_no_whole_run(self):
        for text in (record([sample(5 * i) for i in range(1, 17)], end=False), record([sample(5)]), "no JSON\n", ""):
            code, _, error = self.report(text)
            self.assertEqual(code, 1)
            self.assertTrue(error.startswith("endurance.py: "), error)


if __name__ == "__main__":
    unittest.main()
