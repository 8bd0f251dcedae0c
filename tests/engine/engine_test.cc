// Goal: an engine answers as its tables were written, before and after flush, compaction and reopening.
// Method: small cases over a memory file system, each asked in all three states.
#include "tests/engine/engine_fixture.h"

#include <thread>

#include "cell/cell_codec.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"

namespace cellar::testing {
namespace {

class EngineTest : public EngineFixture {
 protected:
  // Runs `check` on what is in memory, in a file, in a compacted file, and after reopening.
  template <class Check>
  void in_every_state(const std::string& table, const Check& check) {
    const auto now = [&] { return engine_->open_table(table).value(); };
    {
      SCOPED_TRACE("in memory");
      check(*now());
    }
    EXPECT_OK(engine_->flush());
    {
      SCOPED_TRACE("flushed");
      check(*now());
    }
    EXPECT_OK(now()->major_compact());
    {
      SCOPED_TRACE("compacted");
      check(*now());
    }
    EXPECT_OK(engine_->close());
    open();
    {
      SCOPED_TRACE("reopened");
      check(*now());
    }
  }
};

TEST_F(EngineTest, AnswersWhatWasPut) {
  open();
  clock_.set_wall_ms(1000);
  auto table = make_table("t", {family("a"), family("b", 3)});
  EXPECT_OK(table->put(Put("r1").add("a", "x", "1").add("b", "y", "2")));
  EXPECT_OK(table->put(Put("r2").add_at("b", "y", 10, "old").add_at("b", "y", 20, "new")));
  table.reset();
  in_every_state("t", [](Table& t) {
    EXPECT_EQ(get(t, Get("r1")), (Texts{"r1/a:x/1000/Put=1", "r1/b:y/1000/Put=2"}));
    EXPECT_EQ(get(t, Get("r1").column("b", "y")), (Texts{"r1/b:y/1000/Put=2"}));
    EXPECT_EQ(get(t, Get("r2").versions(2)), (Texts{"r2/b:y/20/Put=new", "r2/b:y/10/Put=old"}));
    EXPECT_EQ(get(t, Get("r2").time_range(0, 20)), (Texts{"r2/b:y/10/Put=old"}));
    EXPECT_EQ(get(t, Get("r3")), Texts{});
    EXPECT_EQ(scan(t, Scan()), (Texts{"r1/a:x/1000/Put=1", "r1/b:y/1000/Put=2", "r2/b:y/20/Put=new"}));
    EXPECT_EQ(scan(t, Scan().reversed(true)),
              (Texts{"r2/b:y/20/Put=new", "r1/a:x/1000/Put=1", "r1/b:y/1000/Put=2"}));
    EXPECT_EQ(scan(t, Scan().family("a")), (Texts{"r1/a:x/1000/Put=1"}));
    EXPECT_EQ(t.exists(Get("r1")).value(), true);
    EXPECT_EQ(t.exists(Get("r0")).value(), false);
  });
}

// A block of them holds neither whole keys nor, with a dictionary, tags: what a batch keeps must be copies.
TEST_F(EngineTest, RowsOfABatchStayWholeWhateverTheEncoding) {
  constexpr int kEngineRows = 400;
  const auto row_name = [](int i) { return "row" + std::to_string(1000 + i); };
  for (const char* encoding : {"none", "row_index_v1", "prefix", "diff", "fast_diff"}) {
    for (const bool compress_tags : {true, false}) {
      SCOPED_TRACE(encoding);
      files_ = make_memory_file_system();
      open();
      FamilyOptions options = family("f");
      options.encoding = encoding;
      options.compress_tags = compress_tags;
      options.block_bytes = 1024;
      auto table = make_table("t", {options});
      Batch batch;
      for (int i = 0; i < kEngineRows; ++i) {
        std::string key;
        append_flat_key(key, row_name(i), "f", "q", 5, CellType::kPut);
        CellView cell;
        ASSERT_TRUE(parse_flat_key(key.data(), key.size(), cell));
        const std::string value = "v" + std::to_string(i);
        std::string tags;
        append_tag(tags, 65, "tag" + std::to_string(i % 7));
        cell.value = value.data();
        cell.value_size = static_cast<uint32_t>(value.size());
        cell.tags = tags.data();
        cell.tags_size = static_cast<uint16_t>(tags.size());
        batch.cell(table, cell);
      }
      EXPECT_OK(engine_->write(batch));
      batch.clear();
      table.reset();
      in_every_state("t", [&](Table& t) {
        RowBatch rows;
        const auto scanner = t.scan(Scan()).value();
        ASSERT_TRUE(scanner->next_batch(rows, kEngineRows));
        ASSERT_EQ(rows.size(), static_cast<size_t>(kEngineRows));
        for (int i = 0; i < kEngineRows; ++i) {
          const CellView& cell = rows[static_cast<size_t>(i)].cells()[0];
          std::string_view tag;
          ASSERT_TRUE(find_tag(cell.tags_bytes(), 65, tag));
          ASSERT_EQ(tag, "tag" + std::to_string(i % 7));
          ASSERT_EQ(cell.row(), row_name(i));
          ASSERT_EQ(cell.value_bytes(), "v" + std::to_string(i));
        }
      });
      EXPECT_OK(engine_->close());
    }
  }
}

TEST_F(EngineTest, FlushesOneFamilyOrAll) {
  open();
  const auto table = make_table("t", {family("a"), family("b")});
  EXPECT_OK(table->put(Put("r").add("a", "q", "1").add("b", "q", "2")));
  const auto files = [&] {
    const TableInfo info = table->info();
    return std::pair(info.families[0].files.size(), info.families[1].files.size());
  };
  EXPECT_OK(table->flush("b"));
  EXPECT_EQ(files(), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(table->info().families[0].memtable_cells, 1u) << "the other one stays in memory";
  EXPECT_TRUE(table->flush("c").is(Code::kInvalidArgument));
  EXPECT_OK(table->flush());
  EXPECT_EQ(files(), std::pair(size_t{1}, size_t{1}));
}

TEST_F(EngineTest, DeletesHideAndPurge) {
  open();
  clock_.set_wall_ms(1000);
  auto table = make_table("t", {family("f", 5)});
  for (int64_t ts = 1; ts <= 4; ++ts)
    EXPECT_OK(table->put(Put("r").add_at("f", "q", ts, std::to_string(ts))));
  EXPECT_OK(table->erase(Delete("r").version("f", "q", 3)));
  EXPECT_OK(table->erase(Delete("r").column("f", "q", 1)));
  EXPECT_OK(table->put(Put("gone").add("f", "q", "v")));
  EXPECT_OK(table->erase(Delete("gone")));
  table.reset();
  in_every_state("t", [](Table& t) {
    EXPECT_EQ(get(t, Get("r").all_versions()), (Texts{"r/f:q/4/Put=4", "r/f:q/2/Put=2"}));
    EXPECT_EQ(get(t, Get("gone")), Texts{});
    EXPECT_EQ(t.exists(Get("gone")).value(), false);
  });
  // A major compaction has removed the markers and what they hid.
  EXPECT_EQ(scan(*engine_->open_table("t").value(), Scan().raw(true).all_versions()),
            (Texts{"r/f:q/4/Put=4", "r/f:q/2/Put=2"}));
}

TEST_F(EngineTest, DeletesTheLatestVersions) {
  open();
  auto table = make_table("t", {family("f", 5)});
  for (int64_t ts = 1; ts <= 4; ++ts)
    EXPECT_OK(table->put(Put("r").add_at("f", "q", ts, std::to_string(ts))));
  EXPECT_OK(table->erase(Delete("r").latest_version("f", "q").latest_version("f", "q")));
  EXPECT_EQ(get(*table, Get("r").all_versions()), (Texts{"r/f:q/2/Put=2", "r/f:q/1/Put=1"}));
}

TEST_F(EngineTest, CountsExactly) {
  open();
  clock_.set_wall_ms(5000);
  auto table = make_table("t", {family("f")});
  EXPECT_EQ(table->increment(Increment("r").add("f", "n", 5).add("f", "m", -2)).value(),
            (std::vector<int64_t>{5, -2}));
  EXPECT_EQ(table->increment(Increment("r").add("f", "n", 1).add("f", "n", 2)).value(),
            (std::vector<int64_t>{8, 8}));
  EXPECT_OK(table->put(Put("r").add("f", "text", "abc")));
  EXPECT_TRUE(table->increment(Increment("r").add("f", "n", 1).add("f", "text", 1))
                  .status()
                  .is(Code::kInvalidArgument));
  EXPECT_EQ(table->increment(Increment("r").add("f", "max", INT64_MAX)).value().front(), INT64_MAX);
  EXPECT_TRUE(table->increment(Increment("r").add("f", "max", 1)).status().is(Code::kInvalidArgument));
  auto wrap = Increment("r").add("f", "max", 1).wrap_on_overflow(true);
  EXPECT_EQ(table->increment(wrap).value().front(), INT64_MIN);
  table.reset();
  in_every_state("t", [](Table& t) { EXPECT_EQ(t.get(Get("r")).value().counter("f", "n"), 8); });
}

TEST_F(EngineTest, CountsExactlyUnderThreads) {
  open({.memtable_bytes = 64 << 10});
  auto table = make_table("t", {family("f")});
  constexpr int kThreads = 8;
  constexpr int kTimes = 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < kTimes; ++k) EXPECT_TRUE(table->increment(Increment("r").add("f", "n", 1)).ok());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table->get(Get("r")).value().counter("f", "n"), kThreads * kTimes);
}

TEST_F(EngineTest, SnapshotsSeeOneInstant) {
  open();
  auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 1, "before")));
  {
    auto snapshot = engine_->snapshot().value();
    EXPECT_OK(table->put(Put("r").add_at("f", "q", 2, "after")));
    EXPECT_OK(table->erase(Delete("r").family("f", 1)));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(table->major_compact());
    EXPECT_EQ(get(*table, Get("r").snapshot(snapshot)), (Texts{"r/f:q/1/Put=before"}));
    EXPECT_EQ(get(*table, Get("r")), (Texts{"r/f:q/2/Put=after"}));
  }
  EXPECT_OK(table->major_compact());
  EXPECT_EQ(scan(*table, Scan().raw(true).all_versions()), (Texts{"r/f:q/2/Put=after"}));
}

TEST_F(EngineTest, ScansGoOnThroughFlushAndCompaction) {
  open();
  auto table = make_table("t", {family("f")});
  for (int i = 0; i < 100; ++i)
    EXPECT_OK(table->put(Put("r" + std::to_string(1000 + i)).add("f", "q", std::to_string(i))));
  auto scanner = table->scan(Scan()).value();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(scanner->next());
  EXPECT_OK(table->erase(Delete("r1050")));
  EXPECT_OK(table->flush());
  EXPECT_OK(table->major_compact());
  EXPECT_OK(engine_->wait_for_background());
  int rows = 10;
  while (scanner->next()) ++rows;
  EXPECT_OK(scanner->status());
  EXPECT_EQ(rows, 100);
}

TEST_F(EngineTest, BatchesReachOverTables) {
  open();
  auto one = make_table("one", {family("f")});
  auto two = make_table("two", {family("g")});
  Batch batch;
  batch.put(one, Put("a").add_at("f", "q", 5, "1"))
      .put(two, Put("b").add_at("g", "q", 5, "2"))
      .put(one, Put("a").add_at("f", "q", 5, "last"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(get(*one, Get("a")), (Texts{"a/f:q/5/Put=last"}));
  EXPECT_EQ(get(*two, Get("b")), (Texts{"b/g:q/5/Put=2"}));
  batch.clear();
  batch.put(one, Put("a").add("f", "q", "x")).put(two, Put("b").add("nope", "q", "y"));
  EXPECT_TRUE(engine_->write(batch).is(Code::kInvalidArgument));
  EXPECT_EQ(get(*one, Get("a")), (Texts{"a/f:q/5/Put=last"}));
}

TEST_F(EngineTest, ScanBoundsAndParts) {
  open();
  auto table = make_table("t", {family("f")});
  for (const char* row : {"a", "b", "c", "d"})
    EXPECT_OK(table->put(Put(row).add_at("f", "1", 1, "").add_at("f", "2", 1, "").add_at("f", "3", 1, "")));
  const auto rows = [&](const Scan& scan) {
    std::string all;
    auto scanner = table->scan(scan).value();
    while (scanner->next())
      all += std::string(scanner->row().row()) + (scanner->row().more_cells_in_row() ? "+" : "");
    EXPECT_OK(scanner->status());
    return all;
  };
  EXPECT_EQ(rows(Scan().start("b")), "bcd");
  EXPECT_EQ(rows(Scan().start("b", false).stop("d")), "c");
  EXPECT_EQ(rows(Scan().start("b").stop("d", true)), "bcd");
  EXPECT_EQ(rows(Scan().start("c").stop("a").reversed(true)), "cb");
  EXPECT_EQ(rows(Scan().start("c", false).stop("a", true).reversed(true)), "ba");
  EXPECT_EQ(rows(Scan().prefix("c")), "c");
  EXPECT_EQ(rows(Scan().prefix("c").reversed(true)), "c");
  EXPECT_EQ(rows(Scan().start("d").stop("a")), "");
  EXPECT_EQ(rows(Scan().limit(2)), "ab");
  EXPECT_EQ(rows(Scan().limit(2).reversed(true)), "dc");
  EXPECT_EQ(rows(Scan().limit(1).batch(2)), "a+a");
  EXPECT_EQ(rows(Scan().limit(1).batch(3)), "a");
  EXPECT_EQ(rows(Scan().start("x").reversed(true).limit(1)), "d");
}

TEST_F(EngineTest, SecondWritersAreRefused) {
  open();
  EngineOptions options;
  options.environment.files = files_.get();
  EXPECT_TRUE(Engine::open("store", options).status().is(Code::kLocked));
  options.read_only = true;
  EXPECT_OK(Engine::open("store", options).status());
}

TEST_F(EngineTest, AStoreIsMadeInADirectoryThatIsThere) {
  EngineOptions options;
  options.environment.files = files_.get();
  const Status absent = Engine::open("no/such/store", options).status();
  EXPECT_TRUE(absent.is(Code::kNotFound)) << absent.to_text();
  EXPECT_NE(absent.hint().find("create_if_missing"), std::string::npos) << absent.to_text();
  options.create_if_missing = true;
  const Status refused = Engine::open("no/such/store", options).status();
  EXPECT_TRUE(refused.is(Code::kNotFound)) << refused.to_text();
  EXPECT_NE(refused.hint().find("first make the directory"), std::string::npos) << refused.to_text();
}

TEST_F(EngineTest, ReadOnlyReadsTheLogAndRefusesWrites) {
  open();
  auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 1, "v")));
  table.reset();
  EXPECT_OK(engine_->close());
  open({.read_only = true});
  table = engine_->open_table("t").value();
  EXPECT_EQ(get(*table, Get("r")), (Texts{"r/f:q/1/Put=v"}));
  EXPECT_TRUE(table->put(Put("r").add("f", "q", "w")).is(Code::kReadOnly));
  EXPECT_TRUE(engine_->flush().is(Code::kReadOnly));
}

TEST_F(EngineTest, ReadOnlyWritesNothing) {
  for (const bool clean : {true, false}) {
    SCOPED_TRACE(clean ? "closed" : "killed");
    CrashFileSystem disk;
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = &disk;
    options.environment.clock = &clock_;
    auto engine = Engine::open("store", options).value();
    auto table = engine->create_table("t", {.families = {family("f")}}).value();
    EXPECT_OK(table->put(Put("flushed").add_at("f", "q", 1, "v")));
    EXPECT_OK(engine->flush());
    EXPECT_OK(table->put(Put("logged").add_at("f", "q", 1, "v")));
    if (clean) EXPECT_OK(engine->close());
    auto medium = disk.image(CrashMode::kProcessKilled);
    FaultFileSystem watched(*medium);
    options.create_if_missing = false;
    options.read_only = true;
    options.environment.files = &watched;
    {
      auto reader = Engine::open("store", options).value();
      EXPECT_EQ(scan(*reader->open_table("t").value(), Scan()).size(), 2U);
      EXPECT_TRUE(reader->create_table("u", {.families = {family("f")}}).status().is(Code::kReadOnly));
      EXPECT_OK(reader->close());
    }
    for (const FileOperation writing : {FileOperation::kCreate, FileOperation::kAppend, FileOperation::kSync,
                                        FileOperation::kRename, FileOperation::kUnlink, FileOperation::kLink,
                                        FileOperation::kDirectorySync, FileOperation::kRemoveDirectory})
      EXPECT_EQ(watched.count(writing), 0U) << operation_name(writing);
  }
}

TEST_F(EngineTest, DropsAndAlters) {
  open();
  auto table = make_table("t", {family("f", 3)});
  for (int64_t ts = 1; ts <= 3; ++ts)
    EXPECT_OK(table->put(Put("r").add_at("f", "q", ts, std::to_string(ts))));
  EXPECT_OK(engine_->alter_family("t", family("f", 2)));
  EXPECT_OK(engine_->alter_family("t", family("g")));
  EXPECT_OK(table->put(Put("r").add_at("g", "q", 1, "g")));
  EXPECT_EQ(get(*table, Get("r").all_versions()), (Texts{"r/f:q/3/Put=3", "r/f:q/2/Put=2", "r/g:q/1/Put=g"}));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->drop_table("t"));
  EXPECT_TRUE(table->put(Put("r").add("f", "q", "v")).is(Code::kNotFound));
  EXPECT_TRUE(engine_->open_table("t").status().is(Code::kNotFound));
  table.reset();
  EXPECT_OK(engine_->close());
  open();
  EXPECT_EQ(engine_->list_tables(), std::vector<std::string>{});
}

TEST_F(EngineTest, UnloggedWritesSurviveACleanClose) {
  open();
  auto table = make_table("t", {family("f")});
  EXPECT_OK(table->put(Put("r").add_at("f", "q", 1, "v"), {.durability = Durability::kSkipWal}));
  table.reset();
  EXPECT_OK(engine_->close());
  open();
  EXPECT_EQ(get(*engine_->open_table("t").value(), Get("r")), (Texts{"r/f:q/1/Put=v"}));
}

TEST_F(EngineTest, OpeningAgainAndAgainGathersNoLog) {
  open();
  auto table = make_table("t", {family("d", 100)});
  const int rounds = 100;
  for (int i = 0; i < rounds; ++i) {
    EXPECT_OK(table->put(Put("r").add("d", std::to_string(i), "v")));
    const EngineStatus status = engine_->status();
    EXPECT_LE(status.log_segments, 40u) << i;
    table.reset();
    EXPECT_OK(engine_->close());
    open();
    table = engine_->open_table("t").value();
  }
  EXPECT_EQ(table->get_row(Get("r")).value().cells.size(), static_cast<size_t>(rounds));
  EXPECT_GE(engine_->status().store_files, 1u) << "what the small segments held is in files";
}

TEST_F(EngineTest, HandlesOutliveTheEngineHarmlessly) {
  open();
  auto table = make_table("t", {family("f")});
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(table->put(Put("r").add("f", "q", "v")).is(Code::kAborted));
  EXPECT_TRUE(table->get(Get("r")).status().is(Code::kAborted));
}

TEST_F(EngineTest, ManySmallMemtablesFlushCompactAndReleaseTheLog) {
  open({.memtable_bytes = 32 << 10, .log_segment_bytes = 64 << 10});
  auto table = make_table("t", {family("f")});
  const std::string value(100, 'v');
  for (int i = 0; i < 5000; ++i)
    ASSERT_TRUE(table->put(Put("row" + std::to_string(i * 7919 % 5000)).add("f", "q", value)).ok());
  EXPECT_OK(engine_->wait_for_background());
  const EngineStatus status = engine_->status();
  EXPECT_GT(status.flushes, 3U);
  EXPECT_GT(status.compactions, 0U);
  EXPECT_LT(status.log_segments, 10U);
  EXPECT_EQ(scan(*table, Scan()).size(), 5000U);
  table.reset();
  EXPECT_OK(engine_->close());
  open();
  EXPECT_EQ(scan(*engine_->open_table("t").value(), Scan()).size(), 5000U);
}

TEST_F(EngineTest, AFullDiskEndsTheWaitAndAFlushWorksOnceThereIsRoom) {
  FaultFileSystem& fault = watch_files();
  EngineOptions options;
  options.memtable_bytes = 64 << 10;
  open(options);
  const auto table = make_table("t", {family("d")});
  fault.inject({.on = FileOperation::kAppend, .name = "tables/*", .nth = 0, .code = Code::kNoSpace});
  const std::string value(1000, 'v');
  for (int i = 0; i < 100; ++i) EXPECT_OK(table->put(Put("row" + std::to_string(i)).add("d", "q", value)));
  const Status waited = engine_->wait_for_background();
  EXPECT_TRUE(waited.is(Code::kNoSpace)) << waited.to_text();
  EXPECT_TRUE(engine_->flush().is(Code::kNoSpace));
  EXPECT_EQ(table->info().families[0].files.size(), 0u);

  fault.clear();
  EXPECT_OK(engine_->flush());
  clock_.advance_ms(2000);
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(table->info().families[0].memtable_cells, 0u);
  EXPECT_EQ(scan(*table, Scan()).size(), 100u);
  EXPECT_OK(engine_->close());
  open(options);
  EXPECT_EQ(scan(*engine_->open_table("t").value(), Scan()).size(), 100u);
}

}  // namespace
}  // namespace cellar::testing
