// Batch: mutations over rows, families and tables of one engine, applied atomically.
#pragma once

#include <cstddef>
#include <memory>

#include "cellar/mutation.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Table;

// Batch: Engine::write applies it atomically, with one record of the log and one sequence number. Readers,
// and recovery after a crash, see all of it or nothing. RocksDB: WriteBatch. HBase has no counterpart beyond
// one row.
//
// Cells without a timestamp share one time of the clock. In a family with FamilyOptions::stamps = kRising
// they get rising times in the order in which they were added. The last of several cells with equal
// coordinates wins. One thread at a time. Copies every mutation, and can be reused after clear().
class Batch {
 public:
  Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  // `table` must belong to the engine that applies the batch: otherwise Engine::write fails with
  // kInvalidArgument.
  Batch& put(const std::shared_ptr<Table>& table, const Put& put);
  Batch& erase(const std::shared_ptr<Table>& table, const Delete& erase);
  // Increments and appends read the row as it was before the batch. At most one entry of a batch may
  // increment or append to a column: Engine::write fails with kInvalidArgument if two do. A put or delete of
  // the same column in the same batch is ordered by its timestamp, as if it were another write.
  Batch& increment(const std::shared_ptr<Table>& table, const Increment& increment);
  Batch& append(const std::shared_ptr<Table>& table, const Append& append);
  // Adds one cell of any stored type, with its own timestamp and tags, for loading and repair. Its sequence
  // is ignored.
  Batch& cell(const std::shared_ptr<Table>& table, const CellView& cell);

  // Returns the number of mutations and cells that were added.
  size_t mutations() const;
  // Returns the bytes of keys and values, to keep batches below EngineOptions::batch_bytes_max.
  size_t bytes() const;
  // Removes everything, and keeps up to 8 MiB of memory for the next batch.
  void clear();

 private:
  friend class BatchReader;  // the engine's
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar
