// The cost of reads of one row, of neighbours, and of a wide row: docs/get-or-scan.md. Each section of that
// page varies one thing: the read, the encoding, the codec, the size of a block, or the number of sorted
// runs. Blocks come from the engine's cache, or from the operating system's.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "bench/hfile_bed.h"

namespace cellar::bench {
namespace {

// The data of a section: rows in sorted runs that overlap, or rows of a hundred columns.
struct ReadBed {
  std::string encoding = "none";
  std::string codec = "snappy";
  uint32_t block_bytes = 16384;
  uint64_t runs = 1;
  uint64_t columns = 1;
  std::string key() const {
    return fmt::format("reads {} {} {} {} {}", encoding, codec, block_bytes, runs, columns);
  }
};

constexpr size_t kReadBytes = 100;
uint64_t read_rows(const ReadBed& bed) { return scaled(100'000, 10'000) / bed.columns; }

// Rows with even numbers exist. Neighbours lie in different runs.
std::string read_row(uint64_t number) { return numbered("user", number * 2); }

BedPlan read_plan(const ReadBed& bed) {
  BedPlan plan;
  plan.table.families = {
      {.name = "d", .block_bytes = bed.block_bytes, .encoding = bed.encoding, .compression = bed.codec}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (uint64_t run = 0; run < bed.runs; ++run) {
      Batch batch;
      for (uint64_t row = run; row < read_rows(bed); row += bed.runs) {
        Put put(read_row(row));
        for (uint64_t column = 0; column < bed.columns; ++column)
          put.add_at("d", numbered("c", column, 3), 1, text_of(row * bed.columns + column, kReadBytes));
        batch.put(table, put);
        CELLAR_TRY(write_batch(engine, batch, false));
      }
      CELLAR_TRY(write_batch(engine, batch, true));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

// A way to read from a row on, and the rows that it returns of those that exist.
struct ReadWay {
  const char* name;
  std::function<Status(Table&, uint64_t number, bool fill, ReadStats&, size_t& cells)> read;
  uint64_t rows;
};

Status read_by_get(Table& table, const std::string& row, bool fill, ReadStats& stats, size_t& cells) {
  return get_cells(table, Get(row).fill_cache(fill).stats(&stats), cells);
}

ReadWay get_way(bool exists) {
  return {exists ? "get" : "get_of_missing_row",
          [=](Table& table, uint64_t number, bool fill, ReadStats& stats, size_t& cells) {
            return read_by_get(table, read_row(number) + (exists ? "" : "x"), fill, stats, cells);
          },
          exists ? 1u : 0u};
}

ReadWay one_row_way(bool exists) {
  return {exists ? "scan_of_the_row" : "scan_of_missing_row",
          [=](Table& table, uint64_t number, bool fill, ReadStats& stats, size_t& cells) {
            const std::string row = read_row(number) + (exists ? "" : "x");
            return count_cells(table, Scan().start(row).stop(row, true).fill_cache(fill).stats(&stats),
                               nullptr, cells);
          },
          exists ? 1u : 0u};
}

ReadWay neighbours_way(const char* name, uint64_t rows, bool back) {
  return {name,
          [=](Table& table, uint64_t number, bool fill, ReadStats& stats, size_t& cells) {
            const Scan scan = Scan().start(read_row(number)).limit(rows).reversed(back).fill_cache(fill);
            return count_cells(table, Scan(scan).stats(&stats), nullptr, cells);
          },
          rows};
}

std::vector<ReadWay> all_ways() {
  return {get_way(true),
          one_row_way(true),
          neighbours_way("next_row", 1, false),
          neighbours_way("row_before", 1, true),
          neighbours_way("10_rows_forward", 10, false),
          neighbours_way("10_rows_back", 10, true),
          neighbours_way("1000_rows_forward", 1000, false),
          neighbours_way("1000_rows_back", 1000, true),
          get_way(false),
          one_row_way(false)};
}

std::vector<ReadWay> four_ways() {
  return {get_way(true), neighbours_way("next_row", 1, false), neighbours_way("10_rows_back", 10, true),
          neighbours_way("1000_rows_forward", 1000, false)};
}

void read_case(benchmark::State& state, const ReadBed& data, const ReadWay& way, bool cached) {
  Bed& bed = Bed::of(data.key(), [&] { return read_plan(data); });
  Table& table = ready(bed, cached);
  const uint64_t margin = way.rows + 1;
  Random random(1);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    const uint64_t number = margin + random.below(read_rows(data) - 2 * margin);
    return way.read(table, number, cached, stats, cells);
  });
  state.counters["bytes per cell"] = bed.bytes_per_cell();
  expect_each(state, cells, way.rows * data.columns);
}

void register_reads(const std::string& section, const std::string& field, const ReadBed& data,
                    const std::vector<ReadWay>& ways) {
  for (const bool cached : {true, false}) {
    for (const ReadWay& way : ways)
      benchmark::RegisterBenchmark(fmt::format("Reads/{}/{}/from:{}/read:{}", section, field,
                                               cached ? "engine_cache" : "system_cache", way.name)
                                       .c_str(),
                                   [=](benchmark::State& state) { read_case(state, data, way, cached); })
          ->Unit(benchmark::kMicrosecond);
  }
}

// ---- A row of a hundred columns: whole, in part, and as a scan ----

std::vector<ReadWay> wide_ways() {
  const auto by_get = [](const char* name, const std::function<void(Get&)>& choose) {
    return ReadWay{name,
                   [=](Table& table, uint64_t number, bool fill, ReadStats& stats, size_t& cells) {
                     Get get(read_row(number));
                     choose(get);
                     return get_cells(table, get.fill_cache(fill).stats(&stats), cells);
                   },
                   0};
  };
  return {by_get("whole_row", [](Get&) {}),
          by_get("first_column", [](Get& get) { get.column("d", "c000"); }),
          by_get("last_column", [](Get& get) { get.column("d", "c099"); }),
          by_get("10_columns_apart",
                 [](Get& get) {
                   for (uint64_t i = 0; i < 10; ++i) get.column("d", numbered("c", i * 10, 3));
                 }),
          by_get("10_columns_by_prefix", [](Get& get) { get.filter(column_prefix_filter("c05")); }),
          by_get("10_first_columns", [](Get& get) { get.max_per_family(10); })};
}

void wide_case(benchmark::State& state, const ReadBed& data, const ReadWay& way, size_t expected,
               bool cached) {
  Table& table = ready(Bed::of(data.key(), [&] { return read_plan(data); }), cached);
  Random random(2);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    return way.read(table, random.below(read_rows(data)), cached, stats, cells);
  });
  expect_each(state, cells, expected);
}

void register_wide() {
  for (const std::string encoding : {"none", "row_index_v1", "fast_diff"}) {
    ReadBed data;
    data.columns = 100;
    data.encoding = encoding;
    const std::vector<ReadWay> ways = wide_ways();
    for (const bool cached : {true, false}) {
      for (size_t which = 0; which < ways.size(); ++which) {
        const size_t expected = which == 0 ? 100 : which < 3 ? 1 : 10;
        const ReadWay& way = ways[which];
        benchmark::RegisterBenchmark(
            fmt::format("Reads/wide/encoding:{}/from:{}/read:{}", encoding,
                        cached ? "engine_cache" : "system_cache", way.name)
                .c_str(),
            [=](benchmark::State& state) { wide_case(state, data, way, expected, cached); })
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

[[maybe_unused]] const bool registered_reads = [] {
  register_reads("kinds", "runs:1", {}, all_ways());
  for (const uint64_t runs : {1, 2, 4, 8, 16})
    register_reads("runs", fmt::format("runs:{}", runs), {.runs = runs}, four_ways());
  for (const std::string& encoding : encoding_names()) {
    // A file keeps its encoding by the name that options take.
    const std::string option = encoding == "row_index" ? "row_index_v1" : encoding;
    register_reads("encoding", "encoding:" + encoding, {.encoding = option}, four_ways());
  }
  for (const std::string& codec : codec_names())
    register_reads("codec", "codec:" + codec, {.codec = codec}, four_ways());
  for (const uint32_t kilobytes : {2, 4, 8, 16, 32, 64, 128})
    register_reads("block", fmt::format("kB:{}", kilobytes), {.block_bytes = kilobytes << 10}, four_ways());
  register_wide();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
