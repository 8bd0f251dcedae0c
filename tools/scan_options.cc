// Options that choose rows.
#include "tools/scan_options.h"

namespace cellar {

void ScanOptions::declare(Arguments& arguments) {
  arguments.option("--start", start, "ROW", "first row (with --reverse: the upper end)")
      .option("--stop", stop, "ROW", "end, not included")
      .option("--prefix", prefix, "BYTES", "rows that begin so")
      .option_count("--limit", limit, "at most N rows")
      .option_list("--column", read.columns, "COLUMN", "family:qualifier or family; may be given often")
      .option_if("--filter", read.filter, "TEXT", "only what passes (cellar help filters)")
      .option_if("--time", read.time, "A..B", "only cells of that time (cellar help times)");
}

Status ScanOptions::apply(Scan& scan) const {
  if (!start.empty()) {
    CELLAR_TRY_ASSIGN(const std::string row, parse_bytes(start));
    scan.start(row);
  }
  if (!stop.empty()) {
    CELLAR_TRY_ASSIGN(const std::string row, parse_bytes(stop));
    scan.stop(row);
  }
  if (!prefix.empty()) {
    CELLAR_TRY_ASSIGN(const std::string bytes, parse_bytes(prefix));
    scan.prefix(bytes);
  }
  scan.limit(limit);
  return apply_read_options(read, scan);
}

}  // namespace cellar
