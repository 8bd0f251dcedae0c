// SegmentLook: one segment of a log, read record by record as far as it goes, whatever is damaged in it.
//
// A recovery reads a log up to its first damage. A person who looks at a damaged log also needs to see what
// stands after the damage. So a look goes on there with the records whose checksums can still be checked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/status.h"
#include "engine/log/record_file.h"
#include "engine/log/wal_format.h"
#include "engine/log/wal_writer.h"

namespace cellar {

// A record during a look; its payload lives until the visit returns.
struct SeenRecord {
  uint64_t segment = 0;
  uint64_t offset = 0;
  RecordHeader header = {};
  std::string_view payload = {};  // empty if it cannot be read
  bool readable = true;           // false: its header is sound, its payload is not, or cannot be checked
  bool after_damage = false;      // a recovery does not read it
};
// Returns false to end the look.
using VisitRecord = std::function<bool(const SeenRecord&)>;

// Records of one kind: how many, and which numbers and sequences they have.
struct RecordRange {
  uint64_t records = 0;  // with cells
  uint64_t cells = 0;
  uint64_t first_number = 0;  // of all records, also of those without cells
  uint64_t last_number = 0;
  uint64_t first_sequence = 0;  // of records with cells
  uint64_t last_sequence = 0;

  void add(const RecordHeader& header);
  void add(const RecordRange& other);
};

struct SegmentLook {
  uint64_t id = 0;
  uint64_t bytes = 0;                       // of the file
  Status header = {};                       // ok, or what is wrong with the header of the file
  FileHeader facts = {};                    // of a sound header
  std::optional<PrevFacts> continues = {};  // what its first record says of the segment before it
  std::optional<uint64_t> next = {};        // what its last record says: 0: the log was closed with the store
  std::optional<uint64_t> before = {};      // the sequence before its first record, if that is known
  RecordRange sound = {};                   // from its beginning up to `end`
  RecordRange later = {};                   // after the damage at `end`, as far as their headers are sound
  uint64_t unreadable = 0;                  // of the later records those whose cells cannot be read
  uint64_t end = 0;                         // offset after the last sound record
  Look at_end = Look::kNothing;             // what stands there
  uint32_t chain = 0;                       // the checksum of the last sound record
  uint64_t written_end = 0;                 // offset after the last byte that is not zero
  uint64_t newest_edit = 0;                 // the newest edit of the manifest that a record saw durable

  // Returns whether bytes stand after the last sound record.
  bool has_bytes_after_end() const { return written_end > end; }
};

// Looks at the file `name` of `wal`, the segment `id` of the store `identity`. Only errors of the file
// system are errors; everything else is in the look. `visit` may be null.
Result<SegmentLook> look_at_segment(Directory& wal, const std::string& name, const Identity& identity,
                                    uint64_t id, const VisitRecord& visit);

// Returns the header of a log segment or manifest as it stands in the file. Returns kCorruption if it is not
// sound.
Result<FileHeader> read_file_header(Directory& directory, const std::string& name, FileKind kind);

// "nothing", "a record that is not complete", "a damaged record".
std::string_view look_text(Look look);

}  // namespace cellar
