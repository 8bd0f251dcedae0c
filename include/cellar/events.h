// EventListener: hears of an engine's work while it goes on (Environment::events).
//
// Hooks run on the thread that did the work, without any engine lock. They must not throw. They may read from
// the engine, but must not write to it, close it, or wait for its background work. Times are in microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/checkpoint.h"
#include "cellar/feed.h"
#include "cellar/ingest.h"
#include "cellar/status.h"
#include "cellar/store_file.h"

namespace CELLAR_PUBLIC cellar {

struct FlushInfo {
  std::string table;
  std::string family;
  std::string file;  // name of the new store file; empty at the beginning, or if nothing was left to write
  uint64_t cells_in = 0;
  uint64_t cells_done = 0;  // of cells_in so far; set for on_flush_progress() only
  uint64_t cells_out = 0;
  uint64_t bytes_out = 0;
  int64_t micros = 0;
  Status status;
};

struct CompactionInfo {
  std::string table;
  std::string family;
  bool major = false;  // it takes all files, or with levels all files of its rows: markers may go
  std::string why;     // reason of the policy
  std::vector<std::string> inputs;     // names: of the oldest run first, and of a run ascending by rows
  std::vector<StoreFileInfo> outputs;  // empty at the beginning, or if nothing was left
  size_t parts = 1;                    // ranges of rows that were rewritten one by one, several at a time
  bool moved = false;                  // the inputs are the outputs, in another run; nothing was written
  bool dropped = false;                // the inputs leave the store unread, and nothing is written
  uint64_t cells_in = 0;
  uint64_t cells_done = 0;  // of cells_in so far; set for on_compaction_progress() only
  uint64_t cells_out = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  int64_t micros = 0;
  Status status;
};

struct RecoveryReport {
  uint64_t segments_read = 0;
  uint64_t records_replayed = 0;
  uint64_t cells_replayed = 0;
  uint64_t cells_skipped = 0;  // already in store files, or of dropped tables
  uint64_t torn_bytes = 0;     // after the last complete record of a log that was not closed
  uint64_t orphans_removed = 0;
  bool clean = false;  // the store was closed by close()
  int64_t micros = 0;
};

// Return one line of text for people, as the command line prints it.
std::string to_text(const FlushInfo& info);
std::string to_text(const CompactionInfo& info);
std::string to_text(const RecoveryReport& info);

// EventListener: override the hooks of interest. Each is empty by default.
class EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void on_flush_begin(const FlushInfo&) {}
  virtual void on_flush_end(const FlushInfo&) {}
  // While a flush writes, or a checkpoint what it needs of a memtable: table, family and cells_done are set.
  virtual void on_flush_progress(const FlushInfo&) {}
  virtual void on_compaction_begin(const CompactionInfo&) {}
  virtual void on_compaction_end(const CompactionInfo&) {}
  // While a compaction runs.
  virtual void on_compaction_progress(const CompactionInfo&) {}
  // After each store file that a checkpoint or a named snapshot links or copies: files, files_done, bytes and
  // bytes_done are set.
  virtual void on_checkpoint_progress(const CheckpointInfo&) {}
  // The files of an ingest are visible now, and the ingest will return ok.
  virtual void on_ingested(const IngestInfo&) {}
  // Writers wait, and writers go on after so long. `reason` tells what they wait for.
  virtual void on_stall_begin(const std::string& /*reason*/) {}
  virtual void on_stall_end(const std::string& /*reason*/, int64_t /*micros*/) {}
  // A segment of the log is complete, or was removed. `bytes` is its size.
  virtual void on_log_rolled(uint64_t /*segment*/, uint64_t /*bytes*/) {}
  virtual void on_log_removed(uint64_t /*segment*/, uint64_t /*bytes*/) {}
  // A feed held back more of the log than it may, and was cut off: `lost` is true. `retained_bytes` is what
  // it held back until then.
  virtual void on_feed_lost(const FeedInfo&) {}
  virtual void on_recovered(const RecoveryReport&) {}
  // A failure of background work, or one that made the engine read-only.
  virtual void on_background_error(const Status&) {}
};

}  // namespace cellar
