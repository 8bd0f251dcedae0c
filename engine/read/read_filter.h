// ReadFilter: one read's filter; asks it about rows and cells, and tells walks where to go on.
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

// Works with a clone of the prototype. One thread at a time.
class ReadFilter {
 public:
  ReadFilter(const Filter& prototype, bool reversed, bool raw);

  // Nothing more will pass. Once true, always true, whatever a reset makes the filter forget.
  bool done() { return done_ = done_ || filter_->all_done(); }
  bool needs_whole_row() const { return filter_->needs_whole_row(); }
  bool is_family_essential(std::string_view family) const { return filter_->is_family_essential(family); }

  // Begins a row; whether its key says that it is out.
  bool drops_row(const CellView& first);
  // Whether the cell that the reader's walk returned last is part of the result; changes it if the filter
  // does. Sends the walk on as the filter wants.
  bool takes(StoreReader& reader, CellView& cell);
  // Ends the row, which holds `out`'s open row; false when it is out.
  bool keeps_row(RowBatch& out);

 private:
  bool was_passed_by(const CellView& cell) const;
  void follow_hint(StoreReader& reader, const CellView& cell);
  bool over_versions(const StoreReader& reader, const CellView& cell);

  std::unique_ptr<Filter> filter_;
  bool reversed_;
  bool raw_;
  bool done_ = false;
  OwnedCell column_;            // the last one of which a cell was included
  uint32_t versions_ = 0;       // included of it
  std::optional<Cell> passed_;  // raw: cells before this key of the row, or …
  std::string passed_column_;   // … of this column are not asked about
  bool has_passed_column_ = false;
  std::vector<CellView> cells_;  // for the filter to edit
};

}  // namespace cellar
