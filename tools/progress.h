// Progress: one line on standard error that says how far a long command is. Only on a terminal, only after
// half a second.
#pragma once

#include <cstdint>
#include <string>

#include "tools/session.h"

namespace cellar {

// One thread. The line is wiped by the destructor.
class Progress {
 public:
  // `total` in the unit of done, 0 when it is not known.
  Progress(const Session& session, std::string what, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: looks at the clock every 256th call. `cells` is counted beside what is done.
  void step(uint64_t done, uint64_t cells) {
    if ((++calls_ & 255) == 0) show(done, cells);
  }
  int64_t micros() const;

 private:
  void show(uint64_t done, uint64_t cells);
  std::string what_;
  uint64_t total_;
  int64_t started_;
  int64_t shown_ = 0;
  uint64_t calls_ = 0;
  bool terminal_;
};

}  // namespace cellar
