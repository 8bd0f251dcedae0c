// Goal: the symbols of keys have the order of cells, and the radix tree grows, splits and walks as it says.
// Method: pairs of keys of every shape against compare_cells. Trees of a known form are compared with a
// sorted list, and their nodes and bytes are counted.
#include "memtable/radix_tree.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "memtable/radix_key.h"
#include "tests/memtable/key_shapes.h"
#include "tests/memtable/structure_model.h"

namespace cellar::testing {
namespace {

using Tree = StructureModel<RadixTree>;
using Nodes = std::array<uint64_t, 4>;

constexpr uint64_t kBytes4 = 64;
constexpr uint64_t kBytes14 = 192;
constexpr uint64_t kBytesChain = 64;

// ---- Keys ----

void expect_order(const CellView& a, const CellView& b) {
  const std::strong_ordering order = compare_cells(a, b);
  const uint32_t at = radix_difference(a, b, 0);
  ASSERT_EQ(at == kNoDifference, order == 0) << key_text(a) << " and " << key_text(b);
  if (order == 0) return;
  const int32_t left = symbol_at(a, at);
  const int32_t right = symbol_at(b, at);
  ASSERT_NE(left, right) << key_text(a) << " and " << key_text(b) << " at " << at;
  EXPECT_EQ(left < right, order < 0) << key_text(a) << " and " << key_text(b) << " at " << at;
  // The symbols before are the same, and where the search for the difference begins does not matter.
  for (uint32_t before = 0; before < at; ++before) {
    ASSERT_EQ(symbol_at(a, before), symbol_at(b, before)) << before << " of " << at;
    ASSERT_EQ(radix_difference(a, b, before), at);
  }
  EXPECT_EQ(radix_difference(a, b, at), at);
}

TEST(RadixKey, HasTheOrderOfCells) {
  Random random(3);
  OwnedCell a;
  OwnedCell b;
  for (const KeyShape shape : kAllShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    for (uint64_t i = 0; i < 2000; ++i) {
      make_cell(shape, 1, random.below(500), random.below(3), a);
      make_cell(shape, 1, random.below(500), random.below(3), b);
      expect_order(a.view(), b.view());
      const OwnedCell of = random.one_in(2) ? a : b;
      last_of_row(a, of.view().row());
      expect_order(a.view(), b.view());
      first_of_row(a, of.view().row());
      expect_order(a.view(), b.view());
      last_of_column(a, of.view().row(), of.view().family(), of.view().qualifier());
      expect_order(a.view(), b.view());
      if (HasFatalFailure()) return;
    }
  }
}

// Two parts of which one begins with the other, bytes of zeros at their ends, and the limits of the numbers.
TEST(RadixKey, TellsPartsAndNumbersApart) {
  std::vector<OwnedCell> cells;
  const std::string zero(1, '\0');
  for (const std::string& row : {std::string("a"), "a" + zero, "a" + zero + zero, std::string("a\xff")})
    for (const std::string& family : {std::string(), zero, std::string("f")})
      for (const std::string& qualifier :
           {std::string(), zero, std::string("123456789"), std::string("1234567890")})
        for (const int64_t timestamp : {int64_t{0}, int64_t{-1}, INT64_MAX - 1, INT64_MIN + 1})
          for (const CellType type : {CellType::kPut, CellType::kDeleteFamily})
            for (const uint64_t sequence : {uint64_t{0}, UINT64_MAX - 1})
              cells.emplace_back().assign(row, family, qualifier, timestamp, type, sequence);
  for (const OwnedCell& a : cells)
    for (const OwnedCell& b : cells) {
      expect_order(a.view(), b.view());
      if (HasFatalFailure()) return;
    }
}

// ---- Nodes ----

TEST(RadixTree, GrowsNodes) {
  Tree tree;
  tree.insert_row("key");  // ends where the others go on
  EXPECT_EQ(tree.structure().bytes(), 0u) << "a single cell needs no node";
  const auto nodes_at = [](uint64_t children) {
    return Nodes{children <= 4 ? 1u : 0u, children > 4 && children <= 14 ? 1u : 0u,
                 children > 14 && children <= 48 ? 1u : 0u, children > 48 ? 1u : 0u};
  };
  for (uint32_t i = 0; i < 256; ++i) {
    // 37 is prime to 256: every byte once, and neither from the first nor from the last.
    tree.insert_row(std::string("key") + static_cast<char>(i * 37 + 11));
    ASSERT_EQ(tree.structure().shape().nodes, nodes_at(i + 2)) << i;
    if (i < 50 || i % 32 == 0 || i == 255) tree.check_all();
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(tree.size(), 257u);
}

TEST(RadixTree, CountsItsBytes) {
  Tree tree;
  tree.insert_row("a");
  tree.insert_row("b");
  EXPECT_EQ(tree.structure().bytes(), kBytes4);
  tree.insert_row("c");
  tree.insert_row("d");
  EXPECT_EQ(tree.structure().bytes(), kBytes4);
  tree.insert_row("e");
  EXPECT_EQ(tree.structure().bytes(), kBytes4 + kBytes14) << "the frozen node counts";
  OwnedCell cell;
  cell.assign("x", "f", "q", 1, CellType::kPut, 7);
  for (int i = 0; i < 3; ++i) tree.insert(cell.view());
  EXPECT_EQ(tree.structure().bytes(), kBytes4 + kBytes14 + 3 * kBytesChain);
  EXPECT_EQ(tree.structure().shape().chains, 1u);
  tree.check_all();
}

// A path of any length has one node where it branches, and another one where a cell leaves it.
TEST(RadixTree, SplitsPaths) {
  for (const size_t length : {1u, 2u, 7u, 8u, 9u, 10u, 17u, 300u}) {
    SCOPED_TRACE(length);
    const std::string path(length, 'p');
    for (size_t leave = 0; leave < length; ++leave) {
      Tree tree;
      tree.insert_row(path + "1");
      tree.insert_row(path + "2");
      const std::string up_to = path.substr(0, leave);
      tree.insert_row(up_to + (leave % 2 == 0 ? "a" : "z"));
      ASSERT_EQ(tree.structure().shape().nodes, (Nodes{2, 0, 0, 0}));
      tree.insert_row(up_to);  // ends on the path
      tree.insert_row(path + "3");
      ASSERT_EQ(tree.structure().shape().nodes, (Nodes{2, 0, 0, 0}));
      tree.check_all();
      for (size_t size = 0; size <= length; ++size) {
        tree.check_row(path.substr(0, size));
        tree.check_row(path.substr(0, size) + "b");
        tree.check_row(path.substr(0, size) + "y");
        tree.check_row(path.substr(0, size) + std::string(1, '\0'));
      }
      if (HasFatalFailure()) return;
    }
  }
}

// The same below the row, where a node names a cell instead of the bytes.
TEST(RadixTree, SplitsPathsBehindTheRow) {
  Tree tree;
  OwnedCell cell;
  uint64_t sequence = 0;
  for (const char* family : {"family", "f", "fa", ""})
    for (const char* qualifier : {"qualifier1", "qualifier2", "quality", "", "q"})
      for (const int64_t timestamp : {7, 1'700'000'000, 8})
        for (const CellType type : {CellType::kPut, CellType::kDelete}) {
          cell.assign("row", family, qualifier, timestamp, type, ++sequence);
          tree.insert(cell.view());
          tree.check_all();
          if (HasFatalFailure()) return;
        }
  OwnedCell target;
  for (const char* family : {"famil", "family", "familz", "e", "g"})
    for (const char* qualifier : {"qualifier", "qualifier3", "r", "p", "qual"}) {
      first_of_column(target, "row", family, qualifier);
      tree.check_target(target.view());
      last_of_column(target, "row", family, qualifier);
      tree.check_target(target.view());
    }
}

// Every row is the beginning of all longer ones, so the path has as many nodes as there are rows: more than a
// Place remembers.
TEST(RadixTree, WalksDeepPaths) {
  constexpr size_t kDepth = 600;
  for (const char byte : {'a', '\0', '\xff'}) {
    Tree tree;
    for (size_t i = 0; i < kDepth; ++i) {
      const size_t size = 1 + i * 7 % kDepth;
      tree.insert_row(std::string(size, byte));
      tree.insert_row(std::string(size, byte) + "m");
    }
    tree.check_walk();
    for (size_t size = 0; size < kDepth + 2; ++size) {
      tree.check_row(std::string(size, byte));
      tree.check_row(std::string(size, byte) + "a");
      tree.check_row(std::string(size, byte) + "m");
      tree.check_row(std::string(size, byte) + "z");
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RadixTree, TakesTheLongestRows) {
  for (const char byte : {'k', '\0'}) {
    Tree tree;
    const std::string longest(kRowBytesMax, byte);
    for (const size_t size : {kRowBytesMax, kRowBytesMax - 1, size_t{1}, kRowBytesMax / 2}) {
      tree.insert_row(longest.substr(0, size));
      tree.insert_row(longest.substr(0, size - 1) + "!");
      tree.insert_row(longest.substr(0, size - 1) + "~");
    }
    tree.check_all();
    tree.check_row(longest.substr(0, kRowBytesMax - 2));
    tree.check_row(longest.substr(0, 100) + "~");
  }
}

TEST(RadixTree, MeetsEqualCellsFromTheLatestOn) {
  Tree tree;
  OwnedCell cell;
  for (uint64_t i = 0; i < 100; ++i) {
    cell.assign("row", "f", "q", 1, CellType::kPut, i % 3);
    tree.insert(cell.view());
  }
  tree.check_all();
  EXPECT_EQ(tree.structure().shape().chains, 3u);
}

// A walk that is in a node sees what the node had, whatever replaces the node.
TEST(RadixTree, WalksThroughFrozenNodes) {
  RadixTree tree;
  Arena arena;
  OwnedCell cell;
  const auto insert = [&](const std::string& row) {
    cell.assign(row, "f", "q", 1, CellType::kPut, 1);
    tree.insert(cell.view(), make_record(arena, cell.view()));
  };
  for (const char* row : {"m1", "m2", "m3", "m4"}) insert(row);
  RadixTree::Place place;
  OwnedCell first;
  first_of_row(first, "");
  std::vector<std::string> seen;
  for (const CellRecord* at = place.seek(tree, first.view()); at != nullptr; at = place.next()) {
    seen.emplace_back(at->view().row());
    if (seen.size() == 2) {
      for (char byte = '\1'; byte < 100; ++byte) insert(std::string("m") + byte);
      insert("a");
      insert("z");
    }
  }
  const std::set<std::string> all(seen.begin(), seen.end());
  for (const char* row : {"m1", "m2", "m3", "m4"}) EXPECT_TRUE(all.contains(row)) << row;
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(place.seek(tree, first.view())->view().row(), "a");
}

TEST(RadixTree, HoldsEveryShape) {
  for (const KeyShape shape : kAllShapes) {
    SCOPED_TRACE(static_cast<int>(shape));
    Tree tree;
    OwnedCell cell;
    for (uint64_t i = 0; i < 700; ++i) {
      make_cell(shape, 5, i, i + 1, cell);
      tree.insert(cell.view());
    }
    tree.check_all();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cellar::testing
