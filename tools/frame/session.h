// Session: one run of the program: where it prints, how it ends, and whether it shall stop.
#pragma once

#include <string>
#include <string_view>

#include "cellar/status.h"
#include "tools/frame/output.h"

namespace cellar {

// How the program ends. The numbers are a promise to scripts.
enum class Exit : int {
  kFine = 0,
  kNegative = 1,  // the answer is no: damaged, row not found
  kUsage = 2,
  kCannot = 3,        // cannot read, open or lock
  kNotSupported = 4,  // sound, but not for this build
  kInternal = 5,
  kInterrupted = 130,  // by SIGINT
  kTerminated = 143,   // by SIGTERM
};

// One thread.
class Session {
 public:
  explicit Session(Output& out) : out_(out) {}

  Output& out() { return out_; }
  Format format() const { return format_; }
  bool json_errors() const { return format_ == Format::kJson || format_ == Format::kJsonl; }
  // A table is for people: its control characters are escaped wherever it goes.
  void set_format(Format format) {
    format_ = format;
    out_.set_for_people(format == Format::kTable);
  }
  void set_quiet(bool quiet) { quiet_ = quiet; }
  bool quiet() const { return quiet_; }

  // A line for people, on standard error; nothing when quiet.
  void talk(std::string_view line) const;
  // How it ends unless an error ends it otherwise.
  void answer(Exit exit) { exit_ = exit; }
  void answer_negative() { answer(Exit::kNegative); }
  // Records the code and the exit status of the error that the command is about to return. Returns `status`.
  Status name_failure(std::string code, Exit exit, Status status);
  // Prints the error, or nothing when ok; the exit status.
  Exit end(const Status& status);
  // Returns whether a loop that prints is to end: it is interrupted, nobody reads what it prints, or standard
  // output cannot be written.
  bool stopping() const;

 private:
  void say(std::string_view message) const;

  Output& out_;
  Format format_ = Format::kTable;
  bool quiet_ = false;
  Exit exit_ = Exit::kFine;
  std::string failure_code_;
  Exit failure_exit_ = Exit::kFine;
};

// Returns how many bytes a decompressed block of an HFile may have: 16 MiB, unless CELLAR_MAX_BLOCK sets
// another limit. A command holds a few such blocks and their printed form. With 16 MiB it stays below 256 MiB
// for every file.
uint64_t block_bytes_max();
void set_block_bytes_max(uint64_t bytes);

// SIGINT or SIGTERM sets a flag, once; the second one ends the program at once. SIGPIPE is an error of
// write().
void install_signal_handlers();
bool interrupted();
// At a prompt, where an interrupt ends what was asked for and not the program.
void forget_interrupt();
// Returns the error of a command that ended because of the flag.
Status interrupted_status(std::string_view what_remains);

// ExitOnInterrupt: while it lives, SIGINT or SIGTERM ends the program at once with 130 or 143 and this line.
// For work inside the engine that is safe to leave at any point. `line` must outlive it.
class ExitOnInterrupt {
 public:
  explicit ExitOnInterrupt(std::string_view line);
  ~ExitOnInterrupt();
  ExitOnInterrupt(const ExitOnInterrupt&) = delete;
  ExitOnInterrupt& operator=(const ExitOnInterrupt&) = delete;
};

}  // namespace cellar
