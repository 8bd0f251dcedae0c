// Writes results into messages and cell blocks.
#include "hbase/wire/to_wire_result.h"

#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"

namespace cellar::hbase::wire {
size_t append_row(std::string& block, const RowView& row) {
  for (const CellView& cell : row.cells()) append_cell(block, cell);
  return row.cells().size();
}

size_t append_row(std::string& block, const Row& row) {
  for (const Cell& cell : row.cells)
    append_cell(block, cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.value);
  return row.cells.size();
}

void to_wire_result(const Row& row, WireResult& result) {
  for (const Cell& cell : row.cells) {
    WireCell& to = *result.add_cells();
    to.set_timestamp(static_cast<uint64_t>(cell.timestamp));
    to.set_row(cell.row);
    to.set_family(cell.family);
    to.set_qualifier(cell.qualifier);
    to.set_type(static_cast<int32_t>(cell.type));
    to.set_value(cell.value);
  }
}

void to_wire_result(const RowView& row, WireResult& result) {
  for (const CellView& cell : row.cells()) {
    WireCell& to = *result.add_cells();
    to.set_timestamp(static_cast<uint64_t>(cell.timestamp));
    to.set_row(std::string(cell.row()));
    to.set_family(std::string(cell.family()));
    to.set_qualifier(std::string(cell.qualifier()));
    to.set_type(static_cast<int32_t>(cell.type()));
    to.set_value(std::string(cell.value_bytes()));
  }
}

}  // namespace cellar::hbase::wire
