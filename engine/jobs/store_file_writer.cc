// StoreFileWriter: the order of its lines is the argument that a file which the manifest names is whole.
#include "engine/jobs/store_file_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/assert.h"
#include "bloom/run_error_rate.h"
#include "cell/cell_key.h"
#include "engine/store/early_sync.h"
#include "engine/store/sequence_check.h"
#include "hfile/read/warm_up.h"

namespace cellar {
namespace {

constexpr uint64_t kBytesPerCheckpoint = 1 << 20;  // of a new file that is read back

// Reads a new file back and compares what is in it with what was let through.
Status check_new_file(const StoreFile& file, const RewrittenFile& written, bool mvcc,
                      const std::atomic<bool>* cancel) {
  uint64_t cells = 0;
  uint64_t hash = 0;
  const std::unique_ptr<CellCursor> cursor =
      file.reader().cursor({.fill_cache = false, .sequential = true, .stats = nullptr});
  OwnedCell first;
  first_of_row(first, {});
  for (const CellView* cell = cursor->seek(first.view()); cell != nullptr; cell = cursor->next()) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed))
      return Status::aborted("the check of a new file was cancelled");
    CELLAR_TRY(check_sequence(file, *cell));
    ++cells;
    hash += cell_hash(*cell, mvcc ? cell->sequence : 0);
  }
  CELLAR_TRY(cursor->status());
  if (cells != written.summary.cells || hash != written.kept_hash)
    return Status::corruption(fmt::format("a new store file reads back differently: {} cells of {}", cells,
                                          written.summary.cells))
        .at(file.reader().name());
  return {};
}

FileRecord record_of(const NewFileRequest& request, const std::string& name, const HFileSummary& summary,
                     int64_t now_ms) {
  FileRecord record;
  CELLAR_ASSERT(summary.cells > 0 && summary.sequence_max <= request.sequence_max);
  record.name = name;
  record.bytes = summary.file_bytes;
  record.take_figures(summary);
  record.sequence_min = summary.sequence_min;
  record.sequence_max = request.sequence_max;
  record.created_ms = now_ms;
  record.rewritten_at = request.rewritten_at;
  record.trailer_crc = summary.trailer_crc32c;
  record.major = request.origin == FileOrigin::kMajorCompaction;
  record.encoding = request.config->options.encoding;
  record.compression = compression_of(request.config->options, request.origin);
  return record;
}

// Returns a failure with the name of the new file, if there is one.
Status naming(const NewFileRequest& request, const std::string& name, const Status& status) {
  if (name.empty()) return status;
  return status.with_context(
      to_text(StoredFile{request.store->ids().table, request.store->family(), name, 0}));
}

// Returns the error rate of the filters of new files. With bloom_allocation=monkey it depends on the size
// of the run that the files will belong to, among all runs of the store.
float bloom_error_rate(const NewFileRequest& request, float of_options) {
  if (request.config->options.bloom_allocation != "monkey") return of_options;
  const std::shared_ptr<const StoreView> view = request.store->view();
  CELLAR_ASSERT(request.store != nullptr && of_options > 0);
  uint64_t own = request.cells_in;
  std::vector<uint64_t> others;
  for (const FileRun& run : view->runs) {
    uint64_t cells = 0;
    for (size_t i = run.begin; i < run.end; ++i)
      if (std::ranges::find(request.inputs, view->files[i]) == request.inputs.end())
        cells += view->files[i]->record().cells;
    if (request.run != 0 && run.run == request.run)
      own += cells;
    else
      others.push_back(cells);
  }
  const auto rate = static_cast<float>(run_error_rate(of_options, own, others));
  CELLAR_ASSERT(rate > 0 && rate < 1);
  return rate;
}

// A cursor over a memtable that skips cells above a sequence. Writers may insert into the memtable meanwhile.
// Skipped cells use up the two moves for which the memtable cursor keeps its views. The views are therefore
// copied here. Their bytes stay in the memtable.
class UpToCursor final : public CellCursor {
 public:
  UpToCursor(std::unique_ptr<CellCursor> inner, uint64_t sequence)
      : inner_(std::move(inner)), sequence_(sequence) {
    CELLAR_ASSERT(inner_ != nullptr);
  }

  const CellView* seek(const CellView& target) override { return first_seen(inner_->seek(target)); }
  const CellView* next() override { return first_seen(inner_->next()); }
  Status status() const override { return inner_->status(); }
  const Pinnable* pinned() const override { return inner_->pinned(); }
  void print(TextPrinter& out) const override { inner_->print(out); }

 private:
  const CellView* first_seen(const CellView* cell) {
    while (cell != nullptr && cell->sequence > sequence_) cell = inner_->next();
    if (cell == nullptr) return nullptr;
    CELLAR_DCHECK(cell->sequence <= sequence_);
    at_ = 1 - at_;
    return &(views_[at_] = *cell);
  }

  std::unique_ptr<CellCursor> inner_;
  uint64_t sequence_;
  std::array<CellView, 2> views_;
  size_t at_ = 0;
};

}  // namespace

std::vector<ManifestEdit::FileChange> NewFiles::changes(const Store& store) const {
  std::vector<ManifestEdit::FileChange> result;
  for (const auto& file : files()) result.push_back({store.ids().family, file->record()});
  CELLAR_ASSERT(result.size() == rewrite.files.size());
  return result;
}

uint64_t NewFiles::bytes() const {
  uint64_t sum = 0;
  for (const auto& file : files()) sum += file->record().bytes;
  return sum;
}

uint64_t NewFiles::cells() const {
  uint64_t sum = 0;
  for (const auto& file : files()) sum += file->record().cells;
  return sum;
}

void NewFileRequest::judge_at(const OpenReadPoints& points, const Outside& outside, int64_t now_ms) {
  CELLAR_ASSERT(config != nullptr);
  CELLAR_DCHECK(std::ranges::is_sorted(points.snapshots));
  CELLAR_ASSERT(points.snapshots.empty() || points.snapshots.back() < points.read_point);
  rewritten_at = points.read_point;
  knew_snapshots = points.any_snapshot;
  job.rules.family = config->rules;
  job.rules.now_ms = now_ms;
  job.rules.purge_deletes_ms = config->options.time_to_purge_deletes_ms;
  job.rules.snapshots = points.snapshots;
  job.rules.read_point = points.read_point;
  job.rules.earliest_outside = outside.earliest;
  job.rules.keep_versions = points.any_snapshot && outside.version_deletes;
}

// Creates the files of a rewrite, with names of the manifest. Removes them again unless they are kept.
class StoreFileWriter::Output final : public RewriteOutput {
 public:
  Output(Executor& executor, Disk& disk, const NewFileRequest& request)
      : executor_(executor), disk_(disk), request_(request) {
    CELLAR_ASSERT(request_.directory != nullptr);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() override {
    file_.reset();
    if (kept_) return;
    for (const std::string& name : names_)
      static_cast<void>(request_.directory->unlink(name).ok());  // else an orphan
  }

  Result<WritableFile*> begin() override {
    CELLAR_ASSERT(file_ == nullptr);
    current_ = store_file_name(disk_.identity, disk_.manifest->next_file_number());
    CELLAR_TRY_ASSIGN(auto file, request_.directory->create(current_, {}));
    names_.push_back(current_);  // now it is ours to remove
    file_ = std::make_unique<EarlySync>(std::move(file), executor_);
    return file_.get();
  }
  Status add_facts(HFileWriter& writer) override {
    FileInfo values;
    values.set_i64(info_key::kMaxSequence, static_cast<int64_t>(request_.sequence_max));
    values.set_bool(info_key::kMajorCompaction, request_.origin == FileOrigin::kMajorCompaction);
    values.set_bool(info_key::kExcludeFromMinor, false);
    for (const auto& [key, value] : values.entries()) CELLAR_TRY(writer.set_info(key, value));
    return {};
  }
  Status end() override {
    CELLAR_ASSERT(file_ != nullptr);
    CELLAR_TRY(file_->sync());
    const Status closed = file_->close();
    file_.reset();
    return closed;
  }

  const std::vector<std::string>& names() const { return names_; }
  void keep() { kept_ = true; }
  // Returns the name of the file that was begun last, or an empty name.
  const std::string& current() const { return current_; }

 private:
  Executor& executor_;
  Disk& disk_;
  const NewFileRequest& request_;
  std::vector<std::string> names_;
  std::string current_;
  std::unique_ptr<WritableFile> file_;
  bool kept_ = false;
};

// Loads into the cache the parts that the family's options request, before any reader sees the file. It loads
// data only up to the cache's capacity, because more would evict itself. A part that cannot be read back is
// an error. Such a file must not replace its sources.
Status StoreFileWriter::warm(const NewFileRequest& request, const StoreFile& file) {
  if (request.elsewhere) return {};
  const FamilyOptions& family = request.config->options;
  // The pinned bytes grow while the file is read, for one by its sums of blocks.
  const auto room = [this] {
    const BlockCacheStats cache = files_.cache().stats();
    return cache.capacity_bytes - std::min(cache.capacity_bytes, cache.pinned_bytes);
  };
  const bool data = request.origin == FileOrigin::kFlush && family.cache_data_on_write && room() != 0;
  WarmUp warm_up(file.reader(), {.parts = {.data = data,
                                           .index = data || family.cache_index_on_write,
                                           .blooms = data || family.cache_blooms_on_write}});
  uint64_t next_checkpoint = kBytesPerCheckpoint;
  return warm_up.run([&] {
    const uint64_t bytes = warm_up.loaded().memory_bytes;
    if (bytes >= next_checkpoint) {
      next_checkpoint = bytes + kBytesPerCheckpoint;
      world_.executor.checkpoint();
    }
    return !activity_.closing.load() && (!data || bytes < room());
  });
}

// Opens a file that was written, and makes sure that it may take the place of its sources. Errors name the
// file.
Result<std::shared_ptr<StoreFile>> StoreFileWriter::open_and_check(const NewFileRequest& request,
                                                                   const std::string& name,
                                                                   const RewrittenFile& written,
                                                                   uint64_t run) {
  FileRecord record = record_of(request, name, written.summary, world_.clock.wall_ms());
  record.run = run;
  record.level = request.level;
  CELLAR_TRY_ASSIGN(
      std::shared_ptr<StoreFile> file,
      files_.open(request.directory, request.store->ids().table, request.config->options, record));
  if (world_.options.verify_new_files)
    CELLAR_TRY(check_new_file(*file, written, request.mvcc, request.job.cancel));
  CELLAR_TRY(warm(request, *file));
  return file;
}

// Several files are one run, named by the number of its first file.
Status StoreFileWriter::open_all(const NewFileRequest& request, const std::vector<std::string>& names,
                                 NewFiles& made) {
  CELLAR_ASSERT(names.size() == made.rewrite.files.size());
  if (names.empty()) return {};
  uint64_t run = request.run;
  if (run == 0 && (names.size() > 1 || request.level != 0)) {
    const bool ours = parse_store_file_name(disk_.identity, names.front(), run);
    CELLAR_ASSERT(ours && run != 0);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    CELLAR_TRY_ASSIGN(auto file, open_and_check(request, names[i], made.rewrite.files[i], run));
    made.rewritten.outputs.push_back(std::move(file));
  }
  return {};
}

// A directory sync that is tried again proves nothing: what the first one lost stays lost.
Status StoreFileWriter::sync_names(const NewFileRequest& request, uint64_t failures) {
  CELLAR_ASSERT(request.directory != nullptr);
  const auto sync = [&] {
    return request.directory->sync().with_context("syncing the directory of a new store file");
  };
  return request.elsewhere ? sync() : disk_.names.sync(failures, sync);
}

Result<NewFiles> StoreFileWriter::write(NewFileRequest& request) {
  CELLAR_ASSERT(request.store != nullptr && request.config != nullptr && request.job.source != nullptr);
  CELLAR_TRY(disk_.check_lock());  // another engine that has the store gives its files the same numbers
  if (request.directory == nullptr) {
    CELLAR_TRY_ASSIGN(request.directory, request.store->directory());
  }
  const uint64_t failures = disk_.names.failures();  // before a name is made
  RewriteJob job = request.job;
  // EngineOptions::cell_bytes_max is a limit of new cells. Stored ones may have come under a larger one.
  job.file = writer_options(request.config->options, request.origin, request.tags, request.mvcc,
                            world_.clock.wall_ms(), kCellBytesHardMax + (64u << 10));
  job.file.bloom_error_rate = bloom_error_rate(request, job.file.bloom_error_rate);
  job.keep_hash = world_.options.verify_new_files;
  job.memory = &activity_.job_bytes;
  Output output(world_.executor, disk_, request);
  NewFiles made;  // closes its files before the output removes them
  Result<RewriteResult> rewritten = rewrite(job, output);
  if (!rewritten.ok()) return naming(request, output.current(), rewritten.status());
  made.rewrite = std::move(*rewritten);
  CELLAR_TRY(open_all(request, output.names(), made));
  if (!made.files().empty()) CELLAR_TRY(sync_names(request, failures));
  output.keep();
  made.rewritten.rewritten_at = request.rewritten_at;
  made.rewritten.newest_dropped_marker = made.rewrite.newest_dropped_marker;
  made.rewritten.dropped_versions = made.rewrite.dropped[static_cast<size_t>(Drop::kVersions)] != 0;
  made.rewritten.knew_snapshots = request.knew_snapshots;
  made.rewritten.dropped_any = made.rewrite.cells_in != made.cells();
  return made;
}

// Cells that expired before `expiry_ms` are left out.
Result<NewFiles> StoreFileWriter::write_merged(NewFileRequest& request, std::vector<MergeSource> sources,
                                               const OpenReadPoints& points, const Outside& outside,
                                               int64_t expiry_ms) {
  CELLAR_ASSERT(request.store != nullptr && request.job.source == nullptr);  // this function sets the source
  const std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources));
  request.job.source = merged.get();
  request.judge_at(points, outside, expiry_ms);
  FlushInfo progress;
  progress.table = request.store->table_name();
  progress.family = request.store->family();
  request.job.checkpoint = [this, &progress](uint64_t cells) {
    world_.executor.checkpoint();
    progress.cells_done = cells;
    world_.events.on_flush_progress(progress);
    return Status();
  };
  return write(request);
}

Result<NewFiles> StoreFileWriter::write_memtables(Store& store, std::span<const MemtableRef> newest_first,
                                                  const OpenReadPoints& points) {
  uint64_t newer = UINT64_MAX;
  for (const MemtableRef& memtable : newest_first) {
    const MemtableSummary summary = memtable->summary();
    CELLAR_ASSERT(summary.sequence_max < newer);  // runs of writes, the newest first
    newer = summary.sequence_min;
  }
  return write_all(store, newest_first, points, nullptr);
}

Result<NewFiles> StoreFileWriter::write_replayed(Store& store, std::span<const MemtableRef> memtables,
                                                 const OpenReadPoints& points) {
  return write_all(store, memtables, points, &world_.executor);
}

// No two cells of the memtables are equal, sequence included. So their order says nothing.
Result<NewFiles> StoreFileWriter::write_all(Store& store, std::span<const MemtableRef> memtables,
                                            const OpenReadPoints& points, Executor* executor) {
  CELLAR_ASSERT(!memtables.empty());
  std::vector<MergeSource> sources;
  NewFileRequest request;
  for (const MemtableRef& memtable : memtables) {
    const MemtableSummary summary = memtable->summary();
    CELLAR_ASSERT(summary.cells > 0);
    request.tags = request.tags || summary.tags != 0;
    request.cells_in += summary.cells;
    request.sequence_max = std::max(request.sequence_max, summary.sequence_max);
    sources.push_back({memtable->cursor(), static_cast<uint32_t>(sources.size())});
  }
  request.store = &store;
  request.config = store.view()->config;
  request.job.executor = executor;
  return write_merged(request, std::move(sources), points, outside_of(*store.view(), memtables, {}),
                      erase_now_ms(expiry_, world_));
}

Result<NewFiles> StoreFileWriter::write_memtables_as_of(Store& store, const StoreView& view,
                                                        uint64_t sequence,
                                                        std::shared_ptr<Directory> directory) {
  CELLAR_ASSERT(directory != nullptr);
  std::vector<MemtableRef> newest_first;
  if (view.active.get() != nullptr) newest_first.push_back(view.active);
  newest_first.insert(newest_first.end(), view.frozen.begin(), view.frozen.end());
  std::vector<MergeSource> sources;
  NewFileRequest request;
  for (const MemtableRef& memtable : newest_first) {
    request.tags = request.tags || memtable->summary().tags != 0;
    request.cells_in += memtable->summary().cells;
    sources.push_back(
        {std::make_unique<UpToCursor>(memtable->cursor(), sequence), static_cast<uint32_t>(sources.size())});
  }
  request.store = &store;
  request.directory = std::move(directory);
  request.elsewhere = true;
  request.config = view.config;
  request.sequence_max = sequence;
  // Nothing is dropped. Without read points every cell is too new to be judged, and at time 0 no cell has
  // expired. The copy therefore shows all cells that the store shows later, whatever the store's clock does.
  return write_merged(request, std::move(sources), {}, {}, 0);
}

}  // namespace cellar
