// TransactionImpl: own writes lie in memtables that are laid over the snapshot's views; the commit is one
// checked write.
#include "engine/write/transaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/read/table_reader.h"
#include "engine/trace/traced_operations.h"
#include "engine/values/check_reader.h"
#include "engine/values/row_batch_builder.h"
#include "engine/write/row_check.h"

namespace cellar {
namespace {

Status conflict(const std::string& table, std::string_view row) {
  return Status::conflict(
             fmt::format("table {}, row {}: another write changed it since the transaction began", table,
                         escaped(row)))
      .hinting("begin a new transaction and repeat all of it; Engine::run_transaction does so");
}

Status replaced(const std::string& table) {
  return Status::conflict(fmt::format("table {} was restored or emptied since the transaction began", table))
      .hinting("begin a new transaction and repeat all of it; Engine::run_transaction does so");
}

void note_ahead(const RowView& row, int64_t than_ms, Ahead& ahead) {
  for (const CellView& cell : row.cells())
    if (cell.timestamp > than_ms && cell.sequence != kUncommittedSequence)
      ahead[std::string(cell.row())].push_back(
          {std::string(cell.family()), std::string(cell.qualifier()), cell.timestamp});
}

bool covers(CellType type, std::string_view qualifier, std::string_view other) {
  return covers_family(type) || qualifier == other;
}

// Notes how far a scan has come.
class TransactionScanner final : public Scanner {
 public:
  struct Notes {
    std::shared_ptr<PassedRange> passed;
    std::shared_ptr<Ahead> ahead;
    int64_t begun_ms = 0;
    uint64_t limit = 0;
    std::string stop;
    bool stop_inclusive = false;
  };
  TransactionScanner(std::unique_ptr<Scanner> inner, Notes notes)
      : inner_(std::move(inner)), notes_(std::move(notes)) {
    CELLAR_ASSERT(inner_ != nullptr && notes_.passed != nullptr && notes_.ahead != nullptr);
  }

  bool next() override {
    if (!inner_->next()) return ended();
    note(inner_->row());
    return true;
  }
  RowView row() const override { return inner_->row(); }
  Status status() const override { return inner_->status(); }

  bool next_batch(RowBatch& batch, size_t rows) override {
    const bool any = inner_->next_batch(batch, rows);
    for (const RowView row : batch) note(row);
    if (batch.size() < rows && !RowBatchBuilder(batch).ends_with_cursor()) ended();
    return any;
  }

 private:
  void note(const RowView& row) {
    notes_.passed->passed = true;
    notes_.passed->stop = row.row();
    notes_.passed->stop_inclusive = !row.is_cursor();  // a cursor's row was not examined
    note_ahead(row, notes_.begun_ms, *notes_.ahead);
    if (!row.more_cells_in_row() && !row.is_cursor()) ++rows_;
  }
  // Nothing more is there up to the end of the scan, unless it was its limit that ended it.
  bool ended() {
    if (notes_.limit != 0 && rows_ >= notes_.limit) return false;
    notes_.passed->passed = true;
    notes_.passed->stop = notes_.stop;
    notes_.passed->stop_inclusive = notes_.stop_inclusive;
    return false;
  }

  std::unique_ptr<Scanner> inner_;
  Notes notes_;
  uint64_t rows_ = 0;
};

}  // namespace

TransactionImpl::TransactionImpl(std::shared_ptr<const TableHost> host, std::shared_ptr<WritePath> write_path,
                                 const MemtableSpace& memory, const TransactionOptions& options)
    : host_(std::move(host)),
      write_path_(std::move(write_path)),
      memory_(memory),
      options_(options),
      snapshot_(
          std::make_shared<const SnapshotImpl>(std::shared_ptr<SnapshotKeeper>(host_, &host_->snapshots))),
      sequence_(snapshot_->sequence()),
      begun_ms_(host_->mvcc.write_ms()),
      shown_to_(std::make_shared<const int>(0)) {
  CELLAR_ASSERT(write_path_ != nullptr && sequence_ <= host_->mvcc.read_point());
}

Result<TransactionImpl::TouchedTable*> TransactionImpl::state_of(const std::shared_ptr<Table>& table) {
  if (!active()) return Status::aborted("the transaction is over: it was committed or rolled back");
  TableState* known = TableState::of(*host_, table.get());
  if (known == nullptr)
    return Status::invalid_argument("the table belongs to another engine than the transaction");
  CELLAR_TRY(known->check());
  TouchedTable& state = tables_[known->id()];
  if (state.table == nullptr) state.table = known->shared_from_this();
  CELLAR_ASSERT(state.table->id() == known->id());
  return &state;
}

Result<RowBatch> TransactionImpl::get(const std::shared_ptr<Table>& table, const Get& get) {
  const MeteredScope metered(host_->world.operations(), Metered::kGet);
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  if (get.snapshot() != nullptr)
    return Status::invalid_argument("a transaction reads at its own read point and cannot use a snapshot");
  TraceScope trace(host_->recorder, get.row());
  RowBatch found;
  const Status status = TableReader(*state->table).get_as_of(get, instant(), overlay_, found);
  if (trace) {
    TraceResults results;
    results.add(found.row());
    trace_get(trace, TraceKind::kGet, state->table->name(), get, results, status.code(), kTraceInTransaction);
  }
  CELLAR_TRY(status);
  if (options_.serializable) state->read.add_row(get.row());
  note_ahead(found.row(), begun_ms_, *state->ahead);
  return found;
}

Result<std::unique_ptr<Scanner>> TransactionImpl::scan(const std::shared_ptr<Table>& table,
                                                       const Scan& scan) {
  const MeteredScope metered(host_->world.operations(), Metered::kScanOpen);
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  if (scan.snapshot() != nullptr)
    return Status::invalid_argument("a transaction reads at its own read point and cannot use a snapshot");
  TraceScope trace(host_->recorder);
  Result<std::unique_ptr<Scanner>> scanner = scan_noted(*state, scan, overlay_);
  if (!trace || !scanner.ok()) return scanner;
  return trace_scan(trace, host_->recorder, state->table->name(), scan, std::move(scanner).value(),
                    kTraceInTransaction);
}

Result<std::unique_ptr<Scanner>> TransactionImpl::scan_noted(TouchedTable& state, const Scan& scan,
                                                             const ReadOverlay& own) {
  ScanRead bounds;
  CELLAR_TRY(bounds.resolve(scan, host_->world.clock));
  const RowRange& range = bounds.read.range;
  struct Keep {
    std::shared_ptr<const SnapshotImpl> snapshot;
    std::shared_ptr<const int> shown_to;
  };
  const auto keep = std::make_shared<const Keep>(Keep{snapshot_, shown_to_});
  CELLAR_TRY_ASSIGN(auto inner, open_scan_as_of(state.table, scan, instant(), own, keep));
  const bool validated = options_.serializable;
  const auto passed = validated ? state.read.add_range() : std::make_shared<PassedRange>();
  passed->start = range.start;
  passed->start_inclusive = range.start_inclusive;
  passed->reversed = range.reversed;
  TransactionScanner::Notes notes{
      passed, state.ahead, begun_ms_, scan.limit(), std::string(range.stop), range.stop_inclusive};
  return std::unique_ptr<Scanner>(std::make_unique<TransactionScanner>(std::move(inner), std::move(notes)));
}

Status TransactionImpl::put(const std::shared_ptr<Table>& table, const Put& put) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(*state->table, put, touched));
  Change change{*state, put.row()};
  CELLAR_TRY(apply(change, [&](RowChanges& changes) { return changes.put(put); }));
  traced_.add(host_->recorder, TraceEntryKind::kPut, table->name(), put);
  return {};
}

Status TransactionImpl::erase(const std::shared_ptr<Table>& table, const Delete& erase) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(*state->table, erase, touched));
  Change change{*state, erase.row(), looks_up(erase) ? Kind::kErase : Kind::kBlind};
  CELLAR_TRY(apply(change, [&](RowChanges& changes) { return changes.erase(erase); }));
  traced_.add(host_->recorder, TraceEntryKind::kErase, table->name(), erase);
  return {};
}

Result<std::vector<int64_t>> TransactionImpl::increment(const std::shared_ptr<Table>& table,
                                                        const Increment& increment) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(*state->table, increment, touched));
  Change change{*state, increment.row(), Kind::kReplace, increment.timestamp()};
  std::vector<int64_t> sums;
  const auto work = [&](RowChanges& changes) -> Status {
    CELLAR_TRY_ASSIGN(sums, changes.increment(increment, false));
    return {};
  };
  CELLAR_TRY(apply(change, work));
  traced_.add(host_->recorder, TraceEntryKind::kIncrement, table->name(), increment);
  return sums;
}

template <class ReadingMutation>
Result<Row> TransactionImpl::replace(const std::shared_ptr<Table>& table, const ReadingMutation& mutation) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(*state->table, mutation, touched));
  Change change{*state, mutation.row(), Kind::kReplace, mutation.timestamp()};
  Row row;
  const size_t before = cells_.size();
  const auto work = [&](RowChanges& changes) -> Status {
    CELLAR_TRY(changes.apply(mutation));
    row = changes.take_new_cells(mutation.row());
    return {};
  };
  CELLAR_TRY(apply(change, work));
  constexpr bool kAppends = std::is_same_v<ReadingMutation, Append>;
  traced_.add(host_->recorder, kAppends ? TraceEntryKind::kAppend : TraceEntryKind::kIncrement, table->name(),
              mutation);
  for (Cell& cell : row.cells)
    for (size_t i = before; i < cells_.size(); ++i)
      if (cells_[i].store->family() == cell.family && cells_[i].qualifier == cell.qualifier)
        cell.timestamp = cells_[i].shown;
  return row;
}

Result<Row> TransactionImpl::append(const std::shared_ptr<Table>& table, const Append& append) {
  return replace(table, append);
}

// Reads the row as get() does. So the commit fails if another write changes it, and the change is not older
// than the checked cell.
Result<ActionResult> TransactionImpl::check_and_mutate(const std::shared_ptr<Table>& table,
                                                       const CheckAndMutate& check) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table));
  std::vector<Store*> touched;
  CELLAR_TRY(check_change(*state->table, check, touched));
  const CheckAndMutate::Change& change = CheckReader(check).change();
  if (std::holds_alternative<RowMutations>(change))
    return Status::not_supported("a check in a transaction cannot have row mutations as its change")
        .hinting("check a single mutation, or add each mutation to the transaction, which is atomic itself");
  const auto read = [&](const Get& get, RowBatch& found) -> Status {
    CELLAR_TRY_ASSIGN(found, this->get(table, get));
    return {};
  };
  CELLAR_TRY_ASSIGN(const Checked checked, check_condition(check, read));
  ActionResult result{checked.matches, Row{check.row(), {}}};
  if (!checked.matches) return result;
  if (const auto* put = std::get_if<Put>(&change)) CELLAR_TRY(this->put(table, *put));
  if (const auto* erase = std::get_if<Delete>(&change)) CELLAR_TRY(this->erase(table, *erase));
  if (const auto* append = std::get_if<Append>(&change)) {
    CELLAR_TRY_ASSIGN(result.row, replace(table, *append));
  }
  if (const auto* increment = std::get_if<Increment>(&change)) {
    CELLAR_TRY_ASSIGN(result.row, replace(table, *increment));
  }
  return result;
}

// Reads a mutation's row, with the transaction's writes.
Status TransactionImpl::look_up(Change& change, const Get& get, RowBatch& found) {
  CELLAR_ASSERT(get.row() == change.row);
  CELLAR_TRY(TableReader(*change.table.table).get_as_of(get, instant(), overlay_, found));
  note_ahead(found.row(), begun_ms_, *change.table.ahead);
  for (const CellView& cell : found.row().cells()) {
    PreparedBatch::Item item{};
    item.store = change.table.table->families().find(cell.family());
    item.qualifier = cell.qualifier();
    const OwnCell* own =
        cell.sequence == kUncommittedSequence ? find_own(change, item, cell.timestamp) : nullptr;
    change.found.push_back({std::string(cell.family()), std::string(cell.qualifier()), own != nullptr});
  }
  return {};
}

Status TransactionImpl::apply(Change& change, const std::function<Status(RowChanges&)>& work) {
  CELLAR_TRY(check_row(change.row));
  CELLAR_ASSERT(active() && change.found.empty());
  const RowChanges::Read read = [&](const Get& get, RowBatch& found) { return look_up(change, get, found); };
  raw_.begin(Stamps::kClock);  // what rises is stamped in stage()
  RowChanges changes(*change.table.table, raw_, begun_ms_, &read);
  CELLAR_TRY(work(changes));
  return take(change);
}

// The newest cell of the transaction without a timestamp of its own that is shown at this one.
const TransactionImpl::OwnCell* TransactionImpl::find_own(const Change& change,
                                                          const PreparedBatch::Item& item,
                                                          int64_t shown) const {
  const auto written = change.table.rows.find(change.row);
  if (written == change.table.rows.end()) return nullptr;
  const std::vector<const OwnCell*>& cells = written->second.unstamped;
  for (size_t i = cells.size(); i-- > 0;)
    if (cells[i]->store == item.store && cells[i]->qualifier == item.qualifier && cells[i]->shown == shown &&
        cells[i]->type == CellType::kPut)
      return cells[i];
  return nullptr;
}

Stamp TransactionImpl::stamp_of(const Change& change, const WrittenRow* written,
                                const PreparedBatch::Item& item) const {
  Stamp stamp;
  if (change.kind == Kind::kErase && item.type == CellType::kDelete) {
    // The version that was looked up may be the transaction's own.
    if (const OwnCell* own = find_own(change, item, item.timestamp)) return own->stamp;
  }
  if (change.kind != Kind::kReplace) {
    stamp.timestamp = item.timestamp;
  } else {
    const auto found = std::ranges::find_if(change.found, [&](const FoundColumn& each) {
      return each.family == item.store->family() && each.qualifier == item.qualifier;
    });
    if (found == change.found.end()) {
      stamp.timestamp = change.replaced_at;
    } else if (!found->own_unstamped && item.timestamp > begun_ms_) {
      stamp.floor = item.timestamp;  // not older than the value it replaces
    }
  }
  if (stamp.given()) return stamp;
  if (rises(*item.store) && item.type != CellType::kDelete) return {.rising = true};
  order(change, written, item, stamp);
  return stamp;
}

// The stamp of a cell, and the timestamp that reads see until the commit.
Result<TransactionImpl::Staged> TransactionImpl::stage(const Change& change, const WrittenRow* written,
                                                       const PreparedBatch::Item& item,
                                                       const StampBook& book) const {
  Staged staged{stamp_of(change, written, item)};
  if (staged.stamp.rising && change.kind == Kind::kErase && item.type == CellType::kDelete)
    staged.of = find_own(change, item, item.timestamp);
  const Stamp& stamp = staged.stamp;
  if (stamp.later > Mvcc::kAheadMsMax)
    return Status::limit(
               fmt::format("row {}, column {}:{} was deleted and put more than {} times in a transaction",
                           escaped(item.row), item.store->family(), escaped(item.qualifier),
                           Mvcc::kAheadMsMax))
        .hinting("commit, and go on in a new transaction");
  if (staged.of != nullptr) {
    staged.shown = staged.of->shown;
  } else if (stamp.rising) {
    const int64_t own = std::max(shown_.newest(*item.store, change.row, item.qualifier, item.type),
                                 book.newest(*item.store, change.row, item.qualifier, item.type));
    CELLAR_TRY_ASSIGN(staged.shown,
                      rising_stamp(*item.store, change.row, item.qualifier, item.type, begun_ms_, own));
  } else if (!stamp.given() && stamp.floor >= kLatestTimestamp - 1 - stamp.later) {
    return Status::invalid_argument(
               fmt::format(
                   "row {}, column {}:{} has the highest possible timestamp: no later version is possible",
                   escaped(item.row), item.store->family(), escaped(item.qualifier)))
        .hinting("delete that version first");
  } else {
    staged.shown = stamp.at(begun_ms_);
  }
  CELLAR_ASSERT(staged.of == nullptr || staged.of->stamp.rising);
  return staged;
}

// Makes a stamp that follows from the time of the commit keep the invariant of Stamp. Timestamps ahead of the
// clock that the transaction has read count, too: what a cell covers must not be newer than the cell.
void TransactionImpl::order(const Change& change, const WrittenRow* written, const PreparedBatch::Item& item,
                            Stamp& stamp) const {
  CELLAR_ASSERT(!stamp.given() && !stamp.rising);
  if (const auto ahead = change.table.ahead->find(change.row); ahead != change.table.ahead->end())
    for (const ColumnAhead& each : ahead->second)
      if (each.family == item.store->family() && covers(item.type, item.qualifier, each.qualifier))
        stamp.floor = std::max(stamp.floor, each.timestamp);
  if (written == nullptr || written->plain) return;
  for (const OwnCell* earlier : written->unstamped) {
    if (earlier->store != item.store) continue;
    if (!covers(earlier->type, earlier->qualifier, item.qualifier) &&
        !covers(item.type, item.qualifier, earlier->qualifier))
      continue;
    const int64_t by_ms = is_delete(earlier->type) && item.type == CellType::kPut ? 1 : 0;  // it would hide
    stamp.floor = std::max(stamp.floor, earlier->stamp.floor);
    stamp.later = std::max(stamp.later, earlier->stamp.later + by_ms);
    // Both only grow: what was followed before is followed still.
    CELLAR_ASSERT(earlier->stamp.given() || stamp.follows(earlier->stamp, by_ms));
  }
}

// Takes the cells of raw_ in: all, or none when one is refused.
Status TransactionImpl::take(Change& change) {
  const auto known = change.table.rows.find(change.row);
  const WrittenRow* written = known != change.table.rows.end() ? &known->second : nullptr;
  std::vector<Staged> all;
  StampBook book;
  staged_.begin(Stamps::kClock);
  for (const PreparedBatch::Item& item : raw_.items()) {
    CELLAR_TRY_ASSIGN(const Staged staged, stage(change, written, item, book));
    all.push_back(staged);
    if (rises(*item.store)) book.note(*item.store, change.row, item.qualifier, staged.shown, item.type);
    staged_.add(*item.store, item.row, item.qualifier, staged.shown, item.type, item.value, item.tags);
  }
  CELLAR_TRY(staged_.finish(begun_ms_, {.cell_bytes_max = host_->world.options.cell_bytes_max,
                                        .batch_bytes_max = host_->world.options.batch_bytes_max}));
  const uint64_t bytes = staged_.payload().size();
  if (bytes > host_->world.options.batch_bytes_max - bytes_)
    return Status::limit(fmt::format("the transaction is larger than {} bytes (batch_bytes_max)",
                                     host_->world.options.batch_bytes_max))
        .hinting("split it into several transactions, or raise the limit");
  if (shown_to_.use_count() > 1) CELLAR_TRY(renew_overlay());
  bytes_ += bytes;
  CELLAR_ASSERT(all.size() == raw_.items().size() && bytes_ <= host_->world.options.batch_bytes_max);
  const auto row = change.table.rows.try_emplace(std::string(change.row)).first;
  change.table.written.add_row(change.row);
  for (size_t i = 0; i < all.size(); ++i) {
    const PreparedBatch::Item& item = raw_.items()[i];
    const OwnCell& cell = cells_.emplace_back(OwnCell{item.store, row->first, std::string(item.qualifier),
                                                      std::string(item.value), std::string(item.tags),
                                                      item.type, all[i].stamp, all[i].shown, all[i].of});
    if (rises(*cell.store)) shown_.note(*cell.store, cell.row, cell.qualifier, cell.shown, cell.type);
    if (cell.stamp.given()) continue;
    row->second.unstamped.push_back(&cell);
    if (is_delete(cell.type) || !cell.stamp.plain()) row->second.plain = false;
  }
  show(staged_);
  return {};
}

Memtable& TransactionImpl::overlay_of(const Store* store) {
  CELLAR_ASSERT(store != nullptr);
  if (const MemtableRef* known = overlay_.find(store)) return *known->get();
  return *overlay_.memtables.emplace_back(store, memory_.create()).second.get();
}

// From now on reads see these cells, too.
void TransactionImpl::show(PreparedBatch& batch) {
  for (PreparedBatch::PreparedCell each : batch.cells()) {
    each.cell.sequence = kUncommittedSequence;
    overlay_of(each.store).insert(each.cell);
  }
}

// Leaves the overlay to the scanners that see it, and makes another one.
Status TransactionImpl::renew_overlay() {
  PreparedBatch all;
  all.begin(Stamps::kClock);
  for (const OwnCell& cell : cells_)
    all.add(*cell.store, cell.row, cell.qualifier, cell.shown, cell.type, cell.value, cell.tags);
  if (all.empty()) {
    overlay_.memtables.clear();
  } else {
    CELLAR_TRY(all.finish(begun_ms_, {.cell_bytes_max = UINT64_MAX, .batch_bytes_max = UINT64_MAX}));
    overlay_.memtables.clear();
    show(all);
  }
  shown_to_ = std::make_shared<const int>(0);
  return {};
}

Status TransactionImpl::commit() {
  const MeteredScope metered(host_->world.operations(), Metered::kCommit);
  if (!active()) return Status::aborted("the transaction is over: it was committed or rolled back");
  TraceScope trace(host_->recorder);
  const Status status = cells_.empty() ? host_->life.check_open() : write();
  if (trace) traced_.commit(trace, options_.durability, status.code());
  rollback();
  CELLAR_ASSERT(!active() && cells_.empty());
  return status;
}

// Gives every cell its timestamp, in the order in which they were written. Another write to one of their rows
// makes the commit fail, so what rises need not be locked here.
Status TransactionImpl::stamp_cells(int64_t commit_ms) {
  StampBook book;
  for (OwnCell& cell : cells_) {
    if (cell.of != nullptr) {
      // The marker hides the transaction's own put, which is before it in the order of writing.
      CELLAR_ASSERT(cell.of->store == cell.store && cell.of->row == cell.row && cell.of->stamp.rising);
      cell.committed = cell.of->committed;
    } else if (cell.stamp.rising) {
      CELLAR_TRY_ASSIGN(cell.committed,
                        rising_stamp(*cell.store, cell.row, cell.qualifier, cell.type, commit_ms,
                                     book.newest(*cell.store, cell.row, cell.qualifier, cell.type)));
    } else {
      cell.committed = cell.stamp.at(commit_ms);
      CELLAR_ASSERT(cell.stamp.given() || cell.committed >= commit_ms);
    }
    if (rises(*cell.store)) book.note(*cell.store, cell.row, cell.qualifier, cell.committed, cell.type);
  }
  return {};
}

Status TransactionImpl::write() {
  // After a step back of the clock, cells are as young as when the transaction began: what it read and
  // replaces may be as young.
  const int64_t now_ms = host_->mvcc.write_ms();
  const int64_t commit_ms = std::max(now_ms, begun_ms_);
  std::vector<TableState*> tables;
  for (const auto& [id, state] : tables_) {
    if (state.rows.empty()) continue;
    CELLAR_TRY(keeps_second_tables_ ? state.table->check() : state.table->check_writable());
    tables.push_back(state.table.get());
  }
  CELLAR_TRY(stamp_cells(commit_ms));
  std::vector<PreparedBatch::Item> items;
  items.reserve(cells_.size());
  int64_t later = 0;
  for (const OwnCell& cell : cells_) {
    later = std::max(later, cell.stamp.later);
    items.push_back(
        {cell.store, cell.row, cell.qualifier, cell.value, cell.tags, cell.committed, cell.type, false});
  }
  // Some timestamps are slightly ahead of the clock; later writes must be ordered after them.
  CELLAR_ASSERT(!tables.empty() && items.size() == cells_.size());
  if (later != 0 || commit_ms > now_ms) host_->mvcc.order_after(commit_ms + later);
  return write_path_->write_checked(tables, items, commit_ms, *this, *this,
                                    {.durability = options_.durability, .stamps = options_.stamps});
}

// The leader's.
Status TransactionImpl::holds() {
  CELLAR_ASSERT(active() && sequence_ <= host_->mvcc.read_point());
  for (const auto& [id, state] : tables_) {
    for (const auto& store : state.table->families().stores) {
      if (store->replaced_at() > sequence_) return replaced(state.table->name());
      const std::shared_ptr<const StoreView> view = store->view();
      for (const ReadSet* rows : {&state.written, &state.read}) {
        const auto changed = rows->changed_row(*view, sequence_);
        if (!changed.ok()) return changed.status().with_context("check of the transaction");
        if (*changed) return conflict(state.table->name(), **changed);
      }
    }
  }
  return {};
}

Status TransactionImpl::get_observed(TableState& table, const Get& get, const ReadOverlay& own,
                                     RowBatch& found) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table.shared_from_this()));
  if (options_.serializable) state->read.add_row(get.row());
  return TableReader(table).get_as_of(get, instant(), own, found);
}

Result<std::unique_ptr<Scanner>> TransactionImpl::scan_observed(TableState& table, const Scan& scan) {
  CELLAR_TRY_ASSIGN(TouchedTable * state, state_of(table.shared_from_this()));
  return scan_noted(*state, scan, {});
}

void TransactionImpl::note_added(TableState& table, std::string_view row) {
  TouchedTable& state = tables_[table.id()];
  CELLAR_ASSERT(active());
  if (state.table == nullptr) state.table = table.shared_from_this();
  state.written.add_row(row);
}

void TransactionImpl::rollback() {
  overlay_.memtables.clear();
  shown_.clear();
  cells_.clear();
  tables_.clear();
  bytes_ = 0;
  snapshot_.reset();
}

}  // namespace cellar
