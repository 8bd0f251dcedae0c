// rewrite: walks all inputs under a CompactionJudge and writes what it lets through.
#include "compaction/rewrite.h"

#include <fmt/format.h>

#include <numeric>

#include "base/assert.h"
#include "base/hash.h"
#include "cell/compaction_judge.h"

namespace cellar {
namespace {

constexpr uint64_t kBytesPerCheckpoint = 256 << 10;

// The output file, begun when the first cell arrives.
class Output {
 public:
  Output(const RewriteJob& job, const std::function<Result<WritableFile*>()>& create)
      : job_(job), create_(create) {}

  Status add(const CellView& cell, RewriteResult& result) {
    if (writer_ == nullptr) {
      CELLAR_TRY_ASSIGN(WritableFile * file, create_());
      CELLAR_TRY_ASSIGN(writer_, HFileWriter::create(*file, job_.file, job_.executor));
      result.wrote_file = true;
    }
    CellView out = cell;
    if (out.sequence <= job_.zero_sequences_up_to) out.sequence = 0;
    if (job_.keep_hash) result.kept_hash += cell_hash(out, job_.file.mvcc ? out.sequence : 0);
    bytes_ += out.key_size + out.value_size;
    ++cells_;
    return writer_->add(out);
  }

  HFileWriter* writer() { return writer_.get(); }
  uint64_t bytes() const { return bytes_; }
  uint64_t cells() const { return cells_; }

 private:
  const RewriteJob& job_;
  const std::function<Result<WritableFile*>()>& create_;
  std::unique_ptr<HFileWriter> writer_;
  uint64_t bytes_ = 0;
  uint64_t cells_ = 0;
};

// Counts what passes, so that the balance is checked against the source and not against the walk's own count.
class CountingCursor final : public CellCursor {
 public:
  explicit CountingCursor(CellCursor& source) : source_(source) {}
  const CellView* seek(const CellView& target) override { return count(source_.seek(target)); }
  const CellView* next() override { return count(source_.next()); }
  const CellView* skip_to(const CellView& target) override { return CellCursor::skip_to(target); }
  Status status() const override { return source_.status(); }
  const Pinnable* pinned() const override { return source_.pinned(); }
  void print(TextPrinter& out) const override { source_.print(out); }
  uint64_t cells() const { return cells_; }

 private:
  // A rewrite must see every cell to count it, so skip_to is the stepping default: each move shows one new
  // cell.
  const CellView* count(const CellView* cell) {
    if (cell != nullptr) ++cells_;
    return cell;
  }
  CellCursor& source_;
  uint64_t cells_ = 0;
};

}  // namespace

uint64_t cell_hash(const CellView& cell, uint64_t sequence) {
  return hash64(cell.key_bytes()) ^ (hash64(cell.value_bytes()) * 0x9e3779b97f4a7c15) ^
         (hash64(cell.tags_bytes()) * 0xff51afd7ed558ccd) ^ (sequence * 0xc4ceb9fe1a85ec53);
}

Result<RewriteResult> rewrite(const RewriteJob& job, const std::function<Result<WritableFile*>()>& create,
                              const std::function<Status(HFileWriter&)>& facts) {
  RewriteResult result;
  CountingCursor source(*job.source);
  CompactionJudge judge(job.rules);
  Walk<CompactionJudge> walk(source, judge);
  Output output(job, create);
  uint64_t next_checkpoint = kBytesPerCheckpoint;
  uint64_t cells_at_checkpoint = 0;

  OwnedCell first;
  first_of_row(first, {});
  walk.position(first.view());
  while (walk.settle() != nullptr) {
    walk.enter_row();
    while (const CellView* cell = walk.next_in_row()) {
      CELLAR_TRY(output.add(*cell, result));
      if (output.bytes() >= next_checkpoint) {
        next_checkpoint = output.bytes() + kBytesPerCheckpoint;
        CELLAR_TRY(job.checkpoint(source.cells()));
      }
    }
    if (source.cells() - cells_at_checkpoint > 10000) {  // long stretches of dropped cells are work too
      cells_at_checkpoint = source.cells();
      CELLAR_TRY(job.checkpoint(source.cells()));
    }
  }
  CELLAR_TRY(walk.status());

  result.cells_in = source.cells();
  result.dropped = judge.dropped();
  result.newest_dropped_marker = judge.newest_dropped_marker();
  if (output.writer() != nullptr) {
    CELLAR_TRY(facts(*output.writer()));
    CELLAR_TRY_ASSIGN(result.file, output.writer()->finish());
    CELLAR_ASSERT(result.file.cells == output.cells());
  }
  const uint64_t dropped = std::accumulate(result.dropped.begin() + 1, result.dropped.end(), uint64_t{0});
  if (result.cells_in != output.cells() + dropped)
    return Status::corruption(fmt::format("rewrite lost count: {} cells in, {} out, {} dropped",
                                          result.cells_in, output.cells(), dropped));
  return result;
}

}  // namespace cellar
