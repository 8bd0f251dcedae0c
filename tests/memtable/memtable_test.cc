// Goal: every memtable holds exactly what was inserted, in order, and its cursors keep their promises.
// Method: streams of every key shape against a std::multimap; figures and the row filter against counting.
#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "base/text_printer.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/memtable/key_shapes.h"
#include "tests/memtable/structures.h"

namespace cellar::testing {
namespace {

struct Before {
  bool operator()(const OwnedCell& a, const OwnedCell& b) const {
    return compare_cells(a.view(), b.view()) < 0;
  }
};
// Cells by key; the value is the cell's. Among equal ones the later inserted comes first.
using Model = std::multimap<OwnedCell, std::string, Before>;

Pin make_pinned(const std::string& name, Memtable*& table) {
  Result<std::unique_ptr<Memtable>> made = make_memtable(name);
  EXPECT_TRUE(made.ok()) << made.status().to_text();
  table = made.value().release();
  return Pin(table);
}

void insert(Memtable& table, Model& model, const OwnedCell& cell) {
  table.insert(cell.view());
  model.emplace_hint(model.lower_bound(cell), cell, std::string(cell.view().value_bytes()));
}

// A key to seek: a cell of the shape, or one of the search keys of its row or column.
OwnedCell make_target(KeyShape shape, uint64_t seed, uint64_t inserted, Random& random) {
  OwnedCell cell;
  make_cell(shape, random.one_in(3) ? seed + 1 : seed, random.below(inserted + 3), random.below(inserted + 3),
            cell);
  const OwnedCell of = cell;
  const CellView& view = of.view();
  switch (random.below(6)) {
    case 0:
      first_of_row(cell, view.row());
      break;
    case 1:
      last_of_row(cell, view.row());
      break;
    case 2:
      first_of_column(cell, view.row(), view.family(), view.qualifier());
      break;
    case 3:
      last_of_column(cell, view.row(), view.family(), view.qualifier());
      break;
    default:
      break;
  }
  return cell;
}

::testing::AssertionResult same(const CellView* cell, const Model& model, Model::const_iterator expected) {
  if (cell == nullptr || expected == model.end()) {
    if (cell == nullptr && expected == model.end()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << (cell == nullptr ? "no cell" : key_text(*cell)) << " instead of "
           << (expected == model.end() ? "none" : key_text(expected->first.view()));
  }
  if (compare_cells(*cell, expected->first.view()) == 0 && cell->value_bytes() == expected->second &&
      cell->key_bytes() == expected->first.view().key_bytes()) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << key_text(*cell) << "#" << cell->sequence << "=" << cell->value_bytes() << " instead of "
         << key_text(expected->first.view()) << "#" << expected->first.view().sequence << "="
         << expected->second;
}

void check_walk(const Memtable& table, const Model& model) {
  const std::unique_ptr<RunCursor> cursor = table.cursor();
  OwnedCell first;
  first_of_row(first, "");
  const CellView* cell = cursor->seek(first.view());
  for (auto at = model.begin(); at != model.end(); ++at, cell = cursor->next())
    ASSERT_TRUE(same(cell, model, at));
  EXPECT_EQ(cell, nullptr);
  EXPECT_EQ(cursor->next(), nullptr);
  EXPECT_TRUE(cursor->status().ok());
}

void check_moves(const Memtable& table, const Model& model, KeyShape shape, uint64_t seed, Random& random,
                 int count) {
  const std::unique_ptr<RunCursor> cursor = table.cursor();
  for (int i = 0; i < count; ++i) {
    const OwnedCell target = make_target(shape, seed, model.size(), random);
    auto expected = model.lower_bound(target);
    if (random.one_in(2)) {
      ASSERT_TRUE(same(cursor->seek(target.view()), model, expected)) << key_text(target.view());
    } else {
      expected = expected == model.begin() ? model.end() : std::prev(expected);
      ASSERT_TRUE(same(cursor->seek_before(target.view()), model, expected))
          << "before " << key_text(target.view());
    }
    for (uint64_t steps = random.below(20); steps > 0 && expected != model.end(); --steps) {
      ASSERT_TRUE(same(cursor->next(), model, ++expected));
    }
    if (expected == model.end()) continue;
    const OwnedCell further = make_target(shape, seed, model.size(), random);
    if (!Before()(expected->first, further)) continue;
    ASSERT_TRUE(same(cursor->skip_to(further.view()), model, model.lower_bound(further)));
  }
}

class MemtableTest : public ::testing::TestWithParam<std::string> {};

TEST_P(MemtableTest, HoldsWhatAMultimapHolds) {
  for (const KeyShape shape : kAllShapes) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(::testing::Message() << "shape " << static_cast<int>(shape) << ", seed " << seed);
      Memtable* table = nullptr;
      const Pin pin = make_pinned(GetParam(), table);
      Model model;
      Random random(seed);
      OwnedCell cell;
      const uint64_t cells = seed == 3 ? scaled(12'000) : 1'500;
      for (uint64_t i = 0; i < cells; ++i) {
        make_cell(shape, seed, i, i + 1, cell);
        insert(*table, model, cell);
        if (i % 300 == 0 || (seed == 1 && i < 60)) check_moves(*table, model, shape, seed, random, 3);
        if (HasFatalFailure()) return;
      }
      check_walk(*table, model);
      check_moves(*table, model, shape, seed, random, 3000);
      if (HasFatalFailure()) return;
    }
  }
}

// Cells are added in groups of all sizes, and inserted in between. Some are equal to others.
TEST_P(MemtableTest, HoldsWhatWasAddedOnceItSettles) {
  for (const KeyShape shape : kAllShapes) {
    SCOPED_TRACE(::testing::Message() << "shape " << static_cast<int>(shape));
    Memtable* table = nullptr;
    const Pin pin = make_pinned(GetParam(), table);
    Model model;
    Random random(17);
    OwnedCell cell;
    for (uint64_t step = 0, cells = 0; step < 120; ++step) {
      for (uint64_t left = random.below(40); left > 0; --left, ++cells) {
        const uint64_t i = random.one_in(10) ? random.below(cells + 1) : cells;
        make_cell(shape, 5, i, i + 1, cell);
        table->add(cell.view());
        model.emplace_hint(model.lower_bound(cell), cell, std::string(cell.view().value_bytes()));
      }
      table->settle();
      ASSERT_EQ(table->summary().cells, model.size());
      if (step % 10 == 0) {
        check_walk(*table, model);
      }
      make_cell(shape, 5, cells, cells + 1, cell);
      insert(*table, model, cell);
      ++cells;
    }
    check_walk(*table, model);
    check_moves(*table, model, shape, 5, random, 300);
    for (const auto& [each, value] : model) ASSERT_TRUE(table->may_contain_row(each.view().row()));
  }
}

TEST_P(MemtableTest, IsEmptyAtFirst) {
  Memtable* table = nullptr;
  const Pin pin = make_pinned(GetParam(), table);
  const std::unique_ptr<RunCursor> cursor = table->cursor();
  OwnedCell target;
  first_of_row(target, "row");
  EXPECT_EQ(cursor->seek(target.view()), nullptr);
  EXPECT_EQ(cursor->seek_before(target.view()), nullptr);
  EXPECT_EQ(cursor->next(), nullptr);
  EXPECT_FALSE(table->may_contain_row("row"));
  EXPECT_EQ(table->summary().cells, 0u);
}

TEST_P(MemtableTest, ACursorSeesWhatCameBeforeItsSeek) {
  Memtable* table = nullptr;
  const Pin pin = make_pinned(GetParam(), table);
  const std::unique_ptr<RunCursor> cursor = table->cursor();
  OwnedCell cell;
  for (uint64_t i = 0; i < 3000; ++i) {
    make_cell(KeyShape::kTinyAlphabet, 9, i, i + 1, cell);
    table->insert(cell.view());
    const CellView* found = cursor->seek(cell.view());
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->sequence, i + 1);
    EXPECT_EQ(found->value_bytes(), "v" + std::to_string(i));
  }
}

// A walk that began before may miss what is inserted on its way, but nothing older, and goes on in order.
TEST_P(MemtableTest, WalksOnWhileNodesSplitUnderIt) {
  for (const KeyShape shape :
       {KeyShape::kRandomRows, KeyShape::kWideRows, KeyShape::kAscending, KeyShape::kDescending}) {
    Memtable* table = nullptr;
    const Pin pin = make_pinned(GetParam(), table);
    OwnedCell cell;
    uint64_t inserted = 0;
    const auto insert_some = [&](uint64_t count) {
      for (; count > 0; --count, ++inserted) {
        make_cell(shape, 4, inserted, inserted + 1, cell);
        table->insert(cell.view());
      }
    };
    insert_some(500);
    const std::unique_ptr<RunCursor> cursor = table->cursor();
    OwnedCell first;
    first_of_row(first, "");
    std::set<uint64_t> seen;
    OwnedCell last;
    for (const CellView* at = cursor->seek(first.view()); at != nullptr; at = cursor->next()) {
      const bool in_order = seen.empty() || compare_cells(last.view(), *at) <= 0;
      ASSERT_TRUE(in_order);
      last.assign(*at);
      ASSERT_TRUE(seen.insert(at->sequence).second);
      if (inserted < 20'000) insert_some(15);
    }
    for (uint64_t sequence = 1; sequence <= 500; ++sequence) ASSERT_TRUE(seen.contains(sequence)) << sequence;
  }
}

TEST_P(MemtableTest, KeepsTheTwoStepRule) {
  Memtable* table = nullptr;
  const Pin pin = make_pinned(GetParam(), table);
  OwnedCell cell;
  for (uint64_t i = 0; i < 100; ++i) {
    make_cell(KeyShape::kAscending, 1, i, i + 1, cell);
    table->insert(cell.view());
  }
  const std::unique_ptr<RunCursor> cursor = table->cursor();
  make_cell(KeyShape::kAscending, 1, 10, 11, cell);
  const CellView* before = cursor->seek(cell.view());
  make_cell(KeyShape::kAscending, 1, 14, 15, cell);
  const CellView* after = cursor->skip_to(cell.view());
  EXPECT_EQ(before->row(), user_row(10));
  EXPECT_EQ(after->row(), user_row(14));
  make_cell(KeyShape::kAscending, 1, 60, 61, cell);
  const CellView* last = cursor->skip_to(cell.view());
  EXPECT_EQ(after->row(), user_row(14));
  EXPECT_EQ(last->row(), user_row(60));
}

TEST_P(MemtableTest, ACursorPinsTheTable) {
  Memtable* table = nullptr;
  Pin pin = make_pinned(GetParam(), table);
  OwnedCell cell;
  make_cell(KeyShape::kAscending, 1, 0, 1, cell);
  table->insert(cell.view());
  std::unique_ptr<RunCursor> cursor = table->cursor();
  pin.reset();
  const CellView found = *cursor->seek(cell.view());
  TextPrinter out;
  cursor->print(out);
  EXPECT_NE(out.text().find("user000000000000"), std::string::npos) << out.text();
  const Pin kept = cursor->pin();
  cursor.reset();
  EXPECT_EQ(found.row(), user_row(0));
  EXPECT_EQ(found.value_bytes(), "v0");
}

TEST_P(MemtableTest, KeepsValuesAndTags) {
  Memtable* table = nullptr;
  const Pin pin = make_pinned(GetParam(), table);
  std::string tags;
  append_tag(tags, kTtlTag, "12345678");
  OwnedCell cell;
  cell.assign("r", "f", "", 5, CellType::kPut, 1, std::string(5'000'000, 'x'), tags);
  table->insert(cell.view());
  cell.assign("r", "f", "", 4, CellType::kPut, 1);
  table->insert(cell.view());
  const std::unique_ptr<RunCursor> cursor = table->cursor();
  OwnedCell target;
  first_of_row(target, "r");
  const CellView* found = cursor->seek(target.view());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value_size, 5'000'000u);
  EXPECT_EQ(found->value_bytes().find_first_not_of('x'), std::string::npos);
  EXPECT_EQ(found->tags_bytes(), tags);
  found = cursor->next();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value_size, 0u);
  EXPECT_EQ(found->tags_size, 0u);
  EXPECT_GT(table->bytes(), 5'000'000u);
  EXPECT_LT(table->bytes(), 5'010'000u);
}

TEST_P(MemtableTest, SumsUp) {
  Memtable* table = nullptr;
  const Pin pin = make_pinned(GetParam(), table);
  OwnedCell cell;
  std::string tags;
  append_tag(tags, 1, "x");
  cell.assign("a", "f", "q", 50, CellType::kPut, 7, "v", tags);
  table->insert(cell.view());
  cell.assign("a", "f", "q", 20, CellType::kDelete, 9);
  table->insert(cell.view());
  EXPECT_FALSE(table->summary().reaches_back);
  cell.assign("b", "f", "", 30, CellType::kDeleteFamilyVersion, 8);
  table->insert(cell.view());
  EXPECT_FALSE(table->summary().reaches_back);
  cell.assign("b", "f", "", 30, CellType::kDeleteFamily, 8);
  table->insert(cell.view());
  const MemtableSummary sum = table->summary();
  EXPECT_EQ(sum.cells, 4u);
  EXPECT_EQ(sum.timestamp_min, 20);
  EXPECT_EQ(sum.timestamp_max, 50);
  EXPECT_EQ(sum.sequence_min, 7u);
  EXPECT_EQ(sum.sequence_max, 9u);
  EXPECT_EQ(sum.deletes, 3u);
  EXPECT_EQ(sum.family_deletes, 2u);
  EXPECT_EQ(sum.version_deletes, 2u) << "the one of a column, the one of a family";
  EXPECT_TRUE(sum.reaches_back);
  EXPECT_EQ(sum.tags, 1u);
  EXPECT_EQ(sum.bytes, table->bytes());
  EXPECT_GT(sum.bytes, 0u);
}

TEST_P(MemtableTest, TellsRowsItCannotHold) {
  Memtable* table = nullptr;
  const Pin pin = make_pinned(GetParam(), table);
  OwnedCell cell;
  constexpr uint64_t kRows = 30'000;
  for (uint64_t i = 0; i < kRows; ++i) {
    cell.assign(user_row(2 * i), "f", "q", 1, CellType::kPut, i + 1);
    table->insert(cell.view());
    ASSERT_TRUE(table->may_contain_row(user_row(2 * i)));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(table->may_contain_row(user_row(2 * i)));
    if (table->may_contain_row(user_row(2 * i + 1))) ++wrong;
  }
  EXPECT_LT(wrong, kRows * 2 / 100);
}

INSTANTIATE_TEST_SUITE_P(Structures, MemtableTest, ::testing::ValuesIn(memtable_names()));

TEST(Memtable, KnowsItsNames) {
  EXPECT_EQ(make_memtable("blinc").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(make_memtable("blink(x=1)").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace cellar::testing
