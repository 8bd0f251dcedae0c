// The server understands the messages of Cellar's client of HBase: filters, reads and writes there and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hbase/wire/cell_blocks.h"
#include "hbase/wire/client.pb.h"
#include "hbase/wire/from_wire_filter.h"
#include "hbase/wire/from_wire_mutation.h"
#include "hbase/wire/from_wire_read.h"
#include "hbase/wire/to_wire.h"

namespace cellar::testing {
namespace {

namespace wire = hbase::wire;

TEST(RoundTripTest, EveryFilterComesBackWithItsText) {
  const FilterPtr name = row_filter(CompareOp::kGreaterOrEqual, binary("row"));
  const std::vector<FilterPtr> filters = {
      name,
      prefix_filter("pre"),
      inclusive_stop_filter("stop"),
      page_filter(10),
      fuzzy_row_filter({{std::string("a\0c", 3), std::string("\0\1\0", 3)}}).value(),
      multi_row_range_filter({{"a", "b"}, {"c", ""}}).value(),
      family_filter(CompareOp::kNotEqual, binary_prefix("f")),
      qualifier_filter(CompareOp::kLess, substring("q")),
      value_filter(CompareOp::kEqual, regex("^v.*").value()),
      value_filter(CompareOp::kEqual, regex_ignoring_case("v").value()),
      value_filter(CompareOp::kGreater, long_number(-7)),
      value_filter(CompareOp::kEqual, big_decimal("-125e-1").value()),
      value_filter(CompareOp::kEqual, null_value()),
      value_filter(CompareOp::kEqual, bits_and("\1\2")),
      value_filter(CompareOp::kEqual, bits_xor("\1")),
      value_filter(CompareOp::kEqual, binary_component("x", 3)),
      column_prefix_filter("c"),
      multiple_column_prefix_filter({"a", "b"}),
      column_range_filter("a", true, "b", false),
      column_count_get_filter(3),
      column_pagination_filter(3, 2u),
      column_pagination_filter(3, "q"),
      first_key_only_filter(),
      first_key_value_matching_qualifiers_filter({"a", "b"}),
      column_value_filter("f", "q", CompareOp::kEqual, binary("v")),
      timestamps_filter({1, 2, 3}),
      seeking_timestamps_filter({1, 2, 3}),
      key_only_filter(),
      value_size_filter(),
      single_column_value_filter("f", "q", CompareOp::kEqual, binary("v"), true, false),
      single_column_value_exclude_filter("f", "q", CompareOp::kEqual, binary("v")),
      dependent_column_filter("f", "q"),
      dependent_column_exclude_filter("f", "q", CompareOp::kEqual, binary("v")),
      all_of({name, page_filter(1)}),
      any_of({name, all_of({page_filter(1), key_only_filter()})}),
      skip_filter(name),
      while_match_filter(name),
  };
  for (const FilterPtr& each : filters) {
    wire::WireFilter message;
    ASSERT_TRUE(wire::to_wire_filter(*each, message).ok()) << each->to_text();
    const auto back = wire::from_wire_filter(message);
    ASSERT_TRUE(back.ok()) << each->to_text() << ": " << back.status();
    EXPECT_EQ(back.value()->to_text(), each->to_text());
  }
}

TEST(RoundTripTest, AReadComesBack) {
  Get sent("row");
  sent.column("f", "q").column("f", "r").family("g").versions(3).time_range(5, 9).fill_cache(false);
  sent.family_time_range("g", 1, 2).filter(key_only_filter());
  sent.max_per_family(4).family_offset(1).count_cells_per_family(true).load_families_on_demand(false);
  wire::WireGet message;
  ASSERT_TRUE(wire::to_wire_get(sent, message).ok());
  const auto got = wire::from_wire_get(message);
  ASSERT_TRUE(got.ok()) << got.status();
  const Get& back = got.value();
  EXPECT_EQ(back.row(), sent.row());
  EXPECT_EQ(back.columns(), sent.columns());
  EXPECT_EQ(back.versions(), 3u);
  EXPECT_EQ(back.time_from(), 5);
  EXPECT_EQ(back.time_until(), 9);
  EXPECT_EQ(back.family_time_ranges(), sent.family_time_ranges());
  EXPECT_EQ(back.max_per_family(), 4u);
  EXPECT_EQ(back.family_offset(), 1u);
  EXPECT_TRUE(back.count_cells_per_family());
  EXPECT_FALSE(back.fill_cache());
  EXPECT_FALSE(back.load_families_on_demand());
  EXPECT_EQ(back.filter()->to_text(), sent.filter()->to_text());

  Scan scan;
  scan.all_versions().reversed(true).raw(true).batch(5);
  wire::WireScan scan_message;
  ASSERT_TRUE(wire::to_wire_scan(scan, scan_message).ok());
  const auto scanned = wire::from_wire_scan(scan_message);
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  EXPECT_EQ(scanned.value().versions(), UINT32_MAX);
  EXPECT_TRUE(scanned.value().reversed());
  EXPECT_TRUE(scanned.value().raw());
  EXPECT_EQ(scanned.value().batch(), 5u);
}

// Sends a change, and returns what came.
template <class Mutation>
wire::ReadMutation sent(const Mutation& mutation, const WriteOptions& options = {}) {
  wire::WireMutation message;
  std::string block;
  EXPECT_TRUE(wire::to_wire_mutation(mutation, options, message, block).ok());
  wire::CellBlockReader reader(block);
  auto read = wire::from_wire_mutation(message, reader);
  EXPECT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(reader.at_end());
  return read.ok() ? *std::move(read) : wire::ReadMutation{Put("none"), {}, 0};
}

template <class Mutation>
void expect_same(const Mutation& mutation) {
  const wire::ReadMutation read = sent(mutation);
  const auto* back = std::get_if<Mutation>(&read.mutation);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->row(), mutation.row());
  std::multimap<std::string, Cell> before;
  std::multimap<std::string, Cell> after;
  for (const Cell& cell : mutation.cells()) before.emplace(cell.family + ":" + cell.qualifier, cell);
  for (const Cell& cell : back->cells()) after.emplace(cell.family + ":" + cell.qualifier, cell);
  EXPECT_EQ(before, after);
}

TEST(RoundTripTest, AChangeComesBackWithItsCells) {
  expect_same(Put("row").add("f", "q", "v").add_at("f", "r", 5, "").add("g", "", "w"));
  Delete erase("row");
  erase.version("f", "a", 5).latest_version("f", "b").column("f", "c").column("f", "d", 7);
  erase.family_version("g", 9);
  expect_same(erase);
  expect_same(Delete("row").family("f", 3));
  expect_same(Delete("row", 8));
  expect_same(Increment("row").add("f", "n", -3).add("f", "m", 0));
  expect_same(Append("row").add("f", "q", "more"));
  WriteOptions options;
  options.durability = Durability::kFsyncWal;
  EXPECT_EQ(sent(Put("row").add("f", "q", "v"), options).options.durability, Durability::kFsyncWal);
  const wire::ReadMutation increment =
      sent(Increment("row").add("f", "n", 1).return_cells(false).time_range(2, 9));
  EXPECT_FALSE(std::get<Increment>(increment.mutation).return_cells());
  EXPECT_EQ(std::get<Increment>(increment.mutation).time_from(), 2);
  EXPECT_EQ(std::get<Increment>(increment.mutation).time_until(), 9);
}

TEST(RoundTripTest, AConditionIsUnderstood) {
  for (const CheckAndMutate& check :
       {CheckAndMutate("row").if_equals("f", "q", "v"), CheckAndMutate("row").if_not_exists("f", "q"),
        CheckAndMutate("row").if_stored("f", "q", CompareOp::kLess, "v"),
        CheckAndMutate("row").if_passes(page_filter(1)).time_range(1, 2)}) {
    wire::Condition message;
    ASSERT_TRUE(wire::to_wire_condition(check, message).ok());
    const auto back = wire::from_wire_condition(message);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back.value().row(), "row");
  }
}

}  // namespace
}  // namespace cellar::testing
