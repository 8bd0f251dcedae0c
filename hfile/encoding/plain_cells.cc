// PlainCells: the writing half of the plain form.
#include "hfile/encoding/plain_cells.h"

#include <cstring>

namespace cellar {

size_t plain_cell_bytes(const CellView& cell, const CellFormat& format) {
  size_t bytes = 8 + size_t{cell.key_size} + cell.value_size;
  if (format.tags) bytes += 2 + cell.tags_size;
  if (format.mvcc) bytes += hadoop_vint_bytes(static_cast<int64_t>(cell.sequence));
  return bytes;
}

void append_plain_cell(std::string& to, const CellView& cell, const CellFormat& format) {
  const size_t begin = to.size();
  to.resize(begin + plain_cell_bytes(cell, format));
  char* at = to.data() + begin;
  store_be32(at, cell.key_size);
  store_be32(at + 4, cell.value_size);
  at += 8;
  if (cell.key + cell.key_size == cell.value) {  // as in memtables and in blocks of plain cells
    std::memcpy(at, cell.key, size_t{cell.key_size} + cell.value_size);
  } else {
    std::memcpy(at, cell.key, cell.key_size);
    if (cell.value_size > 0) std::memcpy(at + cell.key_size, cell.value, cell.value_size);
  }
  at += size_t{cell.key_size} + cell.value_size;
  if (format.tags) {
    store_be16(at, cell.tags_size);
    if (cell.tags_size > 0) std::memcpy(at + 2, cell.tags, cell.tags_size);
    at += 2 + cell.tags_size;
  }
  if (format.mvcc) at += store_hadoop_vint(at, static_cast<int64_t>(cell.sequence));
  CELLAR_DCHECK(at == to.data() + to.size());
}

}  // namespace cellar
