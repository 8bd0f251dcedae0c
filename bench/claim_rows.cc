// Claims about shapes of data. Q09 compares neighbouring rows with a single row. Q10 has the same cells as
// many rows or as columns of one. Q31 varies the number of rows that a scan returns at a time.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"

namespace cellar::bench {
namespace {

// ---- Q09: k rows from a random one on ----

void q09(benchmark::State& state, uint64_t k, bool cached) {
  const uint64_t rows = scaled(100'000, 4000);
  Bed& bed = Bed::of("q09", [=] { return grid_plan(rows, 1, 100); });
  Table& table = bed.still_open(cached ? Bed::kCacheForAll : Bed::kCacheForNothing);
  read_all(table);
  Random random(5);
  ReadStats stats;
  size_t cells = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string first = numbered("row", random.below(rows - k));
    const Status status =
        count_cells(table, Scan().start(first).limit(k).fill_cache(cached).stats(&stats), nullptr, cells);
    if (!status.ok()) give_up(status);
  }
  report(state, stats);
  if (cells != k * static_cast<uint64_t>(state.iterations())) state.SkipWithError("wrong number of rows");
}

void register_q09() {
  for (const bool cached : {true, false}) {
    for (const uint64_t k : {1, 3, 10, 30, 100, 300, 1000}) {
      benchmark::RegisterBenchmark(
          fmt::format("Claim/Q09_neighbours/blocks:{}/k:{}", cached ? "cached" : "read_and_unpacked", k)
              .c_str(),
          [=](benchmark::State& state) { q09(state, k, cached); })
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

// ---- Q10: ten thousand cells ----

void q10(benchmark::State& state, uint64_t cells, uint64_t columns, bool cold) {
  Bed& bed = Bed::of(fmt::format("q10 {}", columns), [=] { return grid_plan(cells / columns, columns, 40); });
  size_t found = 0;
  size_t reads = 0;
  measure(state, bed, cold, [&](Table& table, ReadStats& stats) {
    ++reads;
    return count_cells(table, Scan().stats(&stats), nullptr, found);
  });
  state.counters["ns per cell"] =
      benchmark::Counter(static_cast<double>(cells) * static_cast<double>(state.iterations()) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes per cell"] = bed.bytes_per_cell();
  if (found != reads * cells) state.SkipWithError("wrong number of cells");
}

void register_q10() {
  const uint64_t cells = scaled(10'000, 10'000);
  for (const uint64_t columns : {1, 10, 100, 1000, 10000}) {
    for (const bool cold : {true, false}) {
      with_cache(
          benchmark::RegisterBenchmark(
              fmt::format("Claim/Q10_rows_or_columns/cache:{}/columns:{}", cold ? "cold" : "warm", columns)
                  .c_str(),
              [=](benchmark::State& state) { q10(state, cells, columns, cold); }),
          cold);
    }
  }
}

// ---- Q31: rows of one call ----

void q31(benchmark::State& state, size_t rows_of_call) {
  const uint64_t rows = scaled(100'000, 4000);
  Table& table = ready(Bed::of("q31", [=] { return grid_plan(rows, 1, 100); }), true);
  RowBatch batch;
  size_t found = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table.scan(Scan().stats(&stats)));
    if (rows_of_call == 0) {
      while (scanner->next()) found += scanner->row().cells().size();
    } else {
      while (scanner->next_batch(batch, rows_of_call)) found += batch.cells();
    }
    batch.clear();
    return scanner->status();
  });
  state.counters["rows/s"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["calls"] = static_cast<double>(rows_of_call == 0 ? rows : rows / rows_of_call);
  expect_each(state, found, rows);
}

void register_q31() {
  for (const size_t rows : {0, 1, 10, 100, 1000, 10'000})
    claim(fmt::format("Q31_rows_of_a_call/call:{}/rows:{}", rows == 0 ? "next" : "next_batch",
                      rows == 0 ? 1 : rows),
          [=](benchmark::State& state) { q31(state, rows); });
}

[[maybe_unused]] const bool registered_rows = [] {
  register_q09();
  register_q10();
  register_q31();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
