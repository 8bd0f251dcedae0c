// Results of HBase as rows of Cellar.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/pin.h"
#include "cellar/row_batch.h"
#include "cellar/status.h"
#include "hbase/wire/cell_blocks.h"

namespace cellar::hbase::wire {

class WireResult;

// Appends the cells of a result: those in the message, then so many of the cell block as it states. They
// point into the message and into the block. kCorruption if the block has fewer, or an invalid cell. `room`
// keeps the keys of cells that are in the message.
Status take_cells(const WireResult& result, CellBlockReader& block, std::vector<std::string>& room,
                  std::vector<CellView>& cells);
// Takes `count` cells of the block.
Status take_cells(CellBlockReader& block, size_t count, std::vector<CellView>& cells);

// Adds a row to the batch. A pin on `held`, unless null, keeps the bytes of its cells; else they are copied.
void add_row(RowBatch& batch, const std::vector<CellView>& cells, const Pinnable* held,
             bool more_cells_in_row = false);

}  // namespace cellar::hbase::wire
