// TableRead: a Get or Scan, checked and converted to rows and rules for a StoreReader; the same for every
// kind of table.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engine/read/read_filter.h"
#include "engine/read/store_reader.h"
#include "engine/read/table_scanner.h"
#include "engine/store/store.h"

namespace cellar {

// A family that a query chooses, and its qualifiers; without qualifiers the whole family is chosen. Borrows
// from the query.
struct FamilyChoice {
  std::string_view family;
  std::span<const std::string> qualifiers = {};
};

// ReadInstant: the instant that several reads share, so that they see the same cells.
struct ReadInstant {
  uint64_t read_point = 0;  // read point of a snapshot that is kept open
  int64_t now_ms = 0;
};

// ReadOverlay: cells that one reader sees in addition to the written ones: a transaction's own cells,
// whose sequence is kUncommittedSequence.
struct ReadOverlay {
  std::vector<std::pair<const Store*, MemtableRef>> memtables;

  // Returns the memtable for the store, or null.
  const MemtableRef* find(const Store* store) const {
    for (const auto& each : memtables)
      if (each.first == store) return &each.second;
    return nullptr;
  }
};

// TableRead: one read: its rows, its limits, and how to read. `range` borrows from the query.
struct TableRead {
  RowRange range;
  ScanBudget budget;
  bool raw = false;
  bool sequential = false;  // True for many rows: reads ahead
  bool nothing = false;     // True for a scan of ranges that hold no row: it reads no store
  ReadStats* stats = nullptr;
  ReadFilter* filter = nullptr;          // borrowed; null: no filter
  const ReadInstant* instant = nullptr;  // null: the read sees the present
  const ReadOverlay* overlay = nullptr;  // borrowed until the read is opened; null: no overlay
};

// ScanRead: a scan in progress: holds the data that its TableRead borrows.
struct ScanRead {
  ScanRead() = default;
  ScanRead(const ScanRead&) = delete;
  ScanRead& operator=(const ScanRead&) = delete;
  // Fills `read`, which borrows nothing from the scan. The clock is borrowed. kInvalidArgument if the scan is
  // invalid; kLimit if a row is too long.
  Status resolve(const Scan& scan, Clock& clock);

  TableRead read;

 private:
  // Parts: the ranges of a scan of several, and the same in the direction of the scan.
  struct Parts {
    std::vector<KeyRange> ranges;
    std::vector<RowRange> of_read;
  };

  void keep_bounds(const RowRange& range);
  Status keep_parts(const Scan& scan);

  // The bytes of the bounds of `read`. Most are few.
  static constexpr size_t kFewBytes = 80;
  char few_[kFewBytes];
  std::string many_;
  ReadStats own_stats_;                 // used if the user requested no statistics
  std::unique_ptr<ReadFilter> filter_;  // null for most scans, and large
  std::unique_ptr<Parts> parts_;        // null unless the scan has ranges
  ScanPace pace_;
};

// Returns the indexes of the gets, in the order of their rows.
std::vector<size_t> by_rows(std::span<const Get> gets);

// Returns kInvalidArgument if the row is empty; kLimit if it is too long.
Status check_row(std::string_view row);
// Returns kInvalidArgument if the versions or the time ranges are invalid.
template <class Q>
Status check_query(const Query<Q>& query);
// Returns the bounds of the page that is returned of each family of a row.
template <class Q>
PageBounds page_of(const Query<Q>& query);
// Returns what the query says of any family: versions, time range and columns. The span is that of a read of
// one row. The caller still sets the read point, the time and the family's rules.
template <class Q>
StoreQuery row_query(const Query<Q>& query, const FamilyChoice& choice, ReadStats& stats);
// Returns the query for one family. The caller still sets the read point, the time and the family's rules.
template <class Q>
StoreQuery store_query(const Query<Q>& query, const TableRead& read, const FamilyChoice& choice);

// Adds the filter of a get, if any, to the read and keeps it in `filter`. The filter must see whole rows,
// so the read then returns no parts of rows.
void add_filter(const Get& get, std::optional<ReadFilter>& filter, TableRead& read);

// Implementation of the templates above.
Status check_versions_and_times(uint32_t versions, int64_t time_from, int64_t time_until);

template <class Q>
Status check_query(const Query<Q>& query) {
  if (query.family_time_ranges().empty() && query.versions() != 0 && query.time_from() >= 0 &&
      query.time_until() >= query.time_from()) [[likely]]
    return {};
  for (const auto& [family, times] : query.family_time_ranges()) {
    Status status = check_versions_and_times(query.versions(), times.first, times.second);
    if (!status.ok()) return status.with_context("family " + family);
  }
  return check_versions_and_times(query.versions(), query.time_from(), query.time_until());
}

template <class Q>
PageBounds page_of(const Query<Q>& query) {
  return {query.family_offset(), query.max_per_family(), !query.count_cells_per_family()};
}

template <class Q>
StoreQuery row_query(const Query<Q>& query, const FamilyChoice& choice, ReadStats& stats) {
  StoreQuery store;
  store.rules.versions = query.versions();
  store.rules.strict_versions = query.strict_versions();
  store.rules.time_from = query.time_from();
  store.rules.time_until = query.time_until();
  store.rules.explicit_columns = !choice.qualifiers.empty();
  store.rules.columns = choice.qualifiers;
  store.fill_cache = query.fill_cache();
  // A row has at least one cell. Most reads of one column of one row need only one.
  constexpr uint32_t kFirstSpanOfRow = 2;
  if (choice.qualifiers.size() != 1) store.span_cells = kFirstSpanOfRow;
  store.stats = &stats;
  return store;
}

template <class Q>
StoreQuery store_query(const Query<Q>& query, const TableRead& read, const FamilyChoice& choice) {
  CELLAR_ASSERT(read.stats != nullptr);
  StoreQuery store = row_query(query, choice, *read.stats);
  if (!query.family_time_ranges().empty()) {
    const auto times = query.family_time_ranges().find(choice.family);
    if (times != query.family_time_ranges().end())
      std::tie(store.rules.time_from, store.rules.time_until) = times->second;
  }
  store.rules.raw = read.raw;
  store.sequential = read.sequential;
  constexpr uint64_t kFirstSpanCells = 8;
  if (!read.range.single_row())
    store.span_cells = static_cast<uint32_t>(
        read.budget.rows == 0 ? kFirstSpanCells : std::min<uint64_t>(read.budget.rows, 32));
  store.rules.filtered = read.filter != nullptr;
  store.explanation = query.explain();
  // Not for reads in parts, which return a part before the row is decided, nor for reversed reads, because
  // to_row() only moves forward.
  store.on_demand = read.filter != nullptr && query.load_families_on_demand() && !read.range.reversed &&
                    !read.budget.in_parts() && !read.filter->is_family_essential(choice.family);
  return store;
}

}  // namespace cellar
