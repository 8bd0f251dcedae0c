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
  // Returns HBase's name, as in the file info: "ROW".
  virtual std::string_view name() const = 0;
  // Returns the bytes to hash for a cell. It may use `scratch`; the result lives as long as the cell and
  // scratch.
  virtual std::string_view key_of(const CellView& cell, std::string& scratch) const = 0;
  // Sets `key` to the bytes to look up when a whole row is read. Returns false if the filter cannot answer
  // that.
  virtual bool key_of_row(std::string_view row, std::string& key) const = 0;
  // Returns whether key_of_row() gives the row itself, or its first prefix_bytes() bytes if that is not 0. A
  // read then looks up the row without a copy.
  virtual bool keys_are_rows() const { return false; }
  // Sets `key` to the bytes to look up when one column of a row is read. If this returns true and
  // key_of_row() false, the filter hashes columns. A read must then also look up the empty qualifier, which
  // markers of whole families have.
  virtual bool key_of_column(std::string_view row, std::string_view, std::string& key) const {
    return key_of_row(row, key);
  }
  // Returns whether the keys are flat keys of cells, in the order of cells. Otherwise they are in the order
  // of bytes.
  virtual bool flat_keys() const { return false; }
  // Returns how many bytes at the front of a row are hashed, if nothing else is. The filter then also answers
  // for scans of rows that share them. 0: it hashes more than a prefix. HBase's parameter in the file info.
  virtual size_t prefix_bytes() const { return 0; }
};

}  // namespace cellar
