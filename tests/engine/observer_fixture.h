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
#include "tests/engine/engine_fixture.h"

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

}  // namespace cellar::testing
