// ReadFilter: the filter of one read; asks the filter about rows and cells, and tells walks where to go
// on.
#pragma once

#include <memory>
#include <optional>
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
  // Ends the row, which is the open row of `out`. Returns false if the filter rejects it.
  bool keeps_row(RowBatch& out);

 private:
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
};

}  // namespace cellar
