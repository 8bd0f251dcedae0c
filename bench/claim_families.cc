// Claims about families and their files. Q02 has families that a read does not name, Q05 files that do not
// hold the row. Q07 uses Bloom filters in scans. Q30 writes to many families.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"

namespace cellar::bench {
namespace {

const char* name_of_blocks(bool cached) { return cached ? "cached" : "read_and_unpacked"; }

// ---- Q02: some of five families ----

constexpr int kQ02Families = 5;
constexpr uint64_t kQ02Files = 4;
uint64_t q02_rows() { return scaled(10'000, 500); }

// Each file of each family holds one column of each row.
BedPlan q02_plan() {
  BedPlan plan;
  for (int f = 0; f < kQ02Families; ++f) plan.table.families.push_back({.name = fmt::format("f{}", f)});
  plan.fill = [](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (uint64_t file = 0; file < kQ02Files; ++file) {
      Batch batch;
      for (uint64_t row = 0; row < q02_rows(); ++row) {
        Put put(numbered("user", row));
        for (int f = 0; f < kQ02Families; ++f)
          put.add_at(fmt::format("f{}", f), fmt::format("q{}", file), 1, text_of(row * 7 + file, 60));
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

void q02(benchmark::State& state, int families, bool cached) {
  Table& table = ready(Bed::of("q02", q02_plan), cached);
  Random random(2);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    Get get(numbered("user", random.below(q02_rows())));
    for (int f = 0; f < families; ++f) get.family(fmt::format("f{}", f));
    return get_cells(table, get.fill_cache(cached).stats(&stats), cells);
  });
  expect_each(state, cells, static_cast<size_t>(families) * kQ02Files);
}

void register_q02() {
  for (const bool cached : {true, false}) {
    for (int families = 1; families <= kQ02Families; ++families)
      claim(fmt::format("Q02_families/blocks:{}/families:{}", name_of_blocks(cached), families),
            [=](benchmark::State& state) { q02(state, families, cached); });
  }
}

// ---- Q05: ten files, the row in one of them or in none ----

constexpr uint64_t kQ05Files = 10;
uint64_t q05_rows() { return scaled(50'000, 2000); }

void q05(benchmark::State& state, const std::string& bloom, bool found) {
  Bed& bed = Bed::of("q05 " + bloom,
                     [&] { return spread_plan(q05_rows(), kQ05Files, {.name = "d", .bloom = bloom}, 100); });
  Table& table = ready(bed, true);
  Random random(5);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    const std::string row = numbered("user", random.below(q05_rows())) + (found ? "" : "x");
    return get_cells(table, Get(row).stats(&stats), cells);
  });
  expect_each(state, cells, found ? 1 : 0);
}

void register_q05() {
  for (const std::string bloom : {"none", "row"}) {
    for (const bool found : {true, false})
      claim(fmt::format("Q05_files_of_a_get/bloom:{}/row:{}", bloom, found ? "exists" : "missing"),
            [=](benchmark::State& state) { q05(state, bloom, found); });
  }
}

// ---- Q07: Bloom filters in scans ----

// Rows of a prefix of eight bytes and three digits. The rows of a prefix are in one of ten files, prefixes
// with odd numbers are missing.
constexpr uint64_t kQ07Files = 10;
constexpr uint64_t kQ07RowsOfPrefix = 20;
uint64_t q07_prefixes() { return scaled(2000, 200); }
std::string q07_prefix(uint64_t number) { return numbered("p", number * 2, 7); }

BedPlan q07_plan(const std::string& bloom) {
  BedPlan plan;
  plan.table.families = {{.name = "d", .bloom = bloom}};
  plan.fill = [](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (uint64_t file = 0; file < kQ07Files; ++file) {
      Batch batch;
      for (uint64_t prefix = file; prefix < q07_prefixes(); prefix += kQ07Files) {
        for (uint64_t row = 0; row < kQ07RowsOfPrefix; ++row)
          batch.put(table, Put(q07_prefix(prefix) + numbered("", row, 3))
                               .add_at("d", "q", 1, text_of(prefix * 100 + row, 60)));
      }
      CELLAR_TRY(write_batch(engine, batch, true));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

enum class Q07Read { kGet, kScanOfRow, kScanOfPrefix, kScanOfMissingPrefix };
constexpr const char* kQ07Names[] = {"get", "scan_of_one_row", "scan_of_prefix", "scan_of_missing_prefix"};

void q07(benchmark::State& state, const std::string& bloom, Q07Read read) {
  Table& table = ready(Bed::of("q07 " + bloom, [&] { return q07_plan(bloom); }), true);
  Random random(7);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    const uint64_t number = random.below(q07_prefixes() - 1);
    const std::string row = q07_prefix(number) + numbered("", random.below(kQ07RowsOfPrefix), 3);
    switch (read) {
      case Q07Read::kGet:
        return get_cells(table, Get(row).stats(&stats), cells);
      case Q07Read::kScanOfRow:
        return count_cells(table, Scan().start(row).stop(row, true).stats(&stats), nullptr, cells);
      case Q07Read::kScanOfPrefix:
        return count_cells(table, Scan().prefix(q07_prefix(number)).stats(&stats), nullptr, cells);
      case Q07Read::kScanOfMissingPrefix:
        break;
    }
    return count_cells(table, Scan().prefix(numbered("p", number * 2 + 1, 7)).stats(&stats), nullptr, cells);
  });
  const bool prefix = read == Q07Read::kScanOfPrefix;
  expect_each(state, cells, prefix ? kQ07RowsOfPrefix : read == Q07Read::kScanOfMissingPrefix ? 0 : 1);
}

void register_q07() {
  for (const std::string bloom : {"none", "row", "rowprefix_fixed_length(prefix_length=8)"}) {
    const std::string name = bloom.substr(0, bloom.find('_'));
    for (const Q07Read read :
         {Q07Read::kGet, Q07Read::kScanOfRow, Q07Read::kScanOfPrefix, Q07Read::kScanOfMissingPrefix})
      claim(fmt::format("Q07_bloom_in_scans/read:{}/bloom:{}", kQ07Names[static_cast<int>(read)], name),
            [=](benchmark::State& state) { q07(state, bloom, read); });
  }
}

// ---- Q30: the same cells in one to ten families, under heavy writes ----

constexpr uint64_t kQ30Columns = 10;
uint64_t q30_rows() { return scaled(40'000, 4000); }

// The rows in an order that looks like chance.
std::string q30_row(uint64_t number) { return numbered("user", number * 7919 % q30_rows()); }
// The family of a column of a row: the same number of cells for each, or nine tenths for the first one.
int q30_family(uint64_t row, uint64_t column, int families, bool skewed) {
  if (skewed && mixed(row * kQ30Columns + column) % 10 != 0) return 0;
  return static_cast<int>((row + column) % static_cast<uint64_t>(families));
}

std::unique_ptr<WritableStore> q30_store(int families) {
  TableOptions table;
  for (int f = 0; f < families; ++f) table.families.push_back({.name = fmt::format("f{}", f)});
  EngineOptions options;
  options.durability = Durability::kAsyncWal;
  options.memtable_bytes = scaled(4u << 20, 128u << 10);  // of a family
  options.memtable_bytes_total = 2 * options.memtable_bytes;
  return std::make_unique<WritableStore>(table, options);
}

void q30_fill(WritableStore& store, int families, bool skewed) {
  for (uint64_t row = 0; row < q30_rows(); ++row) {
    Put put(q30_row(row));
    for (uint64_t column = 0; column < kQ30Columns; ++column)
      put.add_at(fmt::format("f{}", q30_family(row, column, families, skewed)), fmt::format("q{}", column), 1,
                 text_of(row * kQ30Columns + column, 50));
    must(store.rows().put(put));
  }
  must(store.engine().wait_for_background());
}

void q30(benchmark::State& state, int families, bool skewed) {
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::unique_ptr<WritableStore> store = q30_store(families);
    const double begin = thread_seconds();
    q30_fill(*store, families, skewed);
    state.SetIterationTime(thread_seconds() - begin);
    const EngineStatus status = store->engine().status();
    state.counters["flushes"] = static_cast<double>(status.flushes);
    state.counters["compactions"] = static_cast<double>(status.compactions);
    state.counters["kB per flush"] = static_cast<double>(status.bytes_flushed) / 1e3 /
                                     static_cast<double>(std::max<uint64_t>(1, status.flushes));
    state.counters["MB compacted"] = static_cast<double>(status.bytes_compacted) / 1e6;
    state.counters["files"] = static_cast<double>(status.store_files);
    ReadStats stats;
    size_t cells = 0;
    constexpr uint64_t kGets = 1000;
    const double reads = thread_seconds();
    for (uint64_t i = 0; i < kGets; ++i) must(get_cells(store->rows(), Get(q30_row(i)).stats(&stats), cells));
    state.counters["µs per get"] = (thread_seconds() - reads) * 1e6 / kGets;
    state.counters["files of a get"] = static_cast<double>(stats.files_considered) / kGets;
    expect(state, cells == kGets * kQ30Columns, "a row lost cells");
  }
}

void register_q30() {
  for (const bool skewed : {false, true}) {
    for (const int families : {1, 2, 3, 5, 10})
      once(claim(fmt::format("Q30_many_families/sizes:{}/families:{}", skewed ? "skewed" : "equal", families),
                 [=](benchmark::State& state) { q30(state, families, skewed); }));
  }
}

[[maybe_unused]] const bool registered_families = [] {
  register_q02();
  register_q05();
  register_q07();
  register_q30();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
