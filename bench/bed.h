// Bed: a store in a temporary directory for a benchmark to read; and what benchmark programs share.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cellar/cellar.h"

namespace cellar::bench {

// `full`, or less where CELLAR_BENCH_SCALE (1 is the whole work) asks for it, but not below `least`.
size_t scaled(size_t full, size_t least);
// A benchmark whose store fails has nothing to say.
[[noreturn]] void give_up(const Status& status);

// "user00000042".
std::string numbered(std::string_view prefix, uint64_t number, int digits = 8);
// Letters that a codec halves or so, the same for the same seed.
std::string text_of(uint64_t seed, size_t bytes);
// A number that looks like chance, the same for the same input.
uint64_t mixed(uint64_t number);
// Returns the processor time of this thread, which does all of a read. Other programs disturb it less than a
// clock.
double thread_seconds();

// Where the data of a case comes from.
struct BedPlan {
  TableOptions table;
  std::function<Status(Engine&, const std::shared_ptr<Table>&)> fill;  // what it leaves in memory is flushed
  EngineOptions engine = {};
};

// A store of one table, filled once, then opened read-only as often as wanted. One thread, except where
// Table allows more.
class Bed {
 public:
  static constexpr uint64_t kCacheForAll = 512u << 20;
  static constexpr uint64_t kCacheForNothing = 64u << 10;

  // The bed of this key. Only the last one is kept: cases that share one should follow each other.
  static Bed& of(const std::string& key, const std::function<BedPlan()>& plan);

  explicit Bed(BedPlan plan);
  ~Bed();
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  // Opened anew, with an empty cache of this size.
  Table& opened(uint64_t cache_bytes);
  // As it is, where it is open with a cache of this size already.
  Table& still_open(uint64_t cache_bytes);
  // Bytes of all store files, by cell stored in them.
  double bytes_per_cell();
  // Returns the bytes of all store files.
  uint64_t file_bytes();
  const std::string& path() const { return path_; }

 private:
  Status build(BedPlan plan);
  void close();

  std::string path_;
  uint64_t cache_bytes_ = 0;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

// The average read statistics of one iteration.
void report(benchmark::State& state, const ReadStats& stats);

// Runs `read` with all blocks in the engine's cache. If `cold`, it opens the engine anew each time, and no
// block is in the cache. The time is the thread's processor time in the read alone. For cases registered by
// with_cache().
using BedRead = std::function<Status(Table&, ReadStats&)>;
void measure(benchmark::State& state, Bed& bed, bool cold, const BedRead& read);
benchmark::internal::Benchmark* with_cache(benchmark::internal::Benchmark* registered, bool cold);

// The cells of a scan, counted; `wanted` (may be null) says which ones.
Status count_cells(Table& table, const Scan& scan, bool (*wanted)(const CellView&), size_t& cells);

// Reads everything once, so that what can be in the cache is there.
void read_all(Table& table);

}  // namespace cellar::bench
