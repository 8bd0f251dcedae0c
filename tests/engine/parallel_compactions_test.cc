// Goal: compactions of different files of a family run at the same time, on the threads that there are. Their
// results are right. Method: a listener stops each compaction at its beginning until enough of them have
// begun. Then random writes with many threads, against a model.
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/pairs_policy.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

// Holds each compaction that rewrites until `wanted` of them have begun, or half a minute has passed.
class Meeting final : public EventListener {
 public:
  void hold_until(int wanted) {
    const std::lock_guard lock(mutex_);
    wanted_ = wanted;
    changed_.notify_all();
  }
  void wait_for(int begun) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return begun_ >= begun; }));
  }
  // How many ran when one on request began, that one included.
  int at_request() const {
    const std::lock_guard lock(mutex_);
    return at_request_;
  }
  int most() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  void on_compaction_begin(const CompactionInfo& info) override {
    if (info.moved) return;
    std::unique_lock lock(mutex_);
    ++begun_;
    most_ = std::max(most_, ++running_);
    if (info.why == "major compaction") at_request_ = running_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return begun_ >= wanted_; });
  }
  void on_compaction_end(const CompactionInfo& info) override {
    if (info.moved) return;
    const std::lock_guard lock(mutex_);
    --running_;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int wanted_ = 0;
  int begun_ = 0;
  int running_ = 0;
  int most_ = 0;
  int at_request_ = 0;
};

class ParallelCompactions : public EngineFixture {
 protected:
  void begin(const char* policy, EngineOptions options = {}) {
    options.environment.events = &meeting_;
    options.background_threads = 5;
    open(options);
    FamilyOptions f = family("f");
    f.compaction = policy;
    f.block_bytes = 1 << 10;
    table_ = make_table(std::string("t_") + policy[0], {f});
  }
  void TearDown() override {
    table_.reset();
    engine_.reset();  // before its listener
  }
  static std::string row(uint64_t number) { return "row" + std::to_string(100'000 + number); }
  void flush_rows(uint64_t first, uint64_t count, const std::string& value) {
    for (uint64_t i = first; i < first + count; ++i) {
      EXPECT_OK(table_->put(Put(row(i)).add("f", "q", value)));
      model_[row(i)] = value;
    }
    EXPECT_OK(engine_->flush());
  }
  void expect_content() {
    std::map<std::string, std::string> found;
    auto scanner = table_->scan(Scan());
    ASSERT_TRUE(scanner.ok());
    for (const RowView each : **scanner) found.emplace(each.row(), each.value("f", "q").value_or("-"));
    EXPECT_OK((*scanner)->status());
    EXPECT_TRUE(found == model_);
  }
  size_t files() const { return table_->info().families.at(0).files.size(); }

  Meeting meeting_;
  std::shared_ptr<Table> table_;
  std::map<std::string, std::string> model_;
};

TEST_F(ParallelCompactions, DifferentFilesAreCompactedAtTheSameTime) {
  Pairs::add();
  meeting_.hold_until(3);
  begin("pairs");
  for (int version = 0; version < 6; ++version) flush_rows(0, 50, "value " + std::to_string(version));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(meeting_.most(), 3);
  EXPECT_EQ(files(), 1u);
  expect_content();
}

// A compaction on request has the family for itself. The automatic ones go on after it.
TEST_F(ParallelCompactions, OneOnRequestWaitsForTheOthers) {
  Pairs::add();
  meeting_.hold_until(3);
  begin("pairs");
  for (int version = 0; version < 4; ++version) flush_rows(0, 50, "value " + std::to_string(version));
  meeting_.wait_for(2);
  std::thread major([&] { EXPECT_OK(table_->major_compact()); });
  for (int version = 4; version < 8; ++version) flush_rows(0, 50, "value " + std::to_string(version));
  meeting_.hold_until(0);
  major.join();
  EXPECT_EQ(meeting_.at_request(), 1);
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files(), 1u);
  expect_content();
}

TEST_F(ParallelCompactions, AnswersStayRightWhileManyRun) {
  for (const char* policy :
       {"leveled(fanout=3, base_bytes=32k, file_bytes=8k, runs_min=2)", "exploring(files_min=2)"}) {
    EngineOptions options;
    options.memtable_bytes = 32 << 10;
    table_.reset();
    begin(policy, options);
    Random random(7);
    const uint64_t writes = std::max<uint64_t>(4'000, scaled(40'000));
    for (uint64_t i = 0; i < writes; ++i) {
      const std::string key = row(random.below(5000));
      if (random.one_in(10)) {
        ASSERT_TRUE(table_->erase(Delete(key)).ok());
        model_.erase(key);
        clock_.advance_ms(1);
      } else {
        model_[key] = "value " + std::to_string(i) + std::string(30, 'x');
        ASSERT_TRUE(table_->put(Put(key).add("f", "q", model_[key])).ok());
      }
    }
    expect_content();
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
    expect_content();
    EXPECT_OK(table_->major_compact());
    expect_content();
    model_.clear();
  }
}

}  // namespace
}  // namespace cellar::testing
