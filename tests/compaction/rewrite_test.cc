// A rewrite that is cancelled: it reads no further cell, whether cells are kept or dropped, and leaves no
// file whole.
#include "compaction/rewrite.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/memory_file_system.h"
#include "tests/cell_support/forwarding_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

// Cancels when so many cells were read.
class CancellingCursor final : public ForwardingCursor {
 public:
  CancellingCursor(std::unique_ptr<RunCursor> cells, uint64_t after, std::atomic<bool>& cancel)
      : ForwardingCursor(std::move(cells)), after_(after), cancel_(cancel) {}
  const CellView* seek(const CellView& target) override { return count(ForwardingCursor::seek(target)); }
  const CellView* next() override { return count(ForwardingCursor::next()); }
  uint64_t read() const { return read_; }

 private:
  const CellView* count(const CellView* cell) {
    if (cell != nullptr && ++read_ == after_) cancel_ = true;
    return cell;
  }
  uint64_t after_;
  std::atomic<bool>& cancel_;
  uint64_t read_ = 0;
};

class OneFile final : public RewriteOutput {
 public:
  Result<WritableFile*> begin() override {
    CELLAR_TRY_ASSIGN(file_, directory_->create("file", {}));
    return file_.get();
  }
  Status add_facts(HFileWriter&) override { return {}; }
  Status end() override {
    ++ended_;
    return file_->close();
  }
  int ended() const { return ended_; }

 private:
  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  std::shared_ptr<Directory> directory_ = files_->open_directory("d", true).value();
  std::unique_ptr<WritableFile> file_;
  int ended_ = 0;
};

struct Outcome {
  Status status;
  uint64_t cells_read = 0;
  int files = 0;
};

Outcome rewrite_cancelled_after(const Cells& cells, uint64_t after) {
  std::atomic<bool> cancel{false};
  CancellingCursor source(vector_cursor(cells), after, cancel);
  OneFile output;
  RewriteJob job;
  job.source = &source;
  job.rules.now_ms = 10'000'000;
  job.cancel = &cancel;
  job.checkpoint = [](uint64_t) { return Status(); };
  const Result<RewriteResult> result = rewrite(job, output);
  return {result.status(), source.read(), output.ended()};
}

// `rows` rows of one cell, or one row of so many versions, of which one is kept.
Cells cells_of(uint64_t rows, bool one_row) {
  std::string lines;
  for (uint64_t i = 0; i < rows; ++i) {
    const std::string number = std::to_string(1000000 + i);
    lines += (one_row ? "row" : "r" + number) + "/f:q/" + std::to_string(one_row ? rows - i : 1) + "/put=v\n";
  }
  return parse_cells(lines);
}

void expect_cancelled(const Cells& cells, uint64_t after) {
  const Outcome outcome = rewrite_cancelled_after(cells, after);
  EXPECT_TRUE(outcome.status.is(Code::kAborted)) << outcome.status;
  EXPECT_EQ(outcome.cells_read, after);
  EXPECT_EQ(outcome.files, 0);
}

TEST(Rewrite, ACancelledOneReadsNoFurtherCell) {
  const Cells cells = cells_of(3000, false);
  for (const uint64_t after : {1, 2, 1500, 3000}) expect_cancelled(cells, after);
}

TEST(Rewrite, ACancelledOneReadsNoFurtherCellOfThoseThatItDrops) {
  const Cells cells = cells_of(3000, true);
  for (const uint64_t after : {1, 2, 1500, 3000}) expect_cancelled(cells, after);
}

TEST(Rewrite, OneThatIsNotCancelledWritesAFile) {
  for (const bool one_row : {false, true}) {
    const Outcome outcome = rewrite_cancelled_after(cells_of(3000, one_row), 3001);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.cells_read, 3000u);
    EXPECT_EQ(outcome.files, 1);
  }
}

}  // namespace
}  // namespace cellar::testing
