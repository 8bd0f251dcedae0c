// Pager: the program that shows long answers a page at a time, such as less.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cellar {

// Returns the words of the pager's command line: of CELLAR_PAGER if it is set, else of PAGER, else "less".
// Empty if there is to be none: the variable is empty or "cat", or the terminal is dumb.
std::vector<std::string> pager_words();

// One thread.
class Pager {
 public:
  Pager() = default;
  ~Pager() { finish(); }
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  // Starts the program and returns the descriptor that its input is written to; -1 if it cannot be started.
  // The environment variable LESS has its options, by default FRX. With these, less ends by itself if all
  // fits the screen, shows colours, and leaves the text on the screen.
  int start();
  bool is_running() const { return child_ > 0; }
  // Closes the input and waits until the person has left the program.
  void finish();

 private:
  pid_t child_ = 0;
  int input_ = -1;
};

}  // namespace cellar
