// CellRecord: a cell in a memtable's arena: one header with its bytes, and no pointers to follow.
#pragma once

#include <cstring>

#include "base/arena.h"
#include "base/assert.h"
#include "base/coding.h"
#include "cellar/cell.h"

namespace cellar {

// 24 bytes, then the flat key, the value and the tags. Immutable once made. Readers reach a record only
// by an acquire load of the pointer that its inserter published after filling it. The timestamp is read
// from the end of the key, which is in the cache when a comparison gets that far. Lives as long as its
// arena.
struct CellRecord {
  uint64_t sequence;
  uint32_t key_size;
  uint32_t value_size;
  uint16_t row_size;
  uint16_t tags_size;
  uint8_t family_size;
  CellType type;

  const char* key() const { return reinterpret_cast<const char*>(this + 1); }

  CellView view() const {
    CELLAR_DCHECK(key_size >= 12u + row_size + family_size);
    CellView cell;
    cell.key = key();
    cell.value = key() + key_size;
    cell.tags = cell.value + value_size;
    cell.sequence = sequence;
    cell.timestamp = static_cast<int64_t>(load_be64(key() + key_size - 9));
    cell.key_size = key_size;
    cell.value_size = value_size;
    cell.row_size = row_size;
    cell.tags_size = tags_size;
    cell.family_size = family_size;
    cell.cell_type = type;
    return cell;
  }
};
static_assert(sizeof(CellRecord) == 24);

inline size_t record_bytes(const CellView& cell) {
  return sizeof(CellRecord) + cell.key_size + cell.value_size + cell.tags_size;
}

// Copies the cell into `arena` and returns the record. The parts given by the view must lie within the
// key.
inline const CellRecord* make_record(Arena& arena, const CellView& cell) {
  CELLAR_ASSERT(cell.key_size >= 12u + cell.row_size + cell.family_size);
  auto* record = reinterpret_cast<CellRecord*>(arena.allocate(record_bytes(cell), alignof(CellRecord)));
  record->sequence = cell.sequence;
  record->key_size = cell.key_size;
  record->value_size = cell.value_size;
  record->row_size = cell.row_size;
  record->tags_size = cell.tags_size;
  record->family_size = cell.family_size;
  record->type = cell.cell_type;
  char* at = reinterpret_cast<char*>(record + 1);
  std::memcpy(at, cell.key, cell.key_size);
  at += cell.key_size;
  if (cell.value_size != 0) std::memcpy(at, cell.value, cell.value_size);
  if (cell.tags_size != 0) std::memcpy(at + cell.value_size, cell.tags, cell.tags_size);
  CELLAR_DCHECK(at + cell.value_size + cell.tags_size ==
                reinterpret_cast<char*>(record) + record_bytes(cell));
  return record;
}

}  // namespace cellar
