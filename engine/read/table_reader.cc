// TableReader: finds the read point and matching views, and reads them.
#include "engine/read/table_reader.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/assert.h"
#include "engine/store/snapshot_keeper.h"

namespace cellar {
namespace {

// Clear: empties the list on destruction, because a view kept by a thread would keep its files.
struct Clear {
  std::vector<std::shared_ptr<const StoreView>>& views;
  ~Clear() { views.clear(); }
};

}  // namespace

Status TableReader::resolve_choices(const FamilyList& list, const ColumnMap& choices,
                                    std::vector<std::pair<Store*, const FamilyChoice*>>& chosen) const {
  if (choices.empty()) {
    for (const auto& store : list.stores) chosen.emplace_back(store.get(), nullptr);
    return {};
  }
  for (const FamilyChoice& choice : choices) {
    Store* store = list.find(choice.first);
    if (store == nullptr) return table_.unknown_family(choice.first);
    chosen.emplace_back(store, &choice);
  }
  std::ranges::sort(chosen, {}, [](const auto& each) { return each.first->family(); });
  CELLAR_ASSERT(chosen.size() == choices.size());
  return {};
}

// Takes the read point first, then the views. A view rewritten for a later read point may lack cells that
// this read must see; then the function starts over.
template <class Q>
Result<StoreReaders> TableReader::open_readers(const Query<Q>& query, const TableRead& read) const {
  CELLAR_TRY(table_.check());
  CELLAR_TRY(check_query(query));
  // Kept between reads to reuse their memory; nothing below calls back into a table.
  thread_local std::vector<std::pair<Store*, const FamilyChoice*>> chosen;
  thread_local std::vector<std::shared_ptr<const StoreView>> views;
  const Clear clear{views};
  const auto* snapshot = static_cast<const SnapshotImpl*>(query.snapshot().get());
  if (snapshot != nullptr && !snapshot->is_of(table_.host().snapshots))
    return Status::invalid_argument("the snapshot is of another engine");

  uint64_t read_point = 0;
  for (bool again = true; again;) {
    again = false;
    const FamilyList& list = table_.families();
    chosen.clear();
    CELLAR_TRY(resolve_choices(list, query.columns(), chosen));
    for (const auto& [family, times] : query.family_time_ranges())
      if (list.find(family) == nullptr) return table_.unknown_family(family);
    views.resize(chosen.size());
    read_point = snapshot != nullptr       ? snapshot->sequence()
                 : read.instant != nullptr ? read.instant->read_point
                                           : table_.host().mvcc.read_point();
    for (size_t i = 0; i < chosen.size() && !again; ++i) {
      // Compactions keep the cells that a snapshot or an instant sees.
      const bool kept = snapshot != nullptr || read.instant != nullptr;
      views[i] = kept ? chosen[i].first->view_at(read_point) : chosen[i].first->view();
      again = !kept && views[i]->rewritten_at > read_point;
    }
    again = again || &list != &table_.families();  // a store that was dropped is empty
  }
  CELLAR_ASSERT(read_point <= table_.host().mvcc.read_point());
  CELLAR_DCHECK(std::ranges::none_of(views, [](const auto& each) { return each == nullptr; }));
  const int64_t now_ms = read.instant != nullptr ? read.instant->now_ms : table_.host().mvcc.now_ms();
  StoreReaders readers;
  for (size_t i = 0; i < chosen.size(); ++i) {
    StoreQuery family = store_query(query, read, chosen[i].first->family(), chosen[i].second);
    family.rules.read_point = read_point;
    family.rules.now_ms = now_ms;
    if (read.overlay != nullptr) family.own = read.overlay->find(chosen[i].first);
    if (auto reader = StoreReader::open(std::move(views[i]), family, read.range))
      readers.push_back(std::move(reader));
  }
  return readers;
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
