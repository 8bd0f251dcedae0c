// CompactionJob: inputs merged under a compaction judge, moved, or dropped.
#include "engine/jobs/compaction_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "cell/merging_cursor.h"
#include "engine/jobs/compaction_parts.h"
#include "engine/jobs/flush_job.h"
#include "engine/read/run_files_cursor.h"
#include "engine/store/sequence_check.h"

namespace cellar {
namespace {

// RowRange: rows from `first` on, before `end`. An empty one is open.
struct RowRange {
  std::string_view first;
  std::string_view end;
};

// InputFiles: the inputs of one run. Their cells are checked against the record of their file.
class InputFiles final : public RunFiles {
 public:
  // Borrows the files. Files without rows in the range are not opened.
  InputFiles(std::span<const std::shared_ptr<StoreFile>> files, const RowRange& range,
             const FileCursorOptions& options)
      : files_(files), range_(range), options_(options) {
    CELLAR_ASSERT(!files_.empty());
    for (const auto& file : files_) rows_.push_back(rows_of(*file));
  }
  bool wants(size_t at) override {
    return rows_[at].last >= range_.first && (range_.end.empty() || rows_[at].first < range_.end);
  }
  std::unique_ptr<RunCursor> open(size_t at) override {
    opened_ = at;
    return make_sequence_checking_cursor(*files_[at], options_);
  }

  std::span<const FileRows> rows() const { return rows_; }
  // Returns the file that was opened last. A rewrite only moves forward, so an error of the cursor is that
  // file's.
  StoreFile& opened() const { return *files_[opened_]; }

 private:
  const std::span<const std::shared_ptr<StoreFile>> files_;
  const RowRange range_;
  const FileCursorOptions options_;
  std::vector<FileRows> rows_;
  size_t opened_ = 0;
};

// The cursor of a run of inputs, and the files that it owns. Both live as long as the merge.
struct InputRun {
  const CellCursor* cursor = nullptr;
  const InputFiles* files = nullptr;
};

// MergePart: a range of rows of a merge, and what became of it.
struct MergePart {
  RowRange range;
  std::vector<InputRun> runs = {};
  std::unique_ptr<CellCursor> merged = {};  // the runs
  Status status = {};
  NewFiles made = {};
};

// Returns the parts between these rows, which they borrow.
std::vector<MergePart> parts_between(const std::vector<std::string>& borders) {
  std::vector<MergePart> parts(borders.size() + 1);
  for (size_t i = 0; i < borders.size(); ++i) parts[i].range.end = parts[i + 1].range.first = borders[i];
  CELLAR_ASSERT(parts.front().range.first.empty() && parts.back().range.end.empty());
  return parts;
}

// Inputs that turn out to be damaged are left out of later compactions: reads report them, and everything
// else goes on.
void set_damaged_aside(const StoreWork& work, Store& store, const std::vector<InputRun>& runs) {
  for (const InputRun& run : runs) {
    const Status status = run.cursor->status();
    StoreFile& file = run.files->opened();
    if (!status.is(Code::kCorruption) || !store.set_aside(file)) continue;
    const Status told = status.hinting(
        "the file is left out of compactions; restore it from a copy and open the store again, or ask for a "
        "major compaction, which reads it once more");
    work.health.trouble(set_aside_name(file), told, work.world.clock.wall_ms());
    work.world.log(LogLevel::kError, set_aside_name(file) + ": " + told.to_text());
  }
}

// Returns whether a run that is older than the output has rows between the first and the last of the inputs.
bool has_older_rows(const StoreView& view, const CompactionPlan& plan, const CompactionInputs& inputs) {
  const RowHull hull = hull_of(inputs.files);
  for (const FileRun& run : view.runs) {
    const std::span files = std::span(view.files).subspan(run.begin, run.size());
    if (plan.run != 0 ? run.run == plan.run : std::ranges::find(files, inputs.files.front()) != files.end())
      return false;
    for (const auto& file : files)
      if (hull.meets(file->record()) && std::ranges::find(inputs.files, file) == inputs.files.end())
        return true;
  }
  CELLAR_ASSERT(false && "the plan was not checked: its output has no run");
  return true;
}

CompactionInputs inputs_of(const StoreView& view, const CompactionPlan& plan) {
  const std::unordered_set<uint64_t> wanted(plan.inputs.begin(), plan.inputs.end());
  CompactionInputs inputs;
  for (const FileRun& run : view.runs) {
    std::vector<std::shared_ptr<StoreFile>> files;
    for (size_t i = run.begin; i < run.end; ++i)
      if (wanted.contains(view.files[i]->number())) files.push_back(view.files[i]);
    if (files.empty()) continue;
    if (files.size() == run.size() && (plan.run == 0 || run.run != plan.run)) ++inputs.whole_runs;
    inputs.files.insert(inputs.files.end(), files.begin(), files.end());
    inputs.runs.push_back(std::move(files));
  }
  inputs.all_files = inputs.files.size() == view.files.size();
  if (inputs.files.empty()) return inputs;
  inputs.nothing_older = !has_older_rows(view, plan, inputs);
  return inputs;
}

// Opens cursors over the part's rows of the inputs.
void open_inputs(const CompactionInputs& inputs, MergePart& part) {
  const FileCursorOptions options{
      .fill_cache = false, .sequential = true, .stats = nullptr, .span_cells = 32};
  std::vector<MergeSource> sources;
  for (size_t i = inputs.runs.size(); i-- > 0;) {
    auto files = std::make_unique<InputFiles>(inputs.runs[i], part.range, options);
    InputRun& run = part.runs.emplace_back();
    run.files = files.get();
    const std::span<const FileRows> rows = files->rows();
    std::unique_ptr<CellCursor> cursor = make_run_files_cursor(rows, std::move(files));
    run.cursor = cursor.get();
    sources.push_back({std::move(cursor), static_cast<uint32_t>(sources.size())});
  }
  CELLAR_ASSERT(sources.size() == inputs.runs.size() && part.runs.size() == inputs.runs.size());
  part.merged = make_merging_cursor(std::move(sources));
}

// Notes everything that the rewrite needs to know of its inputs.
void describe_inputs(const CompactionInputs& inputs, NewFileRequest& request, CompactionInfo& info) {
  int64_t oldest_put = INT64_MAX;
  request.inputs = inputs.files;
  for (const auto& file : inputs.files) {
    request.cells_in += file->record().cells;
    request.tags = request.tags || file->reader().cell_format().tags;
    request.sequence_max = std::max(request.sequence_max, file->record().sequence_max);
    oldest_put = std::min(oldest_put, file->record().earliest_put);
    info.bytes_in += file->record().bytes;
    info.cells_in += file->record().cells;
    info.inputs.push_back(file->record().name);
  }
  CELLAR_ASSERT(!request.inputs.empty());
  request.job.rules.oldest_put_ts = oldest_put;
}

// Sequences tell writes apart only for readers older than the newest of them: below every open read point
// they become 0.
uint64_t zero_up_to(const NewFileRequest& request, const OpenReadPoints& points) {
  if (request.origin != FileOrigin::kMajorCompaction ||
      request.config->rules.delete_order == MarkerOrder::kSequence)
    return 0;
  CELLAR_ASSERT(points.snapshots.empty() || points.snapshots.front() < points.read_point);
  return points.snapshots.empty() ? points.read_point : points.snapshots.front();
}

Status publish(const StoreWork& work, Store& store, const std::vector<std::shared_ptr<StoreFile>>& inputs,
               const NewFiles& made) {
  ManifestEdit edit;
  CELLAR_ASSERT(!inputs.empty());
  for (const auto& input : inputs) edit.remove_files.push_back({store.ids().family, input->record().name});
  edit.add_files = made.changes(store);
  edit.work.push_back({store.ids().family, made.rewritten.work});
  const Status committed =
      work.files.commit(edit);  // crash before: orphan files; after: the inputs are orphans
  if (!committed.ok()) {
    for (const auto& file : made.files()) file->set_obsolete();
    return is_gone(work.disk, store) ? Status() : committed;
  }
  work.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    work.counters.views_kept += store.install_compaction(inputs, made.rewritten, snapshots);
  });
  return {};
}

// A new run gets a number of its own, as files do: no other run can have it.
Status move_files(const StoreWork& work, Store& store, const CompactionPlan& plan,
                  const CompactionInputs& inputs, CompactionInfo& info) {
  CELLAR_ASSERT(inputs.runs.size() == 1 && plan.level > 0);
  const uint64_t run = plan.run != 0 ? plan.run : work.disk.manifest->next_file_number();
  for (const auto& file : inputs.files) info.inputs.push_back(file->record().name);
  info.moved = true;
  work.world.events.on_compaction_begin(info);
  ManifestEdit edit;
  for (const auto& file : inputs.files)
    edit.move_files.push_back({store.ids().family, file->record().name, run, plan.level});
  const Status committed = work.disk.commit(edit);
  if (!committed.ok()) return is_gone(work.disk, store) ? Status() : committed;
  store.install_move(inputs.files, run, plan.level);
  work.counters.compactions.fetch_add(1);
  for (const auto& file : inputs.files) {
    StoreFileInfo& moved = info.outputs.emplace_back(info_of(*file));
    moved.run = run;
    moved.level = plan.level;
  }
  return {};
}

// Returns the time before which cells have expired as a rewrite of some files judges them, or INT64_MIN. A
// family whose deletes are ordered by sequence loses nothing in such rewrites, see CompactionJudge.
int64_t erase_before_ms(const FamilyRules& rules, int64_t erase_ms) {
  CELLAR_ASSERT(rules.ttl_ms >= 0);
  if (rules.ttl_ms == kTtlForeverMs || rules.min_versions != 0 ||
      rules.delete_order == MarkerOrder::kSequence)
    return INT64_MIN;
  int64_t before = 0;
  return __builtin_sub_overflow(erase_ms, rules.ttl_ms, &before) ? INT64_MIN : before;
}

int64_t earliest_in_memory(const StoreView& view) {
  int64_t earliest = INT64_MAX;
  if (view.active.get() != nullptr) earliest = view.active->summary().timestamp_min;
  for (const MemtableRef& memtable : view.frozen)
    earliest = std::min(earliest, memtable->summary().timestamp_min);
  return earliest;
}

}  // namespace

std::string set_aside_name(const StoreFile& file) { return "damaged file " + file.record().name; }

void set_times(StoreShape& shape, const FamilyRules& rules, int64_t now_ms, int64_t erase_ms) {
  CELLAR_ASSERT(rules.ttl_ms == shape.ttl_ms);
  shape.now_ms = now_ms;
  shape.erase_before_ms = erase_before_ms(rules, erase_ms);
}

ShapeOfStore shape_of(const EngineOptions& engine, const Store& store, const StoreView& view, int64_t now_ms,
                      int64_t erase_ms) {
  ShapeOfStore result;
  result.files = infos_of(view);
  result.shape.files = result.files;
  result.shape.ttl_ms = view.config->rules.ttl_ms;
  result.shape.min_versions = view.config->rules.min_versions;
  result.shape.flush_bytes = store.flush_bytes(engine);
  set_times(result.shape, view.config->rules, now_ms, erase_ms);
  result.shape.earliest_in_memory = earliest_in_memory(view);
  // Writers do not count runs that were set aside. They count those that a running compaction replaces as
  // one.
  const size_t not_counted = view.runs.size() - std::min(view.runs.size(), store.run_count());
  result.shape.files_stop = store.files_stop(engine) + static_cast<uint32_t>(not_counted);
  CELLAR_ASSERT(result.files.size() == view.files.size() && result.shape.files_stop > 0);
  return result;
}

namespace {

// Returns whether nothing older is left of the rows, so that markers may go. outside_of() tells of younger
// cells, in memory or in files. As in HBase, a compaction of some neighbours in age keeps markers, even of
// the oldest ones. But policies with levels hardly ever merge all files.
bool is_final(const CompactionInputs& inputs, uint32_t level) {
  return inputs.all_files || (level > 0 && inputs.nothing_older);
}

// Decides what the compaction of the inputs may drop.
void judge_inputs(const StoreWork& work, const Store& store, const CompactionInputs& inputs,
                  const OpenReadPoints& points, NewFileRequest& request) {
  const bool final = is_final(inputs, request.level);
  request.origin = final ? FileOrigin::kMajorCompaction : FileOrigin::kMinorCompaction;
  request.judge_at(points, outside_of(*store.view(), {}, inputs.files),
                   erase_now_ms(work.expiry, work.world));
  request.job.rules.all_files = final;
  request.job.zero_sequences_up_to = zero_up_to(request, points);
  request.mvcc = request.job.zero_sequences_up_to < request.sequence_max;
  CELLAR_ASSERT(request.job.zero_sequences_up_to <= points.read_point);
}

// The inputs leave. Nobody sees cells that have expired. Other cells stay visible to the snapshots that are
// open, and reads that began before the drop start over.
Status drop_files(const StoreWork& work, Store& store, const CompactionPlan& plan,
                  const CompactionInputs& inputs, CompactionInfo& info) {
  CELLAR_ASSERT(plan.drop && !plan.move);
  info.dropped = true;
  for (const auto& file : inputs.files) info.inputs.push_back(file->record().name);
  work.world.events.on_compaction_begin(info);
  NewFiles nothing;
  nothing.rewritten.rewritten_at = work.mvcc.open_read_points().read_point;
  nothing.rewritten.dropped_live = plan.drop_live;
  const Status status = publish(work, store, inputs.files, nothing);
  if (!status.ok()) return status;
  work.counters.compactions.fetch_add(1);
  work.counters.files_dropped.fetch_add(inputs.files.size());
  for (const auto& file : inputs.files) {
    info.cells_in += file->record().cells;
    info.bytes_in += file->record().bytes;
  }
  return {};
}

// Writes the files of a part. After a failure the part's cursors stay, to tell which input is damaged.
Status write_part(const StoreWork& work, const CompactionInputs& inputs, NewFileRequest request,
                  const PartCheckpoint& checkpoint, MergePart& part) {
  CELLAR_ASSERT(part.merged == nullptr && part.made.files().empty());
  open_inputs(inputs, part);
  request.job.source = part.merged.get();
  request.job.first_row = part.range.first;
  request.job.end_row = part.range.end;
  request.job.checkpoint = checkpoint;
  Result<NewFiles> made = work.writer.write(request);
  part.status = made.status();
  if (!made.ok()) return part.status;
  part.made = *std::move(made);
  part.runs.clear();
  part.merged.reset();
  return {};
}

// Returns the files of all parts as those of one rewrite.
NewFiles put_together(std::vector<MergePart>& parts) {
  CELLAR_ASSERT(!parts.empty());
  NewFiles all = std::move(parts.front().made);
  for (size_t i = 1; i < parts.size(); ++i) {
    NewFiles& made = parts[i].made;
    all.rewrite.cells_in += made.rewrite.cells_in;
    for (size_t k = 0; k < kDropReasons; ++k) all.rewrite.dropped[k] += made.rewrite.dropped[k];
    all.rewrite.files.insert(all.rewrite.files.end(), made.rewrite.files.begin(), made.rewrite.files.end());
    Store::Rewritten& sum = all.rewritten;
    sum.outputs.insert(sum.outputs.end(), made.files().begin(), made.files().end());
    sum.newest_dropped_marker = std::max(sum.newest_dropped_marker, made.rewritten.newest_dropped_marker);
    sum.dropped_versions = sum.dropped_versions || made.rewritten.dropped_versions;
    sum.dropped_any = sum.dropped_any || made.rewritten.dropped_any;
    CELLAR_ASSERT(sum.rewritten_at == made.rewritten.rewritten_at);
    CELLAR_ASSERT(sum.knew_snapshots == made.rewritten.knew_snapshots);
  }
  all.rewrite.newest_dropped_marker = all.rewritten.newest_dropped_marker;
  return all;
}

// Writes the parts, several at a time. If one fails, no new file is left.
Result<NewFiles> write_parts(const StoreWork& work, Store& store, const CompactionInputs& inputs,
                             const NewFileRequest& request, std::vector<MergePart>& parts,
                             const std::function<void(uint64_t cells)>& progress) {
  const auto write = [&](size_t part, const PartCheckpoint& checkpoint) {
    return write_part(work, inputs, request, checkpoint, parts[part]);
  };
  const Status status = run_parts(work.world.executor, parts.size(), write, progress);
  if (status.ok()) return put_together(parts);
  for (const MergePart& part : parts) {
    CELLAR_ASSERT(part.status.ok() || part.made.files().empty());
    if (part.status.is(Code::kCorruption)) set_damaged_aside(work, store, part.runs);
    for (const auto& file : part.made.files()) file->set_obsolete();
  }
  return status;
}

// Merges the inputs, and publishes what is left.
Status merge_files(const StoreWork& work, Store& store, const CompactionPlan& plan,
                   const CompactionInputs& inputs, std::shared_ptr<const FamilyConfig> config,
                   const std::function<void()>& turn, CompactionInfo& info) {
  NewFileRequest request;
  request.store = &store;
  request.config = std::move(config);
  request.level = plan.level;
  request.job.file_bytes = plan.file_bytes;
  request.job.file_starts = plan.file_starts;
  describe_inputs(inputs, request, info);
  const std::vector<std::string> borders = part_borders(work.world.options, plan, inputs.runs);
  std::vector<MergePart> parts = parts_between(borders);
  info.parts = parts.size();
  // The files of all parts are one run. It needs its number before the first file has one.
  request.run = plan.run != 0 || parts.size() == 1 ? plan.run : work.disk.manifest->next_file_number();
  const auto count_time = [&] {
    store.pace().compacted(store.take_compaction_us(work.world.clock.steady_us()));
  };
  count_time();
  work.world.events.on_compaction_begin(info);

  const OpenReadPoints points = work.mvcc.open_read_points();
  judge_inputs(work, store, inputs, points, request);
  request.job.executor = &work.world.executor;
  request.job.cancel = &work.activity.closing;
  auto made = write_parts(work, store, inputs, request, parts, [&](uint64_t cells) {
    info.cells_done = cells;
    work.world.events.on_compaction_progress(info);
    count_time();
    turn();
  });
  Status status = made.status();
  if (status.ok()) {
    made->rewritten.work = {
        .bytes_compacted = made->bytes(), .bytes_compacted_from = info.bytes_in, .compactions = 1};
    status = publish(work, store, inputs.files, *made);
  }
  count_time();
  if (status.is(Code::kAborted)) return Status::aborted("the engine is closing");
  // A store that was dropped meanwhile has no directory for the output, and needs none.
  if (!status.ok()) return is_gone(work.disk, store) ? Status() : status;
  work.counters.compactions.fetch_add(1);
  work.counters.bytes_compacted.fetch_add(made->bytes());
  for (const auto& file : made->files()) info.outputs.push_back(info_of(*file));
  info.cells_out = made->cells();
  info.bytes_out = made->bytes();
  return status;
}

}  // namespace

std::optional<ClaimedCompaction> ClaimedCompaction::claim(Store& store, const CompactionPlan& plan) {
  const std::shared_ptr<const StoreView> view = store.view();
  // Since the plan was made, compactions that ran have ended, and the table may have been dropped.
  if (plan.run != 0 && std::ranges::find(view->runs, plan.run, &FileRun::run) == view->runs.end())
    return std::nullopt;
  CompactionInputs inputs = inputs_of(*view, plan);
  if (inputs.files.size() != plan.inputs.size()) return std::nullopt;
  CELLAR_ASSERT(!inputs.files.empty());  // a checked plan has some
  const int64_t added = plan.drop || plan.run != 0 ? 0 : 1;
  const int64_t replaced = plan.move ? 0 : inputs.whole_runs - added;
  const uint64_t number = store.compaction_begins(inputs.files, replaced, plan.run);
  if (number == 0) return std::nullopt;
  return ClaimedCompaction(store, std::move(inputs), view->config, number);
}

void ClaimedCompaction::release() {
  if (number_ != 0) store_->compaction_ends(inputs_.files, number_);
  number_ = 0;
}

Status compact_store(const StoreWork& work, Store& store, const CompactionPlan& plan,
                     ClaimedCompaction claimed, const std::function<void()>& turn) {
  CompactionInfo info;
  info.table = store.table_name();
  info.family = store.family();
  info.major = !plan.drop && is_final(claimed.inputs(), plan.level);
  info.why = plan.why;
  const int64_t begun_us = work.world.clock.steady_us();
  const CompactionInputs& inputs = claimed.inputs();
  const Status status = plan.drop   ? drop_files(work, store, plan, inputs, info)
                        : plan.move ? move_files(work, store, plan, inputs, info)
                                    : merge_files(work, store, plan, inputs, claimed.config(), turn, info);
  claimed.release();
  info.cells_done = 0;
  info.micros = work.world.clock.steady_us() - begun_us;
  info.status = status;
  if (status.ok()) work.totals.note(store);
  work.world.events.on_compaction_end(info);
  return status;
}

}  // namespace cellar
