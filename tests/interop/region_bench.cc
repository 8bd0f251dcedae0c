// Cellar does the operations that RegionBench.java does with a region of HBase: without a log, blocks of 64
// KiB, NONE.
#include "tests/interop/region_bench.h"

#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "cellar/engine.h"
#include "tests/interop/bench_rows.h"

namespace cellar::interop {
namespace {

constexpr uint64_t kFiles = 4;

class Bench {
 public:
  Bench(std::filesystem::path directory, uint64_t rows) : directory_(std::move(directory)), rows_(rows) {
    for (uint64_t i = 0; i < kPool; ++i) values_[i] = value_at(i);
  }

  Status round() {
    CELLAR_TRY(open());
    CELLAR_TRY(measure("put", rows_, [this](uint64_t&) { return put_all(); }));
    CELLAR_TRY(measure("compact_major", rows_, [this](uint64_t& sum) { return compact(sum); }));
    uint64_t warm = 0;
    CELLAR_TRY(scan(Scan(), warm));
    CELLAR_TRY(measure("get", rows_ / 2, [this](uint64_t& sum) { return get(rows_ / 2, "", sum); }));
    CELLAR_TRY(measure("get_missing", rows_ / 2, [this](uint64_t& sum) { return get(rows_ / 2, "x", sum); }));
    CELLAR_TRY(measure("full_scan", rows_, [this](uint64_t& sum) { return scan(Scan(), sum); }));
    CELLAR_TRY(measure("scan10", rows_ / 20, [this](uint64_t& sum) { return scans(rows_ / 20, 10, sum); }));
    CELLAR_TRY(
        measure("scan100", rows_ / 100, [this](uint64_t& sum) { return scans(rows_ / 100, 100, sum); }));
    CELLAR_TRY(
        measure("reversed_scan", rows_, [this](uint64_t& sum) { return scan(Scan().reversed(true), sum); }));
    CELLAR_TRY(
        measure("increment_hot", rows_ / 4, [this](uint64_t& sum) { return increment(rows_ / 4, 1, sum); }));
    CELLAR_TRY(measure("increment_100k", rows_ / 4,
                       [this](uint64_t& sum) { return increment(rows_ / 4, 100000, sum); }));
    table_.reset();
    engine_.reset();
    std::filesystem::remove_all(directory_ / "store");
    return {};
  }

 private:
  Status open() {
    EngineOptions options;
    options.create_if_missing = true;
    options.automatic_compaction = false;  // as the other side, which compacts when it is asked to
    options.cache_bytes = 800u << 20;
    CELLAR_TRY_ASSIGN(engine_, Engine::open((directory_ / "store").string(), options));
    TableOptions table{.families = {{.name = "f"}}};
    table.durability = Durability::kSkipWal;
    table.families[0].block_bytes = 64 << 10;
    table.families[0].compression = "none";
    table.families[0].bloom = "row";
    CELLAR_TRY_ASSIGN(table_, engine_->create_table("bench", table));
    return {};
  }

  std::string jump(uint64_t k) const { return far_row(k, rows_); }

  Status put_all() {
    for (uint64_t file = 0; file < kFiles; ++file) {
      const uint64_t until = file + 1 == kFiles ? rows_ : rows_ / kFiles * (file + 1);
      for (uint64_t k = rows_ / kFiles * file; k < until; ++k)
        CELLAR_TRY(table_->put(Put(jump(k)).add("f", "q", values_[k % kPool])));
      CELLAR_TRY(table_->flush());
    }
    return {};
  }

  Status compact(uint64_t& files) {
    CELLAR_TRY(table_->compact());
    files = 1;  // as the other side counts
    return {};
  }

  Status get(uint64_t operations, const std::string& suffix, uint64_t& sum) {
    RowBatch batch;
    for (uint64_t k = 0; k < operations; ++k) {
      CELLAR_TRY(table_->get_into(Get(jump(k) + suffix).column("f", "q"), batch));
      for (const CellView& cell : batch.row().cells()) sum += looked_at(cell);
    }
    return {};
  }

  Status scan(const Scan& scan, uint64_t& sum) {
    CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, table_->scan(scan));
    while (scanner->next())
      for (const CellView& cell : scanner->row().cells()) sum += looked_at(cell);
    return scanner->status();
  }

  Status scans(uint64_t operations, uint64_t limit, uint64_t& sum) {
    for (uint64_t k = 0; k < operations; ++k)
      CELLAR_TRY(scan(Scan().start(row_at(k * kStep % (rows_ - limit))).limit(limit), sum));
    return {};
  }

  Status increment(uint64_t operations, uint64_t counters, uint64_t& sum) {
    for (uint64_t k = 0; k < operations; ++k) {
      const Increment one = Increment("counter" + std::to_string(k * kStep % counters)).add("f", "q", 1);
      CELLAR_TRY_ASSIGN(const auto sums, table_->increment(one));
      sum +=
          static_cast<uint64_t>(static_cast<int8_t>(sums[0]));  // the last byte, as the other side reads it
    }
    return {};
  }

  const std::filesystem::path directory_;
  const uint64_t rows_;
  std::array<std::string, kPool> values_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

}  // namespace

Status measure_operations(const std::filesystem::path& directory, uint64_t rows) {
  Bench bench(directory, rows);
  for (std::string line; std::getline(std::cin, line);) {
    CELLAR_TRY(bench.round());
    std::puts("done");
    std::fflush(stdout);
  }
  return {};
}

}  // namespace cellar::interop
