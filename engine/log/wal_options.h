// LogPosition, LogSegment, WalOptions: places in the log, its segments, and what a log begins with.
#pragma once

#include <cstdint>
#include <vector>

#include "cellar/events.h"
#include "engine/log/wal_format.h"

namespace cellar {

// A place between two records of the log; `lsn` is the number of the record that comes next.
struct LogPosition {
  uint64_t segment = 0;  // 0: nowhere
  uint64_t offset = 0;
  uint64_t lsn = 0;
  uint32_t chain = 0;  // bcrc of the record before it

  bool operator==(const LogPosition&) const = default;
};

// A segment that is not written any more.
struct LogSegment {
  uint64_t id = 0;
  uint64_t bytes = 0;
  uint64_t last_sequence = 0;  // of it and of all before it

  bool operator==(const LogSegment&) const = default;
};

struct WalOptions {
  Identity identity = {};
  Identity boot = {};                  // FileSystem::boot_identity() as a number; zero: unknown
  uint64_t segment_bytes = 64u << 20;  // of the largest segments; at least 4096
  uint64_t first_segment = 1;          // to create; no file of this id or above may be there
  uint64_t first_lsn = 1;              // when `continues` is nowhere
  uint64_t last_sequence = 0;          // newest sequence of any record before
  LogPosition continues = {};          // end of the cleanly closed log that this one continues; else nowhere
  std::vector<LogSegment> older = {};  // not written any more, ascending, for release_before()
  EventListener* events = nullptr;
};

}  // namespace cellar
