// TableScanner: takes the smallest row among the families and lets each walk fill it.
#include "engine/table_scanner.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"

namespace cellar {
namespace {

constexpr uint64_t kRowBytesReadMax = uint64_t{1} << 30;  // HBase's hbase.table.max.rowsize
constexpr uint32_t kRowsPerCheckpoint = 256;

class TableScanner final : public Scanner {
 public:
  TableScanner(RowReader reader, std::shared_ptr<const void> keep)
      : keep_(std::move(keep)), reader_(std::move(reader)) {}

  bool next() override {
    batch_.restart();
    return reader_.next(batch_);
  }
  RowView row() const override { return batch_.row(); }
  Status status() const override { return reader_.status(); }

  bool next_batch(RowBatch& batch, size_t rows) override {
    batch.clear();
    while (batch.size() < rows && reader_.next(batch)) {
    }
    return !batch.empty();
  }

 private:
  std::shared_ptr<const void> keep_;  // destroyed last: the scan with its snapshot, and the table
  RowReader reader_;
  RowBatch batch_;
};

}  // namespace

RowReader::RowReader(StoreReaders families, const RowRange& range, ScanBudget budget, ReadStats* stats,
                     Executor* executor)
    : families_(std::move(families)), range_(range), budget_(budget), stats_(stats), executor_(executor) {}

bool RowReader::fail_of_families() {
  for (const auto& family : families_) {
    if (Status status = family->status(); !status.ok()) {
      status_ = status.with_context("family " + family->view().config->options.name);
      return true;
    }
  }
  return false;
}

// Finds the next row among the families; false when there is none within the range.
bool RowReader::choose_row() {
  family_ = 0;
  if (families_.size() == 1) return in_row_ = choose_row_of_one(*families_.front());
  while (true) {
    const CellView* best = nullptr;
    for (const auto& family : families_) {
      const CellView* at = family->at();
      if (at == nullptr) {
        if (!family->status().ok()) return !fail_of_families();
        continue;
      }
      if (best == nullptr || (range_.reversed ? at->row() > best->row() : at->row() < best->row())) best = at;
    }
    if (best == nullptr || range_.past_stop(best->row())) return false;
    row_.assign(best->row());
    if (!range_.is_excluded_start(row_)) break;
    for (const auto& family : families_) {
      if (family->at() == nullptr || family->at()->row() != row_) continue;
      family->walk().enter_row();
      family->walk().leave_row();
    }
  }
  for (const auto& family : families_)
    if (family->at() != nullptr && family->at()->row() == row_) family->walk().enter_row();
  in_row_ = true;
  return true;
}

// The only family's next row needs no comparing.
bool RowReader::choose_row_of_one(StoreReader& family) {
  while (const CellView* at = family.at()) {
    const std::string_view row = at->row();
    if (range_.past_stop(row)) return false;
    const bool excluded = range_.is_excluded_start(row);
    family.walk().enter_row();
    if (!excluded) return true;
    family.walk().leave_row();
  }
  return false;
}

// Adds the cells of the row until it or the part's budget is over. True when the part is full and the row
// goes on.
bool RowReader::collect(RowBatch& out) {
  uint64_t bytes = 0;
  for (; family_ < families_.size(); ++family_) {
    Walk<ReadJudge>& walk = families_[family_]->walk();
    if (!walk.in_row()) continue;
    while (const CellView* cell =
               pending_ != nullptr ? std::exchange(pending_, nullptr) : walk.next_in_row()) {
      if (budget_.cells_per_part != 0 && out.cells_in_open_row() >= budget_.cells_per_part) {
        pending_ = cell;
        return true;
      }
      bytes += cell->key_size + cell->value_size;
      if (bytes > kRowBytesReadMax) {
        status_ = Status::limit(fmt::format("row {} is larger than 1 GiB", escaped(cell->row())))
                      .hinting("read it in parts: Scan::batch");
        return false;
      }
      out.add(*cell, walk.pinned());
    }
  }
  return false;
}

bool RowReader::next(RowBatch& out) {
  if (!status_.ok()) return false;
  while (true) {
    if (!in_row_) {
      if (budget_.rows != 0 && rows_ == budget_.rows) return false;
      if (++since_checkpoint_ == kRowsPerCheckpoint && executor_ != nullptr) {
        since_checkpoint_ = 0;
        executor_->checkpoint();
      }
      if (!choose_row()) {
        static_cast<void>(fail_of_families());
        return false;
      }
    }
    const bool part_full = collect(out);
    if (!status_.ok() || fail_of_families()) return false;
    uint64_t examined = 0;
    for (const auto& family : families_) examined += family->walk().examined();
    stats_->cells_examined += examined - examined_;
    examined_ = examined;
    const size_t cells = out.cells_in_open_row();
    if (!part_full) in_row_ = false;
    if (cells == 0) continue;
    stats_->cells_returned += cells;
    if (!part_full) {
      ++rows_;
      ++stats_->rows_returned;
    }
    out.end_row(part_full);
    return true;
  }
}

std::unique_ptr<Scanner> make_table_scanner(RowReader reader, std::shared_ptr<const void> keep) {
  return std::make_unique<TableScanner>(std::move(reader), std::move(keep));
}

}  // namespace cellar
