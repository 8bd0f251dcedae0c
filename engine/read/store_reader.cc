// StoreReader: skips the sources that cannot match, and merges the others.
#include "engine/read/store_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "cell/merging_cursor.h"
#include "cell/reverse_row_cursor.h"
#include "engine/read/explained_source.h"
#include "engine/read/run_files_cursor.h"
#include "hfile/read/hfile_reader.h"
#include "hfile/read/row_cursor.h"

namespace cellar {
namespace {

// Returns whether the memtable cannot have cells of the range that this read sees. Cells that are inserted
// later are newer than the read point. A reader's own memtable may get more cells while it is read.
bool memtable_is_useless(const Memtable& memtable, const RowRange& range, bool own) {
  return range.single_row() ? !memtable.may_contain_row(range.start) : !own && memtable.bytes() == 0;
}

// Returns the only columns that matter to a read; an empty span means all columns.
std::span<const std::string> columns_of(const ReadRules& rules) {
  return rules.explicit_columns ? rules.columns : std::span<const std::string>();
}

using Outcome = ReadExplanation::Outcome;

// Returns kRead, or the reason why the file cannot hold cells that the query could return. Looks at the key
// range, the time range and the time to live, which need no read. The Bloom filter is asked later.
[[gnu::always_inline]] inline Outcome outcome_of(const StoreView& view, const StoreFile& file,
                                                 const StoreQuery& query, const RowRange& range) {
  const auto [low, high, low_inclusive, high_inclusive] = range.ascending();
  if (!file.has_cells() || (!high.empty() && row_is_before(high, file.first_row())) ||
      (!low.empty() && row_is_before(file.last_row(), low)))
    return Outcome::kOutsideKeys;
  if (range.parts != nullptr && !range.parts_meet(file.first_row(), file.last_row())) [[unlikely]]
    return Outcome::kOutsideKeys;
  const FamilyRules& family = view.config->rules;
  if (query.rules.reads_all_times() && family.ttl_ms == kTtlForeverMs) return Outcome::kRead;
  if (const auto times = file.reader().times()) {
    // Sequence-ordered deletes, and strict_versions, count versions before the time range is checked:
    // newer puts displace older ones.
    const bool newer_ones_count =
        (family.delete_order == MarkerOrder::kSequence || query.rules.strict_versions) && !query.rules.raw;
    if (times->max < query.rules.time_from ||
        (times->min >= query.rules.time_until && query.rules.time_until != kLatestTimestamp &&
         !newer_ones_count))
      return Outcome::kOutsideTimes;
    if (family.min_versions == 0 && !query.rules.raw && expired(family, times->max, query.rules.now_ms))
      return Outcome::kExpired;
  }
  return Outcome::kRead;
}

// Returns whether the filter of a file allows any of the parts. A filter of prefixes may exclude them all.
[[gnu::noinline]] bool allows_parts(const HFileReader& reader, const RowRange& range, ReadStats& stats) {
  CELLAR_ASSERT(range.parts != nullptr && !range.single_row());
  ReadStats asked;
  const bool allowed = std::ranges::any_of(*range.parts, [&](const RowRange& part) {
    const auto [low, high, low_inclusive, high_inclusive] = part.ascending();
    return reader.may_contain_rows(low, high, high_inclusive, &asked);
  });
  asked.files_skipped_bloom = allowed ? 0 : 1;  // the reader has counted each part
  stats += asked;
  return allowed;
}

// Asks the Bloom filter of a file that the facts do not exclude.
[[gnu::always_inline]] inline Outcome ask_filter(const HFileReader& reader, const StoreQuery& query,
                                                 const RowRange& range, ReadStats& stats) {
  bool maybe = false;
  if (range.single_row()) {
    maybe = reader.filter_allows(range.start, columns_of(query.rules), &stats);
  } else if (range.parts != nullptr) [[unlikely]] {
    maybe = allows_parts(reader, range, stats);
  } else {
    const auto [low, high, low_inclusive, high_inclusive] = range.ascending();
    maybe = reader.may_contain_rows(low, high, high_inclusive, &stats);
  }
  return maybe ? Outcome::kRead : Outcome::kBloomFilter;
}

// Counts a file by its outcome. Bloom filters count for themselves.
void count_file(Outcome outcome, ReadStats& stats) {
  CELLAR_DCHECK(outcome != Outcome::kNoSuchRow);  // that is a memtable's
  ++stats.files_considered;
  if (outcome == Outcome::kOutsideKeys) ++stats.files_skipped_range;
  if (outcome == Outcome::kOutsideTimes) ++stats.files_skipped_time;
  if (outcome == Outcome::kExpired) ++stats.files_skipped_ttl;
}

// Returns whether a read can begin at its first wanted column. The caller must also know that the row has no
// markers of the whole family, which come before all columns.
bool may_begin_at_column(const StoreQuery& query, const RowRange& range) {
  return range.single_row() && !query.rules.columns.empty();
}

// Returns an entry for a source, or null if no explanation is requested.
inline ReadExplanation::Source* explain(const StoreView& view, const StoreQuery& query, std::string_view name,
                                        Outcome outcome) {
  if (query.explanation == nullptr) [[likely]]
    return nullptr;
  ReadExplanation::Source& entry = query.explanation->sources.emplace_back();
  entry.family = view.config->options.name;
  entry.name = name;
  entry.outcome = outcome;
  return &entry;
}

// Adds the cursor of a run, in the direction of the read. It counts for `entry`, which may be null.
[[gnu::always_inline]] inline void add_run(std::unique_ptr<RunCursor> run, const RowRange& range,
                                           uint32_t age, ReadExplanation::Source* entry,
                                           ReadSources& sources) {
  if (entry != nullptr) run = std::make_unique<ExplainedSource>(std::move(run), *entry);
  std::unique_ptr<CellCursor> cursor =
      range.reversed ? make_reverse_row_cursor(std::move(run)) : std::move(run);
  sources.cursors.push_back({std::move(cursor), age});
}

[[gnu::always_inline]] inline void add_memtable(const StoreView& view, const StoreQuery& query,
                                                const RowRange& range, const MemtableRef& memtable,
                                                uint32_t age, ReadSources& sources) {
  if (memtable.get() == nullptr) return;
  const bool useless = memtable_is_useless(*memtable.get(), range, &memtable == query.own);
  auto* entry = explain(view, query, {}, useless ? Outcome::kNoSuchRow : Outcome::kRead);
  if (useless) return;
  ++(entry != nullptr ? entry->cost : *query.stats).memtables;
  add_run(memtable->cursor(), range, age, entry, sources);
  sources.family_markers = true;
  sources.markers = sources.markers || (query.rules.filtered && memtable->summary().deletes != 0);
}

// Returns the number of cells that a cursor decodes at once after the first one. A get decodes its row in one
// piece if the file tells how many cells a row has. With names of columns it decodes twice as many cells as
// names, because it seldom needs the rest of the row.
inline uint32_t first_span(const HFileReader& reader, const StoreQuery& query, const RowRange& range) {
  const uint32_t cells = reader.cells_per_row();
  if (cells == 0 || query.span_cells == 0 || !range.single_row() || range.reversed) return query.span_cells;
  const size_t names = query.rules.columns.size();
  return names == 0 ? cells : static_cast<uint32_t>(std::min<size_t>(cells, 2 * names));
}

FileCursorOptions cursor_options(const HFileReader& reader, const StoreView& view, const StoreQuery& query,
                                 const RowRange& range, ReadStats* stats) {
  return {.fill_cache = query.fill_cache && view.config->options.cache_blocks,
          .sequential = query.sequential,
          .backward = range.reversed,
          .holds_file = false,  // the view does
          .stats = stats,
          .span_cells = first_span(reader, query, range)};
}

// FileSource: a file that may become a source of a read, and where its costs go.
struct FileSource {
  const StoreFile& file;
  uint32_t age;
  bool only;  // no younger source has the row, and the file is of the oldest run
  ReadExplanation::Source* entry;
  ReadStats& stats;
};

// Counts the outcome. Returns whether the file is read.
inline bool note_outcome(const FileSource& source, Outcome outcome, const StoreView& view,
                         ReadSources& sources) {
  CELLAR_ASSERT(outcome != Outcome::kNotReached);
  count_file(outcome, source.stats);
  if (source.only && outcome == Outcome::kBloomFilter) source.file.note_get(false);
  if (source.only && outcome == Outcome::kRead) sources.only_file = &source.file;
  if (source.entry != nullptr) source.entry->outcome = outcome;
  if (outcome != Outcome::kRead) return false;
  source.file.note_read(view.number);
  sources.markers = sources.markers || source.file.may_hold_markers();
  return true;
}

// Adds a file whose row may be in the cache. If it is, no filter is asked.
void add_file_by_row(const StoreView& view, const StoreQuery& query, const RowRange& range,
                     const FileSource& source, ReadSources& sources) {
  const HFileReader& reader = source.file.reader();
  std::unique_ptr<RowCursor> row = reader.find_row(range.start, &source.stats);
  const RowSlice* const slice = row->slice();
  CELLAR_ASSERT(query.fill_cache && !range.reversed);
  Outcome outcome = Outcome::kRead;
  if (slice == nullptr && (!source.only || source.file.asks_filter()))
    outcome = ask_filter(reader, query, range, source.stats);
  if (!note_outcome(source, outcome, view, sources)) return;
  if (!may_begin_at_column(query, range)) sources.family_markers = true;
  if (!sources.family_markers) {
    sources.family_markers = slice != nullptr ? slice->has_family_markers()
                                              : reader.may_contain_family_markers(range.start, &source.stats);
  }
  const FileCursorOptions options = cursor_options(reader, view, query, range, &source.stats);
  add_run(reader.row_cursor(std::move(row), options), range, source.age, source.entry, sources);
}

void add_file(const StoreView& view, const StoreQuery& query, const RowRange& range, const StoreFile& file,
              uint32_t age, ReadSources& sources) {
  const HFileReader& reader = file.reader();
  auto* const entry =
      query.explanation == nullptr ? nullptr : explain(view, query, reader.name(), Outcome::kRead);
  ReadStats* stats = entry != nullptr ? &entry->cost : query.stats;
  CELLAR_ASSERT(stats != nullptr);
  const bool only = sources.tells_found && sources.oldest_run && sources.cursors.empty();
  const FileSource source{file, age, only, entry, *stats};
  Outcome outcome = outcome_of(view, file, query, range);
  if (outcome == Outcome::kRead) {
    // A read that may find its row in the cache, and keep it, reads one row forward and fills the cache.
    if (reader.keeps_rows() && query.fill_cache && view.config->options.cache_blocks && !query.sequential &&
        !range.reversed && range.single_row()) [[unlikely]]
      return add_file_by_row(view, query, range, source, sources);
    if (!only || file.asks_filter()) outcome = ask_filter(reader, query, range, *stats);
  }
  if (!note_outcome(source, outcome, view, sources)) return;
  add_run(reader.cursor(cursor_options(reader, view, query, range, stats)), range, age, entry, sources);
  sources.family_markers = sources.family_markers || !may_begin_at_column(query, range) ||
                           reader.may_contain_family_markers(range.start, stats);
}

// Explains files of a run that lie outside the range of the read.
void explain_outside(const StoreView& view, const StoreQuery& query, size_t begin, size_t end) {
  CELLAR_DCHECK(begin <= end && end <= view.files.size());
  if (query.explanation == nullptr) return;
  for (size_t i = begin; i < end; ++i)
    count_file(Outcome::kOutsideKeys,
               explain(view, query, view.files[i]->reader().name(), Outcome::kOutsideKeys)->cost);
}

// ReadFiles: the files of a run that overlap the range of a read. A file is judged when the read comes to
// its rows.
class ReadFiles final : public RunFiles {
 public:
  ReadFiles(const StoreView& view, const StoreQuery& query, const RowRange& range, const FileRange& files)
      : view_(view), query_(query), range_(range), begin_(files.begin), answers_(files.size()) {
    CELLAR_ASSERT(files.size() > 1 && !range.single_row());
    if (query.explanation == nullptr) return;
    for (size_t i = files.begin; i < files.end; ++i)
      entries_.push_back(explain(view, query, view.files[i]->reader().name(), Outcome::kNotReached));
  }

  bool wants(size_t at) override {
    if (answers_[at] == Answer::kUnknown) answers_[at] = judge(at) ? Answer::kYes : Answer::kNo;
    return answers_[at] == Answer::kYes;
  }
  std::unique_ptr<RunCursor> open(size_t at) override {
    CELLAR_DCHECK(answers_[at] == Answer::kYes);
    file(at).note_read(view_.number);
    const HFileReader& reader = file(at).reader();
    auto cursor = reader.cursor(cursor_options(reader, view_, query_, range_, &stats(at)));
    if (entries_.empty()) return cursor;
    return std::make_unique<ExplainedSource>(std::move(cursor), *entries_[at]);
  }

 private:
  enum class Answer : uint8_t { kUnknown, kYes, kNo };

  const StoreFile& file(size_t at) const { return *view_.files[begin_ + at]; }
  ReadStats& stats(size_t at) { return entries_.empty() ? *query_.stats : entries_[at]->cost; }
  bool judge(size_t at) {
    Outcome outcome = outcome_of(view_, file(at), query_, range_);
    if (outcome == Outcome::kRead) outcome = ask_filter(file(at).reader(), query_, range_, stats(at));
    count_file(outcome, stats(at));
    if (!entries_.empty()) entries_[at]->outcome = outcome;
    return outcome == Outcome::kRead;
  }

  const StoreView& view_;
  const StoreQuery query_;
  const RowRange range_;
  const size_t begin_;
  std::vector<Answer> answers_;
  std::vector<ReadExplanation::Source*> entries_;  // empty if no explanation is requested
};

// Adds the files of a run of several files. Finds the files that overlap the range without looking at the
// others.
void add_files(const StoreView& view, const StoreQuery& query, const RowRange& range, const FileRun& run,
               uint32_t age, ReadSources& sources) {
  const FileRange files = files_within(view, run, range.ascending());
  if (query.explanation == nullptr) {
    const size_t outside = run.size() - files.size();
    query.stats->files_considered += outside;
    query.stats->files_skipped_range += outside;
  }
  explain_outside(view, query, run.begin, files.begin);
  if (files.size() == 1) {
    add_file(view, query, range, *view.files[files.begin], age, sources);
  } else if (files.size() > 1) {
    const std::span<const FileRows> rows = std::span(view.rows).subspan(files.begin, files.size());
    add_run(make_run_files_cursor(rows, std::make_unique<ReadFiles>(view, query, range, files)), range, age,
            nullptr, sources);
    sources.markers = sources.markers || rows.front().next_marked < files.end;
    sources.family_markers = true;
  }
  explain_outside(view, query, files.end, run.end);
}

// Returns the rules of the query, which then count for an explanation.
const ReadRules& counted(StoreQuery& query, ReadExplanation::PassedOver* passed_over) {
  query.rules.passed_over = passed_over;
  return query.rules;
}

}  // namespace

void open_sources(const StoreView& view, const StoreQuery& query, const RowRange& range,
                  ReadSources& sources) {
  open_memtables(view, query, range, sources);
  for (size_t run = view.runs.size(); run-- > 0;) open_run(view, query, range, run, sources);
  CELLAR_DCHECK(sources.cursors.size() <= view.runs.size() + view.frozen.size() + 2);
}

void open_memtables(const StoreView& view, const StoreQuery& query, const RowRange& range,
                    ReadSources& sources) {
  CELLAR_DCHECK(sources.cursors.empty());
  uint32_t age = 0;
  if (query.own != nullptr) add_memtable(view, query, range, *query.own, age++, sources);
  add_memtable(view, query, range, view.active, age, sources);
  for (const MemtableRef& memtable : view.frozen) add_memtable(view, query, range, memtable, ++age, sources);
}

void open_run(const StoreView& view, const StoreQuery& query, const RowRange& range, size_t run,
              ReadSources& sources) {
  CELLAR_ASSERT(run < view.runs.size() &&
                view.runs.back().end == view.files.size());  // set_files() was called
  const size_t younger = view.frozen.size() + (query.own != nullptr ? 1 : 0) + (view.runs.size() - run);
  const auto age = static_cast<uint32_t>(younger);
  sources.oldest_run = run == 0;
  if (const FileRun& opened = view.runs[run]; opened.size() == 1) {
    add_file(view, query, range, *view.files[opened.begin], age, sources);
  } else {
    add_files(view, query, range, opened, age, sources);
  }
  CELLAR_DCHECK(std::ranges::is_sorted(sources.cursors, std::less(), &MergeSource::age));  // youngest first
}

void begin_of_row(const StoreView& view, const StoreQuery& query, const RowRange& range,
                  const ReadSources& sources, OwnedCell& from) {
  CELLAR_DCHECK(!range.reversed);
  if (may_begin_at_column(query, range) && !sources.family_markers) {
    // Cells before the first wanted column cannot matter.
    first_of_column(from, range.start, view.config->options.name, query.rules.columns.front());
  } else {
    first_of_row(from, range.start);
  }
}

void StoreReader::add_costs(const Explained& explained, ReadStats& stats) {
  CELLAR_DCHECK(explained.of == nullptr ||
                (explained.from <= explained.to && explained.to <= explained.of->sources.size()));
  for (size_t i = explained.from; i < explained.to; ++i) stats += explained.of->sources[i].cost;
}

bool RowRange::is_past(std::string_view row) const {
  const int order = row.compare(stop);
  if (order == 0) return !stop_inclusive;
  return reversed ? order < 0 : order > 0;
}

bool RowRange::same_bounds() const { return start == stop; }

bool RowRange::parts_meet(std::string_view first, std::string_view last) const {
  CELLAR_ASSERT(parts != nullptr && parts->size() > 1);
  const std::string_view nearest = reversed ? last : first;
  const auto at =
      std::ranges::partition_point(*parts, [&](const RowRange& part) { return part.past_stop(nearest); });
  return at != parts->end() && !at->before_start(reversed ? first : last);
}

std::unique_ptr<StoreReader> StoreReader::open(std::shared_ptr<const StoreView> view, StoreQuery& query,
                                               const RowRange& range) {
  CELLAR_ASSERT(view != nullptr && view->config != nullptr && query.stats != nullptr);
  CELLAR_ASSERT(!query.on_demand || !range.reversed);  // to_row() only moves forward
  Explained explained{.of = query.explanation};
  if (explained.of != nullptr) explained.from = explained.of->sources.size();
  thread_local ReadSources sources;
  const OpenSources open(sources, false);
  open_sources(*view, query, range, sources);
  if (explained.of != nullptr) explained.to = explained.of->sources.size();
  if (sources.cursors.empty()) {
    add_costs(explained, *query.stats);
    return nullptr;
  }
  std::unique_ptr<CellCursor> cursor = range.reversed
                                           ? make_backward_merging_cursor(std::move(sources.cursors))
                                           : make_merging_cursor(std::move(sources.cursors));
  query.rules.family = view->config->rules;
  thread_local OwnedCell from;  // reused by the thread, to save allocations
  if (range.reversed) {
    // Begins at the last row at or before the start. Without a start, begins at the end of the store.
    static const std::string after_all_rows(kRowBytesMax, '\xff');
    last_of_row(from, range.start.empty() ? std::string_view(after_all_rows) : range.start);
  } else {
    begin_of_row(*view, query, range, sources, from);
  }
  std::unique_ptr<StoreReader> reader(new StoreReader(std::move(view), std::move(cursor), query, explained));
  reader->may_meet_markers_ = sources.markers;
  if (query.sequential && query.explanation == nullptr && query.own == nullptr && !query.on_demand)
    reader->again_ = query;
  if (!query.on_demand) reader->walk_.position(from.view());
  return reader;
}

std::unique_ptr<StoreReader> StoreReader::moved(const RowRange& rest) {
  CELLAR_ASSERT(again_.has_value() && !walk_.in_row());
  std::shared_ptr<const StoreView> view = without_flushed(*view_);
  std::unique_ptr<StoreReader> reader;
  if (view != nullptr) reader = open(std::move(view), *again_, rest);
  if (reader == nullptr) again_.reset();
  return reader;
}

Status row_over_limit(const CellView& cell, uint64_t bytes_max, const StoreView& view) {
  CELLAR_ASSERT(bytes_max != 0);
  return Status::limit(fmt::format("row {} has more than {} bytes in family {} (row_bytes_max)",
                                   escaped(cell.row()), bytes_max, escaped(view.config->options.name)))
      .hinting("read it in parts: Scan::batch, Scan::max_result_bytes");
}

std::unique_ptr<CellCursor> open_row_cursor(const StoreView& view, std::string_view row,
                                            std::span<const std::string> columns, ReadStats& stats) {
  CELLAR_ASSERT(!row.empty());
  StoreQuery query;
  query.rules.raw = true;
  query.rules.columns = columns;
  query.rules.explicit_columns = !columns.empty();
  query.stats = &stats;
  ReadSources sources;
  open_sources(view, query, RowRange::of_row(row), sources);
  return sources.cursors.empty() ? nullptr : make_merging_cursor(std::move(sources.cursors));
}

StoreReader::StoreReader(std::shared_ptr<const StoreView>&& view, std::unique_ptr<CellCursor>&& cursor,
                         StoreQuery& query, const Explained& explained)
    : view_(std::move(view)),
      cursor_(std::move(cursor)),
      explained_(explained),
      stats_(query.stats),
      judge_(counted(query, explained.of != nullptr ? &passed_over_ : nullptr)),
      walk_(*cursor_, judge_),
      versions_returned_(query.rules.raw ? query.rules.versions
                                         : std::min(query.rules.versions, query.rules.family.max_versions)),
      raw_(query.rules.raw),
      on_demand_(query.on_demand) {
  CELLAR_ASSERT(cursor_ != nullptr && query.rules.versions > 0);
  CELLAR_DCHECK(query.rules.time_from <= query.rules.time_until);
}

StoreReader::~StoreReader() {
  if (judge_.hidden() >= ReadJudge::kHiddenPerNote && view_->hidden_reads != nullptr) [[unlikely]] {
    const auto [first_row, last_row] = judge_.hidden_rows();
    view_->hidden_reads->add(judge_.hidden(), first_row, last_row);
  }
  if (explained_.of == nullptr) return;
  CELLAR_ASSERT(stats_ != nullptr && explained_.to <= explained_.of->sources.size());
  add_costs(explained_, *stats_);
  uint64_t taken = 0;
  for (size_t i = explained_.from; i < explained_.to; ++i) taken += explained_.of->sources[i].cells_taken;
  ReadExplanation::PassedOver& mine = passed_over_;
  const uint64_t judged = taken + mine.newer + mine.other_column + mine.expired + mine.cell_expired +
                          mine.markers + mine.hidden + mine.outside_times + mine.overwritten +
                          mine.over_versions + mine.filtered;
  mine.rest_of_decided = walk_.examined() - std::min(walk_.examined(), judged);
  explained_.of->passed_over += mine;
}

void StoreReader::to_row(std::string_view row) {
  CELLAR_DCHECK(on_demand_ && !walk_.in_row());
  if (positioned_) return walk_.skip_to_row(row);
  positioned_ = true;
  OwnedCell from;
  first_of_row(from, row);
  walk_.position(from.view());
}

}  // namespace cellar
