// Parts that the cases of claims share: registration, repeated reads, stores to write to, a clock that a case
// moves, and usual data.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bed.h"

namespace cellar::bench {

// Registers the case Claim/<name>, such as "Q02_families/families:2". Its time is that of the loop, in
// microseconds.
benchmark::internal::Benchmark* claim(std::string_view name, std::function<void(benchmark::State&)> body);
// Makes it a case of one iteration, whose time is the one that its body sets, in milliseconds.
benchmark::internal::Benchmark* once(benchmark::internal::Benchmark* registered);

// Gives up unless the status is ok.
void must(const Status& status);
template <class T>
T must(Result<T> result) {
  if (!result.ok()) give_up(result.status());
  return std::move(result).value();
}

// Repeats one read, and reports what it cost. The loop is the time of the case.
void repeat(benchmark::State& state, const std::function<Status(ReadStats&)>& read);
// Ends the case with this error unless `right`.
void expect(benchmark::State& state, bool right, const char* error);
// Ends the case unless each iteration found this many cells.
void expect_each(benchmark::State& state, size_t cells, size_t each);

// Opens the bed with all blocks in the cache, or with a cache for none of them.
Table& ready(Bed& bed, bool cached);
// Reads the row of a get, and adds its cells to `cells`.
Status get_cells(Table& table, const Get& get, size_t& cells);

// Returns the value that this fraction of the values is not above. The values are sorted.
double quantile(const std::vector<double>& sorted, double fraction);
// Sets the counters p50, p99, p99.9 and max, in microseconds. It sorts the times.
void report_times(benchmark::State& state, std::vector<double>& micros);

// Returns rows "user" + number, spread over files that overlap. Rows that end in "x" lie between them and are
// missing.
BedPlan spread_plan(uint64_t rows, uint64_t files, const FamilyOptions& family, size_t value_bytes);
// Returns `rows` of `columns` cells with values of `bytes`: row00000042, c000017.
BedPlan grid_plan(uint64_t rows, uint64_t columns, size_t bytes);
// Returns one row, "wide", of this many columns: c00000042.
BedPlan wide_row_plan(uint64_t columns);
// Writes the batch if it is large, or if `all`, and empties it.
Status write_batch(Engine& engine, Batch& batch, bool all);

// WritableStore: a store with a table "t" to write to, removed with the object. Any thread.
class WritableStore {
 public:
  explicit WritableStore(const TableOptions& table, EngineOptions options = {});
  ~WritableStore();
  WritableStore(const WritableStore&) = delete;
  WritableStore& operator=(const WritableStore&) = delete;

  Engine& engine() { return *engine_; }
  Table& rows() { return *table_; }
  const std::shared_ptr<Table>& table() { return table_; }
  // Creates a further table.
  std::shared_ptr<Table> add_table(const std::string& name, const TableOptions& options);
  // Returns the sum of the bytes of store files, of one table or of all.
  uint64_t file_bytes();

 private:
  std::string path_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

}  // namespace cellar::bench
