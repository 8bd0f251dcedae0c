// Goal: a compaction in parts leaves the same store that one part leaves. Method: the same random writes in
// two stores, of which one compacts in parts. All cells and all answers are compared, open snapshots
// included.
#include <fmt/format.h>

#include <map>

#include "tests/engine/compaction_parts_support.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Texts = std::vector<std::string>;

class CompactionParts : public EngineFixture {
 protected:
  void TearDown() override { end(); }
  void end() {
    snapshots_.clear();
    table_.reset();
    engine_.reset();  // before its listener
  }

  EngineOptions options(uint32_t parts) {
    EngineOptions options;
    options.background_threads = 4;
    options.compaction_parts_max = parts;
    options.compaction_part_bytes = 1;
    options.automatic_compaction = false;
    options.compaction_for_scans = false;
    options.drop_expired_files = false;
    options.ttl_clock_guard_s = 0;
    options.environment.events = &watcher_;
    options.environment.seed = 7;
    return options;
  }
  // Begins with an empty store.
  void begin(const std::string& policy, const EngineOptions& options, FamilyOptions f = family("f", 2)) {
    end();
    files_ = make_memory_file_system();
    clock_.set_wall_ms(1'700'000'000'000);
    open(options);
    f.compaction = policy;
    f.block_bytes = 1 << 10;
    f.compression = "none";
    table_ = make_table("t", {f});
  }
  Scan wide() const { return Scan().versions(100); }
  // Returns the cells that the newest state and the snapshots show.
  Texts answers() {
    Texts all = scan(*table_, wide());
    for (const auto& each : snapshots_) {
      all.emplace_back("snapshot");
      for (std::string& text : scan(*table_, wide().snapshot(each))) all.push_back(std::move(text));
    }
    return all;
  }
  Texts raw() { return scan(*table_, wide().raw(true)); }
  uint64_t cells() {
    const TableInfo info = table_->info();
    uint64_t sum = 0;
    for (const StoreFileInfo& each : info.families.at(0).files) sum += each.cells;
    return sum;
  }
  void write(Random& random, int count) {
    for (int i = 0; i < count; ++i) {
      clock_.advance_ms(static_cast<int64_t>(random.below(20)));
      EXPECT_OK(random_write(*table_, random, 150, clock_.wall_ms()));
      if (random.one_in(80) && snapshots_.size() < 3) snapshots_.push_back(engine_->snapshot().value());
    }
    EXPECT_OK(engine_->flush());
  }
  // Compacts, and expects the same answers as before. In families that keep deleted cells, those count as
  // versions when a file is written, as in HBase. An older cell that still shows may then go.
  void compact(bool major) {
    const Texts before = answers();
    EXPECT_OK(major ? table_->major_compact() : table_->compact());
    if (table_->info().options.families.at(0).keep_deleted_cells == KeepDeleted::kFalse) {
      EXPECT_EQ(answers(), before);
    }
  }

  PartsWatcher watcher_;
  std::shared_ptr<Table> table_;
  std::vector<std::shared_ptr<const Snapshot>> snapshots_;
};

FamilyOptions random_family(Random& random) {
  FamilyOptions f;
  f.name = "f";
  f.max_versions = 1 + static_cast<uint32_t>(random.below(3));
  f.min_versions = random.one_in(4) ? 1 : 0;
  if (random.one_in(2)) f.delete_order = MarkerOrder::kSequence;
  if (random.one_in(3)) f.ttl_s = 1 + static_cast<int64_t>(random.below(4));
  if (random.one_in(4)) f.keep_deleted_cells = random.one_in(2) ? KeepDeleted::kTrue : KeepDeleted::kTtl;
  if (random.one_in(4)) f.bloom_allocation = "monkey";
  return f;
}

// A major compaction of some flushes leaves the same cells, markers included, and snapshots see the same.
TEST_F(CompactionParts, LeaveTheCellsThatOnePartLeaves) {
  const uint64_t seed = from_environment("CELLAR_SEED", 1);
  const uint64_t rounds = std::max<uint64_t>(4, scaled(100));
  uint64_t seen = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    for (const std::string& policy : policies_with_parts()) {
      SCOPED_TRACE(fmt::format("seed {}, {}", seed + i, policy));
      Texts left[2];
      Texts shown[2];
      uint64_t counts[2] = {};
      for (const uint32_t parts : {1u, 5u}) {
        Random random(seed + i);
        begin(policy, options(parts), random_family(random));
        for (int flush = 0; flush < 4; ++flush) write(random, 150);
        if (random.one_in(2)) snapshots_.clear();
        compact(true);
        left[parts == 1 ? 0 : 1] = raw();
        shown[parts == 1 ? 0 : 1] = answers();
        counts[parts == 1 ? 0 : 1] = cells();
      }
      ASSERT_EQ(left[0], left[1]);
      ASSERT_EQ(shown[0], shown[1]);
      ASSERT_EQ(counts[0], counts[1]);
      seen += counts[0];
    }
  }
  EXPECT_GT(seen, 100 * rounds);
  EXPECT_GE(watcher_.most_parts(), 4u);
  EXPECT_GE(watcher_.in_parts(), static_cast<int>(rounds * 5));
}

// Writes go on between compactions, which the policy picks.
TEST_F(CompactionParts, AnswersAreTheSameWhatAPolicyDoes) {
  const uint64_t seed = from_environment("CELLAR_SEED", 1);
  for (uint64_t i = 0; i < std::max<uint64_t>(2, scaled(40)); ++i) {
    for (const std::string& policy : policies_with_parts()) {
      SCOPED_TRACE(fmt::format("seed {}, {}", seed + i, policy));
      std::vector<Texts> shown[2];
      for (const uint32_t parts : {1u, 4u}) {
        Random random(seed + i);
        begin(policy, options(parts), random_family(random));
        for (int round = 0; round < 6; ++round) {
          write(random, 120);
          compact(round == 4);
          shown[parts == 1 ? 0 : 1].push_back(answers());
        }
        table_.reset();
        snapshots_.clear();
        EXPECT_OK(engine_->close());
        open(options(parts));
        EXPECT_EQ(engine_->recovery_report().orphans_removed, 0u);
        table_ = engine_->open_table("t").value();
        shown[parts == 1 ? 0 : 1].push_back(answers());
        EXPECT_EQ(files_on_disk(*files_, *table_), files_of(*table_));
      }
      ASSERT_EQ(shown[0], shown[1]);
    }
  }
  EXPECT_GE(watcher_.in_parts(), 6);
}

class CompactionPartsCount : public CompactionParts {
 protected:
  // Returns the most parts of a major compaction of two flushes of 200 rows.
  size_t parts_of(const std::string& policy, const EngineOptions& options) {
    PartsWatcher watcher;
    EngineOptions watched = options;
    watched.environment.events = &watcher;
    begin(policy, watched);
    for (int flush = 0; flush < 2; ++flush) {
      for (uint64_t i = 0; i < 200; ++i)
        EXPECT_OK(table_->put(Put(part_row(i)).add("f", "q", std::string(100, 'v'))));
      EXPECT_OK(engine_->flush());
    }
    EXPECT_OK(table_->major_compact());
    EXPECT_EQ(watcher.merges(), 1);
    bytes_in_ = table_->info().families.at(0).bytes_compacted_from;
    end();
    return watcher.most_parts();
  }
  uint64_t bytes_in_ = 0;
};

constexpr const char* kSmallFiles = "leveled(file_bytes=2k)";

TEST_F(CompactionPartsCount, IsTheLeastOfItsLimits) {
  EXPECT_EQ(parts_of(kSmallFiles, options(1)), 1u);
  EXPECT_EQ(parts_of(kSmallFiles, options(2)), 2u);
  EXPECT_EQ(parts_of(kSmallFiles, options(6)), 6u);
  // Each part has bytes for two files.
  EXPECT_EQ(parts_of("leveled(file_bytes=10k)", options(6)), bytes_in_ / (20 << 10));
  EXPECT_EQ(parts_of("leveled(file_bytes=1m)", options(6)), 1u);
  EngineOptions large = options(6);
  large.compaction_part_bytes = 20 << 10;
  EXPECT_EQ(parts_of(kSmallFiles, large), bytes_in_ / (20 << 10));
  large.compaction_part_bytes = 1 << 20;
  EXPECT_EQ(parts_of(kSmallFiles, large), 1u);
}

TEST_F(CompactionPartsCount, IsByDefaultTheNumberOfThreads) {
  EngineOptions given = options(0);
  for (const int threads : {2, 3, 5}) {
    given.background_threads = threads;
    EXPECT_EQ(parts_of(kSmallFiles, given), static_cast<size_t>(threads) - 1);
  }
  EXPECT_EQ(EngineOptions().compaction_parts_max, 0u);
  given.compaction_part_bytes = EngineOptions().compaction_part_bytes;
  EXPECT_EQ(parts_of(kSmallFiles, given), 1u) << "small compactions are not cut";
}

TEST_F(CompactionPartsCount, IsAtMostAThousand) {
  EXPECT_OK(validate(options(1000)));
  EXPECT_TRUE(validate(options(1001)).is(Code::kInvalidArgument));
}

// The policy decides how many files there are.
TEST_F(CompactionPartsCount, IsOneWhereAPolicyAsksForASingleFile) {
  for (const char* policy : {"exploring", "ratio", "date_tiered", "none"})
    EXPECT_EQ(parts_of(policy, options(6)), 1u) << policy;
}

// Where only the policy's rows begin a file, they are the borders: there are no more files than in one part.
TEST_F(CompactionParts, StripesStayWhole) {
  size_t files[2] = {};
  for (const uint32_t parts : {1u, 6u}) {
    begin("stripe(stripes=6, split_bytes=1m, level0_files_min=2, files_min=2)", options(parts));
    Random random(3);
    for (int flush = 0; flush < 8; ++flush) {
      for (int i = 0; i < 150; ++i)
        EXPECT_OK(table_->put(Put(part_row(random.below(300))).add("f", "q", std::string(80, 'v'))));
      EXPECT_OK(engine_->flush());
      if (flush % 2 == 1) EXPECT_OK(table_->compact());
    }
    files[parts == 1 ? 0 : 1] = table_->info().families.at(0).files.size();
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_GT(watcher_.in_parts(), 0);
}

TEST_F(CompactionParts, TotalsAreTheBytesThatTheFileSystemSaw) {
  begin(kSmallFiles, options(4));
  table_.reset();
  engine_.reset();
  FaultFileSystem& files = watch_files();
  open(options(4));
  table_ = engine_->open_table("t").value();
  for (int flush = 0; flush < 3; ++flush) {
    for (uint64_t i = 0; i < 200; ++i)
      EXPECT_OK(table_->put(Put(part_row(i)).add("f", "q", std::string(100, 'v'))));
    EXPECT_OK(engine_->flush());
  }
  const TableInfo before = table_->info();
  uint64_t inputs = 0;
  for (const StoreFileInfo& each : before.families.at(0).files) inputs += each.bytes;
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(watcher_.most_parts(), 4u);
  const FamilyInfo info = table_->info().families.at(0);
  uint64_t outputs = 0;
  for (const StoreFileInfo& each : info.files) outputs += each.bytes;
  EXPECT_EQ(info.compactions, 1u);
  EXPECT_EQ(info.bytes_compacted_from, inputs);
  EXPECT_EQ(info.bytes_compacted, outputs);
  EXPECT_EQ(engine_->metrics().bytes_written.at("store_files"), info.bytes_flushed + info.bytes_compacted);
  EXPECT_EQ(files.count(FileOperation::kCreate, "tables/*"), 3 + info.files.size());
}

}  // namespace
}  // namespace cellar::testing
