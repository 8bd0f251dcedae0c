// StoreReader: view and query in, the cursors worth opening out, walked under a read judge.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cell/read_judge.h"
#include "cell/walk.h"
#include "cellar/explanation.h"
#include "cellar/query.h"
#include "engine/store/store_view.h"

namespace cellar {

// The rows a read is about; the bounds' bytes are the asker's. Empty bounds are open. Forward, start is the
// lower end; reversed, the upper one.
struct RowRange {
  std::string_view start;
  std::string_view stop;
  bool start_inclusive = true;
  bool stop_inclusive = false;
  bool reversed = false;

  static RowRange of_row(std::string_view row) { return {.start = row, .stop = row, .stop_inclusive = true}; }
  // One row, both ends inclusive: Bloom filters of rows apply.
  bool single_row() const { return start_inclusive && stop_inclusive && !start.empty() && start == stop; }
  // Whether `row` lies behind the stop bound, in the direction of the read.
  bool past_stop(std::string_view row) const;
  // Whether `row` is the excluded start.
  bool is_excluded_start(std::string_view row) const { return !start_inclusive && row == start; }
};

struct StoreQuery {
  ReadRules rules;  // family rules are taken from the view; columns are borrowed
  bool fill_cache = true;
  bool sequential = false;
  bool on_demand = false;                  // open now, read when to_row() asks for a row
  ReadStats* stats = nullptr;              // borrowed, never null
  ReadExplanation* explanation = nullptr;  // borrowed; null: nobody asked
};

// One family's part of a read. One thread at a time.
class StoreReader {
 public:
  // Opens the sources that can hold something of `range` and stands at the first cell there. Null when there
  // are none.
  static std::unique_ptr<StoreReader> open(std::shared_ptr<const StoreView> view, const StoreQuery& query,
                                           const RowRange& range);
  ~StoreReader();
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;

  // The first cell of the next row that is not past, or null: at the end, or after an error (status()).
  const CellView* at() const { return walk_.at(); }
  Walk<ReadJudge>& walk() { return walk_; }
  // Of a reader opened on demand: stands at the first cell that is not before the row; rows must rise.
  void to_row(std::string_view row);
  bool on_demand() const { return on_demand_; }
  // The filter refused the cell that was shown to it.
  void note_filtered() { ++passed_over_.filtered; }
  // The versions a filtered read returns of a column.
  uint32_t versions_returned() const { return versions_returned_; }
  // Of a filtered read: whether some of what is read may be a delete marker.
  bool may_meet_markers() const { return may_meet_markers_; }
  // Of each column one cell at most.
  bool returns_one_version() const { return versions_returned_ == 1 && !raw_; }
  Status status() const { return walk_.status(); }
  const StoreView& view() const { return *view_; }

 private:
  // Our sources in an explanation.
  struct Explained {
    ReadExplanation* of = nullptr;
    size_t from = 0;
    size_t to = 0;
  };
  static void add_costs(const Explained& explained, ReadStats& stats);
  StoreReader(std::shared_ptr<const StoreView> view, const ReadRules& rules,
              std::unique_ptr<CellCursor> cursor, const StoreQuery& query, Explained explained);

  std::shared_ptr<const StoreView> view_;
  std::unique_ptr<CellCursor> cursor_;
  Explained explained_;
  ReadStats* stats_;  // used at the end, and only if somebody wants an explanation
  ReadExplanation::PassedOver passed_over_;
  ReadJudge judge_;
  Walk<ReadJudge> walk_;
  uint32_t versions_returned_;
  bool raw_;
  bool on_demand_;
  bool may_meet_markers_ = true;
  bool positioned_ = false;  // of one opened on demand
};

// Returns a cursor over everything that the view may hold of a row, hidden cells and markers included, or
// null if it holds nothing. `columns`, if given, are all that matters beside the markers of the family. The
// view and `stats`, into which the cursor counts, must outlive the cursor.
std::unique_ptr<CellCursor> open_row_cursor(const StoreView& view, std::string_view row,
                                            std::span<const std::string> columns, ReadStats& stats);

}  // namespace cellar
