// Goal: the cells that a snapshot shows never change, whatever is written, deleted, flushed and compacted
// later or meanwhile. Method: by hand, cases in which a rewrite may drop cells that only newer, or not yet
// written, cells bring back. Then random writes with timestamps out of order and deletes of all kinds over
// tiny memtables, with background work under way. Snapshots are opened, read again and again, and closed
// meanwhile.
#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "engine/log/directory.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class SnapshotTest : public EngineFixture {
 protected:
  SnapshotTest() {
    watch_files().before_each([this](const FileCall& call) {
      if (call.operation == FileOperation::kCreate && call.name.find("/f/") != std::string::npos &&
          meanwhile_)
        std::exchange(meanwhile_, nullptr)();
    });
  }
  ~SnapshotTest() override {
    table_.reset();
    engine_.reset();
  }
  // Calls `act` once, while the next flush or compaction is under way. It has read the open snapshots and the
  // stored cells by then, and is creating its file.
  void meanwhile(std::function<void()> act) { meanwhile_ = std::move(act); }

  std::shared_ptr<const Snapshot> snapshot() {
    auto made = engine_->snapshot();
    EXPECT_TRUE(made.ok()) << made.status().to_text();
    return made.ok() ? made.value() : nullptr;
  }
  void put(const std::string& qualifier, int64_t timestamp, const std::string& value) {
    EXPECT_OK(table_->put(Put("r").add_at("f", qualifier, timestamp, value)));
  }
  void make(FamilyOptions options) {
    EngineOptions engine;
    engine.automatic_compaction = false;
    open(engine);
    table_ = make_table("t", {std::move(options)});
  }

  std::function<void()> meanwhile_;
  std::shared_ptr<Table> table_;
};

TEST_F(SnapshotTest, AMarkerStaysWhileMemoryHoldsWhatItHides) {
  make(family("f"));
  put("a", 9, "new");
  EXPECT_OK(table_->erase(Delete("r").column("f", "a", 10)));
  EXPECT_OK(table_->flush());
  put("a", 5, "late");
  const auto seen = snapshot();
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), Texts{});
  EXPECT_EQ(get(*table_, Get("r")), Texts{});
  // Once both are in files, both go.
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), Texts{});
  EXPECT_EQ(table_->info().families[0].files.size(), 0u);
}

TEST_F(SnapshotTest, AVersionStaysThatADeleteOfTheNewerOneShows) {
  make(family("f", 1));
  put("a", 2, "older");
  EXPECT_OK(table_->flush());
  put("a", 3, "newer");
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->erase(Delete("r").version("f", "a", 3)));
  const Texts older = {"r/f:a/2/Put=older"};
  const auto seen = snapshot();
  EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), older);
  EXPECT_OK(table_->major_compact());  // the delete is in memory
  EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), older);
}

TEST_F(SnapshotTest, AVersionStaysThatALaterDeleteInTheSameRewriteShows) {
  make(family("f", 1));
  put("a", 2, "older");
  put("a", 3, "newer");
  const auto before = snapshot();
  EXPECT_OK(table_->erase(Delete("r").version("f", "a", 3)));
  const auto after = snapshot();
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(get(*table_, Get("r").snapshot(before)), Texts{"r/f:a/3/Put=newer"});
  EXPECT_EQ(get(*table_, Get("r").snapshot(after)), Texts{"r/f:a/2/Put=older"});
}

TEST_F(SnapshotTest, WhatIsWrittenDuringACompactionStaysHidden) {
  make(family("f"));
  put("a", 9, "new");
  put("b", 9, "kept");
  EXPECT_OK(table_->erase(Delete("r").column("f", "a", 10)));
  EXPECT_OK(table_->flush());
  std::shared_ptr<const Snapshot> seen;
  meanwhile([&] {
    put("a", 5, "late");
    seen = snapshot();
    EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), Texts{"r/f:b/9/Put=kept"});
  });
  EXPECT_OK(table_->major_compact());
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), Texts{"r/f:b/9/Put=kept"});
  // The marker is gone: who reads now reads what HBase shows. The old file goes with its last reader.
  EXPECT_EQ(get(*table_, Get("r")), (Texts{"r/f:a/5/Put=late", "r/f:b/9/Put=kept"}));
  const std::string family_directory = "store/tables/1/f";
  const auto store_files = [&] {
    size_t count = 0;
    auto directory = memory_->open_directory(family_directory, false);
    EXPECT_TRUE(directory.ok()) << directory.status().to_text();
    for (const DirectoryEntry& entry : *(*directory)->list()) count += is_store_file_name(entry.name) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(store_files(), 2u);
  seen.reset();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(store_files(), 1u);
}

TEST_F(SnapshotTest, AVersionThatIsDroppedDuringADeleteIsStillShown) {
  for (const bool flush : {true, false}) {
    make(family("f", 1));
    put("a", 2, "older");
    if (!flush) EXPECT_OK(table_->flush());
    put("a", 3, "newer");
    if (!flush) EXPECT_OK(table_->flush());
    const Texts older = {"r/f:a/2/Put=older"};
    std::shared_ptr<const Snapshot> seen;
    meanwhile([&] {
      EXPECT_OK(table_->erase(Delete("r").version("f", "a", 3)));
      seen = snapshot();
      EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), older);
    });
    EXPECT_OK(flush ? table_->flush() : table_->major_compact());
    ASSERT_NE(seen, nullptr);
    EXPECT_EQ(get(*table_, Get("r").snapshot(seen)), older) << flush;
    EXPECT_EQ(get(*table_, Get("r")), Texts{}) << flush;
    EXPECT_OK(engine_->drop_table("t"));
  }
}

class RandomSnapshotTest : public SnapshotTest, public ::testing::WithParamInterface<int> {
 protected:
  struct Held {
    std::shared_ptr<const Snapshot> snapshot;
    Texts shown;
  };
  int64_t time() { return static_cast<int64_t>(1 + random_.below(8)); }
  std::string name(const char* prefix, size_t count) { return prefix + std::to_string(random_.below(count)); }

  void start() {
    EngineOptions engine;
    engine.memtable_bytes = 64 << 10;
    open(engine);
    FamilyOptions options = family("f", static_cast<uint32_t>(1 + random_.below(3)));
    options.keep_deleted_cells = static_cast<KeepDeleted>(random_.below(2));
    options.delete_order = static_cast<MarkerOrder>(random_.below(2));
    options.block_bytes = 1024;
    table_ = make_table("t", {options});
  }

  void write() {
    const std::string row = name("r", 12);
    const std::string qualifier = name("q", 3);
    switch (random_.below(10)) {
      case 0:
        EXPECT_OK(table_->erase(Delete(row).column("f", qualifier, time())));
        break;
      case 1:
        EXPECT_OK(table_->erase(Delete(row).version("f", qualifier, time())));
        break;
      case 2:
        EXPECT_OK(table_->erase(Delete(row).family("f", time())));
        break;
      case 3:
        EXPECT_OK(table_->erase(Delete(row).family_version("f", time())));
        break;
      default:
        EXPECT_OK(table_->put(Put(row).add_at("f", qualifier, time(), std::string(random_.below(40), 'v'))));
    }
  }

  Texts shown_at(const std::shared_ptr<const Snapshot>& at) {
    return scan(*table_, Scan().all_versions().snapshot(at));
  }

  Random random_{test_seed(static_cast<uint64_t>(GetParam()))};
  std::vector<Held> held_;
};

TEST_P(RandomSnapshotTest, ShowsTheSameEachTime) {
  const uint64_t steps = scaled(4000);
  for (int round = 0; round < 6 && !HasFailure(); ++round) {
    held_.clear();
    start();
    for (uint64_t i = 0; i < steps && !HasFailure(); ++i) {
      write();
      if (random_.below(40) == 0) EXPECT_OK(table_->flush());
      if (random_.below(60) == 0)
        EXPECT_OK(random_.below(2) == 0 ? table_->major_compact() : table_->compact());
      if (random_.below(30) == 0) {
        const auto opened = snapshot();
        held_.push_back({opened, shown_at(opened)});
      }
      if (held_.size() > 6) held_.erase(held_.begin() + static_cast<ptrdiff_t>(random_.below(held_.size())));
      if (random_.below(15) != 0 || held_.empty()) continue;
      const Held& again = held_[random_.below(held_.size())];
      ASSERT_EQ(shown_at(again.snapshot), again.shown) << "round " << round << " step " << i;
    }
    EXPECT_OK(engine_->drop_table("t"));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSnapshotTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace cellar::testing
