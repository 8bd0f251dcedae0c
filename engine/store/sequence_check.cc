// Sequence checks: one comparison for each cell that a rewrite reads.
#include "engine/store/sequence_check.h"

#include <fmt/format.h>

#include <span>

#include "cell/cell_key.h"

namespace cellar {
namespace {

class SequenceCheckingCursor final : public RunCursor {
 public:
  SequenceCheckingCursor(const StoreFile& file, const FileCursorOptions& options)
      : file_(file), allowed_(sequences_of(file.record())), inner_(file.reader().cursor(options)) {}

  const CellView* seek(const CellView& target) override {
    return failure_.ok() ? checked(inner_->seek(target)) : nullptr;
  }
  const CellView* next() override { return failure_.ok() ? checked(inner_->next()) : nullptr; }
  // Gives the cells before a fault; the next move returns nothing.
  std::span<const CellView> next_span() override {
    if (!failure_.ok()) return {};
    const std::span<const CellView> span = inner_->next_span();
    size_t right = 0;
    while (right < span.size() && checked(&span[right]) != nullptr) ++right;
    return span.first(right);
  }
  const CellView* skip_to(const CellView& target) override {
    return failure_.ok() ? checked(inner_->skip_to(target)) : nullptr;
  }
  const CellView* seek_before(const CellView& target) override {
    return failure_.ok() ? checked(inner_->seek_before(target)) : nullptr;
  }
  Status status() const override { return failure_.ok() ? inner_->status() : failure_; }
  const Pinnable* pinned() const override { return inner_->pinned(); }
  void print(TextPrinter& out) const override { inner_->print(out); }

 private:
  const CellView* checked(const CellView* cell) {
    if (cell == nullptr || allowed_.holds(cell->sequence)) return cell;
    failure_ = check_sequence(file_, *cell);
    CELLAR_ASSERT(!failure_.ok());
    return nullptr;
  }

  const StoreFile& file_;
  const SequenceRange allowed_;
  const std::unique_ptr<RunCursor> inner_;
  Status failure_;
};

}  // namespace

SequenceRange sequences_of(const FileRecord& record) {
  if (record.adopted_as != 0) return {};
  return {record.sequence_min, record.sequence_max};
}

Status check_sequence(const StoreFile& file, const CellView& cell) {
  const SequenceRange allowed = sequences_of(file.record());
  if (allowed.holds(cell.sequence)) return {};
  return Status::corruption(
             fmt::format(
                 "cell {} has sequence {}, the manifest says {} to {} of the file: it is from another "
                 "file or time",
                 key_text(cell), cell.sequence, allowed.min, allowed.max))
      .at(file.reader().name());
}

std::unique_ptr<RunCursor> make_sequence_checking_cursor(const StoreFile& file,
                                                         const FileCursorOptions& options) {
  return std::make_unique<SequenceCheckingCursor>(file, options);
}

}  // namespace cellar
