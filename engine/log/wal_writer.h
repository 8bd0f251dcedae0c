// Wal: the engine's log. Append, sync, roll, release.
//
// When a segment is half full, a job prepares the next one: created at full size, mapped, header written,
// file and directory synced. Jobs make its pages ready while the leader appends, a few megabytes ahead, and
// take full ones out of the process. A roll is CLOSE in the old segment, PREV in the new one, and a change
// of pointers. The old segment is synced and cut to its length by a job. The first segment after an open has
// 64 KiB, each later one four times its predecessor, up to WalOptions::segment_bytes. So a store with few
// writes needs little room. Recovery relies on these invariants:
//  - A segment named by a CLOSE record has a durable name and header before that CLOSE is written.
//  - A sync() makes older segments durable before the current one, so that the durable part is a prefix.
//  - A record states how much was durable when it was built, so that damage to durable bytes is seen as such.
//  - Nobody waits for a job that has not begun: a thread that needs its result does its work. So a busy
//    executor cannot deadlock writers.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cellar/environment.h"
#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/log/wal_options.h"

namespace cellar {

class WalCore;

// append() and close_cleanly() are for one thread at a time, the leader of the write group. They may wait for
// I/O, so the caller holds no lock. Any thread may call everything else, concurrently with append().
class Wal {
 public:
  // Opens the sub-directory "wal" of the store's directory, which must be there, and creates the first
  // segment in it. Its header and name are durable when this returns. `executor` and the listener must
  // outlive the log. A log that continues nothing gets no records before the manifest says that it begins
  // here (ManifestState::log_start).
  static Result<std::unique_ptr<Wal>> create(Directory& root, Executor& executor, const WalOptions& options);
  // Leaves the log as it is, as a kill would: no CLOSE. Waits for running jobs.
  ~Wal();
  Wal(const Wal&) = delete;
  Wal& operator=(const Wal&) = delete;

  // Appends one record: a copy and two checksums; neither a system call nor an allocation, except when the
  // segment is full. `sequence` is greater than any before it; `payload` is RecordBuilder's. When this
  // returns ok, the record survives the end of the process. Error: kLimit if the payload is too large. If
  // there is no room in the segment and the next one cannot be made, or the room cannot be made ready,
  // nothing was appended. Then health() stays ok, and a later call tries again. Any other failure seals the
  // log: this and every later call returns the first failure. It is unknown whether the record survives. A
  // restart(), or opening the store again, ends the failure.
  Status append(uint64_t sequence, uint32_t count, std::string_view payload);

  // Makes durable all that was appended before the call. A failure seals the log; what was appended since the
  // last successful sync() may or may not survive.
  Status sync();
  // Makes durable the records with numbers below `lsn`, which were appended. Returns ok at once if they are,
  // also if the log was sealed since. Failures as sync().
  Status sync_before(uint64_t lsn);
  // Returns whether they are known to be.
  bool is_durable(uint64_t lsn) const;
  // For the thread that may append: the number of the next record.
  uint64_t next_lsn() const;

  // Later records carry the number as a witness that the manifest had (durably) come that far, see
  // LogFacts::manifest_edit. For after every commit().
  void note_manifest_edit(uint64_t edit);

  // The first segment that a recovery must read once everything up to `sequence` is in store files. Put it
  // into the manifest edit that makes it so (ManifestEdit::log_start), then hand it to release_before(). In
  // that order: a segment that the manifest asks for must be there.
  uint64_t needed_from(uint64_t sequence) const;
  // Removes the segments below this id (never the current one), oldest first, and syncs the directory.
  Status release_before(uint64_t segment);

  // Begins anew in a segment of its own that continues nothing, and ends the failure that sealed the log. For
  // the thread that may append; everything appended so far must be in store files. No record may be appended
  // before the manifest says that the log begins at current_segment(). On failure the log stays as it was.
  // The new log continues after `last_sequence`, the newest that counts: later records of the old log failed.
  // `ends` replaces the segments of these ids in segments(), so that feeds do not read such records.
  Status restart(uint64_t last_sequence, const std::vector<LogSegment>& ends = {});
  // Returns how often the log has begun anew. Ends of segments that were told before may be wrong since.
  uint64_t restarts() const;
  // Seals the log.
  void seal(const Status& failure);

  // Goes on in a new, small segment unless the current one is small: up to a 256th of the largest size. For a
  // log that is about to be closed. The next open reads the current segment, also if nothing in it counts any
  // more. For the thread that may append. Failures as append().
  Status begin_small_segment();

  // Syncs, appends CLOSE, syncs, cuts the segment, removes the segment prepared ahead. The log is sealed
  // afterwards. The position is for ManifestEdit::clean_close: with it on record any missing byte of the log
  // is an error.
  Result<LogPosition> close_cleanly();

  uint64_t current_segment() const;
  // End of what was appended; `chain` is not set.
  LogPosition end() const;
  // Returns the position before which everything is durable. It goes into manifest edits as
  // ManifestEdit::log_synced. A flush must sync() before its edit. Otherwise, after a power cut, its file
  // could hold writes that are later than lost ones.
  LogPosition synced() const;
  // Segments not yet released, the current one last.
  std::vector<LogSegment> segments() const;
  // Returns the size on disk of the current segment and of the one that is prepared, with what is unused.
  // Returns 0 where the file system does not preallocate.
  uint64_t preallocated_bytes() const;
  // Ok, or the failure that sealed the log.
  Status health() const;

 private:
  explicit Wal(std::shared_ptr<WalCore> core);
  std::shared_ptr<WalCore> core_;  // shared with jobs that have not begun; they find it closed
};

}  // namespace cellar
