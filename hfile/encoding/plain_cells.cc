// PlainCells: the writing half of the plain form.
#include "hfile/encoding/plain_cells.h"

namespace cellar {

size_t plain_cell_bytes(const CellView& cell, const CellFormat& format) {
  size_t bytes = 8 + size_t{cell.key_size} + cell.value_size;
  if (format.tags) bytes += 2 + cell.tags_size;
  if (format.mvcc) bytes += hadoop_vint_bytes(static_cast<int64_t>(cell.sequence));
  return bytes;
}

void append_plain_cell(std::string& to, const CellView& cell, const CellFormat& format) {
  char sizes[8];
  store_be32(sizes, cell.key_size);
  store_be32(sizes + 4, cell.value_size);
  to.append(sizes, sizeof sizes);
  to.append(cell.key, cell.key_size);
  to.append(cell.value_bytes());
  if (format.tags) {
    append_be16(to, cell.tags_size);
    to.append(cell.tags_bytes());
  }
  if (format.mvcc) append_hadoop_vint(to, static_cast<int64_t>(cell.sequence));
}

}  // namespace cellar
