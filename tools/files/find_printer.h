// FindPrinter: the places that mention a row, while they are found, as lines for people, one JSON document,
// or JSON Lines.
#pragma once

#include <string>
#include <string_view>

#include "tools/files/row_finder.h"
#include "tools/frame/output.h"
#include "tools/frame/value_rules.h"

namespace cellar {

// Where is looked: a file, or a store's log.
struct FindPlace {
  std::string path;
  bool log = false;
  std::string table;   // of a store's file
  std::string family;  // of a store's file
};

// The sums over all places.
struct FindTotals {
  uint64_t files = 0;
  uint64_t files_outside = 0;
  uint64_t files_denied = 0;  // by the Bloom filter, not looked into
  uint64_t found = 0;         // cells, those of logs included
  bool complete = true;
};

// Bounded memory. One thread.
class FindPrinter {
 public:
  FindPrinter(Output& out, Format format, const RowTarget& target, size_t path_width, ValueRules rules);

  void begin(const FindPlace& place);
  void add(const FoundCell& found);
  void add(const LogMention& mention);
  // `status` says why the place could not be searched to its end.
  void end(const FileSearch& search, const Status& status);
  void end_log(const Status& status);
  void finish(const FindTotals& totals);

 private:
  void add_cell(const CellView& cell, const std::string& members, const std::string& where,
                const std::string& remark);
  void end_place(const std::string& members, const std::string& sentence, const Status& status);
  std::string_view verdict_or_unknown(std::string_view verdict, const Status& status) const;
  void line(const std::string& text);

  Output& out_;
  Format format_;
  RowTarget target_;
  size_t path_width_;
  ValueRules rules_;
  FindPlace place_;
  uint64_t places_ = 0;
  uint64_t cells_ = 0;  // of this place
};

}  // namespace cellar
