// Goal: Engine::metrics() counts every operation exactly, measures times truly, and tells bytes as the file
// system saw them; its texts are what programs expect. Method: known operations under a manual clock, several
// threads, a file system that records its calls, and the histogram's own arithmetic.
#include "cellar/metrics.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <sstream>
#include <thread>

#include "base/utf8.h"
#include "engine/store/event_tap.h"
#include "engine/store/file_meter.h"
#include "engine/store/operation_meter.h"
#include "platform/ticks.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/metric_samples.h"

namespace cellar::testing {
namespace {

class MetricsTest : public EngineFixture {
 protected:
  static std::string row(int number) { return "row" + std::to_string(1000 + number); }
  static LatencyMetrics named(const std::vector<LatencyMetrics>& all, const std::string& name) {
    const auto found = std::ranges::find(all, name, &LatencyMetrics::name);
    EXPECT_NE(found, all.end()) << name;
    return found == all.end() ? LatencyMetrics() : *found;
  }
  uint64_t count(const std::string& name) { return named(engine_->metrics().operations, name).count; }
  std::string content(const std::string& path) const {
    const size_t slash = path.rfind('/');
    auto directory = files_->open_directory(path.substr(0, slash), false);
    EXPECT_OK(directory.status());
    if (!directory.ok()) return {};
    auto file = (*directory)->open(path.substr(slash + 1));
    EXPECT_OK(file.status());
    if (!file.ok()) return {};
    std::string bytes((*file)->size(), '\0');
    EXPECT_OK((*file)->read(0, bytes.size(), bytes.data()));
    return bytes;
  }
  // Makes the directory "out" with a file.
  void make_file(const std::string& name, std::string_view bytes) const {
    auto directory = files_->open_directory("out", true);
    ASSERT_TRUE(directory.ok());
    auto file = (*directory)->create(name);
    ASSERT_TRUE(file.ok());
    EXPECT_OK((*file)->append(bytes));
    EXPECT_OK((*file)->close());
  }
  void make_letter() const { make_file("letter.txt", "Dear Sir"); }
};

TEST_F(MetricsTest, EachOperationIsCountedUnderItsName) {
  open();
  const auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("a").add("f", "q", "v")));
  EXPECT_OK(table->put(Put("b").add("f", "q", "v")));
  EXPECT_OK(table->erase(Delete("b")));
  EXPECT_OK(table->increment(Increment("n").add("f", "n", 1)).status());
  EXPECT_OK(table->append(Append("a").add("f", "q", "w")).status());
  EXPECT_OK(table->mutate(RowMutations("a").add(Put("a").add("f", "p", "v"))).status());
  EXPECT_OK(
      table->check_and_mutate(CheckAndMutate("a").if_not_exists("f", "x").then(Put("a").add("f", "x", "v")))
          .status());
  Batch batch;
  batch.put(table, Put("c").add("f", "q", "v"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_OK(table->get(Get("a")).status());
  EXPECT_OK(table->get_row(Get("a")).status());
  EXPECT_OK(table->exists(Get("a")).status());
  const std::vector<Get> gets = {Get("a"), Get("b")};
  EXPECT_OK(table->get_many(gets).status());
  EXPECT_OK(table->exists_many(gets).status());
  EXPECT_EQ(scan(*table, Scan()).size(), 5u);
  {
    auto transaction = engine_->begin();
    ASSERT_TRUE(transaction.ok());
    EXPECT_OK((*transaction)->get(table, Get("a")).status());
    EXPECT_OK((*transaction)->commit());
    EXPECT_FALSE((*transaction)->commit().ok());
    EXPECT_FALSE((*transaction)->get(table, Get("a")).ok());
  }
  const std::vector<Action> actions = {Put("d").add("f", "q", "v"), Get("a")};
  EXPECT_EQ(table->batch(actions).size(), 2u);                    // its get and its put are parts of it
  EXPECT_FALSE(table->put(Put("a").add("none", "q", "v")).ok());  // a failure counts, too
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table->major_compact());
  const std::vector<std::pair<std::string, uint64_t>> expected = {
      {"get", 4},    {"exists", 1},    {"get_many", 2}, {"scan_open", 1}, {"put", 3},
      {"delete", 1}, {"increment", 1}, {"append", 1},   {"mutate", 1},    {"check", 1},
      {"batch", 2},  {"commit", 2},    {"flush", 1}};
  for (const auto& [name, times] : expected) EXPECT_EQ(count(name), times) << name;
  EXPECT_GE(count("scan_batch"), 1u);
  const Metrics metrics = engine_->metrics();
  EXPECT_EQ(metrics.operations.size(), kMeteredKinds);
  EXPECT_EQ(metrics.event_counts.at("flush"), 1u);
  ASSERT_FALSE(metrics.events.empty());
  EXPECT_TRUE(std::ranges::any_of(metrics.events,
                                  [](const auto& event) { return event.second.starts_with("flush t/f: "); }));
}

// More threads at once than have a stripe of their own. The second wave gets the stripes of the first.
TEST_F(MetricsTest, ThreadsLoseNoCount) {
  open();
  const auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("a").add("f", "q", "v")));
  constexpr uint64_t kThreads = 40;
  constexpr uint64_t kGets = 200;
  for (uint64_t wave = 0; wave < 2; ++wave) {
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        RowBatch batch;
        for (uint64_t k = 0; k < kGets; ++k) EXPECT_OK(table->get_into(Get("a"), batch));
      });
    const uint64_t meanwhile = count("get");
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(meanwhile, wave * kThreads * kGets);
    EXPECT_LE(meanwhile, (wave + 1) * kThreads * kGets);
  }
  const LatencyMetrics gets = named(engine_->metrics().operations, "get");
  EXPECT_EQ(gets.count, 2 * kThreads * kGets);
  // One in 16: the gaps are random, from 0 to 30.
  EXPECT_GT(gets.measured, gets.count / 16 / 2);
  EXPECT_LT(gets.measured, gets.count / 16 * 2);
}

// While twelve threads have all stripes that one thread has for itself, the first and the last of five others
// share a stripe.
TEST_F(MetricsTest, ASlowOperationDoesNotCauseOthersToBeMeasured) {
  OperationMeter meter(clock_, false);
  std::atomic<bool> inside{false};
  std::atomic<bool> ends{false};
  std::atomic<int> owners{0};
  std::vector<std::thread> own;
  for (int i = 0; i < 12; ++i)
    own.emplace_back([&] {
      { const MeteredScope metered(&meter, Metered::kAppend); }
      ++owners;
      while (!ends) std::this_thread::yield();
    });
  while (owners < 12) std::this_thread::yield();
  std::thread slow([&] {
    const MeteredScope metered(&meter, Metered::kGet);
    inside = true;
    while (!ends) std::this_thread::yield();
  });
  while (!inside) std::this_thread::yield();
  for (int i = 0; i < 3; ++i)
    std::thread([&] { const MeteredScope metered(&meter, Metered::kAppend); }).join();
  constexpr uint64_t kGets = 2000;
  std::thread([&] {
    for (uint64_t i = 0; i < kGets; ++i) {
      const MeteredScope metered(&meter, Metered::kGet);
    }
  }).join();
  ends = true;
  slow.join();
  for (std::thread& each : own) each.join();
  const LatencyMetrics gets = meter.read()[static_cast<size_t>(Metered::kGet)];
  EXPECT_EQ(gets.count, kGets + 1);
  EXPECT_GT(gets.measured, kGets / 16 / 2);
  EXPECT_LT(gets.measured, kGets / 16 * 2);
}

// An observer of one engine may write to another one.
TEST_F(MetricsTest, AnOperationOfAnotherEngineIsCountedThere) {
  OperationMeter first(clock_, false);
  OperationMeter second(clock_, false);
  const auto count_of = [](const OperationMeter& meter, Metered what) {
    return meter.read()[static_cast<size_t>(what)].count;
  };
  {
    const MeteredScope outer(&first, Metered::kPut);
    {
      const MeteredScope other(&second, Metered::kPut);
      const MeteredScope part(&second, Metered::kGet);
    }
    const MeteredScope part(&first, Metered::kGet);
  }
  { const MeteredScope next(&first, Metered::kGet); }
  EXPECT_EQ(count_of(first, Metered::kPut), 1u);
  EXPECT_EQ(count_of(first, Metered::kGet), 1u);
  EXPECT_EQ(count_of(second, Metered::kPut), 1u);
  EXPECT_EQ(count_of(second, Metered::kGet), 0u);
}

// The clock stands still except inside of the sync, where a test moves it.
TEST_F(MetricsTest, TimesAreThoseOfTheClock) {
  OperationMeter meter(clock_, false);
  for (int i = 1; i <= 1000; ++i) {
    const MeteredScope metered(&meter, Metered::kAppend);
    clock_.advance_us(i);
  }
  const LatencyMetrics appends = meter.read()[static_cast<size_t>(Metered::kAppend)];
  EXPECT_EQ(appends.name, "append");
  EXPECT_EQ(appends.count, 1000u);
  EXPECT_EQ(appends.measured, 1000u);
  EXPECT_NEAR(appends.sum, 0.5005, 1e-9);
  EXPECT_NEAR(appends.p50, 500e-6, 500e-6 * 0.033);
  EXPECT_NEAR(appends.p99, 990e-6, 990e-6 * 0.033);
  EXPECT_NEAR(appends.p999, 999e-6, 999e-6 * 0.033);
  EXPECT_EQ(appends.max, 1e-3);
  ASSERT_EQ(appends.buckets.size(), latency_bounds().size());
  for (size_t i = 0; i < appends.buckets.size(); ++i) {
    const double exact = std::min(1000.0, latency_bounds()[i] * 1e6);
    EXPECT_NEAR(static_cast<double>(appends.buckets[i]), exact, exact * 0.07 + 1) << latency_bounds()[i];
  }
}

TEST_F(MetricsTest, RealTimesAreMeasuredByTheProcessorsCounter) {
  OperationMeter meter(system_clock(), true);
  const auto spin = [](int64_t us) {
    const int64_t until = system_clock().steady_us() + us;
    while (system_clock().steady_us() < until) {
    }
  };
  for (int i = 0; i < 3; ++i) {  // after that the rate of the counter is known
    const MeteredScope metered(&meter, Metered::kMutate);
    spin(110'000);
  }
  for (int i = 0; i < 20; ++i) {
    const MeteredScope metered(&meter, Metered::kAppend);
    spin(300);
  }
  const LatencyMetrics appends = meter.read()[static_cast<size_t>(Metered::kAppend)];
  EXPECT_EQ(appends.measured, 20u);
  EXPECT_GT(appends.p50, 290e-6);
  EXPECT_GE(appends.max, appends.p50);
  EXPECT_GE(appends.sum, 20 * 299e-6);
}

// A clock whose every third call is interrupted before it returns.
class InterruptedClock final : public Clock {
 public:
  int64_t wall_ms() override { return system_clock().wall_ms(); }
  int64_t steady_us() override {
    const int64_t now = system_clock().steady_us();
    if (++calls_ % 3 == 0) spin_until(now + 20'000);
    return now;
  }
  static void spin_until(int64_t us) {
    while (system_clock().steady_us() < us) {
    }
  }

 private:
  int calls_ = 0;
};

TEST_F(MetricsTest, AnInterruptedThreadDoesNotFalsifyTimes) {
  InterruptedClock clock;
  Stopwatch stopwatch(clock, true);
  const int64_t ends = system_clock().steady_us() + 20'000'000;
  while (cpu_ticks_are_steady() && stopwatch.start().nanos_per_tick == 0 &&
         system_clock().steady_us() < ends) {
  }
  // Without a steady counter of the processor, times are the clock's.
  ASSERT_EQ(stopwatch.start().nanos_per_tick != 0, cpu_ticks_are_steady());
  const int64_t outer_us = system_clock().steady_us();
  const Stopwatch::Start start = stopwatch.start();
  const int64_t inner_us = system_clock().steady_us();
  InterruptedClock::spin_until(inner_us + 50'000);
  const int64_t least_us = system_clock().steady_us() - inner_us;
  const auto us = static_cast<double>(stopwatch.nanos_since(start)) / 1000;
  const int64_t most_us = system_clock().steady_us() - outer_us;
  EXPECT_GE(us, static_cast<double>(least_us) * 0.998 - 1);
  EXPECT_LE(us, static_cast<double>(most_us) * 1.002 + 1);
}

TEST_F(MetricsTest, SlotsHoldTimesWithinTheStatedError) {
  for (const uint64_t nanos :
       {uint64_t{0}, uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{17}, uint64_t{31}, uint64_t{32},
        uint64_t{1000}, uint64_t{123'456'789}, uint64_t{1} << 41, uint64_t{80'000} * 1'000'000'000}) {
    const double middle = LatencyHistogram::middle(LatencyHistogram::slot_of(nanos));
    EXPECT_NEAR(middle, static_cast<double>(nanos), static_cast<double>(nanos) * 0.032) << nanos;
  }
  EXPECT_EQ(LatencyHistogram::slot_of(UINT64_MAX), LatencyHistogram::kSlots - 1);
  size_t last = 0;
  for (uint64_t nanos = 0; nanos < 100'000; ++nanos) {
    const size_t slot = LatencyHistogram::slot_of(nanos);
    EXPECT_TRUE(slot == last || slot == last + 1) << nanos;
    last = slot;
  }
}

TEST_F(MetricsTest, BytesAreThoseThatTheFileSystemSaw) {
  const FaultFileSystem& files = watch_files();
  EngineOptions options;
  options.log_segment_bytes = 1 << 20;
  open(options);
  const auto table = make_table("t", {family("f")});
  for (int i = 0; i < 500; ++i) EXPECT_OK(table->put(Put(row(i)).add("f", "q", std::string(200, 'v'))));
  EXPECT_OK(table->put(Put("z").add("f", "q", "v"), {.durability = Durability::kFsyncWal}));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table->put(Put("z").add("f", "q", "w")));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table->major_compact());
  const auto appended = [&](const std::string& pattern) {
    uint64_t sum = 0;
    std::istringstream lines(files.log(FileOperation::kAppend, pattern));
    std::string append, name, unit;
    for (uint64_t bytes = 0; lines >> append >> name >> bytes >> unit;) sum += bytes;
    return sum;
  };
  const Metrics metrics = engine_->metrics();
  EXPECT_GT(appended("wal/*"), 500u * 200);
  EXPECT_EQ(metrics.bytes_written.at("log"), appended("wal/*"));
  EXPECT_EQ(metrics.bytes_written.at("store_files"), appended("tables/*"));
  EXPECT_EQ(metrics.status.bytes_flushed + metrics.status.bytes_compacted,
            metrics.bytes_written.at("store_files"));
  EXPECT_GT(metrics.bytes_read.at("store_files"), 0u);
  EXPECT_GT(metrics.bytes_written.at("manifest"), 0u);
  EXPECT_GE(named(metrics.operations, "log_sync").count, 1u);
  EXPECT_EQ(metrics.bytes_compacted_from, metrics.tables.at(0).families.at(0).bytes_compacted_from);
  EXPECT_EQ(metrics.write_amplification(), metrics.tables.at(0).families.at(0).write_amplification());
  EXPECT_EQ(metrics.read_amplification(), 1);
  EXPECT_EQ(metrics.space_amplification(), 1);
}

TEST_F(MetricsTest, KindsOfFilesFollowFromTheirNames) {
  EXPECT_EQ(file_class("0000000007.log"), FileClass::kLog);
  EXPECT_EQ(file_class("0000000007.log.copy"), FileClass::kLog);
  EXPECT_EQ(file_class("MANIFEST-000003"), FileClass::kManifest);
  EXPECT_EQ(file_class("CURRENT"), FileClass::kManifest);
  EXPECT_EQ(file_class("5f0c2e9ab1d84a770000000000000003"), FileClass::kStoreFile);
  EXPECT_EQ(file_class("LOCK"), FileClass::kOther);
}

TEST_F(MetricsTest, AStallIsCountedUnderItsCause) {
  EngineOptions options;
  options.automatic_flush = false;
  options.memtable_bytes = 64 << 10;
  options.memtable_bytes_total = 64 << 10;
  options.stall_ms_max = 0;
  open(options);
  const auto table = make_table("t", {family("f")});
  Status status;
  for (int i = 0; i < 2000 && status.ok(); ++i)
    status = table->put(Put(row(i)).add("f", "q", std::string(1000, 'v')));
  EXPECT_TRUE(status.is(Code::kBusy)) << status.to_text();
  const Metrics metrics = engine_->metrics();
  uint64_t waits = 0;
  for (const LatencyMetrics& each : metrics.stalls)
    if (each.name != "pace") waits += each.count;
  EXPECT_EQ(waits, metrics.status.stalls);
  EXPECT_GE(named(metrics.stalls, "memory").count + named(metrics.stalls, "flush").count, 1u);
}

TEST_F(MetricsTest, NothingIsCountedIfTheOptionIsOff) {
  EngineOptions options;
  options.metrics = false;
  open(options);
  const auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("a").add("f", "q", "v")));
  EXPECT_OK(engine_->flush());
  const Metrics metrics = engine_->metrics();
  EXPECT_TRUE(metrics.operations.empty());
  EXPECT_TRUE(metrics.bytes_written.empty());
  EXPECT_TRUE(metrics.events.empty());
  EXPECT_EQ(metrics.tables.size(), 1u);
  EXPECT_EQ(metrics.status.flushes, 1u);
  for (const std::string& text : {to_openmetrics(metrics), to_json(metrics)})
    for (const char* unknown : {"operation_seconds", "uptime_seconds", "cellar_compacted_from", "\"seconds\"",
                                "\"bytes_compacted_from\":0,\"operations\""})
      EXPECT_EQ(text.find(unknown), text.npos) << unknown;
  EXPECT_TRUE(has_sample(to_openmetrics(metrics), "cellar_flushes_total", "", "1"));
}

TEST_F(MetricsTest, TextsHoldTheFiguresAndEscapeNames) {
  open();
  const auto table = make_table("t", {family("fa\"m")});
  EXPECT_OK(table->put(Put("a").add("fa\"m", "q", "v")));
  const Metrics metrics = engine_->metrics();
  const std::string text = to_openmetrics(metrics);
  EXPECT_NE(text.find("# TYPE cellar_operations counter\n"), std::string::npos);
  EXPECT_TRUE(has_sample(text, "cellar_operations_total", "operation=\"put\"", "1"));
  EXPECT_TRUE(has_sample(text, "cellar_family_put_bytes_total", "table=\"t\",family=\"fa\\\"m\"",
                         std::to_string(metrics.tables[0].families[0].bytes_put)))
      << text;
  EXPECT_NE(text.find("# TYPE cellar_healthy gauge\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("# EOF\n"));
  EXPECT_EQ(to_openmetrics(metrics, false).find("cellar_operations"), std::string::npos);
  const std::string json = to_json(metrics);
  EXPECT_TRUE(json.starts_with(R"({"schema":"cellar.metrics/1","path":"store",)")) << json;
  EXPECT_NE(json.find(R"({"name":"put","count":1,"measured":1,)"), std::string::npos);
  EXPECT_NE(json.find(R"("family":"fa\"m")"), std::string::npos);
  EXPECT_EQ(to_json(metrics, false).find("\"engine\""), std::string::npos);
}

// Neither text may hold bytes that are no UTF-8.
TEST_F(MetricsTest, NamesMayHaveAllBytes) {
  open();
  const auto table = make_table("t", {family("\xe9"), family("\xc3\xa9")});
  EXPECT_OK(table->put(Put("a").add("\xe9", "q", "v")));
  EXPECT_OK(engine_->flush());  // its event names the family
  const Metrics metrics = engine_->metrics();
  for (const std::string& text : {to_json(metrics), to_openmetrics(metrics)}) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_NE(text.find(R"("\\xE9")"), std::string::npos) << text;
  }
  EXPECT_NE(to_json(metrics).find("\"\xc3\xa9\""), std::string::npos);
}

// Prometheus refuses a sample that two files have.
TEST_F(MetricsTest, TextsOfTwoStoresHaveNoSampleInCommon) {
  open();
  make_table("t", {family("f")});
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  const auto second = Engine::open("second", options);
  ASSERT_TRUE(second.ok()) << second.status().to_text();
  ASSERT_TRUE((*second)->create_table("t", {.families = {family("f")}}).ok());
  std::istringstream lines(to_openmetrics(engine_->metrics()) + to_openmetrics((*second)->metrics()));
  std::set<std::string> series;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_GT(series.size(), 200u);
}

// The older format names the samples of a counter in its lines of help.
TEST_F(MetricsTest, TheTextOfPrometheusDescribesEachSample) {
  open();
  make_table("t", {family("f")});
  const std::string text = to_prometheus(engine_->metrics());
  std::istringstream lines(text);
  std::string described;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) described = line.substr(7, line.find(' ', 7) - 7);
    if (line.starts_with("#")) {
      EXPECT_TRUE(line.starts_with("# TYPE " + described + " ") ||
                  line.starts_with("# HELP " + described + " "))
          << line;
      EXPECT_NE(line.find("_total counter") == line.npos, line.ends_with(" counter")) << line;
    } else {
      const std::string name = line.substr(0, line.find('{'));
      EXPECT_TRUE(name == described || name == described + "_bucket" || name == described + "_sum" ||
                  name == described + "_count")
          << line;
    }
  }
  EXPECT_TRUE(has_sample(text, "cellar_operations_total", "operation=\"put\"", "0"));
  EXPECT_EQ(text.find("# EOF"), std::string::npos);
}

TEST_F(MetricsTest, TheFileIsWrittenAtOpenAndAtClose) {
  ASSERT_TRUE(files_->open_directory("out", true).ok());
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 3600;
  open(options);
  EXPECT_TRUE(has_sample(content("out/cellar.prom"), "cellar_operations_total", "operation=\"put\"", "0"));
  {
    const auto table = make_table("t", {family("f")});
    EXPECT_OK(table->put(Put("a").add("f", "q", "v")));
  }
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(has_sample(content("out/cellar.prom"), "cellar_operations_total", "operation=\"put\"", "1"));
  open(options);  // its own file is replaced
}

TEST_F(MetricsTest, TheFileIsRewrittenWhileTheEngineRuns) {
  ASSERT_TRUE(files_->open_directory("out", true).ok());
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 1;
  open(options);
  const auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("a").add("f", "q", "v")));
  const int64_t until = system_clock().steady_us() + 20'000'000;
  const auto is_written = [&] {
    return has_sample(content("out/cellar.prom"), "cellar_operations_total", "operation=\"put\"", "1");
  };
  while (!is_written() && system_clock().steady_us() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(is_written());
}

TEST_F(MetricsTest, TheLastTextHasTheFlushOfTheClose) {
  ASSERT_TRUE(files_->open_directory("out", true).ok());
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 3600;
  open(options);
  EXPECT_OK(
      make_table("t", {family("f")})->put(Put("a").add("f", "q", "v"), {.durability = Durability::kSkipWal}));
  EXPECT_TRUE(has_sample(content("out/cellar.prom"), "cellar_flushes_total", "", "0"));
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(has_sample(content("out/cellar.prom"), "cellar_flushes_total", "", "1"));
}

TEST_F(MetricsTest, ACompactionThatTheCloseCutsOffHasNotFailed) {
  OperationMeter meter(clock_, false);
  EventTap tap(nullptr, meter, clock_);
  CompactionInfo info;
  info.status = Status::aborted("the engine is closing");
  tap.on_compaction_end(info);
  EXPECT_EQ(tap.counts().at("compaction_failed"), 0u);
  info.status = Status::io_error("torn");
  tap.on_compaction_end(info);
  EXPECT_EQ(tap.counts().at("compaction_failed"), 1u);
}

TEST_F(MetricsTest, AnOpenSnapshotLeavesTheFileAlone) {
  ASSERT_TRUE(files_->open_directory("out", true).ok());
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 3600;
  open(options);
  const auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("a").add("f", "q", "v")));
  EXPECT_OK(engine_->named_snapshots().create("s", {}).status());
  const std::string before = content("out/cellar.prom");
  {
    auto snapshot = engine_->named_snapshots().open("s");
    ASSERT_TRUE(snapshot.ok()) << snapshot.status().to_text();
    EXPECT_OK((*snapshot)->close());
  }
  EXPECT_EQ(content("out/cellar.prom"), before);
}

TEST_F(MetricsTest, AWriteThatFailsIsATroubleUntilOneSucceeds) {
  FaultFileSystem& files = watch_files();
  ASSERT_TRUE(files_->open_directory("out", true).ok());
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 1;
  files.fail(FileOperation::kRename, "*cellar.prom.*.tmp", 2, Code::kNoSpace);  // the one after open()
  open(options);
  const auto waits_for = [&](bool trouble) {
    const int64_t until = system_clock().steady_us() + 20'000'000;
    while (system_clock().steady_us() < until) {
      const std::vector<Trouble> troubles = engine_->status().troubles;
      EXPECT_TRUE(troubles.empty() || troubles[0].what == "metrics file") << troubles[0].what;
      EXPECT_TRUE(troubles.empty() || troubles[0].status.is(Code::kNoSpace));
      if (troubles.empty() != trouble) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  ASSERT_TRUE(waits_for(true));
  EXPECT_TRUE(waits_for(false));
  EXPECT_FALSE(content("out/cellar.prom").empty());
}

TEST_F(MetricsTest, AnOpenThatFailsLosesNoUniqueTime) {
  make_letter();
  open();
  const int64_t opened_ms = clock_.wall_ms();
  const Result<int64_t> first = engine_->unique_time_us();
  ASSERT_TRUE(first.ok());
  EXPECT_OK(engine_->close());
  engine_.reset();
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  options.metrics_file = "out/letter.txt";
  EXPECT_FALSE(Engine::open("store", options).ok());
  options.metrics_file = {};
  options.totals_series = "absent/totals.jsonl";
  EXPECT_FALSE(Engine::open("store", options).ok());
  clock_.set_wall_ms(opened_ms - 3'600'000);
  open();
  const Result<int64_t> second = engine_->unique_time_us();
  ASSERT_TRUE(second.ok());
  EXPECT_GT(*second, *first);
}

TEST_F(MetricsTest, AReaderHasNoFile) {
  open();
  EXPECT_OK(engine_->close());
  engine_.reset();
  EngineOptions options;
  options.read_only = true;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  options.metrics_file = "cellar.prom";
  const Status refused = Engine::open("store", options).status();
  EXPECT_TRUE(refused.is(Code::kInvalidArgument)) << refused.to_text();
  EXPECT_NE(refused.to_text().find("metrics_file"), std::string::npos);
}

// Two engines with one file by mistake: the file is always that of one of them, and nothing is left over.
TEST_F(MetricsTest, EnginesWithTheSameFileLeaveACompleteText) {
  make_letter();
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 3600;
  open(options);
  make_file("cellar.prom.tmp", "a draft of somebody");
  options.create_if_missing = true;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  {
    const auto second = Engine::open("second", options);
    ASSERT_TRUE(second.ok()) << second.status().to_text();
    EXPECT_NE(content("out/cellar.prom").find((*second)->status().identity), std::string::npos);
    EXPECT_TRUE(content("out/cellar.prom").starts_with("# TYPE cellar_"));
  }
  const std::string identity = engine_->status().identity;
  EXPECT_OK(engine_->close());
  EXPECT_NE(content("out/cellar.prom").find(identity), std::string::npos);
  EXPECT_EQ(content("out/cellar.prom.tmp"), "a draft of somebody");
  const auto directory = files_->open_directory("out", false);
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ((*directory)->list()->size(), 3u);  // letter, draft, metrics
}

// A loss of power leaves such files.
TEST_F(MetricsTest, AnEmptyFileOrOneOfZerosIsReplaced) {
  make_file("empty.prom", "");
  make_file("zeros.prom", std::string(5000, '\0'));
  for (const std::string name : {"out/empty.prom", "out/zeros.prom"}) {
    EngineOptions options;
    options.metrics_file = name;
    open(options);
    ASSERT_NE(engine_, nullptr);
    EXPECT_TRUE(content(name).starts_with("# TYPE cellar_"));
  }
}

TEST_F(MetricsTest, AStoreOpensWithoutTheDirectoryOfTheFile) {
  EngineOptions options;
  options.metrics_file = "later/cellar.prom";
  options.metrics_interval_s = 3600;
  open(options);
  ASSERT_NE(engine_, nullptr);
  ASSERT_EQ(engine_->status().troubles.size(), 1u);
  EXPECT_EQ(engine_->status().troubles[0].what, "metrics file");
  EXPECT_TRUE(engine_->status().troubles[0].status.is(Code::kNotFound));
  EXPECT_OK(make_table("t", {family("f")})->put(Put("a").add("f", "q", "v")));
  ASSERT_TRUE(files_->open_directory("later", true).ok());
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(content("later/cellar.prom").starts_with("# TYPE cellar_"));
}

TEST_F(MetricsTest, AStoreOpensIfTheFileCannotBeWritten) {
  FaultFileSystem& files = watch_files();
  make_letter();
  files.fail(FileOperation::kCreate, "*cellar.prom.*.tmp", 1, Code::kNoSpace);
  EngineOptions options;
  options.metrics_file = "out/cellar.prom";
  options.metrics_interval_s = 3600;
  open(options);
  ASSERT_NE(engine_, nullptr);
  ASSERT_EQ(engine_->status().troubles.size(), 1u);
  EXPECT_TRUE(engine_->status().troubles[0].status.is(Code::kNoSpace));
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(content("out/cellar.prom").starts_with("# TYPE cellar_"));
}

TEST_F(MetricsTest, AFileThatIsNotOneOfThemStays) {
  make_letter();
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  for (const auto& [path, code] : std::vector<std::pair<std::string, Code>>{
           {"out/letter.txt", Code::kInvalidArgument},
           {"store/cellar.prom", Code::kInvalidArgument},
           {"./store/cellar.prom", Code::kInvalidArgument},
           {"x/../store/wal/a.prom", Code::kInvalidArgument},
           {std::string("out/") + std::string(255, 'n'), Code::kInvalidArgument},
           {"out/", Code::kInvalidArgument}}) {
    options.metrics_file = path;
    const auto opened = Engine::open("store", options);
    ASSERT_TRUE(opened.status().is(code)) << path << ": " << opened.status().to_text();
    EXPECT_NE(opened.status().to_text().find("metrics_file " + path), std::string::npos);
  }
  EXPECT_EQ(content("out/letter.txt"), "Dear Sir");
  options.metrics_file = "out/new.prom";
  options.metrics_interval_s = 0;
  EXPECT_TRUE(Engine::open("store", options).status().is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar::testing
