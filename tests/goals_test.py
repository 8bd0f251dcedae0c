#!/usr/bin/env python3
"""Goal: goals.py adds up what tests count, and finds each goal that is missed."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import goals  # noqa: E402


class Goals(unittest.TestCase):
    def test_sums(self):
        sums = goals.sums_of(["x\ncounted 3 kills\ncounted 4 kills \n", "counted 5 kills\n counted 9 kills\n"])
        self.assertEqual(sums, {"kills": 12})

    def test_verdicts(self):
        wanted = goals.goals_of("# full 1 a\nfull 10 a\nfull 5 b + c\nsoak 7 a\n", "full")
        self.assertEqual(wanted, [(10, "a"), (5, "b + c")])
        for sums, part, met in (({"a": 10, "b": 2, "c": 3}, False, [True, True]),
                                ({"a": 9, "b": 5}, False, [False, True]),
                                ({"a": 1, "c": 1}, True, [True, True]),
                                ({"c": 1}, True, [False, True])):
            counts = goals.Counter(sums)
            self.assertEqual([one for _, one in goals.verdicts(wanted, counts, part)], met, sums)

    def run_on(self, command, text):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            program = pathlib.Path(__file__).with_name("goals.py")
            return subprocess.run([sys.executable, program, command, file.name], capture_output=True, text=True)

    def test_status(self):
        text = pathlib.Path(__file__).with_name("goals.txt").read_text()
        for command in ("full", "soak"):
            # Of a sum, the first part alone reaches the goal.
            reached = [f"counted {least} {what.split(' + ')[0]}" for least, what in goals.goals_of(text, command)]
            self.assertTrue(reached, "each command has goals")
            self.assertEqual(self.run_on(command, "\n".join(reached)).returncode, 0)
            missed = self.run_on(command, "\n".join(reached[1:]))
            self.assertEqual(missed.returncode, 1)
            self.assertIn("goal MISSED: 0 of", missed.stdout)
        self.assertEqual(self.run_on("none", "counted 1 kills\n").returncode, 0)
        self.assertNotEqual(self.run_on("often", "").returncode, 0)


if __name__ == "__main__":
    unittest.main()
