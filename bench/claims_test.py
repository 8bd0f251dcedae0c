#!/usr/bin/env python3
"""Tests of claims.py: medians come out, tables find their cells, pages keep their words, faults end it."""
import unittest

import claims


def run_of(name, times, unit="us", **more):
    return [{"name": name, "run_name": name, "run_type": "iteration", "time_unit": unit, "real_time": time,
             "cpu_time": 1, "iterations": 5, "blocks": 3, **more} for time in times]


def document(*runs):
    return {"context": {"date": "2026-01-02T03:04:05", "num_cpus": 2, "host_name": "somewhere"},
            "benchmarks": [each for run in runs for each in run]}


class Reduced(unittest.TestCase):
    def test_medians_in_nanoseconds_without_the_machine_s_name(self):
        small = claims.reduced(document(run_of("Claim/Q08_x/lookup:get/iterations:10/manual_time", [9, 1, 2])))
        self.assertEqual(small["benchmarks"], [{"name": "Claim/Q08_x/lookup:get", "time_unit": "ns",
                                                "real_time": 2000.0, "cpu_time": 1000.0, "blocks": 3.0}])
        self.assertNotIn("host_name", small["context"])
        self.assertEqual(small["context"]["repetitions"], 3)

    def test_aggregates_are_left_out(self):
        run = document(run_of("a", [1]), run_of("a", [99], aggregate_name="mean"))
        run["benchmarks"][1]["run_type"] = "aggregate"
        self.assertEqual(claims.reduced(run)["benchmarks"][0]["real_time"], 1000.0)

    def test_a_failed_case_ends_it(self):
        run = document(run_of("a", [1], error_occurred=True, error_message="no row"))
        with self.assertRaises(SystemExit) as raised:
            claims.reduced(run)
        self.assertIn("no row", str(raised.exception))


class Tables(unittest.TestCase):
    def setUp(self):
        self.cases = claims.Cases(claims.reduced(document(
            run_of("Claim/Q1_a/k:1/c:hot", [1]), run_of("Claim/Q1_a/k:1/c:cold", [20]),
            run_of("Claim/Q1_a/k:2/c:hot", [3]), run_of("Claim/Q2_b/k:9/c:hot", [7])))).of("Q1")

    def test_rows_and_columns(self):
        columns = [(c, {"c": c}, "real_time", claims.micros) for c in ("hot", "cold")]
        self.assertEqual(claims.table(self.cases, [("k", "rows")], columns),
                         "| rows | hot | cold |\n|---|---:|---:|\n| 1 | 1 | 20 |\n| 2 | 3 | – |\n")

    def test_two_cases_for_one_cell_end_it(self):
        with self.assertRaises(SystemExit):
            claims.table(self.cases, [("k", "rows")], [("any", {}, "real_time", claims.micros)])

    def test_digits(self):
        self.assertEqual([claims.digits(v) for v in (0, 0.98765, 12.345, 999, 1234.5, 123456)],
                         ["0", "0.988", "12.3", "999", "1,230", "123,000"])


class Page(unittest.TestCase):
    def test_only_what_lies_between_the_marks_changes(self):
        page = "words\n<!-- Q1 -->\nold\n<!-- /Q1 -->\nmore\n"
        self.assertEqual(claims.page_with(page, "Q1", "new\n"), "words\n<!-- Q1 -->\nnew\n<!-- /Q1 -->\nmore\n")

    def test_a_page_without_marks_ends_it(self):
        with self.assertRaises(SystemExit):
            claims.page_with("words\n", "Q1", "new\n")


if __name__ == "__main__":
    unittest.main()
