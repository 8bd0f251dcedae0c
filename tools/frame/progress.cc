// The progress line.
#include "tools/frame/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cellar/environment.h"
#include "tools/frame/terminal_line.h"

namespace cellar {

Progress::Progress(const Session& session, std::string what, uint64_t total, Unit unit)
    : what_(std::move(what)),
      total_(total),
      unit_(unit),
      started_(system_clock().steady_us()),
      terminal_(!session.quiet() && ::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { TerminalLine::instance().wipe(); }

int64_t Progress::micros() const { return system_clock().steady_us() - started_; }

void Progress::show(uint64_t done, uint64_t cells) {
  if (!terminal_) return;
  const int64_t now = system_clock().steady_us();
  constexpr int64_t kFirstAfterUs = 500000;
  constexpr int64_t kEveryUs = 100000;
  if (now - started_ < kFirstAfterUs || now - shown_ < kEveryUs) return;
  shown_ = now;
  std::string line = fmt::format("{}  {} cells", what_, human_count(cells));
  if (total_ > 0 && done > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(total_);
    const double left = static_cast<double>(now - started_) * (1 - share) / share;
    const auto amount = [&](uint64_t n) { return unit_ == Unit::kBytes ? human_bytes(n) : human_count(n); };
    const auto rate =
        static_cast<uint64_t>(static_cast<double>(done) * 1e6 / static_cast<double>(now - started_));
    line += fmt::format("  {:.0f} %  {} of {}  {}/s  {} left", share * 100, amount(done), amount(total_),
                        amount(rate), human_micros(static_cast<int64_t>(left < 0 ? 0 : left)));
  }
  TerminalLine::instance().draw(line);
}

}  // namespace cellar
