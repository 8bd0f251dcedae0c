// TableImpl: resolves names, then hands over to the write path, the readers and the background work.
#include "engine/table_impl.h"

#include <algorithm>

#include "base/assert.h"
#include "cell/cell_codec.h"
#include "engine/jobs/background.h"
#include "engine/jobs/ingest_job.h"
#include "engine/read/actions.h"
#include "engine/read/range_estimate.h"
#include "engine/read/table_reader.h"
#include "engine/trace/traced_operations.h"
#include "engine/write/write_path.h"

namespace cellar {
namespace {

FamilyInfo family_info_of(const Store& store) {
  const std::shared_ptr<const StoreView> view = store.view();
  FamilyInfo info;
  info.options = view->config->options;
  info.id = store.ids().family;
  const auto add = [&](const MemtableRef& memtable) {
    const MemtableSummary summary = memtable->summary();
    info.bytes_put += summary.cell_bytes;
    if (summary.cells == 0) return;
    ++info.memtables;
    info.memtable_cells += summary.cells;
    info.memtable_bytes += summary.bytes;
  };
  if (view->active.get() != nullptr) add(view->active);
  for (const MemtableRef& memtable : view->frozen) add(memtable);
  info.files = infos_of(*view);
  const FamilyTotals& totals = view->totals;
  info.bytes_put += totals.bytes_put;
  info.bytes_flushed = totals.bytes_flushed;
  info.bytes_compacted = totals.bytes_compacted;
  info.bytes_compacted_from = totals.bytes_compacted_from;
  info.flushes = totals.flushes;
  info.compactions = totals.compactions;
  return info;
}

TraceResults results_of(const RowBatch& batch) {
  TraceResults results;
  results.add(batch.row());
  return results;
}

}  // namespace

TableInfo TableImpl::info() const {
  TableInfo info;
  info.name = name();
  info.id = id();
  info.options = options();
  info.second = second();
  for (const auto& store : families().stores) {
    info.families.push_back(family_info_of(*store));
    info.options.families.push_back(info.families.back().options);
  }
  CELLAR_ASSERT(info.families.size() == info.options.families.size());
  return info;
}

Status TableImpl::put(const Put& put, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kPut);
  TraceScope trace(parts_->recorder, put.row());
  Status status = parts_->write_path.put(*this, put, options);
  if (trace) trace_mutation(trace, TraceKind::kPut, name(), put, options, status.code());
  return status;
}

Status TableImpl::erase(const Delete& erase, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kDelete);
  TraceScope trace(parts_->recorder, erase.row());
  Status status = parts_->write_path.erase(*this, erase, options);
  if (trace) trace_mutation(trace, TraceKind::kErase, name(), erase, options, status.code());
  return status;
}

Result<std::vector<int64_t>> TableImpl::increment(const Increment& increment, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kIncrement);
  TraceScope trace(parts_->recorder, increment.row());
  auto done = parts_->write_path.increment(*this, increment, options);
  if (trace) trace_mutation(trace, TraceKind::kIncrement, name(), increment, options, done.status().code());
  return done;
}

Result<Row> TableImpl::append(const Append& append, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kAppend);
  TraceScope trace(parts_->recorder, append.row());
  auto done = parts_->write_path.append(*this, append, options);
  if (trace) trace_mutation(trace, TraceKind::kAppend, name(), append, options, done.status().code());
  return done;
}

Result<Row> TableImpl::mutate(const RowMutations& mutations, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kMutate);
  TraceScope trace(parts_->recorder, mutations.row());
  Result<Row> done = parts_->write_path.mutate(*this, mutations, options);
  if (trace) trace_mutations(trace, name(), mutations, options, done.status().code());
  return done;
}

Result<ActionResult> TableImpl::check_and_mutate(const CheckAndMutate& check, const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kCheck);
  TraceScope trace(parts_->recorder, check.row());
  Result<ActionResult> done = parts_->write_path.check_and_mutate(*this, check, options);
  if (trace) trace_check(trace, name(), check, done.ok() && done->matched, options, done.status().code());
  return done;
}

std::vector<Result<ActionResult>> TableImpl::batch(std::span<const Action> actions,
                                                   const WriteOptions& options) {
  const MeteredScope metered(parts_->world.operations(), Metered::kBatch);
  TraceScope trace(parts_->recorder);
  std::vector<Result<ActionResult>> results = run_batch(actions, options);
  if (trace) trace_actions(trace, name(), actions, results, options);
  return results;
}

std::vector<Result<ActionResult>> TableImpl::run_batch(std::span<const Action> actions,
                                                       const WriteOptions& options) {
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
    return parts_->write_path.write(together, options);
  });
}

Status TableImpl::get_into(const Get& get, RowBatch& batch) {
  const MeteredScope metered(parts_->world.operations(), Metered::kGet);
  TraceScope trace(parts_->recorder, get.row());
  Status status = TableReader(*this).get(get, batch);
  if (trace) trace_get(trace, TraceKind::kGet, name(), get, results_of(batch), status.code());
  return status;
}

Result<RowBatch> TableImpl::get(const Get& get) {
  RowBatch batch;
  CELLAR_TRY(get_into(get, batch));
  return batch;
}

Result<bool> TableImpl::exists(const Get& get) {
  const MeteredScope metered(parts_->world.operations(), Metered::kExists);
  TraceScope trace(parts_->recorder, get.row());
  Result<bool> found = TableReader(*this).exists(get);
  const uint64_t rows = found.ok() && *found ? 1 : 0;
  if (trace) trace_get(trace, TraceKind::kExists, name(), get, {.rows = rows}, found.status().code());
  return found;
}

Result<std::vector<bool>> TableImpl::exists_many(std::span<const Get> gets) {
  const MeteredScope metered(parts_->world.operations(), Metered::kGetMany);
  TraceScope trace(parts_->recorder);
  Result<std::vector<bool>> found = TableReader(*this).exists_many(gets);
  if (trace) {
    const uint64_t rows = found.ok() ? static_cast<uint64_t>(std::ranges::count(*found, true)) : 0;
    trace_gets(trace, TraceKind::kExistsMany, name(), gets, {.rows = rows}, found.status().code());
  }
  return found;
}

Result<std::vector<RowBatch>> TableImpl::get_many(std::span<const Get> gets) {
  const MeteredScope metered(parts_->world.operations(), Metered::kGetMany);
  TraceScope trace(parts_->recorder);
  Result<std::vector<RowBatch>> found = TableReader(*this).get_many(gets);
  if (trace) {
    TraceResults results;
    if (found.ok())
      for (const RowBatch& batch : *found) results.add(batch.row());
    trace_gets(trace, TraceKind::kGetMany, name(), gets, results, found.status().code());
  }
  return found;
}

Result<std::unique_ptr<Scanner>> TableImpl::scan(const Scan& scan) {
  const MeteredScope metered(parts_->world.operations(), Metered::kScanOpen);
  TraceScope trace(parts_->recorder);
  Result<std::unique_ptr<Scanner>> scanner = open_scan(shared_from_this(), scan);
  if (!trace || !scanner.ok()) return scanner;
  return trace_scan(trace, parts_->recorder, name(), scan, std::move(scanner).value());
}

Result<std::vector<std::unique_ptr<Scanner>>> TableImpl::scan_many(std::span<const Scan> scans) {
  const MeteredScope metered(parts_->world.operations(), Metered::kScanOpen);
  TraceScope trace(parts_->recorder);
  Result<std::vector<std::unique_ptr<Scanner>>> scanners = open_scans(shared_from_this(), scans);
  if (!trace || !scanners.ok()) return scanners;
  for (size_t i = 0; i < scans.size(); ++i)
    (*scanners)[i] = trace_scan(trace, parts_->recorder, name(), scans[i], std::move((*scanners)[i]));
  return scanners;
}

Result<RangeEstimate> TableImpl::estimate(const KeyRange& range, const std::vector<std::string>& families) {
  const EstimateRequest request{range.start, range.stop, families};
  CELLAR_TRY_ASSIGN(const auto views, TableReader(*this).views_of(request));
  return estimate_range(request, views);
}

Result<RangeSplits> TableImpl::split_points(size_t parts, const KeyRange& range,
                                            const std::vector<std::string>& families) {
  const EstimateRequest request{range.start, range.stop, families};
  CELLAR_TRY_ASSIGN(const auto views, TableReader(*this).views_of(request));
  return split_range(request, views, parts);
}

Result<IngestInfo> TableImpl::ingest(const IngestRequest& request) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(check_adopting());
  auto done = IngestJob(parts_->work, parts_->write_path, parts_->background, *this, request).run();
  if (!done.ok()) return done.status().with_context("table " + name());
  return done;
}

Status TableImpl::flush(std::string_view family) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(check());
  CELLAR_TRY_ASSIGN(const auto chosen, stores_of(family));
  TraceScope trace(parts_->recorder);
  Status status = parts_->background.flush(chosen).with_context("table " + name());
  if (trace) trace.work(TraceKind::kFlush, name(), family, status.code());
  return status;
}

Status TableImpl::compact_now(std::string_view family, bool major) {
  CELLAR_TRY(check_not_in_observer());
  CELLAR_TRY(check());
  CELLAR_TRY_ASSIGN(const auto chosen, stores_of(family));
  TraceScope trace(parts_->recorder);
  Status status = parts_->background.compact(chosen, major).with_context("table " + name());
  if (trace)
    trace.work(major ? TraceKind::kMajorCompact : TraceKind::kCompact, name(), family, status.code());
  return status;
}

Result<std::optional<CompactionInfo>> TableImpl::next_compaction(std::string_view family, bool major,
                                                                 std::vector<std::string>* trace) {
  CELLAR_TRY(check());
  CELLAR_TRY_ASSIGN(const auto chosen, stores_of(family));
  if (chosen.size() != 1) return Status::invalid_argument("the next compaction is that of one family");
  return parts_->background.next_compaction(*chosen.front(), major, trace);
}

}  // namespace cellar
