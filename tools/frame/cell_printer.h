// CellPrinter: cells to standard output, in the one form of cell streams, as a table for people, as CSV, or
// values only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "tools/frame/output.h"
#include "tools/frame/session.h"
#include "tools/frame/value_rules.h"

namespace cellar {

struct CellPrinterOptions {
  Format format = Format::kTable;
  bool mvcc = false;                // each cell's sequence is shown
  bool tags = false;                // and its tags
  bool values = true;               // and its value
  bool types = false;               // tables get a column for the type
  ValueRules rules = ValueRules();  // of tables, CSV and raw; keys in JSON
  size_t value_width = SIZE_MAX;    // of tables: columns of a value's text that are shown
  size_t line_width = SIZE_MAX;     // of tables: the columns of a line; values are cut to it
  std::string schema = "cellar.cells/1";
};

// Streams: bounded memory in every format. One thread.
class CellPrinter {
 public:
  CellPrinter(Output& out, CellPrinterOptions options) : out_(out), options_(std::move(options)) {}

  void add(const CellView& cell);
  // Further members of the JSON document, already JSON ("\"stats\":{…}"); empty: none.
  void finish(std::string_view members = {});
  uint64_t cells() const { return cells_; }
  // Returns whether a value was cut to the width of a line.
  bool has_cut() const { return has_cut_; }

 private:
  using Columns = std::vector<std::string>;
  Columns columns_of(const CellView& cell) const;
  Columns heading() const;
  void begin();
  void add_csv(const CellView& cell);
  void print_row(const Columns& row);
  void append_cut(std::string_view value, size_t width, size_t used);
  void print_held();

  Output& out_;
  CellPrinterOptions options_;
  uint64_t cells_ = 0;
  bool begun_ = false;
  bool holding_ = true;  // the first rows decide the widths of the table
  std::vector<Columns> held_;
  size_t held_bytes_ = 0;
  std::vector<size_t> widths_;
  std::string last_row_;
  bool has_cut_ = false;
};

// Tells that values were cut to the width of the terminal, and how to see them whole.
void tell_of_cut_values(const Session& session, const CellPrinter& printer);

}  // namespace cellar
