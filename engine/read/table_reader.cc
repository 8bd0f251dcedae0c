// TableReader: finds the read point and matching views, and reads them.
#include "engine/read/table_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/recycled.h"
#include "engine/read/row_get.h"
#include "engine/store/snapshot_keeper.h"

namespace cellar {
namespace {

// HeldViews: views that outlive the call, as scanners need them.
class HeldViews {
 public:
  void begin(size_t count) { views_.resize(count); }
  void take(size_t i, const Store& store) { views_[i] = store.view(); }
  void take(size_t i, std::shared_ptr<const StoreView> view) { views_[i] = std::move(view); }
  const StoreView& operator[](size_t i) const { return *views_[i]; }
  std::shared_ptr<const StoreView> move_out(size_t i) { return std::move(views_[i]); }
  void end() { views_.clear(); }

 private:
  std::vector<std::shared_ptr<const StoreView>> views_;
};

// LeasedViews: views of a read that ends within the call.
class LeasedViews {
 public:
  void begin(size_t count) {
    end();
    if (count > room_) {
      views_ = std::make_unique<ViewLease[]>(count);
      room_ = count;
    }
    count_ = count;
  }
  void take(size_t i, const Store& store) { views_[i].begin(store); }
  void take(size_t i, std::shared_ptr<const StoreView> view) { views_[i].begin(std::move(view)); }
  const StoreView& operator[](size_t i) const { return *views_[i]; }
  void end() {
    for (size_t i = 0; i < count_; ++i) views_[i].end();
    count_ = 0;
  }

 private:
  std::unique_ptr<ViewLease[]> views_;
  size_t room_ = 0;
  size_t count_ = 0;
};

// Ended: ends the views on destruction, because views kept by a thread would keep their files.
template <class Views>
struct Ended {
  Views& views;
  ~Ended() { views.end(); }
};

// Returns whether read_row_of_one() can answer a plain get.
bool chooses_only_one_family(const Get& get) {
  return get.chooses_one_family() && get.snapshot() == nullptr && get.family_time_ranges().empty();
}

// Returns the statistics that the get asks for, or others of this thread.
ReadStats& stats_of(const Get& get) {
  static constinit thread_local ReadStats unwanted;  // nobody reads it, so it need not be cleared
  return get.stats() != nullptr ? *get.stats() : unwanted;
}

}  // namespace

template <class Q>
Status TableReader::choose_families(const FamilyList& list, const Query<Q>& query, Chosen& chosen) const {
  chosen.families.clear();
  if (query.chooses_nothing()) {
    for (const auto& store : list.stores)
      chosen.families.emplace_back(store.get(), FamilyChoice{store->family()});
    return {};
  }
  Status status;
  query.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
    Store* const store = list.find(family);
    if (store == nullptr && status.ok()) status = table_.unknown_family(family);
    chosen.families.emplace_back(store, FamilyChoice{family, qualifiers});
  });
  // The choices and the list are in the order of the names.
  CELLAR_DCHECK(
      std::ranges::is_sorted(chosen.families, {}, [](const auto& each) { return each.second.family; }));
  return status;
}

// Takes the read point first, then the views. A view rewritten for a later read point may lack cells that
// this read must see; then the function starts over.
template <class Q, class Views>
Status TableReader::take_views(const Query<Q>& query, const TableRead& read, Chosen& chosen,
                               Views& views) const {
  CELLAR_TRY(table_.check_readable());
  CELLAR_TRY(check_query(query));
  const auto* snapshot = static_cast<const SnapshotImpl*>(query.snapshot().get());
  if (snapshot != nullptr && !snapshot->is_of(table_.host().snapshots))
    return Status::invalid_argument("the snapshot is of another engine");
  // Compactions keep the cells that a snapshot or an instant sees.
  const bool kept = snapshot != nullptr || read.instant != nullptr;
  const Mvcc& mvcc = table_.host().mvcc;
  for (bool again = true; again;) {
    const uint64_t round = mvcc.round();
    again = !kept && round % 2 != 0;
    const FamilyList& list = table_.families();
    CELLAR_TRY(choose_families(list, query, chosen));
    for (const auto& [family, times] : query.family_time_ranges())
      if (list.find(family) == nullptr) return table_.unknown_family(family);
    views.begin(chosen.families.size());
    chosen.read_point = snapshot != nullptr ? snapshot->sequence()
                        : kept              ? read.instant->read_point
                                            : mvcc.read_point();
    for (size_t i = 0; i < chosen.families.size() && !again; ++i) {
      const Store& store = *chosen.families[i].first;
      if (kept) {
        views.take(i, store.view_at(chosen.read_point));
      } else {
        views.take(i, store);
        again = views[i].rewritten_at > chosen.read_point;
      }
    }
    again = again || (!kept && mvcc.round() != round);
    again = again || &list != &table_.families();  // a store that was dropped is empty
  }
  CELLAR_TRY(table_.check());  // so are the stores of a table that was dropped meanwhile
  CELLAR_ASSERT(chosen.read_point <= mvcc.read_point());
  chosen.now_ms = read.instant != nullptr ? read.instant->now_ms : table_.host().mvcc.now_ms();
  return {};
}

// Returns the query for the i-th chosen family.
template <class Q>
StoreQuery TableReader::query_of(const Query<Q>& query, const TableRead& read, const Chosen& chosen,
                                 size_t i) {
  const auto& [store, choice] = chosen.families[i];
  StoreQuery family = store_query(query, read, choice);
  family.rules.read_point = chosen.read_point;
  family.rules.now_ms = chosen.now_ms;
  if (read.overlay != nullptr) family.own = read.overlay->find(store);
  return family;
}

template <class Q>
Status TableReader::open_readers(const Query<Q>& query, const TableRead& read, StoreReaders& readers) const {
  // Kept between reads to reuse their memory; nothing below calls back into a table.
  thread_local Chosen chosen;
  thread_local HeldViews views;
  const Ended<HeldViews> ended{views};
  CELLAR_TRY(take_views(query, read, chosen, views));
  CELLAR_DCHECK(readers.empty());
  if (read.nothing) return {};
  readers.reserve(chosen.families.size());
  for (size_t i = 0; i < chosen.families.size(); ++i) {
    StoreQuery family = query_of(query, read, chosen, i);
    if (auto reader = StoreReader::open(views.move_out(i), family, read.range))
      readers.push_back(std::move(reader));
  }
  return {};
}

// Reads a row of the only chosen family, at present. Does what take_views() does, for most gets.
Result<bool> TableReader::read_row_of_one(const Get& get, ReadStats& stats, RowBatch& batch) const {
  CELLAR_ASSERT(get.snapshot() == nullptr && get.family_time_ranges().empty());
  CELLAR_TRY(table_.check_readable());
  CELLAR_TRY(check_query(get));
  FamilyChoice choice;
  get.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
    choice = {family, qualifiers};
  });
  Mvcc& mvcc = table_.host().mvcc;
  ViewLease view;
  uint64_t read_point = 0;
  for (const FamilyList* list = nullptr; list != &table_.families();) {
    list = &table_.families();
    const Store* const store = list->find(choice.family);
    if (store == nullptr) return table_.unknown_family(choice.family);
    do {
      read_point = mvcc.read_point();
      view.begin(*store);
    } while (view->rewritten_at > read_point);
  }
  CELLAR_TRY(table_.check());  // the store of a table that was dropped meanwhile is empty
  StoreQuery query = row_query(get, choice, stats);
  query.rules.read_point = read_point;
  query.rules.now_ms = kTimeNotAsked;
  query.rules.clock = &table_.host().world.clock;
  const RowRange range = RowRange::of_row(get.row());
  RowGet row(range, table_.host().world.options.row_bytes_max, stats, batch);
  if (Status status = row.add_family(*view, query); !status.ok()) [[unlikely]]
    return status.with_context("table " + table_.name());
  return row.end();
}

Result<bool> TableReader::read_plain_row(const Get& get, const TableRead& read, RowBatch& batch) const {
  struct Kept {
    Chosen chosen;
    LeasedViews views;
  };
  thread_local Kept kept_by_thread;
  auto& [chosen, views] = kept_by_thread;
  const Ended<LeasedViews> ended{views};
  CELLAR_TRY(take_views(get, read, chosen, views));
  RowGet row(read.range, read.budget.row_bytes_max, *read.stats, batch);
  for (size_t i = 0; i < chosen.families.size(); ++i) {
    StoreQuery family = query_of(get, read, chosen, i);
    if (Status status = row.add_family(views[i], family); !status.ok()) [[unlikely]]
      return status.with_context("table " + table_.name());
  }
  return row.end();
}

Status TableReader::get(const Get& get, RowBatch& batch) const {
  if (!RowGet::is_plain(get) || !chooses_only_one_family(get))
    return read_row(get, {.rows = 1}, batch).status();
  batch.clear();
  CELLAR_TRY(check_row(get.row()));
  return read_row_of_one(get, stats_of(get), batch).status();
}

Result<bool> TableReader::read_row(const Get& get, const ScanBudget& budget, RowBatch& batch,
                                   const ReadInstant* instant, const ReadOverlay* own) const {
  batch.clear();
  CELLAR_TRY(check_row(get.row()));
  ReadStats& stats = stats_of(get);
  const bool is_plain = RowGet::is_plain(get) && !budget.in_parts();
  if (is_plain && instant == nullptr && own == nullptr && chooses_only_one_family(get))
    return read_row_of_one(get, stats, batch);
  TableRead read;
  read.range = RowRange::of_row(get.row());
  read.stats = &stats;
  read.instant = instant;
  read.overlay = own;
  read.budget = budget;
  read.budget.page = page_of(get);
  read.budget.row_bytes_max = table_.host().world.options.row_bytes_max;
  if (is_plain) return read_plain_row(get, read, batch);
  std::optional<ReadFilter> filter;
  add_filter(get, filter, read);
  StoreReaders readers;
  CELLAR_TRY(open_readers(get, read, readers));
  if (readers.empty()) return false;
  CELLAR_DCHECK(read.range.single_row());
  RowReader reader(std::move(readers), read.range, read.budget, read.stats, &table_.host().world.executor,
                   read.filter);
  const bool found = reader.next(batch);
  if (!reader.status().ok()) return reader.status().with_context("table " + table_.name());
  return found;
}

Result<bool> TableReader::exists(const Get& get) const {
  RowBatch batch;
  return read_row(get, {.rows = 1, .cells_per_part = 1}, batch);  // one cell is enough to decide
}

Result<std::vector<bool>> TableReader::exists_many(std::span<const Get> gets) const {
  CELLAR_TRY(table_.check());
  const SnapshotImpl snapshot(table_.snapshots());
  const ReadInstant instant{snapshot.sequence(), table_.host().mvcc.now_ms()};
  std::vector<bool> found(gets.size());
  RowBatch batch;
  for (const size_t at : by_rows(gets)) {
    CELLAR_TRY_ASSIGN(found[at], read_row(gets[at], {.rows = 1, .cells_per_part = 1}, batch, &instant));
  }
  return found;
}

Result<std::vector<RowBatch>> TableReader::get_many(std::span<const Get> gets) const {
  CELLAR_TRY(table_.check());
  // Keeps the cells that the instant sees from being rewritten away.
  const SnapshotImpl snapshot(table_.snapshots());
  const ReadInstant instant{snapshot.sequence(), table_.host().mvcc.now_ms()};
  std::vector<RowBatch> rows(gets.size());
  for (const size_t at : by_rows(gets))
    CELLAR_TRY(read_row(gets[at], {.rows = 1}, rows[at], &instant).status());
  return rows;
}

Result<std::vector<std::shared_ptr<const StoreView>>> TableReader::views_of(
    const EstimateRequest& request) const {
  CELLAR_TRY(table_.check());
  std::vector<std::shared_ptr<const StoreView>> views;
  for (const std::string& family : request.families)
    if (table_.families().find(family) == nullptr) return table_.unknown_family(family);
  for (const auto& store : table_.families().stores)
    if (request.families.empty() ||
        std::ranges::find(request.families, store->family()) != request.families.end())
      views.push_back(store->view());
  return views;
}

// TableScan: the scanner of a table, in one piece of memory with all that it holds. It borrows nothing from
// the caller of open().
class TableScan final : public TableScanner, public Recycled<TableScan> {
 public:
  TableScan(std::shared_ptr<TableState> table, std::shared_ptr<const void> keep)
      : table_(std::move(table)), keep_(std::move(keep)) {
    CELLAR_ASSERT(table_ != nullptr);
    table_->host().life.scanners.fetch_add(1);
  }
  ~TableScan() override {
    end();
    table_->host().life.scanners.fetch_sub(1);
  }
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;

  static Result<std::unique_ptr<Scanner>> open(std::shared_ptr<TableState> table, const Scan& scan,
                                               const ReadInstant* instant, const ReadOverlay* own,
                                               std::shared_ptr<const void> keep) {
    std::unique_ptr<TableScan> scanner = std::make_unique<TableScan>(std::move(table), std::move(keep));
    CELLAR_TRY(scanner->open(scan, instant, own));
    return std::unique_ptr<Scanner>(std::move(scanner));
  }

 private:
  Status open(const Scan& asked, const ReadInstant* instant, const ReadOverlay* own) {
    const World& world = table_->host().world;
    CELLAR_TRY(request_.resolve(asked, world.clock));
    const Scan* scan = &asked;
    if (!asked.chooses_nothing() || asked.filter() != nullptr || asked.snapshot() != nullptr)
      scan = &kept_.emplace(asked);
    TableRead& read = request_.read;
    read.instant = instant;
    read.overlay = own;
    read.budget.row_bytes_max = world.options.row_bytes_max;
    StoreReaders readers;
    CELLAR_TRY(TableReader(*table_).open_readers(*scan, read, readers));
    begin(std::move(readers), read.range, read.budget,
          {read.stats, &world.executor, read.filter, world.operations()}, rows_ahead(asked, own));
    return {};
  }

  // Statistics and explanations are exact after each row. A reader's own cells may change between two rows.
  static size_t rows_ahead(const Scan& scan, const ReadOverlay* own) {
    constexpr size_t kRowsAhead = 32;
    if (scan.stats() != nullptr || scan.explain() != nullptr || own != nullptr) return 1;
    return scan.limit() == 0 ? kRowsAhead : static_cast<size_t>(std::min<uint64_t>(scan.limit(), kRowsAhead));
  }
  const std::string& table_name() const override { return table_->name(); }

  const std::shared_ptr<TableState> table_;
  const std::shared_ptr<const void> keep_;
  std::optional<Scan> kept_;  // what the reads borrow or hold: columns, filter, snapshot
  ScanRead request_;
};

Result<std::unique_ptr<Scanner>> open_scan(std::shared_ptr<TableState> table, const Scan& scan) {
  return TableScan::open(std::move(table), scan, nullptr, nullptr, nullptr);
}

Result<std::unique_ptr<Scanner>> open_scan_as_of(std::shared_ptr<TableState> table, const Scan& scan,
                                                 const ReadInstant& instant, const ReadOverlay& own,
                                                 std::shared_ptr<const void> keep) {
  CELLAR_ASSERT(keep != nullptr);  // or a rewrite could drop what the instant sees
  return TableScan::open(std::move(table), scan, &instant, &own, std::move(keep));
}

Result<std::vector<std::unique_ptr<Scanner>>> open_scans(const std::shared_ptr<TableState>& table,
                                                         std::span<const Scan> scans) {
  CELLAR_TRY(table->check());
  const auto snapshot = std::make_shared<const SnapshotImpl>(table->snapshots());
  const ReadInstant instant{snapshot->sequence(), table->host().mvcc.now_ms()};
  std::vector<std::unique_ptr<Scanner>> scanners;
  for (const Scan& each : scans) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<Scanner> scanner,
                      TableScan::open(table, each, &instant, nullptr, snapshot));
    scanners.push_back(std::move(scanner));
  }
  CELLAR_ASSERT(scanners.size() == scans.size());
  return scanners;
}

}  // namespace cellar
