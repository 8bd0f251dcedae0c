// TerminalLine: the one line that a command draws at the terminal while it works, such as its progress.
#pragma once

#include <string_view>

namespace cellar {

// Answers and errors go to the same screen: Output and Session wipe the line before they write there. There
// is one for each process, as there is one standard error. One thread.
class TerminalLine {
 public:
  static TerminalLine& instance();

  // Puts `text` in the place of the line drawn before, cut to the width of the terminal, without control
  // characters. Does nothing while an answer stands unfinished in that line of the screen.
  void draw(std::string_view text);
  // Takes the line away. Cheap when nothing is drawn.
  void wipe() {
    if (drawn_) erase();
  }
  // Answers were written to a terminal; `last` is their last byte.
  void answered(char last) { free_ = last == '\n'; }
  // Forbids drawing while another program has the terminal.
  void set_free(bool free) {
    wipe();
    free_ = free;
  }

 private:
  void erase();

  bool drawn_ = false;
  bool free_ = true;  // the cursor stands where a line begins
};

}  // namespace cellar
