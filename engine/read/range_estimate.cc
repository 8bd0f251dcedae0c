// Estimates: indexes tell where rows are in a file, and its cell counts tell how many there are.
#include "engine/read/range_estimate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include "base/assert.h"
#include "cell/cell_key.h"
#include "hfile/read/cell_counts.h"
#include "hfile/read/file_span.h"
#include "hfile/read/hfile_reader.h"

namespace cellar {
namespace {

// For a file that does not record its number of rows, about so many stretches of so many cells are read.
constexpr size_t kStretches = 8;
constexpr uint64_t kStretchCells = 256;
// Sampled places per requested part.
constexpr size_t kSamplesPerPart = 16;

// A file may claim any number of cells. The sums of many such files stay below 2^64.
constexpr double kCountMax = 0x1p48;

uint64_t rounded(double value) {
  return value <= 0 ? 0 : static_cast<uint64_t>(std::llround(std::min(value, kCountMax)));
}

// Calls work(cell) for the cells of the range until work returns false.
template <class Work>
Status walk(CellCursor& cursor, const std::string& start, const std::string& stop, const Work& work) {
  OwnedCell first;
  first_of_row(first, start);
  for (const CellView* cell = cursor.seek(first.view()); cell != nullptr; cell = cursor.next()) {
    if (!stop.empty() && cell->row() >= std::string_view(stop)) break;
    if (!work(*cell)) break;
  }
  return cursor.status();
}

// Returns the number of rows per cell, measured in some stretches of the file.
Result<double> rows_per_cell(const HFileReader& file, const EstimateRequest& request) {
  CELLAR_TRY_ASSIGN(std::vector<FileSample> places,
                    file_samples(file, request.start, request.stop, kStretches, nullptr));
  if (places.size() > kStretches) {
    for (size_t i = 0; i < kStretches; ++i) places[i] = places[i * places.size() / kStretches];
    places.resize(kStretches);
  }
  places.insert(places.begin(), {request.start, 0});
  uint64_t cells = 0;
  uint64_t rows = 0;
  const auto cursor = file.cursor({.fill_cache = false, .sequential = false, .stats = nullptr});
  for (const FileSample& place : places) {
    uint64_t here = 0;
    std::string row;
    CELLAR_TRY(walk(*cursor, place.row, request.stop, [&](const CellView& cell) {
      if (here == 0 || row != cell.row()) {
        ++rows;
        row = cell.row();
      }
      ++here;
      return here < kStretchCells;
    }));
    cells += here;
  }
  return cells == 0 ? 0.0 : static_cast<double>(rows) / static_cast<double>(cells);
}

Status check(const EstimateRequest& request) {
  if (!request.stop.empty() && request.stop < request.start)
    return Status::invalid_argument("the range ends before it starts").hinting("swap start and stop");
  return {};
}

// Bounds: the least and the most that precedes an offset of a file, and the likely amount. The likely
// amount assumes an even distribution between two known places.
struct Bounds {
  double low = 0;
  double likely = 0;
  double high = 0;

  Bounds& operator+=(const Bounds& other) {
    low += other.low;
    likely += other.likely;
    high += other.high;
    return *this;
  }
};

// Rows: the estimated rows of a family in its sorted runs and memtables, each of which is a source.
struct Rows {
  double most_low = 0;  // lower bound for the source with the most rows
  double most = 0;
  double sum = 0;
  double sum_high = 0;

  void add(const Bounds& source) {
    CELLAR_ASSERT(source.low >= 0 && source.low <= source.high);
    most_low = std::max(most_low, source.low);
    most = std::max(most, source.likely);
    sum += source.likely;
    sum_high += source.high;
  }
};

void add_exact(EstimatedFigure& figure, uint64_t value) {
  figure.low += value;
  figure.estimate += value;
  figure.high += value;
}

Bounds before(const std::vector<CellCount>& counts, uint64_t offset, uint64_t CellCount::*what) {
  CELLAR_ASSERT(!counts.empty());
  CELLAR_DCHECK(std::ranges::is_sorted(counts, {}, &CellCount::end));
  const auto next = std::ranges::lower_bound(counts, offset, {}, &CellCount::end);
  const CellCount& above = next == counts.end() ? counts.back() : *next;
  const CellCount& below = next == counts.begin() || above.end <= offset ? above : *(next - 1);
  const auto low = static_cast<double>(below.*what);
  const auto high = static_cast<double>(above.*what);
  if (above.end == below.end) return {low, low, high};
  CELLAR_DCHECK(below.end < above.end && offset <= above.end);
  const double share = static_cast<double>(offset - below.end) / static_cast<double>(above.end - below.end);
  return {low, low + share * (high - low), high};
}

// Returns the part of the counted cells or rows that lies in the span.
Bounds within(const FileSpan& span, const std::vector<CellCount>& counts, uint64_t CellCount::*what) {
  const Bounds outer_from = before(counts, span.outer_from, what),
               inner_from = before(counts, span.inner_from, what);
  const Bounds inner_to = before(counts, span.inner_to, what), outer_to = before(counts, span.outer_to, what);
  Bounds result;
  result.low = std::max(0.0, inner_to.low - inner_from.high);
  result.high = outer_to.high - outer_from.low;
  result.likely = (inner_to.likely + outer_to.likely - outer_from.likely - inner_from.likely) / 2;
  CELLAR_ASSERT(result.low <= result.high);  // the inner span lies in the outer one
  result.likely = std::clamp(result.likely, result.low, result.high);
  return result;
}

// Adds the bytes and cells of a file to the total; returns its rows.
Result<Bounds> add_file(const HFileReader& file, const EstimateRequest& request, RangeEstimate& total) {
  CELLAR_TRY_ASSIGN(const FileSpan span, file_span(file, request.start, request.stop, nullptr));
  const uint64_t outer = span.inner_bytes + span.edge_bytes;
  if (outer == 0) return Bounds{};
  ++total.files;
  total.bytes.low += span.inner_bytes;
  total.bytes.estimate += span.inner_bytes + span.edge_bytes / 2;
  total.bytes.high += outer;
  CELLAR_TRY_ASSIGN(CellCounts known, read_cell_counts(file, span));
  const Bounds cells = within(span, known.counts, &CellCount::cells);
  total.cells.low += rounded(cells.low);
  total.cells.estimate += rounded(cells.likely);
  total.cells.high += rounded(cells.high);
  if (known.rows_known) return within(span, known.counts, &CellCount::rows);
  uint64_t all = 0;
  if (file_rows(file, all)) {
    known.counts.back().rows = all;
    return within(span, known.counts, &CellCount::rows);
  }
  CELLAR_TRY_ASSIGN(const double share, rows_per_cell(file, request));
  return Bounds{cells.low > 0 ? 1.0 : 0.0, share * cells.likely, cells.high};
}

// Returns the files of the run that the request may concern.
std::span<const std::shared_ptr<StoreFile>> files_of(const StoreView& view, const FileRun& run,
                                                     const EstimateRequest& request) {
  FileRange files = run.files();
  if (run.size() > 1)
    files = files_within(view, run, {.low = request.start, .high = request.stop, .high_inclusive = false});
  CELLAR_ASSERT(files.end <= view.files.size());
  return std::span(view.files).subspan(files.begin, files.size());
}

// Files of a run share no rows: their rows add up.
Status add_run(const StoreView& view, const FileRun& run, const EstimateRequest& request,
               RangeEstimate& total, Rows& rows) {
  Bounds sum;
  for (const auto& file : files_of(view, run, request)) {
    CELLAR_TRY_ASSIGN(const Bounds of_file, add_file(file->reader(), request, total));
    sum += of_file;
  }
  rows.add(sum);
  return {};
}

void add_memtable(const Memtable& memtable, const EstimateRequest& request, RangeEstimate& total,
                  Rows& rows) {
  uint64_t cells = 0, bytes = 0, distinct = 0;
  std::string row;
  const auto cursor = memtable.cursor();
  static_cast<void>(walk(*cursor, request.start, request.stop, [&](const CellView& cell) {
    if (cells == 0 || row != cell.row()) {
      ++distinct;
      row = cell.row();
    }
    ++cells;
    bytes += cell.key_size + cell.value_size + cell.tags_size;
    return true;
  }));  // a memtable cursor cannot fail
  add_exact(total.bytes, bytes);
  add_exact(total.cells, cells);
  const auto counted = static_cast<double>(distinct);
  rows.add({counted, counted, counted});
}

std::vector<MemtableRef> memtables_of(const StoreView& view) {
  std::vector<MemtableRef> memtables = view.frozen;
  if (view.active.get() != nullptr) memtables.push_back(view.active);
  return memtables;
}

// Pieces: bytes by row: from the row up to the next one in the map.
struct Pieces {
  std::map<std::string, double> bytes;
  double total = 0;
  double across = 0;  // bytes that a cut may put on the wrong side: one piece of each run

  void add(std::string row, double more) {
    bytes[std::move(row)] += more;
    total += more;
  }
};

// Adds the pieces of some files of a run: at least `wanted` if the indexes have so many. Each file gives a
// share of them by its size. A cut falls into one file of the run at most.
Status add_pieces(std::span<const std::shared_ptr<StoreFile>> files, const EstimateRequest& request,
                  size_t wanted, Pieces& pieces) {
  CELLAR_ASSERT(wanted > 0);
  double bytes = 0, largest = 0;
  for (const auto& file : files) bytes += static_cast<double>(file->reader().file_bytes());
  for (const auto& file : files) {
    const double share = static_cast<double>(file->reader().file_bytes()) / bytes;
    const auto wanted_here = static_cast<size_t>(std::ceil(share * static_cast<double>(wanted)));
    CELLAR_TRY_ASSIGN(const std::vector<FileSample> samples,
                      file_samples(file->reader(), request.start, request.stop,
                                   std::clamp<size_t>(wanted_here, 1, wanted), nullptr));
    for (const FileSample& sample : samples) {
      pieces.add(sample.row, sample.bytes);
      largest = std::max(largest, sample.bytes);
    }
  }
  pieces.across += largest;
  return {};
}

Result<Pieces> pieces_of(const EstimateRequest& request, const Views& views, size_t wanted) {
  Pieces pieces;
  for (const auto& view : views) {
    for (const FileRun& run : view->runs)
      CELLAR_TRY(add_pieces(files_of(*view, run, request), request, wanted, pieces));
    for (const MemtableRef& memtable : memtables_of(*view)) {
      const auto cursor = memtable->cursor();
      const auto add = [&](const CellView& cell) {
        pieces.add(std::string(cell.row()),
                   static_cast<double>(cell.key_size + cell.value_size + cell.tags_size));
        return true;
      };
      CELLAR_TRY(walk(*cursor, request.start, request.stop, add));
    }
  }
  return pieces;
}

// Returns the rows that cut the pieces into `parts` of about the same size.
RangeSplits cut(const Pieces& pieces, size_t parts) {
  CELLAR_ASSERT(parts > 0);
  RangeSplits splits;
  splits.bytes = rounded(pieces.total);
  double before = 0, part = 0, largest = 0;
  for (const auto& [row, bytes] : pieces.bytes) {
    const double due =
        pieces.total * static_cast<double>(splits.rows.size() + 1) / static_cast<double>(parts);
    if (splits.rows.size() + 1 < parts && part > 0 && before + bytes / 2 > due) {
      splits.rows.push_back(row);
      largest = std::max(largest, part);
      part = 0;
    }
    before += bytes;
    part += bytes;
  }
  splits.largest_part = rounded(std::max(largest, part));
  splits.error = rounded(2 * pieces.across);
  CELLAR_ASSERT(splits.rows.size() < parts);
  return splits;
}

// Returns the pieces as if each began at the last of these rows that is at or before its own.
Pieces gathered_at(const Pieces& pieces, std::span<const std::string> rows) {
  CELLAR_DCHECK(std::ranges::is_sorted(rows));
  Pieces result;
  for (const auto& [row, bytes] : pieces.bytes) {
    const auto after = std::ranges::upper_bound(rows, row);
    result.add(after == rows.begin() ? std::string() : *(after - 1), bytes);
  }
  result.across = pieces.across;
  return result;
}

}  // namespace

Result<RangeEstimate> estimate_range(const EstimateRequest& request, const Views& views) {
  CELLAR_TRY(check(request));
  RangeEstimate result;
  std::map<std::string, Rows> families;  // families may have the same rows
  for (const auto& view : views) {
    Rows& rows = families[view->config->options.name];
    for (const FileRun& run : view->runs) CELLAR_TRY(add_run(*view, run, request, result, rows));
    for (const MemtableRef& memtable : memtables_of(*view))
      add_memtable(*memtable.get(), request, result, rows);
  }
  for (const auto& [family, rows] : families) {
    result.rows.low = std::max(result.rows.low, rounded(rows.most_low));
    result.rows.estimate = std::max(result.rows.estimate, rounded((rows.most + rows.sum) / 2));
    result.rows.high += rounded(rows.sum_high);
  }
  result.rows.high = std::max(result.rows.low, std::min(result.rows.high, result.cells.high));
  result.rows.estimate = std::clamp(result.rows.estimate, result.rows.low, result.rows.high);
  CELLAR_ASSERT(result.cells.low <= result.cells.high && result.bytes.low <= result.bytes.high);
  return result;
}

Result<RangeSplits> split_range(const EstimateRequest& request, const Views& views, size_t parts) {
  if (parts < 1 || parts > 100'000)
    return Status::invalid_argument("a range can be cut into 1 to 100,000 parts");
  CELLAR_TRY(check(request));
  CELLAR_TRY_ASSIGN(const Pieces pieces, pieces_of(request, views, parts * kSamplesPerPart));
  return cut(pieces, parts);
}

Result<std::vector<std::string>> split_files(std::span<const std::vector<std::shared_ptr<StoreFile>>> runs,
                                             size_t parts, std::span<const std::string> only_at) {
  CELLAR_ASSERT(parts > 0);
  Pieces pieces;
  for (const auto& files : runs) {
    // The first rows of files are in memory. Indexes may have to be read.
    if (files.size() < parts * kSamplesPerPart) {
      CELLAR_TRY(add_pieces(files, {}, parts * kSamplesPerPart, pieces));
    } else {
      for (const auto& file : files)
        pieces.add(std::string(first_row_of(file->record())), static_cast<double>(file->record().bytes));
    }
  }
  return cut(only_at.empty() ? pieces : gathered_at(pieces, only_at), parts).rows;
}

}  // namespace cellar
