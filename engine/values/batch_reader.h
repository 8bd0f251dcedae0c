// BatchReader: what the engine reads of a Batch: its entries in the order in which they were added.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "cellar/batch.h"

namespace cellar {

struct BatchEntry {
  std::shared_ptr<Table> table;
  std::variant<Put, Delete, Increment, Append, Cell> change;
};

struct Batch::Impl {
  std::vector<BatchEntry> entries;
  size_t bytes = 0;
};

class BatchReader {
 public:
  static const std::vector<BatchEntry>& entries(const Batch& batch) { return batch.impl_->entries; }
};

// Returns the entries, which live until the batch is changed or destroyed.
inline const std::vector<BatchEntry>& entries_of(const Batch& batch) { return BatchReader::entries(batch); }

}  // namespace cellar
