// Goal: who listens to an engine, or counts a range, hears while it works how far it is. Method: flushes,
// compactions and checkpoints of a few thousand cells, whose events are kept; a filter that nothing passes.
#include <mutex>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class ProgressListener final : public EventListener {
 public:
  struct Heard {
    uint64_t events = 0;
    uint64_t cells_done = 0;  // of the last event
    bool rises = true;
  };
  Heard flush;
  Heard compaction;
  uint64_t compaction_cells_in = 0;
  std::vector<CheckpointInfo> checkpoint;

 private:
  void take(Heard& heard, uint64_t cells_done) {
    const std::lock_guard lock(mutex_);
    heard.rises = heard.rises && cells_done >= heard.cells_done;
    heard.cells_done = cells_done;
    ++heard.events;
  }
  void on_flush_progress(const FlushInfo& info) override {
    EXPECT_EQ(info.table, "t");
    EXPECT_EQ(info.family, "f");
    take(flush, info.cells_done);
  }
  void on_compaction_progress(const CompactionInfo& info) override {
    compaction_cells_in = info.cells_in;
    take(compaction, info.cells_done);
  }
  void on_checkpoint_progress(const CheckpointInfo& info) override {
    const std::lock_guard lock(mutex_);
    checkpoint.push_back(info);
  }

  std::mutex mutex_;
};

class ProgressEvents : public EngineFixture {
 protected:
  static constexpr uint64_t kRows = 25'000;  // progress is told every 10,000 cells

  void fill(Table& table, const std::string& prefix) {
    for (uint64_t i = 0; i < kRows;) {
      Batch batch;
      for (uint64_t end = std::min(i + 1000, kRows); i < end; ++i)
        batch.put(engine_->open_table("t").value(),
                  Put(prefix + std::to_string(100'000 + i)).add("f", "q", "v"));
      EXPECT_OK(engine_->write(batch));
    }
    EXPECT_OK(table.flush());
  }
};

TEST_F(ProgressEvents, AreToldWhileFilesAreWritten) {
  ProgressListener heard;
  EngineOptions options;
  options.environment.events = &heard;
  open(options);
  FamilyOptions one = family("f");
  one.compaction = "none";
  const auto table = make_table("t", {one});
  fill(*table, "a");
  EXPECT_GE(heard.flush.events, 2u);
  EXPECT_TRUE(heard.flush.rises);
  EXPECT_LE(heard.flush.cells_done, kRows);
  fill(*table, "b");
  EXPECT_OK(engine_->checkpoint("copy").status());
  ASSERT_EQ(heard.checkpoint.size(), 2u);
  EXPECT_EQ(heard.checkpoint[0].files_done, 1u);
  EXPECT_EQ(heard.checkpoint[1].files_done, 2u);
  EXPECT_EQ(heard.checkpoint[1].files, 2u);
  EXPECT_LT(heard.checkpoint[0].bytes_done, heard.checkpoint[0].bytes);
  EXPECT_EQ(heard.checkpoint[1].bytes_done, heard.checkpoint[1].bytes);
  EXPECT_OK(table->major_compact());
  EXPECT_GE(heard.compaction.events, 4u);
  EXPECT_TRUE(heard.compaction.rises);
  EXPECT_EQ(heard.compaction_cells_in, 2 * kRows);
  EXPECT_LE(heard.compaction.cells_done, 2 * kRows);
  engine_.reset();
}

TEST_F(ProgressEvents, ACountThatFindsNothingCanBeStopped) {
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files_.get();  // the clock is the real one: it goes on by itself
  engine_ = Engine::open("store", options).value();
  const auto table = make_table("t", {family("f")});
  for (int i = 0; i < 4; ++i) fill(*table, std::string(1, static_cast<char>('a' + i)));
  Scan scan;
  scan.filter(parse_filter("ValueFilter(=, 'regexstring:(none|nothing).*at.*all')").value());
  uint64_t asked = 0;
  // Until a count takes longer than 100 ms: on a fast machine the table must be read more than once.
  for (int round = 0; round < 200 && asked == 0; ++round) {
    const Result<RangeCount> count = table->count(scan, [&](const RangeCount& so_far) {
      EXPECT_EQ(so_far, RangeCount());
      ++asked;
      return false;
    });
    if (asked > 0) {
      EXPECT_TRUE(count.status().is(Code::kAborted)) << count.status().to_text();
    } else {
      ASSERT_TRUE(count.ok()) << count.status().to_text();
      EXPECT_EQ(*count, RangeCount());
      fill(*table, "more" + std::to_string(round));
    }
  }
  EXPECT_EQ(asked, 1u);
}

}  // namespace
}  // namespace cellar::testing
