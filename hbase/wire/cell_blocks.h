// Cell blocks: cells after the message of a frame, in the form of HBase's KeyValueCodec: each with its length in 4 bytes
// and as a KeyValue, that is the length of the key, the length of the value, the flat key, the value. Tags do not travel.
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

// CellBlockReader: the cells of a block of untrusted bytes, one after the other. One thread at a time. The bytes must
// outlive the cells.
class CellBlockReader {
 public:
  explicit CellBlockReader(std::string_view block) : reader_(block), bytes_(block.size()) {}

  bool at_end() const { return reader_.empty(); }
  // Sets `cell` to the next cell, which points into the block. kCorruption if lengths do not add up, if the type is
  // none of a stored cell, or if the block is at its end.
  Status next(CellView& cell);

 private:
  ByteReader reader_;
  size_t bytes_;
};

}  // namespace cellar::hbase::wire
