// The line of progress on standard error.
#include "tools/frame/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "base/text_width.h"
#include "base/utf8.h"

namespace cellar {
namespace {

// A line that wraps could not be wiped: the last column stays free.
size_t width_of_terminal() {
  constexpr size_t kUsual = 80;
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsual) - 1;
}

}  // namespace

TerminalLine& TerminalLine::instance() {
  static TerminalLine line;
  return line;
}

void TerminalLine::draw(std::string_view text) {
  if (!free_) return;
  const std::string safe = printable_utf8(text);
  const std::string line = "\r" + std::string(first_columns(safe, width_of_terminal())) + "\x1b[K";
  drawn_ = true;
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

void TerminalLine::erase() {
  drawn_ = false;
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, "\r\x1b[K", 4);
}

}  // namespace cellar
