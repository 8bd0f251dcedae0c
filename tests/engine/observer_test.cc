// Goal: an observer sees what each kind of write will really write. Its additions are part of that write, and
// a refused write leaves no trace. Method: each rule by itself; the observed cells are compared with a raw
// scan of the written ones.
#include "cellar/observer.h"

#include <thread>

#include "cell/cell_codec.h"
#include "tests/engine/observer_fixture.h"

namespace cellar::testing {
namespace {

class ObserverTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    users_ = make_table("users", {family("d", 3), family("e")});
    other_ = make_table("other", {family("f", 3)});
    clock_.advance_ms(1000);
  }

  void observe(CallingObserver::Work work, const std::string& name = "watcher",
               const std::string& table = "users") {
    EXPECT_OK(engine_->add_observer(table, name, std::make_shared<CallingObserver>(std::move(work))));
  }
  // Notes the cells of each call, and adds the row to the other table.
  void observe_and_note() {
    observe([this](const RowView& row, ObserverContext& context) {
      EXPECT_EQ(context.observed_table(), users_);
      ++calls_;
      for (const std::string& text : cell_texts(RowView(row.cells(), false))) seen_.push_back(text);
      return context.put(other_, Put(row.row()).add("f", "seen", std::to_string(calls_)));
    });
  }
  // Returns the cells that the table holds of writes after sequence `since`, markers too.
  static Texts written(Table& table, uint64_t since) {
    Texts texts;
    const auto scanner = table.scan(Scan().raw(true).all_versions()).value();
    for (const RowView row : *scanner)
      for (size_t i = 0; i < row.cells().size(); ++i)
        if (row.cells()[i].sequence > since) texts.push_back(cell_texts(row)[i]);
    EXPECT_OK(scanner->status());
    return texts;
  }
  // Complains unless the observer saw `calls` rows with what the write then wrote, and its additions came in
  // the same write.
  void expect_seen(int calls, const std::function<Status()>& write) {
    const uint64_t before = engine_->status().last_sequence;
    seen_.clear();
    calls_ = 0;
    EXPECT_OK(write());
    EXPECT_EQ(calls_, calls);
    EXPECT_EQ(engine_->status().last_sequence, before + (calls != 0 ? 1U : 0U)) << "one record";
    EXPECT_EQ(seen_, written(*users_, before));
    EXPECT_EQ(written(*other_, before).size(), static_cast<size_t>(calls));
    clock_.advance_ms(10);
  }
  // Complains unless the write fails so and leaves nothing.
  void expect_refused(const Status& status, Code code, std::string_view part, uint64_t sequence) {
    EXPECT_TRUE(status.is(code)) << status.to_text();
    EXPECT_NE(status.message().find(part), std::string_view::npos) << status.to_text();
    EXPECT_EQ(engine_->status().last_sequence, sequence);
  }
  uint64_t sequence() { return engine_->status().last_sequence; }
  static Put put(std::string_view row, std::string_view value = "v") {
    return std::move(Put(row).add("d", "q", value));
  }

  std::shared_ptr<Table> users_, other_;
  Texts seen_;
  int calls_ = 0;
};

TEST_F(ObserverTest, SeesEachKindOfWriteAsItIsWritten) {
  observe_and_note();
  expect_seen(1, [&] {
    return users_->put(Put("r1").add("e", "z", "1").add("d", "a", "2").add_at("d", "q", 77, "3"));
  });
  expect_seen(1, [&] { return users_->put(Put("r1").add("d", "a", "lost").add("d", "a", "kept")); });
  expect_seen(1,
              [&] { return users_->increment(Increment("r1").add("d", "n", 5).add("d", "m", 1)).status(); });
  expect_seen(1, [&] { return users_->increment(Increment("r1").add("d", "n", 5)).status(); });
  EXPECT_EQ(get(*users_, Get("r1").column("d", "n")).size(), 1U);
  expect_seen(1, [&] { return users_->append(Append("r1").add("d", "a", "+tail")).status(); });
  expect_seen(1, [&] {
    return users_->mutate(RowMutations("r1").add(put("r1", "new")).add(Delete("r1").column("e", "z")))
        .status();
  });
  expect_seen(1, [&] {
    return users_->check_and_mutate(CheckAndMutate("r1").if_equals("d", "q", "new").then(put("r1"))).status();
  });
  expect_seen(0, [&] {
    return users_->check_and_mutate(CheckAndMutate("r1").if_equals("d", "q", "no").then(put("r1"))).status();
  });
  expect_seen(1, [&] { return users_->erase(Delete("r1").latest_version("d", "q").version("d", "m", 5)); });
  expect_seen(1, [&] { return users_->erase(Delete("r1")); });
}

TEST_F(ObserverTest, SeesEachRowOfABatchOnce) {
  observe_and_note();
  expect_seen(3, [&] {
    Batch batch;
    batch.put(users_, put("r2", "a")).put(users_, put("r1")).erase(users_, Delete("r3"));
    batch.put(users_, Put("r2").add("e", "x", "b"));
    std::string key;
    append_flat_key(key, "r1", "d", "raw", 5, CellType::kDeleteColumn);
    CellView raw;
    EXPECT_TRUE(parse_flat_key(key.data(), key.size(), raw));
    batch.cell(users_, raw);
    return engine_->write(batch);
  });
  // No write to a table without observers is seen, not even in a batch with a table that has one.
  const uint64_t before = sequence();
  calls_ = 0;
  Batch batch;
  batch.put(users_, put("r9")).put(other_, Put("r8").add("f", "x", "1"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(written(*other_, before).size(), 2U);
}

TEST_F(ObserverTest, SeesWhatATransactionCommits) {
  observe_and_note();
  expect_seen(2, [&]() -> Status {
    CELLAR_TRY_ASSIGN(const auto transaction, engine_->begin());
    CELLAR_TRY(transaction->put(users_, put("r1", "first")));
    CELLAR_TRY(transaction->put(users_, put("r2")));
    CELLAR_TRY(transaction->increment(users_, Increment("r2").add("d", "n", 1)).status());
    CELLAR_TRY(transaction->put(users_, put("r1", "second")));
    EXPECT_EQ(calls_, 0);
    return transaction->commit();
  });
  EXPECT_EQ(engine_->status().snapshots, 0U);
}

TEST_F(ObserverTest, AnswersOfAListOfActionsAreTheirOwn) {
  observe([](const RowView& row, ObserverContext&) {
    return row.row() == "bad" ? Status::aborted("not this one") : Status();
  });
  const std::vector<Action> actions = {put("r1"), put("bad"), put("r2"), Increment("bad").add("d", "n", 1)};
  const auto results = users_->batch(actions);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_OK(results[0].status());
  EXPECT_TRUE(results[1].status().is(Code::kAborted)) << results[1].status().to_text();
  EXPECT_OK(results[2].status());
  EXPECT_TRUE(results[3].status().is(Code::kAborted));
  EXPECT_EQ(scan(*users_, Scan()).size(), 2U);
}

TEST_F(ObserverTest, RefusalLeavesNothing) {
  EXPECT_OK(users_->put(put("r1", "old")));
  observe([this](const RowView&, ObserverContext& context) {
    CELLAR_TRY(context.put(other_, Put("x").add("f", "q", "v")));
    CELLAR_TRY(context.increment(other_, "y", "f", "n", 1));
    return Status::limit("too many followers");
  });
  const uint64_t before = sequence();
  const std::string_view message = "observer watcher of table users, row r1: too many followers";
  expect_refused(users_->put(put("r1")), Code::kLimit, message, before);
  expect_refused(users_->erase(Delete("r1")), Code::kLimit, message, before);
  expect_refused(users_->increment(Increment("r1").add("d", "n", 1)).status(), Code::kLimit, message, before);
  expect_refused(users_->append(Append("r1").add("d", "q", "x")).status(), Code::kLimit, message, before);
  expect_refused(users_->mutate(RowMutations("r1").add(put("r1"))).status(), Code::kLimit, message, before);
  Batch batch;
  batch.put(other_, Put("x").add("f", "q", "v")).put(users_, put("r1"));
  expect_refused(engine_->write(batch), Code::kLimit, message, before);
  auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(users_, put("r1")));
  EXPECT_OK(transaction->put(other_, Put("x").add("f", "q", "v")));
  expect_refused(transaction->commit(), Code::kLimit, message, before);
  EXPECT_EQ(scan(*users_, Scan()).size(), 1U);
  EXPECT_TRUE(scan(*other_, Scan()).empty());
  // No lock is left held.
  EXPECT_OK(other_->increment(Increment("y").add("f", "n", 1)).status());
}

TEST_F(ObserverTest, WrongAdditionsRefuseTheWriteWhateverTheObserverAnswers) {
  CallingObserver::Work work;
  observe([&](const RowView& row, ObserverContext& context) { return work(row, context); });
  const auto expect = [&](Code code, std::string_view part, CallingObserver::Work with) {
    work = std::move(with);
    expect_refused(users_->put(put("r1")), code, part, sequence());
    work = [inner = work](const RowView& row, ObserverContext& context) {
      static_cast<void>(inner(row, context));
      return Status();
    };
    expect_refused(users_->put(put("r1")), code, part, sequence());
  };
  using Row = const RowView&;
  using Context = ObserverContext&;
  expect(Code::kInvalidArgument, "observer watcher of table users, row r1: table other has no family \"g\"",
         [&](Row, Context context) { return context.put(other_, Put("x").add("g", "q", "v")); });
  expect(Code::kInvalidArgument, "no family \"g\"",
         [&](Row, Context context) { return context.erase(other_, Delete("x").column("g", "q")); });
  expect(Code::kInvalidArgument, "no family \"g\"",
         [&](Row, Context context) { return context.increment(other_, "x", "g", "q", 1); });
  expect(Code::kInvalidArgument, "no columns",
         [&](Row, Context context) { return context.put(other_, Put("x")); });
  expect(Code::kInvalidArgument, "row is empty",
         [&](Row, Context context) { return context.put(other_, Put("").add("f", "q", "v")); });
  expect(Code::kInvalidArgument, "latest version",
         [&](Row, Context context) { return context.erase(other_, Delete("x").latest_version("f", "q")); });
  expect(Code::kInvalidArgument, "belongs to another engine than the write",
         [&](Row, Context context) { return context.put(nullptr, Put("x").add("f", "q", "v")); });
  expect(Code::kInvalidArgument, "observer watcher, addition to table other: row x, column f:q: timestamp -5",
         [&](Row, Context context) { return context.put(other_, Put("x").add_at("f", "q", -5, "v")); });
  expect(Code::kLimit, "cell_bytes_max", [&](Row, Context context) {
    return context.put(other_, Put("x").add("f", "q", std::string(11u << 20, 'v')));
  });
  expect(Code::kLimit, "what observers add to the write is larger", [&](Row, Context context) {
    for (int i = 0; i < 8; ++i)
      CELLAR_TRY(context.put(other_, Put("x" + std::to_string(i)).add("f", "q", std::string(9u << 20, 'v'))));
    return Status();
  });
  EXPECT_TRUE(scan(*users_, Scan()).empty());
  EXPECT_TRUE(scan(*other_, Scan()).empty());
}

TEST_F(ObserverTest, AdditionsHaveTheTimeOfTheWriteUnlessTheySayOne) {
  observe([this](const RowView& row, ObserverContext& context) {
    EXPECT_EQ(context.timestamp(), row.cells().front().timestamp);
    CELLAR_TRY(context.put(other_, Put("x").add("f", "a", "1").add_at("f", "b", 5, "2")));
    return context.erase(other_, Delete("x").column("f", "c"));
  });
  EXPECT_OK(users_->put(put("r1")));
  const std::string now = std::to_string(clock_.wall_ms());
  EXPECT_EQ(written(*other_, 0),
            (Texts{"x/f:a/" + now + "/Put=1", "x/f:b/5/Put=2", "x/f:c/" + now + "/DeleteColumn="}));
}

TEST_F(ObserverTest, ReadsTheRowBeforeAndAfterTheWrite) {
  EXPECT_OK(users_->put(put("r1", "old")));
  EXPECT_OK(users_->put(put("r2", "other")));
  clock_.advance_ms(10);
  std::string before, after, rows;
  observe([&](const RowView& row, ObserverContext& context) -> Status {
    const Get get = Get(row.row()).column("d", "q");
    CELLAR_TRY_ASSIGN(const RowBatch found, context.get(users_, get));
    CELLAR_TRY_ASSIGN(const RowBatch then, context.get_after(users_, get));
    before = found.value("d", "q").value_or("-");
    after = then.value("d", "q").value_or("-");
    rows.clear();
    CELLAR_TRY_ASSIGN(const auto scanner, context.scan(users_, Scan()));
    for (const RowView each : *scanner) rows += std::string(each.row()) + " ";
    return scanner->status();
  });
  const auto expect = [&](const Status& status, std::string_view was, std::string_view is) {
    EXPECT_OK(status);
    EXPECT_EQ(before, was);
    EXPECT_EQ(after, is);
    clock_.advance_ms(10);
  };
  expect(users_->put(put("r1", "new")), "old", "new");
  expect(users_->put(Put("r1").add_at("d", "q", 5, "older")), "new", "new");
  expect(users_->erase(Delete("r1").latest_version("d", "q")), "new", "old");
  expect(users_->erase(Delete("r1")), "old", "-");
  expect(users_->put(put("r3", "first")), "-", "first");
  EXPECT_EQ(rows, "r2 ");
  Batch batch;  // the row of one write is not seen by the read of another one
  batch.put(users_, put("r3", "a")).put(users_, put("r4", "b"));
  expect(engine_->write(batch), "-", "b");
  EXPECT_EQ(rows, "r2 r3 ");
  const auto snapshot = engine_->snapshot().value();
  observe(
      [&](const RowView&, ObserverContext& context) {
        return context.get(users_, Get("r1").snapshot(snapshot)).status();
      },
      "wrong");
  expect_refused(users_->put(put("r1")), Code::kInvalidArgument, "observer wrong of table users", sequence());
}

TEST_F(ObserverTest, CountersAddUpOverRowsAndObservers) {
  const auto count = [this](const RowView&, ObserverContext& context) {
    return context.increment(other_, "total", "f", "n", 2);
  };
  observe(count, "one");
  observe(count, "two");
  Batch batch;
  batch.put(users_, put("r1")).put(users_, put("r2")).put(users_, put("r3"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_OK(users_->put(put("r1")));
  const auto total = other_->get(Get("total")).value();
  EXPECT_EQ(total.row().counter("f", "n"), 16);
  clock_.advance_ms(1000);
  EXPECT_OK(other_->put(Put("total").add("f", "n", "text")));
  expect_refused(users_->put(put("r1")), Code::kInvalidArgument,
                 "observer one, addition to table other, row total: row total, column f:n is not a counter",
                 sequence());
  EXPECT_OK(other_->erase(Delete("total")));
  clock_.advance_ms(1000);
  Batch both;
  both.put(users_, put("r1")).put(other_, Put("total").add("f", "n", "text"));
  expect_refused(engine_->write(both), Code::kInvalidArgument, "the write also puts row total, column f:n",
                 sequence());
}

TEST_F(ObserverTest, ObserversComeInOrderAndTheLastAdditionWins) {
  std::string order;
  for (const char* name : {"b", "a"})
    observe(
        [this, name, &order](const RowView& row, ObserverContext& context) {
          order += std::string(name) + std::string(row.row()) + " ";
          return context.put(other_, Put("x").add("f", "q", name));
        },
        name);
  Batch batch;
  batch.put(users_, put("r2")).put(users_, put("r1")).put(other_, Put("x").add("f", "q", "own"));
  EXPECT_OK(engine_->write(batch));
  EXPECT_EQ(order, "br1 ar1 br2 ar2 ");
  EXPECT_EQ(value_of(*other_, Get("x"), "f", "q"), "a");
  EXPECT_EQ(written(*other_, 0).size(), 1U);
}

TEST_F(ObserverTest, AdditionsAreNotObserved) {
  int there = 0, here = 0;
  observe([&](const RowView& row, ObserverContext& context) {
    ++here;
    return context.put(other_, Put(row.row()).add("f", "q", "v"));
  });
  observe(
      [&](const RowView& row, ObserverContext& context) {
        ++there;
        return context.put(users_, put(row.row(), "back"));
      },
      "watcher", "other");
  EXPECT_OK(users_->put(put("r1")));
  EXPECT_EQ(here, 1);
  EXPECT_EQ(there, 0);
  EXPECT_OK(other_->put(Put("r2").add("f", "q", "v")));
  EXPECT_EQ(here, 1);
  EXPECT_EQ(there, 1);
  EXPECT_EQ(value_of(*users_, Get("r2"), "d", "q"), "back");
}

TEST_F(ObserverTest, AnObserverMayReadButNotCallForWrites) {
  std::vector<Status> answers;
  observe([&](const RowView&, ObserverContext&) -> Status {
    Batch batch;
    batch.put(other_, Put("x").add("f", "q", "v"));
    auto transaction = engine_->begin().value();
    EXPECT_OK(transaction->put(other_, Put("x").add("f", "q", "v")));
    answers = {
        users_->put(put("r1")),
        other_->put(Put("x").add("f", "q", "v")),
        other_->erase(Delete("x")),
        other_->increment(Increment("x").add("f", "n", 1)).status(),
        other_->append(Append("x").add("f", "n", "v")).status(),
        other_->mutate(RowMutations("x").add(Delete("x"))).status(),
        other_->check_and_mutate(CheckAndMutate("x").if_not_exists("f", "q").then(Delete("x"))).status(),
        other_->batch(std::vector<Action>{Delete("x")})[0].status(),
        engine_->write(batch),
        transaction->commit(),
        other_->flush(),
        other_->compact(),
        other_->ingest({}).status(),
        engine_->flush(),
        engine_->wait_for_background(),
        engine_->create_table("more", {.families = {family("d")}}).status(),
        engine_->alter_family("other", family("g")),
        engine_->drop_table("other"),
        engine_->add_observer("other", "x", std::make_shared<InverseObserver>()),
        engine_->close()};
    EXPECT_TRUE(other_->get(Get("x")).ok());
    return {};
  });
  EXPECT_OK(users_->put(put("r1")));
  ASSERT_EQ(answers.size(), 20U);
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(answers[i].is(Code::kInvalidArgument)) << i << " " << answers[i].to_text();
    EXPECT_NE(answers[i].message().find("an observer asked for a write"), std::string_view::npos)
        << answers[i].to_text();
  }
  EXPECT_TRUE(scan(*other_, Scan()).empty());
  EXPECT_EQ(scan(*users_, Scan()).size(), 1U);
  EXPECT_OK(other_->put(Put("x").add("f", "q", "v")));
}

TEST_F(ObserverTest, TheConflictCheckCoversWhatObserversAddAndRead) {
  observe([this](const RowView&, ObserverContext& context) -> Status {
    CELLAR_TRY(context.get(other_, Get("read")).status());
    CELLAR_TRY(context.increment(other_, "counted", "f", "n", 1));
    return context.put(other_, Put("added").add("f", "q", "v"));
  });
  const auto commit_beside = [&](std::string_view row, bool serializable) {
    auto transaction = engine_->begin({.serializable = serializable}).value();
    EXPECT_OK(transaction->put(users_, put("r1")));
    EXPECT_OK(other_->put(Put(row).add("f", "beside", "v")));
    return transaction->commit();
  };
  for (const char* row : {"added", "counted", "read"}) {
    const Status status = commit_beside(row, true);
    EXPECT_TRUE(status.is(Code::kConflict)) << row << " " << status.to_text();
    EXPECT_NE(status.message().find("table other, row " + std::string(row)), std::string_view::npos);
  }
  EXPECT_TRUE(scan(*users_, Scan()).empty());
  EXPECT_TRUE(commit_beside("added", false).is(Code::kConflict));
  EXPECT_OK(commit_beside("read", false));
  EXPECT_OK(commit_beside("none", true));
  EXPECT_EQ(other_->get(Get("counted")).value().counter("f", "n"), 2);
  // The other way round: a transaction that has read what an observer then adds to.
  auto reader = engine_->begin().value();
  EXPECT_TRUE(reader->get(other_, Get("added")).ok());
  EXPECT_OK(reader->put(other_, Put("y").add("f", "q", "v")));
  EXPECT_OK(users_->put(put("r2")));
  EXPECT_TRUE(reader->commit().is(Code::kConflict));
}

TEST_F(ObserverTest, TheStrongestDurabilityCounts) {
  ASSERT_TRUE(
      engine_->create_table("loose", {.families = {family("d")}, .durability = Durability::kSkipWal}).ok());
  const auto loose = engine_->open_table("loose").value();
  observe(
      [this](const RowView& row, ObserverContext& context) {
        return row.row() == "alone" ? Status() : context.put(other_, Put("x").add("f", "q", "v"));
      },
      "watcher", "loose");
  const uint64_t before = engine_->status().log_bytes;
  EXPECT_OK(loose->put(put("alone")));
  EXPECT_EQ(engine_->status().log_bytes, before);
  EXPECT_OK(loose->put(put("r1")));
  EXPECT_GT(engine_->status().log_bytes, before);
}

TEST_F(ObserverTest, IsRegisteredForAsLongAsTheEngineIsOpen) {
  const auto observer = std::make_shared<InverseObserver>();
  EXPECT_TRUE(engine_->add_observer("users", "", observer).is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->add_observer("users", "x", nullptr).is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->add_observer("user", "x", observer).is(Code::kNotFound));
  EXPECT_OK(engine_->add_observer("users", "x", observer));
  EXPECT_TRUE(engine_->add_observer("users", "x", observer).is(Code::kInvalidArgument));
  EXPECT_GT(observer.use_count(), 1);
  // Tables that watch each other end all the same, dropped ones too.
  struct Holder {
    std::shared_ptr<Table> table;
  };
  const auto holder = std::make_shared<Holder>(Holder{users_});
  observe([holder](const RowView&, ObserverContext&) { return Status(); }, "holds");
  std::weak_ptr<Table> users = users_;
  EXPECT_OK(engine_->drop_table("users"));
  EXPECT_OK(engine_->close());
  EXPECT_EQ(observer.use_count(), 1);
  EXPECT_TRUE(users_->put(put("r1")).is(Code::kAborted));
  open();
  users_ = make_table("users", {family("d")});
  other_ = engine_->open_table("other").value();
  EXPECT_OK(users_->put(put("r1")));  // no such table as by_value: nobody asks for it
}

TEST_F(ObserverTest, AFanOutIsOneWrite) {
  observe([this](const RowView& row, ObserverContext& context) {
    for (int i = 0; i < 100'000; ++i)  // more rows than there are stripes of locks
      CELLAR_TRY(context.put(other_, Put("follower" + std::to_string(i)).add("f", row.row(), "")));
    return Status();
  });
  const uint64_t before = sequence();
  EXPECT_OK(users_->put(put("post")));
  EXPECT_EQ(sequence(), before + 1);
  EXPECT_EQ(scan(*other_, Scan()).size(), 100'000U);
}

TEST_F(ObserverTest, WaitsForRoomWhereItAdds) {
  EngineOptions options;
  options.automatic_flush = false;
  options.memtable_bytes = options.memtable_bytes_total = 64 << 10;
  open(options);
  users_ = make_table("users", {family("d")});
  other_ = make_table("other", {family("f")});
  observe([this](const RowView& row, ObserverContext& context) {
    return context.put(other_, Put(row.row()).add("f", "q", std::string(1000, 'v')));
  });
  Status status;
  int done = 0;
  for (; done < 1000 && status.ok(); ++done) status = users_->put(put("r" + std::to_string(done)));
  EXPECT_TRUE(status.is(Code::kBusy)) << status.to_text();
  EXPECT_LT(done, 200);
  EXPECT_EQ(scan(*users_, Scan()).size(), scan(*other_, Scan()).size());
}

// Nobody but the catalog holds the table that the first observer adds to.
TEST_F(ObserverTest, AnAdditionToATableThatIsDroppedMeanwhileRefusesTheWrite) {
  make_table("audit", {family("f")}).reset();
  observe([](const RowView& row, ObserverContext& context) -> Status {
    CELLAR_TRY_ASSIGN(const auto audit, context.table("audit"));
    CELLAR_TRY(context.increment(audit, "all", "f", "n", 1));
    return context.put(audit, Put(row.row()).add("f", "q", "seen"));
  });
  observe(
      [this](const RowView&, ObserverContext&) {
        Status dropped;
        std::thread([&] { dropped = engine_->drop_table("audit"); }).join();
        return dropped;
      },
      "dropper");
  const uint64_t before = sequence();
  expect_refused(users_->put(put("r1")), Code::kNotFound, "audit was dropped", before);
  EXPECT_EQ(get(*users_, Get("r1")), Texts{});
}

}  // namespace
}  // namespace cellar::testing
