// Helpers of the tests of the HFile writer: files in a string, files that fail, cells as views, and the
// outside checker.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cellar/cell.h"
#include "cellar/file_system.h"
#include "hfile/write/hfile_writer.h"
#include "tests/support/byte_files.h"

namespace cellar::testing {

// The cell as a view; its key goes into `key`, the rest stays where it is.
CellView view_of(const Cell& cell, std::string& key);

Status add_cell(HFileWriter& writer, const Cell& cell);

using Facts = std::vector<std::pair<std::string, std::string>>;
struct WrittenFile {
  std::string bytes;
  HFileSummary summary;
};
// Writes all cells; anything that fails is a failure of the running test.
WrittenFile write_cells(const HFileWriterOptions& options, const std::vector<Cell>& cells,
                        const Facts& facts = {});

// One block of a file without encryption, found by walking from the start.
struct RawBlock {
  std::string magic;
  uint64_t offset = 0;
  std::string payload;  // decompressed
};
// The blocks in front of the trailer; empty, with a failure of the running test, when they do not tile the
// file.
std::vector<RawBlock> walk_blocks(std::string_view file, uint32_t codec);

std::string read_test_file(const std::string& path);

// Cells in order, drawn from a few rows and columns so that keys repeat.
struct CellDraw {
  size_t rows = 50;
  size_t cells = 500;
  bool tags = false;
  size_t value_bytes_max = 100;
};
std::vector<Cell> draw_cells(Random& random, const CellDraw& draw);
// Sorts by key, and by sequence where keys are equal.
void sort_cells(std::vector<Cell>& cells);

// Returns true if the independent reader of HFiles, which is not part of the project, and its interpreter are
// present.
bool has_outside_checker();
// Its word on these files: "" when each one is sound and holds exactly the cells given, else what it says.
struct FileToCheck {
  std::string name;  // for messages; a file name
  std::string bytes;
  std::vector<Cell> cells;
  bool mvcc = false;  // compare sequences
};
std::string ask_outside_checker(const std::vector<FileToCheck>& files);

// Returns the text, so many times.
std::string repeated(const std::string& text, int times);

}  // namespace cellar::testing
