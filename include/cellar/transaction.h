// Transaction: reads and writes over all tables that take effect as one, or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Table;

enum class Isolation : uint8_t {
  kSerializable,  // as if transactions ran one after the other: what was read must not have changed either
  kSnapshot,      // only rows that were written must not have changed: write skew is possible
};

struct TransactionOptions {
  Isolation isolation = Isolation::kSerializable;
  // Of the commit; not given: the strongest of the tables that are written.
  std::optional<Durability> durability = {};
  // Of all cells that are written without a timestamp; not given: each family's.
  std::optional<Stamps> stamps = {};
};

struct RunOptions {
  TransactionOptions transaction = {};
  uint32_t attempts_max = 16;    // at least 1
  int64_t pause_us = 500;        // after the first conflict; twice as long after each further one, …
  int64_t pause_us_max = 50000;  // … up to this. A pause is shortened at random, down to half.
};

// Transaction: optimistic. It reads as of one instant, that of Engine::begin, holds its writes in memory, and
// locks nothing. commit() writes them as one, if no row that matters was changed by somebody else since that
// instant:
//  - rows that it wrote;
//  - unless isolation is kSnapshot: rows that it asked for by get, found or not, and all rows in the ranges
//    that its scanners have passed, so that no row can have appeared there.
// Whole rows count, whatever columns were chosen. A change that shows nothing may count or not: a put that an
// older marker hid from the start, or that was deleted again, is none once a flush or compaction has dropped
// it.
//
//   auto begun = engine->begin();
//   Transaction& transaction = **begun;
//   auto from = transaction.get(accounts, Get("alice"));
//   …
//   transaction.put(accounts, put);
//   Status done = transaction.commit();  // kConflict: begin a new one. Engine::run_transaction does that.
//
// Its reads see its own writes, deletes included, by the rules of the family: versions, markers, times to
// live.
//
// Times. What it writes without a timestamp gets the time of the commit, all of it the same, with these
// exceptions: a put that follows a delete of its own which would hide it is a millisecond later than that;
// nothing is older than a cell that it read of the same column (of a column whose value is dated ahead), so
// that it takes effect. In a family with stamps = rising each put is a version of its own, and a delete
// covers what the transaction wrote before it. Until the commit its own reads show the time of begin().
//
// What a transaction holds on to, like a snapshot, are the versions it can see: end it soon. The check of the
// commit stops other writes. It looks at memory and at files newer than the transaction alone; what it costs
// grows with the rows read, and with the cells there in the ranges that were scanned.
//
// One thread at a time. Must be destroyed before its engine is closed, and after its scanners. Tables must be
// of its engine (kInvalidArgument). After commit() or rollback() every call fails with kAborted.
class Transaction {
 public:
  // Rolls back what was not committed.
  virtual ~Transaction() = default;

  // The number of the last write of others that it sees.
  virtual uint64_t sequence() const = 0;

  // As Table::get and Table::scan, at the transaction's instant: kInvalidArgument for a query with a
  // snapshot. A scanner shows the transaction's writes up to now, none that follow.
  virtual Result<RowBatch> get(const std::shared_ptr<Table>& table, const Get& get) = 0;
  virtual Result<std::unique_ptr<Scanner>> scan(const std::shared_ptr<Table>& table, const Scan& scan) = 0;

  // As those of Table, but that nothing is written yet: what the limits of the engine or unknown families
  // forbid fails here, and leaves the transaction as it was. kLimit also when all of it is larger than
  // EngineOptions::batch_bytes_max.
  virtual Status put(const std::shared_ptr<Table>& table, const Put& put) = 0;
  virtual Status erase(const std::shared_ptr<Table>& table, const Delete& erase) = 0;
  virtual Result<std::vector<int64_t>> increment(const std::shared_ptr<Table>& table,
                                                 const Increment& increment) = 0;
  virtual Result<Row> append(const std::shared_ptr<Table>& table, const Append& append) = 0;

  // Ends the transaction, whatever the answer: ok when all of it is visible and as durable as asked, and one
  // record of the log. kConflict names the table and the row that was changed; that, and every other failure
  // of Table::put, leaves nothing written, but for kDurabilityUnknown. One that wrote nothing always
  // succeeds.
  virtual Status commit() = 0;
  // Ends the transaction; nothing of it remains.
  virtual void rollback() = 0;
};

}  // namespace cellar
