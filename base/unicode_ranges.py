#!/usr/bin/env python3
"""Writes base/unicode_ranges.cc from Python's own Unicode data: base/unicode_ranges.py > base/unicode_ranges.cc"""
import sys
import unicodedata

UNPRINTABLE, ZERO, NARROW, WIDE = range(4)
COLUMNS = 110


def kind_of(code):
    """Returns how a terminal shows a code point."""
    character = chr(code)
    category = unicodedata.category(character)
    if category[0] in "CZ" and character != " ":
        return UNPRINTABLE  # controls, format characters, unassigned, private use, separators
    if category in ("Mn", "Me") or 0x1160 <= code <= 0x11FF:  # the later letters of a syllable of Hangul
        return ZERO
    return WIDE if unicodedata.east_asian_width(character) in "WF" else NARROW


def main():
    changes = []
    for code in range(0x110000):
        kind = kind_of(code)
        if not changes or changes[-1] & 3 != kind:
            changes.append(code << 2 | kind)
    print("// How a terminal shows each character of Unicode %s. Written by unicode_ranges.py." %
          unicodedata.unidata_version)
    print('#include "base/unicode_ranges.h"\n\nnamespace cellar {\n')
    print("// clang-format off")
    print("const std::array<uint32_t, kUnicodeRanges> kUnicodeRangeStarts = {")
    line = "   "
    for i, change in enumerate(changes):
        word = " 0x%X%s" % (change, "," if i + 1 < len(changes) else "};")
        if len(line) + len(word) > COLUMNS:
            print(line)
            line = "   "
        line += word
    print(line)
    print("// clang-format on\n\n}  // namespace cellar")
    print("kUnicodeRanges must be %d in unicode_ranges.h" % len(changes), file=sys.stderr)


main()
