// WritePath: validate, stamp, lock, log, insert, publish.
#include "engine/write/write_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/read/table_reader.h"
#include "engine/store/observers.h"
#include "engine/values/batch_reader.h"
#include "engine/values/check_reader.h"
#include "engine/write/batch_changes.h"
#include "engine/write/prepared_batch.h"
#include "engine/write/row_changes.h"
#include "engine/write/row_check.h"

namespace cellar {

namespace {

// One per thread, reused, so that a write allocates nothing once it is warm.
PreparedBatch& thread_batch() {
  thread_local PreparedBatch batch;
  return batch;
}

Status apply_change(RowChanges& changes, const CheckAndMutate::Change& change, int64_t unstamped) {
  return std::visit(
      [&](const auto& each) -> Status {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(each)>, std::monostate>) {
          CELLAR_ASSERT(false);  // check_change() refuses a check without a change
          return {};
        } else {
          return changes.apply(each, unstamped);
        }
      },
      change);
}

Status outdated_write(std::string_view table) {
  return Status::conflict(
             fmt::format("table {} got a second table, or lost one, during the write: nothing of the "
                         "write was kept",
                         table))
      .hinting("write again");
}

bool rises(const Store& store, const WriteOptions& options) {
  return options.stamps.value_or(store.stamps()) == Stamps::kRising;
}

// Stamps that rise follow from what the row holds. A delete that looks up latest versions reads, too.
template <class Stores>
RowLocks::Mode mode_of(const Stores& stores, const WriteOptions& options, bool reads = false) {
  const bool any = std::ranges::any_of(stores, [&](const auto& store) { return rises(*store, options); });
  return reads || any ? RowLocks::Mode::kExclusive : RowLocks::Mode::kShared;
}

// A write that began before the family's stamps were made to rise does not have the lock for it.
std::optional<Stamps> stamps_under(RowLocks::Mode mode, const WriteOptions& options) {
  return mode == RowLocks::Mode::kExclusive ? options.stamps : Stamps::kClock;
}

}  // namespace

WritePath::WritePath(const WriteParts& parts, FlushScheduler& flushes)
    : parts_(parts), flushes_(flushes), order_(parts.host.world.executor, parts.host.mvcc) {
  for (size_t i = 0; i < kInsertTurns; ++i) insert_turns_.emplace_back(parts.host.world.executor);
  CELLAR_ASSERT(insert_turns_.size() == kInsertTurns);
}

Durability WritePath::durability_of(const TableState& table, const WriteOptions& options) const {
  return options.durability.value_or(table.durability());
}

Status WritePath::check_writable() const {
  CELLAR_TRY(check_not_in_observer());
  if (parts_.host.world.options.read_only) return Status::read_only("the store was opened read-only");
  return parts_.disk.health.failed() ? parts_.disk.health.check() : Status();
}

int64_t WritePath::lock_wait_us() const { return parts_.host.world.options.row_lock_wait_ms * 1000; }

// A write before it may have failed, and the engine with it.
Status WritePath::alone(const std::function<Status()>& work) {
  CELLAR_ASSERT(work != nullptr);
  return order_.alone([&]() -> Status {
    CELLAR_TRY(parts_.disk.health.check());
    return work();
  });
}

Status WritePath::put(TableState& table, const Put& put, const WriteOptions& options) {
  CELLAR_TRY(table.check_writable());
  if (put.empty()) return no_columns("put", put.row());
  const uint64_t watch = this->watch();
  if (in_observer || table.observers() != nullptr ||
      mode_of(table.families().stores, options) == RowLocks::Mode::kExclusive) [[unlikely]]
    return put_slowly(table, put, options);
  PreparedBatch& batch = thread_batch();
  batch.begin(Stamps::kClock);
  CELLAR_TRY(RowChanges(table, batch, kNow).put(put));
  CELLAR_ASSERT(!batch.empty() && !batch.stores().empty());
  CELLAR_TRY(parts_.throttle.admit(batch.stores()));
  RowLockSet locks(parts_.row_locks, RowLocks::Mode::kShared);
  CELLAR_TRY(locks.lock_row(put.row(), lock_wait_us(), parts_.host.world.clock));
  PreparedWrite prepared{batch, 0, nullptr, watch};
  return commit(prepared, parts_.host.mvcc.write_ms(), durability_of(table, options));
}

// A put to a table that has observers, or by an observer, which is refused, or whose stamps may rise.
Status WritePath::put_slowly(TableState& table, const Put& put, const WriteOptions& options) {
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(table, put, touched));
  CELLAR_ASSERT(!touched.empty());
  return change_row(table, put.row(), touched, mode_of(touched, options), options,
                    [&](RowChanges& changes) { return changes.put(put); });
}

// Changes one row. Makes the changes under the row's lock, and commits them in a single write, at the time of
// the changes. A change that adds nothing writes nothing.
template <class Change>
Status WritePath::change_row(TableState& table, std::string_view row, const std::vector<Store*>& touched,
                             RowLocks::Mode mode, const WriteOptions& options, const Change& change) {
  CELLAR_TRY(check_writable());
  CELLAR_ASSERT(!touched.empty() && !in_observer);
  PreparedBatch& batch = thread_batch();
  const uint64_t watch = this->watch();
  if (table.observers() != nullptr) [[unlikely]] {
    ObservedWrite write(parts_, batch, options.stamps, watch);
    write.add_row(table, row, mode);
    for (Store* store : touched) write.add_store(store);
    const auto build = [&]() -> Result<int64_t> {
      RowChanges changes(table, batch, parts_.host.mvcc.write_ms());
      CELLAR_TRY(change(changes));
      return changes.now_ms();
    };
    return commit_observed(write, build, durability_of(table, options), options);
  }
  batch.begin(stamps_under(mode, options));
  CELLAR_TRY(parts_.throttle.admit(touched));
  RowLockSet locks(parts_.row_locks, mode);
  CELLAR_TRY(locks.lock_row(row, lock_wait_us(), parts_.host.world.clock));
  RowChanges changes(table, batch, parts_.host.mvcc.write_ms());
  CELLAR_TRY(change(changes));
  if (batch.empty()) return {};
  CELLAR_ASSERT(changes.now_ms() != kNow);
  PreparedWrite prepared{batch, 0, nullptr, watch};
  return commit(prepared, changes.now_ms(), durability_of(table, options));
}

Status WritePath::erase(TableState& table, const Delete& erase, const WriteOptions& options) {
  CELLAR_TRY(table.check_writable());
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(table, erase, touched));
  return change_row(table, erase.row(), touched, mode_of(touched, options, looks_up(erase)), options,
                    [&](RowChanges& changes) { return changes.erase(erase); });
}

Result<std::vector<int64_t>> WritePath::increment(TableState& table, const Increment& increment,
                                                  const WriteOptions& options) {
  CELLAR_TRY(table.check_writable());
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(table, increment, touched));
  std::vector<int64_t> sums;
  const auto change = [&](RowChanges& changes) -> Status {
    CELLAR_TRY_ASSIGN(sums, changes.increment(increment, false));
    return {};
  };
  CELLAR_TRY(change_row(table, increment.row(), touched, RowLocks::Mode::kExclusive, options, change));
  return sums;
}

Result<Row> WritePath::append(TableState& table, const Append& append, const WriteOptions& options) {
  CELLAR_TRY(table.check_writable());
  std::vector<Store*> touched;
  CELLAR_TRY(add_touched(table, append, touched));
  Row row;
  const auto change = [&](RowChanges& changes) -> Status {
    CELLAR_TRY(changes.append(append));
    row = changes.take_new_cells(append.row());
    return {};
  };
  CELLAR_TRY(change_row(table, append.row(), touched, RowLocks::Mode::kExclusive, options, change));
  return row;
}

Result<Row> WritePath::mutate(TableState& table, const RowMutations& mutations, const WriteOptions& options) {
  CELLAR_TRY(table.check_writable());
  std::vector<Store*> touched;
  CELLAR_TRY(check_mutations(table, mutations, touched));
  Row row;
  const auto change = [&](RowChanges& changes) -> Status {
    CELLAR_TRY(changes.apply(mutations));
    row = changes.take_new_cells(mutations.row());
    return {};
  };
  CELLAR_TRY(change_row(table, mutations.row(), touched, RowLocks::Mode::kExclusive, options, change));
  return row;
}

Result<ActionResult> WritePath::check_and_mutate(TableState& table, const CheckAndMutate& check,
                                                 const WriteOptions& options) {
  CELLAR_TRY(table.check_writable());
  std::vector<Store*> touched;
  CELLAR_TRY(check_change(table, check, touched));
  ActionResult result;
  const auto change = [&](RowChanges& changes) -> Status {
    result = {};
    const auto read = [&](const Get& get, RowBatch& found) { return TableReader(table).get(get, found); };
    CELLAR_TRY_ASSIGN(const Checked checked, check_condition(check, read));
    result.matched = checked.matches;
    if (!checked.matches) return {};
    // The checked cell must not hide the change.
    const int64_t unstamped = std::max(changes.now_ms(), checked.timestamp);
    CELLAR_TRY(apply_change(changes, CheckReader(check).change(), unstamped));
    result.row = changes.take_new_cells(check.row());
    return {};
  };
  CELLAR_TRY(change_row(table, check.row(), touched, RowLocks::Mode::kExclusive, options, change));
  return result;
}

Status WritePath::write(const Batch& batch, const WriteOptions& options) {
  CELLAR_TRY(parts_.host.life.check_open());
  if (entries_of(batch).empty()) return {};
  CELLAR_TRY_ASSIGN(const BatchChanges changes, BatchChanges::check(parts_.host, batch));
  Durability durability = Durability::kSkipWal;
  auto mode = RowLocks::Mode::kShared;
  const uint64_t watch = this->watch();
  bool observed = in_observer;
  for (const BatchChanges::Change& each : changes.all()) {
    durability = std::max(durability, durability_of(*each.table, options));
    observed = observed || each.table->observers() != nullptr;
    mode = std::max(mode, mode_of(each.table->families().stores, options, each.looks_up));
  }
  if (mode == RowLocks::Mode::kExclusive) CELLAR_TRY(changes.check_changed_once());
  if (observed) [[unlikely]]
    return write_observed(changes, mode, durability, options);
  PreparedBatch& prepared_batch = thread_batch();
  prepared_batch.begin(stamps_under(mode, options));
  RowLockSet locks(parts_.row_locks, mode);
  CELLAR_TRY(parts_.throttle.admit(changes.stores()));
  CELLAR_TRY(locks.lock_rows(changes.rows(), lock_wait_us(), parts_.host.world.clock));
  const int64_t now_ms = parts_.host.mvcc.write_ms();
  CELLAR_TRY(changes.add_to(prepared_batch, now_ms));
  PreparedWrite prepared{prepared_batch, 0, nullptr, watch};
  return commit(prepared, now_ms, durability);
}

// A batch for tables of which some have observers, or a batch of an observer, which is refused.
Status WritePath::write_observed(const BatchChanges& changes, RowLocks::Mode mode, Durability durability,
                                 const WriteOptions& options) {
  CELLAR_TRY(check_writable());
  CELLAR_ASSERT(!in_observer && !changes.all().empty());
  PreparedBatch& prepared_batch = thread_batch();
  ObservedWrite write(parts_, prepared_batch, options.stamps, watch());
  for (const BatchChanges::Change& each : changes.all()) write.add_row(*each.table, each.row, mode);
  for (Store* store : changes.stores()) write.add_store(store);
  const auto build = [&]() -> Result<int64_t> {
    const int64_t now_ms = parts_.host.mvcc.write_ms();
    CELLAR_TRY(changes.add_to(prepared_batch, now_ms));
    return now_ms;
  };
  return commit_observed(write, build, durability, options);
}

// The strongest durability among the tables that are written to counts, those that observers add to included.
Status WritePath::commit_observed(ObservedWrite& write, const ObservedWrite::Build& build,
                                  Durability durability, const WriteOptions& options, CommitCheck* check) {
  if (durability == Durability::kSkipWal && write.has_seconds())
    return Status::invalid_argument("a table with second tables cannot be written with durability skip_wal")
        .hinting("after a crash the tables would differ; async_wal is the weakest that keeps them equal");
  CELLAR_TRY(write.run(build));
  if (write.batch().empty()) return {};
  CELLAR_ASSERT(write.now_ms() != kNow);
  for (const TableState* table : write.added_tables())
    durability = std::max(durability, durability_of(*table, options));
  PreparedWrite prepared{write.batch(), 0, check, write.watch()};
  Status status = commit(prepared, write.now_ms(), durability);
  if (status.is(Code::kNotFound) && write.has_seconds() && write.watch() != watch())
    return outdated_write(write.batch().stores().front()->table_name());  // the second table was dropped
  return status;
}

Status WritePath::write_checked(std::span<TableState* const> tables,
                                std::span<const PreparedBatch::Item> cells, int64_t now_ms,
                                CommitCheck& check, ObservedReads& reads, const WriteOptions& options) {
  CELLAR_TRY(check_writable());
  CELLAR_ASSERT(!tables.empty() && !cells.empty());
  PreparedBatch& batch = thread_batch();
  batch.begin(options.stamps);
  Durability durability = Durability::kSkipWal;
  const uint64_t watch = this->watch();
  bool observed = false;
  for (const TableState* table : tables) {
    durability = std::max(durability, durability_of(*table, options));
    observed = observed || table->observers() != nullptr;
  }
  const auto add = [&] {
    for (const PreparedBatch::Item& cell : cells)
      batch.add(*cell.store, cell.row, cell.qualifier, cell.timestamp, cell.type, cell.value, cell.tags);
  };
  if (observed) {
    ObservedWrite write(parts_, batch, options.stamps, watch, &reads);
    for (const PreparedBatch::Item& cell : cells) {
      const auto of = std::ranges::find(tables, cell.store->ids().table, &TableState::id);
      CELLAR_ASSERT(of != tables.end());
      write.add_row(**of, cell.row, RowLocks::Mode::kShared);
      write.add_store(cell.store);
    }
    const auto build = [&]() -> Result<int64_t> { return add(), now_ms; };
    return commit_observed(write, build, durability, options, &check);
  }
  add();
  std::vector<std::string_view> rows;
  rows.reserve(cells.size());
  for (const PreparedBatch::Item& cell : cells)
    if (rows.empty() || rows.back() != cell.row) rows.push_back(cell.row);
  CELLAR_TRY(parts_.throttle.admit(batch.stores()));
  // Keeps out a writer that has read one of these rows and is about to write a result of it. Others may write
  // concurrently: the leader's check sees what came before.
  RowLockSet locks(parts_.row_locks, RowLocks::Mode::kShared);
  CELLAR_TRY(locks.lock_rows(rows, lock_wait_us(), parts_.host.world.clock));
  PreparedWrite prepared{batch, 0, &check, watch};
  return commit(prepared, now_ms, durability);
}

Status WritePath::commit(PreparedWrite& prepared, int64_t now_ms, Durability durability) {
  CELLAR_TRY(check_writable());
  CELLAR_ASSERT(!prepared.batch.empty() && prepared.sequence == 0);
  CELLAR_TRY(prepared.batch.finish(now_ms, {.cell_bytes_max = parts_.host.world.options.cell_bytes_max,
                                            .batch_bytes_max = parts_.host.world.options.batch_bytes_max}));
  CELLAR_ASSERT(prepared.batch.count() > 0 && prepared.batch.count() == prepared.batch.cells().size());
  Commit own{prepared, durability};
  CELLAR_TRY(log(own));
  if (own.durable_before != 0) {
    finish_after_sync(own);
  } else {
    own.full = insert(prepared, durability != Durability::kSkipWal);
    order_.settle(own.place, true);
  }
  CELLAR_TRY(own.status);
  CELLAR_DCHECK(parts_.host.mvcc.read_point() >= prepared.sequence);
  const bool automatic = parts_.host.world.options.automatic_flush;
  if (own.full || (automatic && flushes_.relief_is_due())) [[unlikely]]
    CELLAR_TRY(relieve(prepared.batch.stores()));
  return {};
}

// A write with a check waits for all writes before it. So the check finds in the stores what they wrote. A
// write after one that waits for its sync waits for that sync, too. It must not be visible before the other
// one, and would be lost with it.
Status WritePath::log(Commit& commit) noexcept {
  const TurnHeld held(order_.turn());
  if (commit.prepared.check != nullptr) [[unlikely]] {
    order_.drain();
    CELLAR_TRY(commit.prepared.check->holds());
  }
  CELLAR_TRY(append(commit.prepared, commit.durability));
  if (commit.durability == Durability::kFsyncWal) durable_before_ = parts_.disk.wal->next_lsn();
  CELLAR_ASSERT(commit.prepared.sequence != 0);
  commit.place = order_.enter(commit.prepared.sequence);
  if (durable_before_ != 0 && !parts_.disk.wal->is_durable(durable_before_)) {
    commit.durable_before = durable_before_;
    const MutexLock lock(sync_mutex_);
    awaiting_sync_.push_back(&commit);
    if (!std::exchange(somebody_syncs_, true)) commit.leads.store(true, std::memory_order_relaxed);
  }
  return {};
}

// While one thread syncs, the others sleep. The first of them syncs next, for all that have come by then, and
// inserts for them, too. So each of them wakes once, when its write is visible or has failed.
void WritePath::finish_after_sync(Commit& own) noexcept {
  CELLAR_ASSERT(own.durable_before != 0);
  order_.await_call(own.place, own.leads);
  if (own.leads.load(std::memory_order_relaxed)) sync_and_insert();
  order_.await(own.place);
}

void WritePath::sync_and_insert() noexcept {
  std::vector<Commit*> commits;
  {
    const MutexLock lock(sync_mutex_);
    CELLAR_ASSERT(somebody_syncs_ && !awaiting_sync_.empty());
    commits.swap(awaiting_sync_);
  }
  const Status status = make_durable(commits.back()->durable_before);
  for (Commit* each : commits) {
    each->status = status;
    if (status.ok()) each->full = insert(each->prepared, each->durability != Durability::kSkipWal);
    order_.mark(each->place, status.ok());  // its thread may go on, and the object end
  }
  uint64_t next = 0;
  {
    const MutexLock lock(sync_mutex_);
    somebody_syncs_ = !awaiting_sync_.empty();
    if (!somebody_syncs_) return;
    next = awaiting_sync_.front()->place;
    awaiting_sync_.front()->leads.store(true, std::memory_order_seq_cst);
  }
  order_.call(next);
}

// The leader's: why a store that could be written to when the write began cannot any more.
Status WritePath::refusal(const Store& store) const {
  CELLAR_ASSERT(store.dropped() || store.read_only() || store.watched());
  if (store.read_only() && !store.dropped()) return is_read_only(store.table_name());
  if (!store.dropped()) return outdated_write(store.table_name());
  const std::shared_ptr<TableState> table = parts_.catalog.lookup(store.table_name());
  if (table == nullptr || table->id() != store.ids().table)  // another table may have got its name
    return Status::not_found(fmt::format("table {} was dropped", store.table_name()));
  const bool removed = table->families().find(store.family()) == nullptr;
  return Status::conflict(fmt::format("{} during the write: nothing of the write was kept",
                                      removed ? fmt::format("family {} of table {} was removed",
                                                            store.family(), store.table_name())
                                              : fmt::format("table {} was restored, emptied or altered",
                                                            store.table_name())))
      .hinting(removed ? "write again, without that family" : "write again");
}

// The leader's: one log record for the write. A sequence whose record was certainly not written is given
// back.
Status WritePath::append(PreparedWrite& prepared, Durability durability) {
  CELLAR_ASSERT(prepared.sequence == 0);
  const bool outdated = prepared.watch != watch_.load(std::memory_order_relaxed);
  for (const Store* store : prepared.batch.stores())
    if (store->dropped() || store->read_only() || (outdated && store->watched())) [[unlikely]]
      return refusal(*store);
  if (parts_.disk.health.failed()) return parts_.disk.health.check();
  CELLAR_ASSERT(std::ranges::none_of(prepared.batch.stores(),
                                     [](const Store* each) { return each->active() == nullptr; }));
  const uint64_t sequence = parts_.host.mvcc.take_sequence();
  if (durability != Durability::kSkipWal) {
    const Status status = parts_.disk.wal->append(sequence, prepared.batch.count(), prepared.batch.payload());
    if (!status.ok()) {
      if (parts_.disk.wal->health().ok()) {
        parts_.host.mvcc.give_back(sequence);  // nothing was appended, a later write may succeed
        if (!status.is(Code::kLimit))
          parts_.disk.health.trouble("log", status, parts_.host.world.clock.wall_ms(), true);
      } else {
        parts_.disk.health.fail(status);
      }
      return status;
    }
    parts_.disk.health.over("log");
  }
  prepared.sequence = sequence;
  return {};
}

Status WritePath::make_durable(uint64_t before) {
  CELLAR_ASSERT(before != 0);
  const Status status = parts_.disk.wal->sync_before(before);
  if (status.ok()) return {};
  parts_.disk.health.fail(status);
  parts_.disk.health.over("log");
  return Status::durability_unknown("the write may or may not survive: " + std::string(status.message()))
      .at(status.place());
}

// A cell whose place is known needs no search.
void WritePath::insert_all(std::span<const PreparedBatch::PreparedCell> cells, Memtable& memtable) {
  if (cells.size() == 1) return memtable.insert(cells[0].cell, cells[0].spot);
  for (const PreparedBatch::PreparedCell& each : cells) {
    if (each.spot.memtable != 0) {
      memtable.insert(each.cell, each.spot);
    } else {
      memtable.add(each.cell);
    }
  }
  memtable.settle();
}

// Returns true if a memtable is full now. Nobody sees the cells before all of them are there, and all writes
// before this one.
bool WritePath::insert(PreparedWrite& prepared, bool logged) noexcept {
  CELLAR_DCHECK(prepared.sequence > parts_.host.mvcc.read_point());
  std::vector<PreparedBatch::PreparedCell>& cells = prepared.batch.cells();
  bool full = false;
  for (size_t i = 0; i < cells.size();) {
    Store& store = *cells[i].store;
    CELLAR_DCHECK(!store.dropped());
    const TurnHeld held(insert_turn(store));
    const size_t begin = i;
    while (i < cells.size() && cells[i].store == &store) cells[i++].cell.sequence = prepared.sequence;
    insert_all({cells.data() + begin, i - begin}, *store.active());
    full |= count_growth(store);
    if (!logged) store.note_unlogged();
  }
  return full;
}

// With the turn to insert into the store: counts the memory. Returns true if the memtable is full.
bool WritePath::count_growth(Store& store) {
  const int64_t growth = store.take_growth();
  CELLAR_ASSERT(growth >= 0);
  if (parts_.memory.grow(growth)) [[unlikely]]
    flushes_.make_pages_ready();
  parts_.throttle.spend(store, static_cast<uint64_t>(growth));
  return is_full(store);
}

bool WritePath::is_full(const Store& store) const {
  CELLAR_ASSERT(store.active() != nullptr);
  const EngineOptions& options = parts_.host.world.options;
  return options.automatic_flush && store.active()->bytes() >= store.flush_bytes(options) &&
         store.frozen_count() < options.memtables_frozen_max;
}

void WritePath::freeze(Store& store) {
  if (store.active() == nullptr || store.active()->summary().cells == 0) return;
  parts_.memory.grow(store.take_growth());
  store.freeze(parts_.memory.create());
  CELLAR_ASSERT(store.active()->summary().cells == 0);  // a flush may have written the frozen one already
}

// Freezes full memtables, and relieves memory and log, so that a quiet family does not hold back the log.
Status WritePath::relieve(std::span<Store* const> stores) {
  CELLAR_ASSERT(!stores.empty());
  return order_.alone([&]() -> Status {
    for (Store* store : stores) {
      if (store->active() == nullptr || !is_full(*store)) continue;  // dropped, or another writer came first
      freeze(*store);
      flushes_.queue_flush(store->shared_from_this());
    }
    if (parts_.host.world.options.automatic_flush) flushes_.relieve_memory_and_log();
    return {};
  });
}

}  // namespace cellar
