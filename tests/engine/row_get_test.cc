// Goal: plain gets (RowGet) return what explained gets (RowReader) return. A get that finds its cell in the
// memtable leaves files alone only if they cannot change the answer.
// Method: random puts and deletes with few rows, columns and timestamps, random flushes and compactions, and
// families with different rules. Each get is read by both drivers and compared. Cases of one column follow.
#include "base/random.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class RowGetTest : public EngineFixture {
 protected:
  static std::vector<FamilyOptions> families() {
    FamilyOptions counted = family("b", 3);
    counted.delete_order = MarkerOrder::kSequence;
    FamilyOptions kept = family("c", 2);
    kept.keep_deleted_cells = KeepDeleted::kTrue;
    kept.bloom = "rowcol";
    FamilyOptions expiring = family("d", 2);
    expiring.ttl_s = 3600;
    return {family("a"), counted, kept, expiring};
  }

  // Reads by RowGet, by RowReader, and by a scan of the row.
  void compare(Table& table, const Get& plain, const std::string& what) {
    ReadStats stats;
    const Texts cells = get(table, Get(plain).stats(&stats));
    ReadExplanation explanation;
    EXPECT_EQ(cells, get(table, Get(plain).explain(&explanation))) << what;
    EXPECT_EQ(stats.cells_returned, cells.size()) << what;
    EXPECT_EQ(stats.rows_returned, cells.empty() ? 0u : 1u) << what;
    const Result<bool> exists = table.exists(plain);
    ASSERT_TRUE(exists.ok());
    EXPECT_EQ(*exists, !cells.empty()) << what;
  }
};

TEST_F(RowGetTest, BothDriversReadTheSame) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    open({.automatic_compaction = false});
    const auto table = make_table("t" + std::to_string(seed), families());
    ASSERT_NE(table, nullptr);
    const auto row = [&] { return "row" + std::to_string(random.below(4)); };
    const auto name = [&] { return std::string(1, static_cast<char>('a' + random.below(4))); };
    const auto qualifier = [&] {
      return random.one_in(5) ? std::string() : "q" + std::to_string(random.below(3));
    };
    const auto time = [&] { return clock_.wall_ms() - 5 + static_cast<int64_t>(random.below(10)); };
    std::shared_ptr<const Snapshot> snapshot;
    for (int step = 0; step < 600; ++step) {
      const uint64_t what = random.below(20);
      if (what < 9) {
        EXPECT_OK(table->put(Put(row()).add_at(name(), qualifier(), time(), std::to_string(step))));
      } else if (what < 11) {
        EXPECT_OK(table->erase(Delete(row()).column(name(), qualifier(), time())));
      } else if (what < 12) {
        EXPECT_OK(table->erase(Delete(row()).family(name(), time())));
      } else if (what == 12 && random.one_in(2)) {
        EXPECT_OK(table->flush());
      } else if (what == 13 && random.one_in(8)) {
        EXPECT_OK(table->major_compact());
      } else if (what == 14) {
        clock_.set_wall_ms(clock_.wall_ms() + static_cast<int64_t>(random.below(4)));
      } else if (what == 15 && random.one_in(4)) {
        snapshot = random.one_in(2) ? nullptr : engine_->snapshot().value();
      }
      Get plain(row());
      for (uint64_t i = random.below(3); i > 0; --i) {
        if (random.one_in(3)) {
          plain.family(name());
        } else {
          plain.column(name(), qualifier());
        }
      }
      if (random.one_in(3)) plain.versions(1 + static_cast<uint32_t>(random.below(3)));
      if (random.one_in(4)) plain.strict_versions(true);
      if (random.one_in(4)) plain.time_range(time() - 3, time() + 1000);
      if (random.one_in(6)) plain.family_time_range(name(), 0, time());
      if (snapshot != nullptr && random.one_in(3)) plain.snapshot(snapshot);
      compare(*table, plain, "seed " + std::to_string(seed) + ", step " + std::to_string(step));
    }
  }
}

TEST_F(RowGetTest, ANewerCellInMemoryNeedsNoFile) {
  open({.automatic_compaction = false});
  const auto table = make_table("t", {family("f")});
  ASSERT_NE(table, nullptr);
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 100, "file").add_at("f", "x", 100, "file")));
  EXPECT_OK(table->flush());
  const auto read = [&](const std::string& qualifier, uint64_t skipped) {
    ReadStats stats;
    const Texts cells = get(*table, Get("r").column("f", qualifier).stats(&stats));
    EXPECT_EQ(stats.files_skipped_time, skipped);
    EXPECT_EQ(stats.files_considered, 1u);
    return cells;
  };
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 101, "memory")));
  EXPECT_EQ(read("q", 1), (Texts{"r/f:q/101/Put=memory"}));
  EXPECT_EQ(read("x", 0), (Texts{"r/f:x/100/Put=file"})) << "memory has the row, and not the column";
  EXPECT_OK(table->put(Put("r").add_at("f", "x", 99, "memory")));
  EXPECT_EQ(read("x", 0), (Texts{"r/f:x/100/Put=file"})) << "the file's is newer";
}

TEST_F(RowGetTest, AMarkerInAFileHidesACellOfItsTime) {
  open({.automatic_compaction = false});
  const auto table = make_table("t", {family("f")});
  ASSERT_NE(table, nullptr);
  EXPECT_OK(table->erase(Delete("r").family("f", 100)));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 100, "hidden")));
  EXPECT_EQ(get(*table, Get("r").column("f", "q")), Texts{});
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 101, "shown")));
  EXPECT_EQ(get(*table, Get("r").column("f", "q")), (Texts{"r/f:q/101/Put=shown"}));
}

TEST_F(RowGetTest, ANewerCellInAFileNeedsNoOlderFile) {
  open({.automatic_compaction = false});
  const auto table = make_table("t", {family("f")});
  ASSERT_NE(table, nullptr);
  const auto flushed = [&](const Put& put) {
    EXPECT_OK(table->put(put));
    EXPECT_OK(table->flush());
  };
  flushed(Put("r").add_at("f", "q", 100, "1").add_at("f", "x", 100, "1").add_at("f", "y", 90, "1"));
  flushed(Put("s").add_at("f", "q", 100, "2"));
  flushed(Put("r").add_at("f", "q", 101, "3").add_at("f", "x", 100, "3").add_at("f", "z", 102, "3"));
  const auto read = [&](const Get& get, uint64_t skipped) {
    ReadStats stats;
    const Texts cells = this->get(*table, Get(get).stats(&stats));
    EXPECT_EQ(stats.files_skipped_time, skipped);
    EXPECT_EQ(stats.files_considered, 3u);
    return cells;
  };
  EXPECT_EQ(read(Get("r").column("f", "q"), 2), (Texts{"r/f:q/101/Put=3"}));
  EXPECT_EQ(read(Get("r").column("f", "x"), 0), (Texts{"r/f:x/100/Put=3"})) << "as new as an older file's";
  EXPECT_EQ(read(Get("r").column("f", "y"), 0), (Texts{"r/f:y/90/Put=1"})) << "the young file lacks it";
  EXPECT_EQ(read(Get("r").column("f", "q").versions(2), 2).size(), 1u) << "the family keeps one version";
  EXPECT_EQ(read(Get("r").family("f"), 0).size(), 4u);
}

TEST_F(RowGetTest, AMarkerInAnOlderFileHidesACellOfItsTime) {
  open({.automatic_compaction = false});
  const auto table = make_table("t", {family("f")});
  ASSERT_NE(table, nullptr);
  EXPECT_OK(table->erase(Delete("r").family("f", 100)));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 100, "hidden").add_at("f", "x", 101, "shown")));
  EXPECT_OK(table->flush());
  EXPECT_EQ(get(*table, Get("r").column("f", "q")), Texts{});
  EXPECT_EQ(get(*table, Get("r").column("f", "x")), (Texts{"r/f:x/101/Put=shown"}));
}

TEST_F(RowGetTest, AFileThatIsMostlyAsOldAsOthersIsReadWithThem) {
  open({.automatic_compaction = false});
  const auto table = make_table("t", {family("f")});
  ASSERT_NE(table, nullptr);
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 100, "older")));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 101, "newer").add_at("f", "x", 50, "newer")));
  EXPECT_OK(table->flush());
  ReadStats stats;
  EXPECT_EQ(get(*table, Get("r").column("f", "q").stats(&stats)), (Texts{"r/f:q/101/Put=newer"}));
  EXPECT_EQ(stats.files_skipped_time, 0u);
}

// The cursor of a get gives its block to the answer. Without a cache nothing else holds the block, and the
// next reads take its memory.
TEST_F(RowGetTest, AnAnswerKeepsItsBlocks) {
  for (const uint64_t cache_bytes : {uint64_t{0}, uint64_t{8} << 20}) {
    open({.cache_bytes = cache_bytes, .automatic_compaction = false});
    const auto table = make_table("t" + std::to_string(cache_bytes), {family("f"), family("g")});
    const auto row = [](int i) { return "row" + std::to_string(1'000 + i); };
    const auto value = [](int i, char of) { return std::string(2'000, of) + std::to_string(i); };
    for (int i = 0; i < 100; ++i)
      EXPECT_OK(table->put(Put(row(i))
                               .add("f", "p", value(i, 'p'))
                               .add("f", "q", value(i, 'q'))
                               .add("g", "q", value(i, 'g'))));
    EXPECT_OK(table->flush());
    std::vector<RowBatch> columns(100), families(100), rows(100);
    for (int i = 0; i < 100; ++i) {
      const auto at = static_cast<size_t>(i);
      EXPECT_OK(table->get_into(Get(row(i)).column("f", "q"), columns[at]));
      EXPECT_OK(table->get_into(Get(row(i)).family("f"), families[at]));
      EXPECT_OK(table->get_into(Get(row(i)), rows[at]));
    }
    EXPECT_OK(table->major_compact());  // empties the cache of the old file
    for (int i = 0; i < 100; ++i) {
      const auto at = static_cast<size_t>(i);
      EXPECT_EQ(columns[at].row().value("f", "q"), value(i, 'q'));
      EXPECT_EQ(families[at].row().value("f", "p"), value(i, 'p'));
      EXPECT_EQ(families[at].row().value("f", "q"), value(i, 'q'));
      EXPECT_EQ(rows[at].row().value("f", "p"), value(i, 'p'));
      EXPECT_EQ(rows[at].row().value("g", "q"), value(i, 'g'));
    }
    columns.clear();
    families.clear();
    rows.clear();
    EXPECT_OK(engine_->close());
  }
}

}  // namespace
}  // namespace cellar::testing
