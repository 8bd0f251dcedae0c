// Reading the log back, up to its end; telling an end torn by a crash from damage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/log/log_files.h"
#include "engine/log/wal_format.h"
#include "engine/log/wal_writer.h"

namespace cellar {

struct SealedEnd {
  uint64_t segment = 0;
  uint64_t bytes = 0;  // everything after them is void

  bool operator==(const SealedEnd&) const = default;
};

// The manifest's knowledge of the log; ManifestState::log_facts() makes it.
struct LogFacts {
  Identity identity = {};
  uint64_t first_segment = 1;    // earlier ones are not read
  LogPosition clean_close = {};  // where the log was closed properly, or nowhere
  LogPosition synced = {};       // everything before it was durable
  std::vector<SealedEnd> sealed = {};
  uint64_t manifest_edit = UINT64_MAX;  // its last edit: a record that saw a later one durable convicts it
  bool tolerate_torn = false;           // damage without a witness ends the log, losing what lies after it
  Identity boot = {};                   // of the machine's start now; zero: unknown
};

// A DATA record during a visit; its bytes live until the visit returns.
struct LogRecord {
  uint64_t segment = 0;
  uint64_t offset = 0;
  uint64_t lsn = 0;
  uint64_t sequence = 0;
  uint32_t count = 0;
  std::string_view payload = {};  // LogCells walks it
};

// Where a reading of the log ended. Another one may go on there, once the log has grown.
struct LogEnd {
  LogPosition position = {};   // after the last whole record; nowhere: no segment has a whole header
  uint64_t last_sequence = 0;  // as in LogSummary
};

struct LogSummary {
  LogPosition end = {};        // of the last good record
  bool clean = false;          // the log ends exactly where the manifest says it was closed
  uint64_t torn_bytes = 0;     // after the end: not zero, but no whole record
  uint64_t records = 0;        // visited
  uint64_t last_sequence = 0;  // of all records and headers, also of those that hold no cells
  uint32_t manifest_edit = 0;  // low 32 bits of the newest manifest edit that a record saw durable
  uint32_t later_edit = 0;     // of the record that ended the reading of a held log; else 0
  uint64_t next_segment = 1;   // above every segment on disk: WalOptions::first_segment of the next log
  std::vector<LogSegment> segments = {};  // read, ascending: WalOptions::older when the log was clean
  LogEnd read_to = {};                    // for a later reading
};

// Visits the records from facts.first_segment on, in order, and classifies the first one that is not whole:
//   - 0  The manifest or the next segment's PREV ends the segment here → the segment ends here
//   - 1  Nothing but zeros in the rest of the segment and in later ones → end
//   - 2  A later record of the segment says that this offset was durable → kCorruption
//   - 3  A record of a later segment says that this segment was durable, or the manifest says that this
//        offset was → kCorruption
//   - 3b The segment was made since the machine was started, so only the end of a process can have ended the
//        log. A whole record stands after this one → kCorruption
//   - 4  The file, or what is not zero in it, ends inside the record, or one of its words is zero → torn: end
//   - 5  Anything else → kCorruption; torn if damage is tolerated
// An error names segment and offset, the last good lsn and sequence, and what is lost. Writes nothing. An
// error of `visit` ends the reading and is returned. Memory: one record and a buffer.
Result<LogSummary> read_log(Directory& wal, const LogFacts& facts,
                            const std::function<Status(const LogRecord&)>& visit);
// The same. A held log ends at the first record that saw an edit durable after that of `facts`. The summary
// has this edit: the manifest must have it by now, which the caller looks at.
Result<LogSummary> read_log(LogFiles& files, const LogFacts& facts,
                            const std::function<Status(const LogRecord&)>& visit);
// The same from `from` on, where an earlier reading of the log ended. The log must still begin at or before
// its segment. The summary has no earlier segments, and counts no earlier records. The end of the log is
// judged by some kilobytes after it: damage that hides later records there is found by read_log() alone.
Result<LogSummary> read_log_from(LogFiles& files, const LogFacts& facts, const LogEnd& from,
                                 const std::function<Status(const LogRecord&)>& visit);

// The error of a manifest that ends at `edit`, where a record of the log saw `later_edit` durable.
Status manifest_is_short(uint64_t edit, uint64_t later_edit, uint64_t segment, uint64_t offset);

// Removes log segments below `segment` but those to keep, oldest first. For recovery, after the manifest says
// so. Also removes copies of segments that a crash left.
Status remove_segments_before(Directory& wal, uint64_t segment, std::span<const LogSegment> keep,
                              EventListener* events);

}  // namespace cellar
