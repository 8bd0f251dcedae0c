// StoreReader: leaves out what cannot hold an answer, merges the rest.
#include "engine/store_reader.h"

#include <algorithm>

#include "cell/merging_cursor.h"
#include "cell/reverse_row_cursor.h"

namespace cellar {
namespace {

bool memtable_is_useless(const Memtable& memtable, const RowRange& range) {
  return range.single_row() && !memtable.may_contain_row(range.start);
}

// The columns that alone matter to a read; none: all of them.
std::span<const std::string> columns_of(const ReadRules& rules) {
  return rules.explicit_columns ? rules.columns : std::span<const std::string>();
}

// Whether the file cannot hold anything the query could return. Key range, time range and time to live first:
// they cost no read.
bool file_is_useless(const StoreView& view, const StoreFile& file, const StoreQuery& query,
                     const RowRange& range) {
  const HFileReader& reader = file.reader();
  ReadStats& stats = *query.stats;
  ++stats.files_considered;
  const std::string_view low = range.reversed ? range.stop : range.start;
  const std::string_view high = range.reversed ? range.start : range.stop;
  if (reader.cells() == 0 || (!high.empty() && reader.first_row() > high) ||
      (!low.empty() && reader.last_row() < low)) {
    ++stats.files_skipped_range;
    return true;
  }
  const FamilyRules& family = view.config->rules;
  if (const auto times = reader.times()) {
    // Deletes by sequence count versions before the time range is looked at: newer puts push older ones out.
    const bool newer_ones_count = family.delete_order == DeleteOrder::kSequence && !query.rules.raw;
    if (times->max < query.rules.time_from ||
        (times->min >= query.rules.time_until && query.rules.time_until != kLatestTimestamp &&
         !newer_ones_count)) {
      ++stats.files_skipped_time;
      return true;
    }
    if (family.min_versions == 0 && !query.rules.raw && expired(family, times->max, query.rules.now_ms)) {
      ++stats.files_skipped_ttl;
      return true;
    }
  }
  // The filters count for themselves.
  if (range.single_row())
    return !reader.may_contain_columns(range.start, columns_of(query.rules), query.stats);
  const bool high_inclusive = range.reversed ? range.start_inclusive : range.stop_inclusive;
  return !reader.may_contain_rows(low, high, high_inclusive, query.stats);
}

struct Sources {
  std::vector<MergeSource> cursors;
  bool family_markers = false;  // one of them may hold markers that cover all columns of the wanted row
};

// Where a read may begin at its first column: markers of a whole family stand in front of all columns.
bool may_begin_at_column(const StoreQuery& query, const RowRange& range) {
  return range.single_row() && !query.rules.columns.empty();
}

Sources open_sources(const StoreView& view, const StoreQuery& query, const RowRange& range) {
  Sources sources;
  uint32_t age = 0;
  const auto add_memtable = [&](const MemtableRef& memtable) {
    if (memtable.get() == nullptr || memtable_is_useless(*memtable.get(), range)) return;
    ++query.stats->memtables;
    sources.cursors.push_back({memtable->cursor(), age});
    sources.family_markers = true;
  };
  add_memtable(view.active);
  for (const MemtableRef& memtable : view.frozen) {
    ++age;
    add_memtable(memtable);
  }
  const FileCursorOptions options{.fill_cache = query.fill_cache && view.config->options.cache_blocks,
                                  .sequential = query.sequential,
                                  .stats = query.stats};
  for (size_t i = view.files.size(); i-- > 0;) {
    ++age;
    const StoreFile& file = *view.files[i];
    if (file_is_useless(view, file, query, range)) continue;
    sources.cursors.push_back({file.reader().cursor(options), age});
    sources.family_markers = sources.family_markers || !may_begin_at_column(query, range) ||
                             file.reader().may_contain_family_markers(range.start, query.stats);
  }
  return sources;
}

}  // namespace

bool RowRange::past_stop(std::string_view row) const {
  if (stop.empty()) return false;
  const int order = row.compare(stop);
  if (order == 0) return !stop_inclusive;
  return reversed ? order < 0 : order > 0;
}

std::unique_ptr<StoreReader> StoreReader::open(std::shared_ptr<const StoreView> view, const StoreQuery& query,
                                               const RowRange& range) {
  Sources sources = open_sources(*view, query, range);
  if (sources.cursors.empty()) return nullptr;
  std::unique_ptr<CellCursor> cursor = range.reversed ? make_reverse_row_cursor(std::move(sources.cursors))
                                                      : make_merging_cursor(std::move(sources.cursors));
  ReadRules rules = query.rules;
  rules.family = view->config->rules;
  thread_local OwnedCell from;  // keeps its memory from read to read
  if (range.reversed) {
    // Rows at or before the start; without one, before the end of everything.
    static const std::string after_all_rows(kRowBytesMax, '\xff');
    last_of_row(from, range.start.empty() ? std::string_view(after_all_rows) : range.start);
  } else if (may_begin_at_column(query, range) && !sources.family_markers) {
    // Nothing in front of the first column that is wanted can matter.
    first_of_column(from, range.start, view->config->options.name, rules.columns.front());
  } else {
    first_of_row(from, range.start);
  }
  std::unique_ptr<StoreReader> reader(
      new StoreReader(std::move(view), rules, std::move(cursor), query.on_demand));
  if (!query.on_demand) reader->walk_.position(from.view());
  return reader;
}

StoreReader::StoreReader(std::shared_ptr<const StoreView> view, const ReadRules& rules,
                         std::unique_ptr<CellCursor> cursor, bool on_demand)
    : view_(std::move(view)),
      cursor_(std::move(cursor)),
      judge_(rules),
      walk_(*cursor_, judge_),
      versions_returned_(rules.raw ? rules.versions : std::min(rules.versions, rules.family.max_versions)),
      on_demand_(on_demand) {}

void StoreReader::to_row(std::string_view row) {
  if (positioned_) return walk_.skip_to_row(row);
  positioned_ = true;
  OwnedCell from;
  first_of_row(from, row);
  walk_.position(from.view());
}

}  // namespace cellar
