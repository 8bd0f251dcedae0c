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
  // The bytes to look for when one column of a row is read. Where this says true and key_of_row() false, the
  // filter knows columns: a read must also ask for the empty qualifier, under which markers of whole families
  // stand.
  virtual bool key_of_column(std::string_view row, std::string_view, std::string& key) const {
    return key_of_row(row, key);
  }
  // Whether the keys are flat keys of cells, which stand in the order of cells; else in that of bytes.
  virtual bool flat_keys() const { return false; }
  // So many bytes at the front of a row are all that is hashed, so the filter also answers for scans of rows
  // that share them; 0: it hashes more than that. HBase's parameter in the file info.
  virtual size_t prefix_bytes() const { return 0; }
};

}  // namespace cellar
