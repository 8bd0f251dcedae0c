// Goal: a clock that is wrong does harm only while it is wrong. Afterwards hidden cells show again, and later
// writes get right timestamps. No version takes another one's place, and rewrites erase no live cell. Method:
// the wall clock of an engine steps by minutes to years in both directions. Reads, writes, flushes,
// compactions and reopening come between the steps. Other tests use the expiry clock alone.
#include <gtest/gtest.h>

#include "engine/store/expiry_clock.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

constexpr int64_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour, kYear = 365 * kDay;
const std::vector<int64_t> kSteps = {100'000, kMinute, kHour, kDay, 10 * kYear};

class TimeTest : public EngineFixture {
 protected:
  void SetUp() override { begin(); }
  void begin() {
    table_.reset();
    open();
    FamilyOptions expiring = family("t", 5);
    expiring.ttl_s = 3600;
    table_ = make_table("t", {family("v", 5), expiring});
  }
  void step(int64_t ms) { clock_.set_wall_ms(clock_.wall_ms() + ms); }
  std::string text(const std::string& family, int64_t at, const std::string& value) const {
    return "r/" + family + ":q/" + std::to_string(at) + "/Put=" + value;
  }
  void put(const std::string& family, const std::string& value) {
    EXPECT_OK(table_->put(Put("r").add(family, "q", value)));
  }
  Texts all(const std::string& family) { return get(*table_, Get("r").family(family).versions(10)); }

  std::shared_ptr<Table> table_;
};

TEST_F(TimeTest, StepForwardDoesHarmOnlyWhileItLasts) {
  for (const int64_t ahead : kSteps) {
    for (const bool rewrite : {false, true}) {
      EXPECT_OK(engine_->truncate_table("t"));
      const int64_t right = clock_.wall_ms();
      put("t", "alive");
      put("v", "before");
      step(ahead);
      EXPECT_EQ(all("t").empty(), ahead > kHour) << "hidden while the clock says so, " << ahead;
      put("v", "then");
      if (rewrite) {
        EXPECT_OK(engine_->flush());
        EXPECT_OK(table_->major_compact());
      }
      step(-ahead);
      EXPECT_EQ(all("t"), Texts{text("t", right, "alive")}) << ahead;
      EXPECT_OK(engine_->close());
      begin();
      EXPECT_EQ(all("t"), Texts{text("t", right, "alive")}) << "after opening again, " << ahead;
      clock_.advance_ms(1);
      put("v", "after");
      clock_.advance_ms(1);
      put("v", "later");
      EXPECT_EQ(all("v"), (Texts{text("v", right + ahead, "then"), text("v", right + 2, "later"),
                                 text("v", right + 1, "after"), text("v", right, "before")}))
          << ahead;
    }
  }
}

TEST_F(TimeTest, StepBackLosesNoVersion) {
  for (const int64_t back : kSteps) {
    EXPECT_OK(engine_->truncate_table("t"));
    const int64_t right = clock_.wall_ms();
    put("v", "a");
    step(-back);
    put("v", "b");
    clock_.advance_ms(1);
    put("v", "c");
    EXPECT_EQ(all("v"),
              (Texts{text("v", right, "a"), text("v", right - back + 1, "c"), text("v", right - back, "b")}))
        << back;
    step(back - 1);
  }
}

// Nothing that a read does is remembered.
TEST_F(TimeTest, ReadsMoveNothing) {
  const int64_t right = clock_.wall_ms();
  step(10 * kYear);
  EXPECT_TRUE(all("v").empty());
  EXPECT_OK(table_->scan(Scan()).status());
  step(-10 * kYear);
  put("v", "x");
  EXPECT_EQ(all("v"), Texts{text("v", right, "x")});
}

// A long-running engine erases what has really expired, and nothing that only a stepped clock calls expired.
TEST_F(TimeTest, RewritesEraseByBelievedTime) {
  put("t", "old");
  step(10 * kYear);
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(table_->info().families[0].files.size(), 1u) << "what is hidden is kept";
  clock_.advance_us(ExpiryClock::kBelievedAfterUs);  // the clock has kept this time for an hour
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(table_->info().families[0].files.size(), 0u);
}

// While the clock is wrong, a store that is opened again and again erases no more than one that stays open.
TEST_F(TimeTest, OpeningsWhileTheClockIsAheadEraseNothing) {
  EXPECT_OK(engine_->close());
  table_.reset();
  open();
  FamilyOptions expiring = family("y", 5);
  expiring.ttl_s = 3600;
  const std::shared_ptr<Table> table = make_table("u", {expiring});
  const int64_t right = clock_.wall_ms();
  EXPECT_OK(table->put(Put("r").add("y", "q", "alive")));
  step(10 * kYear);
  for (int i = 0; i < 30; ++i) {
    EXPECT_OK(engine_->close());
    open();
    const std::shared_ptr<Table> again = make_table("u", {expiring});
    EXPECT_OK(again->put(Put("s").add("y", "q", "then")));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(again->major_compact());
    clock_.advance_ms(kMinute);
  }
  step(-10 * kYear);
  EXPECT_OK(engine_->close());
  open();
  EXPECT_EQ(get(*make_table("u", {expiring}), Get("r")), Texts{text("y", right, "alive")});
}

TEST_F(TimeTest, ACopyMadeWhileTheClockIsAheadErasesNothing) {
  const int64_t right = clock_.wall_ms();
  put("t", "alive");
  step(10 * kYear);
  const auto made = engine_->checkpoint("copy");
  ASSERT_TRUE(made.ok()) << made.status().to_text();
  EXPECT_EQ(made->created_ms, clock_.wall_ms()) << "by the store's clock";
  EXPECT_OK(engine_->named_snapshots().create("named").status());
  EXPECT_EQ(engine_->named_snapshots().list().value().at(0).created_ms, clock_.wall_ms());
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  const auto copy = Engine::open("copy", options).value();
  const auto table = copy->open_table("t").value();
  EXPECT_OK(table->flush());
  EXPECT_OK(table->major_compact());
  step(-10 * kYear);
  EXPECT_EQ(get(*table, Get("r").family("t").versions(10)), Texts{text("t", right, "alive")});
}

TEST(ExpiryClockTest, GoesByTheWallWhileBothClocksAgree) {
  ManualClock clock;
  ExpiryClock expiry(clock, 30 * kDay);
  expiry.start({});
  for (int i = 0; i < 100; ++i) {
    clock.advance_ms(kHour);
    EXPECT_EQ(expiry.read().ms, clock.wall_ms());
    EXPECT_EQ(expiry.read().ahead_ms, 0);
  }
  clock.set_wall_ms(clock.wall_ms() + ExpiryClock::kToleranceMs);
  EXPECT_EQ(expiry.read().ms, clock.wall_ms()) << "time servers correct it";
}

TEST(ExpiryClockTest, StepAheadIsBelievedAfterAnHour) {
  ManualClock clock;
  ExpiryClock expiry(clock, 30 * kDay);
  expiry.start({});
  const int64_t right = clock.wall_ms();
  clock.set_wall_ms(right + kYear);
  EXPECT_EQ(expiry.read().ms, right);
  EXPECT_EQ(expiry.read().ahead_ms, kYear);
  clock.advance_us(ExpiryClock::kBelievedAfterUs - 1);
  EXPECT_EQ(expiry.read().ms, right + (ExpiryClock::kBelievedAfterUs - 1) / 1000);
  clock.advance_us(1);
  EXPECT_EQ(expiry.read().ms, clock.wall_ms());
}

TEST(ExpiryClockTest, StepBackCountsAtOnceAndEndsAStepAhead) {
  ManualClock clock;
  ExpiryClock expiry(clock, 30 * kDay);
  expiry.start({});
  const int64_t right = clock.wall_ms();
  clock.set_wall_ms(right + kYear);
  static_cast<void>(expiry.read());
  clock.set_wall_ms(right - kDay);
  EXPECT_EQ(expiry.read().ms, right - kDay);
  clock.advance_us(ExpiryClock::kBelievedAfterUs);
  clock.set_wall_ms(right + kYear);
  EXPECT_LT(expiry.read().ms, right) << "the hour begins anew";
}

TEST(ExpiryClockTest, TimeWhileClosedCountsUpToTheGuard) {
  ManualClock clock;
  const int64_t now = clock.wall_ms();
  for (const int64_t away : {kHour, 30 * kDay, kYear}) {
    ExpiryClock expiry(clock, 30 * kDay);
    expiry.start({now - away, 0});
    EXPECT_EQ(expiry.read().ms, away <= 30 * kDay ? now : now - away) << away;
  }
  ExpiryClock unguarded(clock, 0);
  unguarded.start({now - kYear, 0});
  EXPECT_EQ(unguarded.read().ms, now);
}

// Each opening lasts a minute, as those of commands.
TEST(ExpiryClockTest, OpeningsInOneDoubtAddUp) {
  ManualClock clock;
  ExpiryClock::Memory memory;
  const int64_t closed = clock.wall_ms();
  memory.wall_ms = closed;
  clock.advance_ms(kYear);
  for (int minutes = 0; minutes < 60; ++minutes) {
    ExpiryClock expiry(clock, 30 * kDay);
    expiry.start(memory);
    EXPECT_LE(expiry.read().ms, closed + kHour) << minutes;
    clock.advance_ms(kMinute);
    memory = expiry.memory();
    EXPECT_NE(memory.doubted_ms == 0, minutes < 59) << minutes;
  }
  ExpiryClock expiry(clock, 30 * kDay);
  expiry.start(memory);
  EXPECT_EQ(expiry.read().ms, clock.wall_ms()) << "it has said so for an hour";
  EXPECT_EQ(expiry.memory(), (ExpiryClock::Memory{clock.wall_ms(), 0}));
}

TEST(ExpiryClockTest, ADoubtEndsWithTheClockThatCausedIt) {
  ManualClock clock;
  const int64_t right = clock.wall_ms();
  const auto open_at = [&](int64_t wall, const ExpiryClock::Memory& memory) {
    clock.set_wall_ms(wall);
    ExpiryClock expiry(clock, 30 * kDay);
    expiry.start(memory);
    return expiry.memory();
  };
  const ExpiryClock::Memory doubted = open_at(right + kYear, {right, 0});
  EXPECT_EQ(doubted, (ExpiryClock::Memory{right, right + kYear}));
  EXPECT_EQ(open_at(right + kMinute, doubted), (ExpiryClock::Memory{right + kMinute, 0})) << "right again";
  EXPECT_EQ(open_at(right + kYear + kHour / 2, doubted), doubted) << "the same doubt";
  EXPECT_EQ(open_at(right + 2 * kYear, doubted), (ExpiryClock::Memory{right, right + 2 * kYear}));
  EXPECT_EQ(open_at(right + kYear - 1, doubted), (ExpiryClock::Memory{right, right + kYear - 1}));
  EXPECT_EQ(open_at(right + kYear, {right, INT64_MIN}).wall_ms, right) << "a forged manifest";
}

TEST(ExpiryClockTest, ADoubtThatBeginsWhileOpenIsRemembered) {
  ManualClock clock;
  ExpiryClock expiry(clock, 30 * kDay);
  expiry.start({});
  const int64_t right = clock.wall_ms();
  clock.set_wall_ms(right + kYear);
  EXPECT_EQ(expiry.memory(), (ExpiryClock::Memory{right, right + kYear}));
  clock.set_wall_ms(right);
  EXPECT_EQ(expiry.memory(), (ExpiryClock::Memory{right, 0}));
}

}  // namespace
}  // namespace cellar::testing
