// Goal: a simulation counts what its history writes, and times it as its device says. Method: policies and
// devices for which the figures can be computed.
#include "tools/simulate/simulation.h"

#include <gtest/gtest.h>

#include "base/plugins.h"

namespace cellar::testing {
namespace {

// Merges all files after each flush.
class Everything final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    if (shape.files.size() < 2) return std::nullopt;
    CompactionPlan plan{.why = "all of them"};
    for (const StoreFileInfo& file : shape.files) {
      if (file.busy) return std::nullopt;
      plan.inputs.push_back(file.id);
    }
    return plan;
  }
};

class Nothing final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape&, std::vector<std::string>*) const override {
    return std::nullopt;
  }
};

// Rewrites the oldest file, again and again.
class Endless final : public CompactionPolicy {
 public:
  std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
    if (shape.files.empty() || shape.files[0].busy) return std::nullopt;
    return CompactionPlan{.inputs = {shape.files[0].id}, .why = "once more", .file_bytes = 1 << 30};
  }
};

class SimulationTest : public ::testing::Test {
 protected:
  static SimulationOptions options(uint64_t memtables) {
    SimulationOptions options;
    options.memtable_bytes = 1000;
    options.cells_per_memtable = 100;
    options.bytes_put = memtables * 1000;
    return options;
  }
  static SimulationResult run(const CompactionPolicy& policy, const SimulationOptions& options,
                              const std::string& pattern = "insert", double skew = 0.99) {
    SimulatedPattern of;
    of.name = pattern;
    of.rows = 1000;
    of.skew = skew;
    const auto writes = make_simulated_writes(of);
    EXPECT_TRUE(writes.ok());
    Result<SimulationResult> result = simulate(policy, **writes, options, {});
    EXPECT_TRUE(result.ok()) << result.status().to_text();
    return result.ok() ? *result : SimulationResult();
  }
};

// Flush number n merges n memtables: 2 + 3 + … + 10 = 54 of them.
TEST_F(SimulationTest, CountsTheBytesOfEachCompaction) {
  const SimulationResult result = run(Everything(), options(10));
  EXPECT_EQ(result.bytes_put, 10'000u);
  EXPECT_EQ(result.bytes_flushed, 10'000u);
  EXPECT_EQ(result.bytes_compacted, 54'000u);
  EXPECT_EQ(result.compactions, 9u);
  EXPECT_DOUBLE_EQ(result.write_amplification, (10 + 10 + 54) / 10.0);
  EXPECT_EQ(result.runs_end, 1u);
  EXPECT_DOUBLE_EQ(result.space_amplification, 1);
}

// 1000 rows, loaded by 10 of the 50 memtables.
TEST_F(SimulationTest, SpaceIsThatOfDeadVersionsToo) {
  const SimulationResult none = run(Nothing(), options(50), "overwrite");
  EXPECT_NEAR(none.space_peak, 4.8, 0.2);  // a memtable replaces one row in twenty in place
  const SimulationResult all = run(Everything(), options(50), "overwrite");
  EXPECT_DOUBLE_EQ(all.space_amplification, 1);
  EXPECT_NEAR(all.space_peak, 2.1, 0.01);  // a file, a flush, and their output, before the inputs leave
}

TEST_F(SimulationTest, WhatIsSkippedDoesNotCount) {
  SimulationOptions some = options(10);
  some.bytes_skipped = 5000;
  const SimulationResult result = run(Everything(), some);
  EXPECT_EQ(result.bytes_put, 5000u);
  EXPECT_EQ(result.flushes, 5u);
  EXPECT_EQ(result.bytes_compacted, (6u + 7 + 8 + 9 + 10) * 1000);
}

// Hot rows are replaced in the memtable, so a flush stands for more puts.
TEST_F(SimulationTest, SkewedOverwritesFlushLess) {
  const SimulationResult even = run(Nothing(), options(50), "overwrite");
  const SimulationResult skewed = run(Nothing(), options(50), "zipf", 1.2);
  EXPECT_LT(skewed.flushes, even.flushes * 2 / 3);
  EXPECT_LT(skewed.write_amplification, even.write_amplification);
}

TEST_F(SimulationTest, PoliciesThatDoNotEndAreRefused) {
  SimulatedPattern of;
  const auto writes = make_simulated_writes(of);
  ASSERT_TRUE(writes.ok());
  const auto result = simulate(Endless(), **writes, options(3), {});
  EXPECT_TRUE(result.status().is(Code::kInvalidArgument));
  EXPECT_NE(result.status().message().find("come to no end"), std::string::npos) << result.status().to_text();
}

TEST_F(SimulationTest, ProgressMayEndIt) {
  SimulatedPattern of;
  of.name = "insert";
  const auto writes = make_simulated_writes(of);
  uint64_t calls = 0;
  const auto result = simulate(Nothing(), **writes, options(1000), [&](uint64_t) { return ++calls < 5; });
  EXPECT_TRUE(result.status().is(Code::kAborted));
  EXPECT_EQ(calls, 5u);
}

// The disk writes what is put once, at a tenth of the rate of the writer.
TEST_F(SimulationTest, ADiskThatIsSlowerThanTheWriterStallsIt) {
  SimulationOptions slow = options(200);
  slow.device.instant = false;
  slow.device.put_rate = 100'000;
  slow.device.write_rate = 10'000;
  slow.device.cores = 8;
  const SimulationResult result = run(Nothing(), slow);
  EXPECT_NEAR(result.seconds, 20, 1);
  EXPECT_GT(result.stalled_seconds + result.slowed_seconds, 15);
  EXPECT_GE(result.stalled_seconds, result.longest_stall);
  slow.device.write_rate = 1e9;
  const SimulationResult fast = run(Nothing(), slow);
  EXPECT_NEAR(fast.seconds, 2, 0.1);
  EXPECT_EQ(fast.stalled_seconds, 0);
}

// While compactions take time, flushes go on, and more runs pile up than without a device.
TEST_F(SimulationTest, CompactionsThatTakeTimeLetRunsPileUp) {
  SimulationOptions timed = options(300);
  const SimulationResult instant = run(Everything(), timed);
  EXPECT_EQ(instant.runs_most, 1u);
  timed.device.instant = false;
  timed.device.put_rate = 1'000'000;
  timed.device.merge_rate = 300'000;
  const SimulationResult device = run(Everything(), timed);
  EXPECT_GT(device.runs_most, 3u);
  EXPECT_LE(device.runs_most, 17u);  // files_stop, and one flush that had begun
  EXPECT_LT(device.bytes_compacted, instant.bytes_compacted);
}

TEST_F(SimulationTest, SamplesFollowTheHistory) {
  SimulationOptions some = options(100);
  some.samples = 10;
  const SimulationResult result = run(Nothing(), some);
  ASSERT_EQ(result.series.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.series[i].bytes_put, (i + 1) * 10'000);
    EXPECT_EQ(result.series[i].files, (i + 1) * 10);
    EXPECT_DOUBLE_EQ(result.series[i].write_amplification, 2);
  }
}

TEST_F(SimulationTest, PatternsAreChecked) {
  const auto expect_refused = [](const SimulatedPattern& pattern, const char* part) {
    const auto made = make_simulated_writes(pattern);
    EXPECT_TRUE(made.status().is(Code::kInvalidArgument));
    EXPECT_NE(made.status().to_text().find(part), std::string::npos) << made.status().to_text();
  };
  expect_refused({.name = "overwrites"}, "did you mean overwrite?");
  expect_refused({.rows = 0}, "0 rows");
  expect_refused({.rows = uint64_t{1} << 40}, "lower resolution");
  expect_refused({.skew = -1}, "skew -1");
  expect_refused({.deletes = 1}, "deletes 1");
  expect_refused({.updates = 1.5}, "updates 1.5");
}

TEST_F(SimulationTest, UpdatesOverwriteRowsThatExist) {
  SimulatedPattern pattern{.name = "insert", .rows = 10, .updates = 0.5};
  const auto writes = make_simulated_writes(pattern);
  ASSERT_TRUE(writes.ok());
  uint32_t next = 0;
  int updates = 0;
  for (int i = 0; i < 1010; ++i) {
    const SimulatedWrite write = (*writes)->next();
    ASSERT_LE(write.number, next);
    if (write.number == next) {
      ++next;
    } else {
      ASSERT_GE(i, 10);
      ++updates;
    }
  }
  EXPECT_NEAR(updates, 500, 60);
}

// Reads change no write, and only a policy that asks for them makes other plans.
TEST_F(SimulationTest, ReadsAreTold) {
  SimulationOptions read = options(100);
  read.bytes_skipped = 10'000;
  read.reads = 1;
  class Watching final : public CompactionPolicy {
   public:
    std::optional<CompactionPlan> pick(const StoreShape& shape, std::vector<std::string>*) const override {
      // The youngest file is new; an older one that was read since has a later number than when it was new.
      for (const StoreFileInfo& file : shape.files) most = std::max(most, file.last_read - file.id);
      return std::nullopt;
    }
    mutable uint64_t most = 0;
  };
  const Watching with;
  const SimulationResult result = run(with, read, "overwrite");
  EXPECT_GT(with.most, 20u);
  const Watching without;
  EXPECT_EQ(run(without, options(100), "overwrite").bytes_flushed, [&] {
    SimulationOptions all = options(100);
    all.reads = 2;
    return run(Nothing(), all, "overwrite").bytes_flushed;
  }());
  EXPECT_LE(without.most, 1u);
  EXPECT_GT(result.flushes, 0u);
}

TEST_F(SimulationTest, CountsMarkersAndTheirAge) {
  SimulatedPattern pattern{.name = "overwrite", .rows = 1000, .deletes = 0.3};
  const auto writes = make_simulated_writes(pattern);
  ASSERT_TRUE(writes.ok());
  SimulationOptions counted = options(50);
  counted.bytes_skipped = 10'000;
  counted.device.put_rate = 1000;  // a memtable is a second
  const auto result = simulate(Nothing(), **writes, counted, {});
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(static_cast<double>(result->deletes), 0.3 * 4000, 120);
  EXPECT_GT(result->markers_end, result->deletes * 9 / 10);
  EXPECT_NEAR(result->marker_age_seconds, 40, 1.5);
}

}  // namespace
}  // namespace cellar::testing
