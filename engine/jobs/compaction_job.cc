// CompactionJob: inputs merged under a compaction judge.
#include "engine/jobs/compaction_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "cell/merging_cursor.h"
#include "engine/jobs/flush_job.h"
#include "engine/store/sequence_check.h"

namespace cellar {
namespace {

// The view's files that the plan names, oldest first.
std::vector<std::shared_ptr<StoreFile>> inputs_of(const StoreView& view, const CompactionPlan& plan) {
  std::vector<std::shared_ptr<StoreFile>> inputs;
  for (const auto& file : view.files)
    if (std::ranges::find(plan.inputs, file->number()) != plan.inputs.end()) inputs.push_back(file);
  return inputs;
}

using InputCursors = std::vector<std::pair<StoreFile*, const CellCursor*>>;

// Inputs that turn out to be damaged are left out of later compactions: reads report them, and everything
// else goes on.
void set_damaged_aside(const StoreWork& work, Store& store, const InputCursors& cursors) {
  for (const auto& [file, cursor] : cursors) {
    const Status status = cursor->status();
    if (!status.is(Code::kCorruption) || !store.set_aside(*file)) continue;
    const Status told = status.hinting(
        "the file is left out of compactions; restore it from a copy and open the store again, or ask for a "
        "major compaction, which reads it once more");
    work.health.trouble(set_aside_name(*file), told, work.world.clock.wall_ms());
    work.world.log(LogLevel::kError, set_aside_name(*file) + ": " + told.to_text());
  }
}

// Everything the rewrite needs to know of its inputs.
void describe_inputs(const std::vector<std::shared_ptr<StoreFile>>& inputs, NewFileRequest& request,
                     CompactionInfo& info, std::vector<MergeSource>& sources, InputCursors& cursors) {
  int64_t oldest_put = INT64_MAX;
  const FileCursorOptions options{.fill_cache = false, .sequential = true, .stats = nullptr};
  for (size_t i = inputs.size(); i-- > 0;) {
    const StoreFile& file = *inputs[i];
    sources.push_back({make_sequence_checking_cursor(file, options), static_cast<uint32_t>(sources.size())});
    cursors.emplace_back(inputs[i].get(), sources.back().cursor.get());
    request.tags = request.tags || file.reader().cell_format().tags;
    request.sequence_max = std::max(request.sequence_max, file.record().sequence_max);
    oldest_put = std::min(oldest_put, file.record().earliest_put);
    info.bytes_in += file.record().bytes;
    info.cells_in += file.record().cells;
  }
  for (const auto& file : inputs) info.inputs.push_back(file->record().name);
  CELLAR_ASSERT(sources.size() == inputs.size() && cursors.size() == inputs.size());
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
               const NewFile& made) {
  ManifestEdit edit;
  CELLAR_ASSERT(!inputs.empty() && made.file == made.rewritten.output);
  for (const auto& input : inputs) edit.remove_files.push_back({store.ids().family, input->record().name});
  if (made.file != nullptr) edit.add_files.push_back({store.ids().family, made.record});
  edit.forget_obsolete = work.files.take_removed();
  const Status committed =
      work.disk.commit(edit);  // crash before: an orphan file; after: the inputs are orphans
  if (!committed.ok()) {
    if (made.file != nullptr) work.files.discard(*made.file);
    return is_gone(work.disk, store) ? Status() : committed;
  }
  work.mvcc.with_snapshots([&](const std::vector<uint64_t>& snapshots) {
    work.counters.views_kept += store.install_compaction(inputs, made.rewritten, snapshots);
  });
  return {};
}

}  // namespace

std::string set_aside_name(const StoreFile& file) { return "damaged file " + file.record().name; }

ShapeOfStore shape_of(const EngineOptions& engine, const Store& store, const StoreView& view,
                      int64_t now_ms) {
  ShapeOfStore result;
  for (const auto& file : view.files) result.files.push_back(info_of(*file));
  result.shape.files = result.files;
  result.shape.now_ms = now_ms;
  result.shape.ttl_ms = view.config->rules.ttl_ms;
  result.shape.min_versions = view.config->rules.min_versions;
  result.shape.flush_bytes = store.flush_bytes(engine);
  // Writers do not count files that were set aside. They count those that a running compaction replaces as
  // one.
  const size_t not_counted = result.files.size() - std::min(result.files.size(), store.file_count());
  result.shape.files_stop = store.files_stop(engine) + static_cast<uint32_t>(not_counted);
  CELLAR_ASSERT(result.files.size() == view.files.size() && result.shape.files_stop > 0);
  return result;
}

Status compact_store(const StoreWork& work, Store& store, const CompactionPlan& plan,
                     const std::function<void()>& turn) {
  std::shared_ptr<const StoreView> view = store.view();
  const std::vector<std::shared_ptr<StoreFile>> inputs = inputs_of(*view, plan);
  if (inputs.size() != plan.inputs.size())
    return Status::busy("the store's files changed after the plan was made");
  NewFileRequest request;
  CompactionInfo info;
  info.table = store.table_name();
  info.family = store.family();
  std::vector<MergeSource> sources;
  InputCursors cursors;
  describe_inputs(inputs, request, info, sources, cursors);
  CELLAR_ASSERT(!inputs.empty());  // a checked plan has some
  request.store = &store;
  request.config = view->config;
  info.major = inputs.size() == view->files.size();
  view.reset();  // it would keep memtables in memory, and files compacted in turns on disk
  request.origin = info.major ? FileOrigin::kMajorCompaction : FileOrigin::kMinorCompaction;
  info.why = plan.why;
  const int64_t begun_us = work.world.clock.steady_us();
  int64_t paced_us = begun_us;  // the pace knows of all compaction time before this
  const auto count_time = [&] { store.pace().compacted(work.world.clock.steady_us() - paced_us); };
  work.world.events.on_compaction_begin(info);
  store.compaction_begins(inputs);

  const OpenReadPoints points = work.mvcc.open_read_points();
  const std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources));
  request.job.source = merged.get();
  request.judge_at(points, outside_of(*store.view(), {}, inputs), erase_now_ms(work.expiry, work.world));
  request.job.rules.all_files = info.major;
  request.job.zero_sequences_up_to = zero_up_to(request, points);
  request.mvcc = request.job.zero_sequences_up_to < request.sequence_max;
  CELLAR_ASSERT(request.job.zero_sequences_up_to <= points.read_point);
  request.job.executor = &work.world.executor;
  request.job.checkpoint = [&](uint64_t cells) {
    work.world.executor.checkpoint();
    info.cells_done = cells;
    work.world.events.on_compaction_progress(info);
    count_time();
    turn();
    paced_us = work.world.clock.steady_us();  // a compaction in the turn has counted its own time
    return work.activity.closing.load() ? Status::aborted("the engine is closing") : Status();
  };
  auto made = work.writer.write(request);
  Status status = made.status();
  if (status.is(Code::kCorruption)) set_damaged_aside(work, store, cursors);
  if (status.ok()) status = publish(work, store, inputs, *made);
  store.compaction_ends(inputs);
  count_time();
  if (status.ok()) {
    work.counters.compactions.fetch_add(1);
    work.counters.bytes_compacted.fetch_add(made->record.bytes);
    info.output = made->record.name;
    info.cells_out = made->record.cells;
    info.bytes_out = made->record.bytes;
  }
  info.cells_done = 0;
  info.micros = work.world.clock.steady_us() - begun_us;
  info.status = status;
  work.world.events.on_compaction_end(info);
  return status;
}

}  // namespace cellar
