// FileTable: opens the files of a region when a read first needs them, and gives them to the store reader
// as a view.
#include "engine/read/file_table.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "engine/read/actions.h"
#include "engine/read/range_estimate.h"
#include "engine/schema/names.h"
#include "engine/values/row_batch_builder.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

Result<std::shared_ptr<const FamilyConfig>> config_of(const FamilyOptions& options) {
  FamilyOptions named = options;
  if (named.name.empty()) named.name = "f";  // foreign files have cells without a family
  CELLAR_TRY_ASSIGN(const std::shared_ptr<const FamilyConfig> checked, FamilyConfig::create(named));
  FamilyConfig config = *checked;
  config.options.name = options.name;
  return std::make_shared<const FamilyConfig>(std::move(config));
}

template <class Q>
std::vector<FamilyChoice> choices_of(const Query<Q>& query) {
  std::vector<FamilyChoice> choices;
  query.for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
    choices.push_back({family, qualifiers});
  });
  return choices;
}

// Returns whether rows of the region can be in the range.
bool meets(const FileTableRegion& region, const RowRange& range) {
  if (range.parts != nullptr)
    return std::ranges::any_of(*range.parts, [&](const RowRange& part) { return meets(region, part); });
  const std::string_view low = range.reversed ? range.stop : range.start;
  const std::string_view high = range.reversed ? range.start : range.stop;
  return (region.end.empty() || low.empty() || low < region.end) && (high.empty() || region.start <= high);
}

}  // namespace

// FileTableScanner: scans one region after the other.
class FileTableScanner final : public Scanner {
 public:
  FileTableScanner(std::shared_ptr<FileTable> table, const Scan& scan, int64_t now_ms)
      : table_(std::move(table)), scan_(scan), now_ms_(now_ms) {}

  Status open() {
    CELLAR_ASSERT(reader_ == nullptr && left_.empty());  // a scanner is opened once
    CELLAR_TRY(request_.resolve(scan_, table_->clock()));
    CELLAR_TRY(check_query(scan_));
    CELLAR_TRY(table_->resolve(choices_of(scan_)).status());
    const std::vector<FileTableRegion>& regions = table_->options_.regions;
    for (size_t i = 0; i < regions.size(); ++i)
      if (!request_.read.nothing && meets(regions[i], request_.read.range)) left_.push_back(i);
    // Regions are taken from the end of the list.
    if (!request_.read.range.reversed) std::ranges::reverse(left_);
    return {};
  }

  bool next() override {
    RowBatchBuilder(batch_).restart();
    return step(batch_);
  }
  RowView row() const override { return batch_.row(); }
  Status status() const override { return status_; }

  bool next_batch(RowBatch& batch, size_t rows) override {
    batch.clear();
    while (batch.size() < rows && !RowBatchBuilder(batch).ends_with_cursor() && step(batch)) {
    }
    return !batch.empty();
  }

 private:
  bool step(RowBatch& batch) {
    const uint64_t limit = request_.read.budget.rows;
    while (status_.ok() && (limit == 0 || rows_ < limit)) {
      if (request_.read.filter != nullptr && request_.read.filter->done()) return false;
      if (reader_ == nullptr && !next_region()) return false;
      if (reader_->next(batch)) {
        CELLAR_DCHECK(!batch.empty());
        const RowView last = batch[batch.size() - 1];
        rows_ += last.more_cells_in_row() || last.is_cursor() ? 0 : 1;
        return true;
      }
      status_ = reader_->status().with_context("table " + table_->name());
      reader_.reset();
    }
    return false;
  }

  bool next_region() {
    CELLAR_ASSERT(reader_ == nullptr && status_.ok());
    if (left_.empty()) return false;
    const size_t region = left_.back();
    left_.pop_back();
    const TableRead& read = request_.read;
    Result<StoreReaders> readers = table_->open_readers(region, scan_, read, now_ms_);
    if (!readers.ok()) {
      status_ = readers.status().with_context("table " + table_->name());
      return false;
    }
    ScanBudget budget = read.budget;
    budget.row_bytes_max = EngineOptions().row_bytes_max;
    CELLAR_ASSERT(budget.rows == 0 || budget.rows > rows_);  // step() has looked
    if (budget.rows > 0) budget.rows -= rows_;
    reader_ = std::make_unique<RowReader>(std::move(*readers), read.range, budget, read.stats, nullptr,
                                          read.filter);
    return true;
  }

  std::shared_ptr<FileTable> table_;
  const Scan scan_;
  ScanRead request_;
  int64_t now_ms_;
  std::vector<size_t> left_;
  std::unique_ptr<RowReader> reader_;
  RowBatch batch_;
  uint64_t rows_ = 0;
  Status status_;
};

Result<std::shared_ptr<FileTable>> FileTable::create(FileTableOptions options) {
  std::ranges::sort(options.table.families, {}, &FamilyOptions::name);
  std::shared_ptr<FileTable> table(new FileTable(std::move(options)));
  for (const FamilyOptions& family : table->options_.table.families) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<const FamilyConfig> config, config_of(family));
    table->configs_.push_back(std::move(config));
  }
  CELLAR_ASSERT(table->configs_.size() == table->options_.table.families.size());
  return table;
}

TableInfo FileTable::info() const {
  TableInfo info;
  info.name = options_.name;
  info.options = options_.table;
  for (const FamilyOptions& family : options_.table.families) {
    FamilyInfo each;
    each.options = family;
    info.families.push_back(std::move(each));
  }
  return info;
}

Result<std::vector<FileTable::Wanted>> FileTable::resolve(std::span<const FamilyChoice> choices) const {
  std::vector<Wanted> wanted;
  std::vector<std::string> names;
  for (const FamilyOptions& family : options_.table.families) names.push_back(family.name);
  for (size_t i = 0; i < names.size() && choices.empty(); ++i)
    wanted.push_back({i, {options_.table.families[i].name, {}}});
  for (const FamilyChoice& choice : choices) {
    const auto at = std::ranges::find(names, choice.family);
    if (at == names.end()) return unknown_family(options_.name, choice.family, names);
    wanted.push_back({static_cast<size_t>(at - names.begin()), choice});
  }
  std::ranges::sort(wanted, {}, &Wanted::family);
  return wanted;
}

Result<std::shared_ptr<const StoreView>> FileTable::view_of(size_t region, size_t family) {
  CELLAR_ASSERT(region < options_.regions.size() && family < configs_.size());
  MutexLock lock(mutex_);
  if (region != kept_region_ || kept_.empty()) kept_.assign(configs_.size(), nullptr);
  kept_region_ = region;
  if (kept_[family] != nullptr) return kept_[family];
  const FamilyOptions& options = configs_[family]->options;
  Result<std::vector<std::shared_ptr<HFileReader>>> files = options_.open(region, options.name);
  if (!files.ok()) return files.status().with_context("family " + escaped(options.name));
  auto view = std::make_shared<StoreView>();
  view->config = configs_[family];
  std::vector<PlacedFile> placed;
  for (std::shared_ptr<HFileReader>& file : *files) {
    if (file->meta_order())
      return Status::not_supported(file->name() + " is sorted in the order of hbase:meta")
          .hinting("cellar dump prints its cells");
    placed.push_back({std::make_shared<StoreFile>(std::move(file), FileRecord(), placed.size(), nullptr,
                                                  StoredFile(), nullptr)});
  }
  set_files(*view, std::move(placed));
  return kept_[family] = std::move(view);
}

template <class Q>
Result<StoreReaders> FileTable::open_readers(size_t region, const Query<Q>& query, const TableRead& read,
                                             int64_t now_ms) {
  if (query.snapshot() != nullptr)
    return Status::invalid_argument("a table that is files alone has no snapshots");
  CELLAR_TRY_ASSIGN(const std::vector<Wanted> wanted, resolve(choices_of(query)));
  for (const auto& [family, times] : query.family_time_ranges()) {
    const FamilyChoice choice{family};
    CELLAR_TRY(resolve({&choice, 1}).status());
  }
  StoreReaders readers;
  for (const Wanted& each : wanted) {
    CELLAR_TRY_ASSIGN(std::shared_ptr<const StoreView> view, view_of(region, each.family));
    StoreQuery family = store_query(query, read, each.choice);
    family.rules.now_ms = now_ms;  // and all sequences are visible
    if (auto reader = StoreReader::open(std::move(view), family, read.range))
      readers.push_back(std::move(reader));
  }
  CELLAR_ASSERT(readers.size() <= wanted.size());
  return readers;
}

Clock& FileTable::clock() const { return options_.clock != nullptr ? *options_.clock : system_clock(); }

Result<bool> FileTable::read_row(const Get& get, const ScanBudget& budget, RowBatch& batch, int64_t now_ms) {
  batch.clear();
  CELLAR_TRY(check_row(get.row()));
  CELLAR_TRY(check_query(get));
  CELLAR_TRY(resolve(choices_of(get)).status());
  ReadStats unwanted;
  TableRead read;
  read.range = RowRange::of_row(get.row());
  read.stats = get.stats() != nullptr ? get.stats() : &unwanted;
  read.budget = budget;
  read.budget.page = page_of(get);
  read.budget.row_bytes_max = EngineOptions().row_bytes_max;
  std::optional<ReadFilter> filter;
  add_filter(get, filter, read);
  for (size_t region = 0; region < options_.regions.size(); ++region) {
    const FileTableRegion& rows = options_.regions[region];
    if (get.row() < rows.start || (!rows.end.empty() && get.row() >= rows.end)) continue;
    Result<StoreReaders> readers = open_readers(region, get, read, now_ms);
    if (!readers.ok()) return readers.status().with_context("table " + options_.name);
    RowReader reader(std::move(*readers), read.range, read.budget, read.stats, nullptr, read.filter);
    const bool found = reader.next(batch);
    if (!reader.status().ok()) return reader.status().with_context("table " + options_.name);
    return found;
  }
  return false;
}

Status FileTable::get_into(const Get& get, RowBatch& batch) {
  return read_row(get, {.rows = 1}, batch, clock().wall_ms()).status();
}

Result<RowBatch> FileTable::get(const Get& get) {
  RowBatch batch;
  CELLAR_TRY(get_into(get, batch));
  return batch;
}

Result<bool> FileTable::exists(const Get& get) {
  RowBatch batch;
  return read_row(get, {.rows = 1, .cells_per_part = 1}, batch, clock().wall_ms());
}

Result<std::vector<bool>> FileTable::exists_many(std::span<const Get> gets) {
  const int64_t now = clock().wall_ms();
  std::vector<bool> found(gets.size());
  RowBatch batch;
  for (const size_t at : by_rows(gets)) {
    CELLAR_TRY_ASSIGN(found[at], read_row(gets[at], {.rows = 1, .cells_per_part = 1}, batch, now));
  }
  return found;
}

Result<std::vector<RowBatch>> FileTable::get_many(std::span<const Get> gets) {
  const int64_t now = clock().wall_ms();
  std::vector<RowBatch> rows(gets.size());
  for (const size_t at : by_rows(gets)) CELLAR_TRY(read_row(gets[at], {.rows = 1}, rows[at], now).status());
  return rows;
}

std::vector<Result<ActionResult>> FileTable::batch(std::span<const Action> actions,
                                                   const WriteOptions& options) {
  return run_actions(*this, actions, options, [&](std::span<const Action>) { return read_only(); });
}

Result<std::unique_ptr<Scanner>> FileTable::scan(const Scan& scan) {
  auto scanner = std::make_unique<FileTableScanner>(shared_from_this(), scan, clock().wall_ms());
  CELLAR_TRY(scanner->open());
  return std::unique_ptr<Scanner>(std::move(scanner));
}

Result<std::vector<std::unique_ptr<Scanner>>> FileTable::scan_many(std::span<const Scan> scans) {
  const int64_t now = clock().wall_ms();
  std::vector<std::unique_ptr<Scanner>> scanners;
  for (const Scan& each : scans) {
    auto scanner = std::make_unique<FileTableScanner>(shared_from_this(), each, now);
    CELLAR_TRY(scanner->open());
    scanners.push_back(std::move(scanner));
  }
  return scanners;
}

Result<std::vector<std::shared_ptr<const StoreView>>> FileTable::views_of(const EstimateRequest& request) {
  std::vector<FamilyChoice> choices;
  for (const std::string& family : request.families) choices.push_back({family});
  CELLAR_TRY_ASSIGN(const std::vector<Wanted> wanted, resolve(choices));
  const RowRange range{.start = request.start, .stop = request.stop};
  std::vector<std::shared_ptr<const StoreView>> views;
  for (size_t region = 0; region < options_.regions.size(); ++region) {
    if (!meets(options_.regions[region], range)) continue;
    for (const Wanted& each : wanted) {
      CELLAR_TRY_ASSIGN(std::shared_ptr<const StoreView> view, view_of(region, each.family));
      views.push_back(std::move(view));
    }
  }
  return views;
}

Result<RangeEstimate> FileTable::estimate(const KeyRange& range, const std::vector<std::string>& families) {
  const EstimateRequest request{range.start, range.stop, families};
  CELLAR_TRY_ASSIGN(const auto views, views_of(request));
  return estimate_range(request, views);
}

Result<RangeSplits> FileTable::split_points(size_t parts, const KeyRange& range,
                                            const std::vector<std::string>& families) {
  const EstimateRequest request{range.start, range.stop, families};
  CELLAR_TRY_ASSIGN(const auto views, views_of(request));
  return split_range(request, views, parts);
}

Status FileTable::read_only() const {
  return Status::with_code(Code::kReadOnly,
                           "table " + options_.name + " is files alone: it cannot be written");
}
Status FileTable::put(const Put&, const WriteOptions&) { return read_only(); }
Status FileTable::erase(const Delete&, const WriteOptions&) { return read_only(); }
Result<std::vector<int64_t>> FileTable::increment(const Increment&, const WriteOptions&) {
  return read_only();
}
Result<Row> FileTable::append(const Append&, const WriteOptions&) { return read_only(); }
Result<Row> FileTable::mutate(const RowMutations&, const WriteOptions&) { return read_only(); }
Result<ActionResult> FileTable::check_and_mutate(const CheckAndMutate&, const WriteOptions&) {
  return read_only();
}
Result<IngestInfo> FileTable::ingest(const IngestRequest&) { return read_only(); }
Status FileTable::flush(std::string_view) { return read_only(); }
Status FileTable::compact(std::string_view) { return read_only(); }
Status FileTable::major_compact(std::string_view) { return read_only(); }
Result<std::optional<CompactionInfo>> FileTable::next_compaction(std::string_view, bool,
                                                                 std::vector<std::string>*) {
  return read_only();
}

}  // namespace cellar
