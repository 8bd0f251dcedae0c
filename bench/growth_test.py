#!/usr/bin/env python3
"""Tests of growth.py: known runs give known figures, and faults are named."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import growth


def result_of(workload, rows, seconds, **fields):
    line = {"kind": "result", "peer": "cellar", "workload": workload, "n": rows, "seconds": seconds, "ops": 1000,
            "rate": 1000 / seconds, "peak_rss_bytes": 5 << 20, "bytes_of_runs": 70 * rows}
    return json.dumps({**line, **fields})


class Growth(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "run.jsonl")

    def tearDown(self):
        self.folder.cleanup()

    def call(self, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = growth.main(list(arguments))
        return code, out.getvalue(), error.getvalue()

    def report(self, *lines):
        with open(self.path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        return self.call("report", self.path)

    def test_medians_by_number_of_rows(self):
        code, out, _ = self.report(
            result_of("growth_get", 1_000_000, 0.004), result_of("growth_get", 1000, 0.002),
            result_of("growth_get", 1000, 0.009), result_of("growth_get", 1000, 0.001),
            result_of("growth_open", 1000, 0.05, ops=5), json.dumps({"kind": "context", "n": 1000}))
        self.assertEqual(code, 0)
        rows = [line for line in out.splitlines() if line.startswith("| 1")]
        self.assertEqual(rows, ["| 1,000 | – | 10.0 | 5 | 2.00 | – | – | – | 70 |",
                                "| 1,000,000 | – | – | – | 4.00 | – | – | – | – |"])

    def test_engines_have_tables_of_their_own(self):
        _, out, _ = self.report(result_of("growth_put", 1000, 1), result_of("growth_put", 1000, 2, peer="rocksdb"))
        self.assertIn("cellar:\n", out)
        self.assertIn("rocksdb:\n", out)
        self.assertEqual(out.count("| 1,000 |"), 2)

    def test_faults_are_named(self):
        for lines, message in (((), "not a line of cellar_driver"), (("{}",), "no results of growth_*")):
            code, _, error = self.report(*lines)
            self.assertEqual(code, 1)
            self.assertIn(message, error)
        code, _, error = self.call("report", os.path.join(self.folder.name, "absent"))
        self.assertEqual((code, "cannot read" in error), (1, True))
        code, _, error = self.call("run", "--rows", "many", "--out", self.path)
        self.assertEqual((code, "--rows takes numbers" in error), (1, True))
        for driver, message in (("/bin/false", "/bin/false ended with 1"), ("/absent", "cannot run /absent")):
            code, _, error = self.call("run", "--driver", driver, "--out", self.path)
            self.assertEqual((code, message in error), (1, True))
        self.report(result_of("growth_put", 1000, 1))
        code, _, error = self.call("report", self.path, "--tool", "/absent", "--picture", "growth.svg")
        self.assertEqual((code, "cannot run /absent" in error), (1, True))


if __name__ == "__main__":
    unittest.main()
