// Session: one thread's way to a store with HBase's data model, whichever engine keeps it, and the cells that
// go in and come out.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace cellar::bench {

// The events that an acknowledged write survives.
enum class Keep : uint8_t {
  kNothing,  // not logged
  kProcess,  // the end of the process: Cellar's kSyncWal, the others' logs without sync
  kPower,    // loss of power
};

constexpr int64_t kClock = INT64_MAX;  // a timestamp: the time of the write

struct CellIn {
  std::string_view family;
  std::string_view qualifier;
  std::string_view value;
};

struct RowIn {
  std::string_view row;
  std::span<const CellIn> cells;
};

// Tally: counts and sums up the cells that were read, so that engines can be compared. It reads row,
// qualifier and value of every cell, as a user would.
class Tally {
 public:
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t sum = 0;
  uint64_t bytes = 0;  // of rows, qualifiers and values

  static uint64_t weigh(std::string_view row, std::string_view qualifier, std::string_view value) {
    uint64_t weight = last_word(row) * 0x9e3779b97f4a7c15 + first_word(value);
    weight ^= last_word(value) + (static_cast<uint64_t>(qualifier.size()) << 32);
    if (!qualifier.empty()) weight += static_cast<uint64_t>(static_cast<uint8_t>(qualifier.back())) << 48;
    return (weight ^ (weight >> 29)) * 0xbf58476d1ce4e5b9;
  }
  void add(std::string_view row, std::string_view qualifier, std::string_view value) {
    add_weight(weigh(row, qualifier, value), row.size() + qualifier.size() + value.size());
  }
  void add_weight(uint64_t weight, uint64_t weighed_bytes) {
    ++cells;
    sum += weight;
    bytes += weighed_bytes;
  }
  Tally& operator+=(const Tally& other) {
    rows += other.rows;
    cells += other.cells;
    sum += other.sum;
    bytes += other.bytes;
    return *this;
  }
  bool operator==(const Tally&) const = default;

 private:
  static uint64_t first_word(std::string_view bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size() < 8 ? bytes.size() : 8);
    return word;
  }
  static uint64_t last_word(std::string_view bytes) {
    if (bytes.size() < 8) return first_word(bytes);
    return first_word(bytes.substr(bytes.size() - 8));
  }
};

using CellFilter = bool (*)(std::string_view row, std::string_view value);

struct ScanIn {
  std::span<const std::string> families = {};  // none: all of the store
  std::string_view start = {};                 // first row; of a reversed scan the last
  std::string_view prefix = {};                // instead of start
  uint64_t limit = 0;                          // rows; 0: all
  bool reversed = false;
  int64_t from = 0;  // timestamps, milliseconds
  int64_t until = INT64_MAX;
  CellFilter filter = nullptr;  // cells that it refuses are not counted
};

// One thread's way to a store, with the buffers it uses again and again. Failures end the program: a
// benchmark has nothing to save.
class Session {
 public:
  virtual ~Session() = default;
  // Writes the cells of one row atomically. `timestamp` is kClock or milliseconds.
  virtual void put(const RowIn& row, Keep keep, int64_t timestamp = kClock) = 0;
  // All of the rows or none.
  virtual void put_rows(std::span<const RowIn> rows, Keep keep, int64_t timestamp = kClock) = 0;
  // Deletes the row: HBase's family markers, one for each family. An engine without such markers deletes the
  // cells that `row` names; their values are not used.
  virtual void erase_row(const RowIn& row, Keep keep) = 0;
  // One column, newest version; whether there is one.
  virtual bool get(std::string_view row, std::string_view family, std::string_view qualifier,
                   Tally& tally) = 0;
  // All columns of one family.
  virtual bool get_row(std::string_view row, std::string_view family, Tally& tally) = 0;
  virtual void scan(const ScanIn& scan, Tally& tally) = 0;
  // The new value of a counter of 8 bytes, big-endian.
  virtual int64_t increment(std::string_view row, std::string_view family, std::string_view qualifier,
                            int64_t amount, Keep keep) = 0;
};

}  // namespace cellar::bench
