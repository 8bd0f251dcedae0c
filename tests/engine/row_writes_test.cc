// Goal: appends, increments, row mutations and checks answer as HBase's do, rule by rule. Method: small rows
// over a manual clock, one test for each rule; what was written is read back raw, too.
#include <atomic>
#include <thread>

#include "base/coding.h"
#include "cell/cell_codec.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/crash_file_system.h"

namespace cellar::testing {
namespace {

class RowWrites : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    clock_.set_wall_ms(1000);
    table_ = make_table("t", {family("f", 5), family("g", 5)});
  }
  void TearDown() override { table_.reset(); }

  void put(int64_t timestamp, std::string_view value, std::string_view qualifier = "q") {
    EXPECT_OK(table_->put(Put("r").add_at("f", qualifier, timestamp, value)));
  }
  // The cells that an append returned.
  Texts append(const Append& append) {
    const auto row = table_->append(append);
    EXPECT_OK(row.status());
    return row.ok() ? texts(*row) : Texts{};
  }
  static Texts texts(const Row& row) {
    Texts texts;
    for (const Cell& cell : row.cells)
      texts.push_back(cell.row + "/" + cell.family + ":" + cell.qualifier + "/" +
                      std::to_string(cell.timestamp) + "/" + std::string(type_name(cell.type)) + "=" +
                      cell.value);
    return texts;
  }
  Texts row(const std::string& name = "r") { return get(*table_, Get(name)); }
  Texts raw() { return scan(*table_, Scan().raw(true).all_versions()); }
  static std::string counter(int64_t value) {
    std::string bytes;
    append_be64(bytes, static_cast<uint64_t>(value));
    return bytes;
  }
  static void expect_refused(const Status& status, std::string_view text) {
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
    EXPECT_NE(status.to_text().find(text), std::string::npos) << status.to_text();
  }

  std::shared_ptr<Table> table_;
};

// ---- append ----

TEST_F(RowWrites, AnAppendGoesToTheEndOfTheNewestValue) {
  put(10, "old");
  put(20, "new");
  EXPECT_EQ(append(Append("r").add("f", "q", "+")), (Texts{"r/f:q/1000/Put=new+"}));
  EXPECT_EQ(row(), (Texts{"r/f:q/1000/Put=new+"}));
  EXPECT_EQ(get(*table_, Get("r").all_versions()),
            (Texts{"r/f:q/1000/Put=new+", "r/f:q/20/Put=new", "r/f:q/10/Put=old"}));
}

TEST_F(RowWrites, AMissingValueCountsAsEmpty) {
  EXPECT_EQ(append(Append("r").add("f", "q", "first")), (Texts{"r/f:q/1000/Put=first"}));
  EXPECT_OK(table_->erase(Delete("r").column("f", "q")));
  clock_.set_wall_ms(2000);
  EXPECT_EQ(append(Append("r").add("f", "q", "again")), (Texts{"r/f:q/2000/Put=again"}));
}

TEST_F(RowWrites, NewValuesAreNeverBehindWhatTheyReplace) {
  put(9000, "future");
  EXPECT_EQ(append(Append("r").add("f", "q", "+")), (Texts{"r/f:q/9001/Put=future+"}));
  EXPECT_EQ(append(Append("r").add("f", "q", "+")), (Texts{"r/f:q/9002/Put=future++"}));
  EXPECT_EQ(row(), (Texts{"r/f:q/9002/Put=future++"}));
}

TEST_F(RowWrites, AnExplicitTimeCountsOnlyWhereThereIsNoValue) {
  put(500, "v");
  EXPECT_EQ(append(Append("r").add("f", "new", "a").add("f", "q", "b").timestamp(7)),
            (Texts{"r/f:new/7/Put=a", "r/f:q/1000/Put=vb"}));
  EXPECT_OK(table_->increment(Increment("c").add("f", "n", 1).timestamp(7)).status());
  EXPECT_EQ(row("c"), (Texts{"c/f:n/7/Put=" + counter(1)}));
  EXPECT_OK(table_->increment(Increment("c").add("f", "n", 1).timestamp(7)).status());
  EXPECT_EQ(row("c"), (Texts{"c/f:n/1000/Put=" + counter(2)}));
}

TEST_F(RowWrites, TheHighestTimestampCannotBeFollowed) {
  put(kLatestTimestamp - 1, "end");
  expect_refused(table_->append(Append("r").add("f", "q", "+")).status(), "highest possible timestamp");
  expect_refused(table_->increment(Increment("r").add("f", "q", 1)).status(), "not a counter");
  EXPECT_EQ(raw().size(), 1u);
}

TEST_F(RowWrites, OnlyCellsOfTheTimeRangeAreCurrent) {
  put(10, "a");
  put(2000, "later");
  EXPECT_EQ(append(Append("r").add("f", "q", "+").time_range(0, 100)), (Texts{"r/f:q/1000/Put=a+"}));
  EXPECT_EQ(row(), (Texts{"r/f:q/2000/Put=later"})) << "a newer cell outside the range hides it";
  clock_.set_wall_ms(3000);
  EXPECT_EQ(append(Append("r").add("f", "q", "+").time_range(100, 200)), (Texts{"r/f:q/3000/Put=+"}));
}

TEST_F(RowWrites, SeveralColumnsAreReturnedInTheirOrder) {
  put(1, "1", "b");
  EXPECT_EQ(append(Append("r").add("g", "z", "Z").add("f", "b", "B").add("f", "a", "A")),
            (Texts{"r/f:a/1000/Put=A", "r/f:b/1000/Put=1B", "r/g:z/1000/Put=Z"}));
  EXPECT_EQ(append(Append("r").add("f", "b", "x").add("f", "b", "y")), (Texts{"r/f:b/1001/Put=1Bxy"}))
      << "a column given twice gets both";
  EXPECT_EQ(append(Append("r").add("f", "b", "z").return_cells(false)), Texts{});
  EXPECT_EQ(get(*table_, Get("r").column("f", "b")), (Texts{"r/f:b/1002/Put=1Bxyz"}));
}

TEST_F(RowWrites, ATimeToLiveIsCarriedOnAndBeginsAnew) {
  EXPECT_OK(table_->put(Put("r").add("f", "q", "a").ttl_ms(1000)));
  clock_.set_wall_ms(1900);
  append(Append("r").add("f", "q", "b"));  // lives from 1900
  clock_.set_wall_ms(2500);
  EXPECT_EQ(row(), (Texts{"r/f:q/1900/Put=ab"}));
  append(Append("r").add("f", "q", "c").ttl_ms(5000));  // one of its own
  clock_.set_wall_ms(7000);
  EXPECT_EQ(row(), (Texts{"r/f:q/2500/Put=abc"}));
  clock_.set_wall_ms(8000);
  EXPECT_EQ(append(Append("r").add("f", "q", "new")), (Texts{"r/f:q/8000/Put=new"}))
      << "an expired value is none";
  clock_.set_wall_ms(100000);
  EXPECT_EQ(row(), (Texts{"r/f:q/8000/Put=new"}));
}

TEST_F(RowWrites, OtherTagsAreCarriedOnBesideAnOwnTimeToLive) {
  Cell cell("r", "f", "q", 10, CellType::kPut, counter(5));
  append_tag(cell.tags, 65, "label");
  std::string ttl;
  append_be64(ttl, 1'000'000);
  append_tag(cell.tags, kTtlTag, ttl);
  append_tag(cell.tags, 66, "more");
  for (const bool increments : {false, true}) {
    const std::string row = increments ? "i" : "a";
    OwnedCell owned;
    owned.assign(row, "f", "q", 10, CellType::kPut, 0, cell.value, cell.tags);
    Batch batch;
    batch.cell(table_, owned.view());
    EXPECT_OK(engine_->write(batch));
    if (increments) {
      EXPECT_OK(table_->increment(Increment(row).add("f", "q", 1).ttl_ms(77)).status());
    } else {
      EXPECT_OK(table_->append(Append(row).add("f", "q", "x").ttl_ms(77)).status());
    }
    const RowBatch found = table_->get(Get(row)).value();
    ASSERT_EQ(found.cells(), 1u);
    const std::string_view tags = found.row().cells()[0].tags_bytes();
    std::string_view value;
    ASSERT_TRUE(find_tag(tags, 65, value));
    EXPECT_EQ(value, "label");
    ASSERT_TRUE(find_tag(tags, 66, value));
    EXPECT_EQ(value, "more");
    ASSERT_TRUE(find_tag(tags, kTtlTag, value));
    EXPECT_EQ(load_be64(value.data()), 77u);
    EXPECT_EQ(tags.size(), cell.tags.size()) << "one time to live, not two";
  }
}

TEST_F(RowWrites, AnAppendIsRefusedWhole) {
  expect_refused(table_->append(Append("r")).status(), "no columns");
  expect_refused(table_->append(Append("r").add("f", "q", "x").add("h", "q", "x")).status(),
                 "no family \"h\"");
  expect_refused(table_->append(Append("").add("f", "q", "x")).status(), "row is empty");
  expect_refused(table_->append(Append("r").add("f", "q", "x").time_range(5, 4)).status(), "time range");
  EXPECT_OK(engine_->close());
  table_.reset();
  open({.cell_bytes_max = 100});
  table_ = engine_->open_table("t").value();
  EXPECT_OK(table_->append(Append("r").add("f", "q", std::string(60, 'x'))).status());
  EXPECT_TRUE(table_->append(Append("r").add("f", "a", "x").add("f", "q", std::string(60, 'x')))
                  .status()
                  .is(Code::kLimit));
  EXPECT_EQ(row().size(), 1u);
}

// ---- row mutations ----

TEST_F(RowWrites, RowMutationsShareOneInstant) {
  put(10, "gone", "old");
  put(11, counter(41).c_str(), "text");
  const uint64_t before = engine_->status().last_sequence;
  const auto mutated = table_->mutate(RowMutations("r")
                                          .add(Put("r").add("f", "q", "v").add("g", "q", "w"))
                                          .add(Delete("r").column("f", "old", 500))
                                          .add(Increment("r").add("f", "n", 7))
                                          .add(Append("r").add("g", "log", "line")));
  EXPECT_OK(mutated.status());
  EXPECT_EQ(texts(*mutated), (Texts{"r/f:n/1000/Put=" + counter(7), "r/g:log/1000/Put=line"}));
  EXPECT_EQ(engine_->status().last_sequence, before + 1) << "one write";
  EXPECT_EQ(get(*table_, Get("r").column("f", "q").column("f", "old").family("g")),
            (Texts{"r/f:q/1000/Put=v", "r/g:log/1000/Put=line", "r/g:q/1000/Put=w"}));
}

TEST_F(RowWrites, RowMutationsReadTheRowAsItWas) {
  put(10, counter(1), "n");
  put(20, "b");
  // The put of "n" is not seen by the increment; the two increments both start from 1, the last one stays.
  const auto mutated = table_->mutate(RowMutations("r")
                                          .add(Put("r").add_at("f", "n", 900, counter(100)))
                                          .add(Increment("r").add("f", "n", 5))
                                          .add(Increment("r").add("f", "n", 7))
                                          .add(Append("r").add("f", "q", "+"))
                                          .add(Delete("r").latest_version("f", "q")));
  EXPECT_EQ(texts(mutated.value()), (Texts{"r/f:n/1000/Put=" + counter(8), "r/f:q/1000/Put=b+"}));
  EXPECT_EQ(raw(),
            (Texts{"r/f:n/1000/Put=" + counter(8), "r/f:n/900/Put=" + counter(100),
                   "r/f:n/10/Put=" + counter(1), "r/f:q/1000/Put=b+", "r/f:q/20/Delete=", "r/f:q/20/Put=b"}));
}

TEST_F(RowWrites, AMarkerHidesWhatIsPutBesideItAtTheSameTime) {
  put(10, "old");
  EXPECT_OK(
      table_->mutate(RowMutations("r").add(Delete("r").column("f", "q")).add(Put("r").add("f", "q", "v")))
          .status());
  EXPECT_EQ(row(), Texts{}) << "as in HBase, whatever the order";
  EXPECT_OK(table_
                ->mutate(RowMutations("r")
                             .add(Delete("r").column("f", "q", 1999))
                             .add(Put("r").add_at("f", "q", 2000, "v")))
                .status());
  EXPECT_EQ(row(), (Texts{"r/f:q/2000/Put=v"}));
}

TEST_F(RowWrites, RowMutationsAreRefusedWhole) {
  put(10, "text");
  const auto good = [] { return RowMutations("r").add(Put("r").add("f", "x", "v")); };
  expect_refused(table_->mutate(good().add(Put("other").add("f", "q", "v"))).status(),
                 "the put is for row other, the row mutations for row r");
  expect_refused(table_->mutate(good().add(Delete("other"))).status(), "the delete is for row other");
  expect_refused(table_->mutate(good().add(Increment("other").add("f", "q", 1))).status(),
                 "the increment is for row other");
  expect_refused(table_->mutate(good().add(Append("other").add("f", "q", ""))).status(),
                 "the append is for row other");
  expect_refused(table_->mutate(good().add(Put("r"))).status(), "the put of row \"r\" has no columns");
  expect_refused(table_->mutate(good().add(Increment("r").add("f", "q", 1))).status(), "not a counter");
  expect_refused(table_->mutate(good().add(Put("r").add("nope", "q", ""))).status(), "no family \"nope\"");
  expect_refused(table_->mutate(RowMutations("r")).status(), "are empty");
  EXPECT_EQ(row(), (Texts{"r/f:q/10/Put=text"}));
}

TEST_F(RowWrites, RowMutationsAreThereWholeAfterACrashOrNotAtAll) {
  table_.reset();
  engine_.reset();
  CrashFileSystem files;
  EngineOptions options;
  options.create_if_missing = true;
  options.environment = {.files = &files, .clock = &clock_};
  auto engine = Engine::open("store", options).value();
  auto table = engine->create_table("t", {.families = {family("f"), family("g")}}).value();
  EXPECT_OK(table->put(Put("r").add("f", "old", "v")));
  const uint64_t operations = files.operations();
  EXPECT_OK(table
                ->mutate(RowMutations("r")
                             .add(Put("r").add("f", "a", std::string(300, 'a')))
                             .add(Delete("r").column("f", "old"))
                             .add(Increment("r").add("g", "n", 1))
                             .add(Append("r").add("g", "log", std::string(300, 'l'))))
                .status());
  EXPECT_EQ(files.operations(), operations + 1) << "one record";
  files.crash();  // so that the append stays the last, whatever else the engine has in mind
  const uint64_t bytes = files.last_append_bytes();
  ASSERT_GT(bytes, 600u);
  // The first word of a mapped append is stored last: it is there only if all others are.
  const size_t words = (bytes + 7) / 8;
  for (size_t missing = 0; missing <= words; ++missing) {
    std::vector<bool> present(words, true);
    if (missing < words) present[missing] = present[0] = false;
    const auto image = files.crash_image({.mode = CrashMode::kProcessKilled, .last_append_words = present});
    EngineOptions again = options;
    again.environment.files = image.get();
    const auto reopened = Engine::open("store", again).value();
    const Row found = reopened->open_table("t").value()->get_row(Get("r")).value();
    const bool whole = found.cells.size() == 3 && found.value("g", "log").has_value();
    const bool none = found.cells.size() == 1 && found.value("f", "old").has_value();
    EXPECT_TRUE(missing == words ? whole : none)
        << found.cells.size() << " cells without word " << missing << " of " << words;
  }
}

// ---- waiting for a row ----

TEST_F(RowWrites, AWriteWaitsForItsRowOnlySoLong) {
  EXPECT_OK(engine_->close());
  table_.reset();
  open({.row_lock_wait_ms = 0});
  table_ = engine_->open_table("t").value();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        const Status status =
            table_->append(Append("hot\x01").add("f", "q", "x").return_cells(false)).status();
        if (status.ok()) continue;
        EXPECT_TRUE(status.is(Code::kBusy)) << status.to_text();
        EXPECT_NE(status.to_text().find("row hot\\x01: waited 0 ms"), std::string::npos) << status.to_text();
        refused.fetch_add(1);
      }
    });
  for (int i = 0; i < 2000 && refused == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(refused.load(), 0u);
  EXPECT_OK(table_->append(Append("hot\x01").add("f", "q", "x")).status());
}

}  // namespace
}  // namespace cellar::testing
