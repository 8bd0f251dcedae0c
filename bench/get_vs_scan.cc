// Selecting one row by its key, four ways: get, a scan of that row, a scan that begins there, a scan of
// everything.
//
// Each way returns the same cells. Counters say what it cost: blocks looked into and cells examined per row
// found. "cached" reads from a warm block cache; "uncached" reads do not leave their data blocks in it.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "cellar/cellar.h"

namespace cellar {
namespace {

constexpr size_t kRows = 100000;
constexpr size_t kFiles = 4;

std::string row_at(size_t index) {
  std::string number = std::to_string(index);
  return "user" + std::string(8 - number.size(), '0') + number;
}

[[noreturn]] void give_up(const Status& status) {
  std::fprintf(stderr, "get_vs_scan: %s\n", status.to_text().c_str());
  std::abort();
}

// A store of kRows rows in kFiles files that overlap, two families, made once and removed at the end.
class World {
 public:
  // One store with a cache for all of it, one with a cache for next to nothing of it.
  static World& instance(bool cached) {
    constexpr uint64_t kCacheForAll = 256u << 20;
    constexpr uint64_t kCacheForNothing = 256u << 10;
    static World large(kCacheForAll);
    static World small(kCacheForNothing);
    return cached ? large : small;
  }
  Table& table() { return *table_; }

 private:
  explicit World(uint64_t cache_bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("cellar_get_vs_scan." + std::to_string(system_random()))) {
    const Status status = build(cache_bytes);
    if (!status.ok()) give_up(status);
  }
  ~World() {
    table_.reset();
    engine_.reset();
    std::filesystem::remove_all(path_);
  }

  Status build(uint64_t cache_bytes) {
    EngineOptions options;
    options.create_if_missing = true;
    options.automatic_compaction = false;
    options.cache_bytes = cache_bytes;
    CELLAR_TRY_ASSIGN(engine_, Engine::open(path_.string(), options));
    CELLAR_TRY_ASSIGN(table_, engine_->create_table("users", {.families = {{.name = "d"}, {.name = "c"}}}));
    Random random(20261121);
    for (size_t file = 0; file < kFiles; ++file) {
      Batch batch;
      for (size_t i = file; i < kRows; i += kFiles) {
        std::string value(60, 'v');
        for (char& c : value) c = static_cast<char>('a' + random.below(26));
        batch.put(
            table_,
            Put(row_at(i)).add("d", "name", value).add("d", "mail", value).add("c", "visits", "12345678"));
      }
      CELLAR_TRY(engine_->write(batch));
      CELLAR_TRY(table_->flush());
    }
    return {};
  }

  std::filesystem::path path_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

// A row to look for, and the cells found.
using Way = Status (*)(Table& table, const std::string& row, bool fill, ReadStats& stats, size_t& cells);

Status by_get(Table& table, const std::string& row, bool fill, ReadStats& stats, size_t& cells) {
  static thread_local RowBatch batch;
  CELLAR_TRY(table.get_into(Get(row).fill_cache(fill).stats(&stats), batch));
  cells += batch.cells();
  return {};
}

Status by(Table& table, const Scan& scan, const std::string* wanted, size_t& cells) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
  for (const RowView row : *scanner) {
    if (wanted == nullptr || row.row() == *wanted) cells += row.cells().size();
  }
  return scanner->status();
}

Status by_scan_of_row(Table& table, const std::string& row, bool fill, ReadStats& stats, size_t& cells) {
  return by(table, Scan().start(row).stop(row, true).fill_cache(fill).stats(&stats), nullptr, cells);
}

Status by_scan_from_row(Table& table, const std::string& row, bool fill, ReadStats& stats, size_t& cells) {
  return by(table, Scan().start(row).limit(1).fill_cache(fill).stats(&stats), nullptr, cells);
}

Status by_full_scan(Table& table, const std::string& row, bool fill, ReadStats& stats, size_t& cells) {
  return by(table, Scan().fill_cache(fill).stats(&stats), &row, cells);
}

void select_row(benchmark::State& state, Way way, bool cached, bool present) {
  Table& table = World::instance(cached).table();
  Random random(7);
  ReadStats stats;
  size_t cells = 0;
  if (cached) {
    size_t warmed = 0;
    if (const Status status = by_full_scan(table, "", true, stats, warmed); !status.ok()) give_up(status);
    stats = {};
  }
  for (auto _ : state) {
    std::string row = row_at(random.below(kRows));
    if (!present) row += "x";
    const Status status = way(table, row, cached, stats, cells);
    if (!status.ok()) give_up(status);
  }
  const auto runs = static_cast<double>(state.iterations());
  if (cells != (present ? 3 * static_cast<size_t>(state.iterations()) : 0) && way != by_scan_from_row)
    state.SkipWithError("a row was not found, or a missing row was");
  state.counters["blocks"] = static_cast<double>(stats.blocks_from_cache + stats.blocks_from_disk) / runs;
  state.counters["from_disk"] = static_cast<double>(stats.blocks_from_disk) / runs;
  state.counters["examined"] = static_cast<double>(stats.cells_examined) / runs;
  state.counters["files_skipped"] =
      static_cast<double>(stats.files_skipped_bloom + stats.files_skipped_range) / runs;
}

BENCHMARK_CAPTURE(select_row, get_cached, by_get, true, true);
BENCHMARK_CAPTURE(select_row, scan_of_row_cached, by_scan_of_row, true, true);
BENCHMARK_CAPTURE(select_row, scan_from_row_cached, by_scan_from_row, true, true);
BENCHMARK_CAPTURE(select_row, full_scan_cached, by_full_scan, true, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(select_row, get_uncached, by_get, false, true);
BENCHMARK_CAPTURE(select_row, scan_of_row_uncached, by_scan_of_row, false, true);
BENCHMARK_CAPTURE(select_row, full_scan_uncached, by_full_scan, false, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(select_row, get_of_missing_cached, by_get, true, false);
BENCHMARK_CAPTURE(select_row, scan_of_missing_cached, by_scan_of_row, true, false);

}  // namespace
}  // namespace cellar
