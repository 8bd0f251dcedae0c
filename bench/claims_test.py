#!/usr/bin/env python3
"""Tests of claims.py: medians come out, tables find their cells, pages keep their words, faults end it."""
import json
import unittest

import claim_tables
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
        columns = [(c, {"c": c}, "real_time", claim_tables.micros) for c in ("hot", "cold")]
        self.assertEqual(claim_tables.table(self.cases, [("k", "rows")], columns),
                         "| rows | hot | cold |\n|---|---:|---:|\n| 1 | 1 | 20 |\n| 2 | 3 | – |\n")

    def test_two_cases_for_one_cell_end_it(self):
        with self.assertRaises(SystemExit):
            claim_tables.table(self.cases, [("k", "rows")], [("any", {}, "real_time", claim_tables.micros)])

    def test_digits(self):
        self.assertEqual([claim_tables.digits(v) for v in (0, 0.98765, 12.345, 999, 1234.5, 123456)],
                         ["0", "0.988", "12.3", "999", "1,230", "123,000"])


class Page(unittest.TestCase):
    def test_only_what_lies_between_the_marks_changes(self):
        page = "words\n<!-- Q1 -->\nold\n<!-- /Q1 -->\nmore\n"
        self.assertEqual(claims.page_with(page, "Q1", "new\n"), "words\n<!-- Q1 -->\nnew\n<!-- /Q1 -->\nmore\n")

    def test_a_page_without_marks_ends_it(self):
        with self.assertRaises(SystemExit):
            claims.page_with("words\n", "Q1", "new\n")


INDEX = "| claim | answer | case |\n|---|---|---|\n"


def index_of(numbers, **changed):
    rows = "".join(f"| [Q{n}](#q{n}-a-claim) text | holds | `Claim/Q{n:02}_case` |\n" for n in numbers)
    headings = "".join(f"## Q{n}: a claim\n" for n in numbers)
    page = INDEX + rows + headings
    for old, new in changed.values():
        page = page.replace(old, new)
    return page


NAMES = [f"Claim/Q{n:02}_case/k:1" for n in range(1, 46)]


class Index(unittest.TestCase):
    def test_all_claims_with_section_answer_and_case(self):
        self.assertEqual(claims.faults_of_index(index_of(range(1, 46)), NAMES), [])

    def test_a_missing_claim_is_told(self):
        self.assertEqual(claims.faults_of_index(index_of(range(1, 45)), NAMES),
                         ["the table of docs/claims.md has 0 rows of Q45"])

    def test_a_claim_twice_and_a_claim_too_many(self):
        page = index_of(range(1, 46))
        first = page.splitlines(keepends=True)[2]
        self.assertEqual(claims.faults_of_index(page.replace(first, first * 2), NAMES),
                         ["the table of docs/claims.md has 2 rows of Q1"])
        self.assertEqual(claims.faults_of_index(index_of(range(1, 47)), NAMES), ["Q46 is no claim"])

    def test_a_section_a_case_and_an_answer_that_do_not_exist(self):
        for change, fault in ((("## Q7: a claim", "## Q7: another"), "Q7: #q7-a-claim is no heading of it"),
                              (("Q07_case", "Q07_other"), "Q7: no case is named Claim/Q07_other"),
                              (("`Claim/Q07_case`", "`Claim/Q08_case`"), "Q7: no case is named Claim/Q08_case"),
                              (("#q7-a-claim) text | holds", "#q7-a-claim) text |  "), "Q7 has no answer")):
            self.assertEqual(claims.faults_of_index(index_of(range(1, 46), one=change), NAMES), [fault])

    def test_headings_become_links_as_on_github(self):
        self.assertEqual(claims.anchor('Q34: an edge list answers "connected?"'),
                         "#q34-an-edge-list-answers-connected")


class Parts(unittest.TestCase):
    def test_a_run_of_some_claims_replaces_those_and_tells_when(self):
        old = claims.reduced(document(run_of("Claim/Q01_a/k:1", [1]), run_of("Claim/Q02_b/k:1", [2])))
        part = claims.reduced(document(run_of("Claim/Q02_b/k:9", [5])))
        part["context"]["date"] = "2026-03-04T00:00:00"
        both = claims.merged(old, part)
        self.assertEqual([each["name"] for each in both["benchmarks"]], ["Claim/Q01_a/k:1", "Claim/Q02_b/k:9"])
        self.assertEqual([other["claims"] for other in both["others"]], [["Q02"]])
        self.assertIn("Q2:\nmeasured on 2026-03-04", claims.machine(both["context"], both["others"]))
        again = claims.merged(both, part)
        self.assertEqual([other["claims"] for other in again["others"]], [["Q02"]])

    def test_measurements_are_written_as_json(self):
        both = claims.merged(claims.reduced(document(run_of("Claim/Q01_a/k:1", [1]))),
                             claims.reduced(document(run_of("Claim/Q02_b/k:1", [1]))))
        self.assertEqual(json.loads(claims.written(both)), both)


if __name__ == "__main__":
    unittest.main()
