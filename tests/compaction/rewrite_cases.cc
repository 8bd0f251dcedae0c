// Rewrites for tests.
#include "tests/compaction/rewrite_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "hfile/read/hfile_reader.h"
#include "tests/cell_support/forwarding_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

// Passes spans on, or cuts them into cells, and tells the longest one. The keys in spans are not in scratch,
// as those in files and memtables are not.
class CountedCursor final : public ForwardingCursor {
 public:
  CountedCursor(RunCursor* cursor, Spans spans)
      : ForwardingCursor(std::unique_ptr<RunCursor>(cursor)), inner_(cursor), spans_(spans) {}
  std::span<const CellView> next_span() override {
    if (spans_ == Spans::kOfOneCell) return ForwardingCursor::next_span();
    const std::span<const CellView> span = inner_->next_span();
    longest_ = std::max(longest_, span.size());
    std::vector<CellView>& room = rooms_[last_ ^= 1];
    room.assign(span.begin(), span.end());
    for (CellView& cell : room) cell.key_in_scratch = false;
    return room;
  }
  size_t longest() const { return longest_; }

 private:
  RunCursor* const inner_;
  const Spans spans_;
  std::vector<CellView> rooms_[2];  // of the last two spans
  size_t last_ = 0;
  size_t longest_ = 0;
};

}  // namespace

std::vector<std::string> FilesInMemory::texts() const {
  std::vector<std::string> texts;
  for (const auto& file : files_) {
    const auto reader = HFileReader::open(std::make_unique<ViewFile>(file->bytes()), {.name = "file"});
    EXPECT_TRUE(reader.ok()) << reader.status().to_text();
    if (!reader.ok()) continue;
    const auto cursor = (*reader)->cursor({.fill_cache = false, .sequential = true, .stats = nullptr});
    texts.push_back(print_cells(drain(*cursor)));
    EXPECT_TRUE(cursor->status().ok());
  }
  return texts;
}

std::vector<std::string> FilesInMemory::bytes() const {
  std::vector<std::string> bytes;
  for (const auto& file : files_) bytes.emplace_back(file->bytes());
  return bytes;
}

Rewritten rewrite_range(const RewriteCase& of, std::string_view first, std::string_view end, Spans spans) {
  CountedCursor source(vector_cursor(of.cells).release(), spans);
  FilesInMemory output;
  RewriteJob job;
  job.source = &source;
  job.first_row = first;
  job.end_row = end;
  job.rules = of.rules;
  job.rules.snapshots = of.snapshots;
  job.file_bytes = of.file_bytes;
  job.file_starts = of.file_starts;
  job.zero_sequences_up_to = of.zero_sequences_up_to;
  job.keep_hash = true;
  job.file.mvcc = true;
  job.file.tags = true;
  job.file.block_bytes = 1024;
  job.file.bloom = of.bloom;
  uint64_t checkpoints = 0;
  job.checkpoint = [&](uint64_t) { return ++checkpoints, Status(); };
  Result<RewriteResult> result = rewrite(job, output);
  EXPECT_TRUE(result.ok()) << result.status().to_text();
  if (!result.ok()) return {};
  return {*std::move(result), output.texts(), output.bytes(), source.longest(), checkpoints};
}

std::string row_number(uint64_t number) { return fmt::format("r{:03}", number); }

Cells random_cells(Random& random, uint64_t rows, uint64_t cells_max) {
  static constexpr const char* kTypes[] = {"put", "put", "put", "put", "delete", "delete_column"};
  Cells cells;
  uint64_t sequence = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    const std::string name = row_number(2 * i);
    if (random.one_in(5))
      cells.push_back(
          parse_cell(fmt::format("{}/f:/{}/{}#{}", name, random.below(12),
                                 random.one_in(2) ? "delete_family" : "delete_family_version", ++sequence)));
    for (uint64_t k = 0, count = 1 + random.below(cells_max); k < count; ++k)
      cells.push_back(parse_cell(fmt::format("{}/f:q{}/{}/{}#{}=value", name, random.below(4),
                                             random.below(12), kTypes[random.below(6)], ++sequence)));
  }
  return sorted(std::move(cells));
}

RewriteCase random_case(Random& random) {
  RewriteCase made{.cells = random_cells(random, 1 + random.below(40), 1 + random.below(20))};
  made.rules.now_ms = 20;
  made.rules.all_files = random.one_in(2);
  made.rules.family.max_versions = 1 + static_cast<uint32_t>(random.below(3));
  if (random.one_in(3)) made.rules.family.ttl_ms = static_cast<int64_t>(10 + random.below(10));
  if (random.one_in(3)) made.rules.family.delete_order = MarkerOrder::kSequence;
  if (random.one_in(2)) made.file_bytes = 1 + random.below(600);
  return made;
}

}  // namespace cellar::testing
