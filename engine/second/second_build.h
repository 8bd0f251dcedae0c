// Building and verifying a second table while others write.
#pragma once

#include <functional>
#include <memory>

#include "cellar/second_table.h"
#include "engine/second/second_definition.h"
#include "engine/store/table_state.h"
#include "engine/write/transaction.h"

namespace cellar {

// A source and its second table, for a job that reads both.
struct SecondPair {
  std::shared_ptr<Table> source;
  std::shared_ptr<Table> second;
  SecondDefinition definition;
};
// Gets the number of the source's rows so far, from time to time. False ends the job: kAborted.
using SecondProgress = std::function<bool(uint64_t rows)>;

// Writes the rows of the second table for all rows of the source, a few in each transaction. Writers may
// write meanwhile: their own rows follow at once, and a transaction that meets one is done again. Errors:
// kInvalidArgument with the row that the key cannot hold; those of a write.
Status build_second(const SecondPair& pair, const std::function<std::unique_ptr<TransactionImpl>()>& begin,
                    const SecondProgress& on_way);

// Compares both tables as of the snapshot, cell by cell and in both directions.
Result<SecondTableCheck> verify_second(const SecondPair& pair,
                                       const std::shared_ptr<const Snapshot>& snapshot,
                                       const SecondProgress& on_way);

}  // namespace cellar
