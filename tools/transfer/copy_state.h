// CopyState: how far a copy of tables is, in a small file, so that the same command goes on later.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cellar/file_system.h"

namespace cellar {

// The request of a copy, by which another one is told apart: names and values, such as "raw" and "true".
using CopyRequest = std::vector<std::pair<std::string, std::string>>;

// The progress of one table.
struct CopyProgress {
  std::string table = {};  // its name where it comes from
  std::string as = {};     // its name where it goes
  // TableInfo::id of both when the copy began; 0 in a cluster, which tells none.
  uint32_t from_id = 0;
  uint32_t to_id = 0;
  bool creates = false;   // the copy is about to make the table, or has made it
  bool created = false;   // it has made it
  bool done = false;      // all cells are copied
  std::string next = {};  // the first row that is not copied; empty: none is copied yet
  std::string last = {};  // the last row that is copied
  // Copied so far.
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of keys, values and tags
  uint64_t tags_left_out = 0;
};

class CopyLock;

// The file is replaced as a whole and synced by each save(). While the object lives, a lock file next to it
// keeps other copies away. One thread.
class CopyState {
 public:
  // Locks the file and reads it, if it exists. No path: nothing is kept. Errors: kInvalidArgument if the file
  // is of another request, with the first difference; kLocked while another copy uses the file. Also
  // kCorruption if it cannot be understood; kNotSupported for another version of it; kNotFound if its
  // directory does not exist; kIoError.
  static Result<CopyState> open(std::string path, CopyRequest request);
  CopyState(CopyState&&) noexcept;
  ~CopyState();

  // Adds what is known of the request only later. Errors: kInvalidArgument and kCorruption as in open().
  Status add_to_request(const std::string& name, const std::string& value);

  // Returns the progress of a table; a new one stands at its beginning. The reference lives as long
  // as this object does not move.
  CopyProgress& of(const std::string& table, const std::string& as);
  bool is_kept() const { return !path_.empty(); }
  // Returns whether an earlier run left the file.
  bool was_there() const { return kept_request_.has_value(); }
  const std::string& path() const { return path_; }
  // Makes the file durable with all progress. kIoError, kNoSpace.
  Status save();
  // Removes the file: the copy is complete.
  Status remove();

 private:
  CopyState(std::string path, CopyRequest request);
  Status lock();
  Status read(const std::string& text);
  Status compare(const std::string& name, const std::string& value) const;

  std::string path_;
  CopyRequest request_;
  std::optional<std::map<std::string, std::string>> kept_request_;  // of the file, escaped
  // The directory of the file, and its lock. Both are null if nothing is kept.
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<CopyLock> lock_;
  std::deque<CopyProgress> tables_;
};

}  // namespace cellar
