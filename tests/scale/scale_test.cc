// Goal: one process loads, compacts and scans ten million cells, and all of them come back. It never holds
// more memory than the limit. Method: a log of page views in a scrambled order, default options, on the real
// file system. The memory is the maximum that the kernel saw. CELLAR_SCALE_CELLS sets the number of cells.
// The suite takes 300,000 with all limits in proportion, ./dev scale takes 10,000,000.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/hash.h"
#include "base/random.h"
#include "cellar/cellar.h"
#include "tests/support/address_space.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kFullCells = 10'000'000;
constexpr uint64_t kShortCells = 300'000;
constexpr uint64_t kMemoryLimit = uint64_t{1} << 30;  // of kFullCells, with a cache of 64 MiB
constexpr uint64_t kCellsOfRow = 5;
constexpr uint64_t kStride = 611'953;  // prime: scrambles the order of the rows
constexpr uint64_t kRowsOfBatch = 100;

// The most memory this process ever had resident.
uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  return 0;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One page view.
struct View {
  explicit View(uint64_t number)
      : random(number), row(fmt::format("user{:08}/{:04}", number / 20, number % 20)) {
    static const char* const kAgents[] = {
        "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/119.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) Mobile/15E148 Safari/604.1", "curl/7.88.1"};
    const char* const pages[] = {"product", "search", "basket", "help"};
    columns = {{{"d", "agent", kAgents[random.below(4)]},
                {"d", "bytes", std::to_string(random.below(200'000))},
                {"d", "path", fmt::format("/{}/{:x}?from={}", pages[random.below(4)], random.next(), number)},
                {"m", "ms", std::to_string(random.below(3000))},
                {"m", "status", random.one_in(20) ? "404" : "200"}}};
  }
  struct Column {
    std::string_view family, qualifier;
    std::string value;
  };
  Random random;
  std::string row;
  std::array<Column, kCellsOfRow> columns;
};

// The same for the same cells in whatever order.
uint64_t sum_of(std::string_view row, std::string_view qualifier, std::string_view value) {
  return hash64(row) * 3 + hash64(qualifier) * 5 + hash64(value) * 7 + hash64(std::string(row) += value);
}

class Scale : public ::testing::Test {
 protected:
  void open() {
    EngineOptions options;
    options.create_if_missing = true;
    const double share = static_cast<double>(cells_) / kFullCells;
    if (share < 1) {
      const auto part = [&](uint64_t whole) {
        return std::max<uint64_t>(1 << 20, static_cast<uint64_t>(static_cast<double>(whole) * share));
      };
      options.cache_bytes = part(options.cache_bytes);
      options.memtable_bytes = part(options.memtable_bytes);
      options.memtable_bytes_total = part(options.memtable_bytes_total);
      options.log_segment_bytes = part(options.log_segment_bytes);
    }
    auto opened = Engine::open(scratch_ / "store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    engine_ = std::move(opened).value();
    FamilyOptions data, meta;
    data.name = "d";
    meta.name = "m";
    auto table = engine_->open_or_create_table("views", {.families = {data, meta}});
    ASSERT_TRUE(table.ok()) << table.status().to_text();
    table_ = std::move(table).value();
  }

  void load() {
    const uint64_t rows = cells_ / kCellsOfRow;
    ASSERT_NE(rows % kStride, 0u) << "the stride must not divide the number of rows";
    for (uint64_t i = 0; i < rows;) {
      Batch batch;
      for (uint64_t end = std::min(rows, i + kRowsOfBatch); i < end; ++i) {
        const View view(i * kStride % rows);
        Put put(view.row);
        for (const View::Column& column : view.columns) {
          put.add(column.family, column.qualifier, column.value);
          written_ += sum_of(view.row, column.qualifier, column.value);
          bytes_ += view.row.size() + column.qualifier.size() + column.value.size();
        }
        batch.put(table_, put);
      }
      const Status status = engine_->write(batch);
      ASSERT_TRUE(status.ok()) << status.to_text();
    }
  }

  void scan() {
    uint64_t cells = 0, sum = 0;
    std::string last;
    auto scanner = table_->scan(Scan());
    ASSERT_TRUE(scanner.ok()) << scanner.status().to_text();
    RowBatch batch;
    while ((*scanner)->next_batch(batch, 1000)) {
      for (const RowView row : batch) {
        ASSERT_LT(last, row.row());
        last = row.row();
        for (const CellView& cell : row.cells())
          sum += sum_of(cell.row(), cell.qualifier(), cell.value_bytes());
        cells += row.cells().size();
      }
    }
    ASSERT_TRUE((*scanner)->status().ok()) << (*scanner)->status().to_text();
    EXPECT_EQ(cells, cells_);
    EXPECT_EQ(sum, written_) << "other cells than were written";
  }

  // Does it and says how long it took and how much memory there was by then.
  template <class Work>
  void timed(const char* what, const Work& work) {
    const double begun = seconds_now();
    work();
    std::printf("  %-8s %8.2f s, peak memory so far %5llu MiB\n", what, seconds_now() - begun,
                static_cast<unsigned long long>(peak_memory() >> 20));
    std::fflush(stdout);
  }

  // Whole rows; sanitizers and short runs do less.
  const uint64_t cells_ =
      from_environment("CELLAR_SCALE_CELLS", scaled(kShortCells)) / kCellsOfRow * kCellsOfRow;
  ScratchDirectory scratch_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
  uint64_t written_ = 0, bytes_ = 0;
};

TEST_F(Scale, LoadsCompactsAndScansInBoundedMemory) {
  // The memory that a process needs before it holds any cell, and a share of the limit.
  const uint64_t limit = std::min(kMemoryLimit, (uint64_t{24} << 20) + kMemoryLimit / kFullCells * cells_);
  open();
  timed("load", [&] { load(); });
  timed("flush", [&] { EXPECT_TRUE(engine_->flush().ok()); });
  timed("compact", [&] {
    EXPECT_TRUE(table_->major_compact().ok());
    EXPECT_TRUE(engine_->wait_for_background().ok());
  });
  timed("scan", [&] { scan(); });
  const EngineStatus status = engine_->status();
  std::printf("  %llu bytes written, %llu in %llu store files\n", static_cast<unsigned long long>(bytes_),
              static_cast<unsigned long long>(status.store_bytes),
              static_cast<unsigned long long>(status.store_files));
  EXPECT_EQ(status.store_files, 2u);
  table_.reset();
  EXPECT_TRUE(engine_->close().ok());
  timed("reopen", [&] { open(); });
  timed("scan", [&] { scan(); });
  count(cells_, "cells loaded, compacted and scanned");
  std::printf("  peak memory %llu MiB, limit %llu MiB\n",
              static_cast<unsigned long long>(peak_memory() >> 20),
              static_cast<unsigned long long>(limit >> 20));
  if (!kSanitized) {
    EXPECT_LT(peak_memory(), limit);
  }
}

}  // namespace
}  // namespace cellar::testing
