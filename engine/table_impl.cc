// TableImpl: resolves names, then hands over to the write path, the readers and the background work.
#include "engine/table_impl.h"

#include <algorithm>

#include "cell/cell_codec.h"
#include "engine/actions.h"
#include "engine/background.h"
#include "engine/ingest_job.h"
#include "engine/range_estimate.h"
#include "engine/write_path.h"

namespace cellar {
namespace {

StoreFileInfo file_info_of(const FileRecord& record) {
  StoreFileInfo info;
  info.name = record.name;
  info.bytes = record.bytes;
  info.cells = record.cells;
  info.deletes = record.deletes;
  CellView key;
  if (parse_flat_key(record.first_key.data(), record.first_key.size(), key)) info.first_row = key.row();
  if (parse_flat_key(record.last_key.data(), record.last_key.size(), key)) info.last_row = key.row();
  info.time_min = record.time_min;
  info.time_max = record.time_max;
  info.sequence_max = record.sequence_max;
  info.major = record.major;
  info.created_ms = record.created_ms;
  return info;
}

FamilyInfo family_info_of(const Store& store) {
  const std::shared_ptr<const StoreView> view = store.view();
  FamilyInfo info;
  info.options = view->config->options;
  info.id = store.ids().family;
  const auto add = [&](const MemtableRef& memtable) {
    const MemtableSummary summary = memtable->summary();
    if (summary.cells == 0) return;
    ++info.memtables;
    info.memtable_cells += summary.cells;
    info.memtable_bytes += summary.bytes;
  };
  if (view->active.get() != nullptr) add(view->active);
  for (const MemtableRef& memtable : view->frozen) add(memtable);
  for (const auto& file : view->files) info.files.push_back(file_info_of(file->record()));
  return info;
}

// The view with the reader's own cells as the youngest of its memtables.
std::shared_ptr<const StoreView> with_own(std::shared_ptr<const StoreView> view, const ReadOverlay* own,
                                          const Store* store) {
  const MemtableRef* cells = own != nullptr ? own->find(store) : nullptr;
  if (cells == nullptr) return view;
  auto both = std::make_shared<StoreView>(*view);
  if (both->active.get() != nullptr) both->frozen.insert(both->frozen.begin(), both->active);
  both->active = *cells;
  return both;
}

}  // namespace

Status is_read_only(std::string_view table) {
  return Status::read_only("table " + std::string(table) + " is read-only")
      .hinting("alter it: read_only=false, or READONLY => false in the shell");
}

SnapshotImpl::~SnapshotImpl() {
  if (core_->inherited()) return;
  if (!core_->mvcc.close_snapshot(sequence_) || core_->counters.views_kept.load() == 0) return;
  for (const auto& store : core_->stores()) store->let_go(sequence_);
}

TableImpl::TableImpl(std::shared_ptr<EngineCore> core, uint32_t id, std::string name, TableOptions options,
                     std::vector<std::shared_ptr<Store>> stores)
    : core_(std::move(core)), id_(id), name_(std::move(name)) {
  set_options(std::move(options));
  set_families(std::move(stores));
}

TableOptions TableImpl::options() const {
  MutexLock lock(history_mutex_);
  return options_;
}

void TableImpl::set_options(TableOptions options) {
  options.families.clear();
  MutexLock lock(history_mutex_);
  options_ = std::move(options);
  durability_.store(options_.durability ? static_cast<int>(*options_.durability) : -1,
                    std::memory_order_relaxed);
  read_only_.store(options_.read_only, std::memory_order_relaxed);
  if (const FamilyList* list = families_.load(std::memory_order_acquire); list != nullptr)
    for (const auto& store : list->stores) store->take_table_options(options_);
}

void TableImpl::set_families(std::vector<std::shared_ptr<Store>> stores) {
  std::ranges::sort(stores, {}, [](const auto& store) { return store->family(); });
  auto list = std::make_unique<const FamilyList>(FamilyList{std::move(stores)});
  MutexLock lock(history_mutex_);
  for (const auto& store : list->stores) store->take_table_options(options_);
  families_.store(list.get(), std::memory_order_release);
  history_.push_back(std::move(list));
}

Status TableImpl::check() const {
  CELLAR_TRY(core_->check_open());
  return dropped() ? Status::not_found("table " + name_ + " was dropped") : Status();
}

Status TableImpl::check_writable() const {
  CELLAR_TRY(check());
  return read_only_.load(std::memory_order_relaxed) ? is_read_only(name_) : Status();
}

Result<std::vector<std::shared_ptr<Store>>> TableImpl::stores_of(std::string_view family) const {
  std::vector<std::shared_ptr<Store>> chosen;
  for (const auto& store : families().stores)
    if (family.empty() || store->family() == family) chosen.push_back(store);
  if (chosen.empty() && !family.empty()) return unknown_family(family);
  return chosen;
}

Status TableImpl::unknown_family(std::string_view family) const {
  std::vector<std::string> names;
  for (const auto& store : families().stores) names.push_back(store->family());
  return cellar::unknown_family(name_, family, names);
}

TableInfo TableImpl::info() const {
  TableInfo info;
  info.name = name_;
  info.id = id_;
  info.options = options();
  for (const auto& store : families().stores) {
    info.families.push_back(family_info_of(*store));
    info.options.families.push_back(info.families.back().options);
  }
  return info;
}

Status TableImpl::put(const Put& put, const WriteOptions& options) {
  return core_->write_path->put(*this, put, options);
}

Status TableImpl::erase(const Delete& erase, const WriteOptions& options) {
  return core_->write_path->erase(*this, erase, options);
}

Result<std::vector<int64_t>> TableImpl::increment(const Increment& increment, const WriteOptions& options) {
  return core_->write_path->increment(*this, increment, options);
}

Result<Row> TableImpl::append(const Append& append, const WriteOptions& options) {
  return core_->write_path->append(*this, append, options);
}

Result<Row> TableImpl::mutate(const RowMutations& mutations, const WriteOptions& options) {
  return core_->write_path->mutate(*this, mutations, options);
}

Result<CheckAndMutateResult> TableImpl::check_and_mutate(const CheckAndMutate& check,
                                                         const WriteOptions& options) {
  return core_->write_path->check_and_mutate(*this, check, options);
}

std::vector<ActionResult> TableImpl::batch(std::span<const Action> actions, const WriteOptions& options) {
  if (observers() != nullptr) return run_actions(*this, actions, options, nullptr);  // each is refused alone
  return run_actions(*this, actions, options, [&](std::span<const Action> writes) {
    Batch together;
    for (const Action& each : writes) {
      if (const auto* put = std::get_if<Put>(&each)) {
        together.put(shared_from_this(), *put);
      } else {
        together.erase(shared_from_this(), std::get<Delete>(each));
      }
    }
    return core_->write_path->write(together, options);
  });
}

Status TableImpl::resolve_choices(const FamilyList& list, const std::vector<FamilyChoice>& choices,
                                  std::vector<std::pair<Store*, const FamilyChoice*>>& chosen) const {
  if (choices.empty()) {
    for (const auto& store : list.stores) chosen.emplace_back(store.get(), nullptr);
    return {};
  }
  for (const FamilyChoice& choice : choices) {
    Store* store = list.find(choice.family);
    if (store == nullptr) return unknown_family(choice.family);
    chosen.emplace_back(store, &choice);
  }
  std::ranges::sort(chosen, {}, [](const auto& each) { return each.first->family(); });
  return {};
}

// Read point first, then the views: a view rewritten for a later point than ours may lack what we should see,
// so start over.
template <class Q>
Result<StoreReaders> TableImpl::open_readers(const Query<Q>& query, const TableRead& read) const {
  CELLAR_TRY(check());
  CELLAR_TRY(check_query(query));
  // Kept from read to read for their memory; nothing below calls back into a table.
  thread_local std::vector<std::pair<Store*, const FamilyChoice*>> chosen;
  thread_local std::vector<std::shared_ptr<const StoreView>> views;
  const auto* snapshot = static_cast<const SnapshotImpl*>(query.snapshot().get());
  if (snapshot != nullptr && snapshot->core() != core_.get())
    return Status::invalid_argument("the snapshot is of another engine");

  uint64_t read_point = 0;
  for (bool again = true; again;) {
    again = false;
    const FamilyList& list = families();
    chosen.clear();
    CELLAR_TRY(resolve_choices(list, query.choices(), chosen));
    for (const FamilyTimes& each : query.family_times())
      if (list.find(each.family) == nullptr) return unknown_family(each.family);
    views.resize(chosen.size());
    read_point = snapshot != nullptr       ? snapshot->sequence()
                 : read.instant != nullptr ? read.instant->read_point
                                           : core_->mvcc.read_point();
    for (size_t i = 0; i < chosen.size() && !again; ++i) {
      const bool kept = snapshot != nullptr || read.instant != nullptr;  // what it sees is not rewritten
      views[i] = kept ? chosen[i].first->view_at(read_point) : chosen[i].first->view();
      again = !kept && views[i]->rewritten_at > read_point;
    }
    again = again || &list != &families();  // a store that has gone is empty
  }
  const int64_t now_ms = read.instant != nullptr ? read.instant->now_ms : core_->mvcc.now_ms();
  StoreReaders readers;
  for (size_t i = 0; i < chosen.size(); ++i) {
    StoreQuery family = store_query(query, read, chosen[i].first->family(), chosen[i].second);
    family.rules.read_point = read_point;
    family.rules.now_ms = now_ms;
    auto view = with_own(std::move(views[i]), read.overlay, chosen[i].first);
    if (auto reader = StoreReader::open(std::move(view), family, read.range))
      readers.push_back(std::move(reader));
  }
  return readers;
}

Result<bool> TableImpl::read_row(const Get& get, ScanBudget budget, RowBatch& batch,
                                 const ReadInstant* instant, const ReadOverlay* own) const {
  batch.clear();
  CELLAR_TRY(check_row(get.row()));
  ReadStats unwanted;
  TableRead read;
  read.range = RowRange::of_row(get.row());
  read.stats = &unwanted;
  read.instant = instant;
  read.overlay = own;
  if (get.stats_sink() != nullptr) read.stats = get.stats_sink();
  read.budget = budget;
  read.budget.page = page_of(get);
  read.budget.row_bytes_max = core_->options.row_bytes_max;
  std::optional<ReadFilter> filter;
  add_filter(get, filter, read);
  CELLAR_TRY_ASSIGN(StoreReaders readers, open_readers(get, read));
  if (readers.empty()) return false;
  RowReader reader(std::move(readers), read.range, read.budget, read.stats, &core_->executor, read.filter);
  const bool found = reader.next(batch);
  if (!reader.status().ok()) return reader.status().with_context("table " + name_);
  return found;
}

Status TableImpl::get_into(const Get& get, RowBatch& batch) {
  return read_row(get, {.rows = 1}, batch).status();
}

Result<RowBatch> TableImpl::get(const Get& get) {
  RowBatch batch;
  CELLAR_TRY(get_into(get, batch));
  return batch;
}

Result<bool> TableImpl::exists(const Get& get) {
  RowBatch batch;
  return read_row(get, {.rows = 1, .cells_per_part = 1}, batch);  // one cell is enough to know
}

Result<std::vector<bool>> TableImpl::exists_many(std::span<const Get> gets) {
  CELLAR_TRY(check());
  const SnapshotImpl snapshot(core_);
  const ReadInstant instant{snapshot.sequence(), core_->mvcc.now_ms()};
  std::vector<bool> found(gets.size());
  RowBatch batch;
  for (const size_t at : by_rows(gets)) {
    CELLAR_TRY_ASSIGN(found[at], read_row(gets[at], {.rows = 1, .cells_per_part = 1}, batch, &instant));
  }
  return found;
}

Result<std::vector<RowBatch>> TableImpl::get_many(std::span<const Get> gets) {
  CELLAR_TRY(check());
  const SnapshotImpl snapshot(core_);  // keeps what the instant sees from being rewritten
  const ReadInstant instant{snapshot.sequence(), core_->mvcc.now_ms()};
  std::vector<RowBatch> rows(gets.size());
  for (const size_t at : by_rows(gets))
    CELLAR_TRY(read_row(gets[at], {.rows = 1}, rows[at], &instant).status());
  return rows;
}

Status TableImpl::get_as_of(const Get& get, const ReadInstant& instant, const ReadOverlay& own,
                            RowBatch& batch) const {
  return read_row(get, {.rows = 1}, batch, &instant, &own).status();
}

Result<std::unique_ptr<Scanner>> TableImpl::scan(const Scan& scan) {
  return open_scan(scan, nullptr, nullptr, nullptr);
}

Result<std::vector<std::unique_ptr<Scanner>>> TableImpl::scan_many(std::span<const Scan> scans) {
  CELLAR_TRY(check());
  const auto snapshot = std::make_shared<const SnapshotImpl>(core_);
  const ReadInstant instant{snapshot->sequence(), core_->mvcc.now_ms()};
  std::vector<std::unique_ptr<Scanner>> scanners;
  for (const Scan& each : scans) {
    CELLAR_TRY_ASSIGN(std::unique_ptr<Scanner> scanner, open_scan(each, &instant, nullptr, snapshot));
    scanners.push_back(std::move(scanner));
  }
  return scanners;
}

Result<std::unique_ptr<Scanner>> TableImpl::scan_as_of(const Scan& scan, const ReadInstant& instant,
                                                       const ReadOverlay& own,
                                                       std::shared_ptr<const void> keep) {
  return open_scan(scan, &instant, &own, std::move(keep));
}

Result<std::unique_ptr<Scanner>> TableImpl::open_scan(const Scan& scan, const ReadInstant* instant,
                                                      const ReadOverlay* own,
                                                      std::shared_ptr<const void> keep_too) {
  struct Keep {
    Keep(std::shared_ptr<TableImpl> of, const Scan& asked, std::shared_ptr<const void> more)
        : table(std::move(of)), too(std::move(more)), request(asked) {}
    std::shared_ptr<TableImpl> table;
    std::shared_ptr<const void> too;
    ScanRead request;
  };
  const auto keep = std::make_shared<Keep>(shared_from_this(), scan, std::move(keep_too));
  ScanRead& request = keep->request;
  CELLAR_TRY(request.resolve(core_->clock));
  TableRead read = request.read;
  read.instant = instant;
  read.overlay = own;
  read.budget.row_bytes_max = core_->options.row_bytes_max;
  CELLAR_TRY_ASSIGN(StoreReaders readers, open_readers(request.scan, read));
  return make_table_scanner(
      RowReader(std::move(readers), read.range, read.budget, read.stats, &core_->executor, read.filter),
      name_, keep);
}

Result<std::vector<std::shared_ptr<const StoreView>>> TableImpl::views_of(
    const EstimateRequest& request) const {
  CELLAR_TRY(check());
  std::vector<std::shared_ptr<const StoreView>> views;
  for (const std::string& family : request.families)
    if (families().find(family) == nullptr) return unknown_family(family);
  for (const auto& store : families().stores)
    if (request.families.empty() ||
        std::ranges::find(request.families, store->family()) != request.families.end())
      views.push_back(store->view());
  return views;
}

Result<RangeEstimate> TableImpl::estimate(const EstimateRequest& request) {
  CELLAR_TRY_ASSIGN(const auto views, views_of(request));
  return estimate_range(request, views);
}

Result<RangeSplits> TableImpl::split_points(size_t parts, const EstimateRequest& request) {
  CELLAR_TRY_ASSIGN(const auto views, views_of(request));
  return split_range(request, views, parts);
}

Result<IngestInfo> TableImpl::ingest(const IngestRequest& request) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(check_writable());
  auto done = IngestJob(*core_, *this, request).run();
  if (!done.ok()) return done.status().with_context("table " + name_);
  return done;
}

Status TableImpl::flush(const FlushOptions& options) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(check());
  CELLAR_TRY_ASSIGN(const auto chosen, stores_of(options.family));
  return core_->background->flush(chosen).with_context("table " + name_);
}

Status TableImpl::compact(const CompactOptions& options) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(check());
  CELLAR_TRY_ASSIGN(const auto chosen, stores_of(options.family));
  return core_->background->compact(chosen, options.major).with_context("table " + name_);
}

}  // namespace cellar
