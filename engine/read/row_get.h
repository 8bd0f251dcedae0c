// RowGet: reads the cells of one row, family by family.
#pragma once

#include "cell/read_judge.h"
#include "cell/walk.h"
#include "cellar/query.h"
#include "cellar/row_batch.h"
#include "engine/read/store_reader.h"
#include "engine/read/table_scanner.h"

namespace cellar {

// RowGet: the driver of plain gets, as RowReader is that of scans. Both read the same sources (open_sources)
// by the same walk under the same judge. A get knows its row, so it chooses no row, and its walk and judge
// live in one call. One thread at a time.
class RowGet {
 public:
  // Returns whether a get is plain: it returns its whole row, without a filter, a page or an explanation.
  static bool is_plain(const Get& get) {
    return get.filter() == nullptr && get.explain() == nullptr && get.max_per_family() == 0 &&
           get.family_offset() == 0;
  }

  // Adds the row of `range` to `batch`. Borrows all of them.
  RowGet(const RowRange& range, uint64_t row_bytes_max, ReadStats& stats, RowBatch& batch)
      : range_(range), row_bytes_max_(row_bytes_max), stats_(stats), batch_(batch) {
    CELLAR_DCHECK(range.single_row());
  }

  // Adds the cells of a family. Call it in the order of the families' names. After an error the batch has no
  // rows.
  Status add_family(const StoreView& view, StoreQuery& query);
  // Ends the row. Returns whether it has cells.
  bool end();

 private:
  // The files that a get has not opened yet.
  struct Older {
    size_t count;
    int64_t time_max;  // no cell of them, markers included, is newer
  };

  bool only_source_answers(const StoreView& view, StoreQuery& query, const Older& older, ReadSources& sources,
                           OwnedCell& from);
  Status add_cells(CellCursor& cursor, const StoreView& view, const StoreQuery& query, const CellView& from);
  bool is_answer(const CellView& first, const ReadRules& rules, const CellView& from) const;
  bool add_plain_row(Walk<ReadJudge>& walk, uint64_t& bytes);
  Status walk_row(CellCursor& cursor, const CellView& first, const StoreView& view, const StoreQuery& query);
  Status add_merged(const StoreView& view, const StoreQuery& query, const CellView& from,
                    ReadSources& sources);

  const RowRange& range_;
  const uint64_t row_bytes_max_;
  ReadStats& stats_;
  RowBatch& batch_;
  bool found_ = false;    // True if the family that was added last returned a cell
  bool met_row_ = false;  // True if a family has the row
};

}  // namespace cellar
