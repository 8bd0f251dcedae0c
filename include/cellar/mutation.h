// Put, Delete, Increment, Append and RowMutations: changes of one row. Each is applied atomically.
//
// Rows, families, qualifiers and values are bytes, as in HBase. A number must be encoded by the caller:
//
//   put.add("f", "name", "Ada");                    // text
//   put.add("f", "visits", plain_int64(0));         // 8 bytes, big-endian: a counter, Bytes.toBytes(long)
//   put.add("f", "height", plain_float64(1.65));    // 8 bytes: Bytes.toBytes(double)
//
// A plain number does not compile, because nobody could know its width: put.add("f", "visits", 0). The same
// rule holds for Append, for CheckAndMutate, and for the row of each request. The plain_… functions and
// their inverses are declared in cellar/keys.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cellar/bytes_only.h"
#include "cellar/cell.h"

namespace CELLAR_PUBLIC cellar {

struct MutationPiece;

// The timestamp of a write that names none. The engine's clock supplies the time when the write is applied.
// In a family with FamilyOptions::stamps = kRising the time may be later than the clock.
constexpr int64_t kNow = kLatestTimestamp;

// RowMutation: what Put, Delete, Increment and Append share: a row, and the columns that change. A value: a
// copy is independent of its original. One thread at a time.
//
// The row has 1 to 32,767 bytes. All parts of one mutation together have less than 4 GiB. A larger part is
// left out, too_large() tells so, and every write refuses the mutation with kLimit.
class RowMutation {
 public:
  std::string_view row() const { return {bytes_, row_size_}; }
  // Returns the number of added columns, families and versions.
  size_t size() const { return pieces_size_; }
  bool empty() const { return size() == 0 && !too_large_; }
  bool too_large() const { return too_large_; }
  // Returns copies of the cells in the order in which they were added, for logs and tests. Their timestamp is
  // kNow where none was given. The value of an increment is its amount in 8 bytes.
  std::vector<Cell> cells() const;

 protected:
  explicit RowMutation(std::string_view row);
  RowMutation(const RowMutation& other);
  RowMutation(RowMutation&& other) noexcept;
  RowMutation& operator=(const RowMutation& other);
  RowMutation& operator=(RowMutation&& other) noexcept;
  ~RowMutation();
  void add_piece(std::string_view family, std::string_view qualifier, std::string_view value,
                 int64_t timestamp, CellType type, bool latest_version);
  void remove_family(std::string_view family);
  void reset(std::string_view row);
  void set_ttl_ms(int64_t ttl_ms);

 private:
  friend class MutationReader;  // the engine's

  struct Memory;
  Memory make_room(size_t pieces, size_t bytes);
  Memory take_room(size_t pieces, size_t bytes);
  void copy(const RowMutation& other);

  // One block of memory has the pieces, and after the room for them the bytes.
  MutationPiece* pieces_ = nullptr;
  char* bytes_ = nullptr;  // the row, then the parts of each piece
  size_t pieces_size_ = 0;
  size_t pieces_room_ = 0;
  size_t bytes_size_ = 0;
  size_t bytes_room_ = 0;
  size_t row_size_ = 0;
  std::string tags_;
  bool too_large_ = false;
};

// Put: cells to write. Where a column and timestamp are given twice, the last one wins. A write refuses an
// empty Put with kInvalidArgument. HBase: Put.
class Put : public RowMutation {
 public:
  explicit Put(std::string_view row) : RowMutation(row) {}
  template <internal::NotBytes Number>
  explicit Put(Number) : RowMutation({}) {
    internal::refuse_number<Number>();
  }

  // Begins a new Put for another row. It keeps its memory, so a loop over many rows does not allocate.
  Put& start(std::string_view row) { return reset(row), *this; }
  // Adds a cell with the time at which the put is applied. `value` has any size up to
  // EngineOptions::cell_bytes_max, also 0.
  Put& add(std::string_view family, std::string_view qualifier, std::string_view value) {
    return add_piece(family, qualifier, value, kNow, CellType::kPut, false), *this;
  }
  // Adds a cell with a timestamp of its own: milliseconds since the epoch, 0 or more.
  Put& add_at(std::string_view family, std::string_view qualifier, int64_t timestamp,
              std::string_view value) {
    return add_piece(family, qualifier, value, timestamp, CellType::kPut, false), *this;
  }
  template <internal::NotBytes Number>
  Put& add(std::string_view, std::string_view, Number) {
    return internal::refuse_number<Number>(), *this;
  }
  template <internal::NotBytes Number>
  Put& add_at(std::string_view, std::string_view, int64_t, Number) {
    return internal::refuse_number<Number>(), *this;
  }
  // Lets all cells of this put expire `ttl_ms` milliseconds after their timestamp. The write fails with
  // kInvalidArgument if it is less than 1.
  Put& ttl_ms(int64_t ttl_ms) { return set_ttl_ms(ttl_ms), *this; }
};

// Delete: delete markers, also called tombstones. An empty Delete deletes the whole row: it writes one family
// marker for each family of the table. Table::erase tells what a marker hides. HBase: Delete.
class Delete : public RowMutation {
 public:
  // `timestamp` is the default of what is added, and of the delete of a whole row.
  explicit Delete(std::string_view row, int64_t timestamp = kNow) : RowMutation(row), timestamp_(timestamp) {}
  template <internal::NotBytes Number>
  explicit Delete(Number, int64_t = kNow) : RowMutation({}) {
    internal::refuse_number<Number>();
  }
  int64_t timestamp() const { return timestamp_; }

  // Deletes the version of the column that has exactly this timestamp.
  Delete& version(std::string_view family, std::string_view qualifier, int64_t timestamp) {
    return add_piece(family, qualifier, {}, timestamp, CellType::kDelete, false), *this;
  }
  // Deletes the newest version that is visible when the delete is applied. Added n times for one column, it
  // deletes the n newest versions. It reads the column, so the write costs a get.
  Delete& latest_version(std::string_view family, std::string_view qualifier) {
    return add_piece(family, qualifier, {}, kNow, CellType::kDelete, true), *this;
  }
  // Deletes all versions of the column with a timestamp up to and including `timestamp`.
  Delete& column(std::string_view family, std::string_view qualifier, std::optional<int64_t> timestamp = {}) {
    return add_piece(family, qualifier, {}, timestamp.value_or(timestamp_), CellType::kDeleteColumn, false),
           *this;
  }
  // Deletes all columns of the family with a timestamp up to and including `timestamp`. It discards what was
  // added for this family before.
  Delete& family(std::string_view family, std::optional<int64_t> timestamp = {}) {
    remove_family(family);
    return add_piece(family, {}, {}, timestamp.value_or(timestamp_), CellType::kDeleteFamily, false), *this;
  }
  // Deletes the versions of all columns of the family that have exactly this timestamp.
  Delete& family_version(std::string_view family, int64_t timestamp) {
    return add_piece(family, {}, {}, timestamp, CellType::kDeleteFamilyVersion, false), *this;
  }

 private:
  int64_t timestamp_ = kNow;
};

// Increment: adds to counters of one row. A counter is a value of 8 bytes, a big-endian signed integer, as
// Bytes.toBytes(long) writes it. All counters are read and written atomically. HBase: Increment.
class Increment : public RowMutation {
 public:
  explicit Increment(std::string_view row) : RowMutation(row) {}
  template <internal::NotBytes Number>
  explicit Increment(Number) : RowMutation({}) {
    internal::refuse_number<Number>();
  }
  // Adds `amount`, which may be 0 or negative. A missing counter counts as 0. The amounts of a column that is
  // added twice are summed.
  Increment& add(std::string_view family, std::string_view qualifier, int64_t amount);
  // Takes only cells with a timestamp in [from, until) as the current value. Default: all cells.
  Increment& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, *this; }
  // Lets a sum beyond 64 bits wrap around, as in HBase. Default: false, such a write fails with
  // kInvalidArgument.
  Increment& wrap_on_overflow(bool wrap) { return wrap_ = wrap, *this; }
  // Lets the new cells expire after `ttl_ms` milliseconds, 1 or more. Without it a new cell keeps the time to
  // live of the cell that it replaces. It keeps all other tags of that cell in either case.
  Increment& ttl_ms(int64_t ttl_ms) { return set_ttl_ms(ttl_ms), *this; }
  // Sets the timestamp of counters that have no current value. Default: the time of the write.
  Increment& timestamp(int64_t timestamp) { return timestamp_ = timestamp, *this; }
  // Selects if Table::mutate, Table::check_and_mutate and Table::batch return the new cells. Default: true.
  // Table::increment always returns the sums.
  Increment& return_cells(bool wanted) { return return_cells_ = wanted, *this; }

  int64_t time_from() const { return from_; }
  int64_t time_until() const { return until_; }
  [[nodiscard]] bool wrap_on_overflow() const { return wrap_; }
  [[nodiscard]] int64_t timestamp() const { return timestamp_; }
  [[nodiscard]] bool return_cells() const { return return_cells_; }

 private:
  int64_t timestamp_ = kNow;
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  bool wrap_ = false;
  bool return_cells_ = true;
};

// Append: adds bytes to the end of values of one row. All values are read and written atomically. HBase:
// Append.
class Append : public RowMutation {
 public:
  explicit Append(std::string_view row) : RowMutation(row) {}
  template <internal::NotBytes Number>
  explicit Append(Number) : RowMutation({}) {
    internal::refuse_number<Number>();
  }
  // Adds `value` to the end of the current value. A missing value counts as empty. A column that is added
  // twice gets both values, in this order.
  Append& add(std::string_view family, std::string_view qualifier, std::string_view value) {
    return add_piece(family, qualifier, value, kNow, CellType::kPut, false), *this;
  }
  template <internal::NotBytes Number>
  Append& add(std::string_view, std::string_view, Number) {
    return internal::refuse_number<Number>(), *this;
  }
  // Takes only cells with a timestamp in [from, until) as the current value. Default: all cells.
  Append& time_range(int64_t from, int64_t until) { return from_ = from, until_ = until, *this; }
  // Lets the new cells expire after `ttl_ms` milliseconds, 1 or more. Without it a new cell keeps the time to
  // live of the cell that it replaces. It keeps all other tags of that cell in either case.
  Append& ttl_ms(int64_t ttl_ms) { return set_ttl_ms(ttl_ms), *this; }
  // Sets the timestamp of columns that have no current value. Default: the time of the write.
  Append& timestamp(int64_t timestamp) { return timestamp_ = timestamp, *this; }
  // Selects if the write returns the new cells. Default: true. False saves a copy of long values.
  Append& return_cells(bool wanted) { return return_cells_ = wanted, *this; }

  int64_t time_from() const { return from_; }
  int64_t time_until() const { return until_; }
  [[nodiscard]] int64_t timestamp() const { return timestamp_; }
  [[nodiscard]] bool return_cells() const { return return_cells_; }

 private:
  int64_t from_ = 0;
  int64_t until_ = kLatestTimestamp;
  int64_t timestamp_ = kNow;
  bool return_cells_ = true;
};

// RowMutations: several mutations of one row, applied atomically. HBase: RowMutations.
//
// Increments, appends and Delete::latest_version read the row as it was before all of the mutations.
//
// The mutations share one time, as in HBase. A delete marker without a timestamp therefore hides a put
// without a timestamp, whatever their order. The last of several cells with equal coordinates wins. In a
// family with FamilyOptions::stamps = kRising the order counts: a marker hides only what was added before it.
class RowMutations {
 public:
  using Mutation = std::variant<Put, Delete, Increment, Append>;

  explicit RowMutations(std::string_view row) : row_(row) {}
  template <internal::NotBytes Number>
  explicit RowMutations(Number) {
    internal::refuse_number<Number>();
  }
  // Adds a mutation of the same row. Table::mutate fails with kInvalidArgument if the row is another one.
  RowMutations& add(Mutation mutation) { return mutations_.push_back(std::move(mutation)), *this; }

  const std::string& row() const { return row_; }
  const std::vector<Mutation>& mutations() const { return mutations_; }

 private:
  std::string row_;
  std::vector<Mutation> mutations_;
};

}  // namespace cellar
