// Goal: cells print in the one form of cell streams, tags are found, names of types go both ways.
// Method: examples, among them the one of the README's form, and hostile bytes.
#include "cellar/cell.h"

#include <gtest/gtest.h>

#include "tests/cell_support/cell_text.h"

namespace cellar::testing {
namespace {

std::string json(const Cell& cell, bool mvcc = false, bool tags = false) {
  std::string text;
  append_json(text, owned(cell).view(), mvcc, tags);
  return text;
}

TEST(Cell, PrintsAsOneJsonObject) {
  Cell cell("row1", "f", "a", 1700000000000, CellType::kPut, "v1");
  cell.sequence = 7;
  cell.tags = ttl_tag(0x7b);
  append_tag(cell.tags, 1, "");
  const std::string plain =
      R"({"row":"row1","family":"f","qualifier":"a","ts":1700000000000,"type":"Put","value":"v1")";
  const std::string tags = R"(,"tags":[[8,"\\x00\\x00\\x00\\x00\\x00\\x00\\x00{"],[1,""]])";
  EXPECT_EQ(json(cell), plain + "}");
  EXPECT_EQ(json(cell, true), plain + R"(,"mvcc":7})");
  EXPECT_EQ(json(cell, false, true), plain + tags + "}");
  EXPECT_EQ(json(cell, true, true), plain + R"(,"mvcc":7)" + tags + "}");
  const Cell marker("r", "f", "", kLatestTimestamp, CellType::kDeleteFamilyVersion, "");
  EXPECT_EQ(json(marker, false, true),
            R"({"row":"r","family":"f","qualifier":"","ts":9223372036854775807,"type":"DeleteFamilyVersion",)"
            R"("value":"","tags":[]})");
}

TEST(Cell, JsonKeepsPrintableAsciiAndEscapesTheRest) {
  const Cell cell(std::string("\0\x1f~\x7f\xff", 5), "f", "\"q\\", 1, CellType::kPut, "\xc3\xa4 \n");
  EXPECT_EQ(json(cell),
            R"({"row":"\\x00\\x1F~\\x7F\\xFF","family":"f","qualifier":"\"q\\x5C","ts":1,"type":"Put",)"
            R"("value":"\\xC3\\xA4 \\x0A"})");
}

TEST(Cell, NamesOfTypesGoBothWays) {
  for (int code = 0; code < 256; ++code) {
    const auto type = static_cast<CellType>(code);
    CellType parsed = CellType::kMinimum;
    EXPECT_EQ(parse_type(type_name(type), parsed), is_stored_type(type)) << code;
    if (is_stored_type(type)) {
      EXPECT_EQ(parsed, type);
    }
  }
  EXPECT_EQ(type_name(CellType::kMaximum), "Maximum");
  EXPECT_EQ(type_name(static_cast<CellType>(5)), "Unknown");
}

TEST(Cell, FindsTheFirstTagOfAType) {
  std::string tags;
  append_tag(tags, 1, "acl");
  append_tag(tags, 8, "first");
  append_tag(tags, 8, "second");
  append_tag(tags, 2, "");
  std::string_view value;
  EXPECT_TRUE(find_tag(tags, 8, value));
  EXPECT_EQ(value, "first");
  EXPECT_TRUE(find_tag(tags, 2, value));
  EXPECT_EQ(value, "");
  EXPECT_FALSE(find_tag(tags, 3, value));
  EXPECT_FALSE(find_tag("", 3, value));
}

TEST(CellText, GoesBothWays) {
  for (const std::string text :
       {"r/f:q/5/put", "r/f:/5/delete_family#7",
        "r\\x2F/f:\\x3A\\x23/latest/delete_column#18446744073709551615",
        "r/f:q/5/put#1=v\\x3D\\x2B\\x20\\x00 +ttl=500 +1=acl", "r/f:q/oldest/minimum",
        "r/f:q/-1/delete_family_version", "r/f:q/5/maximum", "r/f:q/5/delete"}) {
    EXPECT_EQ(print_cell(parse_cell(text)), text);
  }
  EXPECT_EQ(print_cell(parse_cell("r/f:q/5")), "r/f:q/5/put");
}

}  // namespace
}  // namespace cellar::testing
