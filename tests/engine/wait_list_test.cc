// Goal: each wake reaches the threads that it is for, and no others.
// Method: threads sleep in a known order. A thread that looks whether its wait is over is in the list.
#include "engine/write/wait_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace cellar::testing {
namespace {

class WaitLists : public ::testing::Test {
 protected:
  // A thread that sleeps in the list.
  class Sleeper {
   public:
    Sleeper(WaitList& list, uint64_t number, WaitList::Callable callable = WaitList::Callable::kNo)
        : thread_([this, &list, number, callable] {
            list.sleep_unless(
                number,
                [&] {
                  listed_ = true;
                  listed_.notify_all();
                  return false;
                },
                callable);
            awake_ = true;
          }) {
      listed_.wait(false);
    }
    ~Sleeper() { thread_.join(); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    bool awake() const { return awake_; }

   private:
    std::atomic<bool> listed_ = false;
    std::atomic<bool> awake_ = false;
    std::thread thread_;
  };

  // Returns which sleepers are awake, once there is one.
  static std::vector<bool> first_awake(const std::vector<std::unique_ptr<Sleeper>>& sleepers) {
    std::vector<bool> awake;
    do {
      awake.clear();
      for (const auto& each : sleepers) awake.push_back(each->awake());
      std::this_thread::yield();
    } while (std::ranges::count(awake, true) == 0);
    return awake;
  }

  std::unique_ptr<Executor> executor_ = make_thread_executor(1, 1);
  WaitList list_{*executor_};
};

TEST_F(WaitLists, ACallWakesTheCallableSleeperAlone) {
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  sleepers.push_back(std::make_unique<Sleeper>(list_, 5));
  sleepers.push_back(std::make_unique<Sleeper>(list_, 4, WaitList::Callable::kYes));
  sleepers.push_back(std::make_unique<Sleeper>(list_, 5, WaitList::Callable::kYes));
  sleepers.push_back(std::make_unique<Sleeper>(list_, 5));
  list_.call(6);  // nobody
  list_.call(5);
  EXPECT_EQ(first_awake(sleepers), (std::vector<bool>{false, false, true, false}));
  list_.call(5);  // nobody is left
  list_.wake(6, 4);
}

TEST_F(WaitLists, AWakeIsForLowerNumbersAndThoseThatCameFirst) {
  std::vector<std::unique_ptr<Sleeper>> sleepers;
  for (const uint64_t number : {7u, 3u, 4u, 3u}) sleepers.push_back(std::make_unique<Sleeper>(list_, number));
  list_.wake(3, 9);  // nobody
  list_.wake(5, 1);
  EXPECT_EQ(first_awake(sleepers), (std::vector<bool>{false, true, false, false}));
  sleepers.erase(sleepers.begin() + 1);
  list_.wake(4, 9);
  EXPECT_EQ(first_awake(sleepers), (std::vector<bool>{false, false, true}));
  list_.wake(8, 9);
}

TEST_F(WaitLists, NobodySleepsWhoseWaitIsOver) {
  int looks = 0;
  list_.sleep_unless(1, [&] { return ++looks == 1; });
  EXPECT_EQ(looks, 1);
  list_.wake(2, 1);  // the list is empty
}

}  // namespace
}  // namespace cellar::testing
