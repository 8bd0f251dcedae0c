// Goal: a file's Bloom filters never deny a stored key. They deny other keys about as often as was requested.
// Method: random cells for each type and hash. Every row, column, prefix and marker is asked for, then as
// many missing ones. The files of HBase are asked, too.
#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "cell/cell_key.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

constexpr size_t kPrefix = 3;
constexpr const char* kByPrefix = "rowprefix_fixed_length(prefix_length=3)";

std::shared_ptr<HFileReader> open_bytes(const std::string& bytes) {
  HFileReaderOptions options;
  options.name = "file";
  Result<std::shared_ptr<HFileReader>> reader =
      HFileReader::open(std::make_unique<ViewFile>(bytes), std::move(options));
  EXPECT_TRUE(reader.ok()) << reader.status().to_text();
  return reader.ok() ? *reader : nullptr;
}

// Asks in every way for a cell that is stored.
void expect_not_denied(const HFileReader& reader, const Cell& cell) {
  EXPECT_TRUE(reader.may_contain_row(cell.row, nullptr));
  const std::vector<std::string> column = {cell.qualifier};
  EXPECT_TRUE(reader.may_contain_columns(cell.row, column, nullptr));
  const std::vector<std::string> columns = {"", cell.qualifier, "\xff\xff not there"};
  EXPECT_TRUE(reader.may_contain_columns(cell.row, columns, nullptr));
  const std::vector<std::string> other = {"\xff\xff not there"};
  if (covers_family(cell.type)) {
    EXPECT_TRUE(reader.may_contain_columns(cell.row, other, nullptr)) << "a marker hides all columns";
    EXPECT_TRUE(reader.may_contain_family_markers(cell.row, nullptr));
  }
  const std::string prefix = cell.row.substr(0, kPrefix);
  EXPECT_TRUE(reader.may_contain_rows(prefix, prefix_successor(prefix), false, nullptr));
  EXPECT_TRUE(reader.may_contain_rows(cell.row, cell.row + "x", true, nullptr));
  EXPECT_TRUE(reader.may_contain_rows(cell.row, "", false, nullptr));
  EXPECT_TRUE(reader.may_contain_rows("", cell.row, true, nullptr));
}

struct TypeAndHash {
  std::string type;
  BloomHash hash;
};

class BloomReads : public ::testing::TestWithParam<TypeAndHash> {
 protected:
  HFileWriterOptions writing() const {
    HFileWriterOptions options;
    options.block_bytes = 2000;
    options.bloom = GetParam().type;
    options.bloom_hash = GetParam().hash;
    options.mvcc = true;
    return options;
  }
};

TEST_P(BloomReads, NothingThatIsThereIsDenied) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    HFileWriterOptions options = writing();
    options.bloom_chunk_bytes = round % 2 == 0 ? 128 : 4096;
    options.delete_family_bloom = round % 3 != 0;
    options.store_file_info = round % 5 != 0;
    const std::vector<Cell> cells = draw_cells(random, {.rows = 1 + random.below(300), .cells = 600});
    const WrittenFile written = write_cells(options, cells);
    const std::shared_ptr<HFileReader> reader = open_bytes(written.bytes);
    ASSERT_NE(reader, nullptr);
    for (const Cell& cell : cells) expect_not_denied(*reader, cell);
  }
}

TEST_P(BloomReads, AFilterOfRowsTellsHowManyCellsARowHas) {
  const bool tells = GetParam().type == "row";
  for (const size_t columns : {1u, 2u, 20u}) {
    std::vector<Cell> cells;
    for (size_t row = 0; row < 50; ++row)
      for (size_t q = 0; q < columns; ++q)
        cells.push_back(
            {"row" + std::to_string(100 + row), "f", std::to_string(10 + q), 5, CellType::kPut, "v"});
    const auto reader = open_bytes(write_cells(writing(), cells).bytes);
    ASSERT_NE(reader, nullptr);
    EXPECT_EQ(reader->cells_per_row(), tells ? columns : 0);
    cells.push_back({"row150", "f", "q", 5, CellType::kPut, "v"});
    cells.push_back({"row150", "f", "r", 5, CellType::kPut, "v"});
    const auto more = open_bytes(write_cells(writing(), cells).bytes);
    ASSERT_NE(more, nullptr);
    EXPECT_EQ(more->cells_per_row(), !tells ? 0 : std::max<size_t>(columns, 2)) << "rounded up";
  }
}

std::string padded(const std::string& text, int number) {
  std::string digits = std::to_string(number);
  return text + std::string(6 - digits.size(), '0') + digits;
}

// 20,000 rows, each with its own first seven bytes, two columns each, a marker in every tenth.
std::vector<Cell> even_rows() {
  std::vector<Cell> cells;
  for (int i = 0; i < 20000; ++i) {
    const std::string row = padded("r", 2 * i) + "tail";
    if (i % 10 == 0) cells.push_back({row, "f", "", 5, CellType::kDeleteFamily, ""});
    for (const char* qualifier : {"a", "b"}) cells.push_back({row, "f", qualifier, 9, CellType::kPut, "v"});
  }
  return cells;
}

struct Denials {
  uint64_t asked = 0;
  uint64_t denied = 0;
  double wrong() const { return 1 - static_cast<double>(denied) / static_cast<double>(asked); }
  void count(bool may) {
    ++asked;
    denied += may ? 0 : 1;
  }
};

TEST_P(BloomReads, WhatIsNotThereIsDeniedAsOftenAsAskedFor) {
  for (const float rate : {0.01f, 0.1f}) {
    HFileWriterOptions options = writing();
    options.bloom_error_rate = rate;
    options.bloom_chunk_bytes =
        4096;  // several chunks, for one is folded to somewhere between half full and full
    if (options.bloom == kByPrefix) options.bloom = "rowprefix_fixed_length(prefix_length=7)";
    const WrittenFile written = write_cells(options, even_rows());
    const std::shared_ptr<HFileReader> reader = open_bytes(written.bytes);
    ASSERT_NE(reader, nullptr);
    Denials rows, columns, prefixes, markers;
    ReadStats stats;
    const std::vector<std::string> absent = {"c"};
    for (int i = 0; i < 19999; ++i) {
      const std::string prefix = padded("r", 2 * i + 1);
      rows.count(reader->may_contain_row(prefix + "tail", &stats));
      columns.count(reader->may_contain_columns(padded("r", 2 * i + 1) + "tail", absent, &stats));
      prefixes.count(reader->may_contain_rows(prefix, prefix_successor(prefix), false, &stats));
      if (i % 10 != 0)
        markers.count(reader->may_contain_family_markers(padded("r", 2 * i) + "tail", nullptr));
    }
    const bool by_column = options.bloom == "rowcol";
    EXPECT_LE(columns.wrong(), 1.5 * rate);
    EXPECT_LE(markers.wrong(), 1.5 * rate) << "by the second filter, or by the one of columns";
    if (by_column) {
      EXPECT_EQ(rows.denied, 0u) << "a whole row's columns are not known";
    } else {
      EXPECT_LE(rows.wrong(), 1.5 * rate);
    }
    if (options.bloom == "row" || by_column) {
      EXPECT_EQ(prefixes.denied, 0u);
    } else {
      EXPECT_LE(prefixes.wrong(), 1.5 * rate);
    }
    EXPECT_EQ(stats.files_skipped_bloom, rows.denied + columns.denied + prefixes.denied);
    EXPECT_EQ(stats.files_skipped_range, 0u);
  }
}

std::vector<TypeAndHash> all_types() {
  std::vector<TypeAndHash> all;
  for (const char* type : {"row", "rowcol", kByPrefix})
    for (const BloomHash hash : {BloomHash::kJenkins, BloomHash::kMurmur, BloomHash::kMurmur3})
      all.push_back({type, hash});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, BloomReads, ::testing::ValuesIn(all_types()), [](const auto& tested) {
  const std::string& type = tested.param.type;
  return type.substr(0, type.find('_')) + std::to_string(static_cast<int>(tested.param.hash));
});

TEST(BloomScans, OnlyRangesOfOnePrefixAreAsked) {
  HFileWriterOptions options;
  options.bloom = kByPrefix;
  const WrittenFile written = write_cells(
      options, {{"aaa1", "f", "q", 1, CellType::kPut, ""}, {"ccc1", "f", "q", 1, CellType::kPut, ""}});
  const std::shared_ptr<HFileReader> reader = open_bytes(written.bytes);
  ASSERT_NE(reader, nullptr);
  const auto denied = [&](std::string_view low, std::string_view high, bool inclusive) {
    return !reader->may_contain_rows(low, high, inclusive, nullptr);
  };
  EXPECT_TRUE(denied("bbb", "bbc", false));
  EXPECT_TRUE(denied("bbb5", "bbb7", true));
  EXPECT_TRUE(denied("bbb5", "bbc", false)) << "from within a prefix to its end";
  EXPECT_FALSE(denied("bbb", "bbc", true)) << "the row bbc has another prefix";
  EXPECT_FALSE(denied("bb", "bc", false)) << "shorter than the prefix";
  EXPECT_FALSE(denied("bbb", "bbd", false));
  EXPECT_FALSE(denied("bbb", "", false));
  EXPECT_FALSE(denied("", "bbb", false));
  EXPECT_TRUE(denied("\xff\xff\xff", "", false)) << "no end: all rows behind begin with these bytes";
  EXPECT_FALSE(denied("aaa", "aab", false));
}

TEST(BloomFixtures, NeverDenyTheirOwnCells) {
  size_t files = 0;
  for (const FixtureFile& file : all_fixtures()) {
    const FixtureFacts facts = facts_of(file);
    if (!facts.readable || !facts.supported()) continue;
    const std::string bytes = read_test_file(file.hfile);
    const std::shared_ptr<HFileReader> reader = open_bytes(bytes);
    if (reader == nullptr) continue;
    const std::unique_ptr<CellCursor> walk = reader->cursor({.sequential = true});
    OwnedCell start;
    first_of_row(start, reader->first_row());
    for (const CellView* cell = walk->seek(start.view()); cell != nullptr; cell = walk->next()) {
      const Cell owned(*cell);
      expect_not_denied(*reader, owned);
      const size_t eight = std::min<size_t>(8, owned.row.size());
      EXPECT_TRUE(reader->may_contain_rows(owned.row.substr(0, eight),
                                           prefix_successor(owned.row.substr(0, eight)), false, nullptr));
      if (::testing::Test::HasFailure()) FAIL() << file.label() << " " << owned.row;
    }
    ++files;
  }
  EXPECT_GE(files, 20u);
}

}  // namespace
}  // namespace cellar::testing
