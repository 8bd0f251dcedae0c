// Goal: writes that ask for a sync share one, and a write that comes after one of them shares its fate.
// Method: the test holds up the sync of a first write until other writes wait after it. It counts the syncs
// of the log.
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
    watched_ = &watch_files();
    open();
    table_ = make_table("t", {family("d")});
  }

  std::thread writer(const std::string& row, Durability durability) {
    return std::thread(
        [=, this] { EXPECT_OK(table_->put(Put(row).add("d", "q", "v"), {.durability = durability})); });
  }

  // Returns how many syncs of the log a group of writes makes. The group's first write has this durability;
  // the others need no sync.
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

  // Waits until a writer that was begun stands in the queue. A writer that comes later can make a test pass
  // that ought to fail, but never fail one that ought to pass.
  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

  FaultFileSystem* watched_ = nullptr;
  std::shared_ptr<Table> table_;
};

// The later write asks for no sync. But it must not be answered as written, and then be lost with the first
// one.
TEST_F(GroupSync, AWriteSharesTheFateOfTheSyncBeforeIt) {
  std::binary_semaphore begun(0), go_on(0);
  std::atomic<int> syncs = 0;
  watched_->fail(FileOperation::kSync, "wal/*", 1);
  watched_->before_each([&](const FileCall& call) {
    if (call.operation != FileOperation::kSync || !call.name.starts_with("wal/") || ++syncs > 1) return;
    begun.release();
    go_on.acquire();
  });
  const auto put = [&](const std::string& row, Durability durability) {
    const Status status = table_->put(Put(row).add("d", "q", "v"), {.durability = durability});
    EXPECT_TRUE(status.is(Code::kDurabilityUnknown)) << row << ": " << status.to_text();
  };
  std::thread first([&] { put("0", Durability::kFsyncWal); });
  begun.acquire();
  std::thread second([&] { put("1", Durability::kAsyncWal); });
  pause();
  EXPECT_EQ(get(*table_, Get("1")), Texts{});
  go_on.release();
  first.join();
  second.join();
  watched_->before_each({});
  EXPECT_EQ(get(*table_, Get("0")), Texts{});
  EXPECT_EQ(get(*table_, Get("1")), Texts{});
  EXPECT_OK(engine_->resume());
  EXPECT_OK(table_->put(Put("2").add("d", "q", "v")));
}

TEST_F(GroupSync, OneThatAsksForItIsSynced) { EXPECT_EQ(syncs_of_group(Durability::kFsyncWal), 1); }
TEST_F(GroupSync, AGroupWithoutOneIsNot) { EXPECT_EQ(syncs_of_group(Durability::kSyncWal), 0); }

}  // namespace
}  // namespace cellar::testing
