// ReadFilter: the filter of one read; asks the filter about rows and cells, and tells walks where to go
// on.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/filter.h"
#include "cellar/row_batch.h"
#include "engine/read/store_reader.h"

namespace cellar {

// ReadFilter: works with a clone of the prototype. One thread at a time.
class ReadFilter {
 public:
  ReadFilter(const Filter& prototype, bool reversed, bool raw);

  // Returns whether nothing more will pass. Once true, it stays true, even if a reset makes the filter
  // forget.
  bool done() { return done_ = done_ || filter_->all_done(); }
  bool needs_whole_row() const { return filter_->needs_whole_row(); }
  bool is_family_essential(std::string_view family) const { return filter_->is_family_essential(family); }

  // Begins a row. Returns whether the filter rejects it by its key.
  bool drops_row(const CellView& first);
  // Returns whether the cell that the reader's walk returned last belongs to the result. Changes the cell
  // if the filter does. Sends the walk on as the filter requests.
  bool takes(StoreReader& reader, CellView& cell);
  // Asks about the cells of a row that drops_row() let pass. They are of different columns, and there is no
  // other version and no marker. Calls add(cell, stored) for each cell that belongs to the result; `cell` is
  // the stored one or a changed copy. Stops if that returns false. Returns the number of the first cells that
  // decide about the row; 0 if all of them do. hinted_row() is then valid.
  template <class Add>
  size_t takes_plain_row(std::span<const CellView> row, const Add& add);
  // Returns the row to go on at after a plain row; null if the filter named none that is ahead.
  const std::string* hinted_row() const { return hint_ ? &hint_->row : nullptr; }
  // Ends the row, which is the open row of `out`. Returns false if the filter rejects it.
  bool keeps_row(RowBatch& out);

 private:
  size_t cells_before_hint(const CellView& cell, std::span<const CellView> rest);
  bool was_passed_by(const CellView& cell) const;
  void follow_hint(StoreReader& reader, const CellView& cell);
  bool over_versions(const StoreReader& reader, const CellView& cell);

  std::unique_ptr<Filter> filter_;
  bool reversed_;
  bool raw_;
  bool done_ = false;
  OwnedCell column_;       // the last column that passed
  uint32_t versions_ = 0;  // cells of that column that passed
  // In a raw read, cells of the row before passed_, and cells of passed_column_, are not shown to the filter.
  std::optional<Cell> passed_;
  std::string passed_column_;
  bool has_passed_column_ = false;
  std::vector<CellView> cells_;  // cells that the filter may edit
  std::optional<Cell> hint_;     // of a plain row
};

template <class Add>
size_t ReadFilter::takes_plain_row(std::span<const CellView> row, const Add& add) {
  CELLAR_DCHECK(!raw_ && !row.empty());
  hint_.reset();
  CellView shown;
  for (size_t i = 0; i < row.size();) {
    if (done()) return std::max<size_t>(i, 1);
    const CellView& cell = row[i];
    const FilterCode code = filter_->cell(cell);
    ++i;
    if (includes(code)) {
      shown = cell;
      filter_->transform(shown);
      if (!add(shown, cell)) return i;
    }
    if (code == FilterCode::kNextRow || code == FilterCode::kIncludeAndNextRow) return i;
    if (code != FilterCode::kSeekHint) continue;
    const size_t skipped = cells_before_hint(cell, row.subspan(i));
    if (hint_) return i;
    i += skipped;
  }
  return 0;
}

}  // namespace cellar
