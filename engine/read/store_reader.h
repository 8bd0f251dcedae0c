// StoreReader: reads one family: opens the sources of a view that may match a query, and walks them under
// a read judge.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/recycled.h"
#include "cell/merging_cursor.h"
#include "cell/read_judge.h"
#include "cell/walk.h"
#include "cellar/explanation.h"
#include "cellar/query.h"
#include "engine/store/store_view.h"

namespace cellar {

// RowRange: the rows of a read. The caller owns the bytes of the bounds. Empty bounds are open. In a
// forward read `start` is the lower end, in a reversed read the upper one.
struct RowRange {
  std::string_view start;
  std::string_view stop;
  bool start_inclusive = true;
  bool stop_inclusive = false;
  bool reversed = false;
  // The parts of the range that are read, at least two, in the direction of the read. They are disjoint, and
  // have no parts themselves. Borrowed. Null: the whole range.
  const std::vector<RowRange>* parts = nullptr;

  static RowRange of_row(std::string_view row) {
    CELLAR_DCHECK(!row.empty());  // an empty bound would be open
    return {.start = row, .stop = row, .stop_inclusive = true};
  }
  // Returns whether the range is one row, with both bounds inclusive: row Bloom filters then apply.
  [[gnu::always_inline]] bool single_row() const {
    if (!start_inclusive || !stop_inclusive || start.size() != stop.size() || start.empty()) return false;
    return start.data() == stop.data() || same_bounds();
  }
  // Returns the bounds in the order of rows.
  RowBounds ascending() const {
    return reversed ? RowBounds{stop, start, stop_inclusive, start_inclusive}
                    : RowBounds{start, stop, start_inclusive, stop_inclusive};
  }
  // Returns whether `row` is beyond the stop bound, in the direction of the read.
  bool past_stop(std::string_view row) const { return !stop.empty() && is_past(row); }
  // Returns whether `row` is the excluded start.
  bool is_excluded_start(std::string_view row) const { return !start_inclusive && row == start; }
  // Returns whether `row` is before the start bound, in the direction of the read.
  bool before_start(std::string_view row) const {
    return !start.empty() && (reversed ? row > start : row < start);
  }
  // Returns whether rows from `first` to `last` may be in one of the parts.
  bool parts_meet(std::string_view first, std::string_view last) const;

 private:
  bool is_past(std::string_view row) const;
  bool same_bounds() const;
};

struct StoreQuery {
  ReadRules rules;  // rules.family is set from the view; columns are borrowed
  bool fill_cache = true;
  bool sequential = false;
  uint32_t span_cells = 0;                 // as FileCursorOptions::span_cells
  bool on_demand = false;                  // opens the sources now, reads when to_row() asks for a row
  const MemtableRef* own = nullptr;        // own cells of the reader, younger than the view; null: no cells
  ReadStats* stats = nullptr;              // borrowed, never null
  ReadExplanation* explanation = nullptr;  // borrowed; null: not requested
};

// ReadSources: the sources of a view that may hold cells of a read, the youngest first.
struct ReadSources {
  std::vector<MergeSource> cursors;
  bool markers = false;         // True if a source may hold markers
  bool family_markers = false;  // True if a source may hold markers that cover all columns of the wanted row
  // Set by a get that tells `only_file`, if there is one, whether the row was found. The filter of that file
  // is then asked only where the answer pays (StoreFile::asks_filter).
  bool tells_found = false;
  bool oldest_run = false;               // True while the sources of the oldest run are opened
  const StoreFile* only_file = nullptr;  // a file of the oldest run, if it is the only source
};

// OpenSources: the time during which a read uses sources that its thread keeps between reads, so that their
// memory is reused. Closes them on destruction, because they use the view. Nothing below a read that opens
// its sources begins another one.
class OpenSources {
 public:
  OpenSources(ReadSources& kept, bool tells_found) : sources_(kept) {
    CELLAR_ASSERT(kept.cursors.empty());
    kept.markers = kept.family_markers = kept.oldest_run = false;
    kept.tells_found = tells_found;
    kept.only_file = nullptr;
  }
  OpenSources(const OpenSources&) = delete;
  OpenSources& operator=(const OpenSources&) = delete;
  ~OpenSources() { sources_.cursors.clear(); }

 private:
  ReadSources& sources_;
};

// Opens the sources of a view that can match the query, and adds them to `sources`, which is empty. The view
// and what the query borrows must outlive the cursors. open_sources() opens memtables and then files.
void open_sources(const StoreView& view, const StoreQuery& query, const RowRange& range,
                  ReadSources& sources);
void open_memtables(const StoreView& view, const StoreQuery& query, const RowRange& range,
                    ReadSources& sources);
void open_run(const StoreView& view, const StoreQuery& query, const RowRange& range, size_t run,
              ReadSources& sources);
// Sets `from` to the key at which a read of one row begins.
void begin_of_row(const StoreView& view, const StoreQuery& query, const RowRange& range,
                  const ReadSources& sources, OwnedCell& from);

// StoreReader: one family's part of a read. One thread at a time.
class StoreReader : public Recycled<StoreReader> {
 public:
  // Opens the sources that can hold cells of `range` and moves to the first cell there. Returns null if
  // there are no such sources. A file of a run of several files is opened when the read comes to its rows.
  // The bytes of the bounds and the objects that the query borrows must therefore outlive the reader.
  // Completes the rules of the query.
  static std::unique_ptr<StoreReader> open(std::shared_ptr<const StoreView> view, StoreQuery& query,
                                           const RowRange& range);
  ~StoreReader();
  // Returns whether moved() may give a reader that holds fewer memtables. Cheap.
  bool may_move() const { return again_.has_value() && has_flushed(*view_); }
  // Returns a reader of the same cells from `rest` on. Files have taken the place of flushed memtables in it.
  // Returns null if a file is gone: then it will never move. `rest` begins at a row at which this reader
  // stands, or before it.
  std::unique_ptr<StoreReader> moved(const RowRange& rest);
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;

  // Returns the first cell of the next row, or null at the end or after an error (see status()).
  const CellView* at() { return walk_.settle(); }
  Walk<ReadJudge>& walk() { return walk_; }
  // For a reader opened on demand: moves to the first cell at or after the row. Rows must be ascending.
  void to_row(std::string_view row);
  bool on_demand() const { return on_demand_; }
  // Counts a cell that the filter rejected.
  void note_filtered() { ++passed_over_.filtered; }
  // Returns the number of versions per column that a filtered read returns.
  uint32_t versions_returned() const { return versions_returned_; }
  // For a filtered read: returns whether the cells read may include delete markers.
  bool may_meet_markers() const { return may_meet_markers_; }
  // Returns whether the read returns at most one cell per column.
  bool returns_one_version() const { return versions_returned_ == 1 && !raw_; }
  Status status() const { return walk_.status(); }
  const StoreView& view() const { return *view_; }

 private:
  // Explained: the range of this reader's sources in an explanation.
  struct Explained {
    ReadExplanation* of = nullptr;
    size_t from = 0;
    size_t to = 0;
  };
  static void add_costs(const Explained& explained, ReadStats& stats);
  StoreReader(std::shared_ptr<const StoreView>&& view, std::unique_ptr<CellCursor>&& cursor,
              StoreQuery& query, const Explained& explained);

  std::shared_ptr<const StoreView> view_;
  std::optional<StoreQuery> again_;  // of a long read that may move to files; else nothing
  std::unique_ptr<CellCursor> cursor_;
  Explained explained_;
  ReadStats* stats_;  // used at the end, and only if an explanation is requested
  ReadExplanation::PassedOver passed_over_;
  ReadJudge judge_;
  Walk<ReadJudge> walk_;
  uint32_t versions_returned_;
  bool raw_;
  bool on_demand_;
  bool may_meet_markers_ = true;
  bool positioned_ = false;  // for a reader opened on demand: True after the first to_row()
};

// Returns the error of a row, or a part of one, that has more bytes in a family than `bytes_max` allows.
Status row_over_limit(const CellView& cell, uint64_t bytes_max, const StoreView& view);

// Returns a cursor over all cells of a row in the view, including hidden cells and markers; null if the
// view has none. If `columns` is not empty, only these columns and the family-wide markers matter. The
// view and `stats`, which the cursor updates, must outlive the cursor.
std::unique_ptr<CellCursor> open_row_cursor(const StoreView& view, std::string_view row,
                                            std::span<const std::string> columns, ReadStats& stats);

}  // namespace cellar
