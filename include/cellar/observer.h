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

  // Read rows as they are before the write, all as of one instant at which the locks of the write were held.
  // So no other write changes an observed row between this read and the write. Other rows may change
  // meanwhile; a transaction checks that they did not. The reads do not see the write, nor what observers add
  // to it. A scanner must be destroyed before before_write() returns. As Table::get and Table::scan;
  // kInvalidArgument for a query with a snapshot.
  virtual Result<RowBatch> get(const std::shared_ptr<Table>& table, const Get& get) = 0;
  virtual Result<std::unique_ptr<Scanner>> scan(const std::shared_ptr<Table>& table, const Scan& scan) = 0;
  // Reads a row as it will be after the write, by the rules of its families: versions, delete markers, times
  // to live. What observers add does not count.
  virtual Result<RowBatch> get_after(const std::shared_ptr<Table>& table, const Get& get) = 0;

  // Add a mutation of any row of any table of the engine to the write. The mutation is copied. A failure
  // refuses the whole write, whatever before_write() returns. kInvalidArgument: an unknown family, no
  // columns, a table of another engine, or Delete::latest_version, which would have to read. kLimit: all
  // additions together are larger than EngineOptions::batch_bytes_max.
  virtual Status put(const std::shared_ptr<Table>& table, const Put& put) = 0;
  virtual Status erase(const std::shared_ptr<Table>& table, const Delete& erase) = 0;
  // Adds `amount` to a counter, as Increment does, together with all other amounts that this write adds to
  // it. The row is locked after all observers are done, so that no amount is lost to a concurrent write. The
  // write fails with kInvalidArgument if the counter is not 8 bytes long, if it overflows, or if the write,
  // or a put that was added to it, writes the same column.
  virtual Status increment(const std::shared_ptr<Table>& table, std::string_view row, std::string_view family,
                           std::string_view qualifier, int64_t amount) = 0;
};

// Observer: registered on a table by Engine::add_observer. Before a write that changes rows of the table
// joins the log, before_write() is called once for each of these rows. What it adds is part of the write: one
// record of the log, one sequence, all or nothing for readers and through any crash.
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
// Which writes. put, erase, increment, append, mutate, check_and_mutate (if its condition held), batch, a
// Batch and the commit of a transaction, for rows of the table. Not observed: what observers add, also to
// tables that have observers, so that there are no endless cycles; Table::ingest, which adopts files unread;
// recovery, which replays writes together with their additions.
//
// Order. Rows come in the order of their keys, table by table; the observers of a table in the order in which
// they were registered. Of equal coordinates the cell added last wins, over the write's own too.
//
// Answers. Ok lets the write go on. Any other status refuses all of it, and is the answer to the caller, with
// the names of observer, table and row in front. Actions of Table::batch are observed, and refused, one by
// one.
//
// Idempotence. A write may fail after it was observed (a conflict, a full disk), and may be observed again
// with what the rows hold then, when a lock that its additions need was not free: what counts is what the
// last call added. So before_write() may run more than once: side effects outside `context` must be
// idempotent.
//
// Locks and isolation. The observed rows of the write are locked exclusively while they are observed and
// written, so an inverse table that is derived from get() and get_after() agrees exactly. Rows that are added
// to are locked too, when the observers are done: shared, as by every put, so that no increment of somebody
// else loses them; exclusively for increment(). What get() and scan() found in other rows may have been
// changed by somebody else when the write is made. A transaction's observers read as of its instant, and what
// they read and add to is checked at its commit like its own reads and writes (kConflict). Locks are held by
// hash: a write that adds to thousands of rows holds up other writes as a Batch of so many rows does.
//
// Delete markers hide puts with the same timestamp, also those of later writes in the same millisecond. Where
// an observer deletes what a later write may put again, give the family delete_order = sequence. What a row
// shows can also change without a write, which nobody observes: times to live end, and with the default order
// of markers a put that is written behind a marker while a compaction runs may show once that has dropped the
// marker. A table that is derived from what rows show, to the last row, wants delete_order = sequence, and no
// time to live, in the families that it is derived from.
//
// Threads. Called in the writing threads, several at a time. Must not throw, nor wait for another thread that
// writes. Through the engine, its tables and transactions it may read, but must not write, flush, compact,
// ingest, change the schema, or close: kInvalidArgument, and nothing is done.
//
// Lifetime. Held until the engine is closed. It may hold tables; they are let go then, too.
class Observer {
 public:
  virtual ~Observer() = default;
  // `row` holds the cells to be written, at least one, delete markers among them: with their timestamps, and
  // with increments and appends as the values that they result in. They are in the order of families,
  // qualifiers, and newest first. Their sequence is 0, because it is not known yet.
  virtual Status before_write(const RowView& row, ObserverContext& context) = 0;
};

}  // namespace cellar
