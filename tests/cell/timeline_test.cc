// Goal: a timeline answers as a list of its markers and lives does. Method: random markers and lives, few and
// many, with sequences close together and far apart; after each of them, questions at random places.
#include "cell/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/cell_support/cursor_contract.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kNever = Timeline::kNever;

// PlainTimeline: the same as lists.
struct PlainTimeline {
  std::vector<std::pair<uint64_t, int64_t>> markers;
  std::vector<std::pair<uint64_t, uint64_t>> lives;

  uint64_t first_marker_after(uint64_t sequence, int64_t timestamp) const {
    uint64_t first = kNever;
    for (const auto& [at, newest] : markers)
      if (at > sequence && newest >= timestamp) first = std::min(first, at);
    return first;
  }
  int64_t alive_at(uint64_t moment) const {
    return std::ranges::count_if(
        lives, [&](const auto& life) { return life.first < moment && life.second >= moment; });
  }
  uint64_t last_moment_of(int32_t alive) const {
    uint64_t last = 0;
    const auto look = [&](uint64_t moment) {
      if (moment > last && alive_at(moment) >= alive) last = moment;
    };
    look(kNever);
    for (const auto& [birth, death] : lives) look(birth), look(death);
    for (const auto& [at, newest] : markers) look(at);
    return last;
  }
};

void check_history(Random& random, uint64_t events, Timeline& timeline) {
  PlainTimeline plain;
  timeline.clear();
  ASSERT_TRUE(timeline.is_empty());
  const uint64_t range = random.one_in(3) ? UINT64_MAX - 2 : 2 + random.below(events * 3);
  const uint64_t times = 1 + random.below(20);
  for (uint64_t i = 0; i < events; ++i) {
    const uint64_t sequence = 1 + random.below(range);
    if (random.one_in(2)) {
      const auto timestamp = static_cast<int64_t>(random.below(times));
      timeline.add_marker(sequence, timestamp);
      plain.markers.emplace_back(sequence, timestamp);
    } else {
      const uint64_t other = random.one_in(4) ? kNever : 1 + random.below(range);
      timeline.add_life(std::min(sequence, other), std::max(sequence, other));
      plain.lives.emplace_back(std::min(sequence, other), std::max(sequence, other));
    }
    const uint64_t after = random.one_in(2) ? sequence : random.below(range);
    const auto timestamp = static_cast<int64_t>(random.below(times + 1));
    ASSERT_EQ(timeline.first_marker_after(after, timestamp), plain.first_marker_after(after, timestamp));
    const auto alive = static_cast<int32_t>(1 + random.below(random.one_in(2) ? 3 : events));
    ASSERT_EQ(timeline.last_moment_of(alive), plain.last_moment_of(alive)) << "alive " << alive;
  }
}

TEST(Timeline, AnswersAsAListDoes) {
  const uint64_t seed = test_seed(1);
  Timeline timeline;
  for (uint64_t i = 0; i < scaled(3000); ++i) {
    SCOPED_TRACE("CELLAR_SEED=" + std::to_string(seed + i));
    Random random(seed + i);
    check_history(random, 1 + random.below(random.one_in(10) ? 150 : 30), timeline);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// The highest and lowest bits make branches, too, and the deepest tree has a branch for each bit.
TEST(Timeline, SequencesMayLieAnywhere) {
  Timeline timeline;
  for (int bit = 0; bit < 64; ++bit) timeline.add_marker(uint64_t{1} << bit, 5);
  timeline.add_marker(0, 5);
  timeline.add_marker(kNever - 1, 5);
  EXPECT_EQ(timeline.first_marker_after(0, 5), 1U);
  EXPECT_EQ(timeline.first_marker_after(1, 5), 2U);
  EXPECT_EQ(timeline.first_marker_after(5, 5), 8U);
  EXPECT_EQ(timeline.first_marker_after(uint64_t{1} << 62, 5), uint64_t{1} << 63);
  EXPECT_EQ(timeline.first_marker_after(uint64_t{1} << 63, 5), kNever - 1);
  EXPECT_EQ(timeline.first_marker_after(kNever - 1, 5), kNever);
  EXPECT_EQ(timeline.first_marker_after(0, 6), kNever);
}

}  // namespace
}  // namespace cellar::testing
