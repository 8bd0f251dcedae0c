// rewrite: walks all inputs under a CompactionJudge and writes what it lets through.
#include "compaction/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "cell/compaction_judge.h"

namespace cellar {
namespace {

constexpr uint64_t kBytesPerCheckpoint = 256 << 10;

constexpr uint64_t kBytesPerSizeCheck = 1 << 20;  // asking a writer for its size waits for its second thread

// The output files: each is begun when its first cell arrives, and ends between two rows.
class Output {
 public:
  static constexpr size_t kRowsMax = 64;  // of add_rows()

  Output(const RewriteJob& job, RewriteOutput& files, RewriteResult& result)
      : job_(job), files_(files), result_(result) {
    CELLAR_DCHECK(std::ranges::is_sorted(job.file_starts));
  }

  // The next cells belong to this row.
  Status begin_row(std::string_view row) {
    bool ends = false;
    while (is_after_start(row)) {
      ++starts_passed_;
      ends = true;
    }
    if (writer_ == nullptr) return {};
    return ends || is_full() ? end_file() : Status();
  }

  Status add(const CellView& cell) { return add_cells({&cell, 1}); }

  // Adds at most kRowsMax cells, each of which is a row.
  Status add_rows(std::span<const CellView> rows) {
    while (!rows.empty()) {
      CELLAR_TRY(begin_row(rows.front().row()));
      if (writer_ == nullptr) CELLAR_TRY(begin_file());
      const size_t count = rows_of_this_file(rows);
      CELLAR_TRY(add_cells(rows.first(count)));
      rows = rows.subspan(count);
    }
    return {};
  }

  // After the last cell.
  Status finish() {
    if (writer_ != nullptr) CELLAR_TRY(end_file());
    uint64_t cells = 0;
    for (const RewrittenFile& file : result_.files) cells += file.summary.cells;
    CELLAR_ASSERT(cells == cells_);
    return {};
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t cells() const { return cells_; }
  // Returns the bytes of the buffers of the file that is open.
  uint64_t memory_bytes() const { return writer_ == nullptr ? 0 : writer_->memory_bytes(); }

 private:
  // Returns how many of the rows begin no new file. The first row is one of them.
  size_t rows_of_this_file(std::span<const CellView> rows) const {
    CELLAR_DCHECK(writer_ != nullptr && !rows.empty());
    if (job_.file_bytes == 0 && starts_passed_ == job_.file_starts.size()) return rows.size();
    uint64_t bytes = bytes_;
    size_t count = 0;
    do {
      bytes += rows[count].key_size + rows[count].value_size;
      ++count;
    } while (count < rows.size() && !is_size_check_due(bytes) && !is_after_start(rows[count].row()));
    return count;
  }

  // Returns whether the row lies at or after the next one at which a file begins.
  bool is_after_start(std::string_view row) const {
    return starts_passed_ < job_.file_starts.size() && job_.file_starts[starts_passed_] <= row;
  }
  bool is_size_check_due(uint64_t bytes) const { return job_.file_bytes != 0 && bytes >= next_size_check_; }

  Status begin_file() {
    CELLAR_TRY_ASSIGN(WritableFile * file, files_.begin());
    CELLAR_TRY_ASSIGN(writer_, HFileWriter::create(*file, job_.file, job_.executor));
    hash_ = 0;
    bytes_before_ = bytes_;
    next_size_check_ = bytes_ + size_step();
    return {};
  }

  Status add_cells(std::span<const CellView> cells) {
    if (writer_ == nullptr) CELLAR_TRY(begin_file());
    for (const CellView& cell : cells) bytes_ += cell.key_size + cell.value_size;  // before a copy is made
    cells = with_zeroed_sequences(cells);
    if (job_.keep_hash)
      for (const CellView& cell : cells) hash_ += cell_hash(cell, job_.file.mvcc ? cell.sequence : 0);
    cells_ += cells.size();
    return writer_->add_cells(cells);
  }

  std::span<const CellView> with_zeroed_sequences(std::span<const CellView> cells) {
    if (job_.zero_sequences_up_to == 0) return cells;
    CELLAR_ASSERT(cells.size() <= zeroed_.size());
    std::ranges::copy(cells, zeroed_.begin());
    for (CellView& cell : std::span(zeroed_).first(cells.size()))
      if (cell.sequence <= job_.zero_sequences_up_to) cell.sequence = 0;
    return std::span(zeroed_).first(cells.size());
  }

  uint64_t size_step() const { return std::clamp<uint64_t>(job_.file_bytes / 32, 1, kBytesPerSizeCheck); }

  // Compressed files take longer to fill than their cells say. So the writer tells its size, each time after
  // size_step() bytes of cells. It counts whole blocks. Files smaller than a block are full when their cells
  // are.
  bool is_full() {
    if (!is_size_check_due(bytes_)) return false;
    next_size_check_ = bytes_ + size_step();
    const uint64_t cells = bytes_ - bytes_before_;
    return writer_->bytes_written() >= job_.file_bytes ||
           (job_.file_bytes < job_.file.block_bytes && cells >= job_.file_bytes);
  }

  Status end_file() {
    CELLAR_ASSERT(writer_ != nullptr && cells_ > 0);
    CELLAR_TRY(files_.add_facts(*writer_));
    CELLAR_TRY_ASSIGN(HFileSummary summary, writer_->finish());
    writer_.reset();
    result_.files.push_back({std::move(summary), hash_});
    return files_.end();
  }

  const RewriteJob& job_;
  RewriteOutput& files_;
  RewriteResult& result_;
  std::unique_ptr<HFileWriter> writer_;  // of the file that is open
  uint64_t hash_ = 0;
  uint64_t bytes_before_ = 0;  // of the files that have ended
  uint64_t next_size_check_ = 0;
  size_t starts_passed_ = 0;
  uint64_t bytes_ = 0;
  uint64_t cells_ = 0;
  std::array<CellView, kRowsMax> zeroed_;  // copies of the cells that are added, with their new sequences
};

// The share of one rewrite in a gauge that several rewrites may have in common.
class MemoryShare {
 public:
  explicit MemoryShare(std::atomic<int64_t>* gauge) : gauge_(gauge) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  ~MemoryShare() { set(0); }
  void set(uint64_t bytes) {
    if (gauge_ == nullptr) return;
    const auto now = static_cast<int64_t>(bytes);
    gauge_->fetch_add(now - std::exchange(share_, now), std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t>* const gauge_;
  int64_t share_ = 0;
};

// Counts what passes, so that the balance is checked against the source and not against the walk's own
// count. It ends at the first cell of `end_row` or a later row. It also ends, with kAborted, at the cell
// after which the rewrite was cancelled.
class CountingCursor final : public CellCursor {
 public:
  CountingCursor(CellCursor& source, std::string_view end_row, const std::atomic<bool>* cancel)
      : source_(source), end_row_(end_row), cancel_(cancel) {}
  const CellView* seek(const CellView& target) override {
    return is_over() ? nullptr : count(source_.seek(target));
  }
  const CellView* next() override { return is_over() ? nullptr : count(source_.next()); }
  std::span<const CellView> next_span() override {
    if (is_over()) return {};
    const std::span<const CellView> span = before_end(source_.next_span());
    cells_ += span.size();
    return is_cancelled() ? std::span<const CellView>() : span;
  }
  const CellView* skip_to(const CellView& target) override { return CellCursor::skip_to(target); }
  Status status() const override {
    return cancelled_ ? Status::aborted("the rewrite was cancelled") : source_.status();
  }
  const Pinnable* pinned() const override { return source_.pinned(); }
  void print(TextPrinter& out) const override { source_.print(out); }
  uint64_t cells() const { return cells_; }

 private:
  // A rewrite must see every cell to count it, so skip_to is the stepping default: each move shows one new
  // cell.
  const CellView* count(const CellView* cell) {
    if (cell == nullptr) return nullptr;
    ended_ = is_after_end(*cell);
    if (ended_) return nullptr;
    ++cells_;
    return is_cancelled() ? nullptr : cell;
  }
  bool is_after_end(const CellView& cell) const { return !end_row_.empty() && cell.row() >= end_row_; }
  // Returns the cells of the span that lie before the end. A row may lie on both sides of a span's end.
  std::span<const CellView> before_end(std::span<const CellView> span) {
    if (span.empty() || !is_after_end(span.back())) return span;
    ended_ = true;
    const auto end =
        std::ranges::partition_point(span, [this](const CellView& cell) { return !is_after_end(cell); });
    return span.first(static_cast<size_t>(end - span.begin()));
  }
  bool is_over() const { return cancelled_ || ended_; }
  bool is_cancelled() {
    cancelled_ = cancel_ != nullptr && cancel_->load(std::memory_order_relaxed);
    return cancelled_;
  }
  CellCursor& source_;
  const std::string_view end_row_;
  const std::atomic<bool>* const cancel_;
  bool cancelled_ = false;
  bool ended_ = false;
  uint64_t cells_ = 0;
};

}  // namespace

uint64_t cell_hash(const CellView& cell, uint64_t sequence) {
  return hash64(cell.key_bytes()) ^ (hash64(cell.value_bytes()) * 0x9e3779b97f4a7c15) ^
         (hash64(cell.tags_bytes()) * 0xff51afd7ed558ccd) ^ (sequence * 0xc4ceb9fe1a85ec53);
}

Result<RewriteResult> rewrite(const RewriteJob& job, RewriteOutput& files) {
  RewriteResult result;
  CELLAR_ASSERT(job.end_row.empty() || job.first_row < job.end_row);
  CountingCursor source(*job.source, job.end_row, job.cancel);
  CompactionJudge judge(job.rules);
  Walk<CompactionJudge> walk(source, judge);
  Output output(job, files, result);
  MemoryShare memory(job.memory);
  uint64_t next_checkpoint = kBytesPerCheckpoint;
  uint64_t cells_at_checkpoint = 0;

  const auto checkpoint_if_due = [&]() -> Status {
    if (output.bytes() < next_checkpoint) return {};
    next_checkpoint = output.bytes() + kBytesPerCheckpoint;
    memory.set(output.memory_bytes());
    return job.checkpoint(source.cells());
  };

  std::array<CellView, Output::kRowsMax> room;
  OwnedCell first;
  first_of_row(first, job.first_row);
  walk.position(first.view());
  while (const CellView* row = walk.settle()) {
    // Most rows of tall tables have one cell, which is quickly judged.
    const uint64_t bytes_max = next_checkpoint - output.bytes();
    const std::span<const CellView> rows =
        walk.take_single_cells(Output::kRowsMax, bytes_max, UINT64_MAX).cells;
    if (!rows.empty()) {
      CELLAR_TRY(output.add_rows(judge.judge_alone(rows, room)));
      CELLAR_TRY(checkpoint_if_due());
    } else {
      CELLAR_TRY(output.begin_row(row->row()));
      walk.enter_row();
      while (const CellView* cell = walk.next_in_row()) {
        CELLAR_TRY(output.add(*cell));
        CELLAR_TRY(checkpoint_if_due());
      }
    }
    if (source.cells() - cells_at_checkpoint > 10000) {  // long stretches of dropped cells are work too
      cells_at_checkpoint = source.cells();
      CELLAR_TRY(job.checkpoint(source.cells()));
    }
  }
  CELLAR_TRY(walk.status());
  CELLAR_TRY(output.finish());

  result.cells_in = source.cells();
  result.dropped = judge.dropped();
  result.newest_dropped_marker = judge.newest_dropped_marker();
  const uint64_t dropped = std::accumulate(result.dropped.begin() + 1, result.dropped.end(), uint64_t{0});
  if (result.cells_in != output.cells() + dropped)
    return Status::corruption(fmt::format("rewrite lost count: {} cells in, {} out, {} dropped",
                                          result.cells_in, output.cells(), dropped));
  return result;
}

}  // namespace cellar
