// TableRead: what Get and Scan ask, checked, as rows and rules for a StoreReader; the same for every kind of
// table.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/read/read_filter.h"
#include "engine/read/store_reader.h"
#include "engine/read/table_scanner.h"
#include "engine/store/store.h"

namespace cellar {

// What several reads share, so that they see the same.
struct ReadInstant {
  uint64_t read_point = 0;  // of a snapshot that is kept
  int64_t now_ms = 0;
};

// Cells that one reader sees beside what is written: a transaction's own, their sequence
// kUncommittedSequence.
struct ReadOverlay {
  std::vector<std::pair<const Store*, MemtableRef>> memtables;

  // Null when there is none for the store.
  const MemtableRef* find(const Store* store) const {
    for (const auto& each : memtables)
      if (each.first == store) return &each.second;
    return nullptr;
  }
};

// One read: which rows, how many, and how to go about them. `range` borrows from the query.
struct TableRead {
  RowRange range;
  ScanBudget budget;
  bool raw = false;
  bool sequential = false;  // many rows: read ahead
  ReadStats* stats = nullptr;
  ReadFilter* filter = nullptr;          // borrowed; null: none
  const ReadInstant* instant = nullptr;  // null: now
  const ReadOverlay* overlay = nullptr;  // borrowed until the read is opened; null: none
};

// A scan being read: holds what its request borrows. Shared by the scanner.
struct ScanRead {
  explicit ScanRead(const Scan& asked) : scan(asked) {}
  ScanRead(const ScanRead&) = delete;
  ScanRead& operator=(const ScanRead&) = delete;
  // Fills `read`; the clock is borrowed. kInvalidArgument, kLimit.
  Status resolve(Clock& clock);

  const Scan scan;
  TableRead read;

 private:
  std::string successor_;  // the end of the prefix
  ReadStats own_stats_;    // counted into when the user asked for no statistics
  std::optional<ReadFilter> filter_;
  ScanPace pace_;
};

// The places of the gets, in the order of their rows.
std::vector<size_t> by_rows(std::span<const Get> gets);

// kInvalidArgument for an empty row, kLimit for one that is too long.
Status check_row(std::string_view row);
// kInvalidArgument for versions and times that mean nothing.
template <class Q>
Status check_query(const Query<Q>& query);
// What is returned of each family of a row.
template <class Q>
PageBounds page_of(const Query<Q>& query);
// The rules of a read of one family; `choice` is null when the whole family is read. The read point, the time
// and the family's own rules remain to be set.
template <class Q>
StoreQuery store_query(const Query<Q>& query, const TableRead& read, std::string_view family,
                       const FamilyChoice* choice);

// The filter of a get, kept in `filter`: a row that it must see whole is not read in parts.
void add_filter(const Get& get, std::optional<ReadFilter>& filter, TableRead& read);

// Implementation.
Status check_versions_and_times(uint32_t versions, int64_t time_from, int64_t time_until);

template <class Q>
Status check_query(const Query<Q>& query) {
  for (const FamilyTimes& each : query.family_times()) {
    Status status = check_versions_and_times(query.versions_asked(), each.from, each.until);
    if (!status.ok()) return status.with_context("family " + each.family);
  }
  return check_versions_and_times(query.versions_asked(), query.time_from(), query.time_until());
}

template <class Q>
PageBounds page_of(const Query<Q>& query) {
  return {query.offset_in_family(), query.family_max(), query.family_count()};
}

template <class Q>
StoreQuery store_query(const Query<Q>& query, const TableRead& read, std::string_view family,
                       const FamilyChoice* choice) {
  StoreQuery store;
  store.rules.versions = query.versions_asked();
  store.rules.strict_versions = query.counts_strictly();
  store.rules.time_from = query.time_from();
  store.rules.time_until = query.time_until();
  for (const FamilyTimes& each : query.family_times()) {
    if (each.family != family) continue;
    store.rules.time_from = each.from;
    store.rules.time_until = each.until;
  }
  store.rules.raw = read.raw;
  store.rules.explicit_columns = choice != nullptr && !choice->qualifiers.empty();
  if (store.rules.explicit_columns) store.rules.columns = choice->qualifiers;
  store.fill_cache = query.fills_cache();
  store.sequential = read.sequential;
  store.rules.filtered = read.filter != nullptr;
  store.stats = read.stats;
  store.explanation = query.explanation();
  // A part of a row is returned before the row is decided, and rows backward are not sought one by one.
  store.on_demand = read.filter != nullptr && query.loads_families_on_demand() && !read.range.reversed &&
                    !read.budget.in_parts() && !read.filter->is_family_essential(family);
  return store;
}

}  // namespace cellar
