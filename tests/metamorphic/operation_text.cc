// Operations as text: one line each, for reduced lists in failures.
#include <fmt/format.h>

#include "base/bytes.h"
#include "tests/metamorphic/operations.h"

namespace cellar::testing {
namespace {

using Kind = Operation::Kind;

std::string time_text(const std::optional<int64_t>& timestamp) {
  return timestamp ? fmt::format("@{}", *timestamp) : "@now";
}

std::string change_text(const ModelChange& change) {
  using Change = ModelChange::Kind;
  const std::string column = fmt::format("{}:\"{}\"", change.family, escaped(change.qualifier));
  const std::string at = time_text(change.timestamp);
  switch (change.kind) {
    case Change::kPut:
      return fmt::format(
          " {}{}=\"{}\"", column, at,
          change.value.size() > 40
              ? fmt::format("{}… {} bytes", escaped(change.value.substr(0, 10)), change.value.size())
              : escaped(change.value));
    case Change::kDeleteVersion:
      return fmt::format(" version {}{}", column, at);
    case Change::kDeleteLatest:
      return fmt::format(" latest_version {}", column);
    case Change::kDeleteColumn:
      return fmt::format(" column {}{}", column, at);
    case Change::kDeleteFamily:
      return fmt::format(" family {}{}", change.family, at);
    case Change::kDeleteFamilyVersion:
      return fmt::format(" family_version {}{}", change.family, at);
    case Change::kIncrement:
      return fmt::format(" {}{:+}", column, change.amount);
    case Change::kAppend:
      return fmt::format(" {}..\"{}\"", column, escaped(change.value));
    default:
      return " ?";
  }
}

std::string_view verb_of(const RowChange& change) {
  if (change.is_delete) return "delete";
  if (change.changes.front().kind == ModelChange::Kind::kIncrement) return "increment";
  return change.changes.front().kind == ModelChange::Kind::kAppend ? "append" : "put";
}

std::string row_text(const RowChange& change) {
  std::string text =
      fmt::format("{} {} \"{}\"", verb_of(change), table_name(change.table), escaped(change.row));
  if (change.is_delete && change.changes.empty()) return text + " row" + time_text(change.timestamp);
  for (const ModelChange& each : change.changes) text += change_text(each);
  if (change.put_ttl_ms) text += fmt::format(" ttl_ms={}", *change.put_ttl_ms);
  return text;
}

std::string rows_text(std::string text, const Operation& operation) {
  text += operation.unlogged ? ", unlogged:" : ":";
  for (const RowChange& row : operation.rows)
    text += "\n    " + (is_get(row) ? "get \"" + escaped(row.row) + "\"" : row_text(row));
  return text;
}

std::string filter_text(const Operation& operation) {
  const ModelFilter& filter = operation.filter;
  constexpr const char* kNames[] = {"row prefix", "row",   "family", "column prefix",
                                    "column",     "value", "page",   "row by column"};
  constexpr const char* kSigns[] = {"<", "<=", "==", "!=", ">=", ">"};
  const std::string text =
      fmt::format(" filter {} {} \"{}\" {}", kNames[static_cast<size_t>(filter.kind)],
                  kSigns[static_cast<size_t>(filter.compare)], escaped(filter.bytes), filter.rows);
  if (filter.kind != ModelFilter::Kind::kRowByColumn) return text;
  return fmt::format("{} of {}:{}{}{}", text, filter.family, escaped(filter.qualifier),
                     filter.required ? ", which must be there" : "",
                     operation.on_demand ? ", others on demand" : "");
}

std::string check_text(const Operation& operation) {
  const ModelCheck& check = operation.check;
  constexpr const char* kSigns[] = {"<", "<=", "==", "!=", ">=", ">"};
  return fmt::format("if {} {} {}:\"{}\" of [{}, {})",
                     check.expects_stored ? "what is stored, else \"" + escaped(check.expected) + "\","
                                          : "\"" + escaped(check.expected) + "\"",
                     kSigns[static_cast<size_t>(check.compare)], check.family, escaped(check.qualifier),
                     operation.scan.time_from, operation.scan.time_until);
}

std::string scan_text(const Operation& operation) {
  const ModelScan& scan = operation.scan;
  std::string text;
  if (!operation.prefix.empty()) text += fmt::format(" prefix \"{}\"", escaped(operation.prefix));
  if (!scan.start.empty())
    text += fmt::format(" from \"{}\"{}", escaped(scan.start), scan.start_inclusive ? "" : " exclusive");
  if (!scan.stop.empty())
    text += fmt::format(" to \"{}\"{}", escaped(scan.stop), scan.stop_inclusive ? " inclusive" : "");
  if (scan.reversed) text += " reversed";
  if (scan.raw) text += " raw";
  if (scan.rows_max != 0) text += fmt::format(" limit {}", scan.rows_max);
  if (scan.cells_per_part != 0) text += fmt::format(" batch {}", scan.cells_per_part);
  if (scan.bytes_per_part != 0) text += fmt::format(" bytes {}", scan.bytes_per_part);
  if (scan.family_max != 0) text += fmt::format(" max {} per family", scan.family_max);
  if (scan.family_offset != 0) text += fmt::format(" offset {} per family", scan.family_offset);
  if (scan.family_counts_cells) text += " counting cells";
  if (operation.cursor_cells != 0)
    text +=
        fmt::format(" cursors after {}{}", operation.cursor_cells,
                    operation.resumes && operation.kind == Kind::kScan ? ", scanning anew from them" : "");
  for (const auto& [family, columns] : scan.columns) {
    text += fmt::format(" {}:", family);
    for (const std::string& column : columns) text += fmt::format("\"{}\",", escaped(column));
  }
  if (scan.versions != 1) text += fmt::format(" versions {}", scan.versions);
  if (scan.time_from != 0 || scan.time_until != kLatestTimestamp)
    text += fmt::format(" time [{}, {})", scan.time_from, scan.time_until);
  for (const auto& [family, times] : scan.family_times)
    text += fmt::format(" of {} [{}, {})", family, times.first, times.second);
  if (scan.strict_versions) text += " strictly";
  if (operation.at_snapshot) text += fmt::format(" at snapshot {}", operation.which);
  return text;
}

// Returns the text of an operation of the kinds from kGetInto on.
std::string other_text(const Operation& operation) {
  constexpr const char* kNames[] = {
      "get into",       "row at or after", "row at or before", "scan onward",  "filtered get",
      "filtered scan",  "count rows",      "estimate",         "split points", "explained get",
      "explained scan", "action list",     "transaction",      "rolled back",  "transaction in conflict",
      "flush all",      "compact major",   "recode",           "truncate",     "drop and create",
      "family anew",    "name snapshot",   "drop named",       "read named",   "restore named",
      "clone named",    "checkpoint",      "ingest exported",
  };
  const size_t at = static_cast<size_t>(operation.kind) - static_cast<size_t>(Kind::kGetInto);
  const std::string text = fmt::format("{} {}", kNames[at], table_name(operation.table));
  if (operation.kind >= Kind::kActionList && operation.kind <= Kind::kTransactionInConflict)
    return rows_text(fmt::format("{} at {}", text, operation.which), operation);
  if (operation.kind == Kind::kRecode)
    return fmt::format("{}:{} as {}", text, operation.family, cellar::to_text(operation.coded));
  if (operation.kind == Kind::kCompactMajor || operation.kind == Kind::kFamilyAnew)
    return text + (operation.family.empty() ? "" : ":" + operation.family);
  const bool filtered = operation.kind == Kind::kFilteredGet || operation.kind == Kind::kFilteredScan;
  if (operation.kind < Kind::kActionList)
    return fmt::format("{} \"{}\"{}{}", text, escaped(operation.row), scan_text(operation),
                       filtered ? filter_text(operation) : "");
  return fmt::format("{} {}{}", text, operation.which, operation.major ? " of all, or flushed before" : "");
}

}  // namespace

std::string to_text(const Operation& operation) {
  const std::string table = table_name(operation.table);
  switch (operation.kind) {
    case Kind::kPut:
    case Kind::kDelete:
    case Kind::kIncrement:
    case Kind::kAppend:
      return row_text(operation.rows.front()) + (operation.unlogged ? " unlogged" : "");
    case Kind::kRowMutations:
      return rows_text("row mutations", operation);
    case Kind::kCheckAndMutate:
      return rows_text(check_text(operation), operation);
    case Kind::kBatch:
      return rows_text("batch", operation);
    case Kind::kIngest: {
      std::string text =
          fmt::format("ingest into {}, up to {} files of a family:", table, operation.which + 1);
      for (const RowChange& row : operation.rows) text += "\n    " + row_text(row);
      return text;
    }
    case Kind::kGet:
    case Kind::kExists:
      return fmt::format("{} {} \"{}\"{}", operation.kind == Kind::kGet ? "get" : "exists", table,
                         escaped(operation.row), scan_text(operation));
    case Kind::kGetMany: {
      std::string text = "get many of " + table + scan_text(operation) + ":";
      for (const std::string& row : operation.many) text += " \"" + escaped(row) + "\"";
      return text;
    }
    case Kind::kScan:
    case Kind::kOpenScanner:
      return fmt::format("{} {}{}", operation.kind == Kind::kScan ? "scan" : "open scanner", table,
                         scan_text(operation));
    case Kind::kDrainScanner:
      return fmt::format("drain scanner {}", operation.which);
    case Kind::kOpenSnapshot:
      return "open snapshot";
    case Kind::kCloseSnapshot:
      return fmt::format("close snapshot {}", operation.which);
    case Kind::kFlush:
      return "flush " + table;
    case Kind::kCompact:
      return fmt::format("compact {}{}", table, operation.family.empty() ? "" : ":" + operation.family);
    case Kind::kClock:
      return fmt::format("clock {}", operation.clock_ms);
    case Kind::kAlter:
      return fmt::format("alter {}:{} max_versions={} ttl_s={}", table, operation.family,
                         operation.max_versions, operation.ttl_s);
    case Kind::kReopen:
      return "reopen";
    case Kind::kReopenReadOnly:
      return "reopen read-only and back";
    case Kind::kSettle:
      return "settle";
    case Kind::kCrash:
      return fmt::format("crash {}", operation.which);
    default:
      return other_text(operation);
  }
}

}  // namespace cellar::testing
