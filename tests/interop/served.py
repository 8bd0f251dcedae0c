"""HBase's client on a store that Cellar serves."""

import region
from common import WRITER, Failed, Tally, must


def serve(release, folder, seed, tables, tls=()):
    """The same random operations through HBase's client on a served store, and on a table; and statements."""
    *files, site = tls or [None]  # the server's certificate, the issuer's, and the directory of the client's settings
    tally = Tally()
    operations = folder / "operations"
    region.write_operations(operations, seed, tables)
    # A client cannot choose the files of a compaction, and which markers it drops depends on them.
    drawn = operations.read_text("latin-1").splitlines(keepends=True)
    operations.write_text("".join(line for line in drawn if not line.startswith("compact\t")), "latin-1")
    must([WRITER, "region", folder / "store", operations, folder / "cellar"])
    tally.take(*release.java("Serve", folder / "served", operations, folder / "client", WRITER, "serve", *files, site=site), "Serve")
    lines = [path.read_text("latin-1").splitlines() for path in (operations, folder / "cellar", folder / "client")]
    if not len(lines[0]) == len(lines[1]) == len(lines[2]):
        raise Failed(f"of {len(lines[0])} operations Cellar answered {len(lines[1])} and the client {len(lines[2])}")
    # A client does not see what files a table has.
    for at, answer in enumerate(lines[2]):
        if answer == "rewritten" and lines[1][at].startswith("files"):
            lines[2][at] = lines[1][at]
    region.compare_answers(*lines, tally)
    if not tally.counts["reads that found something"]:
        tally.differ("no read found anything")
    return tally
