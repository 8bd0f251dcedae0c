#!/usr/bin/env python3
"""Draws the tables of the applications: docs/pictures/app_NAME.svg from each examples/NAME/picture.json.

    docs/pictures/draw_tables.py [--check] [NAME...]

Writes the pictures of all applications, or of those named. --check writes nothing. It fails if a picture is not
what its file gives, if an application has no picture.json, or if a picture's application is gone.

A picture.json has 1 to 3 tables: {"title": "…", "tables": [{"name": "…", "key": [{"part": "…", "is": "…"}, …],
"families": [{"name": "…", "columns": "…"}, …], "rows": [["key", "cell", …], …], "reads": ["…", …]}, …]}.
"""
import argparse
import json
import pathlib
import sys
from xml.sax.saxutils import escape

WIDTH = 860
MARGIN = 20
INNER = WIDTH - 2 * MARGIN
LINE = 17  # from one line of text to the next
# The width of a character, in parts of the size of the font. Most letters are narrower.
SANS, MONO = 0.6, 0.61
PART = {"fill": "#eef4ff", "stroke": "#9ab"}
FAMILY = {"fill": "#f6f1e7", "stroke": "#ba9"}
FORM = {"title": str, "tables": list}
FORM_TABLE = {"name": str, "key": list, "families": list, "rows": list, "reads": list}


class BadPicture(Exception):
    """A picture.json that cannot be drawn: the message tells what is wrong with it."""


def need(holds, message):
    if not holds:
        raise BadPicture(message)


def check_form(value, form, where):
    need(isinstance(value, dict), f"{where} is not an object")
    need(set(value) == set(form), f"{where} has the members {sorted(value)} instead of {sorted(form)}")
    for member, kind in form.items():
        need(isinstance(value[member], kind), f"{where}: \"{member}\" is not a {kind.__name__}")


def check_picture(picture):
    check_form(picture, FORM, "the file")
    need(1 <= len(picture["tables"]) <= 3, "a picture has 1 to 3 tables")
    for number, table in enumerate(picture["tables"], 1):
        where = f"table {number}"
        check_form(table, FORM_TABLE, where)
        need(table["key"] and table["families"], f"{where} has no key or no families")
        for part in table["key"]:
            check_form(part, {"part": str, "is": str}, f"{where}, key")
        for family in table["families"]:
            check_form(family, {"name": str, "columns": str}, f"{where}, families")
        for row in table["rows"]:
            need(isinstance(row, list) and len(row) >= 2 and all(isinstance(text, str) for text in row),
                 f"{where}: a row is a list of texts, its key and at least one cell")
        need(all(isinstance(text, str) for text in table["reads"]), f"{where}: \"reads\" holds texts")


def width_of(text, size, of_size):
    return len(text) * size * of_size


def lines_of(text, size, of_size, room):
    """Splits a text at spaces, and a word that is too long anywhere, into lines that fit into `room`."""
    fit = max(1, int(room / (size * of_size)))
    lines, line = [], ""
    for word in text.split(" "):
        while len(word) > fit:
            if line:
                lines.append(line)
                line = ""
            lines.append(word[:fit])
            word = word[fit:]
        if line and len(line) + 1 + len(word) > fit:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return lines + [line] if line or not lines else lines


class Drawing:
    """The elements of a picture, one a line, and how far down it reaches."""

    def __init__(self):
        self.elements = []
        self.y = MARGIN

    def text(self, x, y, text, **attributes):
        given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        self.elements.append(f'  <text x="{round(x)}" y="{round(y)}"{given}>{escape(text)}</text>')

    def box(self, x, y, width, height, fill, stroke):
        self.elements.append(f'  <rect x="{round(x)}" y="{round(y)}" width="{round(width)}" height="{round(height)}"'
                             f' rx="4" fill="{fill}" stroke="{stroke}"/>')

    def line(self, x1, y1, x2, y2):
        self.elements.append(f'  <path d="M{round(x1)} {round(y1)}L{round(x2)} {round(y2)}" stroke="#ccc"/>')


def draw_boxes(drawing, x, y, room, boxes, colours):
    """Draws boxes with a name and an explanation, one after the other; returns where they end below."""
    gap = 6
    wanted = [max(width_of(name, 13, SANS), width_of(about, 11, SANS)) + 18 for name, about in boxes]
    share = min(1, (room - gap * (len(boxes) - 1)) / sum(wanted))
    split = [lines_of(about, 11, SANS, width * share - 14) if about else [] for width, (_, about) in zip(wanted, boxes)]
    height = 26 + 14 * max(len(lines) for lines in split)
    for width, (name, _), lines in zip(wanted, boxes, split):
        drawing.box(x, y, width * share, height, **colours)
        drawing.text(x + width * share / 2, y + 17, name, text_anchor="middle", font_size=13, font_weight="bold")
        for number, line in enumerate(lines):
            drawing.text(x + width * share / 2, y + 32 + 14 * number, line, text_anchor="middle", font_size=11,
                         fill="#555")
        x += width * share + gap
    return y + height


def draw_rows(drawing, left, key_room, right, cell_room, rows):
    mono = {"font_size": 12, "font_family": "monospace"}
    for row in rows:
        keys = lines_of(row[0], 12, MONO, key_room)
        cells = [line for cell in row[1:] for line in lines_of(cell, 12, MONO, cell_room)]
        for number, line in enumerate(keys):
            drawing.text(left, drawing.y + 14 + LINE * number, line, **mono)
        for number, line in enumerate(cells):
            drawing.text(right, drawing.y + 14 + LINE * number, line, **mono)
        drawing.y += LINE * max(len(keys), len(cells)) + 4
        drawing.line(MARGIN + 10, drawing.y, WIDTH - MARGIN - 10, drawing.y)


def parts_of(table):
    return [(part["part"], part["is"]) for part in table["key"]]


def key_room_of(table, room):
    """Returns the width that the key of a table wants, between a third and 60 % of all."""
    rows = max((width_of(row[0], 12, MONO) for row in table["rows"]), default=0)
    parts = sum(max(width_of(name, 13, SANS), width_of(about, 11, SANS)) + 24 for name, about in parts_of(table))
    return min(max(rows, parts, room * 0.34), room * 0.6)


def draw_table(drawing, table, key_room):
    top, frame_at = drawing.y, len(drawing.elements)
    left, room = MARGIN + 12, INNER - 24
    drawing.text(left, top + 22, table["name"], font_weight="bold", font_size=15)
    parts = parts_of(table)
    families = [(family["name"], family["columns"]) for family in table["families"]]
    right = left + key_room + 16
    cell_room = room - key_room - 16
    below = [draw_boxes(drawing, left, top + 32, key_room, parts, PART),
             draw_boxes(drawing, right, top + 32, cell_room, families, FAMILY)]
    drawing.y = max(below) + 6
    draw_rows(drawing, left, key_room, right, cell_room, table["rows"])
    drawing.y += 6
    for read in table["reads"]:
        for number, line in enumerate(lines_of(read, 12, SANS, room - 18)):
            drawing.text(left + 18, drawing.y + 14, line, font_size=12, fill="#246")
            if number == 0:
                drawing.text(left, drawing.y + 14, "▸", font_size=12, fill="#246")
            drawing.y += LINE
    drawing.y += 8
    frame = Drawing()
    frame.box(MARGIN, top, INNER, drawing.y - top, "#fcfcfc", "#888")
    drawing.elements[frame_at:frame_at] = frame.elements
    drawing.y += 12


def picture_text(picture):
    """Returns the SVG of a picture."""
    check_picture(picture)
    drawing = Drawing()
    for line in lines_of(picture["title"], 17, SANS, INNER):
        drawing.text(MARGIN, drawing.y + 16, line, font_size=17, font_weight="bold")
        drawing.y += 24
    drawing.y += 6
    key_room = max(key_room_of(table, INNER - 24) for table in picture["tables"])  # so that the families align
    for table in picture["tables"]:
        draw_table(drawing, table, key_room)
    height = round(drawing.y - 12 + MARGIN)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' font-family="sans-serif">', f'  <title>{escape(picture["title"])}</title>',
        f'  <rect width="{WIDTH}" height="{height}" fill="#fff"/>', *drawing.elements, '</svg>', ''])


def read_picture(path):
    try:
        return picture_text(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadPicture(f"cannot be read ({error.strerror}): write the tables of the application into it") from error
    except ValueError as error:
        raise BadPicture(f"is not JSON: {error}") from error


def draw(root, names, check):
    """Draws or checks the pictures of the project in `root`; returns the complaints."""
    pictures = root / "docs" / "pictures"
    known = sorted(script.parent.name for script in (root / "examples").glob("*/run.sh"))
    complaints = [f"there is no application {name}: examples/{name}/run.sh is missing" for name in names
                  if name not in known]
    for name in [name for name in known if not names or name in names]:
        source, target = root / "examples" / name / "picture.json", pictures / f"app_{name}.svg"
        try:
            text = read_picture(source)
        except BadPicture as error:
            complaints.append(f"examples/{name}/picture.json: {error}")
            continue
        if not check:
            target.write_text(text, encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != text:
            complaints.append(f"docs/pictures/{target.name} is not what examples/{name}/picture.json gives: run "
                              f"docs/pictures/draw_tables.py {name}")
    if check and not names:
        complaints += [f"docs/pictures/{target.name}: there is no such application, remove the picture"
                       for target in sorted(pictures.glob("app_*.svg")) if target.stem[4:] not in known]
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a picture differs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="applications; all if none is named")
    arguments = parser.parse_args()
    complaints = draw(pathlib.Path(__file__).resolve().parents[2], arguments.names, arguments.check)
    for complaint in complaints:
        print(f"draw_tables.py: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
