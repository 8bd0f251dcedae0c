// TableReader: reads a table of an engine: gets, scans and estimates, at present or as of an instant.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cellar/scanner.h"
#include "engine/read/range_estimate.h"
#include "engine/read/table_read.h"
#include "engine/store/table_state.h"

namespace cellar {

// TableReader: borrows the table. Any thread. Every function fails as TableState::check() does;
// kInvalidArgument if the query is invalid or names a family that the table does not have.
class TableReader {
 public:
  explicit TableReader(const TableState& table) : table_(table) {}

  // Reads the row of a get into `batch`. `batch` is empty if the row has no such cells.
  Status get(const Get& get, RowBatch& batch) const;
  // Reads as of an instant that a snapshot keeps, including the reader's own cells.
  Status get_as_of(const Get& get, const ReadInstant& instant, const ReadOverlay& own,
                   RowBatch& batch) const {
    return read_row(get, {.rows = 1}, batch, &instant, &own).status();
  }
  Result<bool> exists(const Get& get) const;
  // exists_many() and get_many() see all rows as of one instant.
  Result<std::vector<bool>> exists_many(std::span<const Get> gets) const;
  Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) const;

  // Returns the views of the families in the request.
  Result<std::vector<std::shared_ptr<const StoreView>>> views_of(const EstimateRequest& request) const;

 private:
  friend class TableScan;
  // Reads the row of a get into `batch`. Returns whether the row has such cells.
  Result<bool> read_row(const Get& get, const ScanBudget& budget, RowBatch& batch,
                        const ReadInstant* instant = nullptr, const ReadOverlay* own = nullptr) const;
  // Adds to `readers` a reader for each family that may hold cells of the read. The readers see everything
  // visible now, or as of the query's snapshot, or as of the read's instant. They borrow the query's columns
  // and the bounds of the range.
  template <class Q>
  Status open_readers(const Query<Q>& query, const TableRead& read, StoreReaders& readers) const;
  // Chosen: the families of a read, in the order of their names, as of one read point.
  struct Chosen {
    std::vector<std::pair<Store*, FamilyChoice>> families;
    uint64_t read_point = 0;
    int64_t now_ms = 0;
  };
  // Chooses the families, and takes their views as of one read point. `Views` is HeldViews or LeasedViews.
  template <class Q, class Views>
  Status take_views(const Query<Q>& query, const TableRead& read, Chosen& chosen, Views& views) const;
  template <class Q>
  static StoreQuery query_of(const Query<Q>& query, const TableRead& read, const Chosen& chosen, size_t i);
  Result<bool> read_row_of_one(const Get& get, ReadStats& stats, RowBatch& batch) const;
  Result<bool> read_plain_row(const Get& get, const TableRead& read, RowBatch& batch) const;
  template <class Q>
  Status choose_families(const FamilyList& list, const Query<Q>& query, Chosen& chosen) const;

  const TableState& table_;
};

// Opens a scan. The scanner holds the table.
Result<std::unique_ptr<Scanner>> open_scan(std::shared_ptr<TableState> table, const Scan& scan);
// Opens a scan as of an instant whose cells `keep` protects from rewrites. The scanner holds `keep`.
// `own` is borrowed until the scan is open.
Result<std::unique_ptr<Scanner>> open_scan_as_of(std::shared_ptr<TableState> table, const Scan& scan,
                                                 const ReadInstant& instant, const ReadOverlay& own,
                                                 std::shared_ptr<const void> keep);
// Opens scans that all read as of the same instant.
Result<std::vector<std::unique_ptr<Scanner>>> open_scans(const std::shared_ptr<TableState>& table,
                                                         std::span<const Scan> scans);

}  // namespace cellar
