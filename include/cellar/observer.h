// Observer: user code that sees each change of a row before it is written, and can add to the write or refuse
// it. HBase: a RegionObserver coprocessor with preBatchMutate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cellar/cell.h"
#include "cellar/mutation.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "cellar/scanner.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

class Table;

// ObserverContext: what an observer can do during before_write(), on its thread.
class ObserverContext {
 public:
  virtual ~ObserverContext() = default;

  // Returns the table whose row is written.
  virtual const std::shared_ptr<Table>& observed_table() const = 0;
  // Returns the time of the write. Cells without a timestamp get it, those that are added here included.
  virtual int64_t timestamp() const = 0;
  // Returns a table of the same engine. kNotFound.
  virtual Result<std::shared_ptr<Table>> table(std::string_view name) = 0;

  // Read rows as they are before the write, as of one instant at which its locks were held. So no other write
  // changes an observed row between this read and the write. Other rows may change; a transaction checks that
  // they did not. The reads see neither the write nor additions of observers. A scanner must be destroyed
  // before before_write() returns. Errors as of Table::get and Table::scan; kInvalidArgument for a query with
  // a snapshot.
  virtual Result<RowBatch> get(const std::shared_ptr<Table>& table, const Get& get) = 0;
  virtual Result<std::unique_ptr<Scanner>> scan(const std::shared_ptr<Table>& table, const Scan& scan) = 0;
  // Reads a row as it will be after the write, by the rules of its families: versions, delete markers, times
  // to live. Additions of observers do not count.
  virtual Result<RowBatch> get_after(const std::shared_ptr<Table>& table, const Get& get) = 0;

  // Add a mutation of any row of any table of the engine to the write. The mutation is copied. A failure
  // refuses the whole write, whatever before_write() returns. Errors: kInvalidArgument for an unknown family,
  // no columns, a table of another engine, or Delete::latest_version, which would have to read. Also kLimit
  // if all additions together are larger than EngineOptions::batch_bytes_max.
  virtual Status put(const std::shared_ptr<Table>& table, const Put& put) = 0;
  virtual Status erase(const std::shared_ptr<Table>& table, const Delete& erase) = 0;
  // Adds `amount` to a counter, as Increment does, together with all other amounts that this write adds to
  // it. The row is locked after all observers are done, so that no amount is lost to a concurrent write. The
  // write fails with kInvalidArgument if the counter is not 8 bytes long, or if it overflows. It also does if
  // it, or a put that was added to it, writes the same column.
  virtual Status increment(const std::shared_ptr<Table>& table, std::string_view row, std::string_view family,
                           std::string_view qualifier, int64_t amount) = 0;
};

// Observer: registered on a table by Engine::add_observer. The engine calls before_write() once for each row
// of the table that a write changes, before the write joins the log. Additions of the observer are part of
// the write: one record of the log and one sequence. Readers and crashes see all of it or nothing.
//
//   class Followers : public Observer {
//     Status before_write(const RowView& row, ObserverContext& context) override {
//       CELLAR_TRY_ASSIGN(const auto followers, context.table("followers"));
//       for (const CellView& cell : row)
//         CELLAR_TRY(context.put(followers, Put(cell.qualifier()).add("f", row.row(), "")));
//       return {};
//     }
//   };
//
// Observed writes: put, erase, increment, append, mutate, check_and_mutate if its condition held, batch, a
// Batch, and the commit of a transaction. Not observed:
// - additions of observers, also to tables that have observers: so there are no endless cycles;
// - Table::ingest, which adopts files without reading them;
// - recovery, which replays writes together with their additions.
//
// Order. Rows come table by table, in the order of their keys. The observers of a table are called in the
// order of their registration. If several cells have equal coordinates, the cell added last wins, also over
// the write's own.
//
// Status. Ok lets the write go on. Any other status refuses the whole write. The caller gets it, preceded by
// the names of the observer, the table and the row. Table::batch observes and refuses each action alone.
//
// Idempotence. before_write() may run more than once, so side effects outside `context` must be idempotent. A
// write may fail after it was observed, by a conflict or a full disk. It may also be observed again, with the
// new content of its rows, if a lock for an addition was not free. Only the additions of the last call count.
//
// Locks. The observed rows of a write are locked exclusively while they are observed and written. So an
// inverse table that is derived from get() and get_after() agrees exactly. Rows of additions are locked after
// the observers are done. The lock is shared, as for every put, so that no concurrent increment loses them;
// it is exclusive for increment(). Locks are held by hash: a write that adds to thousands of rows delays
// other writes as much as a Batch of as many rows.
//
// Isolation. Other rows that get() and scan() read may change before the write is made. In a transaction,
// observers read as of its instant. The commit checks their reads and additions as it checks those of the
// transaction (kConflict).
//
// Delete markers hide puts with the same timestamp, also later ones of the same millisecond. If an observer
// deletes cells that a later write may put again, give the family delete_order = sequence.
//
// A write takes its time before it joins the log, and a clock can step back. So an addition can have an
// earlier timestamp than a cell of the same row that a transaction logged before it. If the order of the
// writes must decide, give all cells of a derived table one timestamp and delete_order = sequence.
//
// Changes without a write are not observed. A cell expires. With the default delete_order, a put that a
// marker hides may show after a compaction has dropped the marker. If a derived table must always agree with
// its source, the source families need delete_order = sequence and no time to live.
//
// Threads. before_write() runs in the writing threads, several at a time. It must not throw, and must not
// wait for another thread that writes. It may read from the engine, its tables and transactions. Writes,
// flushes, compactions, ingests, changes of the schema and close() fail with kInvalidArgument.
//
// Lifetime. The engine holds the observer until it is closed. An observer may hold tables; it then releases
// them.
class Observer {
 public:
  virtual ~Observer() = default;
  // `row` holds the cells to be written: at least one, delete markers among them, with their timestamps.
  // Increments and appends are cells with the resulting value. The order is by family, by qualifier, and
  // newest first. The sequence is 0, because it is not known yet.
  virtual Status before_write(const RowView& row, ObserverContext& context) = 0;
};

}  // namespace cellar
