// Batch: mutations over rows, families and tables of one engine, applied all or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cellar/mutation.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Table;

// One log record, one sequence number: readers and crashes see all of it or nothing. Cells without a
// timestamp get one clock value, or rising ones in the order in which they were added
// (FamilyOptions::stamps). Of equal coordinates the last one wins. One thread at a time; reusable after
// clear().
class Batch {
 public:
  Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  // The mutation is copied. The table must be of the engine that applies the batch.
  Batch& put(const std::shared_ptr<Table>& table, const Put& put);
  Batch& erase(const std::shared_ptr<Table>& table, const Delete& erase);
  // These read the row as it was before the batch. What other entries do to the same column is decided by
  // time, as of two writes; a column that two of them change is kInvalidArgument when the batch is applied.
  Batch& increment(const std::shared_ptr<Table>& table, const Increment& increment);
  Batch& append(const std::shared_ptr<Table>& table, const Append& append);
  // A raw cell of any stored type with its own timestamp and tags, as loading and repair need it; its
  // sequence is ignored.
  Batch& cell(const std::shared_ptr<Table>& table, const CellView& cell);

  size_t mutations() const;
  // Bytes of keys and values, for keeping batches within EngineOptions::batch_bytes_max.
  size_t bytes() const;
  void clear();

  // For the engine.
  struct Entry;
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellar
