// Get and Scan: what to read. Values; one thread at a time; names and meaning follow HBase's client.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/cell.h"
#include "cellar/keys.h"
#include "cellar/read_stats.h"

namespace CELLAR_PUBLIC cellar {

class Filter;
class Snapshot;
struct ReadExplanation;

// The choice of columns of one family: none named means all of them.
struct FamilyChoice {
  std::string family;
  std::vector<std::string> qualifiers;  // sorted, without duplicates
};

// The time range of one family, [from, until).
struct FamilyTimes {
  std::string family;
  int64_t from = 0;
  int64_t until = kLatestTimestamp;
};

// What limits per row and family count.
enum class CountBy : uint8_t {
  kColumns,  // a column once, however many of its versions are returned
  kCells,    // HBase's way: each returned version
};

// Query: what Get and Scan share.
template <class Self>
class Query {
 public:
  // The whole family; with nothing chosen all families are read.
  Self& family(std::string_view family) { return choose(family).qualifiers.clear(), self(); }
  // One column. Naming a column of a family chosen whole before restricts it to that column, as in HBase.
  Self& column(std::string_view family, std::string_view qualifier) {
    std::vector<std::string>& all = choose(family).qualifiers;
    size_t at = 0;
    // compare(), since clang 14 rejects a string < string_view that is instantiated here
    while (at < all.size() && all[at].compare(qualifier) < 0) ++at;
    if (at == all.size() || all[at] != qualifier)
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), std::string(qualifier));
    return self();
  }
  // Up to `versions` (1 or more) of each column, newest first; never more than the family keeps.
  Self& versions(uint32_t versions) { return versions_ = versions, self(); }
  Self& all_versions() { return versions(UINT32_MAX); }
  // Of each family of a row, at most the first `n` columns; 0: all. What has been deleted, is out of the time
  // range or refused by the filter does not count; the filter is not asked about columns behind the last one,
  // and what it does with whole rows it does with what is left here. The rest of the row is passed over
  // without being read. HBase: setMaxResultsPerColumnFamily, with count_per_family(CountBy::kCells).
  Self& max_per_family(uint32_t n) { return family_max_ = n, self(); }
  // … after leaving out the first `n`. HBase: setRowOffsetPerColumnFamily, which counts cells.
  Self& family_offset(uint32_t n) { return family_offset_ = n, self(); }
  Self& count_per_family(CountBy by) { return family_count_ = by, self(); }
  // Only cells with a timestamp in [from, until), milliseconds since the epoch.
  Self& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, self(); }
  // Only the version of exactly this timestamp.
  Self& timestamp(int64_t timestamp) {
    return time_range(timestamp, timestamp == kLatestTimestamp ? timestamp : timestamp + 1);
  }
  // … of this family: in place of the range of the whole read. It does not choose the family. HBase:
  // setColumnFamilyTimeRange.
  Self& family_time_range(std::string_view family, int64_t from, int64_t until) {
    for (FamilyTimes& each : family_times_)
      if (each.family == family) return each.from = from, each.until = until, self();
    return family_times_.push_back({std::string(family), from, until}), self();
  }
  // Versions newer than the time range, and those that a delete of single versions hides, count towards the
  // versions that the family keeps. So a version shows only if it is among them, whether or not a compaction
  // has dropped the others already; but a version that was dropped after its delete counts no more. As HBase
  // has it, only what is in the range and not deleted counts, and a surplus version shows until it is
  // dropped. Families with delete_order=sequence always count so.
  Self& strict_versions(bool strict) { return strict_versions_ = strict, self(); }
  // As of a snapshot, which must stay alive during the read.
  Self& at(std::shared_ptr<const Snapshot> snapshot) { return snapshot_ = std::move(snapshot), self(); }
  // Only what passes; see cellar/filter.h. One filter may be given to many reads, at the same time too.
  Self& filter(std::shared_ptr<const Filter> filter) { return filter_ = std::move(filter), self(); }
  // With a filter that judges rows by one family: whether the others are read only for rows that pass.
  Self& load_families_on_demand(bool on_demand) { return on_demand_ = on_demand, self(); }
  // Adds what the read cost; borrowed until the read (the scanner) is over.
  Self& stats(ReadStats* stats) { return stats_ = stats, self(); }
  // Where the read looked and what it passed over (cellar/explanation.h); borrowed until it is over. What it
  // costs then reaches stats() only at the end.
  Self& explain(ReadExplanation* explanation) { return explanation_ = explanation, self(); }
  // Whether blocks that had to be read are put into the cache.
  Self& fill_cache(bool fill) { return fill_cache_ = fill, self(); }

  const std::vector<FamilyChoice>& choices() const { return choices_; }
  uint32_t versions_asked() const { return versions_; }
  uint32_t family_max() const { return family_max_; }
  uint32_t offset_in_family() const { return family_offset_; }
  CountBy family_count() const { return family_count_; }
  bool counts_strictly() const { return strict_versions_; }
  int64_t time_from() const { return from_; }
  int64_t time_until() const { return until_; }
  const std::vector<FamilyTimes>& family_times() const { return family_times_; }
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }
  const std::shared_ptr<const Filter>& row_filter() const { return filter_; }
  bool loads_families_on_demand() const { return on_demand_; }
  ReadStats* stats_sink() const { return stats_; }
  ReadExplanation* explanation() const { return explanation_; }
  bool fills_cache() const { return fill_cache_; }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  FamilyChoice& choose(std::string_view family) {
    for (FamilyChoice& each : choices_)
      if (each.family == family) return each;
    return choices_.emplace_back(FamilyChoice{std::string(family), {}});
  }
  std::vector<FamilyChoice> choices_;
  uint32_t versions_ = 1;
  uint32_t family_max_ = 0;
  uint32_t family_offset_ = 0;
  CountBy family_count_ = CountBy::kColumns;
  bool strict_versions_ = false;
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  std::vector<FamilyTimes> family_times_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const Filter> filter_;
  ReadStats* stats_ = nullptr;
  ReadExplanation* explanation_ = nullptr;
  bool fill_cache_ = true;
  bool on_demand_ = true;
};

// Get: one row.
class Get : public Query<Get> {
 public:
  explicit Get(std::string_view row) : row_(row) {}
  const std::string& row() const { return row_; }

 private:
  std::string row_;
};

enum class Bound : uint8_t { kInclusive, kExclusive };

// Scan: rows in order. Forward from start up to stop; reversed from start (the upper end) down to stop.
class Scan : public Query<Scan> {
 public:
  Scan() = default;
  // The rows of a range of keys, forward: Scan(keys_with_prefix(key)).
  explicit Scan(const KeyRange& range) : start_(range.start), stop_(range.stop) {}
  // Empty: from the first (reversed: last) row.
  Scan& start(std::string_view row, Bound bound = Bound::kInclusive) {
    return start_ = row, start_bound_ = bound, *this;
  }
  // Empty: no end.
  Scan& stop(std::string_view row, Bound bound = Bound::kExclusive) {
    return stop_ = row, stop_bound_ = bound, *this;
  }
  // Rows that begin with `prefix`: what start and stop would say, for the direction chosen at the time of the
  // read. A start among these rows may be given too.
  Scan& prefix(std::string_view prefix) { return prefix_ = prefix, *this; }
  // At most this many rows; 0: all.
  Scan& limit(uint64_t rows) { return limit_ = rows, *this; }
  Scan& reversed(bool reversed) { return reversed_ = reversed, *this; }
  // Returns delete markers and hidden cells too, as far as they are still stored; columns cannot be chosen
  // then. The number of versions counts puts. With a filter it counts the cells that pass, markers included.
  Scan& raw(bool raw) { return raw_ = raw, *this; }
  // At most this many cells per returned row; a longer row comes in several parts
  // (RowView::more_cells_in_row). 0: whole rows. Refused with a filter that judges whole rows.
  Scan& batch(uint32_t cells) { return batch_ = cells, *this; }
  // … and at most this many bytes of cells (keys, values and tags), but at least one cell. 0: whole rows, and
  // so with a filter that judges whole rows. HBase: setMaxResultSize with setAllowPartialResults.
  Scan& max_result_bytes(uint64_t bytes) { return result_bytes_ = bytes, *this; }
  // Lets the scan interrupt itself: when it has examined `cells` cells, or looked for `ms` milliseconds of
  // the engine's clock, since it last handed over a row (part of a row, or cursor), it hands over a cursor,
  // that is a row without cells for which RowView::is_cursor() holds. 0: never. HBase: setNeedCursorResult.
  //
  // A cursor's row() is the first row that has not been looked at: everything before it, in the direction of
  // the scan, has been handed over or is not part of the answer. next() goes on there. So does a new scan of
  // the same range with start(row), inclusive, at the same snapshot (at()): the two together return each row
  // of the one long scan once, none twice and none missing, but for what has expired, or of a raw scan been
  // dropped, meanwhile. The new scan has its own limit(), and its filter begins anew, which matters to those
  // that count, such as PageFilter. Whether the cursor's row itself is part of the answer is not known yet.
  //
  // Rows are not interrupted: a scan of one row has no cursors, and one that examines a huge row comes back
  // after it. At least one row is looked at between two cursors and at the beginning.
  Scan& cursor_after_cells(uint64_t cells) { return cursor_cells_ = cells, *this; }
  Scan& cursor_after_ms(uint32_t ms) { return cursor_ms_ = ms, *this; }

  const std::string& start_row() const { return start_; }
  Bound start_bound() const { return start_bound_; }
  const std::string& stop_row() const { return stop_; }
  Bound stop_bound() const { return stop_bound_; }
  const std::string& row_prefix() const { return prefix_; }
  uint64_t row_limit() const { return limit_; }
  bool is_reversed() const { return reversed_; }
  bool is_raw() const { return raw_; }
  uint32_t batch_cells() const { return batch_; }
  uint64_t result_bytes() const { return result_bytes_; }
  bool is_in_parts() const { return batch_ != 0 || result_bytes_ != 0; }
  uint64_t cursor_cells() const { return cursor_cells_; }
  uint32_t cursor_ms() const { return cursor_ms_; }

 private:
  std::string start_;
  std::string stop_;
  std::string prefix_;
  Bound start_bound_ = Bound::kInclusive;
  Bound stop_bound_ = Bound::kExclusive;
  uint64_t limit_ = 0;
  bool reversed_ = false;
  bool raw_ = false;
  uint32_t batch_ = 0;
  uint32_t cursor_ms_ = 0;
  uint64_t result_bytes_ = 0;
  uint64_t cursor_cells_ = 0;
};

}  // namespace cellar
