// rewrite: reads cursors, asks a judge and writes one file; flush and compaction share this loop.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "cell/cursor.h"
#include "cell/rules.h"
#include "hfile/write/hfile_writer.h"

namespace cellar {

struct RewriteJob {
  CellCursor* source = nullptr;  // all inputs, merged; borrowed
  RewriteRules rules;
  HFileWriterOptions file;  // tags and mvcc are the caller's to decide
  // Cells at or below this sequence are written with sequence 0: nobody can tell their writes apart any more.
  uint64_t zero_sequences_up_to = 0;
  Executor* executor = nullptr;  // to compress and write on a second thread; see HFileWriter::create
  bool keep_hash = false;        // fill RewriteResult::kept_hash
  // Called between pieces of bounded work; a status that is not ok ends the rewrite with it.
  std::function<Status(uint64_t cells_in)> checkpoint;
};

struct RewriteResult {
  uint64_t cells_in = 0;
  std::array<uint64_t, kDropReasons> dropped{};
  int64_t newest_dropped_marker = kOldestTimestamp;  // see CompactionJudge
  uint64_t kept_hash = 0;   // order-independent, over the cells that were let through
  bool wrote_file = false;  // false: nothing was left, no file was begun
  HFileSummary file;
};

// Runs the job. `create` is called when the first cell is to be written and gives the new, empty file, which
// the caller later syncs and closes. `facts` may add to the file info just before the file is finished.
// Checks that cells in = cells out + cells dropped. Fails with what the source, the writer or the checkpoint
// reports.
Result<RewriteResult> rewrite(const RewriteJob& job, const std::function<Result<WritableFile*>()>& create,
                              const std::function<Status(HFileWriter&)>& facts);

// The hash that `rewrite` keeps, over a whole run: for reading a new file back.
uint64_t cell_hash(const CellView& cell, uint64_t sequence);

}  // namespace cellar
