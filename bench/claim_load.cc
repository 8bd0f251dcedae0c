// The claim about the load of a web site (Q24). The lines of an access log, each with three writes, come at
// the rate of the claim or as fast as possible.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "cellar/keys.h"

namespace cellar::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kQ24Cookies = 100'000;
constexpr uint64_t kQ24Pages = 2000;
constexpr double kQ24Rate = 4000;
constexpr double kQ24LinesOfYear = 36.5e9;

// Q24Site: the three tables of a site. A line writes a page view, whose row is a cookie and a reversed time.
// It adds one to the counter of the visitor's page. It writes the page with this count as its timestamp. So
// the most viewed page shows.
class Q24Site {
 public:
  Q24Site()
      : views_({.families = {{.name = "r"}, {.name = "s"}, {.name = "p"}, {.name = "z"}}}),
        counts_(views_.add_table("counts", {.families = {{.name = "u"}}})),
        favourites_(views_.add_table("favourites", {.families = {{.name = "c"}}})) {}

  Status write(uint64_t number) {
    const std::string cookie = numbered("cookie", mixed(number) % kQ24Cookies);
    const std::string page =
        numbered("/shop/page", random_.below(kQ24Pages) * random_.below(kQ24Pages) / kQ24Pages);
    Put view(cookie + reversed_time(1'700'000'000'000'000 + static_cast<int64_t>(number)));
    view.add("r", "", "https://search.example/?q=" + text_of(number, 150));
    if (number % 5 == 0) view.add("s", "", text_of(number + 1, 30));
    view.add("p", "", page + " " + text_of(number + 2, 400));
    if (number % 50 == 0) view.add("z", "cart", text_of(number + 3, 60));
    CELLAR_TRY(views_.rows().put(view));
    CELLAR_TRY_ASSIGN(const std::vector<int64_t> count,
                      counts_->increment(Increment(cookie).add("u", page, 1)));
    return favourites_->put(Put(cookie).add_at("c", "page", count.front(), page));
  }

  // Returns the number of page views that are stored, which the counters have to add up to.
  bool holds(uint64_t lines) {
    const RangeCount rows = must(views_.rows().count());
    int64_t sum = 0;
    const std::unique_ptr<Scanner> scanner = must(counts_->scan({}));
    while (scanner->next())
      for (const CellView& cell : scanner->row()) sum += int64_of_plain(cell.value_bytes()).value_or(0);
    must(scanner->status());
    return rows.rows == lines && sum == static_cast<int64_t>(lines);
  }
  // Returns the bytes of all files, after everything is in files and compacted.
  uint64_t settled_bytes() {
    must(views_.engine().flush());
    must(views_.engine().wait_for_background());
    return views_.file_bytes();
  }
  EngineStatus status() { return views_.engine().status(); }

 private:
  WritableStore views_;
  std::shared_ptr<Table> counts_;
  std::shared_ptr<Table> favourites_;
  Random random_{24};
};

double process_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A paced line is due at a time of its own, and its latency counts from there. So a line that waits for the
// one before it is late.
void q24(benchmark::State& state, bool paced) {
  for (auto unused : state) {
    static_cast<void>(unused);
    Q24Site site;
    const std::chrono::duration<double> length(static_cast<double>(scaled(paced ? 120 : 30, 1)));
    std::vector<double> micros;
    const double processor = process_seconds();
    const auto begin = SteadyClock::now();
    uint64_t lines = 0;
    for (; SteadyClock::now() - begin < length; ++lines) {
      auto due = SteadyClock::now();
      if (paced) {
        due = begin + std::chrono::duration_cast<SteadyClock::duration>(
                          std::chrono::duration<double>(static_cast<double>(lines) / kQ24Rate));
        std::this_thread::sleep_until(due);
      }
      must(site.write(lines));
      micros.push_back(std::chrono::duration<double>(SteadyClock::now() - due).count() * 1e6);
    }
    const std::chrono::duration<double> time = SteadyClock::now() - begin;
    state.SetIterationTime(time.count());
    const uint64_t stalls = site.status().stalls;
    const double bytes = static_cast<double>(site.settled_bytes()) / static_cast<double>(lines);
    state.counters["lines/s"] = static_cast<double>(lines) / time.count();
    state.counters["µs of processor"] = (process_seconds() - processor) * 1e6 / static_cast<double>(lines);
    state.counters["bytes per line"] = bytes;
    state.counters["TB a year"] = bytes * kQ24LinesOfYear / 1e12;
    state.counters["stalls"] = static_cast<double>(stalls);
    report_times(state, micros);
    expect(state, site.holds(lines), "a line is missing, or counted twice");
  }
}

[[maybe_unused]] const bool registered_load = [] {
  for (const bool paced : {true, false})
    once(claim(fmt::format("Q24_log_lines/rate:{}", paced ? "4000" : "greatest"),
               [=](benchmark::State& state) { q24(state, paced); }))
        ->Repetitions(1);
  return true;
}();

}  // namespace
}  // namespace cellar::bench
