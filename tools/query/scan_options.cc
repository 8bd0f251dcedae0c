// Options that choose rows.
#include "tools/query/scan_options.h"

#include <fmt/format.h>

#include "base/text_width.h"
#include "tools/frame/read_options.h"
#include "tools/query/key_fields.h"

namespace cellar {

void ScanOptions::declare_range(Arguments& arguments, std::string_view start_help) {
  arguments.option("--start", start, "ROW", std::string(start_help))
      .flag("--start-exclusive", start_exclusive, "exclude the row of --start")
      .option("--stop", stop, "ROW", "end of the rows; this row is not included")
      .flag("--stop-inclusive", stop_inclusive, "include the row of --stop")
      .option("--prefix", prefix, "BYTES", "rows with this prefix");
}

void ScanOptions::declare(Arguments& arguments) {
  declare_range(arguments, "first row (with --reverse: the highest row)");
  arguments.option_if("--key", key, "FIELDS", "rows whose key begins so: user=alice,when=2026-11-20")
      .option_count("--limit", limit, "at most N rows (0: no limit)")
      .option_list("--column", read.columns, "COLUMN", "family:qualifier or family; may be repeated")
      .option_if("--filter", read.filter, "TEXT", "only cells that pass the filter (cellar help filters)")
      .option_if("--time", read.time, "A..B", "only cells with timestamps in this range (cellar help times)");
}

Status ScanOptions::apply(Scan& scan) const {
  if (start_exclusive && start.empty())
    return Status::invalid_argument("--start-exclusive needs --start")
        .hinting("name the first row: --start ROW");
  if (stop_inclusive && stop.empty())
    return Status::invalid_argument("--stop-inclusive needs --stop").hinting("name the last row: --stop ROW");
  if (!start.empty()) {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("--start", parse_bytes(start)));
    scan.start(row, !start_exclusive);
  }
  if (!stop.empty()) {
    CELLAR_TRY_ASSIGN(const std::string row, for_argument("--stop", parse_bytes(stop)));
    scan.stop(row, stop_inclusive);
  }
  if (!prefix.empty()) {
    CELLAR_TRY_ASSIGN(const std::string bytes, for_argument("--prefix", parse_bytes(prefix)));
    scan.prefix(bytes);
  }
  scan.limit(limit);
  return apply_read_options(read, scan);
}

Status ScanOptions::apply_key(Session& session, const Table& table, const ValueRules& rules,
                              Scan& scan) const {
  if (!key) return {};
  if (!start.empty() || !stop.empty() || !prefix.empty())
    return session.name_failure(
        "CEL-USAGE", Exit::kUsage,
        Status::invalid_argument("--key is a range of rows, and so are --start, --stop and --prefix")
            .hinting("leave one of them out"));
  CELLAR_TRY_ASSIGN(KeyRange range, range_of_fields(session, key_schema_of(session, table, rules), *key));
  scan.ranges({std::move(range)});
  return {};
}

void tell_of_empty_range(Session& session, const Scan& scan, const RangeWords& words) {
  if (scan.start().empty() || scan.stop().empty()) return;
  const int order = scan.reversed() ? scan.stop().compare(scan.start()) : scan.start().compare(scan.stop());
  if (order < 0 || (order == 0 && scan.start_inclusive() && scan.stop_inclusive())) return;
  session.talk(fmt::format("note   the range is empty: in {} order, {} \"{}\" is not before {} \"{}\"",
                           scan.reversed() ? "reverse" : "ascending", words.start, readable(scan.start()),
                           words.stop, readable(scan.stop())));
}

}  // namespace cellar
