#!/usr/bin/env python3
"""Tests of draw_tables.py: each text is in the picture and within its frame, and --check finds what is amiss."""
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as xml

import draw_tables

PICTURE = {"title": "A title with <angles> & an ampersand", "tables": [
    {"name": "by_user", "key": [{"part": "user", "is": "8 bytes"}, {"part": "school", "is": "text"}],
     "families": [{"name": "a", "columns": "state"}],
     "rows": [["7 · b", "a:state = sent", "a:when = 9"], ["…", "…"]], "reads": ["all of a user: a prefix scan"]}]}


def texts_of(svg):
    return [element.text for element in xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


class Drawn(unittest.TestCase):
    def test_every_text_is_there(self):
        texts = texts_of(draw_tables.picture_text(PICTURE))
        for text in ("A title with <angles> & an ampersand", "by_user", "user", "8 bytes", "school", "a", "state",
                     "7 · b", "a:state = sent", "a:when = 9", "all of a user: a prefix scan"):
            self.assertIn(text, texts)

    def test_long_texts_are_split_and_stay_within_the_frame(self):
        long = json.loads(json.dumps(PICTURE))
        word = "0123456789abcdef" * 20
        long["tables"][0]["rows"].append([word, " ".join(["several", "words"] * 30)])
        long["tables"][0]["reads"].append("a sentence " * 40)
        svg = draw_tables.picture_text(long)
        for element in xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
            size = float(element.get("font-size"))
            if element.get("text-anchor") != "middle":
                self.assertLessEqual(float(element.get("x")) + size * 0.61 * len(element.text), 860)
        self.assertIn(word, "".join(text for text in texts_of(svg) if re.fullmatch("[0-9a-f]+", text)))

    def test_the_picture_ends_below_its_last_text(self):
        picture = xml.fromstring(draw_tables.picture_text(PICTURE))
        last = max(float(text.get("y")) for text in picture.iter("{http://www.w3.org/2000/svg}text"))
        self.assertLess(last, float(picture.get("height")))

    def test_what_cannot_be_drawn_is_named(self):
        def broken(change):
            picture = json.loads(json.dumps(PICTURE))
            change(picture)
            with self.assertRaises(draw_tables.BadPicture) as raised:
                draw_tables.picture_text(picture)
            return str(raised.exception)
        self.assertIn("1 to 3 tables", broken(lambda p: p["tables"].clear()))
        self.assertIn("table 1", broken(lambda p: p["tables"][0].pop("reads")))
        self.assertIn("its key and at least one cell", broken(lambda p: p["tables"][0]["rows"].append(["alone"])))
        self.assertIn("families", broken(lambda p: p["tables"][0]["families"].append({"name": "b"})))
        self.assertIn("not a str", broken(lambda p: p.update(title=7)))


class Checked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs" / "pictures").mkdir(parents=True)
        self.source = self.root / "examples" / "one" / "picture.json"
        self.source.parent.mkdir(parents=True)
        self.source.with_name("run.sh").touch()
        self.source.write_text(json.dumps(PICTURE), encoding="utf-8")

    def complaints(self, check=True, names=()):
        return "\n".join(draw_tables.draw(self.root, list(names), check))

    def test_drawn_is_checked(self):
        self.assertIn("app_one.svg is not what", self.complaints())
        self.assertEqual(self.complaints(check=False), "")
        self.assertEqual(self.complaints(), "")

    def test_a_change_of_either_is_found(self):
        self.complaints(check=False)
        self.source.write_text(json.dumps(PICTURE).replace("sent", "seen"), encoding="utf-8")
        self.assertIn("app_one.svg is not what", self.complaints())
        self.assertEqual(self.complaints(check=False, names=["one"]), "")
        drawn = self.root / "docs" / "pictures" / "app_one.svg"
        drawn.write_text(drawn.read_text(encoding="utf-8").replace("seen", "sent"), encoding="utf-8")
        self.assertIn("app_one.svg is not what", self.complaints())

    def test_missing_broken_and_stale_files_are_found(self):
        self.complaints(check=False)
        self.source.write_text("{", encoding="utf-8")
        self.assertIn("is not JSON", self.complaints())
        self.source.unlink()
        self.assertIn("cannot be read", self.complaints())
        self.source.with_name("run.sh").unlink()
        self.assertIn("there is no such application, remove the picture", self.complaints())
        self.assertIn("there is no application one", self.complaints(names=["one"]))


if __name__ == "__main__":
    unittest.main()
