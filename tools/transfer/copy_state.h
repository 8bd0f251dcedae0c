// CopyState: how far a copy of tables is, in a small file, so that the same command goes on later.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "cellar/status.h"

namespace cellar {

// The request of a copy, by which another one is told apart: names and values, such as "raw" and "true".
using CopyRequest = std::vector<std::pair<std::string, std::string>>;

// The progress of one table.
struct CopyProgress {
  std::string table = {};  // its name where it comes from
  std::string as = {};     // its name where it goes
  bool creates = false;    // the copy makes the table, or has made it
  bool done = false;       // all cells are copied
  std::string next = {};   // the first row that is not copied; empty: none is copied yet
  // Copied so far.
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // of keys, values and tags
};

// The file is replaced as a whole and synced by each save(). One thread.
class CopyState {
 public:
  // Reads the file, if it exists. No path: nothing is kept. kInvalidArgument if the file is of another
  // request, with the first difference. Other errors: kCorruption if it cannot be understood; kNotSupported
  // for another version of it; kIoError.
  static Result<CopyState> open(std::string path, CopyRequest request);

  // Returns the progress of a table; a new one stands at its beginning. The reference lives as long
  // as this object does not move.
  CopyProgress& of(const std::string& table, const std::string& as);
  bool is_kept() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // Makes the file durable with all progress. kIoError, kNoSpace.
  Status save();
  // Removes the file: the copy is complete.
  Status remove();

 private:
  CopyState(std::string path, CopyRequest request) : path_(std::move(path)), request_(std::move(request)) {}
  Status read(const std::string& text);

  std::string path_;
  CopyRequest request_;
  std::deque<CopyProgress> tables_;
};

}  // namespace cellar
