// Background: which stores need a compaction although nobody writes to them, and when the next one does.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/pages.h"
#include "compaction/plan.h"
#include "engine/jobs/background.h"
#include "engine/jobs/compaction_job.h"
#include "engine/jobs/store_plans.h"
#include "engine/store/hidden_reads.h"

namespace cellar {
namespace {

constexpr int64_t kHorizonMs = int64_t{400} * 86'400'000;  // nothing is planned for later
constexpr int64_t kExactMs = 1000;                         // how late a look may come for what is due
constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kHourMs = 3'600'000;    // no off-peak time is shorter
constexpr int64_t kLookMsMax = kDayMs;    // between two looks if something is due, because clocks are set
constexpr int64_t kDoubtMsMax = kHourMs;  // the same while the clock is not believed (ExpiryClock)

int64_t later(int64_t ms, int64_t by_ms) {
  int64_t result = 0;
  return __builtin_add_overflow(ms, by_ms, &result) ? INT64_MAX : result;
}

}  // namespace

// The files of a store and their shape, at any time from now on.
struct Background::IdleShape {
  IdleShape(const StoreWork& work, const Store& store)
      : view(store.view()),
        now_ms(work.mvcc.now_ms()),
        erase_ms(work.expiry.read().ms),
        of(shape_of(work.world.options, store, *view, now_ms, erase_ms)) {}

  const std::shared_ptr<const StoreView> view;
  const int64_t now_ms;
  const int64_t erase_ms;
  ShapeOfStore of;
};

Background::Due Background::due_in(IdleShape& idle, int64_t ms) const {
  CELLAR_ASSERT(ms >= 0);
  StoreShape& shape = idle.of.shape;
  set_times(shape, idle.view->config->rules, later(idle.now_ms, ms), later(idle.erase_ms, ms));
  if (work_.world.options.drop_expired_files && expired_plan(shape)) return Due::kDrop;
  if (ms == 0 && plan_for_scans_of(*idle.view, shape)) return Due::kMerge;
  return plan_by_time(work_.world.options, *idle.view, shape, true, nullptr) ? Due::kMerge : Due::kNo;
}

// Returns how long until a compaction of the store is due, if nothing is written until then. Returns nothing
// if none is within kHorizonMs. None is due now. A policy is a function of the files and of the time. So it
// is asked for later times. Most plans that are due at one time are due later, too. Plans of off-peak hours
// are not, so the first day is searched hour by hour. Then the time is found by doubling, and by halving.
std::optional<int64_t> Background::next_due_ms(IdleShape& idle) const {
  int64_t before = 0;
  int64_t at = kExactMs;
  while (due_in(idle, at) == Due::kNo) {
    if (at > kHorizonMs) return std::nullopt;
    before = at;
    at = at < kDayMs ? std::min(2 * at, at + kHourMs) : 2 * at;
  }
  while (at - before > kExactMs) {
    const int64_t middle = before + (at - before) / 2;
    (due_in(idle, middle) == Due::kNo ? before : at) = middle;
  }
  CELLAR_ASSERT(at > 0);
  return at;
}

// Flushes the store if scans have examined more deleted cells in vain than its memtables have cells, and
// markers are there. No compaction reaches these.
void Background::flush_hidden(const std::shared_ptr<Store>& store) {
  const std::shared_ptr<const StoreView> view = store->view();
  if (!may_compact_for_scans(*view) || view->active.get() == nullptr || !view->frozen.empty() ||
      !work_.world.options.automatic_flush)
    return;
  const MemtableSummary memory = view->active->summary();
  if (memory.deletes < HiddenReads::kCellsMin / 2 || !view->hidden_reads->pays_flush_of(memory.cells)) return;
  const Status status = write_path_.alone([&] {
    if (!store->dropped()) write_path_.freeze(*store);
    return Status();
  });
  if (status.ok() && store->frozen_count() != 0) queue_flush(store);
}

// Queues compactions that are due: first those that only drop files, then those of the stores with most runs.
// Returns the time until the next look in microseconds. The end of a compaction asks for a look of its own.
std::optional<int64_t> Background::begin_due_compactions() {
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
    if (work_.activity.closing.load()) return std::nullopt;
    if (const auto reads = store->view()->hidden_reads; reads != nullptr) reads->looked();
    if (!store->compaction_enabled()) continue;
    flush_hidden(store);
    if (store->bytes() == 0) continue;
    IdleShape idle(work_, *store);
    if (const Due now = due_in(idle, 0); now != Due::kNo) {
      due.push_back({store, now == Due::kDrop, store->run_count()});
    } else {
      next_ms = std::min(next_ms, next_due_ms(idle).value_or(INT64_MAX));
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

void Background::make_pages_ready() {
  note_pages();
  // The job uses nothing of the engine, which need not wait for it.
  work_.world.executor.submit(JobPriority::kHigh, [] { SparePages::make_ready(SparePages::kReadyBytes); });
}

// Gives the memory of flushed memtables back if nobody in the process has used it since the last call.
// Returns the time until the next call. Blocks that readers hold, or that other engines use, may come back at
// any time.
std::optional<int64_t> Background::release_spare_pages() {
  const bool awaited = work_.memory.held_bytes() > 0;  // asked first: a reader may let go of it now
  const bool used_here = pages_used_.exchange(false, std::memory_order_relaxed);
  const uint64_t uses = SparePages::uses();
  const bool used = std::exchange(spare_uses_, uses) != uses;
  if (!used) SparePages::release();
  if (used && used_here) return kSparePagesUs;
  return used || awaited ? std::optional(IdleWatch::kSettleUs) : std::nullopt;
}

}  // namespace cellar
