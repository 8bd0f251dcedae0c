// Results as rows.
#include "hbase/wire/from_wire_result.h"

#include "cell/cell_codec.h"
#include "engine/values/row_batch_builder.h"
#include "hbase/wire/client.pb.h"

namespace cellar::hbase::wire {

Status take_cells(CellBlockReader& block, size_t count, std::vector<CellView>& cells) {
  for (size_t i = 0; i < count; ++i) {
    CellView cell;
    CELLAR_TRY(block.next(cell));
    cells.push_back(cell);
  }
  return {};
}

Status take_cells(const WireResult& result, CellBlockReader& block, std::vector<std::string>& room,
                  std::vector<CellView>& cells) {
  for (const WireCell& each : result.cells()) {
    const auto type = static_cast<CellType>(each.type());
    if (each.row().size() > kRowBytesMax || each.family().size() > kFamilyBytesMax || !is_stored_type(type))
      return Status::corruption("a result has an invalid cell");
    // In a string on the heap, so that its bytes stay in place when `room` grows.
    std::string key;
    key.reserve(64);
    append_flat_key(key, each.row(), each.family(), each.qualifier(), static_cast<int64_t>(each.timestamp()),
                    type);
    room.push_back(std::move(key));
    CellView cell;
    if (!parse_flat_key(room.back().data(), room.back().size(), cell))
      return Status::corruption("a result has an invalid cell");
    cell.value = each.value().data();
    cell.value_size = static_cast<uint32_t>(each.value().size());
    cells.push_back(cell);
  }
  if (result.associated_cell_count() < 0)
    return Status::corruption("a result has a negative number of cells");
  return take_cells(block, static_cast<size_t>(result.associated_cell_count()), cells);
}

void add_row(RowBatch& batch, const std::vector<CellView>& cells, const Pinnable* held,
             bool more_cells_in_row) {
  if (cells.empty()) return;
  RowBatchBuilder builder(batch);
  builder.begin_row();
  for (CellView cell : cells) {
    cell.key_in_scratch = held == nullptr;
    if (held == nullptr)
      builder.add_changed(cell, nullptr);
    else
      builder.add(cell, held);
  }
  builder.end_row(more_cells_in_row);
}

}  // namespace cellar::hbase::wire
