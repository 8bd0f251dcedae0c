// cut_after: where a log segment ends for those who must not see the records after a sequence.
#pragma once

#include <cstdint>

#include "cellar/file_system.h"
#include "engine/log/wal_writer.h"

namespace cellar {

// Returns the segment as it ends after its last record up to `sequence`. Reads the segment only if it has
// later records. Errors: those of reading it, and of a damaged header.
Result<LogSegment> cut_after(Directory& wal, const Identity& identity, const LogSegment& segment,
                             uint64_t sequence);

}  // namespace cellar
