// LogFiles: the segments of a log, as a reading of it finds them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cellar/file_system.h"
#include "cellar/status.h"

namespace cellar {

// A log that no other process writes, or one that is read as it was at a moment: see hold(). One thread at a
// time.
class LogFiles {
 public:
  // Borrows the directory of the segments.
  explicit LogFiles(Directory& wal) : wal_(wal) {}

  // For a log that another process may write: from now on the log has the segments that the directory has at
  // this moment. Opens the oldest of them from `first` on. The writer may remove these, and they are read
  // nevertheless. Called once. Errors: as Directory::list() and Directory::open().
  Status hold(uint64_t first);
  bool is_held() const { return is_held_; }
  // Returns the numbers of the segments, ascending.
  Result<std::vector<uint64_t>> list() const;
  // Opens a segment. Reads may reach up to its present size. Errors: as Directory::open().
  Result<std::shared_ptr<ReadableFile>> open(uint64_t id) const;
  // Returns true if hold() was called, and the directory has the segment `id` or a later one now.
  Result<bool> has_grown_to(uint64_t id) const;

 private:
  Directory& wal_;
  bool is_held_ = false;
  std::vector<uint64_t> ids_;  // of hold()
  std::unordered_map<uint64_t, std::shared_ptr<ReadableFile>> held_;
};

}  // namespace cellar
