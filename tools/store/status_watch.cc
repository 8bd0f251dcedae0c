// StatusWatch: a reader that refreshes in each period, and the differences between two periods.
#include "tools/store/status_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/bytes.h"
#include "base/text_width.h"
#include "base/utf8.h"
#include "cellar/environment.h"
#include "cellar/metrics.h"
#include "tools/frame/colour.h"
#include "tools/frame/operands.h"
#include "tools/store/store.h"
#include "tools/store/store_reports.h"

namespace cellar {
namespace {

// The figures of a store at one moment that the watch compares.
struct WatchSample {
  int64_t at_us = 0;
  int64_t wall_ms = 0;
  EngineStatus status;
  uint64_t bytes_put = 0;
  uint64_t bytes_flushed = 0;
  uint64_t bytes_compacted = 0;
  double write_amplification = 0;
  double read_amplification = 0;
  double space_amplification = 0;
};

WatchSample sample_of(Engine& engine) {
  WatchSample sample;
  sample.at_us = system_clock().steady_us();
  sample.wall_ms = system_clock().wall_ms();
  const Metrics metrics = engine.metrics();
  sample.status = metrics.status;
  for (const TableInfo& table : metrics.tables)
    for (const FamilyInfo& family : table.families) {
      sample.bytes_put += family.bytes_put;
      sample.bytes_flushed += family.bytes_flushed;
      sample.bytes_compacted += family.bytes_compacted;
    }
  sample.write_amplification = metrics.write_amplification();
  sample.read_amplification = metrics.read_amplification();
  sample.space_amplification = metrics.space_amplification();
  return sample;
}

// Returns by how much a figure grew in a second. A dropped table takes its totals along: that is no growth.
double rate(uint64_t before, uint64_t now, double seconds) {
  return now <= before || seconds <= 0 ? 0 : static_cast<double>(now - before) / seconds;
}

std::string byte_rate(uint64_t before, uint64_t now, double seconds) {
  return human_bytes(static_cast<uint64_t>(rate(before, now, seconds))) + "/s";
}

std::string count_rate(uint64_t before, uint64_t now, double seconds) {
  return human_count(static_cast<uint64_t>(rate(before, now, seconds))) + "/s";
}

// "18:04:11" of a time of day in UTC.
std::string clock_text(int64_t wall_ms) { return time_text(wall_ms).substr(11, 8); }

constexpr std::string_view kLineHeading =
    "time       writes/s         put/s     flushed/s   compacted/s   in memory         log   files        "
    "size   runs\n";

// `before` is null for the first line, which has no rates.
std::string line_of(const WatchSample* before, const WatchSample& now) {
  std::string writes = "-";
  std::string put = "-";
  std::string flushed = "-";
  std::string compacted = "-";
  if (before != nullptr) {
    const double seconds = static_cast<double>(now.at_us - before->at_us) / 1e6;
    writes = human_count(
        static_cast<uint64_t>(rate(before->status.last_sequence, now.status.last_sequence, seconds)));
    put = byte_rate(before->bytes_put, now.bytes_put, seconds);
    flushed = byte_rate(before->bytes_flushed, now.bytes_flushed, seconds);
    compacted = byte_rate(before->bytes_compacted, now.bytes_compacted, seconds);
  }
  return fmt::format("{:<8} {:>10} {:>13} {:>13} {:>13} {:>11} {:>11} {:>7} {:>11} {:>6}\n",
                     clock_text(now.wall_ms), writes, put, flushed, compacted,
                     human_bytes(now.status.memtable_bytes), human_bytes(now.status.log_bytes),
                     human_count(now.status.store_files), human_bytes(now.status.store_bytes),
                     static_cast<uint64_t>(now.read_amplification));
}

std::string screen_of(const WatchSample* before, const WatchSample& now, int64_t period_ms) {
  const EngineStatus& status = now.status;
  const double seconds = before == nullptr ? 0 : static_cast<double>(now.at_us - before->at_us) / 1e6;
  const WatchSample& old = before == nullptr ? now : *before;
  std::string text = fmt::format("store {}  {}, every {}; Ctrl-C ends\n", status.path,
                                 clock_text(now.wall_ms), human_micros(period_ms * 1000));
  const auto line = [&](std::string_view name, const std::string& value, const std::string& speed) {
    text += fmt::format("  {:<10} {:<24} {}\n", name, value, before == nullptr ? "" : speed);
  };
  line("writes", human_count(status.last_sequence),
       count_rate(old.status.last_sequence, status.last_sequence, seconds));
  line("put", human_bytes(now.bytes_put), byte_rate(old.bytes_put, now.bytes_put, seconds));
  line("flushed", human_bytes(now.bytes_flushed), byte_rate(old.bytes_flushed, now.bytes_flushed, seconds));
  line("compacted", human_bytes(now.bytes_compacted),
       byte_rate(old.bytes_compacted, now.bytes_compacted, seconds));
  line("in memory", human_bytes(status.memtable_bytes), "");
  line("log", fmt::format("{}, {}", counted(status.log_segments, "segment"), human_bytes(status.log_bytes)),
       "");
  line("files", fmt::format("{}, {}", human_count(status.store_files), human_bytes(status.store_bytes)), "");
  text += fmt::format("  {:<10} write {:.2f}, read {:.0f}, space {:.2f}\n", "amplified",
                      now.write_amplification, now.read_amplification, now.space_amplification);
  return text;
}

// Screen: a text at the terminal that the next one replaces. It writes past the Output, which would show the
// escape sequences. One thread.
class Screen {
 public:
  // The size is that of now. After the window has changed, lines may be wrapped: the whole screen is cleared.
  void draw(std::string_view text, size_t columns, size_t rows) {
    std::string bytes;
    if (lines_ != 0)
      bytes = columns == columns_ && rows == rows_ ? fmt::format("\x1b[{}A", lines_) : "\x1b[H\x1b[2J";
    columns_ = columns;
    rows_ = rows;
    lines_ = 0;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      const std::string line = printable_utf8(text.substr(0, end));
      bytes += std::string(first_columns(line, columns - 1)) + "\x1b[K\n";
      text.remove_prefix(end + 1);
      ++lines_;
    }
    bytes += "\x1b[J";  // the text before may have had more lines
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
      if (n <= 0) return;
      at += static_cast<size_t>(n);
    }
  }

 private:
  size_t columns_ = 0;
  size_t rows_ = 0;
  size_t lines_ = 0;  // of the text on the screen
};

// Watch: shows one state after the other. One thread.
class Watch {
 public:
  Watch(Session& session, const std::string& store, int64_t period_ms)
      : session_(session), store_(store), period_ms_(period_ms) {}

  // Shows the state as of now. A store that cannot be read for a moment, as while its program starts anew,
  // ends the watch only if it never could.
  Status show() {
    const Status status = look();
    if (!status.ok() && !shown_) return status;
    shown_ = true;
    if (!status.ok()) return show_failure(status);
    const WatchSample now = sample_of(*engine_);
    const WatchSample* const old = before_.has_value() ? &*before_ : nullptr;
    const bool lines = session_.format() == Format::kTable;
    if (!lines)
      print_status(session_, *engine_);
    else if (!drawn(screen_of(old, now, period_ms_)))
      say(line_of(old, now));
    before_ = now;
    return {};
  }

 private:
  // Another store may have taken the place of the one that was read. It needs a new reader.
  Status look() {
    if (engine_ != nullptr && engine_->refresh().ok()) return {};
    engine_.reset();
    CELLAR_TRY_ASSIGN(engine_, open_store(session_, store_, OpenFor::kLooking));
    return {};
  }
  // Draws a text, if there is a terminal with place for it.
  bool drawn(const std::string& text) {
    Output& out = session_.out();
    const size_t columns = out.columns();
    const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
    if (columns == SIZE_MAX || columns < 2 || lines >= out.rows() || is_dumb_terminal()) return false;
    screen_.draw(text, columns, out.rows());
    return true;
  }
  void say(const std::string& line) {
    if (!headed_) session_.out().write(kLineHeading);
    headed_ = true;
    session_.out().write(line);
  }
  Status show_failure(const Status& status) {
    static_cast<void>(session_.name_failure({}, Exit::kCannot, {}));  // the watch has not failed
    if (session_.format() != Format::kTable) return {};               // an object is that of a store
    const std::string time = clock_text(system_clock().wall_ms());
    const std::string text = escaped_controls(status.to_text());
    if (!drawn(fmt::format("store {}  {}\n  {}\n", store_, time, text)))
      say(fmt::format("{:<8} {}\n", time, text));
    return {};
  }

  Session& session_;
  const std::string& store_;
  const int64_t period_ms_;
  Screen screen_;
  std::unique_ptr<Engine> engine_;  // null until the store could be read
  std::optional<WatchSample> before_;
  bool shown_ = false;
  bool headed_ = false;
};

// Waits, but not on after an interrupt.
void wait_until(const Session& session, int64_t until_us) {
  constexpr int64_t kStepUs = 20'000;
  while (!session.stopping()) {
    const int64_t left_us = until_us - system_clock().steady_us();
    if (left_us <= 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(left_us, kStepUs)));
  }
}

}  // namespace

Result<int64_t> parse_period_ms(std::string_view text) {
  constexpr int64_t kDayMs = 86'400'000;
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  CELLAR_TRY_ASSIGN(const int64_t ms, parse_duration_ms(plain ? std::string(text) + "s" : std::string(text)));
  if (ms >= 100 && ms <= kDayMs) return ms;
  return Status::invalid_argument("\"" + escaped(text) + "\" is not a period from 100ms to 1d")
      .hinting("write 2, 2s or 500ms");
}

Status watch_store(Session& session, const std::string& store, int64_t period_ms, uint64_t rounds) {
  Watch watch(session, store, period_ms);
  for (uint64_t round = 0; !session.stopping(); ++round) {
    const int64_t begun_us = system_clock().steady_us();
    CELLAR_TRY(watch.show());
    session.out().flush();
    if (rounds != 0 && round + 1 >= rounds) return {};
    const int64_t took_us = system_clock().steady_us() - begun_us;
    wait_until(session, begun_us + std::max(period_ms * 1000, 4 * took_us));
  }
  return interrupted() ? interrupted_status("the store is as it was") : Status();
}

}  // namespace cellar
