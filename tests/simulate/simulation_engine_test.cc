// Goal: a simulation says what the engine does. Method: each registered policy runs three histories of
// writes, simulated and in an engine over a memory file system. The same rows are in the same memtables.
// Write amplification must agree within 5 %, and the runs at the end must be equal.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "base/plugins.h"
#include "cellar/cellar.h"
#include "tests/support/manual_clock.h"
#include "tools/simulate/simulated_store.h"
#include "tools/simulate/simulation.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kCells = 500;  // of a memtable
constexpr uint64_t kValueBytes = 1000;
constexpr uint64_t kMemtables = 60;
constexpr uint64_t kBeginMs = 1'700'000'000'000;

// Keeps the writes that the simulation asked for.
class KeptWrites final : public SimulatedWrites {
 public:
  explicit KeptWrites(SimulatedWrites& from) : from_(from) {}
  SimulatedWrite next() override {
    all.push_back(from_.next());
    return all.back();
  }
  SimulatedWrite next_read() override { return from_.next_read(); }
  std::vector<SimulatedWrite> all;

 private:
  SimulatedWrites& from_;
};

// A store of one family whose compactions run when the test says so. Each write takes a millisecond.
class SmallStore {
 public:
  SmallStore(const std::string& policy, uint64_t flush_bytes) {
    EngineOptions options{.create_if_missing = true};
    options.memtable_bytes = flush_bytes;
    options.automatic_flush = false;  // the test flushes
    options.automatic_compaction = false;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    engine_ = std::move(Engine::open("store", options)).value();
    FamilyOptions family;
    family.name = "f";
    family.max_versions = 1;
    family.compression = "none";
    family.block_bytes = 2048;
    family.compaction = policy;
    table_ = engine_->open_or_create_table("t", {.families = {family}}).value();
  }

  void write(const SimulatedWrite& write) {
    const std::string row = simulated_row(write.row);
    const Status status = write.marker ? table_->erase(Delete(row))
                                       : table_->put(Put(row).add("f", "q", std::string(kValueBytes, 'v')));
    EXPECT_TRUE(status.ok()) << status.to_text();
    clock_.advance_ms(1);
  }
  void flush() { EXPECT_TRUE(table_->flush().ok()); }
  void compact() {
    const Status status = table_->compact();
    EXPECT_TRUE(status.ok()) << status.to_text();
  }
  std::vector<StoreFileInfo> files() const { return table_->info().families.at(0).files; }
  EngineStatus status() const { return engine_->status(); }

 private:
  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  ManualClock clock_{kBeginMs};
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
};

// The size of files: a part for each cell, and one for the file.
struct FileSize {
  uint64_t cell = 0;
  uint64_t marker = 0;
  uint64_t file = 0;
};

FileSize measured_size() {
  const auto bytes_of = [](uint32_t cells, bool markers) {
    SmallStore store("none", 1 << 20);
    for (uint32_t row = 0; row < cells; ++row) store.write({row, row * 0x9e3779b1u, markers});
    store.flush();
    return store.files().at(0).bytes;
  };
  const uint64_t some = bytes_of(kCells, false);
  const uint64_t cell = (bytes_of(8 * kCells, false) - some) / (7 * kCells);
  const uint64_t marker = (bytes_of(8 * kCells, true) - bytes_of(kCells, true)) / (7 * kCells);
  return {cell, marker, some - cell * kCells};
}

size_t runs_of_files(const std::vector<StoreFileInfo>& files) { return runs_of(files).size(); }

struct Case {
  std::string policy;
  std::string pattern;
  double deletes = 0;
};

void run_case(const Case& each, const FileSize& size) {
  SCOPED_TRACE(each.policy + ", " + each.pattern);
  SimulatedPattern pattern;
  pattern.name = each.pattern;
  pattern.rows = 10 * kCells;
  pattern.deletes = each.deletes;
  const auto made = make_simulated_writes(pattern);
  ASSERT_TRUE(made.ok());
  KeptWrites writes(**made);

  SimulationOptions options;
  // A little larger than a flush, as memtables are: limits that are exactly the size of a flush are no test.
  options.memtable_bytes = kCells * (size.cell + size.cell / 10);
  options.cells_per_memtable = kCells;
  options.cell_bytes = size.cell;
  options.marker_bytes = size.marker;
  options.file_overhead = size.file;
  options.bytes_put = kMemtables * options.memtable_bytes;
  options.begin_ms = kBeginMs;
  options.device.put_rate =
      static_cast<double>(options.memtable_bytes) / kCells * 1000;  // a millisecond each
  const auto policy = Registry<CompactionPolicy>::instance().make(each.policy);
  ASSERT_TRUE(policy.ok());
  const Result<SimulationResult> simulated = simulate(**policy, writes, options, {});
  ASSERT_TRUE(simulated.ok()) << simulated.status().to_text();

  SmallStore store(each.policy, options.memtable_bytes);
  std::map<uint32_t, bool> newest;  // of the memtable: whether the newest cell of a row is a marker
  uint64_t cells = 0;
  for (size_t i = 0; i < writes.all.size(); ++i) {
    const SimulatedWrite& write = writes.all[i];
    store.write(write);
    const auto known = newest.find(write.row);
    if (known == newest.end() || known->second != write.marker) ++cells;
    newest[write.row] = write.marker;
    if (cells < kCells && i + 1 < writes.all.size()) continue;
    newest.clear();
    cells = 0;
    store.flush();
    store.compact();
  }
  const EngineStatus status = store.status();
  const auto put = static_cast<double>(simulated->bytes_put);
  const double written = static_cast<double>(status.bytes_flushed + status.bytes_compacted);
  const double engine = (put + written) / put;
  EXPECT_EQ(runs_of_files(store.files()), simulated->runs_end);
  EXPECT_NEAR(simulated->write_amplification / engine, 1, 0.05)
      << "simulated " << simulated->write_amplification << ", engine " << engine;
  EXPECT_GT(simulated->flushes, kMemtables / 2);
}

class SimulationAndEngine : public ::testing::TestWithParam<std::string> {};

TEST_P(SimulationAndEngine, Agree) {
  const FileSize size = measured_size();
  ASSERT_GT(size.cell, 100u);
  run_case({GetParam(), "overwrite"}, size);
  run_case({GetParam(), "zipf", 0.2}, size);
  // Files of exactly equal sizes would stand at the limits of some policies: 6 is 1.2 times 3 and 1 and 1.
  run_case({GetParam(), "append", 0.3}, size);
}

std::vector<std::string> all_policies() {
  register_compaction_plugins();
  return Registry<CompactionPolicy>::instance().names();
}

INSTANTIATE_TEST_SUITE_P(Policies, SimulationAndEngine, ::testing::ValuesIn(all_policies()),
                         [](const auto& policy) { return policy.param; });

}  // namespace
}  // namespace cellar::testing
