// TransactionImpl: holds what a transaction read and wrote, and commits it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "cellar/transaction.h"
#include "engine/read/read_set.h"
#include "engine/store/snapshot_keeper.h"
#include "engine/store/table_state.h"
#include "engine/trace/traced_operations.h"
#include "engine/write/prepared_batch.h"
#include "engine/write/row_changes.h"
#include "engine/write/write_path.h"

namespace cellar {

// Stamp: the timestamp of a cell of a transaction, as far as it is known before the commit. The timestamp is
// either given; or rising, which rising_stamp() decides at the commit; or it follows from the time of the
// commit, see at().
//
// The invariant of the last kind: a cell follows() each earlier cell of the transaction that it covers, or
// that covers it. If the earlier one is a marker that would hide it, the cell follows by 1 ms. So the commit
// shows what the transaction showed, whatever the time of the commit is.
struct Stamp {
  int64_t timestamp = kNow;  // kNow: not given
  int64_t floor = 0;         // the cell is not older than this
  int64_t later = 0;         // milliseconds to add
  bool rising = false;

  bool given() const { return timestamp != kNow; }
  bool plain() const { return floor == 0 && later == 0; }
  int64_t at(int64_t commit_ms) const {
    CELLAR_ASSERT(!rising && later >= 0);
    return given() ? timestamp : std::max(commit_ms, floor) + later;
  }
  // Returns whether this stamp is at least `by_ms` later than `earlier` at every time of the commit. Both
  // follow from that time.
  bool follows(const Stamp& earlier, int64_t by_ms) const {
    return floor >= earlier.floor && later >= earlier.later + by_ms;
  }
};

// Columns that were read with a timestamp ahead of the clock, by row: almost always none.
struct ColumnAhead {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
};
using Ahead = std::map<std::string, std::vector<ColumnAhead>, std::less<>>;

// One thread at a time.
class TransactionImpl final : public Transaction, private CommitCheck, private ObservedReads {
 public:
  TransactionImpl(std::shared_ptr<const TableHost> host, std::shared_ptr<WritePath> write_path,
                  const MemtableSpace& memory, const TransactionOptions& options);

  uint64_t sequence() const override { return sequence_; }
  Result<RowBatch> get(const std::shared_ptr<Table>& table, const Get& get) override;
  Result<std::unique_ptr<Scanner>> scan(const std::shared_ptr<Table>& table, const Scan& scan) override;
  Status put(const std::shared_ptr<Table>& table, const Put& put) override;
  Status erase(const std::shared_ptr<Table>& table, const Delete& erase) override;
  Result<std::vector<int64_t>> increment(const std::shared_ptr<Table>& table,
                                         const Increment& increment) override;
  Result<Row> append(const std::shared_ptr<Table>& table, const Append& append) override;
  Result<ActionResult> check_and_mutate(const std::shared_ptr<Table>& table,
                                        const CheckAndMutate& check) override;
  Status commit() override;
  void rollback() override;

  bool active() const { return snapshot_ != nullptr; }
  // The engine's own: it may write to second tables.
  void keep_second_tables() { keeps_second_tables_ = true; }

 private:
  // A cell that the transaction has written.
  struct OwnCell {
    Store* store = nullptr;
    std::string_view row;  // lies in the map of rows
    std::string qualifier;
    std::string value;
    std::string tags;
    CellType type = CellType::kPut;
    Stamp stamp;
    int64_t shown = 0;            // the timestamp that reads see
    const OwnCell* of = nullptr;  // a marker of one version: the transaction's own rising put that it hides
    int64_t committed = 0;        // the timestamp at the commit
  };
  struct WrittenRow {
    std::vector<const OwnCell*> unstamped;
    bool plain = true;  // no marker among them, and nothing that asks for order
  };
  struct TouchedTable {
    std::shared_ptr<TableState> table;
    ReadSet read;
    ReadSet written;
    std::map<std::string, WrittenRow, std::less<>> rows;
    std::shared_ptr<Ahead> ahead = std::make_shared<Ahead>();
  };
  // A column as a mutation found it before it wrote it.
  struct FoundColumn {
    std::string family;
    std::string qualifier;
    bool own_unstamped = false;
  };
  enum class Kind : uint8_t { kBlind, kErase, kReplace };
  // The commit's knowledge of one cell of a mutation.
  struct Staged {
    Stamp stamp;
    const OwnCell* of = nullptr;
    int64_t shown = 0;
  };
  // One mutation on its way in.
  struct Change {
    TouchedTable& table;
    std::string_view row;
    Kind kind = Kind::kBlind;
    int64_t replaced_at = kNow;  // of an increment or append: the timestamp it gives to new columns
    std::vector<FoundColumn> found = {};
  };

  Result<TouchedTable*> state_of(const std::shared_ptr<Table>& table);
  ReadInstant instant() const {
    CELLAR_ASSERT(active());  // the snapshot keeps what the instant sees
    return {sequence_, host_->mvcc.now_ms()};
  }
  Result<std::unique_ptr<Scanner>> scan_noted(TouchedTable& state, const Scan& scan, const ReadOverlay& own);
  // Applies an increment or append. Returns the new cells, as far as the mutation asks for them.
  template <class ReadingMutation>
  Result<Row> replace(const std::shared_ptr<Table>& table, const ReadingMutation& mutation);
  Status look_up(Change& change, const Get& get, RowBatch& found);
  Status apply(Change& change, const std::function<Status(RowChanges&)>& work);
  Status take(Change& change);
  Stamp stamp_of(const Change& change, const WrittenRow* written, const PreparedBatch::Item& item) const;
  bool rises(const Store& store) const { return options_.stamps.value_or(store.stamps()) == Stamps::kRising; }
  Result<Staged> stage(const Change& change, const WrittenRow* written, const PreparedBatch::Item& item,
                       const StampBook& book) const;
  Status stamp_cells(int64_t commit_ms);
  void order(const Change& change, const WrittenRow* written, const PreparedBatch::Item& item,
             Stamp& stamp) const;
  const OwnCell* find_own(const Change& change, const PreparedBatch::Item& item, int64_t shown) const;
  void show(PreparedBatch& batch);
  Status renew_overlay();
  Memtable& overlay_of(const Store* store);
  Status write();

  Status holds() override;

  // Reads and additions of observers are checked like the transaction's own.
  void renew() override {}
  Status get_observed(TableState& table, const Get& get, const ReadOverlay& own, RowBatch& found) override;
  Result<std::unique_ptr<Scanner>> scan_observed(TableState& table, const Scan& scan) override;
  void note_added(TableState& table, std::string_view row) override;

  const std::shared_ptr<const TableHost> host_;
  const std::shared_ptr<WritePath> write_path_;
  const MemtableSpace& memory_;  // part of what the host belongs to
  const TransactionOptions options_;
  std::shared_ptr<const SnapshotImpl> snapshot_;  // null: over
  bool keeps_second_tables_ = false;
  uint64_t sequence_;
  int64_t begun_ms_;
  std::map<uint32_t, TouchedTable> tables_;  // by id
  std::deque<OwnCell> cells_;
  StampBook shown_;  // of cells_, as reads see them
  uint64_t bytes_ = 0;
  ReadOverlay overlay_;
  std::shared_ptr<const int> shown_to_;  // held by each scanner that sees the overlay
  PreparedBatch raw_;                    // the cells of a mutation
  TracedWrites traced_;
  PreparedBatch staged_;  // the same with timestamps, checked
};

}  // namespace cellar
