#!/usr/bin/env python3
"""Tests of compare.py: known ratios come out, noise is not called a difference, faults are named."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import compare


def lines_of(rates, label=""):
    """Lines of a run: {peer: [rate of each round]} of the workload `get`."""
    yield json.dumps({"kind": "context", "label": label, "n": 1000})
    for peer, rounds in rates.items():
        for number, rate in enumerate(rounds):
            yield json.dumps({"kind": "result", "peer": peer, "workload": "get", "unit": "ops/s",
                              "round": number, "rate": rate})


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, lines):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        return path

    def run_on(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = compare.main(list(arguments))
        return code, out.getvalue()

    def test_ratio_is_taken_inside_each_round(self):
        # The machine was ten times slower in the second round: the ratio of 2 is the same in both.
        run = self.file("a", lines_of({"cellar": [200, 20, 200], "other": [100, 10, 100]}))
        code, text = self.run_on(run)
        self.assertEqual(code, 0)
        self.assertIn("cellar against other", text)
        self.assertEqual(text.splitlines()[-1].split()[4:], ["2.00", "[2.00,", "2.00]", "3", "faster"])

    def test_slower_is_said_and_fails_when_asked(self):
        run = self.file("a", lines_of({"cellar": [50, 51, 49, 50, 50], "other": [100] * 5}))
        self.assertTrue(self.run_on(run)[1].rstrip().endswith("slower"))
        self.assertEqual(self.run_on(run, "--fail-below", "0.9")[0], 1)
        self.assertEqual(self.run_on(run, "--fail-below", "0.3")[0], 0)

    def test_noise_is_no_difference(self):
        before = self.file("a", lines_of({"cellar": [100, 90, 110, 95, 105]}, "one"))
        after = self.file("b", lines_of({"cellar": [101, 93, 108, 97, 103]}, "two"))
        code, text = self.run_on(before, after, "--fail-below", "1")
        self.assertIn("cellar: two against one", text)
        self.assertIn("not told apart", text)
        self.assertEqual(code, 0)

    def test_known_slowdown_between_files_is_found(self):
        before = self.file("a", lines_of({"cellar": [100, 101, 99, 100, 102]}))
        after = self.file("b", lines_of({"cellar": [90, 91, 89, 90, 92]}))
        row = self.run_on(before, after)[1].splitlines()[-1]
        self.assertIn("0.90", row)
        self.assertTrue(row.endswith("slower"), row)

    def test_two_rounds_are_no_verdict(self):
        run = self.file("a", lines_of({"cellar": [100, 101], "other": [50, 51]}))
        self.assertTrue(self.run_on(run)[1].rstrip().endswith("two rounds"))

    def test_one_round_has_no_interval(self):
        run = self.file("a", lines_of({"cellar": [100], "other": [50]}))
        self.assertIn("one round", self.run_on(run)[1])

    def test_markdown(self):
        run = self.file("a", lines_of({"cellar": [100], "other": [50]}))
        text = self.run_on(run, "--format", "markdown")[1]
        self.assertIn("| get | ops/s | 50 | 100 | 2.00 | - | 1 | one round |", text)

    def test_joined_has_a_column_for_each_engine(self):
        run = self.file("a", lines_of({"cellar": [100, 10, 100], "slow": [50, 5, 50], "fast": [200, 20, 200]}))
        code, text = self.run_on(run, "--joined", "--format", "markdown", "--fail-below", "0.4")
        self.assertIn("| workload | unit | cellar | of slow | of fast |", text)
        self.assertIn("| get | ops/s | 100 | 2.00 [2.00, 2.00] | 0.50 [0.50, 0.50] |", text)
        self.assertEqual(code, 0)
        self.assertEqual(self.run_on(run, "--joined", "--fail-below", "0.6")[0], 1, "the fastest of the others counts")
        with self.assertRaisesRegex(compare.Failure, "does not compare"):
            self.run_on(self.file("b", lines_of({"cellar": [1]})), "--joined")

    def test_faults_are_named_with_their_place(self):
        broken = self.file("a", ["{}"])
        with self.assertRaisesRegex(compare.Failure, "a:1: not a line"):
            self.run_on(broken)
        with self.assertRaisesRegex(compare.Failure, "no results"):
            self.run_on(self.file("b", lines_of({})))
        with self.assertRaisesRegex(compare.Failure, "alone"):
            self.run_on(self.file("c", lines_of({"cellar": [1]})))
        with self.assertRaisesRegex(compare.Failure, "cannot read"):
            self.run_on(os.path.join(self.folder.name, "absent"))


if __name__ == "__main__":
    unittest.main()
