// CellReader: cells out of JSON Lines, CSV and TSV files, line by line, telling bad lines from files that
// cannot be read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/status.h"
#include "tools/frame/operands.h"
#include "tools/transfer/line_reader.h"

namespace cellar {

enum class CellSource : uint8_t { kJsonl, kCsv, kTsv };

// Where the columns of a CSV file go: "row=id, d:name=name, ts=updated".
struct CellMap {
  std::string row;                                             // name of the column that is the row
  std::string time;                                            // the same for the timestamp, or empty
  std::vector<std::pair<ColumnOperand, std::string>> columns;  // cell, name of the column
};
Result<CellMap> parse_cell_map(std::string_view text);

struct CellReaderOptions {
  CellSource source = CellSource::kJsonl;
  std::optional<CellMap> map;  // none: the columns row,family,qualifier,ts,type,value as `dump` prints them
  std::optional<std::string> null;   // a CSV field that means "no cell"; empty fields of a map are none, too
  std::string family;                // for cells with an empty family
  std::optional<int64_t> timestamp;  // for cells without a timestamp, and with LATEST
  int64_t now_ms = 0;                // for cells without a timestamp, when the one above is not given
};

// One thread.
class CellReader {
 public:
  CellReader(LineReader& lines, CellReaderOptions options);

  enum class Step : uint8_t { kCells, kBadLine, kEnd, kFailed };
  // Appends the cells of the next line to `cells`. Empty lines are skipped. Returns kBadLine if the line is
  // not valid: nothing was appended, reading can go on, and problem() says why, at file and line. Returns
  // kFailed if the file cannot be used at all; problem() says why.
  Step next(std::vector<Cell>& cells);
  const Status& problem() const { return problem_; }

 private:
  Step bad(Status status);
  Status read_header(const std::string& line);
  Status check_front(const std::string& line) const;
  Status read_record(std::string& line, std::vector<std::string>& fields);
  Status cells_of_json(const std::string& line, std::vector<Cell>& cells);
  Status cells_of_map(const std::vector<std::string>& fields, std::vector<Cell>& cells);
  Status cells_of_columns(const std::vector<std::string>& fields, std::vector<Cell>& cells);
  Status complete(Cell& cell, bool has_timestamp) const;
  Result<size_t> column(const std::string& name) const;

  LineReader& lines_;
  CellReaderOptions options_;
  Status problem_;
  bool begun_ = false;
  bool header_read_ = false;
  std::map<std::string, size_t, std::less<>> header_;
  uint64_t record_line_ = 0;
  std::string line_;
};

}  // namespace cellar
