// ReplayTarget: a store on which a trace is replayed, seen by one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cellar/status.h"
#include "engine/trace/trace_reader.h"

namespace cellar {

// ReplayFound: the findings of reads.
struct ReplayFound {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t bytes = 0;  // as the target counts them: keys and values
};

// ReplayValues: values of recorded sizes, from a seed. One thread at a time.
class ReplayValues {
 public:
  // `noise` is the share of a value that does not compress, 0 to 1.
  ReplayValues(uint64_t seed, double noise) : random_(seed), noise_(noise), pool_(kPoolBytes) {
    for (char& byte : pool_) byte = static_cast<char>(random_.next());
  }
  // Returns a value, valid until the next call.
  std::string_view next(uint64_t bytes) {
    const auto noisy = static_cast<size_t>(static_cast<double>(bytes) * noise_);
    value_.assign(bytes, 'v');
    for (size_t at = 0; at < noisy;) {
      const size_t from = random_.below(kPoolBytes);
      const size_t size = std::min(noisy - at, kPoolBytes - from);
      std::copy_n(pool_.data() + from, size, value_.data() + at);
      at += size;
    }
    return value_;
  }

 private:
  static constexpr size_t kPoolBytes = 64 << 10;
  Random random_;
  double noise_;
  std::vector<char> pool_;
  std::string value_;
};

// One thread at a time; the replay makes one for each of its threads.
class ReplayTarget {
 public:
  virtual ~ReplayTarget() = default;
  virtual Status get(const TraceEntry& get, ReplayFound& found) = 0;
  // Default: one get after the other.
  virtual Status get_many(std::span<const TraceEntry> gets, ReplayFound& found) {
    for (const TraceEntry& each : gets) CELLAR_TRY(get(each, found));
    return {};
  }
  // Reads at most `rows` rows: as many as the application read.
  virtual Status scan(const TraceScan& scan, uint64_t rows, ReplayFound& found) = 0;
  // Carries out an operation that changes rows, with all its entries. Reads among them count as found.
  virtual Status write(const TraceOperation& operation, ReplayValues& values, ReplayFound& found) = 0;
  // Carries out a flush or a compaction.
  virtual Status work(const TraceOperation& operation) = 0;
};

}  // namespace cellar
