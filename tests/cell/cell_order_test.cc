// Goal: cells sort as HBase sorts them, and index separators are the bytes HBase writes. Method: a list in
// order is compared pairwise. Search keys are placed around stored cells. HBase's own separators are
// reproduced. For random neighbours, any rule must give left < separator <= right.
#include "cell/cell_order.h"

#include <gtest/gtest.h>

#include <tuple>

#include "base/bytes.h"
#include "base/random.h"
#include "cell/cell_key.h"
#include "tests/cell_support/cursor_contract.h"

namespace cellar::testing {
namespace {

constexpr SeparatorRule kRules[] = {SeparatorRule::kRealKeys, SeparatorRule::kHBase1To24,
                                    SeparatorRule::kHBase25};

std::string separator(SeparatorRule rule, std::string_view left, std::string_view right) {
  std::string result = "what was there before";
  shortest_separator(rule, owned(parse_cell(left)).view(), owned(parse_cell(right)).view(), result);
  return result;
}

std::string separator_text(SeparatorRule rule, std::string_view left, std::string_view right) {
  OwnedCell key;
  key.assign_key(separator(rule, left, right), 0);
  return print_cell(key.view());
}

TEST(CellOrder, IsHBases) {
  const Cells cells = parse_cells(
      "a/f:q/5\n"
      "a\\x00/f:q/5\n"
      "aa/f:/9/delete_family#1\n"
      "aa/f:/9/delete_family_version#1\n"
      "aa/f:/3/delete_family#1\n"
      "aa/f:/2\n"
      "aa/f:q/latest/maximum\n"
      "aa/f:q/latest#9\n"
      "aa/f:q/7/delete_family#1\n"
      "aa/f:q/7/delete_column#1\n"
      "aa/f:q/7/delete_family_version#1\n"
      "aa/f:q/7/delete#9\n"
      "aa/f:q/7/put#9\n"
      "aa/f:q/7/put#8\n"
      "aa/f:q/7/put\n"
      "aa/f:q/6/put#99\n"
      "aa/f:q/oldest/minimum\n"
      "aa/f:qq/8\n"
      "aa/f:\\xFF/8\n"
      "aa/ff:/8\n"
      "aa/g:/8\n"
      "aa/:/oldest/minimum\n"
      "ab/f:q/5\n"
      "\\xFF/f:q/5\n");
  for (size_t i = 0; i < cells.size(); ++i)
    for (size_t k = 0; k < cells.size(); ++k) {
      const OwnedCell a = owned(cells[i]);
      const OwnedCell b = owned(cells[k]);
      EXPECT_EQ(compare_cells(a.view(), b.view()), i <=> k)
          << print_cell(cells[i]) << " and " << print_cell(cells[k]);
      EXPECT_EQ(same_row(a.view(), b.view()), cells[i].row == cells[k].row);
      EXPECT_EQ(same_column(a.view(), b.view()), cells[i].row == cells[k].row &&
                                                     cells[i].family == cells[k].family &&
                                                     cells[i].qualifier == cells[k].qualifier);
    }
}

TEST(CellOrder, NamesSortAsTheirBytes) {
  Random random(1);
  const auto draw = [&] {
    std::string name(random.below(20), 'a');
    for (char& each : name)
      if (random.one_in(6)) each = "\0ab\xff"[random.below(4)];
    return name;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string a = draw();
    const std::string b = random.one_in(4) ? a + std::string(random.below(10), '\0') : draw();
    OwnedCell cell;
    cell.assign("row", "f", b, 5, CellType::kPut, 1);
    const int order = compare_qualifiers(a, row_word(a, 0), cell.view(), qualifier_word(cell.view()));
    EXPECT_EQ(order <=> 0, a.compare(b) <=> 0) << escaped(a) << " and " << escaped(b);
  }
}

TEST(CellOrder, AQuickLookIsRightWhereItTells) {
  Random random(7);
  uint64_t told = 0;
  const auto draw = [&] {
    std::string text(random.below(20), '\0');
    for (char& c : text) c = "\x00\x01\x7f\x80\xff"[random.below(5)];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string row = "r" + draw();
    const std::string column = draw();
    const auto key = [&](bool same_row, bool same_column) {
      OwnedCell cell;
      cell.assign(same_row ? row : "r" + draw(), "f", same_column ? column : draw(),
                  static_cast<int64_t>(random.below(3)),
                  random.one_in(2) ? CellType::kPut : CellType::kDelete, 0);
      return cell;
    };
    const OwnedCell a = key(random.one_in(2), random.one_in(2));
    const OwnedCell b = key(random.one_in(2), random.one_in(2));
    const auto parts = [](const CellView& cell) {
      return std::tuple(cell.row(), cell.qualifier(), -cell.timestamp, -static_cast<int>(cell.type()));
    };
    EXPECT_EQ(compare_keys(a.view(), b.view()), parts(a.view()) <=> parts(b.view()))
        << key_text(a.view()) << " " << key_text(b.view());
    EXPECT_EQ(same_row(a.view(), b.view()), a.view().row() == b.view().row());
    if (a.view().row_size == b.view().row_size) {
      EXPECT_EQ(rows_differ(a.view(), b.view()), a.view().row() != b.view().row());
    }
    if (a.view().row() == b.view().row() && a.view().key_size == b.view().key_size &&
        columns_end_differently(a.view(), b.view())) {
      EXPECT_NE(a.view().qualifier(), b.view().qualifier());
    }
    if (plainly_before(a.view(), b.view())) {
      ++told;
      EXPECT_TRUE(compare_keys(a.view(), b.view()) < 0) << key_text(a.view()) << " " << key_text(b.view());
    } else if (same_sizes(a.view(), b.view()) &&
               first_difference(a.view(), b.view()) < end_of_columns(a.view(), b.view())) {
      EXPECT_TRUE(compare_keys(a.view(), b.view()) > 0) << key_text(a.view()) << " " << key_text(b.view());
    }
  }
  EXPECT_GT(told, 1000u);
}

TEST(CellOrder, KeysIgnoreSequences) {
  const OwnedCell a = owned(parse_cell("a/f:q/5#1"));
  const OwnedCell b = owned(parse_cell("a/f:q/5#2"));
  EXPECT_EQ(compare_keys(a.view(), b.view()), std::strong_ordering::equal);
  EXPECT_EQ(compare_cells(a.view(), b.view()), std::strong_ordering::greater);
}

TEST(CellOrder, SearchKeysStandAroundWhatTheyName) {
  Random random(test_seed(1));
  const Cells cells = random_cells(random, 150, {});
  OwnedCell key;
  for (const Cell& named : cells)
    for (const Cell& other : cells) {
      const OwnedCell cell = owned(other);
      const bool in_column = other.row == named.row && other.qualifier == named.qualifier;
      const auto column = [&] {
        return std::pair(other.row, other.qualifier) <=> std::pair(named.row, named.qualifier);
      };
      first_of_row(key, named.row);
      EXPECT_EQ(compare_cells(key.view(), cell.view()) < 0, other.row >= named.row);
      last_of_row(key, named.row);
      EXPECT_EQ(compare_cells(key.view(), cell.view()) > 0, other.row <= named.row);
      first_of_column(key, named.row, "f", named.qualifier);
      EXPECT_EQ(compare_cells(key.view(), cell.view()) < 0, in_column || column() > 0);
      last_of_column(key, named.row, "f", named.qualifier);
      EXPECT_EQ(compare_cells(key.view(), cell.view()) > 0, in_column || column() < 0);
    }
}

// Between the sample cells of HBase 2.5's own files.
TEST(Separator, IsTheBytesOfHBase25) {
  constexpr auto kRule = SeparatorRule::kHBase25;
  EXPECT_EQ(hex(separator(kRule, "row1/f:a/1700000000000", "row1/f:ab/1700000000000")),
            "0004726f7731016661007fffffffffffffffff");
  EXPECT_EQ(hex(separator(kRule, "row1/f:ab/1700000000000", "row2/f:/1700000000500/delete_family")),
            "0004726f7732007fffffffffffffffff");
  EXPECT_EQ(hex(separator(kRule, "row2/f:/1700000000500/delete_family", "row2/f:a/1699999999999")),
            "0004726f77320166007fffffffffffffffff");
}

TEST(Separator, FollowsItsRule) {
  using enum SeparatorRule;
  // Rows that differ in a byte.
  EXPECT_EQ(separator_text(kHBase25, "abc/f:q/5", "abz/f:q/5"), "abd/:/latest/maximum");
  EXPECT_EQ(separator_text(kHBase1To24, "abc/f:q/5", "abz/f:q/5"), "abd/:/latest/maximum");
  EXPECT_EQ(separator_text(kRealKeys, "abc/f:q/5", "abz/f:q/5"), "abz/f:q/5/put");
  // Neighbouring bytes: nothing lies between, the right one's prefix is taken.
  EXPECT_EQ(separator_text(kHBase25, "abcx/f:q/5", "abdyy/f:q/5"), "abd/:/latest/maximum");
  EXPECT_EQ(separator_text(kHBase1To24, "abcx/f:q/5", "abdyy/f:q/5"), "abd/:/latest/maximum");
  // The left one is a prefix.
  EXPECT_EQ(separator_text(kHBase25, "ab/f:q/5", "abcde/f:q/5"), "ab\\x00/:/latest/maximum");
  EXPECT_EQ(separator_text(kHBase1To24, "ab/f:q/5", "abcde/f:q/5"), "abc/:/latest/maximum");
  // The old rule took the left byte as signed: 0x7f + 1 < 0x90 holds, and so does 0x80 (-128) + 1 < 0x81.
  EXPECT_EQ(separator_text(kHBase1To24, "a\\x7F/f:q/5", "a\\x90/f:q/5"), "a\\x80/:/latest/maximum");
  EXPECT_EQ(separator_text(kHBase1To24, "a\\x80x/f:q/5", "a\\x81y/f:q/5"), "a\\x81/:/latest/maximum");
  // Qualifiers, in the same row.
  EXPECT_EQ(separator_text(kHBase25, "r/f:qa/5", "r/f:qzz/5"), "r/f:qb/latest/maximum");
  EXPECT_EQ(separator_text(kHBase1To24, "r/f:qa/5", "r/f:qazz/5"), "r/f:qaz/latest/maximum");
  // Families, which occurs in no file of one family.
  EXPECT_EQ(separator_text(kHBase25, "r/f:q/5", "r/h:q/5"), "r/g:/latest/maximum");
  // The same column: the real key.
  for (const SeparatorRule rule : kRules)
    EXPECT_EQ(separator_text(rule, "r/f:q/5", "r/f:q/4/delete"), "r/f:q/4/delete");
}

TEST(Separator, LiesBetweenItsNeighbours) {
  Random random(test_seed(2));
  std::string text;
  OwnedCell key;
  for (uint64_t round = 0; round < scaled(400); ++round) {
    const Cells cells = random_cells(random, 30, {});
    for (size_t i = 1; i < cells.size(); ++i) {
      const OwnedCell left = owned(cells[i - 1]);
      const OwnedCell right = owned(cells[i]);
      if (compare_keys(left.view(), right.view()) == 0) continue;
      for (const SeparatorRule rule : kRules) {
        shortest_separator(rule, left.view(), right.view(), text);
        key.assign_key(text, 0);
        EXPECT_TRUE(compare_keys(left.view(), key.view()) < 0 && compare_keys(key.view(), right.view()) <= 0)
            << print_cell(left.view()) << " | " << print_cell(key.view()) << " | "
            << print_cell(right.view());
      }
    }
  }
}

// Rows of hbase:meta are compared part by part, so that a table's name may sort against another's start key.
TEST(MetaOrder, ComparesTableStartKeyAndRest) {
  const std::string rows[] = {"a",          "a,,1",   "a,,2",  "a,\\x00,1", "a,b,1", "a,b,c,0",
                              "a,b\\x21,1", "a,ba,1", "a!,,1", "ab",        "ab,,1"};
  for (size_t i = 0; i < std::size(rows); ++i)
    for (size_t k = 0; k < std::size(rows); ++k) {
      const OwnedCell a = owned(parse_cell(rows[i] + "/f:q/5"));
      const OwnedCell b = owned(parse_cell(rows[k] + "/f:q/5"));
      const auto order = compare_meta_keys(a.view(), b.view());
      EXPECT_EQ(order == 0, i == k) << rows[i] << " and " << rows[k];
      EXPECT_EQ(order<0, compare_meta_keys(b.view(), a.view())> 0);
    }
  const auto before = [](std::string_view a, std::string_view b) {
    return compare_meta_keys(owned(parse_cell(a)).view(), owned(parse_cell(b)).view()) < 0;
  };
  EXPECT_TRUE(before("a,b,1/f:q/5", "a!,,1/f:q/5"));  // as bytes "a!" comes first
  EXPECT_TRUE(before("a/f:q/5", "a,,1/f:q/5"));
  EXPECT_TRUE(before("a,b,1/f:q/5", "a,b!,0/f:q/5"));
  EXPECT_TRUE(before("a,b,1/f:q/5", "a,b,1/f:q/4"));
  EXPECT_TRUE(before("a,b,1/f:p/4", "a,b,1/f:q/5"));
}

}  // namespace
}  // namespace cellar::testing
