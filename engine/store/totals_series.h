// TotalsSeries: what a family has cost so far, after each flush and compaction, as lines of JSON in a file.
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "cellar/status.h"
#include "engine/store/store.h"
#include "engine/store/world.h"

namespace cellar {

// TotalsSeries: the file that EngineOptions::totals_series names. `cellar plot` draws it. docs/policies.md
// describes its lines. Any thread.
//
// Nothing waits for the file to be durable. If it cannot be written, the series ends, with a line in the log.
class TotalsSeries {
 public:
  // Borrows the world. Nothing is written before open().
  explicit TotalsSeries(const World& world) : world_(world) {}
  TotalsSeries(const TotalsSeries&) = delete;
  TotalsSeries& operator=(const TotalsSeries&) = delete;

  // Creates the file, if the options name one. Errors: kInvalidArgument if the file exists, or lies in the
  // store's directory; kNotFound, kIoError.
  Status open();
  // Appends a line about the family of the store.
  void note(const Store& store);

 private:
  const World& world_;
  Mutex mutex_;
  std::unique_ptr<WritableFile> file_ CELLAR_GUARDED_BY(mutex_);
  int64_t begun_us_ = 0;
};

// Returns the line of a family without its end. `seconds` have passed since the series began.
std::string totals_line(const Store& store, double seconds, int64_t wall_ms);

}  // namespace cellar
