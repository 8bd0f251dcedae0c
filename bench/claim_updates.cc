// Claims about updates. Q26 loses counts. Q27 writes with lower timestamps. Q40 reads a row that is being
// written. Q44 makes one call instead of several.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
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

void in_threads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& each : all) each.join();
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// ---- Q26: sixteen threads add to one counter ----

constexpr int kQ26Threads = 16;
enum class Q26Way { kReadAddWrite, kCheckAndPut, kTransaction, kIncrement };
constexpr const char* kQ26Names[] = {"read_add_write", "check_and_put", "transaction", "increment"};

// Puts the sum only if the value is still the one that was read, and tries again otherwise.
Status q26_check_and_put(Table& table) {
  for (;;) {
    CELLAR_TRY_ASSIGN(const Row old, table.get_row(Get("page")));
    const std::string sum = plain_int64(old.counter("d", "n").value_or(0) + 1);
    CheckAndMutate check("page");
    if (const auto value = old.value("d", "n"); value.has_value()) {
      check.if_equals("d", "n", *value);
    } else {
      check.if_not_exists("d", "n");
    }
    CELLAR_TRY_ASSIGN(const ActionResult result,
                      table.check_and_mutate(check.then(Put("page").add("d", "n", sum))));
    if (result.matched) return {};
  }
}

Status q26_add(WritableStore& store, Q26Way way) {
  Table& table = store.rows();
  switch (way) {
    case Q26Way::kReadAddWrite: {
      CELLAR_TRY_ASSIGN(const Row old, table.get_row(Get("page")));
      return table.put(Put("page").add("d", "n", plain_int64(old.counter("d", "n").value_or(0) + 1)));
    }
    case Q26Way::kCheckAndPut:
      return q26_check_and_put(table);
    case Q26Way::kTransaction: {
      TransactionOptions patient;
      patient.attempts_max = 10'000;
      return store.engine().run_transaction(
          [&](Transaction& transaction) -> Status {
            CELLAR_TRY_ASSIGN(const Row old, transaction.get_row(store.table(), Get("page")));
            const int64_t sum = old.counter("d", "n").value_or(0) + 1;
            return transaction.put(store.table(), Put("page").add("d", "n", plain_int64(sum)));
          },
          patient);
    }
    case Q26Way::kIncrement:
      break;
  }
  return table.increment(Increment("page").add("d", "n", 1)).status();
}

void q26(benchmark::State& state, Q26Way way) {
  const auto updates = static_cast<int>(scaled(2000, 100));
  for (auto unused : state) {
    static_cast<void>(unused);
    WritableStore store({.families = {{.name = "d"}}});
    const double time = seconds_of([&] {
      in_threads(kQ26Threads, [&](int) {
        for (int i = 0; i < updates; ++i) must(q26_add(store, way));
      });
    });
    state.SetIterationTime(time);
    const int64_t all = int64_t{kQ26Threads} * updates;
    const int64_t counted = must(store.rows().get_row(Get("page"))).counter("d", "n").value_or(0);
    state.counters["updates"] = static_cast<double>(all);
    state.counters["counted"] = static_cast<double>(counted);
    state.counters["lost percent"] = 100.0 * static_cast<double>(all - counted) / static_cast<double>(all);
    state.counters["updates/s"] = static_cast<double>(all) / time;
    expect(state, way == Q26Way::kReadAddWrite || counted == all, "an atomic update was lost");
  }
}

// ---- Q27: a million writes on one cell, whose timestamps are counts ----

enum class Q27Order { kRising, kRandom, kFalling };
constexpr const char* kQ27Names[] = {"rising", "by_chance", "falling"};

int64_t q27_count(uint64_t i, uint64_t all, Q27Order order) {
  if (order == Q27Order::kRandom) return static_cast<int64_t>(mixed(i) % all) + 1;
  return static_cast<int64_t>(order == Q27Order::kRising ? i + 1 : all - i);
}

void q27(benchmark::State& state, Q27Order order) {
  const uint64_t all = scaled(1'000'000, 20'000);
  EngineOptions options;
  options.durability = Durability::kSkipWal;
  options.memtable_bytes = scaled(8u << 20, 256u << 10);
  for (auto unused : state) {
    static_cast<void>(unused);
    WritableStore store({.families = {{.name = "c"}}}, options);
    int64_t highest = 0;
    uint64_t memtable_bytes = 0;
    uint64_t file_bytes = 0;
    const double begin = thread_seconds();
    for (uint64_t i = 0; i < all; ++i) {
      const int64_t count = q27_count(i, all, order);
      must(store.rows().put(
          Put("cookie").add_at("c", "page", count, numbered("/shop/page", static_cast<uint64_t>(count)))));
      highest = std::max(highest, count);
      if (i % 1024 != 0) continue;
      const EngineStatus status = store.engine().status();
      memtable_bytes = std::max(memtable_bytes, status.memtable_bytes);
      file_bytes = std::max(file_bytes, status.store_bytes);
    }
    state.SetIterationTime(thread_seconds() - begin);
    state.counters["µs per write"] = (thread_seconds() - begin) * 1e6 / static_cast<double>(all);
    must(store.engine().flush());
    must(store.engine().wait_for_background());
    const EngineStatus status = store.engine().status();
    uint64_t cells = 0;
    for (const StoreFileInfo& file : store.rows().info().families.front().files) cells += file.cells;
    state.counters["MB in memory at most"] = static_cast<double>(memtable_bytes) / 1e6;
    state.counters["kB in files at most"] =
        static_cast<double>(std::max(file_bytes, status.store_bytes)) / 1e3;
    state.counters["flushes"] = static_cast<double>(status.flushes);
    state.counters["cells in files"] = static_cast<double>(cells);
    const Row row = must(store.rows().get_row(Get("cookie")));
    expect(state, row.cells.size() == 1 && row.cells.front().timestamp == highest,
           "the page with the highest count does not show");
  }
}

// ---- Q40: a row over three families, and eight readers ----

constexpr int kQ40Readers = 8;
constexpr int kQ40Columns = 10;

Put q40_put(uint64_t version) {
  Put put("row");
  for (const char* family : {"a", "b", "c"})
    for (uint64_t column = 0; column < kQ40Columns; ++column)
      put.add(family, numbered("q", column, 2), numbered("", version));
  return put;
}

// A row is torn if two of its cells have different values, or if one is missing.
bool q40_torn(const RowView& row) {
  if (row.cells().size() != 3 * kQ40Columns) return true;
  return std::ranges::any_of(
      row, [&](const CellView& cell) { return cell.value_bytes() != row.cells().front().value_bytes(); });
}

struct Q40Counts {
  std::atomic<uint64_t> reads = 0;
  std::atomic<uint64_t> torn = 0;
  std::atomic<uint64_t> writes = 0;
  std::atomic<bool> over = false;
};

// Every other reader reads by scan instead of get.
void q40_reader(Table& table, bool scans, Q40Counts& counts) {
  while (!counts.over) {
    if (scans) {
      const std::unique_ptr<Scanner> scanner = must(table.scan({}));
      while (scanner->next()) ++counts.reads, counts.torn += q40_torn(scanner->row()) ? 1u : 0u;
      must(scanner->status());
    } else {
      const RowBatch batch = must(table.get(Get("row")));
      ++counts.reads, counts.torn += q40_torn(batch.row()) ? 1u : 0u;
    }
  }
}

void q40(benchmark::State& state, bool files) {
  for (auto unused : state) {
    static_cast<void>(unused);
    EngineOptions options;
    options.durability = Durability::kAsyncWal;
    WritableStore store({.families = {{.name = "a"}, {.name = "b"}, {.name = "c"}}}, options);
    must(store.rows().put(q40_put(0)));
    Q40Counts counts;
    std::vector<std::thread> threads;
    for (int i = 0; i < kQ40Readers; ++i)
      threads.emplace_back([&, i] { q40_reader(store.rows(), i % 2 == 1, counts); });
    threads.emplace_back([&] {
      while (!counts.over) must(store.rows().put(q40_put(++counts.writes)));
    });
    const double length = static_cast<double>(scaled(5000, 300)) / 1000;
    const double time = seconds_of([&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(length);
      while (std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (files) must(store.engine().flush());
      }
    });
    counts.over = true;
    for (std::thread& each : threads) each.join();
    state.SetIterationTime(time);
    const EngineStatus status = store.engine().status();
    state.counters["writes"] = static_cast<double>(counts.writes);
    state.counters["reads"] = static_cast<double>(counts.reads);
    state.counters["flushes"] = static_cast<double>(status.flushes);
    state.counters["compactions"] = static_cast<double>(status.compactions);
    state.counters["torn reads"] = static_cast<double>(counts.torn);
    expect(state, counts.torn == 0 && counts.writes > 0 && counts.reads > 0, "a reader saw half a write");
  }
}

// ---- Q44: one call instead of several ----

// The counters of a month, a day and an hour, in three families with their own times to live.
void q44_increment(benchmark::State& state, bool one_call, Durability durability) {
  WritableStore store({.families = {{.name = "month"},
                                    {.name = "day", .ttl_s = 86400 * 60},
                                    {.name = "hour", .ttl_s = 86400}}},
                      {.durability = durability});
  uint64_t number = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = numbered("page", number++ % 1000);
    if (one_call) {
      must(
          store.rows().increment(Increment(row).add("month", "n", 1).add("day", "n", 1).add("hour", "n", 1)));
      continue;
    }
    for (const char* family : {"month", "day", "hour"})
      must(store.rows().increment(Increment(row).add(family, "n", 1)));
  }
  int64_t sum = 0;
  const std::unique_ptr<Scanner> scanner = must(store.rows().scan({}));
  while (scanner->next())
    for (const CellView& cell : scanner->row()) sum += int64_of_plain(cell.value_bytes()).value_or(0);
  must(scanner->status());
  expect(state, sum == 3 * static_cast<int64_t>(state.iterations()), "the counters do not add up");
}

constexpr uint64_t kQ44Gets = 100;

// A hundred rows by get, one after the other or all at once. `near` rows share their blocks.
void q44_get(benchmark::State& state, bool one_call, bool near) {
  const uint64_t rows = scaled(100'000, 4000);
  Table& table = ready(Bed::of("q44", [=] { return spread_plan(rows, 4, {.name = "d"}, 100); }), true);
  Random random(44);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    const uint64_t first = random.below(rows - kQ44Gets);
    std::vector<Get> gets;
    for (uint64_t i = 0; i < kQ44Gets; ++i)
      gets.push_back(Get(numbered("user", near ? first + i : random.below(rows))).stats(&stats));
    if (!one_call) {
      for (const Get& get : gets) CELLAR_TRY(get_cells(table, get, cells));
      return {};
    }
    CELLAR_TRY_ASSIGN(const std::vector<RowBatch> all, table.get_many(gets));
    for (const RowBatch& batch : all) cells += batch.cells();
    return {};
  });
  expect_each(state, cells, kQ44Gets);
}

void register_q44() {
  for (const Durability durability : {Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal}) {
    for (const bool one_call : {true, false})
      claim(fmt::format("Q44_one_call/do:3_increments/how:{}/calls:{}", durability_name(durability),
                        one_call ? "one" : "several"),
            [=](benchmark::State& state) { q44_increment(state, one_call, durability); })
          ->UseRealTime();
  }
  for (const bool near : {false, true}) {
    for (const bool one_call : {true, false})
      claim(fmt::format("Q44_one_call/do:100_gets/how:{}/calls:{}", near ? "neighbours" : "anywhere",
                        one_call ? "one" : "several"),
            [=](benchmark::State& state) { q44_get(state, one_call, near); });
  }
}

[[maybe_unused]] const bool registered_updates = [] {
  for (const Q26Way way :
       {Q26Way::kReadAddWrite, Q26Way::kCheckAndPut, Q26Way::kTransaction, Q26Way::kIncrement})
    once(claim(fmt::format("Q26_lost_updates/way:{}", kQ26Names[static_cast<int>(way)]),
               [=](benchmark::State& state) { q26(state, way); }));
  for (const Q27Order order : {Q27Order::kRising, Q27Order::kRandom, Q27Order::kFalling})
    once(claim(fmt::format("Q27_lower_timestamps/counts:{}", kQ27Names[static_cast<int>(order)]),
               [=](benchmark::State& state) { q27(state, order); }));
  for (const bool files : {false, true})
    once(claim(fmt::format("Q40_torn_reads/meanwhile:{}", files ? "flushes_and_compactions" : "writes_only"),
               [=](benchmark::State& state) { q40(state, files); }));
  register_q44();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
