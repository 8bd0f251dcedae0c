// ScanOptions: the options that choose rows, shared by scan, count and export.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cellar/query.h"
#include "cellar/table.h"
#include "tools/frame/arguments.h"
#include "tools/frame/operands.h"
#include "tools/frame/read_options.h"
#include "tools/frame/session.h"
#include "tools/frame/value_rules.h"

namespace cellar {

struct ScanOptions {
  std::string start;
  std::string stop;
  std::string prefix;
  std::optional<std::string> key;  // the first fields of the rows
  bool start_exclusive = false;
  bool stop_inclusive = false;
  uint64_t limit = 0;
  ReadOptions read;

  void declare(Arguments& arguments);
  // Declares only the options that choose a range of rows. `start_help` describes --start.
  void declare_range(Arguments& arguments, std::string_view start_help = "first row");
  // kInvalidArgument for text that cannot be parsed.
  Status apply(Scan& scan) const;
  // Applies --key, by the schema of the rules, or else of the table. CEL-USAGE without a schema.
  Status apply_key(Session& session, const Table& table, const ValueRules& rules, Scan& scan) const;
};

// The words with which a person wrote the ends of a range.
struct RangeWords {
  std::string_view start = "--start";
  std::string_view stop = "--stop";
};

// Prints a note on standard error if the scan has a start that is not before its stop. In a reversed scan the
// start must be after the stop. Prints nothing for other scans.
void tell_of_empty_range(Session& session, const Scan& scan, const RangeWords& words = {});

}  // namespace cellar
