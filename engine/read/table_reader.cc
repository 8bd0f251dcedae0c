// TableReader: finds the read point and matching views, and reads them.
#include "engine/read/table_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
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
  CELLAR_TRY(table_.check());
  CELLAR_TRY(check_query(query));
  const auto* snapshot = static_cast<const SnapshotImpl*>(query.snapshot().get());
  if (snapshot != nullptr && !snapshot->is_of(table_.host().snapshots))
    return Status::invalid_argument("the snapshot is of another engine");
  // Compactions keep the cells that a snapshot or an instant sees.
  const bool kept = snapshot != nullptr || read.instant != nullptr;
  const Mvcc& mvcc = table_.host().mvcc;
  for (bool again = true; again;) {
    again = false;
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
Result<StoreReaders> TableReader::open_readers(const Query<Q>& query, const TableRead& read) const {
  // Kept between reads to reuse their memory; nothing below calls back into a table.
  thread_local Chosen chosen;
  thread_local HeldViews views;
  const Ended<HeldViews> ended{views};
  CELLAR_TRY(take_views(query, read, chosen, views));
  StoreReaders readers;
  for (size_t i = 0; i < chosen.families.size(); ++i)
    if (auto reader = StoreReader::open(views.move_out(i), query_of(query, read, chosen, i), read.range))
      readers.push_back(std::move(reader));
  return readers;
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

Result<bool> TableReader::read_row(const Get& get, ScanBudget budget, RowBatch& batch,
                                   const ReadInstant* instant, const ReadOverlay* own) const {
  batch.clear();
  CELLAR_TRY(check_row(get.row()));
  ReadStats unwanted;
  TableRead read;
  read.range = RowRange::of_row(get.row());
  read.stats = &unwanted;
  read.instant = instant;
  read.overlay = own;
  if (get.stats() != nullptr) read.stats = get.stats();
  read.budget = budget;
  read.budget.page = page_of(get);
  read.budget.row_bytes_max = table_.host().world.options.row_bytes_max;
  if (RowGet::is_plain(get, budget)) return read_plain_row(get, read, batch);
  std::optional<ReadFilter> filter;
  add_filter(get, filter, read);
  CELLAR_TRY_ASSIGN(StoreReaders readers, open_readers(get, read));
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

// TableScan: a scan, and the objects that its scanner holds. The request borrows nothing from the caller.
class TableScan {
 public:
  TableScan(std::shared_ptr<TableState> table, const Scan& scan, std::shared_ptr<const void> keep)
      : table_(std::move(table)), keep_(std::move(keep)), request_(scan) {
    CELLAR_ASSERT(table_ != nullptr);
    table_->host().life.scanners.fetch_add(1);
  }
  ~TableScan() { table_->host().life.scanners.fetch_sub(1); }
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;

  static Result<std::unique_ptr<Scanner>> open(std::shared_ptr<TableState> table, const Scan& scan,
                                               const ReadInstant* instant, const ReadOverlay* own,
                                               std::shared_ptr<const void> keep) {
    const auto held = std::make_shared<TableScan>(std::move(table), scan, std::move(keep));
    const World& world = held->table_->host().world;
    CELLAR_TRY(held->request_.resolve(world.clock));
    TableRead read = held->request_.read;
    read.instant = instant;
    read.overlay = own;
    read.budget.row_bytes_max = world.options.row_bytes_max;
    CELLAR_TRY_ASSIGN(StoreReaders readers,
                      TableReader(*held->table_).open_readers(held->request_.scan, read));
    return make_table_scanner(
        RowReader(std::move(readers), read.range, read.budget, read.stats, &world.executor, read.filter),
        held->table_->name(), held, rows_ahead(held->request_.scan, own));
  }

 private:
  // Statistics and explanations are exact after each row. A reader's own cells may change between two rows.
  static size_t rows_ahead(const Scan& scan, const ReadOverlay* own) {
    constexpr size_t kRowsAhead = 32;
    if (scan.stats() != nullptr || scan.explain() != nullptr || own != nullptr) return 1;
    return scan.limit() == 0 ? kRowsAhead : static_cast<size_t>(std::min<uint64_t>(scan.limit(), kRowsAhead));
  }

  const std::shared_ptr<TableState> table_;
  const std::shared_ptr<const void> keep_;
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
