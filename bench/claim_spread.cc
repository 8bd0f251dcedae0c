// The claim about rising keys (Q29): stores that share a load, compactions, lookups of spread rows, and
// scans. Several stores of one process stand for the machines of a cluster.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"
#include "cellar/keys.h"
#include "cellar/salted_scan.h"

namespace cellar::bench {
namespace {

constexpr size_t kSpreadBytes = 100;

std::string event_name(uint64_t number) { return numbered("event", number, 10); }

// ---- Writes: n stores, each with a thread of its own ----

// Rising keys are parted by their ranges, as a cluster does, so the newest go to one store. Hashed keys go to
// all stores.
size_t store_of(uint64_t number, uint64_t rows, size_t stores, bool hashed) {
  if (!hashed) return static_cast<size_t>(number * stores / rows);
  return static_cast<size_t>(int32_of_plain(hash_prefix(event_name(number), 4)).value_or(0) & 0x7fffffff) %
         stores;
}

// Returns the number of stores that take part in a thousand rows that arrive together, on average.
double busy_stores(uint64_t rows, size_t stores, bool hashed) {
  constexpr uint64_t kTogether = 1000;
  uint64_t busy = 0;
  uint64_t windows = 0;
  for (uint64_t begin = 0; begin + kTogether <= rows; begin += kTogether, ++windows) {
    std::set<size_t> seen;
    for (uint64_t i = begin; i < begin + kTogether; ++i) seen.insert(store_of(i, rows, stores, hashed));
    busy += seen.size();
  }
  return static_cast<double>(busy) / static_cast<double>(std::max<uint64_t>(1, windows));
}

using Stores = std::vector<std::unique_ptr<WritableStore>>;

void write_rows_of(Stores& stores, size_t which, uint64_t begin, uint64_t end, uint64_t rows, bool hashed) {
  for (uint64_t i = begin; i < end; ++i)
    if (store_of(i, rows, stores.size(), hashed) == which)
      must(stores[which]->rows().put(Put(event_name(i)).add("d", "v", text_of(i, kSpreadBytes))));
}

// The load arrives in parts of ten thousand rows, and a part is done when all stores have taken their share.
double write_all_parts(Stores& stores, uint64_t rows, bool hashed) {
  constexpr uint64_t kPart = 10'000;
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t at = 0; at < rows; at += kPart) {
    std::vector<std::thread> threads;
    for (size_t which = 0; which < stores.size(); ++which)
      threads.emplace_back(
          [&, which] { write_rows_of(stores, which, at, std::min(rows, at + kPart), rows, hashed); });
    for (std::thread& each : threads) each.join();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void q29_writes(benchmark::State& state, size_t stores, bool hashed) {
  const uint64_t rows = scaled(400'000, 10'000);
  for (auto unused : state) {
    static_cast<void>(unused);
    Stores all;
    for (size_t i = 0; i < stores; ++i)
      all.push_back(std::make_unique<WritableStore>(TableOptions{.families = {{.name = "d"}}},
                                                    EngineOptions{.durability = Durability::kAsyncWal}));
    const double time = write_all_parts(all, rows, hashed);
    state.SetIterationTime(time);
    state.counters["rows/s"] = static_cast<double>(rows) / time;
    state.counters["busy stores"] = busy_stores(rows, stores, hashed);
    uint64_t stored = 0;
    for (const auto& store : all) stored += must(store->rows().count()).rows;
    expect(state, stored == rows, "a row is missing");
  }
}

// ---- Compactions of one store ----

void q29_compactions(benchmark::State& state, bool hashed, const std::string& policy) {
  const uint64_t rows = scaled(400'000, 20'000);
  EngineOptions options;
  options.durability = Durability::kAsyncWal;
  options.memtable_bytes = scaled(2u << 20, 128u << 10);
  for (auto unused : state) {
    static_cast<void>(unused);
    WritableStore store({.families = {{.name = "d", .compaction = policy}}}, options);
    const double begin = thread_seconds();
    for (uint64_t i = 0; i < rows; ++i) {
      const std::string key = hashed ? hash_prefix(event_name(i), 4) + event_name(i) : event_name(i);
      must(store.rows().put(Put(key).add("d", "v", text_of(i, kSpreadBytes))));
    }
    state.SetIterationTime(thread_seconds() - begin);
    must(store.engine().flush());
    must(store.engine().wait_for_background());
    const FamilyInfo family = store.rows().info().families.front();
    state.counters["flushes"] = static_cast<double>(family.flushes);
    state.counters["MB flushed"] = static_cast<double>(family.bytes_flushed) / 1e6;
    state.counters["MB compacted"] = static_cast<double>(family.bytes_compacted) / 1e6;
    state.counters["bytes per row"] = static_cast<double>(store.file_bytes()) / static_cast<double>(rows);
    expect(state, must(store.rows().count()).rows == rows, "a row is missing");
  }
}

// ---- Reads of spread rows ----

// A row is not spread, or by its hash, or by a salt. The salt is made of the hash, or random.
enum class Spread { kRising, kHashed, kSalted, kSaltedByChance };
constexpr const char* kSpreadNames[] = {"rising", "hashed", "salted", "salted_by_chance"};

uint64_t q29_rows() { return scaled(100'000, 4000); }

std::string spread_key(Spread spread, uint64_t number, uint32_t salts) {
  const std::string name = event_name(number);
  if (spread == Spread::kHashed) return hash_prefix(name, 4) + name;
  if (spread == Spread::kSalted) return salted(name, salts);
  if (spread == Spread::kSaltedByChance)
    return std::string(1, static_cast<char>(mixed(number) % salts)) + name;
  return name;
}

Bed& spread_bed(Spread spread, uint32_t salts) {
  return Bed::of(fmt::format("q29 {} {}", static_cast<int>(spread), salts), [=] {
    BedPlan plan;
    plan.table.families = {{.name = "d"}};
    plan.fill = [=](Engine& engine, const std::shared_ptr<Table>& table) -> Status {
      Batch batch;
      for (uint64_t i = 0; i < q29_rows(); ++i) {
        batch.put(table, Put(spread_key(spread, i, salts)).add_at("d", "v", 1, text_of(i, kSpreadBytes)));
        CELLAR_TRY(write_batch(engine, batch, false));
      }
      return write_batch(engine, batch, true);
    };
    return plan;
  });
}

// A reader who does not know the salt asks for each of them.
void q29_lookup(benchmark::State& state, Spread spread, uint32_t salts) {
  Table& table = ready(spread_bed(spread, salts), true);
  Random random(29);
  size_t cells = 0;
  uint64_t gets = 0;
  repeat(state, [&](ReadStats& stats) -> Status {
    const uint64_t number = random.below(q29_rows());
    if (spread != Spread::kSaltedByChance)
      return ++gets, get_cells(table, Get(spread_key(spread, number, salts)).stats(&stats), cells);
    for (uint32_t salt = 0; salt < salts; ++salt, ++gets)
      CELLAR_TRY(get_cells(
          table, Get(std::string(1, static_cast<char>(salt)) + event_name(number)).stats(&stats), cells));
    return {};
  });
  state.counters["gets"] = benchmark::Counter(static_cast<double>(gets), benchmark::Counter::kAvgIterations);
  expect_each(state, cells, 1);
}

Status count_rows(Table& table, const Scan& scan, size_t& cells) {
  return count_cells(table, scan, nullptr, cells);
}

Status scan_in_order(Table& table, Spread spread, uint32_t salts, ReadStats& stats, size_t& cells) {
  const Scan scan = Scan().stats(&stats);
  if (spread == Spread::kRising) return count_rows(table, scan, cells);
  CELLAR_TRY_ASSIGN(const std::unique_ptr<Scanner> scanner, scan_salted(table, scan, salts));
  while (scanner->next()) cells += scanner->row().cells().size();
  return scanner->status();
}

// One thread reads each salt, in any order.
Status scan_in_parallel(Table& table, uint32_t salts, size_t& cells) {
  std::atomic<size_t> found = 0;
  std::vector<std::thread> threads;
  for (uint32_t salt = 0; salt < salts; ++salt)
    threads.emplace_back([&, salt] {
      size_t mine = 0;
      must(count_rows(table, Scan().prefix(std::string(1, static_cast<char>(salt))), mine));
      found += mine;
    });
  for (std::thread& each : threads) each.join();
  cells += found;
  return {};
}

void q29_scan(benchmark::State& state, Spread spread, uint32_t salts, bool parallel) {
  Table& table = ready(spread_bed(spread, salts), true);
  size_t cells = 0;
  repeat(state, [&](ReadStats& stats) {
    return parallel ? scan_in_parallel(table, salts, cells)
                    : scan_in_order(table, spread, salts, stats, cells);
  });
  state.counters["rows/s"] =
      benchmark::Counter(static_cast<double>(q29_rows()), benchmark::Counter::kIsIterationInvariantRate);
  expect_each(state, cells, q29_rows());
}

void register_q29_reads() {
  struct SpreadWay {
    Spread spread;
    uint32_t salts;
  };
  for (const SpreadWay way :
       {SpreadWay{Spread::kRising, 1}, SpreadWay{Spread::kHashed, 1}, SpreadWay{Spread::kSalted, 16},
        SpreadWay{Spread::kSaltedByChance, 4}, SpreadWay{Spread::kSaltedByChance, 16}})
    claim(fmt::format("Q29_rising_keys/part:lookups/keys:{}/salts:{}",
                      kSpreadNames[static_cast<int>(way.spread)], way.salts),
          [=](benchmark::State& state) { q29_lookup(state, way.spread, way.salts); });
  for (const SpreadWay way : {SpreadWay{Spread::kRising, 1}, SpreadWay{Spread::kSalted, 2},
                              SpreadWay{Spread::kSalted, 4}, SpreadWay{Spread::kSalted, 16}})
    for (const bool parallel : {false, true})
      if (!parallel || way.spread == Spread::kSalted)
        claim(fmt::format("Q29_rising_keys/part:scans/keys:{}/salts:{}/order:{}",
                          kSpreadNames[static_cast<int>(way.spread)], way.salts,
                          parallel ? "a_thread_for_each_salt" : "of_keys"),
              [=](benchmark::State& state) { q29_scan(state, way.spread, way.salts, parallel); })
            ->UseRealTime();
}

[[maybe_unused]] const bool registered_spread = [] {
  for (const bool hashed : {false, true})
    for (const size_t stores : {1, 2, 4})
      once(claim(
          fmt::format("Q29_rising_keys/part:writes/keys:{}/stores:{}", hashed ? "hashed" : "rising", stores),
          [=](benchmark::State& state) { q29_writes(state, stores, hashed); }));
  for (const std::string policy : {"exploring", "leveled"})
    for (const bool hashed : {false, true})
      once(claim(fmt::format("Q29_rising_keys/part:compactions/keys:{}/policy:{}",
                             hashed ? "hashed" : "rising", policy),
                 [=](benchmark::State& state) { q29_compactions(state, hashed, policy); }));
  register_q29_reads();
  return true;
}();

}  // namespace
}  // namespace cellar::bench
