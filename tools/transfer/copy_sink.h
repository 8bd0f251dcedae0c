// CopySink: takes the cells of a table row by row, and brings them into another table: in bounded batches, or
// as files (load_sink.h).
#pragma once

#include <cstdint>
#include <memory>

#include "cellar/engine.h"

namespace cellar {

// One thread. Cells that were not written are lost when it is destroyed.
class CopySink {
 public:
  virtual ~CopySink() = default;
  // Returns true if add() takes delete markers in the order of a scan. Else the markers of a row are added
  // after its other cells.
  virtual bool takes_markers_in_order() const { return false; }
  // Takes a copy of the cell. Writes the batch before it, if the cell does not fit in. The timestamp of the
  // cell must not be kLatestTimestamp: a write would replace it. Errors: those of Table::put.
  virtual Status add(const CellView& cell) = 0;
  // Writes what is left. In a store all that was added survives a power loss then. In a cluster its own
  // promise holds, as for any write with Durability::kSyncWal.
  virtual Status finish() = 0;
  // Returns how many cells lost a tag that a write to this table cannot have.
  virtual uint64_t tags_left_out() const = 0;
};

// Writes stored cells of every type with their tags. A batch has at most `batch_bytes` of keys and values, or
// one cell. `engine` is borrowed.
std::unique_ptr<CopySink> make_store_sink(Engine& engine, std::shared_ptr<Table> table, uint64_t batch_bytes);
// Writes puts and deletes, for tables of a cluster: stored cells do not travel there. A time to live is the
// only tag that does.
std::unique_ptr<CopySink> make_cluster_sink(std::shared_ptr<Table> table, uint64_t batch_bytes);

}  // namespace cellar
