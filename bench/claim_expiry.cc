// Claims about times to live: when expired cells leave reads and files (Q28), and the size of a table that
// forgets (Q43). A clock that the case moves makes days of moments.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "cellar/keys.h"
#include "cellar/manual_clock.h"

namespace cellar::bench {
namespace {

constexpr int64_t kExpiryStart = 1'700'000'000'000;
constexpr int64_t kExpiryHour = 3'600'000;

// A store whose clock stands still, and that flushes and compacts only when it is told to.
EngineOptions by_hand(ManualClock& clock) {
  EngineOptions options;
  options.automatic_flush = false;
  options.automatic_compaction = false;
  options.durability = Durability::kSkipWal;
  options.ttl_clock_guard_s = 0;
  options.environment.clock = &clock;
  return options;
}

uint64_t stored_cells(Table& table) {
  uint64_t cells = 0;
  for (const FamilyInfo& family : table.info().families) {
    cells += family.memtable_cells;
    for (const StoreFileInfo& file : family.files) cells += file.cells;
  }
  return cells;
}

// ---- Q28: a stream of posts that are kept for 72 hours ----

// Half of the posts are old. Old and new ones share each file, or each file has only old or only new ones, or
// all are still in memory. The first file is six times as large as each of the other four.
enum class Q28Place { kShared, kApart, kMemory };
constexpr const char* kQ28Places[] = {"shared_files", "files_of_their_own", "memory"};
enum class Q28Step { kWritten, kExpired, kFlush, kMinor, kMajor };
constexpr const char* kQ28Steps[] = {"writing", "expiry", "flush", "minor_compaction", "major_compaction"};
constexpr int kQ28Files = 5;

uint64_t q28_posts() { return scaled(40'000, 2000); }

Status q28_write(WritableStore& store, int64_t now, Q28Place place) {
  const uint64_t tenth = q28_posts() / 10;
  for (uint64_t file = 0, i = 0; file < kQ28Files; ++file) {
    Batch batch;
    for (const uint64_t end = i + (file == 0 ? 6 : 1) * tenth; i < end; ++i) {
      const bool old = place == Q28Place::kApart ? file == 0 || file == 1 : i % 2 == 0;
      const int64_t time = now - (old ? 71 * kExpiryHour : 0) + static_cast<int64_t>(i % 1000);
      batch.put(store.table(), Put(md5_bytes(numbered("user", mixed(i) % 1000)) + reversed_time(time) +
                                   plain_int32(static_cast<int32_t>(i)))
                                   .add_at("i", "author", time, text_of(i, 140)));
    }
    CELLAR_TRY(store.engine().write(batch));
    if (place != Q28Place::kMemory) CELLAR_TRY(store.engine().flush());
  }
  return {};
}

void q28_until(WritableStore& store, ManualClock& clock, Q28Place place, Q28Step step) {
  must(q28_write(store, clock.wall_ms(), place));
  if (step == Q28Step::kWritten) return;
  clock.add_ms(2 * kExpiryHour);
  if (step == Q28Step::kFlush) must(store.engine().flush());
  if (step == Q28Step::kMinor) must(store.rows().compact());
  if (step == Q28Step::kMajor) must(store.rows().major_compact());
}

void q28(benchmark::State& state, Q28Place place, Q28Step step) {
  for (auto unused : state) {
    static_cast<void>(unused);
    ManualClock clock(kExpiryStart);
    WritableStore store(
        {.families = {{.name = "i", .ttl_s = 72 * 3600, .compaction = "exploring(bytes_min=1)"}}},
        by_hand(clock));
    q28_until(store, clock, place, step);
    ReadStats stats;
    size_t cells = 0;
    const double begin = thread_seconds();
    must(count_cells(store.rows(), Scan().stats(&stats), nullptr, cells));
    state.SetIterationTime(thread_seconds() - begin);
    const EngineStatus status = store.engine().status();
    state.counters["cells visible"] = static_cast<double>(cells);
    state.counters["cells stored"] = static_cast<double>(stored_cells(store.rows()));
    state.counters["kB in files"] = static_cast<double>(status.store_bytes) / 1e3;
    state.counters["files"] = static_cast<double>(status.store_files);
    state.counters["files skipped"] = static_cast<double>(stats.files_skipped_ttl);
    state.counters["cells examined"] = static_cast<double>(stats.cells_examined);
    const uint64_t all = q28_posts() / 10 * 10;
    const uint64_t old = place == Q28Place::kApart ? all / 10 * 7 : all / 2;
    expect(state, cells == (step == Q28Step::kWritten ? all : all - old),
           "an expired post shows, or a new one does not");
  }
}

void register_q28() {
  for (const Q28Place place : {Q28Place::kShared, Q28Place::kApart, Q28Place::kMemory}) {
    const bool memory = place == Q28Place::kMemory;
    const std::vector<Q28Step> steps =
        memory ? std::vector{Q28Step::kWritten, Q28Step::kExpired, Q28Step::kFlush}
               : std::vector{Q28Step::kWritten, Q28Step::kExpired, Q28Step::kMinor, Q28Step::kMajor};
    for (const Q28Step step : steps)
      once(claim(fmt::format("Q28_expired_cells/posts_in:{}/after:{}", kQ28Places[static_cast<int>(place)],
                             kQ28Steps[static_cast<int>(step)]),
                 [=](benchmark::State& state) { q28(state, place, step); }));
  }
}

// ---- Q43: a hundred and eighty days of a table that forgets after sixty ----

constexpr uint64_t kQ43Days = 180;
constexpr const char* kQ43Majors = "exploring_and_a_major_one_every_30_days";

struct Q43Day {
  double megabytes = 0;
  double files = 0;
  double compacted = 0;  // megabytes, so far
};

// A day is a flush, and the compactions that are due then.
std::vector<Q43Day> q43_history(int64_t ttl_s, const std::string& policy) {
  const bool majors = policy == kQ43Majors;
  ManualClock clock(kExpiryStart);
  EngineOptions options = by_hand(clock);
  options.memtable_bytes = scaled(1u << 20, 64u << 10);  // about three days
  WritableStore store(
      {.families = {{.name = "d", .ttl_s = ttl_s, .compaction = majors ? "exploring" : policy}}}, options);
  const uint64_t rows = scaled(3000, 100);
  std::vector<Q43Day> days;
  for (uint64_t day = 0; day < kQ43Days; ++day) {
    Batch batch;
    for (uint64_t i = 0; i < rows; ++i)
      batch.put(store.table(), Put(numbered("visitor", mixed(day * rows + i) % 10'000) +
                                   reversed_time(clock.wall_ms() + static_cast<int64_t>(i)))
                                   .add("d", "v", text_of(day * rows + i, 100)));
    must(store.engine().write(batch));
    must(store.engine().flush());
    clock.add_ms(24 * kExpiryHour);
    must(majors && day % 30 == 29 ? store.rows().major_compact() : store.rows().compact());
    const EngineStatus status = store.engine().status();
    days.push_back({static_cast<double>(status.store_bytes) / 1e6, static_cast<double>(status.store_files),
                    static_cast<double>(status.bytes_compacted) / 1e6});
  }
  return days;
}

// Each history is made once. Its cases show single days of it.
void q43(benchmark::State& state, bool forgets, const std::string& policy, size_t day) {
  static std::map<std::pair<bool, std::string>, std::vector<Q43Day>> histories;
  for (auto unused : state) {
    static_cast<void>(unused);
    std::vector<Q43Day>& days = histories[{forgets, policy}];
    const double begin = thread_seconds();
    if (days.empty()) days = q43_history(forgets ? 60 * 86400 : kForever, policy);
    state.SetIterationTime(thread_seconds() - begin);
    const Q43Day& shown = days[day - 1];
    state.counters["MB"] = shown.megabytes;
    state.counters["files"] = shown.files;
    state.counters["MB compacted"] = shown.compacted;
  }
}

void register_q43() {
  for (const char* policy : {"exploring", kQ43Majors, "date_tiered"}) {
    for (const bool forgets : {true, false}) {
      for (const size_t day : {30, 60, 90, 120, 150, 180})
        once(claim(fmt::format("Q43_size_over_time/ttl:{}/policy:{}/day:{}", forgets ? "60_days" : "none",
                               policy, day),
                   [=](benchmark::State& state) { q43(state, forgets, policy, day); }));
    }
  }
}

[[maybe_unused]] const bool registered_expiry = [] {
  register_q28();
  register_q43();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
