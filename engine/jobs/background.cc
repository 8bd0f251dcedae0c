// Background: queues jobs on the executor and waits for them through one event.
#include "engine/jobs/background.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/assert.h"
#include "compaction/plan.h"
#include "engine/jobs/compaction_job.h"
#include "engine/jobs/counted_plans.h"
#include "engine/jobs/feeds.h"
#include "engine/jobs/flush_job.h"
#include "engine/jobs/prefetch_job.h"
#include "engine/jobs/store_plans.h"

namespace cellar {
namespace {

// A job that fails is tried again after a second, then after twice as long each time.
constexpr int64_t kRetryUs = 1'000'000;
constexpr int64_t kRetryUsMax = 60'000'000;

int64_t retry_delay_us(int failures) {
  CELLAR_ASSERT(failures > 0);
  return std::min(kRetryUsMax, kRetryUs << std::min(failures - 1, 6));
}

std::string name_of(std::string_view job, const Store& store) {
  return fmt::format("{} of {}:{}", job, store.table_name(), store.family());
}

// Returns the delete markers in these files.
uint64_t deletes_of(const std::vector<StoreFileInfo>& files, const std::vector<uint64_t>& ids) {
  CELLAR_ASSERT(!ids.empty());
  uint64_t count = 0;
  for (const StoreFileInfo& file : files)
    if (std::ranges::find(ids, file.id) != ids.end()) count += file.deletes;
  return count;
}

uint64_t deletes_in(const Store& store) {
  const std::shared_ptr<const StoreView> view = store.view();
  uint64_t count = 0;
  for (const auto& file : view->files) count += file->record().deletes;
  return count;
}

}  // namespace

void Background::queue_flush(std::shared_ptr<Store> store) {
  {
    MutexLock lock(store->work_mutex());
    if (store->work().flush_queued || store->work().flush_runs) return;
    store->work().flush_queued = true;
  }
  job_begins();
  work_.world.executor.submit(JobPriority::kHigh, [this, store = std::move(store)]() mutable {
    run_flush(store);
    store.reset();
    job_ended();
  });
}

void Background::run_flush(const std::shared_ptr<Store>& store) {
  {
    MutexLock lock(store->work_mutex());
    CELLAR_ASSERT(store->work().flush_queued);
    store->work().flush_queued = false;
    if (store->work().flush_runs) return;  // flush_here() was faster, and looks after what is left
    store->work().flush_runs = true;
  }
  const Status status = work_.health.failed() ? work_.health.check() : flush_store(work_, *store);
  // Before anybody hears that the flush has ended: who does may flush again, and end the trouble.
  if (!status.ok()) after_flush_failure(store, status);
  const bool refused = !status.ok() && work_.health.failed();
  end_flush(*store, status);
  // Engine::resume() may have been called while the flush still counted as running.
  if (refused && !work_.health.failed()) queue_flush(store);
  if (!status.ok()) return;
  log_release_.run();
  if (store->frozen_count() != 0) queue_flush(store);
  relieve_memory();  // other stores may hold most of it
  queue_prefetch(store);
  queue_compaction(store);
}

void Background::note_dropped(const Store& store, uint64_t sequence) {
  CELLAR_ASSERT(sequence > 0 || work_.mvcc.read_point() == 0);
  log_release_.note_dropped(store.ids().family, sequence);
  note_pages();
  for (const std::string_view job : {"flush", "compaction"}) work_.health.over(name_of(job, store));
  const std::shared_ptr<const StoreView> view = store.view();
  for (const auto& file : view->files) work_.health.over(set_aside_name(*file));
}

void Background::claim_flush(Store& store) {
  CELLAR_ASSERT(mutexes_held() == 0);
  while (true) {
    const uint64_t seen = work_.activity.changed.count();
    {
      MutexLock lock(store.work_mutex());
      if (!std::exchange(store.work().flush_runs, true)) return;
    }
    work_.activity.changed.wait(seen, -1);
  }
}

void Background::end_flush(Store& store, const Status& status) {
  {
    MutexLock lock(store.work_mutex());
    Store::Work& work = store.work();
    CELLAR_ASSERT(work.flush_runs);
    work.flush_runs = false;
    work.flush_status = status;
    ++work.flushes_ended;
    work.flush_failures = status.ok() ? 0 : work.flush_failures + 1;
  }
  if (status.ok()) {
    work_.health.over(name_of("flush", store));
    drop_retries(store, true);
  }
  work_.activity.changed.signal();
  idle_watch_.note();
  note_pages();
}

// The log still has everything: a later try writes a new file.
void Background::after_flush_failure(const std::shared_ptr<Store>& store, const Status& status) {
  CELLAR_ASSERT(!status.ok());
  if (work_.health.failed()) return;
  int failures = 1;
  {
    MutexLock lock(store->work_mutex());
    CELLAR_ASSERT(store->work().flush_runs);  // until end_flush()
    failures += store->work().flush_failures;
  }
  work_.world.log(LogLevel::kError, "flush failed: " + status.to_text());
  work_.health.trouble(name_of("flush", *store), status, work_.world.clock.wall_ms());
  work_.world.events.on_background_error(status);
  if (!work_.world.options.automatic_flush) return;
  retry_later({store, true, work_.world.clock.steady_us() + retry_delay_us(failures)}, status);
}

void Background::retry_later(Retry retry, const Status& status) {
  CELLAR_ASSERT(retry.store != nullptr && !status.ok());
  const int64_t delay_us = std::max<int64_t>(0, retry.due_us - work_.world.clock.steady_us());
  {
    MutexLock lock(jobs_mutex_);
    if (work_.activity.closing.load()) return;  // nothing holds the store after stop_timers()
    // One for each store: every compaction of it that fails at the same time comes here.
    std::erase_if(retries_,
                  [&](const Retry& each) { return each.store == retry.store && each.flush == retry.flush; });
    retries_.push_back(std::move(retry));
    retry_status_ = status;
  }
  work_.activity.changed.signal();
  retry_alarm_.set(delay_us);
}

void Background::drop_retries(const Store& store, bool flush) {
  MutexLock lock(jobs_mutex_);
  std::erase_if(retries_,
                [&](const Retry& each) { return each.store.get() == &store && each.flush == flush; });
}

bool Background::retry_waits(const Store& store) {
  const int64_t now = work_.world.clock.steady_us();
  MutexLock lock(jobs_mutex_);
  return std::ranges::any_of(retries_, [&](const Retry& each) {
    return each.store.get() == &store && !each.flush && !each.may_be_earlier && each.due_us > now;
  });
}

std::optional<int64_t> Background::queue_due() {
  const int64_t now = work_.world.clock.steady_us();
  std::vector<Retry> due;
  int64_t next_us = INT64_MAX;
  {
    MutexLock lock(jobs_mutex_);
    ++jobs_;  // until the retries that are due count as jobs
    if (work_.activity.closing.load() || work_.health.failed()) retries_.clear();
    for (Retry& each : retries_) {
      if (each.due_us <= now) due.push_back(std::move(each));
    }
    std::erase_if(retries_, [](const Retry& each) { return each.store == nullptr; });
    for (const Retry& each : retries_) next_us = std::min(next_us, each.due_us - now);
  }
  for (Retry& each : due)
    each.flush ? queue_flush(std::move(each.store)) : queue_compaction(std::move(each.store));
  job_ended();
  return next_us == INT64_MAX ? std::nullopt : std::optional(next_us);
}

// A job that waits for its next try is tried now.
void Background::resume() {
  forget_retries();
  for (const auto& store : catalog_.stores()) {
    if (store->frozen_count() != 0) queue_flush(store);
    queue_prefetch(store);
    queue_compaction(store);
  }
  log_release_.run();
}

Status Background::flush(const std::vector<std::shared_ptr<Store>>& stores) {
  if (work_.world.options.read_only) return Status::read_only("the store was opened read-only");
  CELLAR_TRY(work_.health.check());
  CELLAR_ASSERT(mutexes_held() == 0);
  std::vector<uint64_t> ended(stores.size());
  for (size_t i = 0; i < stores.size(); ++i) {
    MutexLock lock(stores[i]->work_mutex());
    // One that runs already may have failed for what is over by now: it does not count.
    ended[i] = stores[i]->work().flushes_ended + (stores[i]->work().flush_runs ? 1 : 0);
  }
  std::vector<uint64_t> newest(stores.size());  // of what is to be flushed
  CELLAR_TRY(write_path_.alone([&] {
    for (size_t i = 0; i < stores.size(); ++i) {
      if (!stores[i]->dropped()) write_path_.freeze(*stores[i]);
      newest[i] = stores[i]->newest_frozen();
    }
    return Status();
  }));
  for (size_t i = 0; i < stores.size(); ++i) {
    const std::shared_ptr<Store>& store = stores[i];
    uint64_t ended_before = UINT64_MAX;  // the flush that did it may not have ended
    while (true) {
      const uint64_t seen = work_.activity.changed.count();
      {
        MutexLock lock(store->work_mutex());
        const uint64_t now_ended = store->work().flushes_ended;
        if (now_ended > ended[i] && !store->work().flush_status.ok()) return store->work().flush_status;
        // Others write meanwhile. Their memtables are not waited for.
        const bool done = store->flushed_sequence() >= newest[i] || store->frozen_count() == 0;
        if (done && (!store->work().flush_runs || now_ended > ended_before)) break;
        if (done) ended_before = std::min(ended_before, now_ended);
      }
      queue_flush(store);
      work_.activity.changed.wait(seen, -1);
    }
  }
  return {};
}

Status Background::flush_here(const std::shared_ptr<Store>& store) {
  write_path_.freeze(*store);
  claim_flush(*store);
  const Status status = flush_store(work_, *store);
  end_flush(*store, status);
  CELLAR_ASSERT(!status.ok() || store->dropped() || store->oldest_unflushed() == UINT64_MAX);
  if (store->frozen_count() != 0)
    queue_flush(store);  // it failed, and is tried again by the rules of flushes
  queue_prefetch(store);
  return status;
}

void Background::queue_compaction(std::shared_ptr<Store> store) {
  if (!work_.world.options.automatic_compaction || !store->compaction_enabled() ||
      work_.world.options.read_only || work_.activity.closing.load() || work_.health.failed())
    return;
  idle_watch_.note();
  if (!wants_compaction(*store)) return;
  job_begins();
  work_.world.executor.submit(JobPriority::kLow, [this, store = std::move(store)]() mutable {
    run_automatic_compaction(store);
    store.reset();
    job_ended();
  });
}

struct Background::Picked {
  ShapeOfStore of;
  std::optional<CompactionPlan> plan;
  std::optional<HiddenReads::Tally> for_scans = {};  // the plan is for the scans of these rows
};

// Asks the policy here, not in the job: writers that have too many files know at once whether to wait.
bool Background::wants_compaction(Store& store) {
  // A compaction that failed is tried again even if the policy has no plan any more. Only a compaction that
  // succeeds ends the trouble.
  const bool failed = store.compactions() == Store::Compactions::kFail;
  if (failed && retry_waits(store)) return false;
  const bool wanted = failed || pick(store, Wanted::kAutomatic).plan.has_value();
  MutexLock lock(store.work_mutex());
  Store::Work& work = store.work();
  CELLAR_ASSERT(work.compactions >= 0 && work.compaction_requests >= 0);
  if (work.compaction_requests > 0) work.compaction_again = true;
  if (work.compaction_queued || work.compaction_requests > 0) return false;
  // A compaction that runs may help, whatever the policy says meanwhile.
  if (work.compactions == 0 && store.compactions() != Store::Compactions::kFail)
    store.note_compactions(wanted ? Store::Compactions::kMayHelp : Store::Compactions::kNotWanted);
  work.compaction_queued = wanted;
  return wanted;
}

void Background::run_automatic_compaction(const std::shared_ptr<Store>& store) {
  bool alone = false;
  {
    MutexLock lock(store->work_mutex());
    Store::Work& work = store->work();
    CELLAR_ASSERT(work.compaction_queued);
    work.compaction_queued = false;
    if (work.compaction_requests > 0) {  // one on request was faster
      work.compaction_again = true;
      return;
    }
    alone = ++work.compactions == 1;
  }
  const Status status = work_.activity.closing.load() || work_.health.failed()
                            ? Status()
                            : run_compactions(*store, Wanted::kAutomatic);
  end_compaction(store, status, alone ? Job::kAlone : Job::kBesideOthers);
}

void Background::end_compaction(const std::shared_ptr<Store>& store, const Status& status, Job job) {
  const bool failed = !status.ok() && !status.is(Code::kAborted);
  const bool automatic = job != Job::kOnRequest;
  // A job that found no plan while others ran says nothing about the store: their files were busy. If it
  // compacted some, run_compactions() has noted that.
  const bool tells = failed || job != Job::kBesideOthers;
  bool again = false;
  // The result is recorded before any thread learns that the compaction has ended, as with flushes. A
  // compaction on request reports its failure to its caller.
  if (!failed && tells) {
    compaction_succeeded(*store);
  } else if (failed && automatic) {
    after_compaction_failure(store, status);
  }
  {
    MutexLock lock(store->work_mutex());
    Store::Work& work = store->work();
    CELLAR_ASSERT(work.compactions > 0);
    --work.compactions;
    if (!automatic) --work.compaction_requests;
    CELLAR_ASSERT(automatic || (work.compactions == 0 && work.compaction_requests >= 0));
    if (tells) work.compaction_failures = failed ? work.compaction_failures + 1 : 0;
    if (work.compaction_requests == 0) again = std::exchange(work.compaction_again, false);
    again = again || (failed && !automatic);
    // wants_compaction() notes what the policy says when it is asked again.
    if (!failed && work.compactions == 0 && (tells || store->compactions() != Store::Compactions::kFail))
      store->note_compactions(Store::Compactions::kNotWanted);
    if (failed && automatic) store->note_compactions(Store::Compactions::kFail);
  }
  work_.activity.changed.signal();
  idle_watch_.note();
  if (again) queue_compaction(store);
}

void Background::compaction_succeeded(Store& store) {
  store.note_compactions(Store::Compactions::kMayHelp);
  work_.health.over(name_of("compaction", store));
  drop_retries(store, false);
}

void Background::after_compaction_failure(const std::shared_ptr<Store>& store, const Status& status) {
  CELLAR_ASSERT(!status.ok() && !status.is(Code::kAborted));
  if (work_.health.failed()) return;
  work_.health.trouble(name_of("compaction", *store), status, work_.world.clock.wall_ms());
  work_.world.log(LogLevel::kError, "compaction failed: " + status.to_text());
  work_.world.events.on_background_error(status);
  int failures = 1;
  {
    MutexLock lock(store->work_mutex());
    CELLAR_ASSERT(store->work().compactions > 0);  // until end_compaction()
    failures += store->work().compaction_failures;
  }
  // A damaged file was set aside: the next compaction has other inputs.
  const bool may_be_earlier = status.is(Code::kCorruption);
  retry_later({store, false, work_.world.clock.steady_us() + retry_delay_us(failures), may_be_earlier},
              status);
}

// Turns: while a long compaction runs, compactions of newer files take turns with it on its thread. Without
// them, files would pile up until the long compaction ends, and writers would wait. Turns get at most a third
// of the time, because the inputs of the long compaction stay on disk until it ends. They get more when
// writers would have to wait.
class Background::Turns {
 public:
  Turns(Background& background, Store& store, int depth)
      : background_(background), work_(background.work_), store_(store), depth_(depth) {
    CELLAR_ASSERT(depth >= 0 && depth <= kDepthMax);
  }

  void operator()() {
    const int64_t now_us = work_.world.clock.steady_us();
    if (depth_ == kDepthMax || failed_ || now_us - looked_us_ < kLookUs) return;
    looked_us_ = now_us;
    const bool tight = store_.run_count() + kTightFiles >= store_.files_stop(work_.world.options);
    if (3 * turns_us_ > now_us - begun_us_ && !tight) return;
    if (!work_.world.options.automatic_compaction || !store_.compaction_enabled() ||
        work_.activity.closing.load())
      return;
    if (!files_came()) return;
    // The policy picks a failed compaction again after the long one. Its failure is reported then.
    failed_ = !background_.compact_next(store_, Wanted::kPolicy, depth_ + 1).ok();
    turns_us_ += work_.world.clock.steady_us() - now_us;
  }

 private:
  // Returns true if the newest file differs from the newest file at the last call.
  bool files_came() {
    const std::shared_ptr<const StoreView> view = store_.view();
    const uint64_t newest = view->files.empty() ? 0 : view->files.back()->number();
    return std::exchange(newest_seen_, newest) != newest;
  }

  static constexpr int kDepthMax = 3;
  static constexpr int64_t kLookUs = 20'000;
  static constexpr size_t kTightFiles = 2;  // so many files before files_stop, turns get more time

  Background& background_;
  const StoreWork& work_;
  Store& store_;
  int depth_;  // how many compactions take turns around this one
  const int64_t begun_us_ = work_.world.clock.steady_us();
  int64_t turns_us_ = 0;
  bool failed_ = false;
  int64_t looked_us_ = begun_us_ - kLookUs;
  uint64_t newest_seen_ = 0;
};

Result<std::optional<CompactionPlan>> Background::compact_next(Store& store, Wanted wanted, int depth) {
  CompactionPlan plan;
  std::optional<ClaimedCompaction> claimed;
  uint64_t markers = 0;  // of a compaction for scans
  {
    MutexLock lock(store.plan_mutex());
    Picked picked = pick(store, wanted);
    if (!picked.plan) return std::nullopt;
    CELLAR_TRY(check_picked(store, picked));
    plan = *std::move(picked.plan);
    claimed = ClaimedCompaction::claim(store, plan);
    if (claimed && picked.for_scans) {
      markers = std::max<uint64_t>(1, deletes_of(picked.of.files, plan.inputs));
      store.view()->hidden_reads->forget(*picked.for_scans);
      work_.counters.scan_compactions.fetch_add(1);
    }
  }
  if (!claimed) return std::nullopt;  // the compaction that it waits for asks the policy again
  // Another thread may compact other files meanwhile. After a failure, one try at a time is enough.
  if (wanted == Wanted::kAutomatic && store.compactions() != Store::Compactions::kFail)
    queue_compaction(store.shared_from_this());
  const uint64_t before = deletes_in(store);
  CELLAR_TRY(compact_store(work_, store, plan, *std::move(claimed), Turns(*this, store, depth)));
  // Flushes meanwhile may add some: the answer need not be exact.
  if (markers != 0)
    store.view()->hidden_reads->note_compaction(before - std::min(before, deletes_in(store)) >= markers / 2);
  work_.activity.changed.signal();
  queue_prefetch(store.shared_from_this());
  return plan;
}

// A view pins memtables and files: nothing holds one while a compaction is carried out.
Background::Picked Background::pick(Store& store, Wanted wanted, std::vector<std::string>* trace) {
  const std::shared_ptr<const StoreView> view = store.view();
  const EngineOptions& engine = work_.world.options;
  Picked result{shape_of(engine, store, *view, work_.mvcc.now_ms(), work_.expiry.read().ms), {}};
  const StoreShape& shape = result.of.shape;
  CELLAR_ASSERT(shape.files.size() == view->files.size());
  // A damaged file may keep a level from giving files away: writers do not slow down for such a debt.
  const bool damaged = std::ranges::any_of(view->files, [](const auto& file) { return file->is_aside(); });
  store.note_debt_bytes(damaged ? 0 : view->config->policy->debt_bytes(shape));
  // First, so that no compaction reads what leaves as a whole.
  if (engine.drop_expired_files) result.plan = expired_plan(shape);
  if (result.plan) return result;
  if (wanted == Wanted::kMajor) {
    result.plan = major_plan(*view->config->policy, shape, true);
    return result;
  }
  if (wanted == Wanted::kAutomatic) {
    if (std::optional<PlanForScans> made = plan_for_scans_of(*view, shape)) {
      result.plan = std::move(made->plan);
      result.for_scans = std::move(made->of);
      return result;
    }
  }
  result.plan = plan_by_time(engine, *view, shape, wanted == Wanted::kAutomatic, trace);
  return result;
}

Status Background::check_picked(const Store& store, const Picked& picked) {
  CELLAR_ASSERT(picked.plan.has_value());
  const bool whole = picked.for_scans || picked.plan->inputs.size() == picked.of.files.size();
  const Status fits = check_plan(*picked.plan, picked.of.shape, whole);
  if (fits.ok()) return fits;
  return fits.with_context("policy " + store.view()->config->options.compaction)
      .hinting(fmt::format("the policy is wrong: it takes files {}, because: {}",
                           fmt::join(picked.plan->inputs, ", "), picked.plan->why));
}

Result<std::optional<CompactionInfo>> Background::next_compaction(Store& store, bool major,
                                                                  std::vector<std::string>* trace) {
  Picked picked;
  {
    MutexLock lock(store.plan_mutex());
    picked = pick(store, major ? Wanted::kMajor : Wanted::kPolicy, trace);
    if (!picked.plan) return std::nullopt;
    CELLAR_TRY(check_picked(store, picked));
  }
  CompactionInfo info;
  info.table = store.table_name();
  info.family = store.family();
  info.why = picked.plan->why;
  info.moved = picked.plan->move;
  info.dropped = picked.plan->drop;
  const std::vector<uint64_t>& inputs = picked.plan->inputs;
  for (const StoreFileInfo& file : picked.of.files) {
    if (std::ranges::find(inputs, file.id) == inputs.end()) continue;
    info.inputs.push_back(file.name);
    info.cells_in += file.cells;
    info.bytes_in += file.bytes;
  }
  CELLAR_ASSERT(info.inputs.size() == inputs.size());
  return info;
}

Status Background::run_compactions(Store& store, Wanted wanted) {
  CELLAR_ASSERT(mutexes_held() == 0);
  CountedPlans plans;
  while (!is_gone(work_.disk, store)) {
    if (wanted == Wanted::kAutomatic && (!store.compaction_enabled() || request_waits(store))) return {};
    CELLAR_TRY_ASSIGN(const std::optional<CompactionPlan> plan, compact_next(store, wanted, 0));
    if (!plan) return {};
    compaction_succeeded(store);  // now, because there may be no end while files come
    if (wanted == Wanted::kPolicy) CELLAR_TRY(plans.check(store, *plan, work_.counters.flushes.load()));
    if (wanted == Wanted::kMajor && !plan->drop) return {};
  }
  return {};
}

bool Background::request_waits(Store& store) {
  MutexLock lock(store.work_mutex());
  CELLAR_ASSERT(store.work().compactions > 0);
  if (store.work().compaction_requests == 0) return false;
  store.work().compaction_again = true;
  return true;
}

// A major compaction on request reads again what an earlier one set aside.
void Background::take_back(Store& store) {
  const std::shared_ptr<const StoreView> view = store.view();
  for (const auto& file : view->files)
    if (store.take_back(*file)) work_.health.over(set_aside_name(*file));
}

// Waits until no compaction of the store runs, and keeps others from running until end_compaction().
void Background::claim_compactions(Store& store) {
  CELLAR_ASSERT(mutexes_held() == 0);
  {
    MutexLock lock(store.work_mutex());
    ++store.work().compaction_requests;
  }
  while (true) {
    const uint64_t seen = work_.activity.changed.count();
    {
      MutexLock lock(store.work_mutex());
      if (store.work().compactions == 0) {
        store.work().compactions = 1;
        store.note_compaction_comes();
        return;
      }
    }
    work_.activity.changed.wait(seen, -1);
  }
}

Status Background::compact(const std::vector<std::shared_ptr<Store>>& stores, bool major) {
  if (work_.world.options.read_only) return Status::read_only("the store was opened read-only");
  CELLAR_TRY(work_.health.check());
  for (const auto& store : stores)
    CELLAR_TRY(compact_alone(store, major).with_context("family " + store->family()));
  return {};
}

Status Background::compact_alone(const std::shared_ptr<Store>& store, bool major) noexcept {
  claim_compactions(*store);
  if (major) take_back(*store);
  Status status = run_compactions(*store, major ? Wanted::kMajor : Wanted::kPolicy);
  end_compaction(store, status, Job::kOnRequest);
  return status;
}

void Background::queue_prefetch(std::shared_ptr<Store> store) {
  if (work_.activity.closing.load() || !wants_prefetch(work_.world, store->view()->config->options)) return;
  {
    MutexLock lock(store->work_mutex());
    store->work().prefetch_again = true;
    if (std::exchange(store->work().prefetch_runs, true)) return;
  }
  job_begins();
  submit_prefetch(std::make_shared<PrefetchJob>(work_.world, work_.activity, std::move(store)));
}

// After each piece it goes to the end of the queue: compactions that wait there come first.
void Background::submit_prefetch(std::shared_ptr<PrefetchJob> job) {
  CELLAR_ASSERT(job != nullptr);
  work_.world.executor.submit(JobPriority::kLow, [this, job = std::move(job)]() mutable {
    if (job->turn()) return submit_prefetch(std::move(job));
    job.reset();
    job_ended();
  });
}

int64_t Background::memory_relieved_at() const {
  const int64_t room = work_.memory.room(static_cast<int64_t>(work_.world.options.memtable_bytes_total));
  return room - room / 8;
}

bool Background::relief_is_due() const {
  return work_.memory.bytes() >= memory_relieved_at() ||
         work_.disk.wal->current_segment() != segment_seen_.load(std::memory_order_relaxed);
}

void Background::relieve_memory() {
  const EngineOptions& options = work_.world.options;
  if (!options.automatic_flush || options.read_only || work_.activity.closing.load() ||
      work_.health.failed() || work_.memory.bytes() < memory_relieved_at())
    return;
  // Not ok if the engine has failed meanwhile: no flush could succeed.
  static_cast<void>(write_path_.alone([&] { return relieve_memory_and_log(), Status(); }).ok());
}

// Returns true if a flush of the store will free memory soon. One that failed may fail again for a long time.
bool Background::flush_is_under_way(Store& store) {
  MutexLock lock(store.work_mutex());
  CELLAR_ASSERT(store.work().flush_failures >= 0);
  return store.frozen_count() != 0 && store.work().flush_failures == 0;
}

// Freezes memtables, the largest first, until their flushes free enough memory. A flush that ended since the
// caller looked may have freed enough already.
void Background::freeze_largest(const std::vector<std::shared_ptr<Store>>& stores) {
  std::vector<Store*> largest;
  for (const auto& store : stores)
    if (store->active() != nullptr && store->active()->summary().cells != 0 && store->frozen_count() == 0)
      largest.push_back(store.get());
  std::ranges::sort(largest, std::greater(), [](Store* store) { return store->active()->bytes(); });
  int64_t excess = work_.memory.bytes() - memory_relieved_at();
  if (excess < 0) return;
  for (Store* store : largest) {
    CELLAR_ASSERT(store->frozen_count() == 0);
    excess -= static_cast<int64_t>(store->active()->bytes());
    write_path_.freeze(*store);
    queue_flush(store->shared_from_this());
    if (excess < 0) break;
  }
}

// A flush that is under way frees memory, and asks again when it ends. No more memtables are cut small
// meanwhile.
void Background::relieve_memory_and_log() {
  const uint64_t segment = work_.disk.wal->current_segment();
  CELLAR_ASSERT(segment >= segment_seen_.load(std::memory_order_relaxed));
  const bool short_of_memory = work_.memory.bytes() >= memory_relieved_at();
  const bool rolled = segment_seen_.exchange(segment, std::memory_order_relaxed) != segment;
  if (!short_of_memory && !rolled) return;
  const std::vector<std::shared_ptr<Store>> stores = catalog_.stores();
  if (short_of_memory &&
      std::ranges::none_of(stores, [](const auto& store) { return flush_is_under_way(*store); }))
    freeze_largest(stores);
  const uint64_t segments_max = std::max<uint64_t>(
      8, 2 * work_.world.options.memtable_bytes_total / work_.world.options.log_segment_bytes);
  if (!rolled || log_release_.unflushed_segments() <= segments_max) return;
  const auto oldest =
      std::ranges::min_element(stores, {}, [](const auto& store) { return store->oldest_unflushed(); });
  if (oldest == stores.end() || (*oldest)->frozen_count() != 0) return;
  write_path_.freeze(**oldest);
  queue_flush(*oldest);
}

Status Background::wait_idle() {
  CELLAR_ASSERT(mutexes_held() == 0);
  while (true) {
    const uint64_t seen = work_.activity.changed.count();
    {
      MutexLock lock(jobs_mutex_);
      if (jobs_ == 0) {
        if (retries_.empty() || work_.activity.closing.load() || work_.health.failed()) break;
        // The next attempt is far away, and may never succeed.
        return retry_status_.with_context("a background job failed and will be retried; the last attempt");
      }
    }
    work_.activity.changed.wait(seen, -1);
  }
  work_.files.wait_for_removals();
  return work_.health.check();
}

}  // namespace cellar
