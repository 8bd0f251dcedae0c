#!/usr/bin/env python3
"""Tests of design_space.py: strategies have their policies, verdicts follow the figures, pages keep their words."""
import unittest

import design_space


def line(workload, name, case=0, **figures):
    return {"kind": "result", "workload": workload, "case": case, "peer": name} | figures


class Strategies(unittest.TestCase):
    def test_each_policy_of_the_text_has_its_strategy(self):
        text = design_space.TEXT.read_text()
        names = [design_space.strategy_of(policy)
                 for policy in design_space.re.findall(r'^    "((?:leveled|tiered)\(.*\))"', text, design_space.re.M)]
        self.assertEqual(sorted(names), sorted(design_space.ALL))

    def test_sizes_follow_the_memtable(self):
        policies = design_space.strategies(4, 10)
        self.assertIn("base_bytes=40m", policies["RR"])
        self.assertIn("tombstone_age=5000ms", policies["TSA"])
        self.assertEqual(sorted(policies), sorted(design_space.ALL))
        for name, policy in policies.items():
            self.assertEqual(design_space.strategy_of(policy), name)


class Verdicts(unittest.TestCase):
    def test_all_some_and_none(self):
        self.assertEqual(design_space.verdict(True, True), "yes")
        self.assertEqual(design_space.verdict(True, False), "in part")
        self.assertEqual(design_space.verdict(False, False), "no")

    def test_percent_below(self):
        self.assertEqual(design_space.less([5, 20], 10), [50, -100])

    def test_a_span_of_equal_numbers_is_one(self):
        self.assertEqual(design_space.span([1.2, 1.4]), "1")
        self.assertEqual(design_space.span([1.2, 3.4]), "1 to 3")

    def test_the_recorded_figures_have_every_observation(self):
        figures = design_space.Figures(design_space.read_lines(design_space.FIGURES))
        found = {name: holds for name, _, _, holds in design_space.observations(figures)}
        for name in ("O1", "O2", "O3", "O4", "O6", "O7", "O8", "O9", "O10", "O12", "TA I", "TA II", "TA III"):
            self.assertIn(found[name], ("yes", "in part", "no"), name)

    def test_a_verdict_changes_with_the_figures(self):
        lines = design_space.read_lines(design_space.FIGURES)
        for each in lines:
            if each["workload"] == "insert" and each["peer"] == "Tier":
                each["moved"] = 1000
        changed = {name: holds for name, _, _, holds in design_space.observations(design_space.Figures(lines))}
        self.assertEqual(changed["O1"], "in part")


class Pages(unittest.TestCase):
    def test_words_stay_and_tables_are_replaced(self):
        page = "before\n<!-- a -->\nold\n<!-- /a -->\nafter\n"
        self.assertEqual(design_space.page_with(page, "a", "new\n"), "before\n<!-- a -->\nnew\n<!-- /a -->\nafter\n")

    def test_a_missing_place_ends_it(self):
        with self.assertRaises(SystemExit):
            design_space.page_with("nothing", "a", "new\n")

    def test_tables_by_case(self):
        figures = design_space.Figures([line("size", "RR", 8, moved=1.25), line("size", "RR", 16, moved=1234.5)])
        self.assertEqual(design_space.by_case(figures, "size", ["RR"], "moved", "MiB"),
                         "| MiB | 8 | 16 |\n|---|---:|---:|\n| RR | 1.25 | 1,234 |\n")


if __name__ == "__main__":
    unittest.main()
