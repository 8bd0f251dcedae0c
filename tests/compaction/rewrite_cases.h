// Rewrites for tests: their cells and rules, and the files that they write.
#pragma once

#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "compaction/rewrite.h"
#include "tests/cell_support/cell_text.h"
#include "tests/support/byte_files.h"

namespace cellar::testing {

// Keeps the bytes of the files.
class FilesInMemory final : public RewriteOutput {
 public:
  Result<WritableFile*> begin() override { return files_.emplace_back(std::make_unique<StringFile>()).get(); }
  Status add_facts(HFileWriter&) override { return {}; }
  Status end() override { return {}; }

  // Returns the cells of each file, as texts.
  std::vector<std::string> texts() const;
  // Returns the bytes of each file.
  std::vector<std::string> bytes() const;

 private:
  std::vector<std::unique_ptr<StringFile>> files_;
};

struct RewriteCase {
  Cells cells;
  RewriteRules rules = {};
  std::vector<uint64_t> snapshots = {};  // of the rules
  uint64_t file_bytes = 0;
  std::vector<std::string> file_starts = {};
  uint64_t zero_sequences_up_to = 0;
  std::string bloom = "none";
};

// A rewrite, and what it wrote.
struct Rewritten {
  RewriteResult result;
  std::vector<std::string> files;  // their cells
  std::vector<std::string> bytes;
  size_t longest_span = 0;  // of many cells
  uint64_t checkpoints = 0;

  std::string cells() const { return std::accumulate(files.begin(), files.end(), std::string()); }
};

// How the cells reach the rewrite.
enum class Spans : bool { kOfOneCell, kOfManyCells };

// Rewrites the rows from `first`, before `end`. An empty one is open.
Rewritten rewrite_range(const RewriteCase& of, std::string_view first, std::string_view end,
                        Spans spans = Spans::kOfManyCells);

// Returns the name of a row. Names have the order of their numbers.
std::string row_number(uint64_t number);

// Returns `rows` rows with even numbers, of one to `cells_max` cells of all types.
Cells random_cells(Random& random, uint64_t rows, uint64_t cells_max);
// Returns such cells with rules and sizes of files.
RewriteCase random_case(Random& random);

}  // namespace cellar::testing
