// Replay: workers that go through their share of the plan.
#include "tools/trace/replay.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace cellar {
namespace {

class MachineClock final : public ReplayClock {
 public:
  int64_t now_ns() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void wait_until(int64_t ns) override {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns)));
  }
};

// One thread of a replay.
class Worker {
 public:
  Worker(const ReplayPlan& plan, const ReplayOptions& options, ReplayClock& clock, uint32_t number,
         std::unique_ptr<ReplayTarget> target)
      : plan_(plan),
        options_(options),
        clock_(clock),
        values_(options.seed + number, options.noise),
        target_(std::move(target)) {}

  void add(const ReplayPlan::Item& item) { items_.push_back(&item); }

  void run(int64_t begin_ns, int64_t first_start_ns) {
    constexpr int64_t kSliceNs = 100'000'000;  // between two looks at `stopping`
    TraceOperation operation;
    for (size_t i = 0; i < items_.size() && !report_.stopped; ++i) {
      status_ = plan_.read(*items_[i], operation);
      if (!status_.ok()) return;
      if (options_.speed > 0) {
        const auto offset =
            static_cast<int64_t>(static_cast<double>(operation.start_ns - first_start_ns) / options_.speed);
        int64_t now = clock_.now_ns();
        while (now < begin_ns + offset && !(report_.stopped = options_.stopping())) {
          clock_.wait_until(std::min(begin_ns + offset, now + kSliceNs));
          now = clock_.now_ns();
        }
        report_.latest_ns = std::max(report_.latest_ns, now - begin_ns - offset);
      }
      report_.stopped = report_.stopped || ((i & 255) == 0 && options_.stopping());
      if (!report_.stopped) run_one(operation);
    }
  }

  const Status& status() const { return status_; }
  ReplayReport& report() { return report_; }

 private:
  void run_one(const TraceOperation& operation) {
    ReplayFound found;
    const int64_t begin = clock_.now_ns();
    const Status status = carry_out(operation, found);
    const int64_t end = clock_.now_ns();
    ReplayKind& kind = report_.kinds[operation.kind];
    if (!status.ok() && kind.failed++ == 0) kind.first_failure = status;
    kind.replayed.push_back(static_cast<uint64_t>(end - begin));
    kind.recorded.push_back(operation.duration_ns);
    ++report_.operations;
    report_.recorded_end_ns =
        std::max(report_.recorded_end_ns, operation.start_ns + static_cast<int64_t>(operation.duration_ns));
    add(report_.found, found);
    add(report_.recorded, {operation.rows, operation.cells, operation.bytes});
  }

  Status carry_out(const TraceOperation& operation, ReplayFound& found) {
    switch (operation.kind) {
      case TraceKind::kGet:
      case TraceKind::kExists:
        return operation.entries.empty() ? Status() : target_->get(operation.entries.front(), found);
      case TraceKind::kGetMany:
      case TraceKind::kExistsMany:
        return target_->get_many(operation.entries, found);
      case TraceKind::kScan:
        return target_->scan(operation.scan, operation.rows, found);
      case TraceKind::kFlush:
      case TraceKind::kCompact:
      case TraceKind::kMajorCompact:
        return target_->work(operation);
      default:
        return target_->write(operation, values_, found);
    }
  }

  static void add(ReplayFound& to, const ReplayFound& more) {
    to.rows += more.rows;
    to.cells += more.cells;
    to.bytes += more.bytes;
  }

  const ReplayPlan& plan_;
  const ReplayOptions& options_;
  ReplayClock& clock_;
  ReplayValues values_;
  std::unique_ptr<ReplayTarget> target_;
  std::vector<const ReplayPlan::Item*> items_;
  ReplayReport report_;
  Status status_;
};

void merge(ReplayReport& to, ReplayReport& from) {
  for (auto& [kind, measured] : from.kinds) {
    ReplayKind& all = to.kinds[kind];
    if (all.failed == 0) all.first_failure = measured.first_failure;
    all.failed += measured.failed;
    all.replayed.insert(all.replayed.end(), measured.replayed.begin(), measured.replayed.end());
    all.recorded.insert(all.recorded.end(), measured.recorded.begin(), measured.recorded.end());
    measured = {};
  }
  to.operations += from.operations;
  to.found.rows += from.found.rows;
  to.found.cells += from.found.cells;
  to.found.bytes += from.found.bytes;
  to.recorded.rows += from.recorded.rows;
  to.recorded.cells += from.recorded.cells;
  to.recorded.bytes += from.recorded.bytes;
  to.latest_ns = std::max(to.latest_ns, from.latest_ns);
  to.recorded_end_ns = std::max(to.recorded_end_ns, from.recorded_end_ns);
  to.stopped = to.stopped || from.stopped;
}

// Gives each item to its worker.
void distribute(const ReplayPlan& plan, bool as_recorded, std::vector<std::unique_ptr<Worker>>& workers) {
  std::map<uint32_t, size_t> of_thread;
  for (const uint32_t thread : plan.threads()) of_thread.emplace(thread, of_thread.size() % workers.size());
  for (const ReplayPlan::Item& item : plan.items())
    workers[as_recorded ? of_thread[item.thread] : item.row_hash % workers.size()]->add(item);
}

}  // namespace

ReplayClock& machine_replay_clock() {
  static MachineClock clock;
  return clock;
}

uint64_t time_at(const std::vector<uint64_t>& ascending, double percent) {
  if (ascending.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(ascending.size())));
  return ascending[std::clamp<size_t>(rank, 1, ascending.size()) - 1];
}

Result<ReplayReport> replay(const ReplayPlan& plan,
                            const std::function<std::unique_ptr<ReplayTarget>()>& make_target,
                            const ReplayOptions& options, ReplayClock& clock) {
  ReplayReport report;
  if (plan.items().empty()) return report;
  const size_t wanted = options.threads != 0 ? options.threads : plan.threads().size();
  report.threads = static_cast<uint32_t>(std::clamp<size_t>(wanted, 1, kReplayThreadsMax));
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < report.threads; ++i)
    workers.push_back(std::make_unique<Worker>(plan, options, clock, i, make_target()));
  distribute(plan, options.threads == 0, workers);
  const int64_t first = plan.items().front().start_ns;
  const int64_t begin = clock.now_ns();
  if (workers.size() == 1) {
    workers.front()->run(begin, first);
  } else {
    std::vector<std::thread> threads;
    for (const auto& worker : workers) threads.emplace_back([&, begin] { worker->run(begin, first); });
    for (std::thread& thread : threads) thread.join();
  }
  report.seconds = static_cast<double>(clock.now_ns() - begin) / 1e9;
  for (const auto& worker : workers) {
    CELLAR_TRY(worker->status());
    merge(report, worker->report());
  }
  report.recorded_seconds = static_cast<double>(report.recorded_end_ns - first) / 1e9;
  for (auto& [kind, measured] : report.kinds) {
    std::ranges::sort(measured.replayed);
    std::ranges::sort(measured.recorded);
  }
  return report;
}

}  // namespace cellar
