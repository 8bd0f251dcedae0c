// BatchChanges: what the entries of a Batch change: rows, stores, cells.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cellar/batch.h"
#include "engine/store/table_state.h"
#include "engine/values/batch_reader.h"
#include "engine/write/prepared_batch.h"

namespace cellar {

// One write, one thread. Borrows the batch, which holds its tables.
class BatchChanges {
 public:
  struct Change {
    TableState* table = nullptr;
    std::string_view row;
    bool looks_up = false;  // what it writes follows from what the row holds
    const BatchEntry* entry = nullptr;
  };

  // Finds the tables and checks the entries. Errors: kInvalidArgument for a table of another engine and for
  // an entry that changes nothing; those of TableState::check_writable() and add_touched().
  static Result<BatchChanges> check(const TableHost& host, const Batch& batch);

  const std::vector<Change>& all() const { return all_; }
  std::vector<std::string_view> rows() const;
  // Returns all stores of the tables that the batch names, each once.
  std::vector<Store*> stores() const;
  // kInvalidArgument if two increments or appends change the same column: both would start from the value
  // that is there, and one would be lost.
  Status check_changed_once() const;
  // Adds the cells that the entries come to. The rows are locked.
  Status add_to(PreparedBatch& prepared, int64_t now_ms) const;

 private:
  std::vector<Change> all_;
};

}  // namespace cellar
