// Goal: flat keys are HBase's bytes, untrusted ones are measured before use, and cells are checked against
// their limits. Method: HBase's sample cells as hex, every cut of a key, each limit from both sides.
#include "cell/cell_codec.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "cell/cell_order.h"
#include "tests/cell_support/cursor_contract.h"

namespace cellar::testing {
namespace {

TEST(CellCodec, KeysAreHBases) {
  std::string key;
  append_flat_key(key, "row1", "f", "a", 1700000000000, CellType::kPut);
  EXPECT_EQ(hex(key), "0004726f77310166610000018bcfe5680004");
  key.clear();
  append_flat_key(key, "row2", "f", "", 1700000000500, CellType::kDeleteFamily);
  EXPECT_EQ(hex(key), "0004726f773201660000018bcfe569f40e");
}

TEST(CellCodec, ParsesWhatItWrites) {
  Random random(test_seed(1));
  for (const Cell& cell : random_cells(random, 200, {})) {
    const OwnedCell kept = owned(cell);
    CellView view;
    ASSERT_TRUE(parse_flat_key(kept.view().key, kept.view().key_size, view));
    EXPECT_EQ(view.row(), cell.row);
    EXPECT_EQ(view.family(), cell.family);
    EXPECT_EQ(view.qualifier(), cell.qualifier);
    EXPECT_EQ(view.timestamp, cell.timestamp);
    EXPECT_EQ(view.type(), cell.type);
    EXPECT_EQ(Cell(kept.view()), cell);
  }
}

TEST(CellCodec, MeasuresUntrustedKeys) {
  std::string key;
  append_flat_key(key, "row", "family", "q", 5, CellType::kPut);
  CellView view;
  for (size_t size = 0; size < key.size() - 1; ++size) {
    const std::string cut = key.substr(0, size);  // its own allocation: a read past its end is detected
    EXPECT_FALSE(parse_flat_key(cut.data(), cut.size(), view)) << size;
  }
  std::string long_row = key;
  long_row[1] = '\xff';
  EXPECT_FALSE(parse_flat_key(long_row.data(), long_row.size(), view));
  std::string long_family = key;
  long_family[5] = '\xff';
  EXPECT_FALSE(parse_flat_key(long_family.data(), long_family.size(), view));
}

TEST(CellCodec, ChecksLimits) {
  const auto check = [](const Cell& cell, CellLimits limits = {}) {
    return check_cell(owned(cell).view(), limits);
  };
  const Cell good("r", "f", "q", 5, CellType::kPut, "v");
  EXPECT_TRUE(check(good).ok());
  Cell cell = good;
  cell.row.clear();
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  cell.row.assign(kRowBytesMax, 'r');
  EXPECT_TRUE(check(cell).ok());
  cell.row.push_back('r');
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  cell = good;
  cell.family.clear();
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  EXPECT_TRUE(check(cell, {.empty_family_ok = true}).ok());
  cell.family.assign(kFamilyBytesMax, 'f');
  EXPECT_TRUE(check(cell).ok());
  cell.family.push_back('f');
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  cell = good;
  cell.type = CellType::kMaximum;
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  cell = good;
  cell.timestamp = -1;
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  cell.timestamp = kLatestTimestamp;
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  EXPECT_TRUE(check(cell, {.latest_timestamp_ok = true}).ok());
  cell.timestamp = kLatestTimestamp - 1;
  EXPECT_TRUE(check(cell).ok());
  cell = good;
  cell.value.assign(11, 'v');
  EXPECT_TRUE(check(cell, {.value_bytes_max = 11}).ok());
  const Status too_long = check(cell, {.value_bytes_max = 10});
  EXPECT_TRUE(too_long.is(Code::kLimit));
  EXPECT_NE(too_long.message().find("r/f:q/5/Put"), std::string_view::npos);
  cell = good;
  append_tag(cell.tags, 1, std::string(kTagsBytesMax - 3, 't'));
  EXPECT_TRUE(check(cell).ok());
  cell.tags.clear();
  append_tag(cell.tags, 1, std::string(kTagsBytesMax - 2, 't'));
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
  cell.tags = "x";
  EXPECT_TRUE(check(cell).is(Code::kInvalidArgument));
}

TEST(CellCodec, TagsTileTheirBytes) {
  std::string tags;
  EXPECT_TRUE(tags_well_formed(tags));
  append_tag(tags, 8, "12345678");
  append_tag(tags, 1, "");
  EXPECT_TRUE(tags_well_formed(tags));
  for (size_t size = 1; size < tags.size(); ++size)
    EXPECT_EQ(tags_well_formed(std::string_view(tags).substr(0, size)), size == 11) << size;
  EXPECT_FALSE(tags_well_formed(std::string_view("\0\0\0", 3)));
}

TEST(OwnedCell, CopiesKeepTheirBytes) {
  OwnedCell copy;
  {
    OwnedCell first = owned(parse_cell("row/f:q/5/delete#7=value +ttl=9"));
    copy = first;
    const OwnedCell second(first);
    first.assign("x", "y", "z", 1, CellType::kPut, 1);
    EXPECT_EQ(print_cell(second.view()), "row/f:q/5/delete#7=value +ttl=9");
    copy = second;
  }
  EXPECT_EQ(print_cell(copy.view()), "row/f:q/5/delete#7=value +ttl=9");
  const OwnedCell& same = copy;
  copy = same;
  EXPECT_EQ(print_cell(copy.view()), "row/f:q/5/delete#7=value +ttl=9");
  OwnedCell empty;
  copy = empty;
  EXPECT_EQ(copy.view().key, nullptr);
}

TEST(OwnedCell, KeepsAKeyAlone) {
  std::string key;
  append_flat_key(key, "row", "f", "q", 5, CellType::kDelete);
  OwnedCell cell;
  cell.assign("other", "f", "q", 1, CellType::kPut, 1, "value", ttl_tag(5));
  cell.assign_key(key, 3);
  EXPECT_EQ(print_cell(cell.view()), "row/f:q/5/delete#3");
}

}  // namespace
}  // namespace cellar::testing
