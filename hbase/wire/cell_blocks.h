// Cell blocks: cells after the message of a frame, in the form of HBase's KeyValueCodec. Each cell has its
// length in 4 bytes, then a KeyValue. A KeyValue is the length of the key, the length of the value, the flat
// key and the value. Tags do not travel.
#pragma once

#include <string>
#include <string_view>

#include "base/coding.h"
#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar::hbase::wire {

// Append a cell.
void append_cell(std::string& block, const CellView& cell);
void append_cell(std::string& block, std::string_view row, std::string_view family,
                 std::string_view qualifier, int64_t timestamp, CellType type, std::string_view value);

// CellBlockReader: the cells of a block of untrusted bytes, one after the other. One thread at a time. The
// bytes must outlive the cells.
class CellBlockReader {
 public:
  explicit CellBlockReader(std::string_view block) : reader_(block), bytes_(block.size()) {}

  bool at_end() const { return reader_.empty(); }
  // Sets `cell` to the next cell, which points into the block. Fails with kCorruption at the block's end.
  // The same holds if lengths do not add up, or if no stored cell has the type.
  Status next(CellView& cell);

 private:
  ByteReader reader_;
  size_t bytes_;
};

}  // namespace cellar::hbase::wire
