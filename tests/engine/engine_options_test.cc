// Goal: options of an engine that concern threads and damaged logs do what they say. Method: compactions wait
// for one another, which only as many as there are threads can. The log of a process that ended is damaged in
// the middle, and opened with and without the option.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tests/engine/engine_fixture.h"
#include "tests/engine/wal_support.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {
namespace {

// Compactions that begin wait until so many are under way at once, or all hope is gone.
class Together final : public EventListener {
 public:
  explicit Together(int wanted) : wanted_(wanted) {}
  int most() const { return most_; }

 private:
  void on_compaction_begin(const CompactionInfo&) override {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++under_way_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return most_ >= wanted_; });
  }
  void on_compaction_end(const CompactionInfo&) override {
    const std::lock_guard lock(mutex_);
    --under_way_;
  }

  const int wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int under_way_ = 0, most_ = 0;
};

class BackgroundThreads : public EngineFixture {
 protected:
  // The most compactions at once, of three tables that all want one; each waits until `wanted` are under way.
  int most_at_once(int threads, int wanted) {
    Together together(wanted);
    files_ = make_memory_file_system();
    EngineOptions options{.background_threads = threads};
    options.environment.events = &together;
    open(options);
    for (const char* name : {"a", "b", "c"}) {
      FamilyOptions two = family("f");
      two.compaction = "exploring(files_min=2, files_max=2)";
      const auto table = make_table(name, {two});
      for (int i = 0; i < 2; ++i) {
        EXPECT_OK(table->put(Put("r").add("f", std::to_string(i), "v")));
        EXPECT_OK(table->flush());
      }
    }
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_EQ(engine_->status().compactions, 3u);
    engine_.reset();
    return together.most();
  }
};

TEST_F(BackgroundThreads, AllButOneOfThemCompact) {
  EXPECT_EQ(most_at_once(2, 1), 1);
  EXPECT_EQ(most_at_once(3, 2), 2);
  EXPECT_EQ(most_at_once(4, 3), 3);
}

// ---- tolerate_torn_log ----

class TornLog : public ::testing::Test {
 protected:
  static constexpr int kRows = 5;

  Result<std::unique_ptr<Engine>> open(bool tolerate) {
    EngineOptions options;
    options.create_if_missing = true;
    options.tolerate_torn_log = tolerate;
    options.log_segment_bytes = 64 << 10;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    return Engine::open("store", options);
  }

  // Returns where the log's first segment ends; zeros follow.
  uint64_t end_of_log() {
    return read_file(*must_open(*files_, "store/wal"), kSegment).find_last_not_of('\0') + 1;
  }

  // A store whose process has ended, and in whose log the row in the middle has another bit.
  void make_damaged_store() {
    files_ = std::make_unique<CrashFileSystem>();
    auto engine = open(false).value();
    const auto table = engine->create_table("t", {.families = {{.name = "f"}}}).value();
    uint64_t damaged = 0;
    for (int i = 0; i < kRows; ++i) {
      const uint64_t before = end_of_log();
      EXPECT_OK(table->put(Put("r" + std::to_string(i)).add("f", "q", "value " + std::to_string(i))));
      EXPECT_GT(end_of_log(), before + 8);
      if (i == kRows / 2) damaged = (before + end_of_log()) / 2;
    }
    auto left = files_->crash_image({.mode = CrashMode::kProcessKilled});
    files_->crash();
    engine.reset();
    files_ = std::move(left);
    const auto log = must_open(*files_, "store/wal");
    std::string bytes = read_file(*log, kSegment);
    bytes[damaged] = static_cast<char>(bytes[damaged] ^ 1);
    write_file(*log, kSegment, bytes);
  }

  static constexpr const char* kSegment = "0000000001.log";
  ManualClock clock_;
  std::unique_ptr<CrashFileSystem> files_;
};

TEST_F(TornLog, EndsAtItsDamageWhereThatIsAskedFor) {
  make_damaged_store();
  const auto refused = open(false);
  ASSERT_TRUE(refused.status().is(Code::kCorruption)) << refused.status().to_text();
  EXPECT_NE(refused.status().to_text().find("tolerate_torn_log"), std::string::npos)
      << refused.status().to_text();
  auto opened = open(true);
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  const auto table = (*opened)->open_table("t").value();
  for (int i = 0; i < kRows; ++i)
    EXPECT_EQ(table->exists(Get("r" + std::to_string(i))).value(), i < kRows / 2) << i;
  EXPECT_OK((*opened)->close());
  opened->reset();
  EXPECT_OK(open(false).status());  // what it gave up is gone for good
}

}  // namespace
}  // namespace cellar::testing
