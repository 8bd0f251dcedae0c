// Observers that tests share: one that notes what it sees, and one that keeps an inverse table and counts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {

// Does what the test says.
class CallingObserver : public Observer {
 public:
  using Work = std::function<Status(const RowView& row, ObserverContext& context)>;
  explicit CallingObserver(Work work) : work_(std::move(work)) {}
  Status before_write(const RowView& row, ObserverContext& context) override { return work_(row, context); }

 private:
  const Work work_;
};

// Keeps the visible values of d:q the other way round. Table "by_value" has a row for each value, with a
// column v:<row> for each row of that value. Table "counts" holds in n:rows how many rows have the value.
class InverseObserver : public Observer {
 public:
  Status before_write(const RowView& row, ObserverContext& context) override {
    const std::string key(row.row());
    const Get get = Get(key).column("d", "q");
    CELLAR_TRY_ASSIGN(const RowBatch before, context.get(context.observed_table(), get));
    CELLAR_TRY_ASSIGN(const RowBatch after, context.get_after(context.observed_table(), get));
    const auto old_value = before.value("d", "q");
    const auto new_value = after.value("d", "q");
    if (old_value == new_value) return {};
    CELLAR_TRY_ASSIGN(const auto by_value, context.table("by_value"));
    CELLAR_TRY_ASSIGN(const auto counts, context.table("counts"));
    if (old_value) {
      CELLAR_TRY(context.erase(by_value, Delete(*old_value).column("v", key)));
      CELLAR_TRY(context.increment(counts, *old_value, "n", "rows", -1));
    }
    if (!new_value) return {};
    CELLAR_TRY(context.put(by_value, Put(*new_value).add("v", key, "")));
    return context.increment(counts, *new_value, "n", "rows", 1);
  }

  // The tables that it writes, opened or made.
  static Status make_tables(Engine& engine) {
    FamilyOptions columns;
    columns.name = "v";
    columns.delete_order = MarkerOrder::kSequence;  // deleted and put again in one millisecond
    CELLAR_TRY(engine.open_or_create_table("by_value", {.families = {columns}}).status());
    FamilyOptions numbers;
    numbers.name = "n";
    return engine.open_or_create_table("counts", {.families = {numbers}}).status();
  }

  // Complains unless the tables say of `table` exactly what it holds. The rows it holds.
  static size_t expect_agreement(Engine& engine, Table& table) {
    std::set<std::pair<std::string, std::string>> wanted, found;
    std::map<std::string, int64_t> wanted_counts, counts;
    const auto each_row = [](Table& of, const std::function<void(const RowView&)>& work) {
      const auto scanner = of.scan(Scan()).value();
      for (const RowView row : *scanner) work(row);
      EXPECT_OK(scanner->status());
    };
    each_row(table, [&](const RowView& row) {
      if (const auto value = row.value("d", "q")) wanted.emplace(*value, row.row());
    });
    for (const auto& [value, row] : wanted) ++wanted_counts[value];
    each_row(*engine.open_table("by_value").value(), [&](const RowView& row) {
      for (const CellView& cell : row) found.emplace(row.row(), cell.qualifier());
    });
    each_row(*engine.open_table("counts").value(), [&](const RowView& row) {
      const int64_t count = row.counter("n", "rows").value_or(-1);
      if (count != 0) counts.emplace(row.row(), count);
    });
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(counts, wanted_counts);
    return wanted.size();
  }
};

// ---- Writes to d:q of a few rows, which meet

inline std::string numbered_row(uint64_t number) { return "row" + std::to_string(number); }
inline std::string one_of_five_values(Random& random) { return "value" + std::to_string(random.below(5)); }

inline Status commit_two_rows(Engine& engine, const std::shared_ptr<Table>& table, Random& random) {
  const auto work = [&](Transaction& transaction) -> Status {
    CELLAR_TRY(
        transaction.put(table, Put(numbered_row(random.below(8))).add("d", "q", one_of_five_values(random))));
    return transaction.erase(table, Delete(numbered_row(random.below(8))).column("d", "q"));
  };
  return engine.run_transaction(work, {.attempts_max = 1000, .pause_us = 10});
}

inline Status write_batch_of_rows(Engine& engine, const std::shared_ptr<Table>& table, Random& random) {
  Batch batch;
  for (int i = 0; i < 3; ++i)
    batch.put(table, Put(numbered_row(random.below(8))).add("d", "q", one_of_five_values(random)));
  batch.erase(table, Delete(numbered_row(random.below(8))));
  return engine.write(batch);
}

// For a store on files that lose what was not synced, with threads that take turns.
inline EngineOptions options_for_crashes(FileSystem& files, ManualClock& clock, StepExecutor& executor) {
  EngineOptions options;
  options.create_if_missing = true;
  options.log_segment_bytes = 1 << 16;
  options.environment = {.files = &files, .clock = &clock, .executor = &executor, .seed = 7};
  return options;
}

}  // namespace cellar::testing
