// Put, Delete, Increment, Append and RowMutations: changes of one row, applied as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cellar/cell.h"

namespace CELLAR_PUBLIC cellar {

// A timestamp that is not given: the engine's clock, read when the write is applied, or a later one in a
// family whose stamps rise (FamilyOptions::stamps).
constexpr int64_t kNow = kLatestTimestamp;

// The most bytes that one mutation holds: its row and all its pieces together.
constexpr uint64_t kMutationBytesMax = UINT32_MAX;
// Whether a mutation that holds `used` bytes has room for a piece with parts of these sizes.
constexpr bool mutation_has_room(uint64_t used, uint64_t family, uint64_t qualifier, uint64_t value) {
  uint64_t left = kMutationBytesMax;
  for (const uint64_t part : {used, family, qualifier, value}) {
    if (part > left) return false;
    left -= part;
  }
  return true;
}

// One piece of a mutation: a cell to write, or for latest_version a marker whose timestamp is looked up.
struct MutationPiece {
  uint32_t family_at = 0;  // offsets into the mutation's bytes
  uint32_t qualifier_at = 0;
  uint32_t value_at = 0;
  uint32_t end = 0;
  int64_t timestamp = kNow;
  CellType type = CellType::kPut;
  bool latest_version = false;
};

// RowMutation: what Put and Delete share: a row and its pieces, in one buffer. A value; one thread at a time.
class RowMutation {
 public:
  std::string_view row() const { return {bytes_.data(), row_size_}; }
  bool empty() const { return pieces_.empty() && !too_large_; }
  // Whether a piece was left out because the mutation would pass kMutationBytesMax. Every write refuses such
  // a mutation with kLimit.
  bool too_large() const { return too_large_; }
  const std::vector<MutationPiece>& pieces() const { return pieces_; }
  std::string_view family(const MutationPiece& p) const { return view(p.family_at, p.qualifier_at); }
  std::string_view qualifier(const MutationPiece& p) const { return view(p.qualifier_at, p.value_at); }
  std::string_view value(const MutationPiece& p) const { return view(p.value_at, p.end); }
  const std::string& tags() const { return tags_; }

 protected:
  explicit RowMutation(std::string_view row) { reset(row); }
  void add_piece(std::string_view family, std::string_view qualifier, std::string_view value,
                 int64_t timestamp, CellType type, bool latest_version);
  void remove_family(std::string_view family);
  void reset(std::string_view row);
  std::string tags_;

 private:
  std::string_view view(uint32_t from, uint32_t to) const { return {bytes_.data() + from, to - from}; }
  std::string bytes_;
  size_t row_size_ = 0;
  std::vector<MutationPiece> pieces_;
  bool too_large_ = false;
};

// Put: cells to write. A column and timestamp given twice: the last one wins. An empty Put is refused.
class Put : public RowMutation {
 public:
  explicit Put(std::string_view row) : RowMutation(row) {}
  // Begins anew for another row, keeping memory.
  Put& start(std::string_view row) { return reset(row), *this; }
  // Writes `value` at the time the put is applied.
  Put& add(std::string_view family, std::string_view qualifier, std::string_view value) {
    return add_piece(family, qualifier, value, kNow, CellType::kPut, false), *this;
  }
  // … at `timestamp`, milliseconds since the epoch, 0 or more.
  Put& add_at(std::string_view family, std::string_view qualifier, int64_t timestamp,
              std::string_view value) {
    return add_piece(family, qualifier, value, timestamp, CellType::kPut, false), *this;
  }
  // All cells of this put expire `ttl_ms` after their timestamp: 1 or more, anything else is refused when the
  // put is applied.
  Put& ttl_ms(int64_t ttl_ms);
};

// Delete: markers. With nothing added it deletes the row: one family marker for each family of the table.
class Delete : public RowMutation {
 public:
  // `timestamp` is the default of what is added and of a whole-row delete.
  explicit Delete(std::string_view row, int64_t timestamp = kNow) : RowMutation(row), timestamp_(timestamp) {}
  int64_t timestamp() const { return timestamp_; }

  // Exactly the version at `timestamp`.
  Delete& version(std::string_view family, std::string_view qualifier, int64_t timestamp) {
    return add_piece(family, qualifier, {}, timestamp, CellType::kDelete, false), *this;
  }
  // The newest version visible when the delete is applied; asked n times for a column: the n newest.
  Delete& latest_version(std::string_view family, std::string_view qualifier) {
    return add_piece(family, qualifier, {}, kNow, CellType::kDelete, true), *this;
  }
  // All versions of the column at or before `timestamp`.
  Delete& column(std::string_view family, std::string_view qualifier, std::optional<int64_t> timestamp = {}) {
    return add_piece(family, qualifier, {}, timestamp.value_or(timestamp_), CellType::kDeleteColumn, false),
           *this;
  }
  // All columns of the family at or before `timestamp`; discards what was added for the family before.
  Delete& family(std::string_view family, std::optional<int64_t> timestamp = {}) {
    remove_family(family);
    return add_piece(family, {}, {}, timestamp.value_or(timestamp_), CellType::kDeleteFamily, false), *this;
  }
  // All columns of the family at exactly `timestamp`.
  Delete& family_version(std::string_view family, int64_t timestamp) {
    return add_piece(family, {}, {}, timestamp, CellType::kDeleteFamilyVersion, false), *this;
  }
  using RowMutation::family;

 private:
  int64_t timestamp_;
};

// Increment: counters of one row, 8 bytes big-endian each, read and written as one.
class Increment {
 public:
  enum class Overflow : uint8_t { kError, kWrap };  // HBase wraps

  explicit Increment(std::string_view row) : row_(row) {}
  // Adds `amount` (also 0 or negative) to the counter; a missing one counts as 0. A column given twice is
  // summed.
  Increment& add(std::string_view family, std::string_view qualifier, int64_t amount);
  // Only cells with a timestamp in [from, until) count as the current value.
  Increment& time_range(int64_t from, int64_t until);
  Increment& overflow(Overflow overflow) { return overflow_ = overflow, *this; }
  // The new cells expire, after 1 ms or more; without it they inherit the time to live of the current cell,
  // as all its other tags.
  Increment& ttl_ms(int64_t ttl_ms);
  // Of counters that have no current value; else, and by default, the time of the write counts.
  Increment& timestamp(int64_t timestamp) { return timestamp_ = timestamp, *this; }
  // Whether the new cells are returned where cells are: by row mutations, conditions and lists of actions.
  // Table::increment always returns the sums.
  Increment& return_cells(bool wanted) { return return_cells_ = wanted, *this; }

  struct Counter {
    std::string family;
    std::string qualifier;
    int64_t amount;
  };
  const std::string& row() const { return row_; }
  const std::vector<Counter>& counters() const { return counters_; }
  int64_t time_from() const { return from_; }
  int64_t time_until() const { return until_; }
  int64_t timestamp() const { return timestamp_; }
  Overflow overflow_mode() const { return overflow_; }
  bool returns_cells() const { return return_cells_; }
  const std::string& tags() const { return tags_; }

 private:
  std::string row_;
  std::vector<Counter> counters_;
  int64_t timestamp_ = kNow;
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  Overflow overflow_ = Overflow::kError;
  bool return_cells_ = true;
  std::string tags_;
};

// Append: bytes added to the end of values of one row, read and written as one.
class Append : public RowMutation {
 public:
  explicit Append(std::string_view row) : RowMutation(row) {}
  // A missing value counts as empty. A column given twice gets both, in this order.
  Append& add(std::string_view family, std::string_view qualifier, std::string_view value) {
    return add_piece(family, qualifier, value, kNow, CellType::kPut, false), *this;
  }
  // Only cells with a timestamp in [from, until) count as the current value.
  Append& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, *this; }
  // The new cells expire, after 1 ms or more; without it they inherit the time to live of the current cell,
  // as all its other tags.
  Append& ttl_ms(int64_t ttl_ms);
  // Of columns that have no current value; else, and by default, the time of the write counts.
  Append& timestamp(int64_t timestamp) { return timestamp_ = timestamp, *this; }
  // Whether the new cells are returned: false spares the copy of long values.
  Append& return_cells(bool wanted) { return return_cells_ = wanted, *this; }

  int64_t time_from() const { return from_; }
  int64_t time_until() const { return until_; }
  int64_t timestamp() const { return timestamp_; }
  bool returns_cells() const { return return_cells_; }

 private:
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  int64_t timestamp_ = kNow;
  bool return_cells_ = true;
};

// RowMutations: mutations of one row, all or none of them, at one instant. What some of them read
// (increments, appends, Delete::latest_version) is the row as it was before, not what the others do to it.
// All share one time, so that a marker hides what is put beside it without a timestamp, whatever their order,
// as in HBase; of equal coordinates the last one wins. In a family whose stamps rise their order counts: a
// marker without a timestamp hides what comes before it.
class RowMutations {
 public:
  using Mutation = std::variant<Put, Delete, Increment, Append>;

  explicit RowMutations(std::string_view row) : row_(row) {}
  // Of the same row; one of another is refused when they are applied.
  RowMutations& add(Mutation mutation) { return mutations_.push_back(std::move(mutation)), *this; }

  const std::string& row() const { return row_; }
  const std::vector<Mutation>& mutations() const { return mutations_; }

 private:
  std::string row_;
  std::vector<Mutation> mutations_;
};

}  // namespace cellar
