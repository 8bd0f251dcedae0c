// Goal: a feed gives every write after the acknowledged ones, once, in order, as it was written. It does so
// over flushes, compactions and restarts. It tells which writes it cannot give. The log that it holds back is
// bounded, and is released. Method: writes whose feed is known by heart. Random operations are compared with
// a list of the writes, and a replica with its source.
#include "tests/engine/feed_support.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "cellar/hfile_builder.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr uint64_t kSegmentBytes = 64 << 10;

struct Listener final : EventListener {
  void on_feed_lost(const FeedInfo& info) override { lost.push_back(info); }
  std::vector<FeedInfo> lost;
};

class Feed : public EngineFixture {
 protected:
  void SetUp() override { reopen(); }

  void reopen(bool read_only = false) {
    t_.reset();
    u_.reset();
    EngineOptions options;
    options.read_only = read_only;
    options.log_segment_bytes = kSegmentBytes;
    options.automatic_compaction = false;
    options.environment.events = &listener_;
    open(options);
    t_ = read_only ? engine_->open_table("t").value() : make_table("t", {family("f", 3), family("g", 3)});
    u_ = read_only ? engine_->open_table("u").value() : make_table("u", {family("f", 3)});
  }

  std::unique_ptr<FeedReader> read(const std::string& name, std::optional<uint64_t> from = {}) {
    auto reader = engine_->feeds().read(name, from);
    EXPECT_TRUE(reader.ok()) << reader.status().to_text();
    return reader.ok() ? std::move(reader).value() : nullptr;
  }

  // A write and what a feed of everything says of it.
  std::string put(const std::shared_ptr<Table>& table, const std::string& name, const std::string& row,
                  const std::string& value, const std::string& family = "f") {
    clock_.advance_ms(1);
    EXPECT_OK(table->put(Put(row).add(family, "q", value)));
    return std::to_string(last()) + ": " + name + "/" + row + "/" + family + ":q/" +
           std::to_string(clock_.wall_ms()) + "/Put=" + value;
  }
  uint64_t last() { return engine_->status().last_sequence; }
  FeedInfo info(const std::string& name) {
    for (const FeedInfo& each : engine_->feeds().list())
      if (each.name == name) return each;
    ADD_FAILURE() << "no feed " << name;
    return {};
  }
  // About this many segments of log, all of them flushed.
  void fill_log(int segments) {
    for (int i = 0; i < segments; ++i) put(u_, "u", "fill", std::string(60'000, 'x'));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
  }

  Listener listener_;
  std::shared_ptr<Table> t_, u_;
};

TEST_F(Feed, SaysWhenATableIsReplaced) {
  put(t_, "t", "a", "1");
  EXPECT_OK(engine_->named_snapshots().create("s", {"t"}).status());
  EXPECT_OK(engine_->feeds().create("all"));
  EXPECT_OK(engine_->feeds().create("of_u", {.tables = {{"u", {}}}}));
  std::vector<uint64_t> replaced;
  const auto note = [&] { replaced.push_back(last()); };
  EXPECT_OK(engine_->truncate_table("t"));
  note();
  const std::string between = put(t_, "t", "b", "2");
  EXPECT_OK(engine_->named_snapshots().restore("s"));
  note();
  EXPECT_OK(engine_->named_snapshots().clone("s", "t", "copy").status());
  note();
  const std::string after = put(u_, "u", "c", "3");
  for (const bool again : {false, true}) {
    if (again) reopen();
    const auto reader = read("all");
    std::vector<std::string> texts;
    while (const FeedEntry* entry = reader->next().value()) {
      if (!entry->replaced.empty()) {
        ASSERT_EQ(entry->replaced.size(), 1u);
        texts.push_back(std::to_string(entry->sequence) + ": " + entry->replaced.front());
      } else {
        texts.push_back(std::to_string(entry->sequence) + ": write");
      }
    }
    const std::vector<std::string> expected = {
        std::to_string(replaced[0]) + ": t", between.substr(0, between.find(':')) + ": write",
        std::to_string(replaced[1]) + ": t", std::to_string(replaced[2]) + ": copy",
        after.substr(0, after.find(':')) + ": write"};
    EXPECT_EQ(texts, expected);
    EXPECT_EQ(reader->unlogged_writes(), 0u);
    EXPECT_EQ(read_all(*read("of_u")), Texts{after});
  }
}

TEST_F(Feed, GivesEachWriteAsItWasWritten) {
  put(t_, "t", "before", "1");
  EXPECT_OK(engine_->feeds().create("all"));
  const auto reader = read("all");
  EXPECT_EQ(read_all(*reader), Texts{});
  Texts expected = {put(t_, "t", "a", "1")};
  EXPECT_EQ(read_all(*reader), expected);

  Batch batch;
  std::string tags;
  append_tag(tags, 9, "tag");
  Cell tagged{"c", "g", "q", 7, CellType::kPut, "v"};
  tagged.tags = tags;
  Put both("b");
  both.add_at("f", "x", 5, "2").add_at("g", "y", 6, "3");
  batch.put(t_, both).erase(u_, Delete("r").family("f", 9));
  EXPECT_OK(engine_->write(batch));
  const std::string sequence = std::to_string(last());
  EXPECT_EQ(read_all(*reader),
            (Texts{sequence + ": t/b/f:x/5/Put=2 t/b/g:y/6/Put=3 u/r/f:/9/DeleteFamily="}));
  EXPECT_EQ(t_->increment(Increment("n").add("f", "q", 5)).value(), std::vector<int64_t>{5});
  const auto counted = reader->next();
  ASSERT_TRUE(counted.ok() && *counted != nullptr);
  EXPECT_EQ((*counted)->cells.at(0).second.value_bytes(), std::string("\0\0\0\0\0\0\0\5", 8));
  EXPECT_EQ(reader->unlogged_writes(), 0u);
  EXPECT_EQ(reader->position(), last());
}

TEST_F(Feed, FollowsItsTablesAndFamiliesOnly) {
  EXPECT_OK(engine_->feeds().create("g", {.tables = {{"t", {"g"}}}}));
  EXPECT_OK(engine_->feeds().create("u", {.tables = {{"u", {}}}}));
  put(t_, "t", "a", "1");
  const std::string g = put(t_, "t", "b", "2", "g");
  const std::string u = put(u_, "u", "c", "3");
  Batch batch;
  batch.put(t_, Put("d").add_at("f", "q", 1, "f").add_at("g", "q", 1, "g"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(read_all(*read("g")), (Texts{g, std::to_string(last()) + ": t/d/g:q/1/Put=g"}));
  EXPECT_EQ(read_all(*read("u")), Texts{u});
  const auto reader = read("u");
  read_all(*reader);
  EXPECT_EQ(reader->position(), last());  // past what is not its own
}

TEST_F(Feed, RefusesWhatCannotBe) {
  EXPECT_OK(engine_->feeds().create("a"));
  EXPECT_EQ(engine_->feeds().create("a").code(), Code::kInvalidArgument);
  EXPECT_EQ(engine_->feeds().create("").code(), Code::kInvalidArgument);
  EXPECT_EQ(engine_->feeds().create("a/b").code(), Code::kInvalidArgument);
  EXPECT_EQ(engine_->feeds().create("b", {.tables = {{"tt", {}}}}).code(), Code::kNotFound);
  EXPECT_FALSE(engine_->feeds().create("b", {.tables = {{"t", {"h"}}}}).ok());
  EXPECT_EQ(engine_->feeds().create("b", {.retained_bytes_max = kSegmentBytes - 1}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(engine_->feeds().list().size(), 1u);
  EXPECT_EQ(engine_->feeds().drop("b").code(), Code::kNotFound);
  EXPECT_EQ(engine_->feeds().read("b").status().code(), Code::kNotFound);
  EXPECT_EQ(engine_->feeds().read("a", last() + 1).status().code(), Code::kInvalidArgument);
  const auto reader = read("a");
  EXPECT_EQ(reader->acknowledge(last() + 1).code(), Code::kInvalidArgument);
  put(t_, "t", "a", "1");
  EXPECT_OK(reader->acknowledge(last()));
  EXPECT_EQ(engine_->feeds().read("a", last() - 1).status().code(), Code::kInvalidArgument);
  EXPECT_OK(engine_->feeds().drop("a"));
  EXPECT_EQ(reader->acknowledge(last()).code(), Code::kNotFound);
  put(t_, "t", "b", "1");
  EXPECT_EQ(reader->next().status().code(), Code::kNotFound);
}

TEST_F(Feed, GoesOnWhereItWasAcknowledged) {
  EXPECT_OK(engine_->feeds().create("a"));
  Texts written;
  for (int i = 0; i < 6; ++i) written.push_back(put(t_, "t", "r", std::to_string(i)));
  auto reader = read("a");
  EXPECT_EQ(read_all(*reader, 2), Texts(written.begin(), written.begin() + 2));
  EXPECT_OK(reader->acknowledge(reader->position()));
  EXPECT_EQ(read_all(*reader, 2), Texts(written.begin() + 2, written.begin() + 4));
  reader.reset();
  for (int round = 0; round < 3; ++round) {
    reopen();
    reader = read("a");
    EXPECT_EQ(read_all(*reader), Texts(written.begin() + 2, written.end()));
    written.push_back(put(t_, "t", "r", "again"));
    EXPECT_EQ(read_all(*reader), Texts{written.back()});
    reader.reset();
    if (round == 1) EXPECT_OK(engine_->flush());
  }
}

TEST_F(Feed, LetsGoOfTheLogOnceAcknowledged) {
  fill_log(3);
  EXPECT_EQ(engine_->status().log_segments, 1u);
  EXPECT_OK(engine_->feeds().create("a"));
  EXPECT_OK(engine_->feeds().create("quiet", {.tables = {{"t", {}}}}));
  fill_log(6);
  EXPECT_GE(engine_->status().log_segments, 6u);
  EXPECT_GE(info("a").retained_bytes, 5u * 60'000);
  reopen();
  EXPECT_GE(engine_->status().log_segments, 6u);
  auto reader = read("a");
  EXPECT_EQ(read_all(*reader).size(), 6u);
  EXPECT_OK(reader->acknowledge(reader->position()));
  EXPECT_GE(engine_->status().log_segments, 6u);  // for the other one
  auto quiet = read("quiet");
  EXPECT_EQ(read_all(*quiet), Texts{});
  EXPECT_OK(quiet->acknowledge(quiet->position()));
  EXPECT_LE(engine_->status().log_segments, 2u);
  EXPECT_EQ(info("a").retained_bytes, 0u);
  reader.reset();
  quiet.reset();
  reopen();
  EXPECT_LE(engine_->status().log_segments, 3u);
  fill_log(4);
  EXPECT_GE(engine_->status().log_segments, 4u);
  EXPECT_OK(engine_->feeds().drop("a"));
  EXPECT_OK(engine_->feeds().drop("quiet"));
  EXPECT_EQ(engine_->status().log_segments, 1u);
}

TEST_F(Feed, IsCutOffRatherThanFillTheDisk) {
  EXPECT_OK(engine_->feeds().create("slow", {.retained_bytes_max = 4 * kSegmentBytes}));
  EXPECT_OK(engine_->feeds().create("patient"));
  put(t_, "t", "a", "1");
  auto reader = read("slow");
  fill_log(3);
  EXPECT_FALSE(info("slow").lost);
  EXPECT_EQ(read_all(*reader, 2).size(), 2u);
  fill_log(3);
  EXPECT_TRUE(info("slow").lost);
  EXPECT_FALSE(info("patient").lost);
  ASSERT_EQ(listener_.lost.size(), 1u);
  EXPECT_EQ(listener_.lost[0].name, "slow");
  EXPECT_GT(listener_.lost[0].retained_bytes, 4 * kSegmentBytes);
  EXPECT_EQ(engine_->feeds().read("slow").status().code(), Code::kLimit);
  EXPECT_EQ(reader->acknowledge(last()).code(), Code::kLimit);
  Result<const FeedEntry*> entry = reader->next();
  while (entry.ok() && *entry != nullptr) entry = reader->next();
  EXPECT_EQ(entry.status().code(), Code::kLimit) << "never as if nothing were missing";
  EXPECT_EQ(read_all(*read("patient")).size(), 7u);
  reader.reset();
  reopen();
  EXPECT_TRUE(info("slow").lost);
  EXPECT_EQ(read_all(*read("patient")).size(), 7u);
  EXPECT_OK(engine_->feeds().drop("slow"));
  EXPECT_OK(engine_->feeds().create("slow"));
  const std::string next = put(t_, "t", "b", "2");
  EXPECT_EQ(read_all(*read("slow")), Texts{next});
}

// The manifest refuses numbers near 2^64, so it must never be given one.
TEST_F(Feed, MayKeepTheLogWithoutLimit) {
  EXPECT_OK(engine_->feeds().create("all", {.retained_bytes_max = UINT64_MAX}));
  const std::string first = put(t_, "t", "a", "1");
  reopen();
  EXPECT_FALSE(info("all").lost);
  EXPECT_GE(info("all").retained_bytes_max, uint64_t{1} << 61);
  EXPECT_EQ(read_all(*read("all")), Texts{first});
}

TEST_F(Feed, HasReadersThatDoNotKnowOfEachOther) {
  EXPECT_OK(engine_->feeds().create("a"));
  Texts written;
  for (int i = 0; i < 4; ++i)
    written.push_back(put(u_, "u", "r" + std::to_string(i), std::string(60'000, 'x')));
  const auto one = read("a");
  const auto two = read("a");
  EXPECT_EQ(read_all(*one, 1), Texts{written[0]});
  EXPECT_EQ(read_all(*two), written);
  EXPECT_EQ(read_all(*one, 1), Texts{written[1]});
  EXPECT_OK(two->acknowledge(two->position()));
  Result<const FeedEntry*> entry = one->next();
  while (entry.ok() && *entry != nullptr) entry = one->next();
  EXPECT_EQ(entry.status().code(), Code::kConflict) << "what it had not read was acknowledged by the other";
}

TEST_F(Feed, SnapshotAndFeedTogetherAreTheTable) {
  const auto replica_files = make_memory_file_system();
  EngineOptions options;
  options.create_if_missing = true;
  options.environment = {.files = replica_files.get(), .clock = &clock_};
  const auto replica = Engine::open("replica", options).value();
  for (const char* name : {"t", "u"}) {
    const auto made = replica->create_table(name, {.families = {family("f", 3), family("g", 3)}});
    EXPECT_OK(made.status());
  }
  Random random(5);
  const auto change = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const std::string row = "r" + std::to_string(random.below(20));
      clock_.advance_ms(1);
      if (random.one_in(4)) {
        EXPECT_OK(t_->erase(random.one_in(2) ? Delete(row) : Delete(row).column("f", "q")));
      } else {
        EXPECT_OK(t_->put(Put(row).add(random.one_in(2) ? "f" : "g", "q", "v" + std::to_string(i))));
      }
      if (random.one_in(40)) EXPECT_OK(engine_->flush());
    }
  };
  change(100);
  EXPECT_OK(engine_->feeds().create("copy"));
  change(20);  // in the snapshot and in the feed: not to be seen twice
  std::unique_ptr<FeedReader> reader;
  {
    const auto snapshot = engine_->snapshot().value();
    change(30);
    reader = read("copy", snapshot->sequence());
    const auto target = replica->open_table("t").value();
    Batch batch;
    const auto scanner = t_->scan(Scan().all_versions().snapshot(snapshot)).value();
    for (const RowView row : *scanner)
      for (const CellView& cell : row.cells()) batch.cell(target, cell);
    EXPECT_OK(replica->write(batch));
    EXPECT_OK(reader->acknowledge(snapshot->sequence()));
  }
  for (int round = 0; round < 5; ++round) {
    change(40);
    EXPECT_OK(follow(*reader, *replica));
    EXPECT_OK(reader->acknowledge(reader->position()));
    EXPECT_EQ(scan(*replica->open_table("t").value(), Scan()), scan(*t_, Scan()));
    reader.reset();
    reopen();
    reader = read("copy");
  }
}

TEST_F(Feed, RandomOperationsBesideAList) {
  uint64_t entries = 0;
  for (uint64_t seed = 1; seed <= scaled(12); ++seed) {
    files_ = make_memory_file_system();
    reopen();
    EXPECT_OK(engine_->feeds().create("all"));
    EXPECT_OK(engine_->feeds().create("t", {.tables = {{"t", {}}}}));
    Random random(seed);
    std::vector<std::pair<uint64_t, std::string>> all, of_t;
    uint64_t acknowledged = last();
    auto reader = read("all");
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      const uint64_t what = random.below(100);
      if (what < 60) {
        const bool to_t = random.one_in(2);
        const std::string text = put(to_t ? t_ : u_, to_t ? "t" : "u", "r" + std::to_string(random.below(9)),
                                     std::string(random.below(random.one_in(5) ? 30'000 : 50), 'v'));
        all.emplace_back(last(), text);
        if (to_t) of_t.push_back(all.back());
      } else if (what < 70) {
        EXPECT_OK(random.one_in(2) ? t_->flush() : engine_->flush());
      } else if (what < 74) {
        EXPECT_OK(random.one_in(2) ? t_->major_compact() : t_->compact());
      } else if (what < 78) {
        reader.reset();
        reopen();
        reader = read("all");
      } else {
        const uint64_t before = reader->position();
        const Texts got = read_all(*reader, random.below(12));
        Texts expected;
        for (const auto& [sequence, text] : all)
          if (sequence > before && sequence <= reader->position()) expected.push_back(text);
        ASSERT_EQ(got, expected);
        entries += got.size();
        if (random.one_in(3)) {
          acknowledged = reader->position();
          ASSERT_TRUE(reader->acknowledge(acknowledged).ok());
        }
      }
      ASSERT_EQ(info("all").acknowledged, acknowledged);
    }
    Texts expected, expected_t;
    for (const auto& [sequence, text] : all)
      if (sequence > acknowledged) expected.push_back(text);
    for (const auto& [sequence, text] : of_t) expected_t.push_back(text);
    EXPECT_EQ(read_all(*read("all")), expected);
    EXPECT_EQ(read_all(*read("t")), expected_t);
    entries += expected.size() + expected_t.size();
    if (HasFailure()) return;
  }
  count(entries, "entries of feeds compared");
}

TEST_F(Feed, NamesWhatWasTakenIn) {
  EXPECT_TRUE(files_->open_directory("in", true).ok());
  const auto build = [&](const std::string& name) {
    auto builder = HFileBuilder::create(*files_, "in/" + name, {});
    EXPECT_OK(builder.status());
    EXPECT_OK(builder->add({"a", "f", "q", 5, CellType::kPut, "1"}));
    EXPECT_OK(builder->add({"b", "f", "q", 5, CellType::kPut, "2"}));
    EXPECT_OK(builder->finish().status());
    return IngestFile{"f", "in/" + name};
  };
  EXPECT_OK(t_->ingest({.files = {build("early")}}).status());
  EXPECT_OK(engine_->feeds().create("a", {.tables = {{"t", {}}}}));
  Texts expected = {put(t_, "t", "x", "1")};
  const auto taken = t_->ingest({.files = {build("one")}});
  EXPECT_OK(taken.status());
  expected.push_back(std::to_string(last()) + ": t/f took in 2 cells");
  EXPECT_OK(u_->ingest({.files = {build("other")}}).status());
  expected.push_back(put(t_, "t", "y", "2"));
  EXPECT_OK(t_->ingest({.files = {build("two")}}).status());
  expected.push_back(std::to_string(last()) + ": t/f took in 2 cells");
  EXPECT_EQ(read_all(*read("a")), expected);
  EXPECT_OK(t_->major_compact());
  reopen();
  auto reader = read("a");
  EXPECT_EQ(read_all(*reader), expected);
  EXPECT_EQ(reader->unlogged_writes(), 0u);
  reader = read("a");
  read_all(*reader, 2);
  EXPECT_OK(reader->acknowledge(reader->position()));
  EXPECT_EQ(read_all(*read("a")), Texts(expected.begin() + 2, expected.end()));
}

TEST_F(Feed, CountsWhatTheLogDoesNotHave) {
  EXPECT_OK(engine_->feeds().create("a"));
  Texts expected = {put(t_, "t", "a", "1")};
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(t_->put(Put("b").add("f", "q", "2"), {.durability = Durability::kSkipWal}));
  expected.push_back(put(t_, "t", "c", "3"));
  EXPECT_OK(t_->put(Put("d").add("f", "q", "2"), {.durability = Durability::kSkipWal}));
  const auto reader = read("a");
  EXPECT_EQ(read_all(*reader), expected);
  EXPECT_EQ(reader->unlogged_writes(), 4u);
  EXPECT_EQ(reader->position(), last());
}

TEST_F(Feed, KnowsTablesThatAreGone) {
  EXPECT_OK(engine_->feeds().create("a"));
  EXPECT_OK(engine_->feeds().create("t", {.tables = {{"t", {}}}}));
  Texts expected = {put(t_, "t", "a", "1"), put(u_, "u", "b", "2")};
  t_.reset();
  EXPECT_OK(engine_->drop_table("t"));
  reopen();  // makes a new one of the same name
  expected.push_back(put(t_, "t", "a", "3"));
  EXPECT_EQ(read_all(*read("a")), expected);
  const auto reader = read("t");
  EXPECT_EQ(read_all(*reader), (Texts{expected[0], expected[2]}));
  EXPECT_EQ(reader->unnamed_cells(), 0u);
}

TEST_F(Feed, IsReadBesideNobodyToo) {
  EXPECT_OK(engine_->feeds().create("a"));
  Texts expected;
  for (int i = 0; i < 5; ++i) expected.push_back(put(t_, "t", std::to_string(i), std::string(30'000, 'x')));
  EXPECT_OK(engine_->flush());
  expected.push_back(put(t_, "t", "x", "y"));
  reopen(true);
  auto reader = read("a");
  EXPECT_EQ(read_all(*reader), expected);
  EXPECT_EQ(reader->acknowledge(reader->position()).code(), Code::kReadOnly);
  EXPECT_EQ(engine_->feeds().create("b").code(), Code::kReadOnly);
  reader.reset();
}

// A store with the table "t", the feed "a" and a reader of it, whose threads take turns by a seed.
struct SteppedFeed {
  explicit SteppedFeed(uint64_t seed) : executor(seed, clock) {
    EngineOptions options;
    options.create_if_missing = true;
    options.log_segment_bytes = kSegmentBytes;
    options.environment = {.files = files.get(), .clock = &clock, .executor = &executor};
    engine = Engine::open("store", options).value();
    FamilyOptions family;
    family.name = "f";
    table = engine->create_table("t", {.families = {family}}).value();
    EXPECT_OK(engine->feeds().create("a"));
    reader = engine->feeds().read("a").value();
  }
  ~SteppedFeed() {
    reader.reset();
    table.reset();
    EXPECT_OK(engine->close());
    engine.reset();
    executor.finish();
  }

  std::unique_ptr<FileSystem> files = make_memory_file_system();
  ManualClock clock;
  StepExecutor executor;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Table> table;
  std::unique_ptr<FeedReader> reader;
};

TEST(FeedWaits, ForAWriteOrForTheTime) {
  for (uint64_t seed = 1; seed <= scaled(40) && !HasFailure(); ++seed) {
    SteppedFeed feed(seed);
    const int64_t before = feed.clock.steady_us();
    const auto nothing = feed.reader->next(5'000);
    EXPECT_TRUE(nothing.ok() && *nothing == nullptr);
    EXPECT_GE(feed.clock.steady_us(), before + 5'000);
    constexpr uint64_t kFedWrites = 30;
    uint64_t seen = 0;
    feed.executor.run_beside("reader", [&] {
      while (seen < kFedWrites) {
        const auto entry = feed.reader->next(-1);
        ASSERT_TRUE(entry.ok() && *entry != nullptr);
        ASSERT_EQ((*entry)->cells.at(0).second.row(), "r" + std::to_string(seen));
        ++seen;
      }
    });
    for (uint64_t i = 0; i < kFedWrites; ++i)
      EXPECT_OK(feed.table->put(Put("r" + std::to_string(i)).add("f", "q", std::string(9'000, 'x'))));
    feed.executor.join_beside();
    EXPECT_EQ(seen, kFedWrites);
  }
}

TEST(FeedWaits, ForAReplacedTableToo) {
  constexpr int64_t kWaitUs = 10'000'000;
  for (uint64_t seed = 1; seed <= scaled(20) && !HasFailure(); ++seed) {
    SteppedFeed feed(seed);
    int64_t waited_us = kWaitUs;
    feed.executor.run_beside("reader", [&] {
      const int64_t begun_us = feed.clock.steady_us();
      const auto entry = feed.reader->next(kWaitUs);
      waited_us = feed.clock.steady_us() - begun_us;
      ASSERT_TRUE(entry.ok() && *entry != nullptr);
      EXPECT_FALSE((*entry)->replaced.empty());
    });
    EXPECT_OK(feed.engine->truncate_table("t"));
    feed.executor.join_beside();
    EXPECT_LT(waited_us, kWaitUs) << "seed " << seed;  // woken by the replacement, not by the clock
  }
}

// The manifest forgets what happened to a table once a reader has acknowledged it. Another reader that is not
// there yet must not pass it.
TEST_F(Feed, AReaderThatIsOvertakenMissesNothingSilently) {
  EXPECT_OK(engine_->feeds().create("a"));
  for (const bool ingests : {false, true}) {
    const auto slow = read("a");
    const std::string first = put(t_, "t", "a", "1");
    if (ingests) {
      EXPECT_TRUE(files_->open_directory("in", true).ok());
      auto builder = HFileBuilder::create(*files_, "in/file", {});
      EXPECT_OK(builder->add({"a", "f", "q", 5, CellType::kPut, "1"}));
      EXPECT_OK(builder->finish().status());
      EXPECT_OK(t_->ingest({.files = {IngestFile{"f", "in/file"}}}).status());
    } else {
      EXPECT_OK(engine_->truncate_table("t"));
    }
    put(t_, "t", "b", "2");
    EXPECT_EQ(read_all(*slow, 1), Texts{first});
    const auto fast = read("a");
    read_all(*fast);
    EXPECT_OK(fast->acknowledge(fast->position()));
    const auto next = slow->next();
    EXPECT_TRUE(next.status().is(Code::kConflict)) << next.status().to_text();
  }
}

// A restored table's files were taken in before the feed was there, or were told of then.
TEST_F(Feed, ARestoredTableTellsNoIngestAgain) {
  EXPECT_TRUE(files_->open_directory("in", true).ok());
  auto builder = HFileBuilder::create(*files_, "in/file", {});
  EXPECT_OK(builder->add({"a", "f", "q", 5, CellType::kPut, "1"}));
  EXPECT_OK(builder->finish().status());
  EXPECT_OK(engine_->feeds().create("a"));
  const std::string first = put(t_, "t", "x", "1");
  EXPECT_OK(t_->ingest({.files = {IngestFile{"f", "in/file"}}}).status());
  const std::string taken = std::to_string(last()) + ": t/f took in 1 cells";
  EXPECT_OK(engine_->named_snapshots().create("s", {"t"}).status());
  EXPECT_OK(engine_->named_snapshots().clone("s", "t", "copy").status());
  for (int again = 0; again < 2; ++again) {
    const auto reader = read("a");
    EXPECT_EQ(read_all(*reader), (Texts{first, taken, std::to_string(last()) + ":"}));
    EXPECT_EQ(reader->unlogged_writes(), 0u);
    reopen();
  }
}

}  // namespace
}  // namespace cellar::testing
