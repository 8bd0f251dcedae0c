// A rolling aggregate without a job that deletes: the mean speed of vehicles over the last ten minutes.
//
//   example_rolling [STORE]
//
// - Table samples: row = vehicle, column s:speed, one version for each sample. The time to live is 600 s.
// - Table minutes: two counters for each minute, sum and count. A read of them examines 23 cells, not 607.
#include <map>
#include <optional>

#include "examples/application.h"

namespace {

using namespace example;
constexpr int64_t kWindowMs = 600'000;
constexpr int64_t kStartMs = 1'767'225'600'000;
constexpr int kVehicles = 5;

struct Sum {
  int64_t sum = 0, count = 0;
};

std::string text(const Sum& sum) { return std::to_string(sum.sum) + " / " + std::to_string(sum.count); }

// All samples, for the answers without Cellar.
using Samples = std::map<int64_t, int64_t>;  // time in ms to speed
struct Tables {
  std::shared_ptr<Table> samples, minutes;
};

std::string vehicle(int number) { return "truck-" + std::to_string(number); }
std::string minute_of(int64_t ms) { return plain_int64(ms / 60'000); }

Status record(const Tables& tables, const std::string& row, int64_t now, int64_t speed) {
  CELLAR_TRY(tables.samples->put(Put(row).add("s", "speed", plain_int64(speed))));
  const std::string minute = minute_of(now);
  return Status(
      tables.minutes->increment(Increment(row).add("s", minute + "sum", speed).add("s", minute + "count", 1))
          .status());
}

// Sums what is visible. Which samples are visible is left to the time to live.
Result<Sum> by_samples(Table& samples, const std::string& row, ReadStats* cost = nullptr) {
  const Scan of_row = Scan().start(row).stop(row, true).all_versions().stats(cost);
  CELLAR_TRY_ASSIGN(const Aggregate<int64_t> found, aggregate<int64_t>(samples, of_row));
  return Sum{found.sum, static_cast<int64_t>(found.values)};
}

Result<Sum> by_minutes(Table& minutes, const std::string& row, ReadStats* cost = nullptr) {
  CELLAR_TRY_ASSIGN(const RowBatch found, minutes.get(Get(row).stats(cost)));
  Sum sum;
  for (const CellView& cell : found.row())
    (cell.qualifier().ends_with("sum") ? sum.sum : sum.count) += cell.counter().value_or(0);
  return sum;
}

// A sample is in the window if its timestamp is not before now - 600 s.
Sum expected_samples(const Samples& samples, int64_t now) {
  Sum sum;
  for (auto at = samples.lower_bound(now - kWindowMs); at != samples.end(); ++at)
    sum.sum += at->second, ++sum.count;
  return sum;
}

// The counters of a minute are visible as long as its last sample is.
Sum expected_minutes(const Samples& samples, int64_t now) {
  const auto first = samples.lower_bound(now - kWindowMs);
  Sum sum;
  if (first == samples.end()) return sum;
  for (auto at = samples.lower_bound(first->first / 60'000 * 60'000); at != samples.end(); ++at)
    sum.sum += at->second, ++sum.count;
  return sum;
}

Status compare(const Tables& tables, const std::map<std::string, Samples>& all, int64_t now,
               Questions& questions) {
  for (const auto& [row, samples] : all) {
    CELLAR_TRY_ASSIGN(const Sum exact, by_samples(*tables.samples, row));
    CELLAR_TRY(
        questions.same("samples of the last ten minutes", text(exact), text(expected_samples(samples, now))));
    CELLAR_TRY_ASSIGN(const Sum coarse, by_minutes(*tables.minutes, row));
    CELLAR_TRY(questions.same("minutes of the last ten minutes", text(coarse),
                              text(expected_minutes(samples, now))));
  }
  return {};
}

// An hour of samples, one a second. Every 37 s the answers are compared. Flushes come in between.
Status drive(const Tables& tables, ManualClock& clock, std::map<std::string, Samples>& all,
             Questions& questions) {
  uint64_t random = 7;
  for (int64_t second = 0; second < 3600; ++second) {
    const int64_t now = kStartMs + second * 1000;
    clock.set_ms(now);
    for (int number = 0; number < kVehicles; ++number) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto speed = static_cast<int64_t>(random >> 58);
      CELLAR_TRY(record(tables, vehicle(number), now, speed));
      all[vehicle(number)][now] = speed;
    }
    if (second % 500 == 499) CELLAR_TRY(tables.samples->flush());
    if (second % 1700 == 1699) CELLAR_TRY(tables.samples->major_compact());
    if (second % 37 == 0) CELLAR_TRY(compare(tables, all, now, questions));
  }
  return {};
}

Status ask_edges(const Tables& tables, ManualClock& clock, const Samples& samples, Questions& questions) {
  questions.chapter("The boundary");
  const std::string row = vehicle(0);
  const int64_t last = kStartMs + 3599 * 1000;
  const auto ask = [&](std::string_view question, int64_t now, std::string_view expected) -> Status {
    clock.set_ms(now);
    CELLAR_TRY_ASSIGN(const Sum sum, by_samples(*tables.samples, row));
    CELLAR_TRY(questions.same("the sum", text(sum), text(expected_samples(samples, now))));
    return questions.answer(question, std::to_string(sum.count), expected);
  };
  CELLAR_TRY(ask("How many samples at the moment of the last one? Both ends count", last, "601"));
  CELLAR_TRY(ask("A millisecond later", last + 1, "600"));
  CELLAR_TRY(ask("600 s after the last sample, it is still visible", last + kWindowMs, "1"));
  for (const auto& table : {tables.samples, tables.minutes}) CELLAR_TRY(table->flush());
  CELLAR_TRY(tables.samples->major_compact());
  CELLAR_TRY(ask("The same after a compaction", last + kWindowMs, "1"));
  CELLAR_TRY_ASSIGN(const std::vector<StoreFileInfo> files, tables.samples->files("s"));
  CELLAR_TRY(questions.answer("Cells in files then, of 3,600 samples of each vehicle",
                              std::to_string(files.empty() ? 0 : files[0].cells), std::to_string(kVehicles)));
  CELLAR_TRY(ask("A millisecond later, nothing", last + kWindowMs + 1, "0"));
  return {};
}

Status ask_costs(const Tables& tables, ManualClock& clock, const Samples& samples, Questions& questions) {
  questions.chapter("Samples or counters of minutes");
  const int64_t now = kStartMs + 3599 * 1000;
  clock.set_ms(now);
  for (const auto& table : {tables.samples, tables.minutes}) CELLAR_TRY(table->flush());
  ReadStats cost;
  CELLAR_TRY_ASSIGN(Sum sum, by_samples(*tables.samples, vehicle(0), &cost));
  CELLAR_TRY(questions.answer("Sum and count of the samples", text(sum), text(expected_samples(samples, now)),
                              &cost));
  cost = {};
  CELLAR_TRY_ASSIGN(sum, by_minutes(*tables.minutes, vehicle(0), &cost));
  CELLAR_TRY(questions.answer("Sum and count by minutes: whole minutes", text(sum),
                              text(expected_minutes(samples, now)), &cost));
  // A part of the window needs no second table: the timestamps of the samples are their times.
  cost = {};
  CELLAR_TRY_ASSIGN(
      const RowBatch found,
      tables.samples->get(Get(vehicle(0)).all_versions().time_range(now - 59'999, now + 1).stats(&cost)));
  return questions.answer("Samples of the last minute: a time range", std::to_string(found.cells()), "60",
                          &cost);
}

Status run(const std::string& path, const std::vector<std::string>&, Questions& questions) {
  ManualClock clock(kStartMs);
  EngineOptions options;
  options.environment.clock = &clock;
  options.ttl_clock_guard_s = 0;         // a compaction trusts the clock that leaps
  options.automatic_compaction = false;  // so that each run reads the same files
  CELLAR_TRY_ASSIGN(const auto engine, new_store(path, options));
  Tables tables;
  const FamilyOptions samples = {.name = "s", .max_versions = INT32_MAX, .ttl_s = kWindowMs / 1000};
  const FamilyOptions minutes = {.name = "s", .ttl_s = kWindowMs / 1000};
  CELLAR_TRY_ASSIGN(tables.samples, engine->create_table("samples", {.families = {samples}}));
  CELLAR_TRY_ASSIGN(tables.minutes, engine->create_table("minutes", {.families = {minutes}}));
  std::map<std::string, Samples> all;
  CELLAR_TRY(drive(tables, clock, all, questions));
  CELLAR_TRY(ask_costs(tables, clock, all[vehicle(0)], questions));
  CELLAR_TRY(ask_edges(tables, clock, all[vehicle(0)], questions));
  return engine->close();
}

}  // namespace

int main(int argc, char** argv) { return run_application(argc, argv, "rolling_store", run); }
