"""The tables of docs/claims.md, and the arguments of its pictures: one entry of CLAIMS for each claim."""

import sys


# ---- Tables ----

def digits(value):
    """Three digits that matter, thousands parted."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        size = 10 ** max(0, len(str(int(abs(value)))) - 3)
        return f"{int(round(value / size) * size):,}"
    return f"{value:.3g}"


def whole(value):
    return digits(round(value, 2) if value < 1000 else value)


def micros(value):
    return digits(value / 1e3)


def millions(value):
    return digits(value / 1e6)


def words(text):
    return text.replace("_", " ")


def table(cases, keys, columns):
    """Rows by the values of `keys` (field, heading); columns are (heading, {field: value}, counter, form)."""
    rows = []
    for _, fields, _ in cases:
        row = tuple(fields[key] for key, _ in keys)
        if row not in rows:
            rows.append(row)
    lines = ["| " + " | ".join([h for _, h in keys] + [c[0] for c in columns]) + " |",
             "|" + "---|" * len(keys) + "---:|" * len(columns)]
    for row in rows:
        texts = [words(value) for value in row]
        for heading, chosen, counter, form in columns:
            wanted = dict(zip((key for key, _ in keys), row)) | chosen
            found = [each[counter] for _, fields, each in cases
                     if counter in each and all(fields.get(k) == v for k, v in wanted.items())]
            if len(found) > 1:
                sys.exit(f"claims.py: {heading} of {row} is ambiguous")
            texts.append(form(found[0]) if found else "–")
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def values_of(cases, field):
    return list(dict.fromkeys(fields[field] for _, fields, _ in cases))


def q01(cases):
    cold, warm = {"cache": "cold"}, {"cache": "warm"}
    return table(cases, [("yield", "selects"), ("files", "times of files"), ("by", "by")], [
        ("cold, µs", cold, "real_time", micros), ("warm, µs", warm, "real_time", micros),
        ("files searched", cold, "files searched", whole), ("blocks", cold, "blocks", whole),
        ("cells examined", cold, "cells examined", whole)])


def q04(cases):
    hours = values_of(cases, "hours")
    return table(cases, [("stamps", "time stamps"), ("asked", "hours asked")],
                 [(f"{h} h: files", {"hours": h}, "files searched", whole) for h in hours] +
                 [(f"{h} h: µs", {"hours": h}, "real_time", micros) for h in hours])


def q06(cases):
    return table(cases, [("gets", "gets"), ("bloom", "filter")], [
        ("time, µs", {}, "cpu_time", micros), ("files searched", {}, "files searched", whole),
        ("blocks", {}, "blocks", whole), ("of them from disk", {}, "blocks from disk", whole),
        ("hit ratio of rows that exist", {}, "hit ratio", digits)])


def q08(cases):
    names = values_of(cases, "lookup")
    return table(cases, [("files_of_family", "files")],
                 [(f"{n}, µs", {"lookup": n}, "cpu_time", micros) for n in names] +
                 [(f"{n}: files searched", {"lookup": n}, "files searched", whole) for n in names])


def q09(cases):
    blocks = values_of(cases, "blocks")
    return table(cases, [("k", "rows")],
                 [(f"blocks {words(b)}, µs", {"blocks": b}, "cpu_time", micros) for b in blocks] +
                 [("blocks", {"blocks": blocks[-1]}, "blocks", whole)])


def q10(cases):
    return table(cases, [("columns", "columns of a row")], [
        ("warm, µs", {"cache": "warm"}, "real_time", micros), ("cold, µs", {"cache": "cold"}, "real_time", micros),
        ("blocks", {"cache": "cold"}, "blocks", whole),
        ("bytes per cell", {"cache": "cold"}, "bytes per cell", digits)])


def q11(cases):
    cold = {"cache": "cold"}
    return table(cases, [("files", "files"), ("way", "way")], [
        ("cold, µs", cold, "real_time", micros), ("warm, µs", {"cache": "warm"}, "real_time", micros),
        ("files searched", cold, "files searched", whole), ("blocks", cold, "blocks", whole),
        ("cells examined", cold, "cells examined", whole)])


def q12(cases):
    names = values_of(cases, "name_bytes")
    return table(cases, [("encoding", "encoding"), ("codec", "codec")],
                 [(f"bytes per cell, names of {n}", {"name_bytes": n}, "bytes per cell", digits) for n in names] +
                 [(f"M cells/s, names of {n}", {"name_bytes": n}, "items_per_second", millions) for n in names])


def q16(cases):
    keys = values_of(cases, "keys")
    return table(cases, [("codec", "codec")],
                 [(f"ratio, {k}", {"keys": k}, "compression ratio", digits) for k in keys] +
                 [(f"bytes per row, {k}", {"keys": k}, "bytes per cell", digits) for k in keys] +
                 [(f"M rows/s read, {k}", {"keys": k}, "items_per_second", millions) for k in keys])


def q17(cases):
    codecs = values_of(cases, "codec")
    return table(cases, [("kB", "block, KiB")],
                 [(f"{c}, µs", {"codec": c}, "cpu_time", micros) for c in codecs] +
                 [(f"{c}, bytes per cell", {"codec": c}, "bytes per cell", digits) for c in codecs])


def q18(cases):
    return table(cases, [("data", "data"), ("cells", "cells"), ("from", "blocks from")], [
        ("p50, µs", {}, "p50 µs", digits), ("p99, µs", {}, "p99 µs", digits),
        ("p99.9, µs", {}, "p99.9 µs", digits),
        ("blocks from disk", {}, "blocks from disk", whole)])


def q25(cases):
    return table(cases, [("durability", "durability"), ("rows", "rows")],
                 [(f"{t} thread{'s' if t != '1' else ''}, 1/s", {"threads": t}, "items_per_second", digits)
                  for t in values_of(cases, "threads")])


def parts(*tables):
    return "\n".join(tables)


def having(cases, **fields):
    return [case for case in cases if all(case[1].get(key) == value for key, value in fields.items())]


def plain(*counters):
    """Columns of counters that do not depend on a field of the case."""
    return [(counter, {}, counter, digits) for counter in counters]


def by(field, values, heading, counter, form):
    """A column for each value of a field; the heading holds the value."""
    return [(heading.format(words(value)), {field: value}, counter, form) for value in values]


def q02(cases):
    cached, read = {"blocks": "cached"}, {"blocks": "read_and_unpacked"}
    return table(cases, [("families", "families of five")], [
        ("files", cached, "files", whole), ("blocks", cached, "blocks", whole),
        ("cached, µs", cached, "cpu_time", micros), ("read and unpacked, µs", read, "cpu_time", micros)])


def q03(cases):
    def columns(which, heading):
        read, cached = {"read": which, "blocks": "read_and_unpacked"}, {"read": which, "blocks": "cached"}
        return [(f"{heading}: blocks", read, "blocks", whole),
                (f"{heading}: cells examined", cached, "cells examined", whole),
                (f"{heading}: cached, µs", cached, "cpu_time", micros),
                (f"{heading}: read and unpacked, µs", read, "cpu_time", micros)]
    return table(cases, [("columns", "columns of a row")],
                 columns("one_column", "one column") + columns("whole_row", "whole row"))


def q05(cases):
    return table(cases, [("bloom", "filter"), ("row", "row")], [
        ("files", {}, "files", whole), ("files searched", {}, "files searched", whole),
        ("blocks", {}, "blocks", whole), ("time, µs", {}, "cpu_time", micros)])


def q07(cases):
    filters = values_of(cases, "bloom")
    return table(cases, [("read", "read")],
                 by("bloom", filters, "files searched, {}", "files searched", whole) +
                 by("bloom", filters, "µs, {}", "cpu_time", micros))


def q13(cases):
    return table(cases, [("codec", "codec"), ("key", "key")], [
        ("bytes per cell", {}, "bytes per cell", digits),
        ("index bytes per block", {}, "index bytes per block", digits),
        ("M cells/s", {}, "items_per_second", millions)])


def q14(cases):
    places = values_of(cases, "place")
    return table(cases, [("encoding", "encoding"), ("codec", "codec"), ("payload", "payload")],
                 by("place", places, "bytes per cell as {}", "bytes per cell", digits) +
                 by("place", places, "M cells/s as {}", "items_per_second", millions))


def q15(cases):
    return table(cases, [("place", "payload in"), ("bytes", "payload, bytes")], [
        ("index bytes per block", {}, "index bytes per block", digits),
        ("data blocks", {}, "data blocks", whole), ("bytes per row", {}, "bytes per cell", digits),
        ("a get, µs", {}, "cpu_time", micros)])


def q19(cases):
    return table(cases, [("from", "blocks from"), ("typed", "typed")], [
        ("keystrokes", {}, "keystrokes", digits), ("blocks of a keystroke", {}, "blocks per keystroke", digits),
        ("p50, µs", {}, "p50 µs", digits), ("p99, µs", {}, "p99 µs", digits), ("p99.9, µs", {}, "p99.9 µs", digits)])


def q20(cases):
    return table(cases, [("titles", "titles drawn")], plain(
        "number of titles", "letters per title", "rows", "rows per title", "MB", "bytes per row") + [
            ("blocks of a get", {}, "blocks", whole), ("a get, µs", {}, "cpu_time", micros)])


Q21_CLAIMED = {"12": ("17 M", "1"), "13": ("67 M", "4"), "14": ("260 M", "18"), "15": ("1024 M", "70")}


def q21(cases):
    lines = ["| zoom | stored | tiles | tiles claimed | bytes per tile | TB | TB claimed |",
             "|---|---|---:|---:|---:|---:|---:|"]
    for _, fields, each in cases:
        zoom = fields["zoom"]
        tiles, size = Q21_CLAIMED.get(zoom, ("–", "–"))
        stored = "computed" if zoom in Q21_CLAIMED else "stored"
        lines.append(f"| {zoom} | {stored} | {digits(each['tiles'])} | {tiles} | {digits(each['bytes per tile'])} | "
                     f"{digits(each['TB'])} | {size} |")
    return "\n".join(lines) + "\n"


def q22(cases):
    return table(cases, [("stored", "stored")], plain(
        "rows", "bytes per row", "GB an hour", "TB in fifty years") + [
            ("a read, µs", {}, "cpu_time", micros), ("blocks", {}, "blocks", whole)])


def q23(cases):
    return table(cases, [("rows", "rows")], plain("bytes per row", "rows at full size", "GB at full size") + [
        ("rows on a screen", {}, "cells returned", digits), ("a screen, µs", {}, "cpu_time", micros)])


def q24(cases):
    return table(cases, [("rate", "lines a second")], plain(
        "lines/s", "µs of processor", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "stalls", "bytes per line", "TB a year"))


def q26(cases):
    return table(cases, [("way", "way")], plain("updates", "counted", "lost percent", "updates/s"))


def q27(cases):
    return table(cases, [("counts", "counts come")], plain(
        "µs per write", "MB in memory at most", "kB in files at most", "flushes", "cells in files"))


def q28(cases):
    return table(cases, [("posts_in", "posts in"), ("after", "after")], plain(
        "cells visible", "cells stored", "kB in files", "files", "files skipped", "cells examined") + [
            ("a scan, µs", {}, "real_time", micros)])


def q29(cases):
    lookups, scans = having(cases, part="lookups"), having(cases, part="scans")
    return parts(
        table(having(cases, part="writes"), [("stores", "stores"), ("keys", "keys")], plain("busy stores", "rows/s")),
        table(having(cases, part="compactions"), [("policy", "policy"), ("keys", "keys")], plain(
            "flushes", "MB flushed", "MB compacted", "bytes per row")),
        table(lookups, [("keys", "keys"), ("salts", "salts")], [
            ("gets of a lookup", {}, "gets", digits), ("blocks", {}, "blocks", whole),
            ("a lookup, µs", {}, "cpu_time", micros)]),
        table(scans, [("keys", "keys"), ("salts", "salts")],
              by("order", values_of(scans, "order"), "M rows/s, {}", "rows/s", millions)))


def q30(cases):
    return table(cases, [("sizes", "sizes"), ("families", "families")], plain(
        "flushes", "kB per flush", "compactions", "MB compacted", "files of a get", "µs per get") + [
            ("writing, ms", {}, "real_time", micros_to_millis)])


def micros_to_millis(value):
    return digits(value / 1e6)


def q31(cases):
    return table(cases, [("call", "call"), ("rows", "rows of a call")], [
        ("calls", {}, "calls", digits), ("M rows/s", {}, "rows/s", millions)])


def q32(cases):
    widths = values_of(cases, "columns")
    return table(cases, [("way", "way")],
                 by("columns", widths, "cells examined of {}", "cells examined", whole) +
                 by("columns", widths, "µs of {}", "cpu_time", micros))


def q33(cases):
    return table(cases, [("by", "selected by")], [
        ("cells returned", {}, "cells returned", whole), ("cells examined", {}, "cells examined", whole),
        ("blocks", {}, "blocks", whole), ("time, µs", {}, "real_time", micros)])


def q34(cases):
    missing = values_of(cases, "missing_percent")
    return table(cases, [("stored", "links as")],
                 by("missing_percent", missing, "files searched, {} % missing", "files searched", whole) +
                 by("missing_percent", missing, "blocks, {} % missing", "blocks", whole) +
                 by("missing_percent", missing, "µs, {} % missing", "cpu_time", micros) +
                 [("bytes per link", {"missing_percent": missing[0]}, "bytes per link", digits)])


def q35(cases):
    fields = values_of(having(cases, do="read"), "fields")
    return parts(
        table(having(cases, do="read"), [("layout", "layout")],
              by("fields", fields, "{} fields read, µs", "cpu_time", micros) +
              [("bytes per row", {"fields": fields[0]}, "bytes per row", digits)]),
        table(having(cases, do="update"), [("layout", "layout")], [
            ("one field updated, µs", {}, "cpu_time", micros), ("bytes written", {}, "bytes written", digits)]))


def q36(cases):
    """The last column: how many reads of a stream for each post make both ways cost the same."""
    lines = ["| followers | copied: a post, µs | copied: a read, µs | joined: a post, µs | joined: a read, µs | "
             "MB copied | MB joined | equal at |", "|---|" + "---:|" * 7]
    for followers in values_of(cases, "followers"):
        cost = {(fields["stream"], fields["do"]): each for _, fields, each in having(cases, followers=followers)}
        post, read = cost["copied", "post"]["cpu_time"], cost["copied", "read"]["cpu_time"]
        joined_post, joined_read = cost["joined", "post"]["cpu_time"], cost["joined", "read"]["cpu_time"]
        more, saved = post - joined_post, joined_read - read
        equal = f"{digits(more / saved)} reads a post" if more > 0 and saved > 0 else "–"
        lines.append("| " + " | ".join(
            [followers] + [micros(each) for each in (post, read, joined_post, joined_read)] +
            [digits(cost[stream, "read"]["MB"]) for stream in ("copied", "joined")] + [equal]) + " |")
    return "\n".join(lines) + "\n"


def q37(cases):
    ways = values_of(cases, "read")
    return table(cases, [("relations", "relations of a user")],
                 by("read", ways, "{}, µs", "cpu_time", micros) + by("read", ways, "{}: blocks", "blocks", whole))


def q38(cases):
    ways = values_of(cases, "by")
    return table(cases, [("rows", "rows")],
                 by("by", ways, "{}: cells examined", "cells examined", whole) +
                 by("by", ways, "{}: blocks", "blocks", whole) + by("by", ways, "{}, µs", "cpu_time", micros))


def q39(cases):
    return table(cases, [("tables", "tables")], plain("µs per entry", "bytes per entry"))


def q40(cases):
    return table(cases, [("meanwhile", "meanwhile")], plain("writes", "reads", "flushes", "compactions", "torn reads"))


def q41(cases):
    places = values_of(cases, "place")
    return table(cases, [("columns", "columns of the row")],
                 by("place", places, "{}: blocks", "blocks", whole) +
                 by("place", places, "{}: cells examined", "cells examined", whole) +
                 by("place", places, "{}, µs", "cpu_time", micros))


def q42(cases):
    columns = values_of(cases, "columns")
    return table(cases, [("codec", "codec"), ("stored", "stored")],
                 by("columns", columns, "bytes per row of {}", "bytes per row", digits) +
                 by("columns", columns, "M rows/s of {}", "rows/s", millions))


def q43(cases):
    days = values_of(cases, "day")
    return table(cases, [("policy", "policy"), ("ttl", "time to live")],
                 by("day", days, "MB on day {}", "MB", digits) +
                 [(f"files on day {days[-1]}", {"day": days[-1]}, "files", digits),
                  ("MB compacted", {"day": days[-1]}, "MB compacted", digits)])


def q44(cases):
    calls = values_of(cases, "calls")
    return table(cases, [("do", "work"), ("how", "how")],
                 by("calls", calls, "{}, µs of processor", "cpu_time", micros) +
                 by("calls", calls, "{}, µs by the clock", "real_time", micros) +
                 by("calls", calls, "{}: blocks", "blocks", whole))


def q45(cases):
    counts = values_of(cases, "n")
    return table(cases, [("entries", "entries as")],
                 by("n", counts, "newest {}: cells examined", "cells examined", whole) +
                 by("n", counts, "newest {}, µs", "cpu_time", micros))


# ---- Claims: table, and picture as arguments of cellar plot ----

CLAIMS = {
    "Q01": (q01, ["--filter", "Q01.*a_fifth/cache:warm", "--x", "by", "--series", "files", "--log-y",
                  "--title", "A fifth of all cells, by one coordinate (warm)"]),
    "Q02": (q02, ["--filter", "Q02", "--x", "families", "--series", "blocks", "--y", "cpu_time",
                  "--title", "A get of some of five families", "--x-label", "families that are named"]),
    "Q03": (q03, ["--filter", "Q03.*blocks:cached", "--x", "columns", "--series", "read", "--y", "cells examined",
                  "--log-x", "--log-y", "--title", "One column, and the whole row", "--x-label", "columns of a row"]),
    "Q04": (q04, ["--filter", "Q04.*asked:oldest", "--x", "hours", "--series", "stamps", "--y", "files searched",
                  "--title", "Files searched for the oldest hours of 24", "--x-label", "hours asked for"]),
    "Q05": (q05, None),
    "Q06": (q06, ["--filter", "Q06", "--x", "gets", "--series", "bloom", "--y", "cpu_time", "--log-y",
                  "--title", "Gets, half or all of them of rows that are missing"]),
    "Q07": (q07, ["--filter", "Q07", "--x", "read", "--series", "bloom", "--y", "files searched",
                  "--title", "Files of ten that are searched, by Bloom filter"]),
    "Q08": (q08, ["--filter", "Q08", "--x", "files_of_family", "--series", "lookup", "--y", "cpu_time",
                  "--log-x", "--title", "A row that exists: exact, next above, next below",
                  "--x-label", "files of the family"]),
    "Q09": (q09, ["--filter", "Q09", "--x", "k", "--series", "blocks", "--y", "cpu_time",
                  "--log-x", "--log-y", "--title", "Reading k neighbouring rows of 100 bytes", "--x-label", "rows"]),
    "Q10": (q10, ["--filter", "Q10", "--x", "columns", "--series", "cache", "--log-x",
                  "--title", "Ten thousand cells", "--x-label", "columns of a row"]),
    "Q11": (q11, ["--filter", "Q11.*cold", "--x", "way", "--series", "files", "--log-y",
                  "--title", "One day of a user's blogs (cold)"]),
    "Q12": (q12, ["--filter", "Q12.*encoding:none", "--x", "name_bytes", "--series", "codec", "--y", "bytes per cell",
                  "--title", "Short names: bytes of a cell on disk (encoding none)",
                  "--x-label", "bytes of family and qualifier, each"]),
    "Q13": (q13, ["--filter", "Q13", "--x", "key", "--series", "codec", "--y", "bytes per cell",
                  "--title", "Numbers in keys: bytes of a cell on disk"]),
    "Q14": (q14, ["--filter", "Q14.*codec:none/payload:repeated", "--x", "place", "--series", "encoding",
                  "--y", "bytes per cell", "--title", "64 bytes that repeat, as row, column or value"]),
    "Q15": (q15, ["--filter", "Q15", "--x", "bytes", "--series", "place", "--y", "index bytes per block",
                  "--title", "Index of a block, by the payload of its keys", "--x-label", "payload, bytes"]),
    "Q16": (q16, ["--filter", "Q16", "--x", "codec", "--series", "keys", "--y", "compression ratio",
                  "--title", "Completions of prefixes: neighbours together or apart"]),
    "Q17": (q17, ["--filter", "Q17", "--x", "kB", "--series", "codec", "--y", "cpu_time", "--log-x", "--log-y",
                  "--title", "A get that reads and unpacks its block", "--x-label", "block, KiB"]),
    "Q18": (q18, ["--filter", "Q18.*data:rows", "--x", "cells", "--series", "from", "--y", "p50 µs",
                  "--log-x", "--log-y", "--title", "A get, median of many",
                  "--x-label", "rows", "--y-label", "time, µs"]),
    "Q19": (q19, None),
    "Q20": (q20, ["--filter", "Q20", "--x", "number of titles", "--y", "rows", "--log-x", "--log-y",
                  "--title", "Rows of a table of completions", "--x-label", "titles"]),
    "Q21": (q21, None),
    "Q22": (q22, None),
    "Q23": (q23, None),
    "Q24": (q24, None),
    "Q25": (q25, ["--filter", "Q25.*uniform", "--x", "threads", "--series", "durability", "--y", "items_per_second",
                  "--log-x", "--log-y", "--title", "Counter updates, ten thousand counters",
                  "--x-label", "threads", "--y-label", "updates per second"]),
    "Q26": (q26, ["--filter", "Q26", "--x", "way", "--y", "counted",
                  "--title", "What is counted of 32,000 updates by sixteen threads"]),
    "Q27": (q27, None),
    "Q28": (q28, ["--filter", "Q28.*files", "--x", "after", "--series", "posts_in", "--y", "cells stored",
                  "--title", "Cells in files, half of them or more expired"]),
    "Q29": (q29, ["--filter", "Q29.*part:writes", "--x", "stores", "--series", "keys", "--y", "rows/s",
                  "--title", "Rows a second, by the number of stores", "--x-label", "stores"]),
    "Q30": (q30, ["--filter", "Q30", "--x", "families", "--series", "sizes", "--y", "kB per flush", "--log-y",
                  "--title", "Size of a flush, by the number of families", "--x-label", "families"]),
    "Q31": (q31, ["--filter", "Q31.*next_batch", "--x", "rows", "--y", "rows/s", "--log-x",
                  "--title", "A scan, by the rows that a call returns", "--x-label", "rows of a call"]),
    "Q32": (q32, ["--filter", "Q32", "--x", "columns", "--series", "way", "--y", "cpu_time", "--log-x", "--log-y",
                  "--title", "Ten columns of a row", "--x-label", "columns of the row"]),
    "Q33": (q33, ["--filter", "Q33", "--x", "by", "--y", "real_time", "--log-y",
                  "--title", "A hundredth of a table, by how it is selected"]),
    "Q34": (q34, ["--filter", "Q34", "--x", "stored", "--series", "missing_percent", "--y", "cpu_time",
                  "--title", "Is there a link from a to b?"]),
    "Q35": (q35, ["--filter", "Q35.*do:read", "--x", "fields", "--series", "layout", "--y", "cpu_time",
                  "--title", "Fields read of twenty", "--x-label", "fields"]),
    "Q36": (q36, ["--filter", "Q36.*do:read", "--x", "followers", "--series", "stream", "--y", "cpu_time", "--log-x",
                  "--log-y", "--title", "Reading a stream", "--x-label", "users that are followed"]),
    "Q37": (q37, ["--filter", "Q37", "--x", "relations", "--series", "read", "--y", "cpu_time", "--log-x", "--log-y",
                  "--title", "One relation of a user", "--x-label", "relations of a user"]),
    "Q38": (q38, ["--filter", "Q38", "--x", "rows", "--series", "by", "--y", "cpu_time", "--log-y",
                  "--title", "Ten rows by their second field", "--x-label", "rows of the table"]),
    "Q39": (q39, None),
    "Q40": (q40, None),
    "Q41": (q41, ["--filter", "Q41", "--x", "columns", "--series", "place", "--y", "cpu_time", "--log-x",
                  "--title", "One column of a long row", "--x-label", "columns of the row"]),
    "Q42": (q42, ["--filter", "Q42.*codec:none", "--x", "columns", "--series", "stored", "--y", "bytes per row",
                  "--log-x", "--log-y", "--title", "A row with one column set (no codec)",
                  "--x-label", "possible columns"]),
    "Q43": (q43, ["--filter", "Q43.*60_days", "--x", "day", "--series", "policy", "--y", "MB",
                  "--title", "A table that forgets after sixty days, by policy", "--x-label", "day"]),
    "Q44": (q44, None),
    "Q45": (q45, ["--filter", "Q45", "--x", "n", "--series", "entries", "--y", "cpu_time", "--log-x", "--log-y",
                  "--title", "The newest n of 100,000", "--x-label", "n"]),
}
ALL_CLAIMS = [f"Q{number}" for number in range(1, 46)]
