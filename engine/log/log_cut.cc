// cut_after: walks the records of the segment.
#include "engine/log/log_cut.h"

#include "base/assert.h"
#include "engine/log/directory.h"
#include "engine/log/record_file.h"

namespace cellar {

// A record that is not whole ends the segment: nothing after it ever counted.
Result<LogSegment> cut_after(Directory& wal, const Identity& identity, const LogSegment& segment,
                             uint64_t sequence) {
  if (segment.last_sequence <= sequence || segment.bytes <= kFileHeaderBytes) return segment;
  CELLAR_TRY_ASSIGN(RecordFile file, RecordFile::open(wal, segment_name(segment.id), FileKind::kLog, identity,
                                                      segment.id, segment.bytes));
  CELLAR_TRY(file.header_status());
  uint64_t end = kFileHeaderBytes;
  uint32_t chain = file.header_crc();
  uint64_t lsn = file.header().first_lsn;
  while (end < file.size()) {
    CELLAR_TRY_ASSIGN(const Found found, file.look(end, chain, lsn));
    const bool counts = found.look == Look::kRecord &&
                        (found.header.type != RecordType::kData || found.header.sequence <= sequence);
    if (!counts) break;
    CELLAR_ASSERT(found.end > end);
    end = found.end;
    chain = found.header.bcrc;
    lsn = found.header.lsn + 1;
  }
  return LogSegment{segment.id, end, sequence};
}

}  // namespace cellar
