#!/usr/bin/env python3
"""Tests of sustained.py: known runs give known figures, and faults are named."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import sustained


def result_of(peer, rates, disk=1000, **fields):
    """A run of windows of five seconds with these rates."""
    windows = [{"seconds": 5.0, "ops": rate * 5, "longest_ms": 1, "bytes_on_disk": disk} for rate in rates]
    line = {"kind": "result", "peer": peer, "workload": "overwrite_sustained", "round": 0, "unit": "ops/s",
            "seconds": 5.0 * len(rates), "p999_us": 2500, "max_us": 40000, "peak_rss_bytes": 3e8,
            "bytes_live": 500, "windows": windows}
    return json.dumps({**line, **fields})


class Sustained(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def run_on(self, *lines, arguments=()):
        path = os.path.join(self.folder.name, "run.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = sustained.main([path, *arguments])
        return code, out.getvalue(), error.getvalue()

    def test_figures(self):
        # Two stretches of the first minute do not count; then 100, 100, 100 and 25 puts a second.
        code, out, _ = self.run_on(result_of("cellar", [9000] * 12 + [100] * 18 + [25] * 6))
        self.assertEqual(code, 0)
        self.assertIn("| cellar | 100 | 25 | 100 | 4.00 | 2.50 | 40 | 2.00 | 300 |", out)

    def test_spread_counts_bursts(self):
        _, out, _ = self.run_on(result_of("a", [100] * 30 + [500] * 6))
        self.assertIn("| a | 100 | 100 | 500 | 5.00 |", out)

    def test_a_short_end_does_not_count(self):
        _, out, _ = self.run_on(result_of("a", [100] * 30 + [1] * 2))
        self.assertIn("| a | 100 | 100 | 100 | 1.00 |", out)

    def test_engines_in_their_order(self):
        _, out, _ = self.run_on(result_of("b", [100] * 30), result_of("a", [50] * 30, disk=2000))
        self.assertLess(out.index("| b | 100"), out.index("| a | 50"))
        self.assertIn("| 4.00 | 300 |", out)

    def test_faults_are_named(self):
        code, _, error = self.run_on('{"kind": "context"}')
        self.assertEqual(code, 1)
        self.assertIn("no results of overwrite_sustained", error)
        code, _, error = self.run_on("not JSON")
        self.assertEqual(code, 1)
        self.assertIn("run.jsonl:1", error)
        code, _, error = self.run_on(result_of("a", [100] * 6))
        self.assertEqual(code, 1)
        self.assertIn("shorter than", error)


if __name__ == "__main__":
    unittest.main()
