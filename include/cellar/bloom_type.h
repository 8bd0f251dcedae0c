// BloomType: what part of a cell a Bloom filter hashes. A plug-in.
#pragma once

#include <string>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/plugin.h"

namespace CELLAR_PUBLIC cellar {

// Stateless; any thread.
class BloomType {
 public:
  virtual ~BloomType() = default;
  // HBase's name, as in the file info: "ROW".
  virtual std::string_view name() const = 0;
  // The bytes to hash for a cell; may use `scratch`. Lives as long as the cell and scratch.
  virtual std::string_view key_of(const CellView& cell, std::string& scratch) const = 0;
  // The bytes to look for when one whole row, or one column of it, is read; false when the filter cannot
  // answer that.
  virtual bool key_of_row(std::string_view row, std::string& key) const = 0;
};

}  // namespace cellar
