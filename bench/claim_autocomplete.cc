// Claims about autocompletion. Q19 is the time of a keystroke in the store, Q20 the growth of the table. The
// folder examples/autocomplete has the web service.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "bench/completions.h"

namespace cellar::bench {
namespace {

// The titles of this number of draws, kept from case to case.
const std::vector<std::string>& titles_of(size_t draws) {
  static size_t kept = 0;
  static std::vector<std::string> titles;
  if (kept != draws) titles = made_up_titles(kept = draws);
  return titles;
}

Bed& autocomplete_bed(size_t draws) {
  return Bed::of(fmt::format("autocomplete {}", draws), [=] {
    BedPlan plan;
    plan.table.families = {{.name = "j"}};
    plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
      Batch batch;
      for (const auto& [prefix, json] : completions_of(titles_of(draws))) {
        batch.put(table, Put(prefix).add_at("j", "", 1, json));
        CELLAR_TRY(write_batch(engine, batch, false));
      }
      return write_batch(engine, batch, true);
    };
    return plan;
  });
}

// ---- Q19: somebody types a title, letter by letter ----

// Calls ask(prefix, exists) for each keystroke from the third letter on. A title that is mistyped has a wrong
// fifth letter, so that no row has what follows.
void q19_type(const std::string& title, bool mistyped,
              const std::function<void(const std::string&, bool)>& ask) {
  std::string typed = title;
  if (mistyped && typed.size() > 4) typed[4] = '#';
  for (size_t size = kPrefixMin; size <= std::min(kPrefixMax, typed.size()); ++size)
    ask(typed.substr(0, size), !mistyped || size <= 4 || title.size() <= 4);
}

void q19(benchmark::State& state, bool mistyped, bool cached) {
  const size_t draws = scaled(100'000, 2000);
  Table& table = ready(autocomplete_bed(draws), cached);
  const std::vector<std::string>& titles = titles_of(draws);
  Random random(19);
  RowBatch batch;
  ReadStats stats;
  std::vector<double> micros;
  bool right = true;
  for (auto unused : state) {
    static_cast<void>(unused);
    q19_type(titles[random.below(titles.size())], mistyped, [&](const std::string& prefix, bool exists) {
      const auto begin = std::chrono::steady_clock::now();
      must(table.get_into(Get(prefix).fill_cache(cached).stats(&stats), batch));
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      micros.push_back(time.count() * 1e6);
      right = right && batch.empty() != exists;
    });
  }
  report(state, stats);
  const auto keystrokes = static_cast<double>(micros.size());
  state.counters["keystrokes"] = benchmark::Counter(keystrokes, benchmark::Counter::kAvgIterations);
  state.counters["blocks per keystroke"] =
      static_cast<double>(stats.blocks_from_cache + stats.blocks_from_disk) / keystrokes;
  state.counters["files per keystroke"] =
      static_cast<double>(stats.files_considered - stats.files_skipped_bloom - stats.files_skipped_range) /
      keystrokes;
  report_times(state, micros);
  expect(state, right, "a completion is missing, or one too many");
}

void register_q19() {
  for (const bool cached : {true, false}) {
    for (const bool mistyped : {false, true})
      claim(fmt::format("Q19_keystrokes/from:{}/typed:{}", cached ? "engine_cache" : "system_cache",
                        mistyped ? "with_a_mistake" : "titles"),
            [=](benchmark::State& state) { q19(state, mistyped, cached); })
          ->Iterations(static_cast<benchmark::IterationCount>(scaled(5000, 100)));
  }
}

// ---- Q20: rows and bytes by the number of titles ----

void q20(benchmark::State& state, size_t draws) {
  Bed& bed = autocomplete_bed(scaled(draws, 500));
  Table& table = ready(bed, true);
  const std::vector<std::string>& titles = titles_of(scaled(draws, 500));
  Random random(20);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    const std::string& title = titles[random.below(titles.size())];
    const size_t size = kPrefixMin + random.below(std::min(kPrefixMax, title.size()) - kPrefixMin + 1);
    return get_cells(table, Get(title.substr(0, size)).stats(&stats), cells);
  });
  expect_each(state, cells, 1);
  const auto count = static_cast<double>(titles.size());
  const auto rows = static_cast<double>(must(table.count()).rows);
  double letters = 0;
  for (const std::string& title : titles) letters += static_cast<double>(title.size());
  state.counters["number of titles"] = count;
  state.counters["letters per title"] = letters / count;
  state.counters["rows"] = rows;
  state.counters["rows per title"] = rows / count;
  state.counters["MB"] = static_cast<double>(bed.file_bytes()) / 1e6;
  state.counters["bytes per row"] = static_cast<double>(bed.file_bytes()) / rows;
}

void register_q20() {
  for (const size_t draws : {1000, 10'000, 100'000, 300'000})
    claim(fmt::format("Q20_rows_of_titles/titles:{}", draws),
          [=](benchmark::State& state) { q20(state, draws); });
}

[[maybe_unused]] const bool registered_autocomplete = [] {
  register_q20();
  register_q19();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
