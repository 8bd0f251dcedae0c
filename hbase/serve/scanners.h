// ScannerTable: the scanners that clients have open, each with its lease.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "cellar/scanner.h"
#include "cellar/status.h"

namespace cellar::hbase::serve {

// ScanSession: a scanner of a client between its calls. `busy` calls own it; the others wait for their
// turn, or are refused: see ScannerTable::take.
struct ScanSession {
  std::unique_ptr<Scanner> scanner;
  std::string region_name;
  uint64_t next_call = 0;  // the number that the next call must have
  uint64_t row_bytes = 0;  // of a call: answers end at this size; 0: at the server's
  bool needs_cursor = false;
  std::optional<int64_t> pause_ms;  // a call that works longer ends after its row; nothing: it goes on
  std::shared_ptr<std::atomic<bool>> filter_done = std::make_shared<std::atomic<bool>>(false);
  std::string unfinished;   // the row of which the last answer had a part, or empty
  int64_t last_use_ms = 0;  // of the steady clock
};

// Any thread. A session belongs to the call that took it, until it is put back.
class ScannerTable {
 public:
  ScannerTable(size_t most, int64_t lease_ms, uint64_t first_id)
      : most_(most), lease_ms_(lease_ms), next_id_(first_id) {}

  int64_t lease_ms() const { return lease_ms_; }
  // Returns the number of a new scanner. kBusy if there are too many.
  Result<uint64_t> reserve();
  // Takes a session out. Null: no scanner has the number, its lease has expired, or another call has it.
  std::unique_ptr<ScanSession> take(uint64_t id);
  // Puts the session of a number back, and begins its lease anew.
  void put_back(uint64_t id, std::unique_ptr<ScanSession> session);
  // Gives a number up whose session was taken, or never put.
  void release(uint64_t id);
  // Closes the scanners whose lease is over. Returns their number.
  size_t close_expired();
  // Closes all that no call has.
  void close_all();
  size_t open();

 private:
  const size_t most_;
  const int64_t lease_ms_;
  Mutex mutex_;
  uint64_t next_id_ CELLAR_GUARDED_BY(mutex_);
  // Null: a call has it.
  std::map<uint64_t, std::unique_ptr<ScanSession>> sessions_ CELLAR_GUARDED_BY(mutex_);
};

}  // namespace cellar::hbase::serve
