// TableReader: reads of a table of an engine: gets, scans, estimates, as of now or as of an instant.
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

// Borrows the table. Any thread. Every function fails as TableState::check() does, and with kInvalidArgument
// for a query that is invalid or names a family that the table has not.
class TableReader {
 public:
  explicit TableReader(const TableState& table) : table_(table) {}

  // Reads the row of a get into `batch`, which is empty if the row has no such cells.
  Status get(const Get& get, RowBatch& batch) const { return read_row(get, {.rows = 1}, batch).status(); }
  // Reads as of an instant that a snapshot keeps, with cells of the reader's own beside those of the table.
  Status get_as_of(const Get& get, const ReadInstant& instant, const ReadOverlay& own,
                   RowBatch& batch) const {
    return read_row(get, {.rows = 1}, batch, &instant, &own).status();
  }
  Result<bool> exists(const Get& get) const;
  // All as of one instant.
  Result<std::vector<bool>> exists_many(std::span<const Get> gets) const;
  Result<std::vector<RowBatch>> get_many(std::span<const Get> gets) const;

  // The views of the families that an estimate asks about.
  Result<std::vector<std::shared_ptr<const StoreView>>> views_of(const EstimateRequest& request) const;

 private:
  friend class TableScan;
  // Reads the row of a get into `batch`. Returns whether there was one.
  Result<bool> read_row(const Get& get, ScanBudget budget, RowBatch& batch,
                        const ReadInstant* instant = nullptr, const ReadOverlay* own = nullptr) const;
  // Opens one reader for each family that holds something for it: everything visible now, or to the query's
  // snapshot, or as of the read's instant. The query and the range's bounds are borrowed by the readers.
  template <class Q>
  Result<StoreReaders> open_readers(const Query<Q>& query, const TableRead& read) const;
  Status resolve_choices(const FamilyList& list, const std::vector<FamilyChoice>& choices,
                         std::vector<std::pair<Store*, const FamilyChoice*>>& chosen) const;

  const TableState& table_;
};

// Opens a scan, whose scanner holds the table.
Result<std::unique_ptr<Scanner>> open_scan(std::shared_ptr<TableState> table, const Scan& scan);
// … as of an instant that `keep` keeps from being rewritten; the scanner holds `keep`. `own` is borrowed
// until the scan is open.
Result<std::unique_ptr<Scanner>> open_scan_as_of(std::shared_ptr<TableState> table, const Scan& scan,
                                                 const ReadInstant& instant, const ReadOverlay& own,
                                                 std::shared_ptr<const void> keep);
// Opens scans as of one instant.
Result<std::vector<std::unique_ptr<Scanner>>> open_scans(const std::shared_ptr<TableState>& table,
                                                         std::span<const Scan> scans);

}  // namespace cellar
