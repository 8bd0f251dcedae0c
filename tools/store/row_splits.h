// RowSplits: where the regions of a table begin, as a splits file of HBase's says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// Sorted. No split: one region.
class RowSplits {
 public:
  // One row key a line, bytes that cannot be printed as \xNN. No path: no split. kInvalidArgument with the
  // line's number; kNotFound, kIoError.
  static Result<RowSplits> read(const std::string& path);

  // `rows` are checked, none empty or twice, in any order.
  static RowSplits of(std::vector<std::string> rows);

  const std::vector<std::string>& rows() const { return rows_; }
  size_t regions() const { return rows_.size() + 1; }
  // The region, from 0, that the row belongs to.
  size_t region_of(std::string_view row) const;

 private:
  std::vector<std::string> rows_;
};

}  // namespace cellar
