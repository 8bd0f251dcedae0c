// The phases of a run: load, operate, settle, check.
#include "tools/experiment/run_performance.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/workload/counted_files.h"
#include "bench/workload/course.h"
#include "bench/workload/data.h"
#include "cellar/engine.h"
#include "tools/experiment/run_sampler.h"
#include "tools/experiment/store_session.h"
#include "tools/frame/output.h"
#include "tools/frame/session.h"
#include "tools/frame/version.h"

namespace cellar {
namespace {

constexpr uint64_t kSamplesOfRun = 50;  // in a run
constexpr const char* kRunTable = "t";

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

class Performance {
 public:
  Performance(const ExperimentPlan& plan, const ExperimentRun& run, std::string path,
              const std::function<void(double)>& progress)
      : configuration_(plan.configurations[run.configuration]),
        sized_(plan.workloads[run.workload]),
        workload_(sized_.workload),
        path_(std::move(path)),
        progress_(progress) {
    workload_.seed = run.seed;
    record_.identity = run.identity;
    record_.workload = sized_.label;
    record_.configuration = configuration_.label;
    record_.options = configuration_.options;
    record_.fields = sized_.fields();
    record_.round = run.round;
    record_.seed = run.seed;
    record_.begun = time_text(system_clock().wall_ms());
    record_.version = kVersion;
    record_.processor = processor_name();
    record_.cores = std::thread::hardware_concurrency();
  }

  Result<RunRecord> perform() {
    CELLAR_TRY(open());
    Status status = work();
    sampler_.reset();
    table_.reset();
    const Status closed = engine_->close();
    CELLAR_TRY(status);
    CELLAR_TRY(closed);
    return std::move(record_);
  }

 private:
  Status open() {
    EngineOptions options = configuration_.engine;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.environment.files = &files_;
    CELLAR_TRY_ASSIGN(engine_, Engine::open(path_, options));
    TableOptions table;
    table.families = {configuration_.family};
    CELLAR_TRY_ASSIGN(table_, engine_->create_table(kRunTable, table));
    sampler_ = std::make_unique<RunSampler>(*engine_, *table_, files_);
    return {};
  }

  Status work() {
    CELLAR_TRY_ASSIGN(course_, bench::Course::make(workload_, sized_.rows));
    total_ = sized_.rows + (workload_.seconds > 0 ? 0 : workload_.total_ops(sized_.rows));
    CELLAR_TRY(load());
    CELLAR_TRY(operate());
    CELLAR_TRY(settle());
    return check();
  }

  // Waits until everything is in files, and no compaction is due.
  Status rest() {
    CELLAR_TRY(table_->flush());
    return engine_->wait_for_background();
  }

  Status load() {
    const auto begun = std::chrono::steady_clock::now();
    StoreSession session(*engine_, table_);
    uint64_t bytes_put = 0;
    session.on_batch([&](uint64_t rows) {
      sampler_->add(rows, session.calls().bytes_put - bytes_put);
      bytes_put = session.calls().bytes_put;
      show_progress();
    });
    sampler_->begin(true, total_ / kSamplesOfRun, 0);
    course_->load(session);
    CELLAR_TRY(session.status());
    const double seconds = sampler_->seconds();
    CELLAR_TRY(rest());
    sampler_->end(seconds);
    record_.load_seconds = seconds_since(begun);
    calls_ += session.calls();
    after_load_ = sampler_->sample();
    record_.load_write_amplification = ratio(after_load_.bytes_written, after_load_.bytes_put);
    if (course_->time_to_live() != 0) {
      FamilyOptions family = configuration_.family;
      family.ttl_s = course_->time_to_live();
      CELLAR_TRY(engine_->alter_family(kRunTable, family));
    }
    return warm();
  }

  // Reads everything once, unmeasured, so that the cache is as full as it will be.
  Status warm() {
    StoreSession session(*engine_, table_);
    bench::Tally all;
    session.scan({}, all);
    return session.status();
  }

  // Thread 0 is this one.
  Status operate() {
    std::vector<Status> ends(workload_.threads);
    std::vector<std::unique_ptr<StoreSession>> sessions;
    std::vector<std::unique_ptr<bench::Client>> clients;
    for (uint64_t i = 0; i < workload_.threads; ++i) {
      sessions.push_back(std::make_unique<StoreSession>(*engine_, table_));
      clients.push_back(course_->client(*sessions.back(), i));
    }
    const uint64_t read_before = *files_.bytes().read;
    const uint64_t loaded = sampler_->operations();
    loading_ = false;
    sampler_->begin(false, total_ / kSamplesOfRun, workload_.seconds / kSamplesOfRun);
    std::vector<std::thread> threads;
    for (uint64_t i = 1; i < workload_.threads; ++i)
      threads.emplace_back([&, i] { ends[i] = step_all(*clients[i], *sessions[i], false); });
    ends[0] = step_all(*clients[0], *sessions[0], true);
    for (std::thread& thread : threads) thread.join();
    record_.seconds = sampler_->seconds();
    record_.operations = sampler_->operations() - loaded;
    double in_calls = 0;
    for (const auto& client : clients)
      in_calls += client->work().seconds / static_cast<double>(workload_.threads);
    record_.rate = in_calls > 0 ? static_cast<double>(record_.operations) / in_calls : 0;
    record_.bytes_read = *files_.bytes().read - read_before;
    for (const Status& end : ends)
      if (!end.is(Code::kAborted)) CELLAR_TRY(end);  // the cause, and not the threads that it stopped
    for (const Status& end : ends) CELLAR_TRY(end);
    StoreCalls of_operations;
    for (const auto& session : sessions) of_operations += session->calls();
    keep_reads(of_operations);
    calls_ += of_operations;
    return {};
  }

  Status step_all(bench::Client& client, StoreSession& session, bool shows_progress) {
    const uint64_t each = workload_.total_ops(sized_.rows) / workload_.threads;
    uint64_t bytes_put = 0;
    for (uint64_t i = 0; workload_.seconds > 0 ? sampler_->seconds() < workload_.seconds : i < each; ++i) {
      Status status = interrupted() || stop_.load() ? interrupted_status("the run was left") : client.step();
      // A store that failed answers wrongly: its error is the cause.
      if (!session.status().ok()) status = session.status();
      if (!status.ok()) {
        stop_ = true;
        return status;
      }
      sampler_->add(1, session.calls().bytes_put - bytes_put);
      bytes_put = session.calls().bytes_put;
      if (shows_progress && (i & 63) == 0) show_progress();
    }
    return {};
  }

  void show_progress() {
    const double loaded =
        static_cast<double>(std::min(sampler_->operations(), sized_.rows)) / static_cast<double>(sized_.rows);
    if (workload_.seconds <= 0) {
      progress_(static_cast<double>(sampler_->operations()) /
                static_cast<double>(std::max<uint64_t>(total_, 1)));
    } else {  // nobody knows how long loading takes: it counts as a tenth
      progress_(loaded * 0.1 + (loading_ ? 0 : 0.9 * std::min(sampler_->seconds() / workload_.seconds, 1.0)));
    }
  }

  void keep_reads(const StoreCalls& calls) {
    record_.reads = calls.times[static_cast<size_t>(StoreCall::kGet)].total() +
                    calls.times[static_cast<size_t>(StoreCall::kScan)].total();
    const ReadStats& stats = calls.reads;
    record_.files_read = stats.files_considered - stats.files_skipped_range - stats.files_skipped_time -
                         stats.files_skipped_ttl - stats.files_skipped_bloom;
    record_.blocks_from_cache = stats.blocks_from_cache;
    record_.blocks_from_disk = stats.blocks_from_disk;
    record_.bytes_from_disk = stats.bytes_from_disk;
    record_.bytes_returned = calls.bytes_returned;
    record_.read_amplification = ratio(record_.bytes_read, record_.bytes_returned);
  }

  Status settle() {
    const auto begun = std::chrono::steady_clock::now();
    CELLAR_TRY(rest());
    record_.settle_seconds = seconds_since(begun);
    const RunSample last = sampler_->sample();
    sampler_->end(workload_.seconds > 0 ? workload_.seconds : record_.seconds);
    record_.samples = sampler_->take();
    record_.bytes_put = last.bytes_put - after_load_.bytes_put;
    record_.bytes_written = last.bytes_written - after_load_.bytes_written;
    record_.bytes_flushed = last.bytes_flushed;
    record_.bytes_compacted = last.bytes_compacted;
    record_.bytes_on_disk = last.bytes_on_disk;
    record_.files = last.files;
    record_.sorted_runs = last.sorted_runs;
    record_.stalls = last.stalls;
    record_.stall_micros = last.stall_micros;
    record_.write_amplification = ratio(record_.bytes_written, record_.bytes_put);
    const EngineStatus status = engine_->status();
    record_.flushes = status.flushes;
    record_.compactions = status.compactions;
    keep_latencies();
    return {};
  }

  void keep_latencies() {
    for (size_t i = 0; i < kStoreCalls; ++i) {
      const bench::Histogram& times = calls_.times[i];
      if (times.total() == 0) continue;
      const auto micros = [&](double fraction) { return times.quantile(fraction) / 1e3; };
      record_.latencies.push_back({.call = std::string(call_name(static_cast<StoreCall>(i))),
                                   .count = times.total(),
                                   .p50 = micros(0.5),
                                   .p95 = micros(0.95),
                                   .p99 = micros(0.99),
                                   .p999 = micros(0.999),
                                   .max = static_cast<double>(times.max()) / 1e3});
    }
  }

  Status check() {
    StoreSession session(*engine_, table_);
    bench::Tally live;
    const Status status = course_->check(session, live);
    CELLAR_TRY(session.status());
    CELLAR_TRY(status);
    record_.bytes_live = bench::bytes_of_cells(live);
    record_.space_amplification = ratio(record_.bytes_on_disk, record_.bytes_live);
    return {};
  }

  const ExperimentConfiguration& configuration_;
  const ExperimentWorkload& sized_;
  bench::Workload workload_;
  const std::string path_;
  const std::function<void(double)>& progress_;
  bench::CountedFiles files_{posix_file_system()};
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
  std::unique_ptr<RunSampler> sampler_;
  std::unique_ptr<bench::Course> course_;
  RunSample after_load_;
  uint64_t total_ = 0;  // loaded rows and operations
  bool loading_ = true;
  std::atomic<bool> stop_{false};
  StoreCalls calls_;
  RunRecord record_;
};

}  // namespace

Result<RunRecord> perform_run(const ExperimentPlan& plan, const ExperimentRun& run, const std::string& path,
                              const std::function<void(double)>& progress) {
  return Performance(plan, run, path, progress).perform();
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace cellar
