// BatchReader: what the engine reads of a Batch: its entries in the order in which they were added.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "cellar/batch.h"

namespace cellar {

struct BatchEntry {
  Table* table;  // the batch holds it; may be null
  std::variant<Put, Delete, Increment, Append, Cell> change;
};

struct Batch::Impl {
  std::vector<BatchEntry> entries;  // the first `used` count; the others keep their memory for later ones
  std::vector<std::shared_ptr<Table>> tables;  // of the entries that count, each once
  size_t used = 0;
  size_t bytes = 0;       // of those that count
  size_t kept_bytes = 0;  // at most so many bytes are kept

  // A put usually takes the place of another put, and its memory.
  template <class Change>
  void add(const std::shared_ptr<Table>& table, const Change& change) {
    CELLAR_ASSERT(used <= entries.size());
    if (used == 0 || entries[used - 1].table != table.get()) hold(table);
    if (used == entries.size()) {
      entries.push_back({table.get(), change});
    } else {
      entries[used].table = table.get();
      entries[used].change = change;
    }
    used += 1;
  }

 private:
  // An entry does not hold its table: counting the holders costs a locked instruction for each change.
  void hold(const std::shared_ptr<Table>& table) {
    if (std::ranges::find(tables, table) == tables.end()) tables.push_back(table);
  }
};

class BatchReader {
 public:
  static std::span<const BatchEntry> entries(const Batch& batch) {
    return {batch.impl_->entries.data(), batch.impl_->used};
  }
};

// Returns the entries, which live until the batch is changed or destroyed.
inline std::span<const BatchEntry> entries_of(const Batch& batch) { return BatchReader::entries(batch); }

}  // namespace cellar
