// Progress: one line on standard error that says how far a long command is. Only on a terminal, only after
// half a second. Answers on the same terminal are never mixed with it: see TerminalLine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/frame/session.h"

namespace cellar {

// One thread. The line is wiped by the destructor.
class Progress {
 public:
  // `done` and `total` count bytes or cells.
  enum class Unit : uint8_t { kBytes, kCells };
  struct Figures {
    uint64_t done = 0;
    uint64_t total = 0;  // 0: not known
    Unit unit = Unit::kCells;
    uint64_t cells = 0;   // cells so far, where `done` counts bytes; 0: not shown
    std::string at = {};  // where the work is, such as a file or a family
  };

  // `total` is 0 if it is not known.
  Progress(const Session& session, std::string what, uint64_t total = 0, Unit unit = Unit::kBytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Returns whether progress is drawn: there is a terminal that can, and no --quiet.
  static bool is_shown(const Session& session);

  // Finds the total when the line is first drawn, because finding it costs something.
  void find_total(std::function<uint64_t()> find) { find_total_ = std::move(find); }

  // Cheap: looks at the clock every 256th call. `done` is shown only with a total.
  void step(uint64_t done, uint64_t cells) {
    if ((++calls_ & 255) == 0) show(done, cells);
  }
  // The same for callers that come seldom.
  void show(uint64_t done, uint64_t cells);
  void show(const Figures& figures);
  int64_t micros() const;

 private:
  bool due();

  std::string what_;
  uint64_t total_;
  Unit unit_;
  std::function<uint64_t()> find_total_;
  int64_t started_;
  int64_t shown_ = 0;
  uint64_t calls_ = 0;
  bool terminal_;
};

}  // namespace cellar
