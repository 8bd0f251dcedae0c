// The rows that the comparisons of operations use, and how they measure. BenchRows.java has the same.
#pragma once

#include <fmt/format.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "cellar/cell.h"
#include "cellar/status.h"

namespace cellar::interop {

inline constexpr uint64_t kPool = 1000;  // of values
inline constexpr uint64_t kStep = 7919;  // a prime: a walk that jumps far at each step

inline double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Half of it looks like chance.
inline std::string value_at(uint64_t index) {
  std::string value(100, 'v');
  uint64_t state = index;
  for (size_t i = 0; i < 50; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value[i] = static_cast<char>('a' + (state >> 33) % 26);
  }
  return value;
}

inline std::string row_at(uint64_t index) { return fmt::format("user{:012}", index); }
// The row at step k of the walk over `rows` rows.
inline std::string far_row(uint64_t k, uint64_t rows) { return row_at(k * kStep % rows); }

inline uint64_t looked_at(const CellView& cell) {
  return cell.row_size + cell.qualifier().size() + cell.value_size +
         static_cast<uint8_t>(cell.value_bytes().back());
}

// Does `work(sum)`, and prints what it took. The processor time is that of all threads.
template <class Work>
Status measure(const char* name, uint64_t operations, const Work& work) {
  const double wall = seconds(CLOCK_MONOTONIC);
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  uint64_t sum = 0;
  CELLAR_TRY(work(sum).with_context(name));
  std::printf(R"({"engine":"cellar","work":"%s","operations":%llu,"wall":%.6f,"cpu":%.6f,"sum":%lld})"
              "\n",
              name, static_cast<unsigned long long>(operations), seconds(CLOCK_MONOTONIC) - wall,
              seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, static_cast<long long>(sum));
  return {};
}

}  // namespace cellar::interop
