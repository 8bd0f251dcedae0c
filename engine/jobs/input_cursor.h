// InputCursor: the cells of a compaction's inputs of one sorted run, one file after the other.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "cell/cursor.h"
#include "engine/store/store_file.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {

// A forward cursor for rewrites. Opens each file when it gets there, so that at most two are open. Checks
// sequences as make_sequence_checking_cursor() does.
class InputCursor final : public CellCursor {
 public:
  // `files` are not empty, and ascending by disjoint rows.
  InputCursor(std::vector<std::shared_ptr<StoreFile>> files, const FileCursorOptions& options);

  const CellView* seek(const CellView& target) override;
  const CellView* next() override;
  const CellView* skip_to(const CellView& target) override;
  Status status() const override;
  const Pinnable* pinned() const override;
  void print(TextPrinter& out) const override;

  // Returns the file that status() is about, if it is not ok.
  StoreFile& current() const { return *files_[at_]; }

 private:
  void open(size_t file);
  // Returns `cell`, or the first cell at or after `target` in the files that follow.
  const CellView* or_later(const CellView* cell, const CellView& target);

  std::vector<std::shared_ptr<StoreFile>> files_;
  FileCursorOptions options_;
  size_t at_ = 0;
  std::unique_ptr<CellCursor> cursor_;
  // The cursor of the file before, because the cell of the last move stays valid for one more move.
  std::unique_ptr<CellCursor> before_;
};

}  // namespace cellar
