// Meter: what a stretch of the run cost: time, processor, bytes written, memory, and what others took
// meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "bench/driver/peer.h"
#include "bench/workload/histogram.h"

namespace cellar::bench {

int64_t steady_ns();
// Returns the number after `key` in a file of "key: number" lines; 0 if the kernel does not report it.
uint64_t account(const char* path, const std::string& key);
// Returns the name of the processor; "unknown" if the kernel does not tell it.
std::string processor();

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;      // of this process, background threads included
  double foreign_seconds = 0;  // of everything else on the machine, kernel threads included
  uint64_t bytes_written = 0;  // pages this process made dirty or wrote, as the kernel counts them
  uint64_t peak_memory = 0;    // resident, since the beginning of the stretch
};

// Begins when it is made.
class Meter {
 public:
  Meter();
  Cost stop() const;

 private:
  int64_t begin_ns_ = 0;
  double cpu_ = 0;
  double machine_ = 0;
  uint64_t written_ = 0;
};

// Bytes that this process passed to and got from the calls that write and read, as the kernel counts them.
// Mapped files are not counted.
FileBytes bytes_of_calls();
// Bytes that the files below `path` take up.
uint64_t bytes_on_disk(const std::string& path);
// Returns the number of files below `path`.
uint64_t files_below(const std::string& path);
// Takes the files below `path` out of the page cache, as far as they are clean and not mapped.
void drop_pages(const std::string& path);
// Reads them all, so that they are in it.
void load_pages(const std::string& path);

// Calls op(i) for i in [begin, end) and keeps the time of each call.
template <class Op>
void timed(uint64_t begin, uint64_t end, Histogram& times, Op&& op) {
  int64_t before = steady_ns();
  for (uint64_t i = begin; i < end; ++i) {
    op(i);
    const int64_t after = steady_ns();
    times.add(static_cast<uint64_t>(after - before));
    before = after;
  }
}

}  // namespace cellar::bench
