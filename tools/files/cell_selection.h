// CellSelection: which cells of HFiles a command is about: rows, columns, times, kinds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hfile/read/hfile_reader.h"
#include "tools/frame/arguments.h"
#include "tools/frame/operands.h"
#include "tools/frame/progress.h"
#include "tools/frame/session.h"

namespace cellar {

// Declares its options, parses what they were given, and walks files. One thread.
class CellSelection {
 public:
  void declare(Arguments& arguments);
  // After the command line is parsed. kInvalidArgument.
  Status parse();

  bool wanted(const CellView& cell) const;

  // Calls `take` for each wanted cell in the file's order, until it returns false, the program is
  // interrupted, or the cells end. With nothing parsed, every cell is wanted. Files in the order of
  // hbase:meta are read from their first cell on. `progress` counts all cells, wanted or not.
  Status walk(const HFileReader& file, Progress& progress,
              const std::function<bool(const CellView&)>& take) const;
  // Returns how many cells of the file walk() goes through; 0 if only a part of the rows is chosen.
  uint64_t cells_of(const HFileReader& file) const;

 private:
  bool beyond(std::string_view row) const;
  Status parse_types();

  std::string row_;
  std::string start_;
  std::string stop_;
  std::string prefix_;
  std::vector<std::string> columns_;
  std::string types_text_;
  std::string time_text_;
  std::vector<ColumnOperand> chosen_;
  std::vector<CellType> types_;
  int64_t time_from_ = INT64_MIN;
  int64_t time_until_ = INT64_MAX;
  bool timed_ = false;
};

}  // namespace cellar
