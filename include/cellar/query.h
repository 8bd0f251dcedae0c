// Get and Scan: what to read. Names and meaning follow HBase's client.
//
// Both are values: a copy is independent of its original, and one object may serve many reads. One thread at
// a time. Each property has one name: with an argument it is set, without one it is returned.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cellar/bytes_only.h"
#include "cellar/cell.h"
#include "cellar/keys.h"
#include "cellar/read_stats.h"

namespace CELLAR_PUBLIC cellar {

class Filter;
class Snapshot;
struct ReadExplanation;

// Query: what Get and Scan share. Timestamps are milliseconds since the epoch.
template <class Self>
class Query {
 public:
  // Reads the whole family. If no family and no column is chosen, all families are read. A read of a family
  // that the table does not have fails with kInvalidArgument.
  Self& family(std::string_view family) {
    if (chooses_nothing()) return first_ = kColumns, first_family_ = family, self();
    return choose(family).clear(), self();
  }
  // Reads each of these whole families: families({"r", "s"}).
  Self& families(std::initializer_list<std::string_view> families) {
    for (const std::string_view each : families) family(each);
    return self();
  }
  // Reads one column. After family() of the same family it restricts that family to this column, as in HBase.
  Self& column(std::string_view family, std::string_view qualifier) {
    if (chooses_nothing()) {
      first_ = kColumn;
      first_family_ = family;
      first_qualifier_ = qualifier;
      return self();
    }
    std::vector<std::string>& all = choose(family);
    // Most names come in their order.
    if (all.empty() || all.back().compare(qualifier) < 0) return all.emplace_back(qualifier), self();
    size_t at = 0;
    // compare(), since clang 14 rejects a string < string_view that is instantiated here
    while (at < all.size() && all[at].compare(qualifier) < 0) ++at;
    if (at == all.size() || all[at] != qualifier)
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), std::string(qualifier));
    return self();
  }
  // Returns the families and columns that were chosen.
  [[nodiscard]] ColumnMap columns() const {
    ColumnMap all;
    for_each_family([&](std::string_view family, std::span<const std::string> qualifiers) {
      all[std::string(family)].assign(qualifiers.begin(), qualifiers.end());
    });
    return all;
  }
  // Calls take(family, qualifiers) for each chosen family. Both are views into the query. No qualifiers: the
  // whole family.
  template <class Take>
  void for_each_family(const Take& take) const {
    if (first_ == kColumn)
      take(std::string_view(first_family_), std::span<const std::string>(&first_qualifier_, 1));
    if (first_ == kColumns)
      take(std::string_view(first_family_), std::span<const std::string>(first_qualifiers_));
    for (const auto& [family, qualifiers] : columns_)
      take(std::string_view(family), std::span<const std::string>(qualifiers));
  }
  [[nodiscard]] bool chooses_nothing() const { return first_ == kNothing && columns_.empty(); }
  // Returns whether exactly one family is chosen.
  [[nodiscard]] bool chooses_one_family() const { return first_ != kNothing; }

  // Returns up to `versions` cells of each column, newest first. 1 or more; default: 1. A family keeps at
  // most FamilyOptions::max_versions, so a read never returns more than those.
  Self& versions(uint32_t versions) { return versions_ = versions, self(); }
  Self& all_versions() { return versions(UINT32_MAX); }
  [[nodiscard]] uint32_t versions() const { return versions_; }

  // Returns at most the first `columns` columns of each family of a row. 0: all. Columns that are deleted,
  // out of the time range or refused by the filter do not count. The filter does not see the columns after
  // the last one, and whole-row filters see only the columns kept here. The rest of the row is skipped
  // without being read. HBase: setMaxResultsPerColumnFamily, together with count_cells_per_family(true).
  Self& max_per_family(uint32_t columns) { return family_max_ = columns, self(); }
  [[nodiscard]] uint32_t max_per_family() const { return family_max_; }
  // Leaves out the first `columns` columns of each family of a row. HBase: setRowOffsetPerColumnFamily,
  // together with count_cells_per_family(true).
  Self& family_offset(uint32_t columns) { return family_offset_ = columns, self(); }
  [[nodiscard]] uint32_t family_offset() const { return family_offset_; }
  // Lets max_per_family() and family_offset() count each returned version, as HBase does. Default: false, a
  // column counts once, however many of its versions are returned.
  Self& count_cells_per_family(bool cells) { return count_cells_ = cells, self(); }
  [[nodiscard]] bool count_cells_per_family() const { return count_cells_; }

  // Returns only cells with a timestamp in [from, until).
  Self& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, self(); }
  // Returns only the version with exactly this timestamp.
  Self& timestamp(int64_t timestamp) {
    return time_range(timestamp, timestamp == kLatestTimestamp ? timestamp : timestamp + 1);
  }
  [[nodiscard]] int64_t time_from() const { return from_; }
  [[nodiscard]] int64_t time_until() const { return until_; }
  // Replaces the time range of the read for this family. It does not choose the family. HBase:
  // setColumnFamilyTimeRange.
  Self& family_time_range(std::string_view family, int64_t from, int64_t until) {
    return family_times_[std::string(family)] = {from, until}, self();
  }
  // Returns from and until of each family that has a time range of its own.
  [[nodiscard]] const std::map<std::string, std::pair<int64_t, int64_t>, std::less<>>& family_time_ranges()
      const {
    return family_times_;
  }

  // Lets versions newer than the time range, and versions that are deleted one by one, count towards the
  // versions that the family keeps. Then a version shows only if it is among them, whether or not a
  // compaction has dropped the others already. A version that was dropped after its delete no longer counts.
  // Default: false, as in HBase: only what is in the range and not deleted counts, and a surplus version
  // shows until a compaction drops it. Families with delete_order=sequence always count strictly.
  Self& strict_versions(bool strict) { return strict_versions_ = strict, self(); }
  [[nodiscard]] bool strict_versions() const { return strict_versions_; }

  // Reads as of a snapshot, which must live until the read (the scanner) ends.
  Self& snapshot(std::shared_ptr<const Snapshot> snapshot) { return snapshot_ = std::move(snapshot), self(); }
  [[nodiscard]] const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }

  // Returns only what passes the filter (cellar/filter.h). Several reads may share one filter, also at the
  // same time.
  Self& filter(std::shared_ptr<const Filter> filter) { return filter_ = std::move(filter), self(); }
  [[nodiscard]] const std::shared_ptr<const Filter>& filter() const { return filter_; }
  // Selects if families that the filter does not need (Filter::is_family_essential) are read only for rows
  // that pass. Default: true.
  Self& load_families_on_demand(bool on_demand) { return on_demand_ = on_demand, self(); }
  [[nodiscard]] bool load_families_on_demand() const { return on_demand_; }

  // Adds the cost of the read to `stats`, which must live until the read (the scanner) ends.
  Self& stats(ReadStats* stats) { return stats_ = stats, self(); }
  [[nodiscard]] ReadStats* stats() const { return stats_; }
  // Records where the read looked and what it skipped (cellar/explanation.h). `explanation` must live until
  // the read (the scanner) ends. With it, stats() is complete only at the end.
  Self& explain(ReadExplanation* explanation) { return explanation_ = explanation, self(); }
  [[nodiscard]] ReadExplanation* explain() const { return explanation_; }
  // Selects if blocks that are read from disk enter the block cache. Default: true.
  Self& fill_cache(bool fill) { return fill_cache_ = fill, self(); }
  [[nodiscard]] bool fill_cache() const { return fill_cache_; }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  // Returns the columns of the family, for a change. Once there are several families, they are in the map.
  std::vector<std::string>& choose(std::string_view family) {
    if (first_ != kNothing) {
      if (first_ == kColumn) {
        first_qualifiers_.reserve(kColumnsAtFirst);
        first_qualifiers_.push_back(std::move(first_qualifier_));
        first_ = kColumns;
      }
      if (first_family_ == family) return first_qualifiers_;
      columns_[std::move(first_family_)] = std::move(first_qualifiers_);
      first_ = kNothing;
    }
    const auto chosen = columns_.find(family);
    return chosen != columns_.end() ? chosen->second : columns_[std::string(family)];
  }

  // Most reads choose one family. One column of it needs no memory of its own, several need no map.
  static constexpr uint8_t kNothing = 0;
  static constexpr uint8_t kColumn = 1;   // first_qualifier_ of first_family_
  static constexpr uint8_t kColumns = 2;  // first_qualifiers_ of first_family_; none: the whole family
  static constexpr size_t kColumnsAtFirst = 16;
  uint8_t first_ = kNothing;  // what is chosen, unless the choices are in the map
  std::string first_family_;
  std::string first_qualifier_;
  std::vector<std::string> first_qualifiers_;
  ColumnMap columns_;
  uint32_t versions_ = 1;
  uint32_t family_max_ = 0;
  uint32_t family_offset_ = 0;
  bool count_cells_ = false;
  bool strict_versions_ = false;
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  std::map<std::string, std::pair<int64_t, int64_t>, std::less<>> family_times_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const Filter> filter_;
  ReadStats* stats_ = nullptr;
  ReadExplanation* explanation_ = nullptr;
  bool fill_cache_ = true;
  bool on_demand_ = true;
};

// Get: reads one row, also called a point lookup. HBase: Get.
class Get : public Query<Get> {
 public:
  // A row has 1 to 32,767 bytes. The read fails with kInvalidArgument if it is empty, with kLimit if it is
  // longer.
  explicit Get(std::string_view row) : row_(row) {}
  // Takes the bytes of a temporary string without a copy. A string that was moved in is empty afterwards.
  template <class Row>
  requires std::is_same_v<Row, std::string>
  explicit Get(Row&& row) : row_(std::move(row)) {}
  template <internal::NotBytes Number>
  explicit Get(Number) {
    internal::refuse_number<Number>();
  }
  const std::string& row() const { return row_; }

 private:
  std::string row_;
};

// Scan: reads rows in the order of their keys. A forward scan goes from start up to stop. A reversed scan
// goes from start, its upper end, down to stop. HBase: Scan.
class Scan : public Query<Scan> {
 public:
  Scan() = default;
  // Reads the rows of a range of keys, in either direction. Scan(keys_with_prefix(key)).reversed(true) begins
  // at the upper end. A later start() or stop() replaces one end, in the direction of the scan.
  explicit Scan(KeyRange range) : range_(std::move(range)) {}
  // Reads the rows of many ranges with one scanner, in the order of their keys. It seeks from range to range.
  // The ranges may come in any order: those that overlap or touch become one. No range: no row.
  //
  // A row is returned once. Limit, filter, snapshot, statistics and explanation are of the whole scan. A
  // start() or stop() cuts the ranges off, so a scan goes on at a cursor as any other does. The read fails
  // with kInvalidArgument if a range ends before it starts, or if there is a prefix().
  template <class Ranges>
  requires std::is_same_v<std::remove_cvref_t<Ranges>, std::vector<KeyRange>>
  explicit Scan(Ranges&& ranges) {  // a template, so that Scan({"a", "b"}) is one range
    this->ranges(std::forward<Ranges>(ranges));
  }

  // Replaces the range or the ranges of the constructor.
  Scan& ranges(std::vector<KeyRange> ranges) {
    ranges_ = joined_ranges(std::move(ranges));
    has_ranges_ = true;
    range_ = ranges_.empty() ? KeyRange() : KeyRange{ranges_.front().start, ranges_.back().stop};
    return *this;
  }
  // Returns the ranges, joined and in the order of their keys. Without has_ranges() they are none.
  [[nodiscard]] const std::vector<KeyRange>& ranges() const { return ranges_; }
  [[nodiscard]] bool has_ranges() const { return has_ranges_; }

  // Empty: from the first row. A reversed scan begins at the last one.
  Scan& start(std::string_view row, bool inclusive = true) {
    return has_start_ = true, start_ = row, start_inclusive_ = inclusive, *this;
  }
  // Empty: to the end.
  Scan& stop(std::string_view row, bool inclusive = false) {
    return has_stop_ = true, stop_ = row, stop_inclusive_ = inclusive, *this;
  }
  template <internal::NotBytes Number>
  Scan& start(Number, bool = true) {
    return internal::refuse_number<Number>(), *this;
  }
  template <internal::NotBytes Number>
  Scan& stop(Number, bool = false) {
    return internal::refuse_number<Number>(), *this;
  }
  // These return the ends in the direction of the scan, also those of a KeyRange, or of all ranges together.
  [[nodiscard]] const std::string& start() const {
    return has_start_ ? start_ : reversed_ ? range_.stop : range_.start;
  }
  [[nodiscard]] bool start_inclusive() const {
    if (has_start_) return start_inclusive_;
    return !reversed_ || range_.stop.empty();
  }
  [[nodiscard]] const std::string& stop() const {
    return has_stop_ ? stop_ : reversed_ ? range_.start : range_.stop;
  }
  [[nodiscard]] bool stop_inclusive() const {
    if (has_stop_) return stop_inclusive_;
    return reversed_ && !range_.start.empty();
  }

  // Reads the rows that begin with `prefix`, in either direction. Together with start() the scan begins
  // there. The read fails with kInvalidArgument if that row does not begin with the prefix, or if there is a
  // stop().
  Scan& prefix(std::string_view prefix) { return prefix_ = prefix, *this; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  // Returns at most this many rows. 0: all.
  Scan& limit(uint64_t rows) { return limit_ = rows, *this; }
  [[nodiscard]] uint64_t limit() const { return limit_; }
  Scan& reversed(bool reversed) { return reversed_ = reversed, *this; }
  [[nodiscard]] bool reversed() const { return reversed_; }
  // Returns delete markers and hidden cells too, as long as they are stored. Columns cannot be chosen then.
  // versions() counts puts; with a filter it counts the cells that pass, markers included.
  Scan& raw(bool raw) { return raw_ = raw, *this; }
  [[nodiscard]] bool raw() const { return raw_; }

  // Returns at most this many cells at a time. A longer row comes in several parts
  // (RowView::more_cells_in_row). 0: whole rows. A read with a filter that must see whole rows fails with
  // kInvalidArgument.
  Scan& batch(uint32_t cells) { return batch_ = cells, *this; }
  [[nodiscard]] uint32_t batch() const { return batch_; }
  // Returns at most this many bytes of cells (keys, values and tags) at a time, and at least one cell. 0:
  // whole rows. A filter that must see whole rows switches it off. HBase: setMaxResultSize with
  // setAllowPartialResults.
  Scan& max_result_bytes(uint64_t bytes) { return result_bytes_ = bytes, *this; }
  [[nodiscard]] uint64_t max_result_bytes() const { return result_bytes_; }

  // Let the scan interrupt itself, so that its caller regains control. The scan returns a cursor after it
  // examined `cells` cells, or looked for `ms` milliseconds of the engine's clock, without returning
  // anything. A cursor is a row without cells, see RowView::is_cursor. 0: never. HBase: setNeedCursorResult.
  //
  // A cursor's row() is the first row that was not examined yet. Everything before it, in the direction of
  // the scan, was returned or is not part of the answer. Scanner::next() goes on there. A new scan of the
  // same range with start(row), inclusive, and the same snapshot() goes on there too. Together the two scans
  // return each row of the one long scan exactly once. Cells may be missing if they expire in between, or if
  // a compaction drops them from a raw scan. The new scan has a limit() of its own, and its filter begins
  // anew. That matters to filters that count, such as PageFilter.
  //
  // A row is never interrupted. A scan of one row has no cursors, and one that examines a huge row returns
  // after it. At least one row is examined, or one range is left, between two cursors and before the first.
  Scan& cursor_after_cells(uint64_t cells) { return cursor_cells_ = cells, *this; }
  [[nodiscard]] uint64_t cursor_after_cells() const { return cursor_cells_; }
  Scan& cursor_after_ms(uint32_t ms) { return cursor_ms_ = ms, *this; }
  [[nodiscard]] uint32_t cursor_after_ms() const { return cursor_ms_; }

 private:
  KeyRange range_;  // from the first of the ranges to the last, if there are several
  std::vector<KeyRange> ranges_;
  std::string start_;
  std::string stop_;
  std::string prefix_;
  bool has_ranges_ = false;
  bool has_start_ = false;
  bool has_stop_ = false;
  bool start_inclusive_ = true;
  bool stop_inclusive_ = false;
  uint64_t limit_ = 0;
  bool reversed_ = false;
  bool raw_ = false;
  uint32_t batch_ = 0;
  uint32_t cursor_ms_ = 0;
  uint64_t result_bytes_ = 0;
  uint64_t cursor_cells_ = 0;
};

}  // namespace cellar
