// EventListener: what an engine tells about its work while it works.
//
// Hooks run on the thread that did the work, while no engine lock is held. They must not throw; they may read
// from the engine, but must not write to it, close it, or wait for its background work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/ingest.h"
#include "cellar/status.h"

namespace CELLAR_PUBLIC cellar {

struct FlushInfo {
  std::string table;
  std::string family;
  std::string file;  // name of the new store file; empty when nothing was left to write, or at the beginning
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
  bool major = false;
  std::string why;  // the policy's reason
  std::vector<std::string> inputs;
  std::string output;  // empty when nothing was left, or at the beginning
  uint64_t cells_in = 0;
  uint64_t cells_done = 0;  // of cells_in so far; set for on_compaction_progress() only
  uint64_t cells_out = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  int64_t micros = 0;
  Status status;
};

// How far a checkpoint or a named snapshot is with the store files that it links or copies.
struct CheckpointProgress {
  uint64_t files_done = 0;
  uint64_t files = 0;
  uint64_t bytes_done = 0;
  uint64_t bytes = 0;
};

struct StallInfo {
  std::string reason;  // what the writers wait for
  bool begins = true;
  int64_t micros = 0;  // how long it lasted, when it ends
};

struct LogInfo {
  uint64_t segment = 0;
  uint64_t bytes = 0;
};

struct FeedLostInfo {
  std::string feed;
  uint64_t acknowledged = 0;    // writes behind this sequence are missing in it
  uint64_t retained_bytes = 0;  // of log that it held back
};

struct RecoveryReport {
  uint64_t segments_read = 0;
  uint64_t records_replayed = 0;
  uint64_t cells_replayed = 0;
  uint64_t cells_skipped = 0;  // already in store files, or of dropped tables
  uint64_t torn_bytes = 0;     // behind the last whole record of an uncleanly ended log
  uint64_t orphans_removed = 0;
  bool clean = false;  // the store was closed properly
  int64_t micros = 0;
};

// One line of text for people; the same the command line prints.
std::string to_text(const FlushInfo& info);
std::string to_text(const CompactionInfo& info);
std::string to_text(const StallInfo& info);
std::string to_text(const LogInfo& info);
std::string to_text(const FeedLostInfo& info);
std::string to_text(const RecoveryReport& info);

// EventListener: override what is of interest; every hook has an empty default.
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
  // After each file of a checkpoint or of a named snapshot.
  virtual void on_checkpoint_progress(const CheckpointProgress&) {}
  // Foreign files count from now on: they are visible, and the ingest will return ok.
  virtual void on_ingested(const IngestInfo&) {}
  virtual void on_write_stall(const StallInfo&) {}
  virtual void on_log_rolled(const LogInfo&) {}
  virtual void on_log_removed(const LogInfo&) {}
  // A feed held back more of the log than it may, and was cut off.
  virtual void on_feed_lost(const FeedLostInfo&) {}
  virtual void on_recovered(const RecoveryReport&) {}
  // A failure that no caller waits for, or that made the engine read-only.
  virtual void on_background_error(const Status&) {}
};

}  // namespace cellar
