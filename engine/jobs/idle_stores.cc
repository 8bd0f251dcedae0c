// Background: which stores need a compaction although nobody writes to them, and when the next one does.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "compaction/scan_plan.h"
#include "engine/jobs/background.h"
#include "engine/store/hidden_reads.h"

namespace cellar {
namespace {

constexpr int64_t kHorizonMs = int64_t{400} * 86'400'000;  // nothing is planned for later
constexpr int64_t kExactMs = 1000;                         // how late a look may come for what is due
constexpr int64_t kLookMsMax = 86'400'000;  // between two looks if something is due, because clocks are set
constexpr int64_t kDoubtMsMax = 3'600'000;  // the same while the clock is not believed (ExpiryClock)

}  // namespace

// Returns how long until a compaction of the store is due, if nothing is written until then. Returns 0 if one
// is due now, and nothing if none is within kHorizonMs. A policy is a function of the files and of the time.
// So it is asked for later times. A plan that is due at one time is due later, too. So the first time is
// found by doubling, and then by halving.
std::optional<int64_t> Background::next_due_ms(Store& store) {
  if (due_in(store, 0) != Due::kNo) return 0;
  int64_t before = 0;
  int64_t at = kExactMs;
  while (due_in(store, at) == Due::kNo) {
    if (at > kHorizonMs) return std::nullopt;
    before = at;
    at *= 2;
  }
  while (at - before > kExactMs) {
    const int64_t middle = before + (at - before) / 2;
    (due_in(store, middle) == Due::kNo ? before : at) = middle;
  }
  CELLAR_ASSERT(at > 0);
  return at;
}

// Returns a compaction that scans have paid for, or nothing. The scans call again when it is worth it.
std::optional<CompactionPlan> Background::plan_for_scans_of(const StoreView& view,
                                                            const StoreShape& shape) const {
  if (view.hidden_reads == nullptr || shape.files.empty()) return std::nullopt;
  const HiddenReads::Tally tally = view.hidden_reads->tally();
  const FamilyOptions& family = view.config->options;
  // A compaction keeps the markers of such families.
  if (tally.cells < HiddenReads::kCellsMin || family.keep_deleted_cells != KeepDeleted::kFalse ||
      family.time_to_purge_deletes_ms > 0)
    return std::nullopt;
  ScanPlan made = plan_for_scans(*view.config->policy, shape,
                                 {.cells = tally.cells,
                                  .first_row = tally.first_row,
                                  .last_row = tally.last_row,
                                  .all_files = family.delete_order == MarkerOrder::kSequence});
  CELLAR_ASSERT(!made.plan || tally.cells >= made.worth_at);
  // The markers may still be in memory, so scans call again although no compaction would help now.
  const uint64_t worth_at = made.worth_at == UINT64_MAX ? 2 * tally.cells : made.worth_at;
  if (!made.plan) view.hidden_reads->call_at(std::max(worth_at, tally.cells + HiddenReads::kCellsMin));
  return std::move(made.plan);
}

// Flushes the store if scans have examined more deleted cells in vain than its memtables have cells, and
// markers are there. No compaction reaches these.
void Background::flush_hidden(const std::shared_ptr<Store>& store) {
  const std::shared_ptr<const StoreView> view = store->view();
  if (view->hidden_reads == nullptr || view->active.get() == nullptr || !view->frozen.empty() ||
      !work_.world.options.automatic_flush)
    return;
  const MemtableSummary memory = view->active->summary();
  if (memory.deletes < HiddenReads::kCellsMin / 2 || view->hidden_reads->tally().cells < memory.cells) return;
  const Status status = write_path_.alone([&] {
    if (!store->dropped()) write_path_.freeze(*store);
    return Status();
  });
  if (status.ok() && store->frozen_count() != 0) queue_flush(store);
}

// Queues compactions that are due: first those that only drop files, then those of the stores with most runs.
// Returns the time until the next look in microseconds. The end of a compaction asks for a look of its own.
std::optional<int64_t> Background::look_at_idle_stores() {
  const EngineOptions& options = work_.world.options;
  if (!options.automatic_compaction || options.read_only || work_.activity.closing.load() ||
      work_.health.failed())
    return std::nullopt;
  struct DueStore {
    std::shared_ptr<Store> store;
    bool drops = false;
    size_t runs = 0;
  };
  std::vector<DueStore> due;
  int64_t next_ms = INT64_MAX;
  for (const auto& store : catalog_.stores()) {
    if (!store->compaction_enabled()) continue;
    flush_hidden(store);
    if (store->bytes() == 0) continue;
    const std::optional<int64_t> store_ms = next_due_ms(*store);
    if (!store_ms) continue;
    if (*store_ms == 0) {
      due.push_back({store, due_in(*store, 0) == Due::kDrop, store->run_count()});
    } else {
      next_ms = std::min(next_ms, *store_ms);
    }
  }
  std::ranges::stable_sort(due, [](const DueStore& a, const DueStore& b) {
    return a.drops != b.drops ? a.drops : a.runs > b.runs;
  });
  for (DueStore& each : due) queue_compaction(std::move(each.store));
  if (next_ms == INT64_MAX) return std::nullopt;
  CELLAR_ASSERT(next_ms > 0);
  const bool doubted = work_.expiry.read().ahead_ms != 0;
  return std::min(next_ms, doubted ? kDoubtMsMax : kLookMsMax) * 1000;
}

}  // namespace cellar
