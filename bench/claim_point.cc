// Claims about reading one row. They measure what Bloom filters save (Q06), the nearest row and the exact one
// (Q08), and how long a get takes at all (Q18).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"

namespace cellar::bench {
namespace {

void expect_cells(benchmark::State& state, size_t cells, size_t expected) {
  if (cells != expected) state.SkipWithError("a row was not found, or a missing row was");
}

// ---- Q06: missing rows, and what they do to a small cache ----

constexpr uint64_t kSmallCache = 2u << 20;
uint64_t q06_rows() { return scaled(100'000, 4000); }

Bed& q06_bed(bool bloom) {
  return Bed::of(fmt::format("q06 {}", bloom), [bloom] {
    return spread_plan(q06_rows(), 4, {.name = "d", .bloom = bloom ? "row" : "none"}, 100);
  });
}

Status get_row(Table& table, const std::string& row, ReadStats& stats, size_t& cells) {
  static thread_local RowBatch batch;
  CELLAR_TRY(table.get_into(Get(row).stats(&stats), batch));
  cells += batch.cells();
  return {};
}

void q06_missing(benchmark::State& state, bool bloom) {
  Table& table = q06_bed(bloom).still_open(Bed::kCacheForAll);
  Random random(1);
  ReadStats stats;
  size_t cells = 0;
  read_all(table);
  for (auto unused : state) {
    static_cast<void>(unused);
    const Status status = get_row(table, numbered("user", random.below(q06_rows())) + "x", stats, cells);
    if (!status.ok()) give_up(status);
  }
  report(state, stats);
  expect_cells(state, cells, 0);
}

// Every second get is for a missing row, anywhere. The others are for a tenth of the rows, whose blocks alone
// would fit into the cache.
void q06_mix(benchmark::State& state, bool bloom) {
  Table& table = q06_bed(bloom).still_open(kSmallCache);
  Random random(2);
  ReadStats existing;
  ReadStats missing;
  size_t cells = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    Status status = get_row(table, numbered("user", random.below(q06_rows() / 10)), existing, cells);
    if (status.ok())
      status = get_row(table, numbered("user", random.below(q06_rows())) + "x", missing, cells);
    if (!status.ok()) give_up(status);
  }
  expect_cells(state, cells, static_cast<size_t>(state.iterations()));
  ReadStats both = existing;
  both += missing;
  report(state, both);
  const auto hits = static_cast<double>(existing.blocks_from_cache);
  state.counters["hit ratio"] = hits / (hits + static_cast<double>(existing.blocks_from_disk));
}

void register_q06() {
  for (const bool bloom : {true, false}) {
    const char* suffix = bloom ? "bloom:row" : "bloom:none";
    benchmark::RegisterBenchmark(fmt::format("Claim/Q06_bloom/gets:missing/{}", suffix).c_str(),
                                 [=](benchmark::State& state) { q06_missing(state, bloom); });
    benchmark::RegisterBenchmark(
        fmt::format("Claim/Q06_bloom/gets:half_missing_small_cache/{}", suffix).c_str(),
        [=](benchmark::State& state) { q06_mix(state, bloom); })
        ->MinWarmUpTime(0.1);
  }
}

// ---- Q08: the next row compared with the row itself ----

enum class Lookup { kGet, kCeiling, kFloor };
constexpr const char* kLookupNames[] = {"get", "ceiling", "floor"};

void q08(benchmark::State& state, Lookup lookup, uint64_t files) {
  const uint64_t rows = scaled(48'000, 1600);
  Bed& bed =
      Bed::of(fmt::format("q08 {}", files), [=] { return spread_plan(rows, files, {.name = "d"}, 100); });
  Table& table = bed.still_open(Bed::kCacheForAll);
  Random random(3);
  ReadStats stats;
  size_t cells = 0;
  read_all(table);
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = numbered("user", random.below(rows));
    const Status status =
        lookup == Lookup::kGet
            ? get_row(table, row, stats, cells)
            : count_cells(table, Scan().start(row).limit(1).reversed(lookup == Lookup::kFloor).stats(&stats),
                          nullptr, cells);
    if (!status.ok()) give_up(status);
  }
  report(state, stats);
  expect_cells(state, cells, static_cast<size_t>(state.iterations()));
}

void register_q08() {
  for (const uint64_t files : {1, 2, 4, 8, 16}) {
    for (const Lookup lookup : {Lookup::kGet, Lookup::kCeiling, Lookup::kFloor}) {
      benchmark::RegisterBenchmark(fmt::format("Claim/Q08_next_row/lookup:{}/files_of_family:{}",
                                               kLookupNames[static_cast<int>(lookup)], files)
                                       .c_str(),
                                   [=](benchmark::State& state) { q08(state, lookup, files); });
    }
  }
}

// ---- Q18: how long a get takes ----

// Where the blocks are: in the engine's cache, in the operating system's, on the device.
enum class From { kCache, kSystem, kDevice };
constexpr const char* kFromNames[] = {"engine_cache", "system_cache", "device"};

// DroppedFiles: the files of a store, which the operating system is asked to forget.
class DroppedFiles {
 public:
  explicit DroppedFiles(const std::string& path) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
      if (descriptor >= 0) descriptors_.push_back(descriptor);
    }
  }
  ~DroppedFiles() {
    for (const int descriptor : descriptors_) ::close(descriptor);
  }
  DroppedFiles(const DroppedFiles&) = delete;
  DroppedFiles& operator=(const DroppedFiles&) = delete;

  // Syncs the files: their pages can be dropped only when they are on the device.
  void sync() const {
    for (const int descriptor : descriptors_) static_cast<void>(::fsync(descriptor));
  }
  void drop() const {
    for (const int descriptor : descriptors_)
      static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
  }

 private:
  std::vector<int> descriptors_;
};

void q18(benchmark::State& state, bool wide, uint64_t cells, From from) {
  Bed& bed = Bed::of(fmt::format("q18 {} {}", wide, cells),
                     [=] { return wide ? wide_row_plan(cells) : spread_plan(cells, 1, {.name = "d"}, 40); });
  Table& table = bed.still_open(from == From::kCache ? Bed::kCacheForAll : Bed::kCacheForNothing);
  const DroppedFiles files(bed.path());
  if (from == From::kDevice) files.sync();
  read_all(table);
  Random random(4);
  RowBatch row;
  ReadStats stats;
  std::vector<double> micros;
  size_t found = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const uint64_t number = random.below(cells);
    Get get(wide ? "wide" : numbered("user", number));
    if (wide) get.column("d", numbered("c", number));
    get.fill_cache(from == From::kCache).stats(&stats);
    if (from == From::kDevice) files.drop();
    const auto begin = std::chrono::steady_clock::now();
    const Status status = table.get_into(get, row);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (!status.ok()) give_up(status);
    found += row.cells();
    state.SetIterationTime(time.count());
    micros.push_back(time.count() * 1e6);
  }
  std::ranges::sort(micros);
  report(state, stats);
  state.counters["p50 µs"] = quantile(micros, 0.5);
  state.counters["p99 µs"] = quantile(micros, 0.99);
  state.counters["p99.9 µs"] = quantile(micros, 0.999);
  expect_cells(state, found, static_cast<size_t>(state.iterations()));
}

void register_q18() {
  struct Data {
    bool wide;
    uint64_t cells;
  };
  constexpr int kFast = 20'000;
  constexpr int kSlow = 2000;
  for (const Data data : {Data{false, 10'000}, Data{false, 100'000}, Data{false, 1'000'000},
                          Data{false, 4'000'000}, Data{true, 1'000'000}}) {
    for (const From from : {From::kCache, From::kSystem, From::kDevice}) {
      benchmark::RegisterBenchmark(
          fmt::format("Claim/Q18_time_of_a_get/data:{}/cells:{}/from:{}", data.wide ? "one_row" : "rows",
                      data.cells, kFromNames[static_cast<int>(from)])
              .c_str(),
          [=](benchmark::State& state) { q18(state, data.wide, scaled(data.cells, 1000), from); })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond)
          ->Iterations(
              static_cast<benchmark::IterationCount>(scaled(from == From::kDevice ? kSlow : kFast, 100)));
    }
  }
}

[[maybe_unused]] const bool registered_point = [] {
  register_q06();
  register_q08();
  register_q18();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
