// Goal: the model that random tests trust does what the data model says, in examples one can check by head.
// Method: the five deletes, counters, appends, scans and rewrites on a table of two families.
#include "tests/cell_support/model_table.h"

#include <gtest/gtest.h>

#include "base/coding.h"

namespace cellar::testing {
namespace {

using Kind = ModelChange::Kind;

class ModelTableTest : public ::testing::Test {
 protected:
  Status write(const std::vector<ModelChange>& changes) { return table_.apply(changes, ++sequence_, now_); }
  Status put(const std::string& row, const std::string& qualifier, const std::string& value,
             std::optional<int64_t> timestamp = {}) {
    return write(
        {{.row = row, .family = "f", .qualifier = qualifier, .timestamp = timestamp, .value = value}});
  }
  std::string get(const std::string& row, uint32_t versions = UINT32_MAX) const {
    ModelScan scan;
    scan.versions = versions;
    std::string text;
    for (const Cell& cell : table_.get(row, scan, now_)) text += print_cell(cell) + "\n";
    return text;
  }

  ModelTable table_{{{"f", {.max_versions = 3}}, {"g", {}}}};
  uint64_t sequence_ = 0;
  int64_t now_ = 100;
};

TEST_F(ModelTableTest, DeletesTheNthLatest) {
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(put("r", "q", std::to_string(i), i).ok());
  const ModelChange latest{.kind = Kind::kDeleteLatest, .row = "r", .family = "f", .qualifier = "q"};
  ASSERT_TRUE(write({latest, latest}).ok());
  EXPECT_EQ(get("r"), "r/f:q/1/put#1=1\n");
  ASSERT_TRUE(write({latest, latest}).ok());  // the second finds nothing and is stamped now
  EXPECT_EQ(get("r"), "");
  ASSERT_TRUE(put("r", "q", "hidden", 100).ok());
  ASSERT_TRUE(put("r", "q", "seen", 101).ok());
  EXPECT_EQ(get("r"), "r/f:q/101/put#7=seen\n");
}

TEST_F(ModelTableTest, DeletesRowsFamiliesAndColumns) {
  ASSERT_TRUE(write({{.row = "r", .family = "f", .qualifier = "q", .value = "1"},
                     {.row = "r", .family = "g", .qualifier = "q", .value = "2"},
                     {.row = "s", .family = "g", .qualifier = "q", .value = "3"}})
                  .ok());
  ASSERT_TRUE(write({{.kind = Kind::kDeleteFamily, .row = "r", .family = "f"}}).ok());
  EXPECT_EQ(get("r"), "r/g:q/100/put#1=2\n");
  ASSERT_TRUE(write({{.kind = Kind::kDeleteRow, .row = "r"}}).ok());
  EXPECT_EQ(get("r"), "");
  ASSERT_TRUE(
      write({{.kind = Kind::kDeleteColumn, .row = "s", .family = "g", .qualifier = "q", .timestamp = 99}})
          .ok());
  EXPECT_EQ(get("s"), "s/g:q/100/put#1=3\n");
  ASSERT_TRUE(
      write({{.kind = Kind::kDeleteVersion, .row = "s", .family = "g", .qualifier = "q", .timestamp = 100}})
          .ok());
  EXPECT_EQ(get("s"), "");
}

TEST_F(ModelTableTest, CountsAndAppends) {
  const ModelChange add{.kind = Kind::kIncrement, .row = "r", .family = "f", .qualifier = "n", .amount = 5};
  ASSERT_TRUE(write({add, add}).ok());
  now_ = 50;  // the clock steps back: the new value is still the newest
  ASSERT_TRUE(write({add}).ok());
  EXPECT_EQ(get("r", 1), "r/f:n/101/put#2=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x0F\n");
  ModelChange overflow = add;
  overflow.amount = INT64_MAX;
  EXPECT_TRUE(write({overflow}).is(Code::kInvalidArgument));
  ASSERT_TRUE(put("r", "s", "ab", 60).ok());
  ASSERT_TRUE(
      write(
          {{.kind = Kind::kAppend, .row = "r", .family = "f", .qualifier = "s", .value = "cd", .ttl_ms = 10}})
          .ok());
  EXPECT_EQ(table_.get("r", {.columns = {{"f", {"s"}}}}, now_).at(0).value, "abcd");
  ModelChange not_a_counter = add;
  not_a_counter.qualifier = "s";
  EXPECT_TRUE(write({not_a_counter}).is(Code::kInvalidArgument));
  now_ = 100;  // the appended value has ended its life, the one before shows
  EXPECT_EQ(table_.get("r", {.columns = {{"f", {"s"}}}}, now_).at(0).value, "ab");
}

TEST_F(ModelTableTest, ScansInBothDirections) {
  for (const std::string row : {"a", "b", "c", "d"}) ASSERT_TRUE(put(row, "q", row).ok());
  const auto rows = [&](const ModelScan& scan) {
    std::string text;
    for (const Cells& cells : table_.scan(scan, now_)) text += cells.at(0).row;
    return text;
  };
  EXPECT_EQ(rows({}), "abcd");
  EXPECT_EQ(rows({.start = "b", .stop = "d"}), "bc");
  EXPECT_EQ(rows({.start = "b", .stop = "d", .start_inclusive = false, .stop_inclusive = true}), "cd");
  EXPECT_EQ(rows({.reversed = true}), "dcba");
  EXPECT_EQ(rows({.start = "c", .stop = "a", .reversed = true}), "cb");
  EXPECT_EQ(rows({.rows_max = 2}), "ab");
  EXPECT_EQ(rows({.start = "d", .stop = "b"}), "");
  EXPECT_EQ(rows({.read_point = 2}), "ab");
}

TEST_F(ModelTableTest, RowsComeInParts) {
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(put("r", std::to_string(i), "v").ok());
  const std::vector<Cells> parts = table_.scan({.cells_per_part = 2}, now_);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].size(), 2U);
  EXPECT_EQ(parts[2].size(), 1U);
}

TEST_F(ModelTableTest, FlushesAndCompacts) {
  ModelStore& store = table_.family("f");
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(put("r", "q", std::to_string(i), i).ok());
    store.flush({.now_ms = now_});
  }
  ASSERT_EQ(store.runs().size(), 5U);
  const std::string before = get("r");
  store.compact({1, 2}, false, {.now_ms = now_});
  ASSERT_EQ(store.runs().size(), 4U);
  EXPECT_EQ(get("r"), before);
  store.compact({0, 1, 2, 3}, true, {.snapshots = {1}, .now_ms = now_});
  ASSERT_EQ(store.runs().size(), 1U);
  EXPECT_EQ(print_cells(store.runs()[0]),
            "r/f:q/5/put#5=5\nr/f:q/4/put#4=4\nr/f:q/3/put#3=3\nr/f:q/1/put#1=1\n");
  EXPECT_EQ(get("r"), before);
}

TEST_F(ModelTableTest, RefusesUnknownFamilies) {
  EXPECT_TRUE(write({{.row = "r", .family = "x", .qualifier = "q"}}).is(Code::kInvalidArgument));
}

}  // namespace
}  // namespace cellar::testing
