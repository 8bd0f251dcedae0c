// Pipeline.
#include "tests/cell/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "cell/read_judge.h"
#include "cell/reverse_row_cursor.h"
#include "tests/cell_support/checking_cursor.h"
#include "tests/cell_support/poison_cursor.h"
#include "tests/cell_support/vector_cursor.h"

namespace cellar::testing {
namespace {

Cells rows_backward(const Cells& cells) {
  Cells result;
  for (size_t end = cells.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && cells[begin - 1].row == cells[begin].row) --begin;
    result.insert(result.end(), cells.begin() + static_cast<ptrdiff_t>(begin),
                  cells.begin() + static_cast<ptrdiff_t>(end));
    end = begin;
  }
  return result;
}

std::string time_text(int64_t ms) { return ms == INT64_MAX ? "forever" : std::to_string(ms); }

}  // namespace

std::unique_ptr<CellCursor> merged_cursor(const std::vector<Cells>& sources, bool reversed) {
  std::vector<MergeSource> merge;
  for (const Cells& source : sources) {
    std::unique_ptr<RunCursor> run = poison(make_checking_cursor(vector_cursor(source)));
    std::unique_ptr<CellCursor> cursor = reversed ? make_reverse_row_cursor(std::move(run)) : std::move(run);
    merge.push_back({std::move(cursor), static_cast<uint32_t>(merge.size())});
  }
  if (reversed) return make_backward_merging_cursor(std::move(merge));
  return make_checking_cursor(make_merging_cursor(std::move(merge)));
}

Cells read_through(const std::vector<Cells>& sources, const FamilyRules& family, const ModelQuery& query,
                   bool reversed) {
  const std::vector<std::string> columns(query.columns.begin(), query.columns.end());
  ReadRules rules;
  rules.family = family;
  rules.versions = query.versions;
  rules.time_from = query.time_from;
  rules.time_until = query.time_until;
  rules.read_point = query.read_point;
  rules.now_ms = query.now_ms;
  rules.raw = query.raw;
  rules.columns = columns;
  rules.explicit_columns = !columns.empty();
  const std::unique_ptr<CellCursor> cursor = merged_cursor(sources, reversed);
  ReadJudge judge(rules);
  Walk<ReadJudge> walk(*cursor, judge);
  OwnedCell from;
  if (!reversed) {
    first_of_row(from, query.start);
  } else if (query.stop.empty()) {
    last_of_row(from, std::string(20, '\xff'));
  } else {
    last_of_row(from, query.stop);  // the row itself is excluded below
  }
  walk.position(from.view());
  Cells result;
  while (walk.settle() != nullptr) {
    const std::string row(walk.settle()->row());
    if (reversed ? row < query.start : !query.stop.empty() && row >= query.stop) break;
    walk.enter_row();
    if (reversed && !query.stop.empty() && row >= query.stop) walk.leave_row();
    while (const CellView* cell = walk.next_in_row()) result.emplace_back(*cell);
    EXPECT_FALSE(walk.in_row());
  }
  EXPECT_TRUE(walk.status().ok()) << walk.status().to_text();
  return result;
}

Cells read_by_model(const std::vector<Cells>& sources, const FamilyRules& family, const ModelQuery& query,
                    bool reversed) {
  const Cells cells = ModelStore::visible(sources, family, query);
  return reversed ? rows_backward(cells) : cells;
}

Rewritten rewrite_through(const std::vector<Cells>& sources, const FamilyRules& family, bool all_files,
                          const ModelRewrite& how) {
  RewriteRules rules;
  rules.family = family;
  rules.now_ms = how.now_ms;
  rules.snapshots = how.snapshots;
  rules.read_point = how.read_point;
  rules.all_files = all_files;
  rules.purge_deletes_ms = how.purge_deletes_ms;
  rules.earliest_outside = how.earliest_outside;
  rules.keep_versions = how.keep_versions;
  if (how.oldest_put_known) {
    rules.oldest_put_ts = kLatestTimestamp;
    for (const Cells& source : sources)
      for (const Cell& cell : source)
        if (cell.type == CellType::kPut) rules.oldest_put_ts = std::min(rules.oldest_put_ts, cell.timestamp);
  }
  const std::unique_ptr<CellCursor> cursor = merged_cursor(sources);
  CompactionJudge judge(rules);
  Walk<CompactionJudge> walk(*cursor, judge);
  OwnedCell first;
  first_of_row(first, {});
  walk.position(first.view());
  Rewritten result;
  size_t cells_in = 0;
  for (const Cells& source : sources) cells_in += source.size();
  while (walk.settle() != nullptr) {
    walk.enter_row();
    while (const CellView* cell = walk.next_in_row()) result.kept.emplace_back(*cell);
  }
  EXPECT_TRUE(walk.status().ok()) << walk.status().to_text();
  result.dropped = judge.dropped();
  uint64_t judged = 0;
  for (const uint64_t count : result.dropped) judged += count;
  EXPECT_EQ(judged, cells_in);
  EXPECT_EQ(result.dropped[static_cast<size_t>(Drop::kKeep)], result.kept.size());
  return result;
}

std::string print_rules(const FamilyRules& family) {
  constexpr std::string_view kKeep[] = {"false", "true", "ttl"};
  return fmt::format("versions={} min_versions={} ttl={} keep_deleted={} order={}", family.max_versions,
                     family.min_versions, time_text(family.ttl_ms),
                     kKeep[static_cast<size_t>(family.keep_deleted_cells)],
                     family.delete_order == MarkerOrder::kTimestamp ? "timestamp" : "sequence");
}

std::string print_query(const ModelQuery& query) {
  std::string text =
      fmt::format("versions={} from={} until={} point={} now={}", query.versions, query.time_from,
                  time_text(query.time_until), query.read_point, query.now_ms);
  if (query.raw) text += " raw";
  if (!query.columns.empty()) text += fmt::format(" columns=[{}]", fmt::join(query.columns, ","));
  if (!query.start.empty() || !query.stop.empty())
    text += fmt::format(" rows [{},{})", query.start, query.stop);
  return text;
}

std::string print_rewrite(bool all_files, const ModelRewrite& how) {
  return fmt::format("{} snapshots=[{}] point={} now={} purge={} outside={}{}{}{}",
                     all_files ? "all" : "some", fmt::join(how.snapshots, ","), how.read_point, how.now_ms,
                     how.purge_deletes_ms, how.earliest_outside, how.keep_versions ? " keep_versions" : "",
                     how.oldest_put_known ? " oldest_put" : "", how.zero_sequences ? " zero" : "");
}

}  // namespace cellar::testing
