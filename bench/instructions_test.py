#!/usr/bin/env python3
"""Tests of instructions.py: counts are read from callgrind's listing, ratios over the limit are reported."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import instructions

LISTING = """
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
1,234,567 (100.0%)  PROGRAM TOTALS

1,000,000 (81.00%)  ???:measure_get [build/gcc/cellar_instructions]
  200,000 (16.20%)  bench/instructions/main.cc:measure_put [build/gcc/cellar_instructions]
  900,000 (72.90%)  ???:cellar::TableImpl::get(cellar::Get const&) [build/gcc/cellar_instructions]
"""


class Instructions(unittest.TestCase):
    def compare(self, before, after, *options):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("before.json", "after.json")]
            for path, figures in zip(paths, (before, after)):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(figures, file)
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = instructions.main(["compare", *paths, *options])
        return code, out.getvalue(), err.getvalue()

    def test_counts_are_divided_by_how_often(self):
        operations = instructions.operations_of("get 500\nput 100\n")
        self.assertEqual(instructions.per_operation(operations, instructions.instructions_of(LISTING)),
                         {"get": 2000.0, "put": 2000.0})

    def test_an_operation_that_was_not_counted_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "did not see scan"):
            instructions.per_operation({"get": 1, "scan": 1}, instructions.instructions_of(LISTING))

    def test_ratios(self):
        code, out, _ = self.compare({"get": 1000, "old": 1}, {"get": 1030, "new": 1})
        self.assertEqual(code, 0)
        self.assertIn("1.030", out)
        self.assertNotIn("old", out)

    def test_a_ratio_over_the_limit_fails(self):
        code, _, err = self.compare({"get": 1000, "put": 10}, {"get": 1030, "put": 10}, "--at-most", "1.02")
        self.assertEqual(code, 1)
        self.assertIn("get", err)
        self.assertNotIn("put", err)
        self.assertEqual(self.compare({"get": 1000}, {"get": 1019}, "--at-most", "1.02")[0], 0)

    def test_files_without_a_common_operation_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "no operation in common"):
            self.compare({"get": 1}, {"put": 1})

    def check(self, kept, found):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = instructions.check(kept, found, 0.03)
        return code, out.getvalue() + err.getvalue()

    def test_counts_near_the_kept_ones_pass(self):
        code, text = self.check({"get": 1000, "put": 100}, {"get": 1029, "put": 98})
        self.assertEqual(code, 0)
        self.assertIn("counted 2 operations", text)

    def test_a_count_that_rose_or_fell_is_named(self):
        for count, way in ((1031, "rose"), (969, "fell")):
            code, text = self.check({"get": 1000, "put": 100}, {"get": count, "put": 100})
            self.assertEqual(code, 1)
            self.assertIn(f"get {way} from 1,000 to {count:,}", text)
            self.assertNotIn("put rose", text)
            self.assertIn("--json bench/instructions.json", text)

    def test_operations_that_came_or_went_are_named(self):
        self.assertIn("get is not counted", self.check({"get": 1, "put": 1}, {"put": 1})[1])
        self.assertIn("scan has no kept count", self.check({"put": 1}, {"put": 1, "scan": 1})[1])


if __name__ == "__main__":
    unittest.main()
