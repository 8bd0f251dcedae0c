// Goal: a writer that waits sends on_stall_begin and on_stall_end, once each, with the reason and the time
// that it waited. Method: a flush or a compaction takes exactly as long as the test says, on the manual
// clock. A single writer writes during that time.
#include <algorithm>

#include "tests/engine/engine_fixture.h"
#include "tests/support/step_executor.h"

namespace cellar::testing {
namespace {

// Keeps the stalls, and lengthens flushes and compactions.
class StallListener final : public EventListener {
 public:
  struct Event {
    bool begins = false;
    std::string reason;
    int64_t at_us = 0;
    int64_t micros = 0;  // as told at the end
    bool operator==(const Event&) const = default;
  };

  StallListener(StepExecutor& executor, ManualClock& clock) : executor_(executor), clock_(clock) {}

  std::vector<Event> events;  // the executor runs one thread at a time
  int64_t flush_us = 0;
  int64_t compaction_us = 0;

 private:
  void on_stall_begin(const std::string& reason) override {
    events.push_back({true, reason, clock_.steady_us(), 0});
  }
  void on_stall_end(const std::string& reason, int64_t micros) override {
    events.push_back({false, reason, clock_.steady_us(), micros});
  }
  void on_flush_begin(const FlushInfo&) override {
    if (flush_us > 0) executor_.pause_us(flush_us);
  }
  void on_compaction_begin(const CompactionInfo&) override {
    if (compaction_us > 0) executor_.pause_us(compaction_us);
  }

  StepExecutor& executor_;
  ManualClock& clock_;
};

void PrintTo(const StallListener::Event& event, std::ostream* out) {
  *out << (event.begins ? "begin" : "end") << " at " << event.at_us << " us, " << event.micros
       << " us: " << event.reason;
}

class StallEvents : public EngineFixture {
 protected:
  using Event = StallListener::Event;

  void begin(const char* policy = "exploring") {
    options_.environment.executor = &executor_;
    options_.environment.events = &heard_;
    open(options_);
    FamilyOptions d = family("d");
    d.compaction = policy;
    table_ = make_table("t", {d});
  }
  void TearDown() override {  // the engine goes before its executor
    table_.reset();
    engine_.reset();
  }
  Status put(size_t bytes) { return table_->put(Put("r").add("d", "q", std::string(bytes, 'v'))); }

  // The events are one stall from `begun_us` that took so long, and the status counts it.
  void expect_one_stall(const std::string& reason, int64_t begun_us, int64_t micros) {
    const std::vector<Event> expected = {{true, reason, begun_us, 0},
                                         {false, reason, begun_us + micros, micros}};
    EXPECT_EQ(heard_.events, expected) << executor_.schedule();
    EXPECT_EQ(engine_->status().stalls, 1u);
    EXPECT_EQ(engine_->status().stall_micros, micros);
  }

  EngineOptions options_;
  StepExecutor executor_{1, clock_};
  StallListener heard_{executor_, clock_};
  std::shared_ptr<Table> table_;
};

constexpr size_t kMemtable = 64 << 10;

TEST_F(StallEvents, AWriteThatNeedNotWaitSendsNone) {
  begin();
  for (int i = 0; i < 10; ++i) EXPECT_OK(put(100));
  EXPECT_OK(table_->flush());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(heard_.events, std::vector<Event>{});
}

TEST_F(StallEvents, AWriterWaitsAsLongAsTheFlush) {
  options_.memtable_bytes = kMemtable;
  options_.memtables_frozen_max = 1;
  heard_.flush_us = 3'000'000;
  begin();
  EXPECT_OK(put(2 * kMemtable));  // freezes the memtable
  executor_.pause_us(700'000);    // the flush has begun
  const int64_t begun_us = clock_.steady_us();
  EXPECT_OK(put(10));
  expect_one_stall("1 memtables of t:d wait for their flush", begun_us, 2'300'000);
  EXPECT_OK(put(10));
  EXPECT_EQ(heard_.events.size(), 2u) << "the next write need not wait";
}

TEST_F(StallEvents, AWriterThatGivesUpEndsItsStall) {
  options_.memtable_bytes = kMemtable;
  options_.memtables_frozen_max = 1;
  options_.stall_ms_max = 2000;
  heard_.flush_us = 5'000'000;
  begin();
  EXPECT_OK(put(2 * kMemtable));
  executor_.pause_us(700'000);
  const int64_t begun_us = clock_.steady_us();
  const Status refused = put(10);
  EXPECT_TRUE(refused.is(Code::kBusy)) << refused.to_text();
  expect_one_stall("1 memtables of t:d wait for their flush", begun_us, 2'000'000);
}

// While a compaction into level 1 runs, two newer runs wait for its end. So do writers.
TEST_F(StallEvents, AWriterWaitsAsLongAsTheCompaction) {
  options_.files_slow = 3;
  options_.files_stop = 3;
  begin("leveled(runs_min=3)");
  const auto flush_one = [&] {
    EXPECT_OK(put(10));
    EXPECT_OK(table_->flush());
  };
  for (int files = 1; files <= 3; ++files) flush_one();
  EXPECT_OK(engine_->wait_for_background());
  heard_.compaction_us = 9'000'000;
  for (int files = 4; files <= 7; ++files) flush_one();
  EXPECT_EQ(table_->info().families[0].files.size(), 5u);
  ASSERT_EQ(heard_.events, std::vector<Event>{}) << "a write that is only slowed down does not stall";
  const int64_t begun_us = clock_.steady_us();
  EXPECT_OK(put(10));
  ASSERT_EQ(heard_.events.size(), 2u);
  const int64_t micros = clock_.steady_us() - begun_us;
  EXPECT_GT(micros, 0);
  EXPECT_LE(micros, 9'000'000);
  expect_one_stall("t:d has 3 sorted runs and waits for a compaction", begun_us, micros);
}

// Without automatic flushes nobody makes room: the writer is refused at once.
TEST_F(StallEvents, MemoryThatIsUsedUpIsAStallOfNoTime) {
  options_.memtable_bytes = kMemtable;
  options_.memtable_bytes_total = 2 * kMemtable;
  options_.automatic_flush = false;
  begin();
  EXPECT_OK(put(3 * kMemtable));
  clock_.advance_ms(50);
  EXPECT_TRUE(put(10).is(Code::kBusy));
  expect_one_stall("memory for unflushed writes is used up (memtable_bytes_total=131072)", 50'000, 0);
}

// Each writer that waits sends its own pair.
TEST_F(StallEvents, TwoWritersSendTwoPairs) {
  options_.memtable_bytes = kMemtable;
  options_.memtables_frozen_max = 1;
  heard_.flush_us = 3'000'000;
  begin();
  EXPECT_OK(put(2 * kMemtable));
  executor_.pause_us(700'000);
  for (const char* name : {"one", "two"}) executor_.run_beside(name, [this] { EXPECT_OK(put(10)); });
  executor_.join_beside();
  ASSERT_EQ(heard_.events.size(), 4u);
  EXPECT_EQ(std::ranges::count(heard_.events, true, &Event::begins), 2);
  for (const Event& each : heard_.events) {
    EXPECT_EQ(each.reason, "1 memtables of t:d wait for their flush");
    EXPECT_EQ(each.micros, each.begins ? 0 : 2'300'000);
  }
  EXPECT_EQ(engine_->status().stalls, 2u);
  EXPECT_EQ(engine_->status().stall_micros, 4'600'000);
}

}  // namespace
}  // namespace cellar::testing
