// Claims about the columns of a row. Q03 reads one column of many. Q35 compares a serialised record with a
// column for each field. Q41 varies the place of a column in a long row. Q42 has columns that are not set.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"

namespace cellar::bench {
namespace {

// ---- Q03: one column of a row, and the whole row ----

void q03(benchmark::State& state, uint64_t columns, bool whole, bool cached) {
  const uint64_t rows = scaled(100'000, 10'000) / columns;
  const uint64_t width = columns > 10'000 ? scaled(columns, 10'000) : columns;
  Bed& bed =
      Bed::of(fmt::format("q03 {}", columns), [&] { return grid_plan(rows == 0 ? 1 : rows, width, 40); });
  Table& table = ready(bed, cached);
  Random random(3);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    Get get(numbered("row", random.below(rows == 0 ? 1 : rows)));
    if (!whole) get.column("d", numbered("c", random.below(width), 6));
    return get_cells(table, get.fill_cache(cached).stats(&stats), cells);
  });
  expect_each(state, cells, whole ? width : 1);
}

void register_q03() {
  for (const uint64_t columns : {10, 100, 1000, 10'000, 100'000}) {
    for (const bool whole : {false, true}) {
      for (const bool cached : {true, false})
        claim(
            fmt::format("Q03_one_column/blocks:{}/read:{}/columns:{}",
                        cached ? "cached" : "read_and_unpacked", whole ? "whole_row" : "one_column", columns),
            [=](benchmark::State& state) { q03(state, columns, whole, cached); });
    }
  }
}

// ---- Q35: twenty fields of fifty bytes, as columns or in one record ----

constexpr uint64_t kQ35Fields = 20;
constexpr size_t kQ35FieldBytes = 50;
uint64_t q35_rows() { return scaled(10'000, 500); }

std::string q35_record(uint64_t row) {
  std::string record;
  for (uint64_t field = 0; field < kQ35Fields; ++field)
    record += text_of(row * kQ35Fields + field, kQ35FieldBytes);
  return record;
}

Put q35_put(uint64_t row, bool columns) {
  Put put(numbered("user", row));
  const std::string record = q35_record(row);
  if (!columns) return put.add_at("d", "r", 1, record);
  for (uint64_t field = 0; field < kQ35Fields; ++field)
    put.add_at("d", numbered("field", field, 2), 1, record.substr(field * kQ35FieldBytes, kQ35FieldBytes));
  return put;
}

BedPlan q35_plan(bool columns) {
  BedPlan plan;
  plan.table.families = {{.name = "d"}};
  plan.fill = [columns](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t row = 0; row < q35_rows(); ++row) {
      batch.put(table, q35_put(row, columns));
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

// Copies `fields` fields out of the row, as a program does.
void q35_read(benchmark::State& state, bool columns, uint64_t fields) {
  Bed& bed = Bed::of(fmt::format("q35 {}", columns), [=] { return q35_plan(columns); });
  Table& table = ready(bed, true);
  Random random(35);
  RowBatch batch;
  size_t found = 0;
  std::string wanted;
  repeat(state, [&](ReadStats& stats) -> Status {
    Get get(numbered("user", random.below(q35_rows())));
    if (columns && fields < kQ35Fields)
      for (uint64_t field = 0; field < fields; ++field)
        get.column("d", numbered("field", field * 7 % kQ35Fields, 2));
    CELLAR_TRY(table.get_into(get.stats(&stats), batch));
    if (columns) {
      for (const CellView& cell : batch.row()) wanted.assign(cell.value_bytes()), ++found;
    } else {
      const std::string_view record = batch.row().cells().front().value_bytes();
      for (uint64_t field = 0; field < fields; ++field)
        wanted.assign(record.substr(field * 7 % kQ35Fields * kQ35FieldBytes, kQ35FieldBytes)), ++found;
    }
    benchmark::DoNotOptimize(wanted.data());
    return {};
  });
  state.counters["bytes per row"] = static_cast<double>(bed.file_bytes()) / static_cast<double>(q35_rows());
  expect_each(state, found, fields);
}

// Changes one field. A record has to be read, changed and written as a whole.
void q35_update(benchmark::State& state, bool columns) {
  WritableStore store({.families = {{.name = "d"}}}, {.durability = Durability::kAsyncWal});
  for (uint64_t row = 0; row < q35_rows(); ++row) must(store.rows().put(q35_put(row, columns)));
  must(store.engine().flush());
  const uint64_t before = store.rows().info().families.front().bytes_put;
  Random random(36);
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = numbered("user", random.below(q35_rows()));
    const uint64_t field = random.below(kQ35Fields);
    const std::string fresh = text_of(random.next(), kQ35FieldBytes);
    if (columns) {
      must(store.rows().put(Put(row).add("d", numbered("field", field, 2), fresh)));
      continue;
    }
    const RowBatch old = must(store.rows().get(Get(row)));
    std::string record(old.row().cells().front().value_bytes());
    record.replace(field * kQ35FieldBytes, kQ35FieldBytes, fresh);
    must(store.rows().put(Put(row).add("d", "r", record)));
  }
  const uint64_t bytes = store.rows().info().families.front().bytes_put - before;
  state.counters["bytes written"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kAvgIterations);
}

void register_q35() {
  for (const bool columns : {false, true}) {
    const char* layout = columns ? "columns" : "record";
    for (const uint64_t fields : {1, 2, 5, 10, 20})
      claim(fmt::format("Q35_record_or_columns/do:read/layout:{}/fields:{}", layout, fields),
            [=](benchmark::State& state) { q35_read(state, columns, fields); });
    claim(fmt::format("Q35_record_or_columns/do:update/layout:{}/fields:1", layout),
          [=](benchmark::State& state) { q35_update(state, columns); });
  }
}

// ---- Q41: the first, the middle and the last column of a long row ----

void q41(benchmark::State& state, uint64_t columns, const std::string& place) {
  const uint64_t width = scaled(columns, 1000);
  Bed& bed = Bed::of(fmt::format("q41 {}", columns), [=] { return wide_row_plan(width); });
  Table& table = ready(bed, true);
  const uint64_t at = place == "first" ? 0 : place == "middle" ? width / 2 : width - 1;
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    return get_cells(table, Get("wide").column("d", numbered("c", at)).stats(&stats), cells);
  });
  expect_each(state, cells, 1);
}

void register_q41() {
  for (const uint64_t columns : {1000, 10'000, 100'000, 1'000'000}) {
    for (const std::string place : {"first", "middle", "last"})
      claim(fmt::format("Q41_place_of_a_column/place:{}/columns:{}", place, columns),
            [=](benchmark::State& state) { q41(state, columns, place); });
  }
}

// ---- Q42: rows that set one of many possible columns ----

uint64_t q42_rows() { return scaled(100'000, 2000); }

// `all` writes an empty value for each column that is not set, as a table of fixed columns would.
BedPlan q42_plan(uint64_t possible, bool all, const std::string& codec) {
  BedPlan plan;
  plan.table.families = {{.name = "d", .compression = codec}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t row = 0; row < q42_rows() / (all ? possible : 1); ++row) {
      const uint64_t set = mixed(row) % possible;
      Put put(numbered("user", row));
      for (uint64_t column = all ? 0 : set; column < (all ? possible : set + 1); ++column)
        put.add_at("d", numbered("c", column, 4), 1, column == set ? text_of(row, 40) : "");
      batch.put(table, put);
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

void q42(benchmark::State& state, uint64_t possible, bool all, const std::string& codec) {
  Bed& bed = Bed::of(fmt::format("q42 {} {} {}", possible, all, codec),
                     [&] { return q42_plan(possible, all, codec); });
  const uint64_t rows = q42_rows() / (all ? possible : 1);
  size_t cells = 0;
  size_t reads = 0;
  measure(state, bed, false, [&](Table& table, ReadStats& stats) {
    ++reads;
    return count_cells(table, Scan().stats(&stats), nullptr, cells);
  });
  state.counters["bytes per row"] = static_cast<double>(bed.file_bytes()) / static_cast<double>(rows);
  state.counters["rows/s"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsIterationInvariantRate);
  expect(state, cells == reads * rows * (all ? possible : 1), "wrong number of cells");
}

void register_q42() {
  for (const std::string codec : {"none", "snappy"}) {
    for (const bool all : {false, true}) {
      for (const uint64_t possible : {1, 10, 100, 1000})
        claim(fmt::format("Q42_unset_columns/codec:{}/stored:{}/columns:{}", codec,
                          all ? "all_columns" : "what_is_set", possible),
              [=](benchmark::State& state) { q42(state, possible, all, codec); })
            ->UseManualTime();
    }
  }
}

[[maybe_unused]] const bool registered_columns = [] {
  register_q03();
  register_q35();
  register_q41();
  register_q42();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
