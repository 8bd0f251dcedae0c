// ReplayHelper: inserts a part of the log's records on a second thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/work_in_order.h"
#include "engine/log/wal_reader.h"

namespace cellar {

// The thread that reads the log offers its records. The helper takes as many as a second thread can insert
// meanwhile, in batches. The reading thread inserts the others, so both are busy. If no other thread is free,
// the reading thread does all of it.
class ReplayHelper {
 public:
  using Insert = std::function<Status(const LogRecord&)>;

  // `insert` runs on one thread at a time. The executor is borrowed until the destructor returns.
  ReplayHelper(Executor& executor, Insert insert);

  // Returns true if the helper inserts the record, and false if the caller has to. Copies the payload. Fails
  // with the failure of `insert`, if it had one before.
  Result<bool> offer(const LogRecord& record);
  // Returns when the helper has inserted all records that it took. No Mutex may be held.
  Status drain();

 private:
  struct Batch {
    std::string payloads;
    std::vector<LogRecord> records;  // their payloads lie in `payloads`, one after the other
    std::vector<size_t> sizes;       // of the payloads
  };
  Status insert(Batch& batch) const;
  Status push();

  const Insert insert_;
  Batch filling_;
  WorkInOrder<Batch> work_;
};

}  // namespace cellar
