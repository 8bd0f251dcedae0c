// InputCursor: goes on to the next file at the end of one.
#include "engine/jobs/input_cursor.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "engine/manifest/file_order.h"
#include "engine/store/sequence_check.h"

namespace cellar {

InputCursor::InputCursor(std::vector<std::shared_ptr<StoreFile>> files, const FileCursorOptions& options)
    : files_(std::move(files)), options_(options) {
  CELLAR_ASSERT(!files_.empty());
  for (size_t i = 1; i < files_.size(); ++i)
    CELLAR_ASSERT(last_row_of(files_[i - 1]->record()) < first_row_of(files_[i]->record()));
}

void InputCursor::open(size_t file) {
  CELLAR_ASSERT(file < files_.size());
  before_ = std::move(cursor_);
  at_ = file;
  cursor_ = make_sequence_checking_cursor(*files_[file], options_);
}

const CellView* InputCursor::or_later(const CellView* cell, const CellView& target) {
  CELLAR_DCHECK(cursor_ != nullptr);
  while (cell == nullptr && cursor_->status().ok() && at_ + 1 < files_.size()) {
    open(at_ + 1);
    cell = cursor_->seek(target);
  }
  return cell;
}

const CellView* InputCursor::seek(const CellView& target) {
  if (!status().ok()) return nullptr;
  const auto ends_before = [&](const auto& file) { return last_row_of(file->record()) < target.row(); };
  const auto file = std::partition_point(files_.begin(), files_.end(), ends_before);
  open(file == files_.end() ? files_.size() - 1 : static_cast<size_t>(file - files_.begin()));
  return or_later(cursor_->seek(target), target);
}

const CellView* InputCursor::next() {
  before_.reset();  // the cell before is of the current file from here on
  const CellView* cell = cursor_->next();
  if (cell != nullptr || at_ + 1 == files_.size() || !cursor_->status().ok()) return cell;
  OwnedCell first;
  first_of_row(first, {});
  return or_later(nullptr, first.view());
}

const CellView* InputCursor::skip_to(const CellView& target) {
  before_.reset();
  return or_later(cursor_->skip_to(target), target);
}

Status InputCursor::status() const { return cursor_ == nullptr ? Status() : cursor_->status(); }
const Pinnable* InputCursor::pinned() const { return cursor_->pinned(); }

void InputCursor::print(TextPrinter& out) const {
  if (cursor_ != nullptr) cursor_->print(out);
}

}  // namespace cellar
