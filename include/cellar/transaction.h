// Transaction: reads and writes over all tables that take effect atomically, or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cellar/check_and_mutate.h"
#include "cellar/mutation.h"
#include "cellar/options.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Table;

struct TransactionOptions {
  // True: as if transactions ran one after the other. Nothing that was read may have changed either. False:
  // snapshot isolation. Only rows that were written must not have changed, so write skew is possible.
  bool serializable = true;
  // Durability of the commit. Default: the strongest durability of the tables that are written.
  std::optional<Durability> durability = {};
  // Stamps of all cells that are written without a timestamp. Default: as each family has it.
  std::optional<Stamps> stamps = {};
  // Engine::run_transaction alone uses these three. It begins a transaction up to attempts_max times, 1 or
  // more.
  uint32_t attempts_max = 16;
  // Microseconds to wait after the first conflict. The pause doubles with each further conflict, up to
  // pause_us_max. Each pause is shortened at random, down to half.
  int64_t pause_us = 500;
  int64_t pause_us_max = 50000;
};

// Transaction: optimistic. It reads as of the instant of Engine::begin, keeps its writes in memory, and holds
// no lock. Its commit() writes them atomically, if no other write changed a row that matters since that
// instant:
//  - Rows that the transaction wrote.
//  - If it is serializable: rows that it read by get, exists or check_and_mutate, found or not. Also all rows
//    in the ranges that its scanners have passed, so that no row can have appeared there.
// Whole rows count, whatever columns were chosen. A change that shows nothing may count or not, such as a put
// that an older delete marker hides, or that was deleted again.
//
//   CELLAR_TRY_ASSIGN(const auto transaction, engine->begin());
//   CELLAR_TRY_ASSIGN(const RowBatch from, transaction->get(accounts, Get("alice")));
//   …
//   CELLAR_TRY(transaction->put(accounts, put));
//   const Status done = transaction->commit();  // kConflict: begin a new one
//
// Reads see the transaction's own writes, deletes included, by the rules of the family: versions, delete
// markers, times to live.
//
// Timestamps. Cells that are written without a timestamp get the time of the commit, all the same one, with
// two exceptions. A put after a delete of the transaction that would hide it is one millisecond later than
// the delete. No cell is older than a cell of the same column that the transaction read, so that it takes
// effect. In a family with FamilyOptions::stamps = kRising each put is a version of its own, and a delete
// hides what the transaction wrote before it. Until the commit the transaction's own reads show the time of
// begin().
//
// Cost. Like a Snapshot, a transaction keeps the versions that it can see: end it soon. The check of the
// commit delays other writes. It looks only at memory and at files that are newer than the transaction. Its
// cost grows with the rows read, and with the cells there in the ranges that were scanned.
//
// One thread at a time. It must be destroyed before its engine is closed, and after its scanners. A table of
// another engine is kInvalidArgument. After commit() or rollback() every call fails with kAborted.
class Transaction {
 public:
  // Rolls back what was not committed.
  virtual ~Transaction() = default;

  // Returns the sequence number of the last write of others that it sees.
  virtual uint64_t sequence() const = 0;

  // As Table::get and Table::scan, at the transaction's instant. A query with a snapshot is kInvalidArgument.
  // A scanner shows the writes that the transaction made before scan(), and none that follow.
  virtual Result<RowBatch> get(const std::shared_ptr<Table>& table, const Get& get) = 0;
  virtual Result<std::unique_ptr<Scanner>> scan(const std::shared_ptr<Table>& table, const Scan& scan) = 0;
  // As Table::get_row, Table::exists and Table::get_many, at the transaction's instant.
  Result<Row> get_row(const std::shared_ptr<Table>& table, const Get& get);
  Result<bool> exists(const std::shared_ptr<Table>& table, const Get& get);
  Result<std::vector<RowBatch>> get_many(const std::shared_ptr<Table>& table, std::span<const Get> gets);

  // As the functions of Table of these names, except that nothing is written before commit(). A change that
  // the limits of the engine forbid, or that names an unknown family, fails here and leaves the transaction
  // as it was. Error: kLimit also if all writes of the transaction are larger than
  // EngineOptions::batch_bytes_max.
  virtual Status put(const std::shared_ptr<Table>& table, const Put& put) = 0;
  virtual Status erase(const std::shared_ptr<Table>& table, const Delete& erase) = 0;
  virtual Result<std::vector<int64_t>> increment(const std::shared_ptr<Table>& table,
                                                 const Increment& increment) = 0;
  virtual Result<Row> append(const std::shared_ptr<Table>& table, const Append& append) = 0;
  // The condition sees the transaction's own writes. The checked row counts as read, also if the condition
  // does not hold. kNotSupported if the change is a RowMutations: the transaction itself is atomic.
  virtual Result<ActionResult> check_and_mutate(const std::shared_ptr<Table>& table,
                                                const CheckAndMutate& check) = 0;

  // Ends the transaction, whatever it returns. Returns ok if all of it is visible and as durable as
  // requested; it is then one record of the log. The message of kConflict names the table and the row that
  // was changed. After kConflict and after every failure of Table::put nothing is written, except after
  // kDurabilityUnknown. The commit of a transaction that wrote nothing always succeeds.
  virtual Status commit() = 0;
  // Ends the transaction and discards its writes.
  virtual void rollback() = 0;
};

}  // namespace cellar
