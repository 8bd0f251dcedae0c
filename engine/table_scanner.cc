// TableScanner: takes the smallest row among the families and lets each walk fill it.
#include "engine/table_scanner.h"

#include <fmt/format.h>

#include <algorithm>
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
                     Executor* executor, ReadFilter* filter)
    : range_(range), budget_(budget), stats_(stats), executor_(executor), filter_(filter) {
  if (filter == nullptr) {
    families_ = std::move(families);
    return;
  }
  for (auto& family : families) (family->on_demand() ? rest_ : families_).push_back(std::move(family));
}

bool RowReader::fail_of_families() {
  for (const StoreReaders* readers : {&families_, &rest_}) {
    for (const auto& family : *readers) {
      if (Status status = family->status(); !status.ok()) {
        status_ = status.with_context("family " + family->view().config->options.name);
        return true;
      }
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
    if (!rest_.empty()) row_.assign(row);
    family.walk().enter_row();
    if (!excluded) return true;
    family.walk().leave_row();
  }
  return false;
}

// Goes to the next row whose key passes the filter; false when there is none.
bool RowReader::enter_next_row() {
  while (true) {
    if (budget_.rows != 0 && rows_ == budget_.rows) return false;
    if (filter_ != nullptr && filter_->done()) return false;
    if (++since_checkpoint_ == kRowsPerCheckpoint && executor_ != nullptr) {
      since_checkpoint_ = 0;
      executor_->checkpoint();
    }
    if (!choose_row()) {
      static_cast<void>(fail_of_families());
      return false;
    }
    if (filter_ == nullptr) return true;
    const auto first =
        std::ranges::find_if(families_, [](const auto& each) { return each->walk().in_row(); });
    if (!filter_->drops_row(*(*first)->at())) return true;
    for (const auto& family : families_) family->walk().leave_row();
    in_row_ = false;
  }
}

// The next cell of the row that passes the filter; null when the family has no more.
inline const CellView* RowReader::next_cell(StoreReader& family) {
  if (filter_ == nullptr) return family.walk().next_in_row();
  while (!filter_->done()) {
    const CellView* cell = family.walk().next_in_row();
    if (cell == nullptr) break;
    shown_ = *cell;
    if (!filter_->takes(family, shown_)) {
      family.note_filtered();
      continue;
    }
    changed_ = shown_.value != cell->value;
    return &shown_;
  }
  return nullptr;
}

bool RowReader::add(const CellView& cell, StoreReader& family, RowBatch& out) {
  row_bytes_ += cell.key_size + cell.value_size;
  if (row_bytes_ > kRowBytesReadMax) {
    status_ = Status::limit(fmt::format("row {} is larger than 1 GiB", escaped(cell.row())))
                  .hinting("read it in parts: Scan::batch");
    return false;
  }
  if (changed_) {
    out.add_changed(cell, family.walk().pinned());
  } else {
    out.add(cell, family.walk().pinned());
  }
  return true;
}

// True when the part is full and the row goes on.
bool RowReader::collect_family(StoreReader& family, RowBatch& out) {
  while (const CellView* cell = pending_ != nullptr ? std::exchange(pending_, nullptr) : next_cell(family)) {
    if (budget_.cells_per_part != 0 && out.cells_in_open_row() >= budget_.cells_per_part) {
      pending_ = cell;
      return true;
    }
    if (!add(*cell, family, out)) return false;
  }
  return false;
}

// Adds the cells of the row until it or the part's budget is over. True when the part is full and the row
// goes on.
bool RowReader::collect(RowBatch& out) {
  row_bytes_ = 0;
  for (; family_ < families_.size(); ++family_) {
    StoreReader& family = *families_[family_];
    if (!family.walk().in_row()) continue;
    if (collect_family(family, out)) return true;
    if (!status_.ok()) return false;
  }
  return false;
}

// Whether the filter keeps the row; if it does, what the other families have of it is added.
bool RowReader::decide(RowBatch& out) {
  if (!filter_->keeps_row(out)) {
    out.drop_open_row();
    return false;
  }
  for (const auto& family : rest_) {
    family->to_row(row_);
    const CellView* at = family->at();
    if (at == nullptr || at->row() != row_) continue;
    family->walk().enter_row();
    collect_family(*family, out);
    family->walk().leave_row();
  }
  if (!rest_.empty()) out.sort_open_row();
  return status_.ok();
}

void RowReader::count_examined() {
  uint64_t examined = 0;
  for (const auto& family : families_) examined += family->walk().examined();
  for (const auto& family : rest_) examined += family->walk().examined();
  stats_->cells_examined += examined - examined_;
  examined_ = examined;
}

bool RowReader::next(RowBatch& out) {
  if (!status_.ok()) return false;
  while (true) {
    if (!in_row_ && !enter_next_row()) {
      count_examined();
      return false;
    }
    const bool part_full = collect(out);
    if (!status_.ok() || fail_of_families()) return false;
    if (!part_full) in_row_ = false;
    if (!part_full && filter_ != nullptr && !decide(out)) {
      if (!status_.ok() || fail_of_families()) return false;
      count_examined();
      continue;
    }
    if (!rest_.empty() && fail_of_families()) return false;
    count_examined();
    const size_t cells = out.cells_in_open_row();
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
