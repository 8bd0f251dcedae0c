// StoreReader: leaves out what cannot hold an answer, merges the rest.
#include "engine/store_reader.h"

#include "cell/merging_cursor.h"
#include "cell/reverse_row_cursor.h"

namespace cellar {
namespace {

ReadRules with_family(StoreQuery& query, const StoreView& view) {
  ReadRules rules = query.rules;
  rules.family = view.config->rules;
  rules.columns = query.columns;
  rules.explicit_columns = !query.columns.empty();
  return rules;
}

}  // namespace

bool RowRange::past_stop(std::string_view row) const {
  if (stop.empty()) return false;
  const int order = row.compare(stop);
  if (order == 0) return !stop_inclusive;
  return reversed ? order < 0 : order > 0;
}

StoreReader::StoreReader(std::shared_ptr<const StoreView> view, StoreQuery query, const RowRange& range)
    : view_(std::move(view)),
      query_(std::move(query)),
      cursor_(open_sources(range)),
      judge_(with_family(query_, *view_)),
      walk_(*cursor_, judge_) {
  OwnedCell from;
  first_of_row(from, range.start);
  if (range.reversed) {
    // Rows at or before the start; without one, before the end of everything.
    static const std::string after_all_rows(kRowBytesMax, '\xff');
    last_of_row(from, range.start.empty() ? std::string_view(after_all_rows) : std::string_view(range.start));
  }
  walk_.position(from.view());
}

bool StoreReader::memtable_is_useless(const Memtable& memtable, const RowRange& range) const {
  return range.single_row() && !memtable.may_contain_row(range.start);
}

// Whether the file cannot hold anything the query could return. Key range, time range and time to live first:
// they cost no read.
bool StoreReader::file_is_useless(const StoreFile& file, const RowRange& range) {
  const HFileReader& reader = file.reader();
  ReadStats& stats = *query_.stats;
  ++stats.files_considered;
  const std::string_view low = range.reversed ? range.stop : range.start;
  const std::string_view high = range.reversed ? range.start : range.stop;
  if (reader.cells() == 0 || (!high.empty() && reader.first_row() > high) ||
      (!low.empty() && reader.last_row() < low)) {
    ++stats.files_skipped_range;
    return true;
  }
  const FamilyRules& family = view_->config->rules;
  if (const auto times = reader.times()) {
    // Deletes by sequence count versions before the time range is looked at: newer puts push older ones out.
    const bool newer_ones_count = family.delete_order == DeleteOrder::kSequence && !query_.rules.raw;
    if (times->max < query_.rules.time_from ||
        (times->min >= query_.rules.time_until && query_.rules.time_until != kLatestTimestamp &&
         !newer_ones_count)) {
      ++stats.files_skipped_time;
      return true;
    }
    if (family.min_versions == 0 && !query_.rules.raw && expired(family, times->max, query_.rules.now_ms)) {
      ++stats.files_skipped_ttl;
      return true;
    }
  }
  return range.single_row() && !reader.may_contain_row(range.start, query_.stats);  // which counts for itself
}

std::unique_ptr<CellCursor> StoreReader::open_sources(const RowRange& range) {
  std::vector<MergeSource> sources;
  uint32_t age = 0;
  const auto add_memtable = [&](const MemtableRef& memtable) {
    if (memtable.get() == nullptr || memtable_is_useless(*memtable.get(), range)) return;
    ++query_.stats->memtables;
    sources.push_back({memtable->cursor(), age});
  };
  add_memtable(view_->active);
  for (const MemtableRef& memtable : view_->frozen) {
    ++age;
    add_memtable(memtable);
  }
  const FileCursorOptions options{.fill_cache = query_.fill_cache && view_->config->options.cache_blocks,
                                  .sequential = query_.sequential,
                                  .stats = query_.stats};
  for (size_t i = view_->files.size(); i-- > 0;) {
    ++age;
    const StoreFile& file = *view_->files[i];
    if (!file_is_useless(file, range)) sources.push_back({file.reader().cursor(options), age});
  }
  std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources));
  return range.reversed ? make_reverse_row_cursor(std::move(merged)) : std::move(merged);
}

}  // namespace cellar
