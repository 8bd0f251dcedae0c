// RowGet: sources, walk and judge of one row.
#include "engine/read/row_get.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/assert.h"
#include "cell/merging_cursor.h"
#include "cell/walk.h"
#include "engine/values/row_batch_builder.h"

namespace cellar {
namespace {

// Scratch: objects that a thread keeps between gets, so that their memory is reused. Nothing below a get
// begins another one.
struct Scratch {
  ReadSources sources;
  OwnedCell from;
};

// Out of line, because the compiler would else look up the thread's memory at each use.
[[gnu::noinline]] Scratch& scratch_of_thread() {
  thread_local Scratch scratch;
  return scratch;
}

}  // namespace

Status RowGet::add_family(const StoreView& view, StoreQuery& query) {
  CELLAR_ASSERT(view.config != nullptr && query.stats == &stats_);
  Scratch& scratch = scratch_of_thread();
  ReadSources& sources = scratch.sources;
  const OpenSources open(sources, true);
  query.rules.family = view.config->rules;
  // The clock costs a twentieth of a cached get. Most gets find nothing that can expire.
  if (query.rules.family.ttl_ms != kTtlForeverMs) query.rules.ask_time();
  open_memtables(view, query, range_, sources);
  const Older files{.count = view.files.size(), .time_max = view.files_time_max};
  if (sources.cursors.size() == 1 && only_source_answers(view, query, files, sources, scratch.from))
    return {};
  for (size_t run = view.runs.size(); run-- > 0;) {
    const bool is_first = sources.cursors.empty();
    open_run(view, query, range_, run, sources);
    if (!is_first || sources.cursors.empty() || run == 0 || !view.runs[run].is_mostly_newer()) continue;
    const Older older{.count = view.runs[run].begin, .time_max = view.runs[run].older_time_max};
    if (only_source_answers(view, query, older, sources, scratch.from)) return {};
  }
  if (sources.cursors.empty()) return {};
  begin_of_row(view, query, range_, sources, scratch.from);
  if (sources.cursors.size() > 1) return add_merged(view, query, scratch.from.view(), sources);
  found_ = false;
  CELLAR_TRY(add_cells(*sources.cursors.front().cursor, view, query, scratch.from.view()));
  if (sources.only_file != nullptr) sources.only_file->note_get(found_);
  return {};
}

Status RowGet::add_merged(const StoreView& view, const StoreQuery& query, const CellView& from,
                          ReadSources& sources) {
  CELLAR_ASSERT(sources.cursors.size() > 1);
  const std::unique_ptr<CellCursor> merged = make_merging_cursor(std::move(sources.cursors));
  return add_cells(*merged, view, query, from);
}

// Reads the only source that is open. Returns whether its cell is the whole answer for the family, whatever
// the older files have. The read needs the newest version of one column, and versions count by timestamp. A
// file that has only older cells and markers then changes nothing.
bool RowGet::only_source_answers(const StoreView& view, StoreQuery& query, const Older& older,
                                 ReadSources& sources, OwnedCell& from) {
  CELLAR_DCHECK(sources.cursors.size() == 1 && !query.rules.raw && !query.rules.filtered);
  const ReadRules& rules = query.rules;
  if (older.count == 0 || older.time_max == INT64_MAX || rules.columns.size() != 1 || rules.strict_versions ||
      std::min(rules.versions, rules.family.max_versions) != 1 ||
      rules.family.delete_order != MarkerOrder::kTimestamp || RowBatchBuilder::cells_in_open_row(batch_) != 0)
    return false;
  begin_of_row(view, query, range_, sources, from);
  const uint64_t examined = stats_.cells_examined;
  // An error may concern a cell that a newer one in a file hides. The walk over all sources meets it, or not.
  const Status status = add_cells(*sources.cursors.front().cursor, view, query, from.view());
  const std::span<const CellView> cells = RowBatchBuilder(batch_).open_row();
  if (status.ok() && cells.size() == 1 && cells.front().timestamp > older.time_max) {
    stats_.files_considered += older.count;
    stats_.files_skipped_time += older.count;
    return true;
  }
  RowBatchBuilder(batch_).drop_open_row();
  stats_.cells_examined = examined;  // the walk over all sources counts these cells
  return false;
}

// Adds the cells of the row. Most gets need no walk: the row is not there, or its first cell from `from` on
// is the whole answer.
Status RowGet::add_cells(CellCursor& cursor, const StoreView& view, const StoreQuery& query,
                         const CellView& from) {
  const CellView* const first = cursor.seek(from);
  if (first == nullptr) [[unlikely]] {
    ++stats_.cells_examined;
    const Status status = cursor.status();
    if (status.ok()) return {};
    RowBatchBuilder(batch_).drop_open_row();
    return status.with_context("family " + view.config->options.name);
  }
  if (is_answer(*first, query.rules, from)) {
    ++stats_.cells_examined;
    met_row_ = found_ = true;
    RowBatchBuilder builder(batch_);
    builder.add(*first, nullptr);
    builder.hold(cursor.take_last_cell());
    return {};
  }
  if (!same_row(*first, from)) {
    ++stats_.cells_examined;
    return {};
  }
  met_row_ = true;
  return walk_row(cursor, *first, view, query);
}

// Returns whether the first cell from `from` on is of the row, and all that the read shows of a family. It is
// then the newest version of the only wanted column. A read that begins at the column meets no marker of the
// family. A marker of the column that hides the cell would come first.
bool RowGet::is_answer(const CellView& first, const ReadRules& rules, const CellView& from) const {
  CELLAR_DCHECK(!rules.raw && !rules.filtered);
  if (from.column().empty() || rules.columns.size() != 1) return false;
  return std::min(rules.versions, rules.family.max_versions) == 1 && same_column(first, from) &&
         ReadJudge::shows_newest(first, rules) &&
         (row_bytes_max_ == 0 || first.key_size + uint64_t{first.value_size} <= row_bytes_max_);
}

// Adds the row if the walk sees it in one piece, and nothing but the names of columns chooses among its
// cells. Returns false if it does not. The walk then goes on from its first cell. `bytes` are those of the
// cells that were added.
bool RowGet::add_plain_row(Walk<ReadJudge>& walk, uint64_t& bytes) {
  const ReadJudge& judge = walk.judge();
  if (!walk.holds_row([&](const CellView& last) { return judge.is_past_wanted(last); })) return false;
  const std::span<const CellView> row = walk.plain_row();
  if (row.empty()) return false;
  RowBatchBuilder builder(batch_);
  size_t decided = 0;
  if (judge.wants_all_columns()) {
    for (const CellView& cell : row) bytes += cell.key_size + cell.value_size;
    builder.add_cells(row, nullptr);
    found_ = true;
  } else {
    decided = judge.for_each_wanted(row, [&](const CellView& cell) {
      bytes += cell.key_size + cell.value_size;
      builder.add_chosen(cell, nullptr);
      found_ = true;
    });
  }
  if (found_) builder.hold(walk.take_last_cells());
  CELLAR_ASSERT(decided <= row.size());
  stats_.cells_examined += decided != 0 ? decided : row.size();
  return true;
}

// Walks through the row, from its first cell on.
Status RowGet::walk_row(CellCursor& cursor, const CellView& first, const StoreView& view,
                        const StoreQuery& query) {
  RowBatchBuilder builder(batch_);
  ReadJudge judge(query.rules);
  Walk<ReadJudge> walk(cursor, judge);
  walk.begin_at(first);
  uint64_t bytes = 0;
  if (add_plain_row(walk, bytes)) {
    if (row_bytes_max_ == 0 || bytes <= row_bytes_max_) [[likely]]
      return {};
    const Status over = row_over_limit(first, row_bytes_max_, view);
    builder.drop_open_row();  // with the bytes of `first`
    return over;
  }
  walk.enter_row();
  Status status;
  while (const CellView* cell = walk.next_in_row()) {
    bytes += cell->key_size + cell->value_size;
    if (row_bytes_max_ != 0 && bytes > row_bytes_max_) [[unlikely]] {
      status = row_over_limit(*cell, row_bytes_max_, view);
      break;
    }
    builder.add(*cell, walk.take_cell());
    found_ = true;
  }
  stats_.cells_examined += walk.examined();
  if (Status failed = walk.status(); !failed.ok()) [[unlikely]]
    status = failed.with_context("family " + view.config->options.name);
  if (!status.ok()) [[unlikely]]
    builder.drop_open_row();
  return status;
}

bool RowGet::end() {
  const size_t cells = RowBatchBuilder::cells_in_open_row(batch_);
  CELLAR_DCHECK(met_row_ || cells == 0);
  if (met_row_) ++stats_.rows_scanned;
  if (met_row_ && cells == 0) ++stats_.rows_filtered;
  if (cells == 0) return false;
  stats_.cells_returned += cells;
  ++stats_.rows_returned;
  RowBatchBuilder(batch_).end_row(false);
  return true;
}

}  // namespace cellar
