// Claims about second tables and tall ones. Q38 searches without a second table, Q39 measures the cost of
// that table. Q36 copies a stream to each follower. Q45 reads the newest entries.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "cellar/keys.h"

namespace cellar::bench {
namespace {

// ---- Q38, Q39: applications of users, also by application ----

// Each user has ten applications. There are as many applications as users, so each one has ten users in a
// table of any size.
constexpr uint64_t kPerUser = 10;

struct UserApplication {
  std::string user;
  std::string application;
};

UserApplication user_application(uint64_t i, uint64_t rows) {
  const uint64_t users = rows / kPerUser;
  return {numbered("user", i / kPerUser), numbered("app", (i / kPerUser + i % kPerUser * 7919) % users)};
}

std::string pair_key(const std::string& first, const std::string& second) { return first + "_" + second; }

// Rows "u_" + user + application, and rows "a_" + application + user if `both`: two tables in one bed.
BedPlan q38_plan(uint64_t rows, bool both) {
  BedPlan plan;
  plan.table.families = {{.name = "d"}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t i = 0; i < rows; ++i) {
      const UserApplication entry = user_application(i, rows);
      const std::string value = text_of(i, 60);
      batch.put(table, Put("u_" + pair_key(entry.user, entry.application)).add_at("d", "v", 1, value));
      if (both)
        batch.put(table, Put("a_" + pair_key(entry.application, entry.user)).add_at("d", "v", 1, value));
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

void q38(benchmark::State& state, bool second_table, uint64_t size) {
  const uint64_t rows = scaled(size, 1000) / kPerUser * kPerUser;
  Bed& bed = Bed::of(fmt::format("q38 {}", size), [=] { return q38_plan(rows, true); });
  Table& table = ready(bed, true);
  Random random(38);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    const std::string application = numbered("app", random.below(rows / kPerUser));
    Scan scan;
    if (second_table) {
      scan.prefix("a_" + application + "_");
    } else {
      scan.prefix("u_").filter(row_filter(CompareOp::kEqual, substring("_" + application)));
    }
    return count_cells(table, scan.stats(&stats), nullptr, cells);
  });
  expect_each(state, cells, kPerUser);
}

// One table, two tables in one atomic write, or two tables in two writes.
void q39(benchmark::State& state, const std::string& tables) {
  const uint64_t rows = scaled(200'000, 5000) / kPerUser * kPerUser;
  for (auto unused : state) {
    static_cast<void>(unused);
    WritableStore store({.families = {{.name = "d"}}});
    const std::shared_ptr<Table> inverse = store.add_table("inverse", {.families = {{.name = "d"}}});
    Batch batch;
    const double begin = thread_seconds();
    for (uint64_t i = 0; i < rows; ++i) {
      const UserApplication entry = user_application(i, rows);
      const std::string value = text_of(i, 60);
      const Put put = Put(pair_key(entry.user, entry.application)).add("d", "v", value);
      const Put other = Put(pair_key(entry.application, entry.user)).add("d", "v", value);
      if (tables == "two_in_one_write") {
        batch.clear();
        must(store.engine().write(batch.put(store.table(), put).put(inverse, other)));
        continue;
      }
      must(store.rows().put(put));
      if (tables == "two_in_two_writes") must(inverse->put(other));
    }
    const double time = thread_seconds() - begin;
    state.SetIterationTime(time);
    must(store.engine().flush());
    must(store.engine().wait_for_background());
    state.counters["µs per entry"] = time * 1e6 / static_cast<double>(rows);
    state.counters["bytes per entry"] = static_cast<double>(store.file_bytes()) / static_cast<double>(rows);
    const uint64_t stored = must(store.rows().count()).rows + must(inverse->count()).rows;
    expect(state, stored == rows * (tables == "one" ? 1 : 2), "an entry is missing");
  }
}

// ---- Q36: posts, copied to the stream of each follower, or found when the stream is read ----

constexpr uint64_t kQ36Posts = 20;  // of each user
constexpr uint64_t kQ36Shown = 10;
uint64_t q36_users() { return scaled(500, 200); }

// User u is followed by the `followers` users after u, so each user follows as many.
uint64_t q36_follower(uint64_t user, uint64_t i) { return (user + 1 + i) % q36_users(); }
uint64_t q36_followed(uint64_t user, uint64_t i) { return (user + q36_users() - 1 - i) % q36_users(); }

// Q36World: tables for both ways. A row of either is a user and a reversed time.
class Q36World {
 public:
  Q36World(bool copied, uint64_t followers)
      : copied_(copied),
        followers_(followers),
        store_({.families = {{.name = "i"}}}, {.durability = Durability::kAsyncWal}) {
    for (uint64_t post = 0; post < kQ36Posts; ++post)
      for (uint64_t user = 0; user < q36_users(); ++user) must(this->post(user));
    must(store_.rows().flush());
    must(store_.rows().major_compact());
  }

  // A post of the user: one cell, or one for each follower, in one atomic write.
  Status post(uint64_t user) {
    const int64_t time = ++now_;
    const std::string text = text_of(static_cast<uint64_t>(time), 140);
    batch_.clear();
    if (copied_) {
      for (uint64_t i = 0; i < followers_; ++i)
        batch_.put(store_.table(),
                   Put(row_of(q36_follower(user, i), time)).add_at("i", numbered("u", user), time, text));
    } else {
      batch_.put(store_.table(), Put(row_of(user, time)).add_at("i", numbered("u", user), time, text));
    }
    return store_.engine().write(batch_);
  }

  // The ten newest posts of all whom the user follows.
  Status read(uint64_t user, ReadStats& stats, size_t& shown) {
    if (copied_)
      return count_cells(store_.rows(), Scan().prefix(numbered("u", user)).limit(kQ36Shown).stats(&stats),
                         nullptr, shown);
    std::vector<std::pair<int64_t, std::string>> posts;
    for (uint64_t i = 0; i < followers_; ++i) {
      CELLAR_TRY_ASSIGN(
          const std::unique_ptr<Scanner> scanner,
          store_.rows().scan(
              Scan().prefix(numbered("u", q36_followed(user, i))).limit(kQ36Shown).stats(&stats)));
      while (scanner->next()) {
        const CellView& cell = scanner->row().cells().front();
        posts.emplace_back(-cell.timestamp, cell.value_bytes());
      }
      CELLAR_TRY(scanner->status());
    }
    const size_t count = std::min<size_t>(kQ36Shown, posts.size());
    std::partial_sort(posts.begin(), posts.begin() + static_cast<std::ptrdiff_t>(count), posts.end());
    shown += count;
    return {};
  }
  uint64_t file_bytes() { return store_.file_bytes(); }

 private:
  static std::string row_of(uint64_t user, int64_t time) { return numbered("u", user) + reversed_time(time); }

  const bool copied_;
  const uint64_t followers_;
  WritableStore store_;
  Batch batch_;
  int64_t now_ = 0;
};

void q36(benchmark::State& state, bool copied, uint64_t followers, bool read) {
  static std::unique_ptr<Q36World> kept;
  static std::pair<bool, uint64_t> kept_key;
  if (kept == nullptr || kept_key != std::pair(copied, followers)) {
    kept.reset();
    kept = std::make_unique<Q36World>(copied, followers);
    kept_key = {copied, followers};
  }
  Q36World& world = *kept;
  state.counters["MB"] = static_cast<double>(world.file_bytes()) / 1e6;
  Random random(36);
  size_t shown = 0;
  if (read) {
    repeat(state, [&](ReadStats& stats) { return world.read(random.below(q36_users()), stats, shown); });
    expect_each(state, shown, kQ36Shown);
    return;
  }
  for (auto unused : state) {
    static_cast<void>(unused);
    must(world.post(random.below(q36_users())));
  }
}

// ---- Q45: the newest n of many entries ----

uint64_t q45_entries() { return scaled(100'000, 2000); }

enum class Q45Way { kTall, kFlat, kVersions, kTallForward };
constexpr const char* kQ45Names[] = {"rows_newest_first", "columns_newest_first", "versions_of_a_column",
                                     "rows_oldest_first_read_backwards"};

BedPlan q45_plan(Q45Way way) {
  BedPlan plan;
  plan.table.families = {{.name = "e", .max_versions = 1'000'000}};
  plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
    Batch batch;
    for (uint64_t i = 0; i < q45_entries(); ++i) {
      const auto time = static_cast<int64_t>(i + 1);
      const std::string text = text_of(i, 60);
      if (way == Q45Way::kTall)
        batch.put(table, Put("user" + reversed_time(time)).add_at("e", "", time, text));
      if (way == Q45Way::kTallForward)
        batch.put(table, Put("user" + plain_int64(time)).add_at("e", "", time, text));
      if (way == Q45Way::kFlat) batch.put(table, Put("user").add_at("e", reversed_time(time), time, text));
      if (way == Q45Way::kVersions) batch.put(table, Put("user").add_at("e", "", time, text));
      CELLAR_TRY(write_batch(engine, batch, false));
    }
    return write_batch(engine, batch, true);
  };
  return plan;
}

void q45(benchmark::State& state, Q45Way way, uint32_t n) {
  Bed& bed = Bed::of(fmt::format("q45 {}", static_cast<int>(way)), [=] { return q45_plan(way); });
  Table& table = ready(bed, true);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    switch (way) {
      case Q45Way::kTall:
        return count_cells(table, Scan().prefix("user").limit(n).stats(&stats), nullptr, cells);
      case Q45Way::kTallForward:
        return count_cells(table, Scan().prefix("user").reversed(true).limit(n).stats(&stats), nullptr,
                           cells);
      case Q45Way::kFlat:
        return get_cells(table, Get("user").max_per_family(n).stats(&stats), cells);
      case Q45Way::kVersions:
        break;
    }
    return get_cells(table, Get("user").column("e", "").versions(n).stats(&stats), cells);
  });
  expect_each(state, cells, n);
}

[[maybe_unused]] const bool registered_tables = [] {
  for (const uint64_t followers : {1, 10, 100})
    for (const bool copied : {true, false})
      for (const bool read : {true, false})  // posts change the world
        claim(fmt::format("Q36_copied_streams/followers:{}/stream:{}/do:{}", followers,
                          copied ? "copied" : "joined", read ? "read" : "post"),
              [=](benchmark::State& state) { q36(state, copied, followers, read); });
  for (const uint64_t rows : {10'000, 100'000})
    for (const bool second : {true, false})
      claim(fmt::format("Q38_second_table/rows:{}/by:{}", rows, second ? "second_table" : "filter_over_all"),
            [=](benchmark::State& state) { q38(state, second, rows); });
  for (const std::string tables : {"one", "two_in_one_write", "two_in_two_writes"})
    once(claim(fmt::format("Q39_cost_of_a_second_table/tables:{}", tables),
               [=](benchmark::State& state) { q39(state, tables); }));
  for (const Q45Way way : {Q45Way::kTall, Q45Way::kTallForward, Q45Way::kFlat, Q45Way::kVersions})
    for (const uint32_t n : {1, 10, 100, 1000})
      claim(fmt::format("Q45_newest/entries:{}/n:{}", kQ45Names[static_cast<int>(way)], n),
            [=](benchmark::State& state) { q45(state, way, n); });
  return true;
}();

}  // namespace
}  // namespace cellar::bench
