// Goal: a search that words narrow down ends at the same cell as a comparison of whole keys, whatever the
// block holds. Blocks have rows of one length or of several, and one column a row or hundreds. Method: files
// with one block, searched in the cache so that the index of its cells is built. Targets lie below, at and
// above every cell. They have rows that are shorter, longer and in between, other families, and ends of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/random.h"
#include "cell/cell_key.h"
#include "cell/cell_order.h"
#include "hfile/block/block.h"
#include "hfile/encoding/cell_index_builder.h"
#include "hfile/encoding/encoding.h"
#include "hfile/read/hfile_reader.h"
#include "tests/cell_support/cell_text.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

struct Kind {
  const char* name;
  std::vector<std::string> rows;
  std::vector<std::string> qualifiers;
};

std::vector<std::string> numbered(const char* form, int count, int step) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, form, i * step);
    names.emplace_back(name);
  }
  return names;
}

std::vector<Kind> kinds() {
  return {
      {"OneRowOfManyColumns", {"row"}, numbered("q%03d", 200, 1)},
      {"SomeWideRows", numbered("user%06d", 4, 2), numbered("q%02d", 40, 2)},
      {"ManyRows", numbered("user%06d", 150, 2), {"", "q"}},
      {"RowsOfSeveralLengths", {"a", "aa", "ab", "abc", "b", "ba"}, numbered("c%d", 20, 1)},
      {"RowsThatDifferAtOnce", {"a", "b", "c"}, {"", "x", std::string("x\0", 2), "xy", "\xff", "\xff\xff"}},
      {"BytesAtTheEnds",
       {std::string("\0\0", 2), std::string("\0\xff", 2), std::string("\xff\0", 2), "\xff\xff"},
       {"", std::string("\0", 1), std::string("\0\0", 2), "\xff", std::string(12, '\xff')}},
  };
}

class CellIndexKinds : public ::testing::TestWithParam<Kind> {
 protected:
  static Cells cells_of(const Kind& kind) {
    Cells cells;
    for (const std::string& row : kind.rows)
      for (const std::string& qualifier : kind.qualifiers)
        for (const int64_t timestamp : {20, 10})
          cells.emplace_back(row, "f", qualifier, timestamp, CellType::kPut, std::string(90, 'v'));
    std::ranges::sort(cells, [](const Cell& a, const Cell& b) {
      return compare_cells(key_of(a).view(), key_of(b).view()) < 0;
    });
    return cells;
  }

  static OwnedCell key_of(const Cell& cell) {
    OwnedCell key;
    key.assign(cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type, cell.sequence);
    return key;
  }
  static std::vector<OwnedCell> targets_of(const Kind& kind) {
    std::vector<std::string> rows = {"", std::string("\0", 1), "\xff\xff\xff"};
    for (const std::string& row : kind.rows)
      rows.insert(rows.end(),
                  {row, row.substr(0, row.size() / 2), row + '\0', row + "zzzzzzzzzz", row + '\xff'});
    std::vector<std::string> qualifiers = {"", std::string("\0", 1), "q", "zz", std::string(9, '\xff')};
    for (const std::string& qualifier : kind.qualifiers)
      qualifiers.insert(qualifiers.end(), {qualifier, qualifier + '\0', qualifier + '\xff'});
    std::vector<OwnedCell> targets;
    for (const std::string& row : rows) {
      if (row.empty()) continue;
      first_of_row(targets.emplace_back(), row);
      last_of_row(targets.emplace_back(), row);
      for (const char* family : {"", "e", "f", "ff", "g"})
        for (const std::string& qualifier : qualifiers)
          for (const int64_t timestamp : {25, 20, 5})
            targets.emplace_back().assign(row, family, qualifier, timestamp, CellType::kPut, kLatestSequence,
                                          {}, {});
    }
    return targets;
  }
};
INSTANTIATE_TEST_SUITE_P(All, CellIndexKinds, ::testing::ValuesIn(kinds()),
                         [](const auto& tested) { return std::string(tested.param.name); });

// In both directions; and a walk goes on from what a search backwards found.
void check_searches(const Cells& cells, const std::vector<OwnedCell>& keys,
                    const std::vector<OwnedCell>& targets, const std::string& encoding, bool map_file) {
  SCOPED_TRACE(encoding + (map_file ? ", mapped" : ""));
  HFileWriterOptions writing;
  writing.block_bytes = 1 << 20;
  writing.encoding = encoding;
  const WrittenFile written = write_cells(writing, cells);
  HFileReaderOptions options;
  options.cache = BlockCache::create(8 << 20, "clock", 1).value();
  options.map_file = map_file;
  const auto reader =
      HFileReader::open(std::make_unique<ViewFile>(written.bytes), std::move(options)).value();
  const std::unique_ptr<RunCursor> cursor = reader->cursor({});
  ASSERT_NE(cursor->seek(keys.front().view()), nullptr);  // now the block is in the cache
  uint64_t searches = 0;
  for (size_t i = 0; i < targets.size(); i += sweep_step()) {
    const OwnedCell& target = targets[i];
    const auto first = std::ranges::find_if(
        keys, [&](const OwnedCell& key) { return compare_cells(key.view(), target.view()) >= 0; });
    const auto expected = cells.begin() + (first - keys.begin());
    const CellView* found = cursor->seek(target.view());
    ASSERT_EQ(found == nullptr, expected == cells.end()) << print_cell(target.view());
    if (found != nullptr) {
      ASSERT_EQ(print_cell(*found), print_cell(*expected)) << print_cell(target.view());
    }
    const CellView* before = cursor->seek_before(target.view());
    ASSERT_EQ(before == nullptr, expected == cells.begin()) << print_cell(target.view());
    if (before != nullptr) {
      ASSERT_EQ(print_cell(*before), print_cell(expected[-1]));
      const CellView* after = cursor->next();
      ASSERT_EQ(after == nullptr, expected == cells.end());
      if (after != nullptr) {
        ASSERT_EQ(print_cell(*after), print_cell(*expected));
      }
    }
    searches += 2;
  }
  EXPECT_GT(searches, 400u / sweep_step());
}

TEST_P(CellIndexKinds, SearchesEndWhereAComparisonOfAllWould) {
  const Cells cells = cells_of(GetParam());
  std::vector<OwnedCell> keys;
  for (const Cell& cell : cells) keys.push_back(key_of(cell));
  for (const std::string& encoding : encoding_names())
    for (const bool map_file : {false, true})
      check_searches(cells, keys, targets_of(GetParam()), encoding, map_file);
}

// A block is charged for all memory that it will ever hold.
TEST(CellIndexBytes, WordsThatDoNotFitAreLeftOut) {
  const std::vector<uint32_t> offsets = {0, 500};
  const std::vector<uint64_t> words = {1, 2};
  for (const size_t prefix_bytes : {size_t{20}, size_t{100'000}}) {
    const std::string prefix(prefix_bytes, 'p');
    const Pin block(Block::finish(Block::allocate(1000, false), 0, 1000, BlockKind::kData));
    const CellIndex* index = static_cast<const Block*>(block.get())
                                 ->publish({.offsets = offsets, .words = words, .prefix = prefix});
    ASSERT_NE(index, nullptr);
    EXPECT_EQ(index->size(), 2u);
    EXPECT_EQ(index->offset(1), 500u);
    OwnedCell target;
    first_of_row(target, "z");
    const WordRange range = index->narrow(target.view(), nullptr);
    EXPECT_EQ(range.low, prefix_bytes == 20 ? 2u : 0u);
    EXPECT_EQ(range.high, 2u);
  }
}

TEST(CellIndexBytes, OnlyBlocksThatMayGetAnIndexAreChargedForIt) {
  const auto charge = [](BlockKind kind) {
    const Pin block(Block::finish(Block::allocate(10'000, false), 0, 10'000, kind));
    return static_cast<const Block*>(block.get())->charge_bytes();
  };
  const uint64_t block = BlockHeap::charge_of(sizeof(Block) + 10'000);
  EXPECT_EQ(charge(BlockKind::kBloomChunk), block);
  EXPECT_EQ(charge(BlockKind::kData), block + BlockHeap::charge_of(CellIndex::bytes_max(10'000)));
}

// Keys of all sizes: short rows and long ones, families that fill a word, qualifiers without bytes.
TEST(CellIndexWords, AreThoseOfRowAndQualifier) {
  Random random(11);
  const auto bytes_of = [&](size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    return bytes;
  };
  const auto cell_of = [](std::string_view row, std::string_view family, std::string_view qualifier) {
    Cell cell(std::string(row), std::string(family), std::string(qualifier), INT64_MAX - 1, CellType::kPut,
              "v");
    std::string key;
    std::string bytes;
    append_plain_cell(bytes, view_of(cell, key), {});
    return bytes;
  };
  // The words of a cell that begins at the offset 0, or nothing if it is not like the first one.
  const auto word_of = [](const LikeKeys& like, const std::string& cell, size_t from) {
    const uint32_t offsets[] = {0};
    uint64_t word = 0;
    return like.read_words(cell.data(), offsets, from, &word) ? std::optional(word) : std::nullopt;
  };
  for (int i = 0; i < 3000; ++i) {
    const std::string row = bytes_of(1 + random.below(random.one_in(4) ? 40 : 12));
    const std::string family = bytes_of(random.below(12));
    const std::string first = cell_of(row, family, "first");
    const LikeKeys like(plain_key_at(first.data()));
    EXPECT_EQ(word_of(like, first, 0), text_word({row, "first"}, 0));
    const std::string other_row = bytes_of(row.size());
    const std::string qualifier = bytes_of(random.below(12));
    const std::string like_first = cell_of(other_row, family, qualifier);
    for (size_t from = 0; from <= row.size() + qualifier.size(); ++from)
      ASSERT_EQ(word_of(like, like_first, from), text_word({other_row, qualifier}, from))
          << row.size() << " " << qualifier.size() << " " << from;
    const size_t from = random.below(row.size() + 2);
    EXPECT_EQ(word_of(like, cell_of(row + "x", family, qualifier), from), std::nullopt);
    EXPECT_EQ(word_of(like, cell_of(row, family + "x", qualifier), from), std::nullopt);
    if (family.empty()) continue;
    std::string other_family = family;
    other_family[random.below(family.size())] ^= static_cast<char>(1 << random.below(8));
    EXPECT_EQ(word_of(like, cell_of(row, other_family, qualifier), from), std::nullopt) << family.size();
  }
}

}  // namespace
}  // namespace cellar::testing
