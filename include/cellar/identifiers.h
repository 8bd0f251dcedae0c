// Identifiers: numbers that are given out once, over threads, processes, restarts, and clocks that step.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "cellar/environment.h"
#include "cellar/status.h"
#include "cellar/table.h"

namespace CELLAR_PUBLIC cellar {

// Identifiers: gives out numbers. Any thread. It keeps its table open. Two objects for the same row, in one
// process or one after the other, never give out the same number. A write is durable on the disk before the
// numbers that need it are given out (Durability::kFsyncWal). Do not call it from an observer.
//
//   CELLAR_TRY_ASSIGN(const auto ids, leased_identifiers(table, "orders", "n", "next"));
//   CELLAR_TRY_ASSIGN(const int64_t id, ids->next());
class Identifiers {
 public:
  virtual ~Identifiers() = default;
  // Returns a number that was not given out before. Errors are those of Table::increment and
  // Table::check_and_mutate. The next call tries again.
  virtual Result<int64_t> next() = 0;
};

// Returns identifiers 1, 2, 3, … from a counter in this column. Each write leases `block` of them, at least
// 1. The rest of a block is lost when its object ends, so there may be gaps. Several objects take their
// blocks in turn. With a block of 1 the identifiers rise over all objects. The column belongs to the
// identifiers alone. kInvalidArgument if block < 1.
Result<std::unique_ptr<Identifiers>> leased_identifiers(std::shared_ptr<Table> table, std::string_view row,
                                                        std::string_view family, std::string_view qualifier,
                                                        int64_t block = 1000);

// Returns identifiers that sort by time, as Twitter's Snowflake makes them. From the top they have 41 bits of
// milliseconds since 2020, 10 bits of a worker's number, and 12 bits of a sequence. The identifiers of one
// object rise, also while the clock stands still or steps back. The object then goes on from its last time.
// Several objects give out numbers that sort by time as well as their clocks agree. An object makes two
// writes at its start, and one for each second in which it is used.
//
// The row belongs to the identifiers alone. Its columns in `family` are the number of starts, and a mark for
// each worker. The worker has given out no identifier with a later time than its mark. An object takes the
// next worker's number. After 1,024 starts a number comes again, and its identifiers begin after the mark. An
// object whose number was taken in this way takes another one.
//
// A clock before 2020 counts as a clock that stepped back. If a clock was years ahead once, the identifiers
// stay ahead. `clock` must outlive the object. next() fails with kInvalidArgument after 2089.
Result<std::unique_ptr<Identifiers>> time_ordered_identifiers(std::shared_ptr<Table> table,
                                                              std::string_view row, std::string_view family,
                                                              Clock& clock = system_clock());
// Return the parts of a time-ordered identifier: milliseconds since the epoch, and the worker's number, 0 to
// 1,023.
int64_t time_of_identifier(int64_t id);
uint32_t worker_of_identifier(int64_t id);

}  // namespace cellar
