// Cell blocks: KeyValues with their lengths.
#include "hbase/wire/cell_blocks.h"

#include <fmt/core.h>

#include "cell/cell_codec.h"

namespace cellar::hbase::wire {
namespace {

constexpr size_t kLengthsBytes = 8;  // of the key and of the value

}  // namespace

void append_cell(std::string& block, std::string_view row, std::string_view family,
                 std::string_view qualifier, int64_t timestamp, CellType type, std::string_view value) {
  const size_t key_bytes = flat_key_bytes(row.size(), family.size(), qualifier.size());
  append_be32(block, static_cast<uint32_t>(kLengthsBytes + key_bytes + value.size()));
  append_be32(block, static_cast<uint32_t>(key_bytes));
  append_be32(block, static_cast<uint32_t>(value.size()));
  append_flat_key(block, row, family, qualifier, timestamp, type);
  block.append(value);
}

void append_cell(std::string& block, const CellView& cell) {
  append_be32(block, static_cast<uint32_t>(kLengthsBytes + cell.key_size + cell.value_size));
  append_be32(block, cell.key_size);
  append_be32(block, cell.value_size);
  block.append(cell.key_bytes());
  block.append(cell.value_bytes());
}

Status CellBlockReader::next(CellView& cell) {
  const size_t at = bytes_ - reader_.left();
  uint32_t bytes = 0;
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  std::string_view key;
  std::string_view value;
  std::string_view rest;
  if (!reader_.take_be32(bytes) || bytes > reader_.left() || bytes < kLengthsBytes ||
      !reader_.take_be32(key_bytes) || !reader_.take_be32(value_bytes) || key_bytes > bytes - kLengthsBytes ||
      value_bytes > bytes - kLengthsBytes - key_bytes || !reader_.take_bytes(key_bytes, key) ||
      !reader_.take_bytes(value_bytes, value) ||
      !reader_.take_bytes(bytes - kLengthsBytes - key_bytes - value_bytes, rest))
    return Status::corruption(fmt::format("the cell at byte {} of a cell block is cut off", at));
  cell = CellView();
  if (!parse_flat_key(key.data(), key.size(), cell) || !is_stored_type(cell.cell_type))
    return Status::corruption(fmt::format("the cell at byte {} of a cell block has an invalid key", at));
  cell.value = value.data();
  cell.value_size = value_bytes;
  return {};
}

}  // namespace cellar::hbase::wire
