// Peer: what the driver asks of an engine, Cellar or one it is compared with: HBase's data model, one way for
// all.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  static uint64_t weigh(std::string_view row, std::string_view qualifier, std::string_view value) {
    uint64_t weight = last_word(row) * 0x9e3779b97f4a7c15 + first_word(value);
    weight ^= last_word(value) + (static_cast<uint64_t>(qualifier.size()) << 32);
    if (!qualifier.empty()) weight += static_cast<uint64_t>(static_cast<uint8_t>(qualifier.back())) << 48;
    return (weight ^ (weight >> 29)) * 0xbf58476d1ce4e5b9;
  }
  void add(std::string_view row, std::string_view qualifier, std::string_view value) {
    add_weight(weigh(row, qualifier, value));
  }
  void add_weight(uint64_t weight) {
    ++cells;
    sum += weight;
  }
  Tally& operator+=(const Tally& other) {
    rows += other.rows;
    cells += other.cells;
    sum += other.sum;
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
  // Deletes the row: HBase's family markers, one for each family. Its cells, without values, are for engines
  // that can delete only what they are told.
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

struct StoreOptions {
  std::string path;
  std::vector<std::string> families;  // sorted
  uint64_t cache_bytes = 1u << 30;
  uint64_t memtable_bytes = 64u << 20;
  bool create = false;
};

enum class Feature : uint8_t { kTimeToLive, kColdGets };

// A store of one engine. Any thread may ask for sessions; the rest is for one thread.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  // Version and build, and what differs from the others' settings.
  virtual std::string version() const = 0;
  virtual bool has(Feature feature) const = 0;

  virtual void open(const StoreOptions& options) = 0;
  virtual void close() = 0;
  virtual std::unique_ptr<Session> session() = 0;

  virtual void flush() = 0;
  // Everything into one run, dropping what nobody can see any more.
  virtual void compact() = 0;
  // Waits until no background work is running or due.
  virtual void settle() = 0;
  // From now on cells older than this are expired.
  virtual void set_time_to_live(const std::string& family, int64_t seconds) = 0;
  // Bytes of the sorted runs, logs left out, as the engine counts them.
  virtual uint64_t run_bytes() = 0;
};

// Says what failed and ends the program.
[[noreturn]] void give_up(const std::string& what);

}  // namespace cellar::bench
