// Goal: workloads pass on a store that answers rightly, and fail on one that does not. Method: every workload
// runs on rows in a map, by one thread and by three. The map is then made to lie in one respect at a time.
#include "bench/workload/course.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "bench/workload/data.h"

namespace cellar::bench {
namespace {

enum class Lie : uint8_t {
  kNone,
  kLosesAPut,       // the hundredth put is not kept
  kKeepsOldValue,   // a second put of a row is not kept
  kKeepsDeleted,    // a delete is not kept
  kLosesARow,       // a row that nobody deleted is gone for scans
  kScansOneTooFew,  // scans with a limit end a row early
  kCutsValues,      // the last byte of values is missing
  kIgnoresExpiry,
};

// Rows with one cell each, for all sessions of a test.
class MapStore {
 public:
  struct Stored {
    int64_t timestamp;
    std::string value;
  };
  Mutex mutex;
  std::map<std::string, Stored> rows;
  int64_t oldest = INT64_MIN;
  Lie lie = Lie::kNone;
  uint64_t puts = 0;
  uint64_t loaded = 0;
};

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class MapSession : public Session {
 public:
  explicit MapSession(MapStore& store) : store_(store) {}

  void put(const RowIn& row, Keep, int64_t timestamp) override {
    MutexLock lock(store_.mutex);
    if (store_.lie == Lie::kLosesAPut && ++store_.puts == 100) return;
    if (store_.lie == Lie::kKeepsOldValue && store_.rows.contains(std::string(row.row))) return;
    keep(row, timestamp);
  }
  void put_rows(std::span<const RowIn> rows, Keep, int64_t timestamp) override {
    MutexLock lock(store_.mutex);
    for (const RowIn& row : rows) keep(row, timestamp);
    store_.loaded += rows.size();
  }
  void erase_row(const RowIn& row, Keep) override {
    MutexLock lock(store_.mutex);
    if (store_.lie != Lie::kKeepsDeleted) store_.rows.erase(std::string(row.row));
  }
  bool get(std::string_view row, std::string_view, std::string_view qualifier, Tally& tally) override {
    MutexLock lock(store_.mutex);
    const auto found = store_.rows.find(std::string(row));
    if (found == store_.rows.end() || found->second.timestamp < oldest()) return false;
    tally.add(row, qualifier, found->second.value);
    ++tally.rows;
    return true;
  }
  bool get_row(std::string_view row, std::string_view family, Tally& tally) override {
    return get(row, family, kQualifier, tally);
  }
  void scan(const ScanIn& in, Tally& tally) override {
    MutexLock lock(store_.mutex);
    const std::string start(in.prefix.empty() ? in.start : in.prefix);
    const uint64_t limit = store_.lie == Lie::kScansOneTooFew && in.limit > 1 ? in.limit - 1 : in.limit;
    uint64_t rows = 0;
    for (auto at = store_.rows.lower_bound(start); at != store_.rows.end(); ++at) {
      if (!std::string_view(at->first).starts_with(in.prefix) || (limit != 0 && rows == limit)) break;
      if (at->second.timestamp < oldest() || at->second.timestamp < in.from) continue;
      if (store_.lie == Lie::kLosesARow && at->first.ends_with("00")) continue;
      tally.add(at->first, kQualifier, at->second.value);
      ++tally.rows;
      ++rows;
    }
  }
  int64_t increment(std::string_view, std::string_view, std::string_view, int64_t, Keep) override {
    return 0;
  }

 private:
  int64_t oldest() const { return store_.lie == Lie::kIgnoresExpiry ? INT64_MIN : store_.oldest; }
  void keep(const RowIn& row, int64_t timestamp) CELLAR_REQUIRES(store_.mutex) {
    std::string value(row.cells[0].value);
    if (store_.lie == Lie::kCutsValues) value.pop_back();
    store_.rows[std::string(row.row)] = {timestamp == kClock ? now_ms() : timestamp, std::move(value)};
  }
  MapStore& store_;
};

struct Outcome {
  Status status;
  Work work;  // of all threads
  Tally live;
};

// Runs a workload to its end, or to its first error.
Outcome run(const Workload& workload, uint64_t rows, Lie lie) {
  MapStore store;
  store.lie = lie;
  Outcome outcome;
  const std::unique_ptr<Course> course = Course::make(workload, rows).value();
  MapSession loader(store);
  course->load(loader);
  if (course->time_to_live() != 0) store.oldest = now_ms() - course->time_to_live() * 1000;
  std::vector<std::unique_ptr<MapSession>> sessions;
  std::vector<std::unique_ptr<Client>> clients;
  for (uint64_t i = 0; i < workload.threads; ++i) {
    sessions.push_back(std::make_unique<MapSession>(store));
    clients.push_back(course->client(*sessions.back(), i));
  }
  std::vector<Status> statuses(workload.threads);
  std::vector<std::thread> threads;
  const uint64_t each = workload.total_ops(rows) / workload.threads;
  for (uint64_t i = 0; i < workload.threads; ++i)
    threads.emplace_back([&, i] { statuses[i] = clients[i]->run(each, workload.seconds); });
  for (std::thread& thread : threads) thread.join();
  for (uint64_t i = 0; i < workload.threads; ++i) {
    if (outcome.status.ok()) outcome.status = statuses[i];
    outcome.work.ops += clients[i]->work().ops;
    outcome.work.times += clients[i]->work().times;
    outcome.work.read += clients[i]->work().read;
    outcome.work.read_meanwhile += clients[i]->work().read_meanwhile;
    outcome.work.bytes_put += clients[i]->work().bytes_put;
  }
  if (outcome.status.ok()) outcome.status = course->check(loader, outcome.live);
  return outcome;
}

Workload workload_of(const char* name, uint64_t ops, uint64_t threads = 1) {
  Workload workload = find_workload(name).value();
  workload.ops = ops;
  workload.threads = threads;
  workload.value_bytes = {20, 60};
  workload.scan_length = {1, 20};
  return workload;
}

TEST(Course, EveryWorkloadPassesOnARightStore) {
  for (const Workload& known : known_workloads()) {
    for (const uint64_t threads : {1u, 3u}) {
      const Workload workload = workload_of(known.name.c_str(), 3000, threads);
      const Outcome outcome = run(workload, 500, Lie::kNone);
      EXPECT_TRUE(outcome.status.ok()) << outcome.status;
      EXPECT_EQ(outcome.work.ops, 3000u) << known.name;
      EXPECT_EQ(outcome.work.times.total(), 3000u) << known.name;
      EXPECT_EQ(outcome.work.bytes_put != 0, workload.mix.writes()) << known.name;
    }
  }
}

TEST(Course, TheSameSeedReadsTheSameWithAnyNumberOfThreads) {
  for (const char* name : {"ycsb_a", "ycsb_d", "ycsb_f", "delete_heavy", "time_series"}) {
    for (const uint64_t threads : {1u, 3u}) {
      const Workload workload = workload_of(name, 2000, threads);
      EXPECT_EQ(run(workload, 300, Lie::kNone).work.read, run(workload, 300, Lie::kNone).work.read) << name;
    }
    Workload other = workload_of(name, 2000);
    const Tally first = run(other, 300, Lie::kNone).work.read;
    other.seed = 2;
    EXPECT_NE(run(other, 300, Lie::kNone).work.read.sum, first.sum) << name;
  }
}

TEST(Course, WrongAnswersAreNoticed) {
  const std::vector<std::tuple<const char*, Lie, const char*>> cases = {
      {"ycsb_a", Lie::kLosesAPut, "the store has"},
      {"ycsb_d", Lie::kLosesAPut, "the row exists, but was not found"},
      {"ycsb_a", Lie::kKeepsOldValue, "its value is not the last one"},
      {"ycsb_f", Lie::kKeepsOldValue, "its value is not the last one"},
      {"ycsb_c", Lie::kCutsValues, "its value is not the last one"},
      {"ycsb_e", Lie::kScansOneTooFew, "rows instead of"},
      {"ycsb_e", Lie::kLosesARow, "the scan from"},
      {"ycsb_e", Lie::kCutsValues, "other values"},
      {"delete_heavy", Lie::kKeepsDeleted, "instead of"},
      {"time_series", Lie::kIgnoresExpiry, "the store has"},
      {"time_series", Lie::kScansOneTooFew, "samples instead of"},
      {"time_series", Lie::kCutsValues, "other samples"},
      {"bulk_then_read", Lie::kLosesARow, "the store has"}};
  for (const auto& [name, lie, fault] : cases) {
    const Status status = run(workload_of(name, 5000), 500, lie).status;
    EXPECT_TRUE(status.is(Code::kCorruption)) << name << " passed a wrong store";
    const bool either = status.to_text().find(fault) != std::string::npos ||
                        (lie == Lie::kLosesAPut || lie == Lie::kKeepsDeleted);  // whichever read comes first
    EXPECT_TRUE(either) << status;
    EXPECT_NE(status.to_text().find(name), std::string::npos) << status;
  }
}

TEST(Course, ThreadsNoticeWrongScansOfEachOthersRows) {
  EXPECT_TRUE(run(workload_of("ycsb_e", 3000, 3), 500, Lie::kScansOneTooFew).status.is(Code::kCorruption));
  EXPECT_TRUE(
      run(workload_of("delete_heavy", 3000, 3), 500, Lie::kKeepsDeleted).status.is(Code::kCorruption));
}

TEST(Course, BytesArePutOnceForEachCell) {
  Workload workload = workload_of("update_zipf", 1000);
  workload.mix = Mix::parse("update=100").value();
  workload.value_bytes = {50, 50};
  // Row of 16 bytes, "f", "q0", a timestamp, and the value.
  constexpr uint64_t kCell = 16 + 1 + 2 + 8 + 50;
  const Outcome outcome = run(workload, 200, Lie::kNone);
  EXPECT_EQ(outcome.work.bytes_put, 1000 * kCell);
  EXPECT_EQ(bytes_of_cells(outcome.live), 200 * kCell);
}

TEST(Course, ATimeSeriesKeepsItsYoungerHalf) {
  Workload workload = workload_of("time_series", 1000);
  workload.mix = Mix::parse("insert=80,read=20").value();
  const Outcome outcome = run(workload, 2000, Lie::kNone);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_GT(outcome.live.rows, 1000u + 700);
  EXPECT_LT(outcome.live.rows, 1000u + 900);
  EXPECT_LT(outcome.work.read.cells, 200u);  // expired samples were asked for, too
}

TEST(Course, ATimeSeriesHasNoUpdates) {
  Workload workload = workload_of("time_series", 1000);
  workload.mix = Mix::parse("insert=80,update=20").value();
  const Status status = Course::make(workload, 1000).status();
  EXPECT_TRUE(status.is(Code::kInvalidArgument));
  EXPECT_NE(status.message().find("time_series has no operation update"), std::string_view::npos) << status;
}

TEST(Course, RunsForATime) {
  Workload workload = workload_of("mix", 0);
  workload.seconds = 0.05;
  const Outcome outcome = run(workload, 100, Lie::kNone);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_GT(outcome.work.ops, 10u);
}

}  // namespace
}  // namespace cellar::bench
