// ObservedWrite: build, observe, lock what was added to; until nothing is missing.
#include "engine/write/observed_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <type_traits>

#include "base/assert.h"
#include "base/bytes.h"
#include "cell/cell_order.h"
#include "engine/read/table_reader.h"
#include "engine/store/observers.h"
#include "engine/store/snapshot_keeper.h"
#include "engine/values/mutation_reader.h"
#include "engine/write/row_changes.h"

namespace cellar {
namespace {

constexpr uint64_t kCellOverhead = 12;  // bytes of a key in addition to row, family and qualifier

class InObserver {
 public:
  InObserver() {
    CELLAR_ASSERT(!in_observer);  // an observer's own writes are refused
    in_observer = true;
  }
  InObserver(const InObserver&) = delete;
  InObserver& operator=(const InObserver&) = delete;
  ~InObserver() { in_observer = false; }
};

// As of one instant, which begins at the first read.
class InstantReads final : public ObservedReads {
 public:
  void renew() override { snapshot_.reset(); }
  Status get_observed(TableState& table, const Get& get, const ReadOverlay& own, RowBatch& found) override {
    return TableReader(table).get_as_of(get, instant(table), own, found);
  }
  Result<std::unique_ptr<Scanner>> scan_observed(TableState& table, const Scan& scan) override {
    const ReadInstant now = instant(table);
    return open_scan_as_of(table.shared_from_this(), scan, now, {}, snapshot_);
  }
  void note_added(TableState&, std::string_view) override {}

 private:
  ReadInstant instant(const TableState& table) {
    if (snapshot_ == nullptr) {
      snapshot_ = std::make_shared<const SnapshotImpl>(table.snapshots());
      now_ms_ = table.host().mvcc.now_ms();
    }
    CELLAR_ASSERT(snapshot_->sequence() <= table.host().mvcc.read_point());
    return {snapshot_->sequence(), now_ms_};
  }

  std::shared_ptr<const SnapshotImpl> snapshot_;
  int64_t now_ms_ = 0;
};

bool before_in_keys(const CellView& a, const CellView& b) { return compare_keys(a, b) < 0; }

uint64_t bytes_of(const RowMutation& mutation) {
  uint64_t bytes = mutation.row().size() + kCellOverhead;
  const MutationReader reader(mutation);
  for (const MutationPiece& piece : reader.pieces())
    bytes += mutation.row().size() + (piece.end - piece.family_at) + reader.tags().size() + kCellOverhead;
  return bytes;
}

std::string_view row_of(const std::variant<Put, Delete>& change) {
  return std::visit([](const auto& each) { return each.row(); }, change);
}

std::string said_by(const ObserverList::Named& observer) {
  return (observer.of_engine ? "second table " : "observer ") + observer.name;
}

}  // namespace

ObservedWrite::ObservedWrite(const WriteParts& parts, PreparedBatch& batch, std::optional<Stamps> stamps,
                             uint64_t watch, ObservedReads* reads)
    : parts_(parts),
      batch_(batch),
      stamps_(stamps),
      watch_(watch),
      own_reads_(reads == nullptr ? std::make_unique<InstantReads>() : nullptr),
      reads_(reads != nullptr ? *reads : *own_reads_),
      locks_(parts.row_locks) {}

const ObservedWrite::ObservedTable* ObservedWrite::find(uint32_t table_id) const {
  const auto found = std::ranges::find(observed_, table_id, &ObservedTable::id);
  return found != observed_.end() ? &*found : nullptr;
}

void ObservedWrite::add_row(TableState& table, std::string_view row, RowLocks::Mode mode) {
  bool observed = find(table.id()) != nullptr;
  if (const ObserverList* observers = observed ? nullptr : table.observers()) {
    observed_.push_back({table.shared_from_this(), table.id(), observers});
    observed = true;
  }
  locks_.want(row, observed ? RowLocks::Mode::kExclusive : mode);
}

bool ObservedWrite::has_seconds() const {
  return std::ranges::any_of(observed_, [](const ObservedTable& each) {
    return std::ranges::any_of(each.observers->all, &ObserverList::Named::of_engine);
  });
}

void ObservedWrite::add_store(Store* store) {
  CELLAR_ASSERT(store != nullptr);
  if (std::ranges::find(admitted_, store) == admitted_.end()) admitted_.push_back(store);
}

PreparedBatch::Limits ObservedWrite::limits() const {
  return {.cell_bytes_max = parts_.host.world.options.cell_bytes_max,
          .batch_bytes_max = parts_.host.world.options.batch_bytes_max};
}

// Ends: each time round at least one more lock, or one more store, is known, and there are not many of them.
Status ObservedWrite::run(const Build& build) {
  CELLAR_ASSERT(build != nullptr && !in_observer);
  for (bool done = false; !done;) {
    locks_.release();
    CELLAR_TRY(parts_.throttle.admit(admitted_));
    CELLAR_TRY(locks_.lock_all(parts_.host.world.options.row_lock_wait_ms * 1000, parts_.host.world.clock));
    CELLAR_TRY(attempt(build, done));
  }
  return {};
}

void ObservedWrite::begin() {
  batch_.begin(stamps_);
  after_.memtables.clear();
  additions_.clear();
  counters_.clear();
  added_tables_.clear();
  added_bytes_ = 0;
  reads_.renew();
}

Status ObservedWrite::attempt(const Build& build, bool& done) {
  begin();
  CELLAR_TRY_ASSIGN(now_ms_, build());
  CELLAR_ASSERT(now_ms_ != kNow && batch_.cells().empty());
  done = batch_.empty();
  if (done) return {};
  CELLAR_TRY(observe());
  if (!lock_additions() || !room_for_additions()) return {};
  done = true;
  CELLAR_TRY(add_changes());
  return add_counters();
}

Status ObservedWrite::observe() {
  CELLAR_TRY(batch_.finish(now_ms_, limits()));
  CELLAR_ASSERT(batch_.count() > 0);
  std::vector<CellView> cells;
  for (const ObservedTable& table : observed_) {
    cells.clear();
    for (const PreparedBatch::PreparedCell& each : batch_.cells())
      if (each.store->ids().table == table.id) cells.push_back(each.cell);
    std::ranges::sort(cells, before_in_keys);
    for (size_t from = 0, to = 0; from < cells.size(); from = to) {
      while (to < cells.size() && cells[to].row() == cells[from].row()) ++to;
      CELLAR_TRY(observe_row(table, std::span(cells).subspan(from, to - from)));
    }
  }
  batch_.reopen();
  return {};
}

Status ObservedWrite::observe_row(const ObservedTable& table, std::span<const CellView> cells) {
  CELLAR_ASSERT(!cells.empty() && table.observers != nullptr && !table.observers->all.empty());
  CELLAR_DCHECK(std::ranges::is_sorted(cells, before_in_keys) && same_row(cells.front(), cells.back()));
  const RowView row(cells, false);
  for (const ObserverList::Named& each : table.observers->all) {
    observer_ = &each;
    observed_table_ = table.table;
    Status status;
    {
      const InObserver inside;
      status = each.observer->before_write(row, *this);
    }
    if (!failed_.ok()) status = failed_;
    if (!status.ok())
      return status.with_context(
          fmt::format("{} of table {}, row {}", said_by(each), table.table->name(), escaped(row.row())));
  }
  return {};
}

Result<std::shared_ptr<Table>> ObservedWrite::table(std::string_view name) {
  CELLAR_TRY_ASSIGN(std::shared_ptr<TableState> found, parts_.catalog.find(name));
  return std::shared_ptr<Table>(std::move(found));
}

Result<TableState*> ObservedWrite::resolve(const std::shared_ptr<Table>& table) const {
  TableState* state = TableState::of(parts_.host, table.get());
  if (state == nullptr) return Status::invalid_argument("the table belongs to another engine than the write");
  CELLAR_TRY(state->check());
  return state;
}

Status ObservedWrite::read(const std::shared_ptr<Table>& table, const Get& get, const ReadOverlay& own,
                           RowBatch& found) {
  CELLAR_TRY_ASSIGN(TableState * state, resolve(table));
  if (get.snapshot() != nullptr)
    return Status::invalid_argument("an observer reads as of the write and cannot use a snapshot");
  return reads_.get_observed(*state, get, own, found);
}

Result<RowBatch> ObservedWrite::get(const std::shared_ptr<Table>& table, const Get& get) {
  RowBatch found;
  CELLAR_TRY(read(table, get, {}, found));
  return found;
}

Result<RowBatch> ObservedWrite::get_after(const std::shared_ptr<Table>& table, const Get& get) {
  RowBatch found;
  CELLAR_TRY(read(table, get, after(), found));
  return found;
}

Result<std::unique_ptr<Scanner>> ObservedWrite::scan(const std::shared_ptr<Table>& table, const Scan& scan) {
  CELLAR_TRY_ASSIGN(TableState * state, resolve(table));
  if (scan.snapshot() != nullptr)
    return Status::invalid_argument("an observer reads as of the write and cannot use a snapshot");
  return reads_.scan_observed(*state, scan);
}

// The cells of the write, to be laid over what is there.
const ReadOverlay& ObservedWrite::after() {
  if (!after_.memtables.empty()) return after_;
  for (const PreparedBatch::PreparedCell& each : batch_.cells()) {
    if (after_.find(each.store) == nullptr) after_.memtables.emplace_back(each.store, parts_.memory.create());
    CellView cell = each.cell;
    cell.sequence = kUncommittedSequence;
    after_.find(each.store)->get()->insert(cell);
  }
  CELLAR_ASSERT(!after_.memtables.empty());  // observers see a write that has cells
  return after_;
}

Status ObservedWrite::failed(Status status) {
  if (failed_.ok()) failed_ = status;
  return status;
}

Status ObservedWrite::take_bytes(uint64_t bytes) {
  CELLAR_ASSERT(added_bytes_ <= parts_.host.world.options.batch_bytes_max);
  if (bytes > parts_.host.world.options.batch_bytes_max - added_bytes_)
    return Status::limit(
               fmt::format("what observers add to the write is larger than {} bytes (batch_bytes_max)",
                           parts_.host.world.options.batch_bytes_max))
        .hinting("add less to one write, or raise the limit");
  added_bytes_ += bytes;
  return {};
}

void ObservedWrite::keep(TableState& table) {
  const auto is_it = [&](const std::shared_ptr<Table>& each) { return each.get() == &table; };
  if (std::ranges::none_of(kept_, is_it)) kept_.push_back(table.shared_from_this());
  CELLAR_ASSERT(std::ranges::any_of(kept_, is_it));
}

// The table that the observer adds to.
Result<TableState*> ObservedWrite::resolve_added(const std::shared_ptr<Table>& table) const {
  CELLAR_ASSERT(observer_ != nullptr);
  CELLAR_TRY_ASSIGN(TableState * state, resolve(table));
  if (!observer_->of_engine) CELLAR_TRY(state->check_additions());
  return state;
}

Status ObservedWrite::add_change(const std::shared_ptr<Table>& table, std::variant<Put, Delete> change) {
  CELLAR_TRY_ASSIGN(TableState * state, resolve_added(table));
  CELLAR_TRY(check_row(row_of(change)));
  std::vector<Store*> touched;
  CELLAR_TRY(std::visit([&](const auto& each) { return add_touched(*state, each, touched); }, change));
  if (const auto* erase = std::get_if<Delete>(&change); erase != nullptr && looks_up(*erase))
    return Status::invalid_argument(
               "an observer cannot delete the latest version, because that requires a read")
        .hinting("read its timestamp with get(), then use Delete::version");
  CELLAR_TRY(take_bytes(std::visit([](const auto& each) { return bytes_of(each); }, change)));
  keep(*state);
  additions_.push_back({state, std::move(change), observer_});
  return {};
}

Status ObservedWrite::put(const std::shared_ptr<Table>& table, const Put& put) {
  return failed(add_change(table, put));
}

Status ObservedWrite::erase(const std::shared_ptr<Table>& table, const Delete& erase) {
  return failed(add_change(table, erase));
}

Status ObservedWrite::increment(const std::shared_ptr<Table>& table, std::string_view row,
                                std::string_view family, std::string_view qualifier, int64_t amount) {
  const auto add = [&]() -> Status {
    CELLAR_TRY_ASSIGN(TableState * state, resolve_added(table));
    CELLAR_TRY(check_row(row));
    if (state->families().find(family) == nullptr) return state->unknown_family(family);
    CELLAR_TRY(take_bytes(row.size() + family.size() + qualifier.size() + kCellOverhead + sizeof amount));
    keep(*state);
    Counters& counters =
        counters_.try_emplace({state->id(), std::string(row)}, Counters{state, Increment(row), observer_})
            .first->second;
    counters.amounts.add(family, qualifier, amount);
    return {};
  };
  return failed(add());
}

// Tries to lock all rows that are added to. Returns true if all locks are held. Rows of counters, and of
// tables in which stamps rise, are locked exclusively and first: a shared lock is not made exclusive. All
// rows are tried, so that the next attempt knows of each.
bool ObservedWrite::lock_additions() {
  const auto reads = [&](const Addition& each) {
    return std::ranges::any_of(each.table->families().stores,
                               [&](const auto& store) { return batch_.rises(*store); });
  };
  bool held = true;
  for (const auto& [place, counters] : counters_)
    held = locks_.extend(place.second, RowLocks::Mode::kExclusive) && held;
  for (const Addition& each : additions_)
    if (reads(each)) held = locks_.extend(row_of(each.change), RowLocks::Mode::kExclusive) && held;
  for (const Addition& each : additions_)
    if (!reads(each)) held = locks_.extend(row_of(each.change), RowLocks::Mode::kShared) && held;
  return held;
}

// Adds the stores of the additions to those admitted. Returns false if a new one must wait for room, which it
// does without the locks.
bool ObservedWrite::room_for_additions() {
  const size_t before = admitted_.size();
  const auto add = [&](TableState& table) {
    if (std::ranges::find(added_tables_, &table) != added_tables_.end()) return;
    added_tables_.push_back(&table);
    for (const auto& store : table.families().stores) add_store(store.get());
  };
  for (const Addition& each : additions_) add(*each.table);
  for (const auto& [place, counters] : counters_) add(*counters.table);
  return !parts_.throttle.pressed(std::span(admitted_).subspan(before));
}

Status ObservedWrite::add_changes() {
  for (const Addition& each : additions_) {
    reads_.note_added(*each.table, row_of(each.change));
    const size_t first = batch_.items().size();
    CELLAR_ASSERT(each.table != nullptr && each.by != nullptr);
    RowChanges changes(*each.table, batch_, now_ms_);
    const auto add = [&]() -> Status {
      if (const auto* put = std::get_if<Put>(&each.change)) return changes.put(*put);
      return changes.erase(std::get<Delete>(each.change));
    };
    Status status = add();
    for (size_t i = first; i < batch_.items().size() && status.ok(); ++i) {
      PreparedBatch::Item stamped = batch_.items()[i];
      if (stamped.timestamp == kNow) stamped.timestamp = now_ms_;
      status = batch_.check(stamped, limits());
    }
    if (!status.ok())
      return status.with_context(
          fmt::format("{}, addition to table {}", said_by(*each.by), each.table->name()));
  }
  return {};
}

// A sum and another value of one column cannot both stand.
Status ObservedWrite::check_counters_apart() const {
  if (counters_.empty()) return {};
  std::set<std::tuple<const Store*, std::string_view, std::string_view>> written;
  for (const PreparedBatch::Item& item : batch_.items())
    if (item.type == CellType::kPut) written.emplace(item.store, item.row, item.qualifier);
  for (const auto& [place, counters] : counters_) {
    const MutationReader reader(counters.amounts);
    for (const MutationPiece& each : reader.pieces()) {
      const std::string_view family = reader.family(each);
      const std::string_view qualifier = reader.qualifier(each);
      if (written.contains({counters.table->families().find(family), place.second, qualifier}))
        return Status::invalid_argument(
                   fmt::format(
                       "{}, addition to table {}: the write also puts row {}, column {}:{}, a counter",
                       said_by(*counters.by), counters.table->name(), escaped(place.second), family,
                       escaped(qualifier)))
            .hinting("let one of them write the column");
    }
  }
  return {};
}

// All amounts of a row at once, under its lock, on what is there now.
Status ObservedWrite::add_counters() {
  CELLAR_TRY(check_counters_apart());
  if (!counters_.empty()) reads_.renew();
  for (const auto& [place, counters] : counters_) {
    TableState& table = *counters.table;
    CELLAR_ASSERT(table.id() == place.first && counters.by != nullptr);
    reads_.note_added(table, place.second);
    const RowChanges::Read read = [&](const Get& get, RowBatch& found) {
      return reads_.get_observed(table, get, {}, found);
    };
    const auto sums = RowChanges(table, batch_, now_ms_, &read).increment(counters.amounts, false);
    if (!sums.ok())
      return sums.status().with_context(fmt::format("{}, addition to table {}, row {}", said_by(*counters.by),
                                                    table.name(), escaped(place.second)));
  }
  return {};
}

}  // namespace cellar
