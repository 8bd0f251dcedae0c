// rewrite: reads cursors, asks a judge and writes files; flush and compaction share this loop.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cursor.h"
#include "cell/rules.h"
#include "hfile/write/hfile_writer.h"

namespace cellar {

struct RewriteJob {
  CellCursor* source = nullptr;  // all inputs, merged; borrowed
  // The rows of the source that count, borrowed: from `first_row`, before `end_row`. An empty one is open.
  std::string_view first_row = {};
  std::string_view end_row = {};
  RewriteRules rules;
  HFileWriterOptions file;  // tags and mvcc are the caller's to decide
  // Cells at or below this sequence are written with sequence 0: nobody can tell their writes apart any more.
  uint64_t zero_sequences_up_to = 0;
  // The output continues in a new file, at the beginning of a row, when a file has this many bytes. 0: never.
  uint64_t file_bytes = 0;
  // Ascending rows, borrowed. No file has rows on both sides of one of them.
  std::span<const std::string> file_starts = {};
  Executor* executor = nullptr;  // to compress and write on a second thread; see HFileWriter::create
  bool keep_hash = false;        // fill RewrittenFile::kept_hash
  // Borrowed, may be null. Once it is true, the rewrite asks for no further cell, and fails with kAborted.
  const std::atomic<bool>* cancel = nullptr;
  // Borrowed, may be null. While the rewrite runs, it holds the bytes of the output's buffers.
  std::atomic<int64_t>* memory = nullptr;
  // Called between pieces of bounded work; a status that is not ok ends the rewrite with it.
  std::function<Status(uint64_t cells_in)> checkpoint;
};

struct RewrittenFile {
  HFileSummary summary;
  uint64_t kept_hash = 0;  // order-independent, over the cells of the file
};

struct RewriteResult {
  uint64_t cells_in = 0;
  std::array<uint64_t, kDropReasons> dropped{};
  int64_t newest_dropped_marker = kOldestTimestamp;  // see CompactionJudge
  std::vector<RewrittenFile> files;  // ascending rows; empty: nothing was left, no file was begun
};

// RewriteOutput: creates the files of a rewrite. One file at a time is open.
class RewriteOutput {
 public:
  virtual ~RewriteOutput() = default;
  // Returns a new, empty file, valid until end(). Called when the first cell of the file is to be written.
  virtual Result<WritableFile*> begin() = 0;
  // Adds to the file info, just before the file is finished.
  virtual Status add_facts(HFileWriter& writer) = 0;
  // The file that begin() returned last is complete. It is to be synced and closed.
  virtual Status end() = 0;
};

// Runs the job. Checks that cells in = cells out + cells dropped, all of them in the range of rows. Fails
// with what the source, the writer, the output or the checkpoint reports. The files that were begun are then
// the caller's to remove.
Result<RewriteResult> rewrite(const RewriteJob& job, RewriteOutput& output);

// The hash that `rewrite` keeps, for one cell: to compare a new file with what was written.
uint64_t cell_hash(const CellView& cell, uint64_t sequence);

}  // namespace cellar
