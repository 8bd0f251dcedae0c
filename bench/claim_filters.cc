// Claims about filters: a prefix of columns in one get (Q32), and the cost of each kind of filter (Q33).
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"

namespace cellar::bench {
namespace {

// ---- Q32: ten columns of a row of many, which share a prefix ----

constexpr uint64_t kQ32Chosen = 10;

enum class Q32Way { kNamed, kPrefix, kRange, kQualifier, kDiscard };
constexpr const char* kQ32Names[] = {"columns_named", "column_prefix_filter", "column_range_filter",
                                     "qualifier_filter", "read_all_and_discard"};

Get q32_get(Q32Way way, const std::string& prefix) {
  Get get("wide");
  switch (way) {
    case Q32Way::kNamed:
      for (uint64_t i = 0; i < kQ32Chosen; ++i) get.column("d", prefix + numbered("", i, 1));
      break;
    case Q32Way::kPrefix:
      get.filter(column_prefix_filter(prefix));
      break;
    case Q32Way::kRange:
      get.filter(column_range_filter(prefix + "0", true, prefix + "9", true));
      break;
    case Q32Way::kQualifier:
      get.filter(qualifier_filter(CompareOp::kEqual, binary_prefix(prefix)));
      break;
    case Q32Way::kDiscard:
      break;
  }
  return get;
}

void q32(benchmark::State& state, uint64_t columns, Q32Way way) {
  const uint64_t width = scaled(columns, 1000);
  Table& table = ready(Bed::of(fmt::format("q32 {}", columns), [=] { return wide_row_plan(width); }), true);
  Random random(32);
  RowBatch row;
  size_t chosen = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    // The prefix is all digits of a number but the last one.
    const std::string prefix = numbered("c", random.below(width / kQ32Chosen), 7);
    CELLAR_TRY(table.get_into(q32_get(way, prefix).stats(&stats), row));
    for (const CellView& cell : row.row())
      if (way != Q32Way::kDiscard || cell.qualifier().starts_with(prefix)) ++chosen;
    row.clear();
    return {};
  });
  expect_each(state, chosen, kQ32Chosen);
}

void register_q32() {
  for (const uint64_t columns : {1000, 10'000, 100'000}) {
    for (const Q32Way way :
         {Q32Way::kNamed, Q32Way::kPrefix, Q32Way::kRange, Q32Way::kQualifier, Q32Way::kDiscard})
      claim(fmt::format("Q32_column_prefix/way:{}/columns:{}", kQ32Names[static_cast<int>(way)], columns),
            [=](benchmark::State& state) { q32(state, columns, way); });
  }
}

// ---- Q33: scans of everything that return a hundredth ----

// Rows of five columns. A hundredth of the rows begins with "hit". Such rows have a column of their own
// instead of "q2", and "hit" in each value.
constexpr uint64_t kQ33Columns = 5;
constexpr uint64_t kQ33Part = 100;
uint64_t q33_rows() { return scaled(20'000, 1000) / kQ33Part * kQ33Part; }

BedPlan q33_plan() {
  BedPlan plan;
  plan.table.families = {{.name = "d"}};
  plan.fill = [](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t row = 0; row < q33_rows(); ++row) {
      const bool hit = row % kQ33Part == 0;
      Put put((hit ? "hit" : "row") + numbered("", row));
      for (uint64_t column = 0; column < kQ33Columns; ++column)
        put.add_at("d", hit && column == 2 ? "q2hit" : numbered("q", column, 1), hit ? 2 : 1,
                   (hit ? "=hit" : "=no_") + text_of(row * kQ33Columns + column, 50));
      batch.put(table, put);
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

struct Q33Way {
  const char* name;
  Scan scan;
  uint64_t cells;  // of each row that passes
};

std::vector<Q33Way> q33_ways() {
  const ComparatorPtr hit = binary_prefix("=hit");
  const CompareOp equal = CompareOp::kEqual;
  return {
      {"no_filter", Scan(), 0},
      {"rows_by_prefix_of_the_scan", Scan().prefix("hit"), kQ33Columns},
      {"row_filter", Scan().filter(row_filter(equal, binary_prefix("hit"))), kQ33Columns},
      {"column_named", Scan().column("d", "q2hit"), 1},
      {"qualifier_filter", Scan().filter(qualifier_filter(equal, binary("q2hit"))), 1},
      {"timestamps_filter", Scan().filter(timestamps_filter({2})), kQ33Columns},
      {"value_filter", Scan().filter(value_filter(equal, hit)), kQ33Columns},
      {"value_filter_substring", Scan().filter(value_filter(equal, substring("=HIT"))), kQ33Columns},
      {"value_filter_regex", Scan().filter(value_filter(equal, must(regex("^=hit[a-z]")))), kQ33Columns},
      {"value_of_one_column", Scan().filter(column_value_filter("d", "q1", equal, hit)), 1},
      {"value_of_one_column_named", Scan().column("d", "q1").filter(value_filter(equal, hit)), 1},
      {"rows_by_value_of_a_column", Scan().filter(single_column_value_filter("d", "q1", equal, hit)),
       kQ33Columns},
  };
}

bool q33_value_hits(const CellView& cell) { return cell.value_bytes().starts_with("=hit"); }

void q33(benchmark::State& state, size_t which) {
  const Q33Way way = q33_ways()[which];
  const bool all = which == 0;  // the caller looks at each value itself
  size_t cells = 0;
  size_t reads = 0;
  measure(state, Bed::of("q33", q33_plan), false, [&](Table& table, ReadStats& stats) {
    ++reads;
    Scan scan = way.scan;
    return count_cells(table, scan.stats(&stats), all ? q33_value_hits : nullptr, cells);
  });
  expect(state, cells == reads * q33_rows() / kQ33Part * (all ? kQ33Columns : way.cells),
         "wrong number of cells");
}

void register_q33() {
  const std::vector<Q33Way> ways = q33_ways();
  for (size_t which = 0; which < ways.size(); ++which)
    claim(fmt::format("Q33_filters/by:{}", ways[which].name), [=](benchmark::State& state) {
      q33(state, which);
    })->UseManualTime();
}

[[maybe_unused]] const bool registered_filters = [] {
  register_q32();
  register_q33();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
