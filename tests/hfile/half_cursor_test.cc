// Goal: half of a file is a sorted run like any other: the rows up to a row, or those from it on. Method: the
// contract of all cursors, over runs that hold more rows at either end; a file opened as its half.
#include "hfile/read/half_cursor.h"

#include <gtest/gtest.h>

#include "hfile/read/hfile_reader.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

// Rows around those of the contract's cells, which lie between "a" and "\xff\xff".
Cells with_rows_around(const Cells& cells) {
  Cells all = parse_cells("0/f:q/1=before\n1/f:q/1=before");
  all.insert(all.end(), cells.begin(), cells.end());
  const Cells behind = parse_cells("\\xFF\\xFF\\xFF/f:q/1=behind\n\\xFF\\xFF\\xFF\\x01/f:q/1=behind");
  all.insert(all.end(), behind.begin(), behind.end());
  return all;
}

TEST(HalfCursor, KeepsTheContract) {
  check_cursor_contract(
      [](const Cells& cells, Random&) {
        return make_half_cursor(poison(vector_cursor(with_rows_around(cells))), "A", "\xff\xff\xff");
      },
      test_seed(41));
}

TEST(HalfCursor, HalvesOfAFileAreTheWhole) {
  const Cells cells = parse_cells("a/f:q/3=1\na/f:q/2=2\nm/f:q/5=3\nm/f:q/4=4\nz/f:q/1=5");
  HFileWriterOptions writing;
  writing.block_bytes = 40;
  const WrittenFile written = write_cells(writing, cells);
  const auto half = [&](const std::string& start, const std::string& stop) {
    HFileReaderOptions options;
    options.start_row = start;
    options.stop_row = stop;
    return HFileReader::open(std::make_unique<ViewFile>(written.bytes), std::move(options)).value();
  };
  const auto low = half("", "m");
  const auto high = half("m", "");
  EXPECT_EQ(print_cells(drain(*low->cursor({}))), print_cells({cells[0], cells[1]}));
  EXPECT_EQ(print_cells(drain(*high->cursor({}))), print_cells({cells[2], cells[3], cells[4]}));
  EXPECT_FALSE(low->may_contain_row("z", nullptr));
  EXPECT_FALSE(high->may_contain_row("a", nullptr));
  EXPECT_TRUE(high->may_contain_row("m", nullptr));
  const auto none = half("b", "c");
  EXPECT_EQ(print_cells(drain(*none->cursor({}))), "none\n");
}

}  // namespace
}  // namespace cellar::testing
