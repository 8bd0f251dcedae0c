// CellStats: what the cells of files are like: sizes, versions, times, groups, the largest. Counting only;
// stats_text prints it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell_codec.h"
#include "tools/frame/distribution.h"

namespace cellar {

enum class GroupBy : uint8_t { kNothing, kFamily, kQualifier, kRowPrefix, kHour, kDay };

struct CellStatsOptions {
  GroupBy by = GroupBy::kNothing;
  size_t prefix_bytes = 4;  // of kRowPrefix
  size_t top = 5;           // largest rows and most-versioned columns kept
  size_t values_max = Distribution::kValuesMax;
  size_t groups_max = 10000;
};

// Totals of one file or of all. Bytes count keys, values and tags before encoding and compression.
struct CellTotals {
  std::string path;
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t columns = 0;  // that have a put
  uint64_t bytes = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  std::array<uint64_t, std::size(kStoredTypes)> types = {};
};

struct GroupTotals {
  std::string name;  // escaped; of times their beginning
  uint64_t cells = 0;
  uint64_t bytes = 0;
};

struct LargeRow {
  std::string row;
  size_t file = 0;  // in files()
  uint64_t bytes = 0;
  uint64_t cells = 0;
};

struct VersionedColumn {
  std::string row;
  std::string family;
  std::string qualifier;
  size_t file = 0;
  uint64_t versions = 0;
};

// Each file's rows are counted by themselves: a row that lies in two files is a row of each. Memory is
// bounded. One thread.
class CellStats {
 public:
  explicit CellStats(const CellStatsOptions& options);

  void begin_file(const std::string& path);
  // In the file's order.
  void add(const CellView& cell);
  void end_file();

  const std::vector<CellTotals>& files() const { return files_; }
  CellTotals total() const;
  const Distribution& key_bytes() const { return key_bytes_; }
  const Distribution& value_bytes() const { return value_bytes_; }
  const Distribution& row_bytes() const { return row_bytes_; }
  const Distribution& row_cells() const { return row_cells_; }
  const Distribution& columns() const { return columns_; }    // of each row
  const Distribution& versions() const { return versions_; }  // puts of each column that has one
  const Distribution& times() const { return times_; }        // without those at LATEST
  uint64_t cells_at_latest() const { return at_latest_; }
  // Ascending; what came after there were groups_max is in left_out().
  std::vector<GroupTotals> groups() const;
  const GroupTotals& left_out() const { return left_out_; }
  const std::vector<LargeRow>& largest_rows() const { return largest_rows_; }
  const std::vector<VersionedColumn>& most_versions() const { return most_versions_; }

 private:
  void end_row();
  void end_column();
  void count_group(const CellView& cell, uint64_t bytes);
  GroupTotals& named_group(const CellView& cell);
  GroupTotals& time_group(int64_t timestamp);

  CellStatsOptions options_;
  std::vector<CellTotals> files_;
  Distribution key_bytes_;
  Distribution value_bytes_;
  Distribution row_bytes_;
  Distribution row_cells_;
  Distribution columns_;
  Distribution versions_;
  Distribution times_;
  uint64_t at_latest_ = 0;

  bool in_row_ = false;
  OwnedCell current_;  // first cell of the column that the walk is in
  LargeRow row_;
  uint64_t row_columns_ = 0;
  uint64_t column_versions_ = 0;

  std::map<std::string, GroupTotals, std::less<>> named_;
  std::map<int64_t, GroupTotals> timed_;
  size_t group_key_bytes_ = 0;
  std::string scratch_;
  GroupTotals left_out_;
  std::vector<LargeRow> largest_rows_;
  std::vector<VersionedColumn> most_versions_;
};

}  // namespace cellar
