// Claims about what a selection saves: by row, family, timestamp, qualifier or value (Q01), and by a range of
// time (Q04). Q11 compares the same blogs as many rows and as columns of one row.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/bed.h"

namespace cellar::bench {
namespace {

constexpr int64_t kEpoch = 1'700'000'000'000;
constexpr int64_t kHour = 3'600'000;

// ---- Q01: five ways to select a fifth of all cells, and five ways to select 25 ----

// Rows of 5 families of 5 columns. Time, value and file of a cell go by chance through 5 classes each, so any
// one coordinate selects a fifth. Besides, 25 cells each are alone in a family, in an hour, in a column, in a
// kind of value.
constexpr int kFifths = 5;
constexpr uint64_t kNeedle = 25;
constexpr const char* kFamilies[] = {"a", "b", "c", "d", "e"};
constexpr const char* kRareFamily = "z";
constexpr int64_t kRareTime = kEpoch + 10 * kHour;

uint64_t q01_rows() { return scaled(4000, 250) / kNeedle * kNeedle; }

struct FifthsCell {
  uint64_t row;
  int family;
  int qualifier;
  uint64_t chance() const { return mixed(row * 25 + static_cast<uint64_t>(family * 5 + qualifier)); }
  int time_class() const { return static_cast<int>(chance() % 5); }
  int value_class() const { return static_cast<int>(chance() / 5 % 5); }
  int file_class() const { return static_cast<int>(chance() / 25 % 5); }
};

Put needles_of(uint64_t row, const std::string& key, uint64_t number) {
  const char* family = kFamilies[number % kFifths];
  const auto offset = static_cast<int64_t>(row);
  Put put(key);
  put.add_at(kRareFamily, "q", kEpoch + offset, "1" + text_of(row, 40));
  put.add_at(family, "rare", kEpoch + offset, "1" + text_of(row, 40));
  put.add_at(family, "v", kEpoch + offset, "rare" + text_of(row, 37));
  return put;
}

// The rare hour is a file of its own where files are distinct.
Status write_rare_hour(const std::shared_ptr<Table>& table, Batch& batch, int file, bool distinct) {
  for (uint64_t i = 0; i < kNeedle; ++i) {
    if (!distinct && static_cast<int>(i % kFifths) != file) continue;
    const uint64_t row = i * (q01_rows() / kNeedle) + 1;
    Put put(numbered("row", row));
    put.add_at(kFamilies[i / kFifths], "t", kRareTime + static_cast<int64_t>(i), "1" + text_of(row, 40));
    batch.put(table, put);
  }
  return {};
}

BedPlan q01_plan(bool distinct) {
  BedPlan plan;
  for (const char* family : kFamilies) plan.table.families.push_back({.name = family});
  plan.table.families.push_back({.name = kRareFamily});
  plan.fill = [distinct](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    const uint64_t stride = q01_rows() / kNeedle;
    for (int file = 0; file < kFifths + (distinct ? 1 : 0); ++file) {
      Batch batch;
      for (uint64_t row = 0; row < q01_rows(); ++row) {
        Put put(numbered("row", row));
        for (int f = 0; f < kFifths; ++f) {
          for (int q = 0; q < kFifths; ++q) {
            const FifthsCell cell{row, f, q};
            if ((distinct ? cell.time_class() : cell.file_class()) != file) continue;
            put.add_at(kFamilies[f], fmt::format("q{}", q),
                       kEpoch + cell.time_class() * kHour + static_cast<int64_t>(row),
                       fmt::format("{}{}", cell.value_class(), text_of(cell.chance(), 40)));
          }
        }
        if (!put.empty()) batch.put(table, put);
        if (file == 0 && row % stride == 0)
          batch.put(table, needles_of(row, numbered("row", row), row / stride));
      }
      if (file == kFifths || !distinct) CELLAR_TRY(write_rare_hour(table, batch, file, distinct));
      CELLAR_TRY(engine.write(batch));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

enum class By { kRow, kFamily, kTimestamp, kQualifier, kValue };
constexpr const char* kByNames[] = {"row", "family", "timestamp", "qualifier", "value"};

bool value_of_class_1(const CellView& cell) { return cell.value_bytes().starts_with("1"); }
bool value_is_rare(const CellView& cell) { return cell.value_bytes().starts_with("rare"); }

Status select_by(By by, bool needle, Table& table, ReadStats& stats, size_t& cells) {
  Scan scan;
  scan.stats(&stats);
  switch (by) {
    case By::kRow: {
      const std::string start = numbered("row", 2);  // without needles
      if (needle) {
        CELLAR_TRY_ASSIGN(const RowBatch row, table.get(Get(start).stats(&stats)));
        cells += row.cells();
        return {};
      }
      scan.start(start).stop(numbered("row", 2 + q01_rows() / kFifths));
      break;
    }
    case By::kFamily:
      scan.family(needle ? kRareFamily : "b");
      break;
    case By::kTimestamp:
      needle ? scan.time_range(kRareTime, kRareTime + kHour)
             : scan.time_range(kEpoch + 2 * kHour, kEpoch + 3 * kHour);
      break;
    case By::kQualifier:
      for (const char* family : kFamilies) scan.column(family, needle ? "rare" : "q1");
      break;
    case By::kValue:
      return count_cells(table, scan, needle ? value_is_rare : value_of_class_1, cells);
  }
  return count_cells(table, scan, nullptr, cells);
}

void q01(benchmark::State& state, By by, bool distinct, bool cold, bool needle) {
  Bed& bed = Bed::of(distinct ? "q01 distinct" : "q01 overlapping", [&] { return q01_plan(distinct); });
  const uint64_t fifth = q01_rows() * 5;
  bool right = true;
  measure(state, bed, cold, [&](Table& table, ReadStats& stats) -> Status {
    size_t cells = 0;
    CELLAR_TRY(select_by(by, needle, table, stats, cells));
    right = right && (needle ? cells == kNeedle : cells > fifth * 9 / 10 && cells < fifth * 11 / 10);
    return {};
  });
  if (!right) state.SkipWithError("wrong number of cells");
}

void register_q01() {
  for (const bool distinct : {true, false}) {
    for (const bool needle : {false, true}) {
      for (const bool cold : {true, false}) {
        for (const By by : {By::kRow, By::kFamily, By::kTimestamp, By::kQualifier, By::kValue}) {
          const std::string name = fmt::format(
              "Claim/Q01_select_by/by:{}/files:{}/yield:{}/cache:{}", kByNames[static_cast<int>(by)],
              distinct ? "distinct" : "overlapping", needle ? "25_cells" : "a_fifth", cold ? "cold" : "warm");
          with_cache(
              benchmark::RegisterBenchmark(
                  name.c_str(), [=](benchmark::State& state) { q01(state, by, distinct, cold, needle); }),
              cold);
        }
      }
    }
  }
}

// ---- Q04: a file for each of 24 hours ----

constexpr int kHours = 24;
enum class Stamps { kClock, kClockAndMarkers, kWriter };
constexpr const char* kStampNames[] = {"clock", "clock_with_deletes", "by_writer"};

uint64_t q04_rows() { return scaled(4000, 100); }

BedPlan q04_plan(Stamps stamps) {
  BedPlan plan;
  plan.table.families = {{.name = "d", .max_versions = kHours}};
  plan.fill = [stamps](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (int hour = 0; hour < kHours; ++hour) {
      Batch batch;
      for (uint64_t row = 0; row < q04_rows(); ++row) {
        const uint64_t chance = mixed(row * kHours + static_cast<uint64_t>(hour));
        const int64_t of = stamps == Stamps::kWriter ? static_cast<int64_t>(chance % kHours) : hour;
        batch.put(table, Put(numbered("sensor", row))
                             .add_at("d", "v", kEpoch + of * kHour + static_cast<int64_t>(chance % kHour),
                                     text_of(chance, 60)));
      }
      // Hides versions up to its time, so reads of every earlier range have to know of it.
      if (stamps == Stamps::kClockAndMarkers)
        batch.erase(table, Delete(numbered("nobody", 1)).column("d", "v", kEpoch + hour * kHour));
      CELLAR_TRY(engine.write(batch));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

void q04(benchmark::State& state, Stamps stamps, int hours, bool newest) {
  Bed& bed = Bed::of(fmt::format("q04 {}", static_cast<int>(stamps)), [&] { return q04_plan(stamps); });
  size_t cells = 0;
  measure(state, bed, true, [&](Table& table, ReadStats& stats) {
    Scan scan;
    scan.stats(&stats).all_versions();
    const int64_t from = kEpoch + (newest ? kHours - hours : 0) * kHour;
    if (hours < kHours) scan.time_range(from, from + hours * kHour);
    return count_cells(table, scan, nullptr, cells);
  });
  const auto runs = static_cast<size_t>(state.iterations());
  const size_t expected = q04_rows() * static_cast<size_t>(hours) * runs;
  if (stamps != Stamps::kWriter && cells != expected) state.SkipWithError("wrong number of cells");
}

void register_q04() {
  for (const Stamps stamps : {Stamps::kClock, Stamps::kClockAndMarkers, Stamps::kWriter}) {
    for (const bool newest : {true, false}) {
      for (const int hours : {1, 3, 6, 12, 24}) {
        const std::string name =
            fmt::format("Claim/Q04_time_range/stamps:{}/asked:{}/hours:{}",
                        kStampNames[static_cast<int>(stamps)], newest ? "newest" : "oldest", hours);
        with_cache(benchmark::RegisterBenchmark(
                       name.c_str(), [=](benchmark::State& state) { q04(state, stamps, hours, newest); }),
                   true);
      }
    }
  }
}

// ---- Q11: blogs of a user, one day of a year ----

constexpr int kFiles = 20;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kYear = 365 * kDay;
constexpr int64_t kChosenDay = 200;  // its begin and end lie inside one file where files are by time
enum class Way { kTallRange, kTallTime, kFlatTime, kFlatPick };
constexpr const char* kWayNames[] = {"tall_by_row_range", "tall_by_time_range", "flat_by_time_range",
                                     "flat_whole_row"};

uint64_t q11_blogs() { return scaled(100'000, 4000); }
int64_t time_of_blog(uint64_t number) {
  return kEpoch + static_cast<int64_t>(number) * kYear / static_cast<int64_t>(q11_blogs());
}
// Newest first, as nineteen digits.
std::string converted(int64_t time) { return numbered("", static_cast<uint64_t>(INT64_MAX - time), 19); }

BedPlan q11_plan(bool tall, bool by_time) {
  BedPlan plan;
  plan.table.families = {{.name = "e"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    for (uint64_t file = 0; file < kFiles; ++file) {
      Batch batch;
      for (uint64_t i = 0; i < q11_blogs(); ++i) {
        if ((by_time ? i * kFiles / q11_blogs() : mixed(i) % kFiles) != file) continue;
        const int64_t time = time_of_blog(i);
        for (const char* user : {"user1", "user2"}) {
          const std::string text = text_of(i, 100);
          batch.put(table, tall ? Put(user + ("_" + converted(time))).add_at("e", "blog", time, text)
                                : Put(user).add_at("e", converted(time), time, text));
        }
      }
      CELLAR_TRY(engine.write(batch));
      CELLAR_TRY(table->flush());
    }
    return {};
  };
  return plan;
}

// Cells of user2 written on the chosen day.
bool of_chosen_day(const CellView& cell) {
  return cell.timestamp >= kEpoch + kChosenDay * kDay && cell.timestamp < kEpoch + (kChosenDay + 1) * kDay;
}

void q11(benchmark::State& state, Way way, bool by_time, bool cold) {
  const bool tall = way == Way::kTallRange || way == Way::kTallTime;
  Bed& bed = Bed::of(fmt::format("q11 {} {}", tall, by_time), [&] { return q11_plan(tall, by_time); });
  const int64_t from = kEpoch + kChosenDay * kDay;
  const int64_t until = from + kDay;
  uint64_t expected = 0;
  for (uint64_t i = 0; i < q11_blogs(); ++i) expected += time_of_blog(i) >= from && time_of_blog(i) < until;
  bool right = true;
  measure(state, bed, cold, [&](Table& table, ReadStats& stats) -> Status {
    size_t cells = 0;
    Scan scan;
    scan.stats(&stats);
    if (tall) {
      scan.prefix("user2_");
    } else {
      scan.start("user2").stop("user2", true);
    }
    if (way == Way::kTallRange) {
      scan = Scan();
      scan.stats(&stats).start("user2_" + converted(until - 1)).stop("user2_" + converted(from - 1));
    }
    if (way == Way::kTallTime || way == Way::kFlatTime) scan.time_range(from, until);
    CELLAR_TRY(count_cells(table, scan, way == Way::kFlatPick ? of_chosen_day : nullptr, cells));
    right = right && cells == expected;
    return {};
  });
  if (!right) state.SkipWithError("wrong number of blogs");
}

void register_q11() {
  for (const bool by_time : {true, false}) {
    for (const Way way : {Way::kTallRange, Way::kTallTime, Way::kFlatTime, Way::kFlatPick}) {
      for (const bool cold : {true, false}) {
        const std::string name =
            fmt::format("Claim/Q11_tall_or_flat/way:{}/files:{}/cache:{}", kWayNames[static_cast<int>(way)],
                        by_time ? "by_time" : "mixed", cold ? "cold" : "warm");
        with_cache(benchmark::RegisterBenchmark(
                       name.c_str(), [=](benchmark::State& state) { q11(state, way, by_time, cold); }),
                   cold);
      }
    }
  }
}

[[maybe_unused]] const bool registered_select = [] {
  register_q01();
  register_q04();
  register_q11();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
