// Goal: two threads insert each record of a log once, whichever of them is slow, busy or ends first.
// Method: numbered records of random sizes are offered. The executor has real threads, or runs one step at a
// time, or its only thread is busy. The records that the helper inserted and those left to the caller are all
// records. Each of the two gets them in their order.
#include "engine/jobs/replay_helper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/support/manual_clock.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

std::string payload_of(uint64_t sequence, size_t bytes) {
  return std::to_string(sequence) + std::string(bytes, 'p');
}

struct Shares {
  std::vector<uint64_t> helpers;
  std::vector<uint64_t> callers;
};

// Offers `count` records with payloads of up to `bytes_max` bytes.
Shares offer_all(Executor& executor, uint64_t count, size_t bytes_max, Random& random) {
  Shares shares;
  std::vector<size_t> sizes;
  for (uint64_t i = 0; i < count; ++i) sizes.push_back(random.below(bytes_max));
  ReplayHelper helper(executor, [&](const LogRecord& record) -> Status {
    EXPECT_EQ(record.payload, payload_of(record.sequence, sizes.at(record.sequence)));
    EXPECT_EQ(record.offset, 8 * record.sequence);
    shares.helpers.push_back(record.sequence);
    return {};
  });
  for (uint64_t i = 0; i < count; ++i) {
    const std::string payload = payload_of(i, sizes[i]);
    const Result<bool> taken = helper.offer({.offset = 8 * i, .sequence = i, .payload = payload});
    EXPECT_TRUE(taken.ok()) << taken.status().to_text();
    if (!taken.ok()) return shares;
    if (!*taken) shares.callers.push_back(i);
    if (random.one_in(50)) executor.checkpoint();
    if (!random.one_in(200)) continue;
    EXPECT_TRUE(helper.drain().ok());
    EXPECT_EQ(shares.helpers.size() + shares.callers.size(), i + 1);
  }
  EXPECT_TRUE(helper.drain().ok());
  return shares;
}

void expect_each_once(Shares shares, uint64_t count) {
  EXPECT_TRUE(std::ranges::is_sorted(shares.helpers));
  EXPECT_TRUE(std::ranges::is_sorted(shares.callers));
  std::vector<uint64_t> all = std::move(shares.helpers);
  all.insert(all.end(), shares.callers.begin(), shares.callers.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), count);
  for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(all[i], i);
}

TEST(ReplayHelper, EachRecordIsInsertedOnce) {
  Random random(test_seed(1));
  for (uint64_t seed = 1; seed <= scaled(50); ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    const uint64_t count = random.below(2000);
    expect_each_once(offer_all(executor, count, 1 + random.below(2000), random), count);
  }
  const std::unique_ptr<Executor> threads = make_thread_executor(2, 1);
  for (uint64_t round = 0; round < scaled(50); ++round)
    expect_each_once(offer_all(*threads, 3000, 1 + random.below(1000), random), 3000);
}

// One batch is filled and waits. All further records are the caller's, so that a log of any length needs no
// more memory than that.
TEST(ReplayHelper, TheCallerInsertsWhileNoThreadIsFree) {
  std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const std::unique_ptr<Event> over = threads->make_event();
  threads->submit(JobPriority::kHigh, [&over] { over->wait(0, -1); });
  size_t helpers = 0;
  {
    ReplayHelper helper(*threads, [&](const LogRecord&) -> Status {
      ++helpers;
      return {};
    });
    const std::string payload(1000, 'p');
    size_t callers = 0;
    for (uint64_t i = 0; i < 1000; ++i)
      callers += helper.offer({.sequence = i, .payload = payload}).value() ? 0 : 1;
    EXPECT_EQ(helpers, 0u);
    EXPECT_GT(callers, 900u);
    EXPECT_LT(callers, 1000u);
    EXPECT_TRUE(helper.drain().ok());
    EXPECT_EQ(helpers + callers, 1000u);
  }
  over->signal();
  threads.reset();
}

TEST(ReplayHelper, AFailureIsToldAndNothingFollowsIt) {
  for (uint64_t seed = 1; seed <= scaled(50); ++seed) {
    ManualClock clock;
    StepExecutor executor(seed, clock);
    uint64_t inserted = 0;
    ReplayHelper helper(executor, [&](const LogRecord&) -> Status {
      return ++inserted == 300 ? Status::corruption("the log names family 7") : Status();
    });
    const std::string payload(1000, 'p');
    Status status;
    for (uint64_t i = 0; i < 2000 && status.ok(); ++i) {
      status = helper.offer({.sequence = i, .payload = payload}).status();
      if (i % 100 == 0) executor.checkpoint();
    }
    if (status.ok()) status = helper.drain();
    EXPECT_EQ(status.message(), "the log names family 7");
    EXPECT_EQ(helper.drain().code(), Code::kCorruption);
    EXPECT_EQ(inserted, 300u);
  }
}

TEST(ReplayHelper, MayEndAtAnyTime) {
  const std::unique_ptr<Executor> threads = make_thread_executor(1, 1);
  const std::string payload(5000, 'p');
  for (uint64_t count = 0; count < 60; ++count) {
    std::vector<char> touched(count);  // gone with the helper: a late insert is found by ASan
    ReplayHelper helper(*threads, [&](const LogRecord& record) -> Status {
      touched.at(record.sequence) = 1;
      return {};
    });
    for (uint64_t i = 0; i < count; ++i) ASSERT_TRUE(helper.offer({.sequence = i, .payload = payload}).ok());
  }
}

}  // namespace
}  // namespace cellar::testing
