// The data of these plans does not depend on the machine: counters are the same everywhere.
#include "bench/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/random.h"

namespace cellar::bench {

benchmark::internal::Benchmark* claim(std::string_view name, std::function<void(benchmark::State&)> body) {
  return benchmark::RegisterBenchmark(fmt::format("Claim/{}", name).c_str(), std::move(body))
      ->Unit(benchmark::kMicrosecond);
}

benchmark::internal::Benchmark* once(benchmark::internal::Benchmark* registered) {
  return registered->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

void must(const Status& status) {
  if (!status.ok()) give_up(status);
}

void repeat(benchmark::State& state, const std::function<Status(ReadStats&)>& read) {
  ReadStats stats;
  for (auto unused : state) {
    static_cast<void>(unused);
    must(read(stats));
  }
  report(state, stats);
}

void expect(benchmark::State& state, bool right, const char* error) {
  if (!right) state.SkipWithError(error);
}

void expect_each(benchmark::State& state, size_t cells, size_t each) {
  expect(state, cells == each * static_cast<size_t>(state.iterations()), "wrong number of cells");
}

Table& ready(Bed& bed, bool cached) {
  Table& table = bed.still_open(cached ? Bed::kCacheForAll : Bed::kCacheForNothing);
  if (cached) read_all(table);
  return table;
}

Status get_cells(Table& table, const Get& get, size_t& cells) {
  static thread_local RowBatch batch;
  CELLAR_TRY(table.get_into(get, batch));
  cells += batch.cells();
  batch.clear();
  return {};
}

double quantile(const std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

void report_times(benchmark::State& state, std::vector<double>& micros) {
  if (micros.empty()) return;
  std::ranges::sort(micros);
  state.counters["p50 µs"] = quantile(micros, 0.5);
  state.counters["p99 µs"] = quantile(micros, 0.99);
  state.counters["p99.9 µs"] = quantile(micros, 0.999);
  state.counters["max µs"] = micros.back();
}

Status write_batch(Engine& engine, Batch& batch, bool all) {
  constexpr size_t kLarge = 8u << 20;
  if (batch.mutations() == 0 || (!all && batch.bytes() < kLarge)) return {};
  CELLAR_TRY(engine.write(batch));
  batch.clear();
  return {};
}

BedPlan spread_plan(uint64_t rows, uint64_t files, const FamilyOptions& family, size_t value_bytes) {
  BedPlan plan;
  plan.table.families = {family};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (uint64_t file = 0; file < files; ++file) {
      Batch batch;
      for (uint64_t row = file; row < rows; row += files) {
        batch.put(table, Put(numbered("user", row)).add_at("d", "q", 1, text_of(row, value_bytes)));
        CELLAR_TRY(write_batch(engine, batch, false));
      }
      CELLAR_TRY(write_batch(engine, batch, true));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

BedPlan grid_plan(uint64_t rows, uint64_t columns, size_t bytes) {
  BedPlan plan;
  plan.table.families = {{.name = "d"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t row = 0; row < rows; ++row) {
      Put put(numbered("row", row));
      for (uint64_t column = 0; column < columns; ++column)
        put.add_at("d", numbered("c", column, 6), 1, text_of(row * columns + column, bytes));
      batch.put(table, put);
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

BedPlan wide_row_plan(uint64_t columns) {
  BedPlan plan;
  plan.table.families = {{.name = "d"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    constexpr uint64_t kAtOnce = 20'000;
    for (uint64_t at = 0; at < columns; at += kAtOnce) {
      Batch batch;
      Put put("wide");
      for (uint64_t i = at; i < std::min(columns, at + kAtOnce); ++i)
        put.add_at("d", numbered("c", i), 1, text_of(i, 40));
      CELLAR_TRY(engine.write(batch.put(table, put)));
    }
    return {};
  };
  return plan;
}

WritableStore::WritableStore(const TableOptions& table, EngineOptions options)
    : path_((std::filesystem::temp_directory_path() / fmt::format("cellar_bench.{:x}", system_random()))
                .string()) {
  options.create_if_missing = true;
  engine_ = must(Engine::open(path_, options));
  table_ = must(engine_->create_table("t", table));
}

WritableStore::~WritableStore() {
  table_.reset();
  engine_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::shared_ptr<Table> WritableStore::add_table(const std::string& name, const TableOptions& options) {
  return must(engine_->create_table(name, options));
}

uint64_t WritableStore::file_bytes() { return engine_->status().store_bytes; }

}  // namespace cellar::bench
