// Goal: the history of a simulation is what a trace says of a table. Method: an engine over a memory file
// system records operations whose order and sizes are known.
#include "tools/simulate/recorded_writes.h"

#include <gtest/gtest.h>

#include "base/memory_file_system.h"
#include "base/plugins.h"
#include "cellar/cellar.h"
#include "tests/support/manual_clock.h"
#include "tools/simulate/simulation.h"

namespace cellar::testing {
namespace {

class RecordedWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options{.create_if_missing = true};
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    engine_ = Engine::open("store", options).value();
    table_ = engine_->open_or_create_table("t", {.families = {{.name = "f"}}}).value();
    other_ = engine_->open_or_create_table("other", {.families = {{.name = "f"}}}).value();
    ASSERT_TRUE(engine_->start_trace("ops").ok());
  }

  void put(Table& table, const std::string& row, size_t bytes = 10) {
    EXPECT_TRUE(table.put(Put(row).add("f", "q", std::string(bytes, 'v'))).ok());
    clock_.advance_ms(1);
  }
  void get(const std::string& row) {
    EXPECT_TRUE(table_->get(Get(row)).ok());
    clock_.advance_ms(1);
  }
  void erase(const std::string& row) {
    EXPECT_TRUE(table_->erase(Delete(row)).ok());
    clock_.advance_ms(1);
  }
  Result<RecordedHistory> history(const std::string& table = "t") {
    if (const Status stopped = engine_->stop_trace(); !stopped.ok()) ADD_FAILURE() << stopped.to_text();
    return read_recorded_history(*files_, "ops", table);
  }

  std::unique_ptr<FileSystem> files_ = make_memory_file_system();
  ManualClock clock_{1'700'000'000'000};
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> table_;
  std::shared_ptr<Table> other_;
};

std::string text_of(const SimulatedWrite& write) {
  return std::to_string(write.row) + (write.marker ? "d" : "") + (write.reads > 0 ? "+" : "");
}

TEST_F(RecordedWritesTest, RowsAreOrderedAndReadsFollowTheirWrite) {
  get("b");
  put(*table_, "m");
  put(*other_, "x");
  put(*table_, "b");
  get("m");
  get("z");
  erase("m");
  const auto read = history();
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  EXPECT_EQ(read->writes, 3u);
  EXPECT_EQ(read->places.size(), 3u);
  const auto writes = make_recorded_writes(*read);
  EXPECT_EQ(text_of(writes->next()), "1");
  const SimulatedWrite second = writes->next();
  EXPECT_EQ(text_of(second), "0+");
  EXPECT_EQ(second.reads, 2u);
  EXPECT_EQ(writes->next_read().row, 1u);
  EXPECT_EQ(writes->next_read().row, 2u);
  const SimulatedWrite last = writes->next();
  EXPECT_EQ(text_of(last), "1d+");
  EXPECT_EQ(last.reads, 1u);  // the history begins anew: with a read
  EXPECT_EQ(writes->next_read().row, 0u);
  EXPECT_EQ(text_of(writes->next()), "1");
}

TEST_F(RecordedWritesTest, SizesAreThoseOfTheCells) {
  put(*table_, "row1", 100);
  put(*table_, "row2", 200);
  const auto read = history();
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bytes, 2 * (4 + 1 + 1 + 8) + 300u);
  EXPECT_EQ(read->write_bytes(), 14 + 150u);
}

TEST_F(RecordedWritesTest, ATableMustBeChosenAmongSeveral) {
  put(*table_, "a");
  put(*other_, "b");
  ASSERT_TRUE(engine_->stop_trace().ok());
  const auto of_both = read_recorded_history(*files_, "ops", "");
  EXPECT_TRUE(of_both.status().is(Code::kInvalidArgument)) << of_both.status().to_text();
  EXPECT_NE(of_both.status().to_text().find("\"t\" and on \"other\""), std::string::npos);
  EXPECT_EQ(read_recorded_history(*files_, "ops", "other").value().writes, 1u);
  const auto of_none = read_recorded_history(*files_, "ops", "others");
  EXPECT_NE(of_none.status().to_text().find("no writes to the table \"others\""), std::string::npos);
}

TEST_F(RecordedWritesTest, ATraceOfReadsIsNoHistory) {
  get("a");
  EXPECT_TRUE(history().status().is(Code::kInvalidArgument));
  EXPECT_TRUE(read_recorded_history(*files_, "nowhere", "").status().is(Code::kNotFound));
}

TEST_F(RecordedWritesTest, TheSimulationOfATraceCountsItsWrites) {
  for (int i = 0; i < 200; ++i) put(*table_, "row" + std::to_string(i * 37 % 50));
  const auto read = history();
  ASSERT_TRUE(read.ok());
  const auto writes = make_recorded_writes(*read);
  SimulationOptions options;
  options.memtable_bytes = 20 * read->write_bytes();
  options.cells_per_memtable = 20;
  options.bytes_put = 3 * 200 * read->write_bytes();
  register_compaction_plugins();
  const auto policy = Registry<CompactionPolicy>::instance().make("none");
  const auto result = simulate(**policy, *writes, options, {});
  ASSERT_TRUE(result.ok()) << result.status().to_text();
  // The rows come in a circle of 50, so a memtable has 20 different ones.
  EXPECT_EQ(result->flushes, 30u);
  EXPECT_EQ(result->bytes_put, options.bytes_put);
}

}  // namespace
}  // namespace cellar::testing
