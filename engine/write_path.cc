// WritePath: validate, stamp, lock, log, insert, publish.
#include "engine/write_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/coding.h"
#include "engine/background.h"
#include "engine/batch_impl.h"
#include "engine/prepared_batch.h"
#include "engine/table_impl.h"
#include "engine/write_throttle.h"

namespace cellar {

// A request as the leader sees it.
struct WritePath::Prepared {
  PreparedBatch& batch;
  uint64_t sequence = 0;
};

namespace {

// One per thread, reused, so that a write allocates nothing once it is warm.
PreparedBatch& thread_batch() {
  thread_local PreparedBatch batch;
  return batch;
}

Status check_columns(const RowMutation& mutation, std::string_view what) {
  return mutation.empty() ? Status::invalid_argument(fmt::format("the {} has no columns", what))
                                .hinting("add at least one")
                          : Status();
}

Status add_pieces(TableImpl& table, const RowMutation& mutation, PreparedBatch& batch) {
  for (const MutationPiece& piece : mutation.pieces()) {
    Store* store = table.families().find(mutation.family(piece));
    if (store == nullptr) return table.unknown_family(mutation.family(piece));
    batch.add(*store, mutation.row(), mutation.qualifier(piece), piece.timestamp, piece.type,
              mutation.value(piece), mutation.tags());
  }
  return {};
}

// A delete with nothing added: one family marker for each family.
void add_row_delete(TableImpl& table, const Delete& erase, PreparedBatch& batch) {
  for (const auto& store : table.families().stores)
    batch.add(*store, erase.row(), {}, erase.timestamp(), CellType::kDeleteFamily, {}, {});
}

bool looks_up(const Delete& erase) {
  return std::ranges::any_of(erase.pieces(), [](const MutationPiece& piece) { return piece.latest_version; });
}

// Adds the pieces of a delete, with the timestamps of latest versions looked up: of the n-th request for a
// column, the n-th newest; where there are fewer the marker gets the time of the write and hides nothing that
// exists.
Status add_looked_up(TableImpl& table, const Delete& erase, PreparedBatch& batch) {
  const auto& pieces = erase.pieces();
  for (size_t i = 0; i < pieces.size(); ++i) {
    Store* store = table.families().find(erase.family(pieces[i]));
    if (store == nullptr) return table.unknown_family(erase.family(pieces[i]));
    int64_t timestamp = pieces[i].timestamp;
    if (pieces[i].latest_version) {
      uint32_t nth = 0;
      for (size_t k = 0; k < i; ++k)
        if (pieces[k].latest_version && erase.family(pieces[k]) == erase.family(pieces[i]) &&
            erase.qualifier(pieces[k]) == erase.qualifier(pieces[i]))
          ++nth;
      Get get(erase.row());
      get.column(erase.family(pieces[i]), erase.qualifier(pieces[i])).versions(nth + 1);
      RowBatch found;
      CELLAR_TRY(table.get_into(get, found));
      if (found.row().cells().size() > nth) timestamp = found.row().cells()[nth].timestamp;
    }
    batch.add(*store, erase.row(), erase.qualifier(pieces[i]), timestamp, pieces[i].type, {}, {});
  }
  return {};
}

}  // namespace

WritePath::WritePath(EngineCore& core)
    : core_(core), group_(core.executor, [this](std::span<WriteRequest*> group) { apply(group); }) {}

Durability WritePath::durability_of(const TableImpl& table, const WriteOptions& options) const {
  if (options.durability) return *options.durability;
  return table.durability().value_or(core_.options.durability);
}

Status WritePath::put(TableImpl& table, const Put& put, const WriteOptions& options) {
  CELLAR_TRY(table.check());
  CELLAR_TRY(check_columns(put, "put"));
  PreparedBatch& batch = thread_batch();
  batch.begin();
  CELLAR_TRY(add_pieces(table, put, batch));
  CELLAR_TRY(WriteThrottle(core_).admit(batch.stores()));
  RowLockSet locks(core_.row_locks, RowLocks::Mode::kShared);
  CELLAR_TRY(locks.lock_row(put.row(), core_.options.stall_ms_max * 1000, core_.clock));
  Prepared prepared{batch};
  return commit(prepared, durability_of(table, options));
}

Status WritePath::erase(TableImpl& table, const Delete& erase, const WriteOptions& options) {
  CELLAR_TRY(table.check());
  const bool reads = looks_up(erase);
  PreparedBatch& batch = thread_batch();
  batch.begin();
  RowLockSet locks(core_.row_locks, reads ? RowLocks::Mode::kExclusive : RowLocks::Mode::kShared);
  std::vector<Store*> touched;
  for (const auto& store : table.families().stores) touched.push_back(store.get());
  CELLAR_TRY(WriteThrottle(core_).admit(touched));
  CELLAR_TRY(locks.lock_row(erase.row(), core_.options.stall_ms_max * 1000, core_.clock));
  if (erase.empty()) {
    add_row_delete(table, erase, batch);
  } else if (reads) {
    CELLAR_TRY(add_looked_up(table, erase, batch));
  } else {
    CELLAR_TRY(add_pieces(table, erase, batch));
  }
  Prepared prepared{batch};
  return commit(prepared, durability_of(table, options));
}

Status WritePath::write(const Batch& batch, const WriteOptions& options) {
  CELLAR_TRY(core_.check_open());
  if (batch.impl().entries.empty()) return {};
  PreparedBatch& prepared_batch = thread_batch();
  prepared_batch.begin();
  std::vector<std::string_view> rows;
  Durability durability = Durability::kSkipWal;
  bool reads = false;
  for (const Batch::Entry& entry : batch.impl().entries) {
    auto* table = dynamic_cast<TableImpl*>(entry.table.get());
    if (table == nullptr || &table->core() != &core_)
      return Status::invalid_argument("the batch names a table of another engine");
    CELLAR_TRY(table->check());
    durability = std::max(durability, durability_of(*table, options));
    if (const auto* cell = std::get_if<Cell>(&entry.change)) {
      rows.emplace_back(cell->row);
    } else if (const auto* put = std::get_if<Put>(&entry.change)) {
      CELLAR_TRY(check_columns(*put, "put"));
      rows.push_back(put->row());
    } else {
      const auto& erase = std::get<Delete>(entry.change);
      reads = reads || looks_up(erase);
      rows.push_back(erase.row());
    }
  }
  RowLockSet locks(core_.row_locks, reads ? RowLocks::Mode::kExclusive : RowLocks::Mode::kShared);
  std::vector<Store*> touched;
  for (const Batch::Entry& entry : batch.impl().entries)
    for (const auto& store : static_cast<TableImpl*>(entry.table.get())->families().stores)
      if (std::ranges::find(touched, store.get()) == touched.end()) touched.push_back(store.get());
  CELLAR_TRY(WriteThrottle(core_).admit(touched));
  CELLAR_TRY(locks.lock_rows(rows, core_.options.stall_ms_max * 1000, core_.clock));
  for (const Batch::Entry& entry : batch.impl().entries) {
    auto& table = static_cast<TableImpl&>(*entry.table);
    if (const auto* cell = std::get_if<Cell>(&entry.change)) {
      Store* store = table.families().find(cell->family);
      if (store == nullptr) return table.unknown_family(cell->family);
      prepared_batch.add(*store, cell->row, cell->qualifier, cell->timestamp, cell->type, cell->value,
                         cell->tags);
    } else if (const auto* put = std::get_if<Put>(&entry.change)) {
      CELLAR_TRY(add_pieces(table, *put, prepared_batch));
    } else if (const auto& erase = std::get<Delete>(entry.change); erase.empty()) {
      add_row_delete(table, erase, prepared_batch);
    } else {
      CELLAR_TRY(add_looked_up(table, erase, prepared_batch));
    }
  }
  Prepared prepared{prepared_batch};
  return commit(prepared, durability);
}

Result<std::vector<int64_t>> WritePath::increment(TableImpl& table, const Increment& increment,
                                                  const WriteOptions& options) {
  CELLAR_TRY(table.check());
  if (increment.counters().empty())
    return Status::invalid_argument("the increment has no columns").hinting("add at least one");
  PreparedBatch& batch = thread_batch();
  batch.begin();
  std::vector<Store*> touched;
  Get get(increment.row());
  get.time_range(increment.time_from(), increment.time_until());
  for (const Increment::Counter& counter : increment.counters()) {
    Store* store = table.families().find(counter.family);
    if (store == nullptr) return table.unknown_family(counter.family);
    if (std::ranges::find(touched, store) == touched.end()) touched.push_back(store);
    get.column(counter.family, counter.qualifier);
  }
  CELLAR_TRY(WriteThrottle(core_).admit(touched));
  RowLockSet locks(core_.row_locks, RowLocks::Mode::kExclusive);
  CELLAR_TRY(locks.lock_row(increment.row(), core_.options.stall_ms_max * 1000, core_.clock));
  RowBatch current;
  CELLAR_TRY(table.get_into(get, current));

  const int64_t now_ms = core_.mvcc.now_ms();
  std::vector<int64_t> results(increment.counters().size());
  for (size_t i = 0; i < results.size(); ++i) {
    const Increment::Counter& counter = increment.counters()[i];
    const auto same = [&](const Increment::Counter& other) {
      return other.family == counter.family && other.qualifier == counter.qualifier;
    };
    const auto first = std::ranges::find_if(increment.counters(), same);
    if (const auto earlier = static_cast<size_t>(first - increment.counters().begin()); earlier < i) {
      results[i] = results[earlier];
      continue;
    }
    int64_t sum = 0;
    int64_t timestamp = now_ms;
    std::string_view tags = increment.tags();
    for (const CellView& cell : current.row().cells()) {
      if (cell.family() != counter.family || cell.qualifier() != counter.qualifier) continue;
      if (cell.value_size != 8)
        return Status::invalid_argument(
            fmt::format("column {}:{} is not a counter: its value has {} bytes, not 8", counter.family,
                        escaped(counter.qualifier), cell.value_size));
      sum = static_cast<int64_t>(load_be64(cell.value));
      timestamp = std::max(cell.timestamp + 1, now_ms);  // never behind the value it replaces
      if (tags.empty()) tags = cell.tags_bytes();
    }
    for (const Increment::Counter& each : increment.counters()) {
      if (!same(each)) continue;
      if (__builtin_add_overflow(sum, each.amount, &sum) &&
          increment.overflow_mode() == Increment::Overflow::kError)
        return Status::invalid_argument(fmt::format("column {}:{} would overflow 64 bits", counter.family,
                                                    escaped(counter.qualifier)))
            .hinting("Increment::overflow(kWrap) wraps around as HBase does");
    }
    results[i] = sum;
    std::string value(8, '\0');
    store_be64(value.data(), static_cast<uint64_t>(sum));
    batch.add(*table.families().find(counter.family), increment.row(), counter.qualifier, timestamp,
              CellType::kPut, batch.keep(std::move(value)), tags);
  }
  Prepared prepared{batch};
  CELLAR_TRY(commit(prepared, durability_of(table, options)));
  return results;
}

Status WritePath::commit(Prepared& prepared, Durability durability) {
  if (core_.options.read_only) return Status::read_only("the store was opened read-only");
  if (core_.health.failed()) return core_.health.check();
  const int64_t now_ms = core_.mvcc.now_ms();
  CELLAR_TRY(prepared.batch.finish(
      now_ms, core_.mvcc.time_high_ms(),
      {.cell_bytes_max = core_.options.cell_bytes_max, .batch_bytes_max = core_.options.batch_bytes_max}));
  WriteRequest request;
  request.durability = durability;
  request.bytes = prepared.batch.payload().size();
  request.prepared = &prepared;
  return group_.commit(request);
}

// The leader's: one log record for the request. A sequence whose record was certainly not written is given
// back.
Status WritePath::append(WriteRequest& request, uint64_t& sequence) {
  Prepared& prepared = *static_cast<Prepared*>(request.prepared);
  for (const Store* store : prepared.batch.stores())
    if (store->dropped()) return Status::not_found(fmt::format("table {} was dropped", store->table_name()));
  if (core_.health.failed()) return core_.health.check();
  sequence = core_.mvcc.take_sequence();
  prepared.sequence = sequence;
  if (request.durability != Durability::kSkipWal) {
    const Status status = core_.wal->append(sequence, prepared.batch.count(), prepared.batch.payload());
    if (!status.ok()) {
      if (core_.wal->health().ok()) {
        core_.mvcc.give_back(sequence);  // a full disk: nothing was appended, a later write may succeed
      } else {
        core_.fail(status.with_context("write-ahead log"));
      }
      return status.with_context("write-ahead log");
    }
  }
  return {};
}

void WritePath::insert(Prepared& prepared, uint64_t sequence, bool logged) {
  for (PreparedBatch::PreparedCell& each : prepared.batch.cells()) {
    each.cell.sequence = sequence;
    each.store->active()->insert(each.cell);
  }
  if (!logged)
    for (Store* store : prepared.batch.stores()) store->note_unlogged();
}

// Log all, sync once if anybody asks for it, insert all, then publish: what is visible is as durable as was
// asked.
void WritePath::apply(std::span<WriteRequest*> group) {
  bool sync = false;
  uint64_t last = 0;
  for (WriteRequest* request : group) {
    uint64_t sequence = 0;
    request->result = append(*request, sequence);
    if (!request->result.ok()) continue;
    last = sequence;
    sync = sync || request->durability == Durability::kFsyncWal;
  }
  if (last == 0) return;
  if (sync) {
    if (const Status status = core_.wal->sync(); !status.ok()) {
      core_.fail(status.with_context("write-ahead log"));
      for (WriteRequest* request : group)
        if (request->result.ok())
          request->result =
              Status::durability_unknown("the write may or may not survive: " + std::string(status.message()))
                  .at(status.place());
      return;
    }
  }
  for (WriteRequest* request : group)
    if (request->result.ok())
      insert(*static_cast<Prepared*>(request->prepared), static_cast<Prepared*>(request->prepared)->sequence,
             request->durability != Durability::kSkipWal);
  core_.mvcc.publish(last);
  after_group(group);
}

void WritePath::freeze(Store& store) {
  if (store.active() == nullptr || store.active()->summary().cells == 0) return;
  core_.memtable_bytes.fetch_add(store.take_growth(), std::memory_order_relaxed);
  store.freeze(core_.new_memtable());
}

// The leader's, after each group: count the memory, freeze what is full, see that the log does not grow for
// the sake of a quiet family.
void WritePath::after_group(std::span<WriteRequest*> group) {
  for (WriteRequest* request : group) {
    if (!request->result.ok()) continue;
    for (Store* store : static_cast<Prepared*>(request->prepared)->batch.stores()) {
      core_.memtable_bytes.fetch_add(store->take_growth(), std::memory_order_relaxed);
      if (!core_.options.automatic_flush || store->active()->bytes() < core_.options.memtable_bytes ||
          store->frozen_count() >= core_.options.memtables_frozen_max)
        continue;
      freeze(*store);
      core_.background->queue_flush(store->shared_from_this());
    }
  }
  if (core_.options.automatic_flush) core_.background->relieve_memory_and_log();
}

}  // namespace cellar
