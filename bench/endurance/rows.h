// Rows: what the store of an endurance run must hold, known before any read.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workload/data.h"
#include "cellar/cellar.h"

namespace cellar::bench::endurance {

// A row's state: how often the row changed, times two, and 1 if the last change deleted it. 1: never written.
using RowState = uint32_t;
constexpr RowState kNeverWritten = 1;
constexpr bool is_deleted(RowState state) { return (state & 1) != 0; }
constexpr RowState state_after(RowState state, bool deletion) { return (state | 1) + 1 + (deletion ? 1 : 0); }

// Rows: the states of all rows. A single thread changes each row. Any thread may read a row, and knows
// between which states the answer must lie.
class Rows {
 public:
  Rows(uint64_t count, uint32_t value_bytes);

  uint64_t count() const { return acknowledged_.size(); }
  uint32_t value_bytes() const { return value_bytes_; }
  // Returns the bytes of a row that is not deleted: key, qualifier, timestamp and value.
  uint64_t row_bytes() const;
  // Returns the number of rows that are not deleted.
  uint64_t alive() const { return alive_.load(std::memory_order_relaxed); }

  // The state that the last acknowledged change left, and the one that the last change that began leaves.
  RowState acknowledged(uint64_t row) const { return acknowledged_[row].load(std::memory_order_acquire); }
  RowState begun(uint64_t row) const { return begun_[row].load(std::memory_order_acquire); }
  // The owner of the row says so before it changes the row, and once the change was acknowledged.
  void begin(uint64_t row, RowState state) { begun_[row].store(state, std::memory_order_release); }
  void acknowledge(uint64_t row, RowState state);

  // Fills `to` with the value of this state of the row.
  void fill(uint64_t row, RowState state, std::string& to) const;
  // Returns ok if a read may have found `value` in the row. The change that it saw lies between `from` and
  // `until`. Error: kCorruption with the row. `room` is the caller's, for the value that was expected.
  Status check(uint64_t row, std::string_view value, RowState from, RowState until, std::string& room) const;
  // The same for a read that did not find the row.
  Status check_missing(uint64_t row, RowState from, RowState until) const;

 private:
  std::vector<std::atomic<RowState>> acknowledged_;
  std::vector<std::atomic<RowState>> begun_;
  std::atomic<uint64_t> alive_{0};
  const uint32_t value_bytes_;
};

// Returns the number of a row from its key. Error: kCorruption for keys that
// RowKey::present() does not make.
Result<uint64_t> row_number(std::string_view key);

}  // namespace cellar::bench::endurance
