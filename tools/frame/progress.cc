// The progress line.
#include "tools/frame/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "tools/frame/colour.h"
#include "tools/frame/terminal_line.h"

namespace cellar {

Progress::Progress(const Session& session, std::string what, uint64_t total, Unit unit)
    : what_(std::move(what)),
      total_(total),
      unit_(unit),
      started_(system_clock().steady_us()),
      terminal_(is_shown(session)) {}

Progress::~Progress() { TerminalLine::instance().wipe(); }

bool Progress::is_shown(const Session& session) {
  return !session.quiet() && ::isatty(STDERR_FILENO) != 0 && !is_dumb_terminal();
}

int64_t Progress::micros() const { return system_clock().steady_us() - started_; }

bool Progress::due() {
  if (!terminal_) return false;
  const int64_t now = system_clock().steady_us();
  constexpr int64_t kFirstAfterUs = 500000;
  constexpr int64_t kEveryUs = 100000;
  if (now - started_ < kFirstAfterUs || now - shown_ < kEveryUs) return false;
  shown_ = now;
  return true;
}

void Progress::show(uint64_t done, uint64_t cells) {
  if (!due()) return;
  if (find_total_) total_ = find_total_();
  find_total_ = nullptr;
  shown_ = 0;
  show(Figures{.done = done, .total = total_, .unit = unit_, .cells = cells});
}

// The most important comes first: a narrow terminal cuts the line.
void Progress::show(const Figures& figures) {
  if (!due()) return;
  const auto amount = [&](uint64_t n) {
    return figures.unit == Unit::kBytes ? human_bytes(n) : counted(n, "cell");
  };
  const auto elapsed = static_cast<double>(std::max<int64_t>(shown_ - started_, 1));
  const bool of_bytes = figures.total > 0 && figures.unit == Unit::kBytes;
  // A word, then what is known; where the work is, such as a long path, comes last.
  const size_t word = std::min(what_.find(' '), what_.size());
  std::string line = what_.substr(0, word);
  if (figures.total > 0 && figures.done > 0) {
    // A total may be an estimate: what is left is never nothing before the end.
    const double share =
        std::min(static_cast<double>(figures.done) / static_cast<double>(figures.total), 0.99);
    const auto left = static_cast<int64_t>(elapsed * (1 - share) / share);
    line += fmt::format("  {:.0f} %  {} left  {} of {}", share * 100, human_micros(left),
                        of_bytes ? human_bytes(figures.done) : human_count(figures.done),
                        amount(std::max(figures.done, figures.total)));
  } else {
    line += "  " + human_micros(shown_ - started_);
  }
  const uint64_t counted_so_far = of_bytes ? figures.done : std::max(figures.cells, figures.done);
  if (counted_so_far > 0)
    line += fmt::format(
        "  {}/s",
        of_bytes ? human_bytes(static_cast<uint64_t>(static_cast<double>(counted_so_far) * 1e6 / elapsed))
                 : human_count(static_cast<uint64_t>(static_cast<double>(counted_so_far) * 1e6 / elapsed)));
  if (figures.cells > 0 && (of_bytes || figures.total == 0)) line += "  " + counted(figures.cells, "cell");
  if (!figures.at.empty()) line += "  " + figures.at;
  if (word < what_.size()) line += "  " + what_.substr(word + 1);
  TerminalLine::instance().draw(line);
}

}  // namespace cellar
