// Goal: of writes that are committed as one group, one that asks for a sync gets it, wherever it stands among
// them. Method: the sync of a first write is held up until others wait as a group after it; syncs of the log
// are counted.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

#include "tests/engine/engine_fixture.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

class GroupSync : public EngineFixture {
 protected:
  void SetUp() override {
    memory_ = std::move(files_);
    auto owned = std::make_unique<FaultFileSystem>(*memory_);
    watched_ = owned.get();
    files_ = std::move(owned);
    open({});
    table_ = make_table("t", {family("d")});
  }
  void TearDown() override {
    table_.reset();
    engine_.reset();
    files_.reset();  // before the files that it watches
  }

  std::thread writer(const std::string& row, Durability durability) {
    return std::thread(
        [=, this] { EXPECT_OK(table_->put(Put(row).add("d", "q", "v"), {.durability = durability})); });
  }

  // How many syncs of the log a group of writes makes: this one first, then some that need none.
  int syncs_of_group(Durability first) {
    std::binary_semaphore begun(0), go_on(0);
    std::atomic<int> syncs = 0;  // no two syncs of the log run at once
    watched_->before_each([&](const FileCall& call) {
      if (call.operation != FileOperation::kSync || !call.name.starts_with("wal/") || ++syncs > 1) return;
      begun.release();
      go_on.acquire();
    });
    std::vector<std::thread> threads;
    threads.push_back(writer("0", Durability::kFsyncWal));
    begun.acquire();
    threads.push_back(writer("1", first));
    pause();
    for (int i = 2; i < 5; ++i) threads.push_back(writer(std::to_string(i), Durability::kAsyncWal));
    pause();
    go_on.release();
    for (std::thread& each : threads) each.join();
    watched_->before_each({});
    return syncs - 1;
  }

  // Until a writer that was begun stands in the queue. If it came later, the test could only pass wrongly.
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

  std::unique_ptr<FileSystem> memory_;
  FaultFileSystem* watched_ = nullptr;
  std::shared_ptr<Table> table_;
};

TEST_F(GroupSync, OneThatAsksForItIsSynced) { EXPECT_EQ(syncs_of_group(Durability::kFsyncWal), 1); }
TEST_F(GroupSync, AGroupWithoutOneIsNot) { EXPECT_EQ(syncs_of_group(Durability::kSyncWal), 0); }

}  // namespace
}  // namespace cellar::testing
