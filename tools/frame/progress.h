// Progress: one line on standard error that says how far a long command is. Only on a terminal, only after
// half a second. Answers on the same terminal are never mixed with it: see TerminalLine.
#pragma once

#include <cstdint>
#include <string>

#include "tools/frame/session.h"

namespace cellar {

// One thread. The line is wiped by the destructor.
class Progress {
 public:
  // What `done` and `total` count.
  enum class Unit : uint8_t { kBytes, kCells };
  // `total` is 0 when it is not known.
  Progress(const Session& session, std::string what, uint64_t total, Unit unit = Unit::kBytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: looks at the clock every 256th call. `cells` is counted beside what is done.
  void step(uint64_t done, uint64_t cells) {
    if ((++calls_ & 255) == 0) show(done, cells);
  }
  int64_t micros() const;

  // The same without the count of calls, for those that come seldom.
  void show(uint64_t done, uint64_t cells);

 private:
  std::string what_;
  uint64_t total_;
  Unit unit_;
  int64_t started_;
  int64_t shown_ = 0;
  uint64_t calls_ = 0;
  bool terminal_;
};

}  // namespace cellar
