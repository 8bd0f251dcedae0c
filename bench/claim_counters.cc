// The claim about counters: ten thousand updates a second of one node (Q25), by threads, by where they fall,
// and by what they survive. Every update returns its new value.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/random.h"
#include "bench/bed.h"

namespace cellar::bench {
namespace {

constexpr uint64_t kCounters = 10'000;

// A store to write to, removed with the object.
class Writable {
 public:
  Writable()
      : path_((std::filesystem::temp_directory_path() / fmt::format("cellar_bench.{:x}", system_random()))
                  .string()) {
    EngineOptions options;
    options.create_if_missing = true;
    Result<std::unique_ptr<Engine>> engine = Engine::open(path_, options);
    if (!engine.ok()) give_up(engine.status());
    engine_ = std::move(engine).value();
    Result<std::shared_ptr<Table>> table = engine_->create_table("t", {.families = {{.name = "d"}}});
    if (!table.ok()) give_up(table.status());
    table_ = *table;
  }
  ~Writable() {
    table_.reset();
    engine_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;
  Table& table() { return *table_; }

 private:
  std::string path_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

// A store for each durability, kept from case to case; every run has rows of its own.
struct Shared {
  std::unique_ptr<Writable> store;
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
      shared.store = std::make_unique<Writable>();
    }
    shared.durability = durability;
    ++shared.runs;
  }
  Random random(static_cast<uint64_t>(state.thread_index()));
  for (auto unused : state) {
    static_cast<void>(unused);
    const std::string row = prefix_of_run() + numbered("page", hot ? 0 : random.below(kCounters));
    const auto value =
        shared.store->table().increment(Increment(row).add("d", "n", 1), {.durability = durability});
    if (!value.ok()) give_up(value.status());
    benchmark::DoNotOptimize(value->front());
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() != 0) return;
  const auto all = static_cast<uint64_t>(state.iterations()) * static_cast<uint64_t>(state.threads());
  if (!sum_is(shared.store->table(), all)) state.SkipWithError("the counters do not add up");
}

[[maybe_unused]] const bool registered = [] {
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
