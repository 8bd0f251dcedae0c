// Options that choose rows.
#include "tools/query/scan_options.h"
#include "tools/frame/read_options.h"

namespace cellar {

void ScanOptions::declare(Arguments& arguments) {
  arguments.option("--start", start, "ROW", "first row (with --reverse: the upper end)")
      .flag("--start-exclusive", start_exclusive, "without the row of --start")
      .option("--stop", stop, "ROW", "end, not included")
      .flag("--stop-inclusive", stop_inclusive, "with the row of --stop")
      .option("--prefix", prefix, "BYTES", "rows that begin so")
      .option_count("--limit", limit, "at most N rows")
      .option_list("--column", read.columns, "COLUMN", "family:qualifier or family; may be given often")
      .option_if("--filter", read.filter, "TEXT", "only what passes (cellar help filters)")
      .option_if("--time", read.time, "A..B", "only cells of that time (cellar help times)");
}

Status ScanOptions::apply(Scan& scan) const {
  if (start_exclusive && start.empty())
    return Status::invalid_argument("--start-exclusive needs a --start").hinting("say from which row on");
  if (stop_inclusive && stop.empty())
    return Status::invalid_argument("--stop-inclusive needs a --stop").hinting("say up to which row");
  if (!start.empty()) {
    CELLAR_TRY_ASSIGN(const std::string row, parse_bytes(start));
    scan.start(row, start_exclusive ? Bound::kExclusive : Bound::kInclusive);
  }
  if (!stop.empty()) {
    CELLAR_TRY_ASSIGN(const std::string row, parse_bytes(stop));
    scan.stop(row, stop_inclusive ? Bound::kInclusive : Bound::kExclusive);
  }
  if (!prefix.empty()) {
    CELLAR_TRY_ASSIGN(const std::string bytes, parse_bytes(prefix));
    scan.prefix(bytes);
  }
  scan.limit(limit);
  return apply_read_options(read, scan);
}

}  // namespace cellar
