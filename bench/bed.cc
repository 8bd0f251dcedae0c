// Beds live below the directory for temporary files and are removed with the program.
#include "bench/bed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/random.h"

namespace cellar::bench {
namespace {

benchmark::Counter each(uint64_t count) {
  return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
}

}  // namespace

double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

size_t scaled(size_t full, size_t least) {
  static const double scale = [] {
    const char* text = std::getenv("CELLAR_BENCH_SCALE");
    return text == nullptr ? 1.0 : std::atof(text);
  }();
  return std::max(least, static_cast<size_t>(static_cast<double>(full) * scale));
}

void give_up(const Status& status) {
  std::fprintf(stderr, "cellar_bench: %s\n", status.to_text().c_str());
  std::abort();
}

std::string numbered(std::string_view prefix, uint64_t number, int digits) {
  return fmt::format("{}{:0{}}", prefix, number, digits);
}

uint64_t mixed(uint64_t number) { return Random(number).next(); }

std::string text_of(uint64_t seed, size_t bytes) {
  Random random(seed);
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) {
    // Every other run of eight repeats the one before.
    text[i] = i % 16 < 8 ? static_cast<char>('a' + random.below(26)) : text[i - 8];
  }
  return text;
}

Bed& Bed::of(const std::string& key, const std::function<BedPlan()>& plan) {
  static std::string kept_key;
  static std::unique_ptr<Bed> kept;
  if (kept == nullptr || kept_key != key) {
    kept.reset();
    kept = std::make_unique<Bed>(plan());
    kept_key = key;
  }
  return *kept;
}

Bed::Bed(BedPlan plan)
    : path_((std::filesystem::temp_directory_path() / fmt::format("cellar_bench.{:x}", system_random()))
                .string()) {
  if (const Status status = build(std::move(plan)); !status.ok()) give_up(status);
}

Bed::~Bed() {
  close();
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Status Bed::build(BedPlan plan) {
  plan.engine.create_if_missing = true;
  plan.engine.automatic_compaction = false;
  plan.engine.durability = Durability::kSkipWal;
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Engine> engine, Engine::open(path_, plan.engine));
  {
    CELLAR_TRY_ASSIGN(const std::shared_ptr<Table> table, engine->create_table("t", plan.table));
    CELLAR_TRY(plan.fill(*engine, table));
    CELLAR_TRY(table->flush());
  }
  return engine->close();
}

void Bed::close() {
  table_.reset();
  if (engine_ != nullptr) {
    if (const Status status = engine_->close(); !status.ok()) give_up(status);
  }
  engine_.reset();
}

Table& Bed::opened(uint64_t cache_bytes) {
  close();
  EngineOptions options;
  options.read_only = true;
  options.cache_bytes = cache_bytes_ = cache_bytes;
  Result<std::unique_ptr<Engine>> engine = Engine::open(path_, options);
  if (!engine.ok()) give_up(engine.status());
  engine_ = std::move(engine).value();
  Result<std::shared_ptr<Table>> table = engine_->open_table("t");
  if (!table.ok()) give_up(table.status());
  table_ = *table;
  return *table_;
}

Table& Bed::still_open(uint64_t cache_bytes) {
  return engine_ != nullptr && cache_bytes == cache_bytes_ ? *table_ : opened(cache_bytes);
}

double Bed::bytes_per_cell() {
  uint64_t bytes = 0;
  uint64_t cells = 0;
  if (table_ == nullptr) opened(kCacheForNothing);
  for (const FamilyInfo& family : table_->info().families) {
    for (const StoreFileInfo& file : family.files) {
      bytes += file.bytes;
      cells += file.cells;
    }
  }
  return static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(cells, 1));
}

uint64_t Bed::file_bytes() {
  uint64_t bytes = 0;
  if (table_ == nullptr) opened(kCacheForNothing);
  for (const FamilyInfo& family : table_->info().families)
    for (const StoreFileInfo& file : family.files) bytes += file.bytes;
  return bytes;
}

void report(benchmark::State& state, const ReadStats& stats) {
  const uint64_t skipped = stats.files_skipped_range + stats.files_skipped_time + stats.files_skipped_ttl +
                           stats.files_skipped_bloom;
  state.counters["files"] = each(stats.files_considered);
  state.counters["files searched"] = each(stats.files_considered - skipped);
  state.counters["skipped by range"] = each(stats.files_skipped_range);
  state.counters["skipped by time"] = each(stats.files_skipped_time);
  state.counters["skipped by Bloom"] = each(stats.files_skipped_bloom);
  state.counters["blocks"] = each(stats.blocks_from_cache + stats.blocks_from_disk);
  state.counters["blocks from disk"] = each(stats.blocks_from_disk);
  state.counters["bytes from disk"] = each(stats.bytes_from_disk);
  state.counters["cells examined"] = each(stats.cells_examined);
  state.counters["cells returned"] = each(stats.cells_returned);
}

void measure(benchmark::State& state, Bed& bed, bool cold, const BedRead& read) {
  const auto run = [&](Table& table, ReadStats& stats) {
    const double begin = thread_seconds();
    const Status status = read(table, stats);
    const double time = thread_seconds() - begin;
    if (!status.ok()) give_up(status);
    return time;
  };
  ReadStats stats;
  ReadStats first;
  if (!cold) run(bed.still_open(Bed::kCacheForAll), first);
  for (auto unused : state) {
    static_cast<void>(unused);
    Table& table = cold ? bed.opened(Bed::kCacheForAll) : bed.still_open(Bed::kCacheForAll);
    state.SetIterationTime(run(table, stats));
  }
  report(state, stats);
}

benchmark::internal::Benchmark* with_cache(benchmark::internal::Benchmark* registered, bool cold) {
  constexpr size_t kOpenings = 10;  // an opening costs more than most reads
  registered->UseManualTime()->Unit(benchmark::kMicrosecond);
  return cold ? registered->Iterations(static_cast<benchmark::IterationCount>(scaled(kOpenings, 2)))
              : registered;
}

Status count_cells(Table& table, const Scan& scan, bool (*wanted)(const CellView&), size_t& cells) {
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(scan));
  while (scanner->next()) {
    const RowView row = scanner->row();
    if (wanted == nullptr) {
      cells += row.cells().size();
      continue;
    }
    for (const CellView& cell : row)
      if (wanted(cell)) ++cells;
  }
  return scanner->status();
}

void read_all(Table& table) {
  size_t cells = 0;
  const Status status = count_cells(table, Scan().batch(1000), nullptr, cells);
  if (!status.ok()) give_up(status);
}

}  // namespace cellar::bench
