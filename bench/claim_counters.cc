// The claim about counters: ten thousand updates a second of one node (Q25), by threads, by where they fall,
// and by what they survive. Every update returns its new value.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/random.h"
#include "bench/bed.h"
#include "bench/case.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kCounters = 10'000;

// A store for each durability, kept from case to case; every run has rows of its own.
struct Shared {
  std::unique_ptr<WritableStore> store;
  Durability durability = Durability::kSkipWal;
  uint64_t runs = 0;
};
// Changed by the first thread alone, outside the barriers that surround the loop.
Shared shared;

std::string prefix_of_run() { return numbered("run", shared.runs, 5) + "_"; }

// The sum of the run's counters is what was added: none is lost, none counted twice.
bool sum_is(Table& table, uint64_t expected) {
  uint64_t sum = 0;
  const Result<std::unique_ptr<Scanner>> scanner = table.scan(Scan().prefix(prefix_of_run()));
  if (!scanner.ok()) give_up(scanner.status());
  while ((*scanner)->next()) sum += static_cast<uint64_t>((*scanner)->row().counter("d", "n").value_or(0));
  return sum == expected;
}

void q25(benchmark::State& state, Durability durability, bool hot) {
  if (state.thread_index() == 0) {
    if (shared.store == nullptr || shared.durability != durability) {
      shared.store.reset();
      shared.store = std::make_unique<WritableStore>(TableOptions{.families = {{.name = "d"}}});
    }
    shared.durability = durability;
    ++shared.runs;
  }
  Random random(static_cast<uint64_t>(state.thread_index()));
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = prefix_of_run() + numbered("page", hot ? 0 : random.below(kCounters));
    const auto value =
        shared.store->rows().increment(Increment(row).add("d", "n", 1), {.durability = durability});
    if (!value.ok()) give_up(value.status());
    benchmark::DoNotOptimize(value->front());
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() != 0) return;
  const auto all = static_cast<uint64_t>(state.iterations()) * static_cast<uint64_t>(state.threads());
  if (!sum_is(shared.store->rows(), all)) state.SkipWithError("the counters do not add up");
}

[[maybe_unused]] const bool registered_counters = [] {
  for (const Durability durability :
       {Durability::kSkipWal, Durability::kAsyncWal, Durability::kSyncWal, Durability::kFsyncWal}) {
    for (const bool hot : {false, true}) {
      for (const int threads : {1, 4, 16, 64}) {
        benchmark::RegisterBenchmark(fmt::format("Claim/Q25_counters/durability:{}/rows:{}",
                                                 durability_name(durability), hot ? "one_hot" : "uniform")
                                         .c_str(),
                                     [=](benchmark::State& state) { q25(state, durability, hot); })
            ->Threads(threads)
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace cellar::bench
