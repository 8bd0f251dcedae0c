// Hits by month, day and hour: three counters in one call. The smaller a period, the earlier it is forgotten.
//
//   example_periods STORE LOG
//
// - Table hits: row = page, families m, d and h with one counter for each month, day and hour. The hours are
//   forgotten after one day, the days after 30 days. The program sets the clock of the store.
#include <algorithm>

#include "examples/visits/log_views.h"

namespace {

using namespace example;
constexpr int64_t kDayMs = 86'400'000;

std::string time_text(int64_t ms, const char* form) {
  const time_t seconds = ms / 1000;
  char text[32] = {};
  return {text, strftime(text, sizeof text, form, gmtime(&seconds))};
}

// Compares the counters of a family with the log. A counter expires a time to live after its last increment.
Status compare(Table& hits, const std::vector<View>& views, const std::string& family, const char* form,
               int64_t not_before_ms, std::string_view question, Questions& questions) {
  std::map<std::string, std::pair<int64_t, int64_t>> all;  // page and period to views and the last view
  for (const View& view : views) {
    auto& [sum, last] = all[view.path + " " + time_text(view.time_ms, form)];
    ++sum, last = view.time_ms;
  }
  std::map<std::string, int64_t> expected, found;
  int64_t total = 0;
  for (const auto& [name, counter] : all) {
    if (counter.second >= not_before_ms) expected[name] = counter.first, total += counter.first;
  }
  ReadStats cost;
  CELLAR_TRY_ASSIGN(const auto scanner, hits.scan(Scan().family(family).stats(&cost)));
  int64_t sum = 0;
  for (const RowView row : *scanner) {
    for (const CellView& cell : row) {
      int64_t& value = found[std::string(row.row()) + " " + std::string(cell.qualifier())];
      value = int64_of_plain(cell.value_bytes()).value_or(-1), sum += value;
    }
  }
  CELLAR_TRY(scanner->status());
  CELLAR_TRY(questions.holds("the counters are those of the log", found == expected));
  const auto text = [](size_t counters, int64_t of_all) {
    return std::to_string(counters) + " counters, " + std::to_string(of_all) + " hits";
  };
  return questions.answer(question, text(found.size(), sum), text(expected.size(), total), &cost);
}

Status ask_periods(Table& hits, ManualClock& clock, const std::vector<View>& views, Questions& questions) {
  questions.chapter("Hits by month, day and hour");
  for (const View& view : views) {
    clock.set_ms(view.time_ms);
    const Increment hit = Increment(view.path)
                              .add("m", time_text(view.time_ms, "%Y-%m"), 1)
                              .add("d", time_text(view.time_ms, "%F"), 1)
                              .add("h", time_text(view.time_ms, "%F %H"), 1);
    CELLAR_TRY_ASSIGN(const auto sums, hits.increment(hit));
    CELLAR_TRY(questions.holds("one call, three sums",
                               sums.size() == 3 && sums[0] >= sums[1] && sums[1] >= sums[2]));
  }
  CELLAR_TRY(hits.flush());
  const int64_t end = views.back().time_ms;
  const auto ask = [&](std::string_view when, int64_t now) -> Status {
    clock.set_ms(now);
    questions.say(when);
    CELLAR_TRY(compare(hits, views, "m", "%Y-%m", 0, "months", questions));
    CELLAR_TRY(compare(hits, views, "d", "%F", now - 30 * kDayMs, "days", questions));
    return compare(hits, views, "h", "%F %H", now - kDayMs, "hours", questions);
  };
  CELLAR_TRY(ask("At the end of the log:", end));
  CELLAR_TRY(hits.major_compact());
  CELLAR_TRY(ask("After a compaction, the same answers:", end));
  CELLAR_TRY(ask("Two days later:", end + 2 * kDayMs));
  CELLAR_TRY(hits.major_compact());
  CELLAR_TRY(questions.holds("no file holds an hour any more", hits.info().families[1].files.empty()));
  return ask("40 days later:", end + 40 * kDayMs);
}

// An increment renews the timestamp. So a counter that is never idle never expires.
Status ask_last_increment(Table& hits, ManualClock& clock, Questions& questions) {
  questions.chapter("The time to live begins at the last increment");
  const int64_t start = clock.wall_ms();
  int64_t sum = 0;
  for (int tenth = 0; tenth < 30; ++tenth) {  // three days, ten increments a day
    clock.set_ms(start + tenth * kDayMs / 10);
    CELLAR_TRY_ASSIGN(sum, hits.increment_one("/", "h", "all the time"));
  }
  CELLAR_TRY(questions.answer("One hour counter for three days instead of one for each hour",
                              std::to_string(sum), "30"));
  clock.add_ms(kDayMs);
  CELLAR_TRY_ASSIGN(Row row, hits.get_row(Get("/").column("h", "all the time")));
  CELLAR_TRY(questions.answer("A day after the last increment",
                              std::to_string(row.counter("h", "all the time").value_or(0)), "30"));
  clock.add_ms(1);
  CELLAR_TRY_ASSIGN(row, hits.get_row(Get("/").column("h", "all the time")));
  CELLAR_TRY(
      questions.answer("A day and a millisecond after it", row.empty() ? "nothing" : "something", "nothing"));
  CELLAR_TRY_ASSIGN(sum, hits.increment_one("/", "h", "all the time"));
  return questions.answer("The next increment begins again", std::to_string(sum), "1");
}

Status run(const std::string& path, const std::vector<std::string>& files, Questions& questions) {
  CELLAR_TRY_ASSIGN(const std::vector<View> views, views_by_time(files));
  ManualClock clock(views[0].time_ms);
  EngineOptions options;
  options.environment.clock = &clock;
  options.ttl_clock_guard_s = 0;  // a compaction trusts the clock that leaps
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path, options));
  const FamilyOptions day = {.name = "d", .ttl_s = 30 * kDayMs / 1000};
  const FamilyOptions hour = {.name = "h", .ttl_s = kDayMs / 1000};
  CELLAR_TRY_ASSIGN(const auto hits, engine->create_table("hits", {.families = {{.name = "m"}, day, hour}}));
  CELLAR_TRY(ask_periods(*hits, clock, views, questions));
  CELLAR_TRY(ask_last_increment(*hits, clock, questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "periods_store", run); }
