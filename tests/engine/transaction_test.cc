// Goal: a transaction reads its own writes by the rules of the data model, and takes effect atomically. It
// fails when another write changed the data that it relies on. Method: each rule by itself, over two tables.
#include "cellar/transaction.h"

#include <functional>

#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class TransactionTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    users_ = make_table("users", {family("d", 3), family("e")});
    other_ = make_table("other", {family("d")});
    clock_.advance_ms(1000);
  }

  std::unique_ptr<Transaction> begin(bool serializable = true) {
    auto begun = engine_->begin({.serializable = serializable});
    EXPECT_TRUE(begun.ok()) << begun.status().to_text();
    return std::move(begun).value();
  }
  static std::string value(Transaction& transaction, const std::shared_ptr<Table>& table,
                           std::string_view row, std::string_view family = "d",
                           std::string_view qualifier = "q") {
    const auto found = transaction.get(table, Get(row).column(family, qualifier));
    EXPECT_TRUE(found.ok()) << found.status().to_text();
    return found.ok() ? std::string(found->value(family, qualifier).value_or("-")) : "?";
  }
  static std::string value(Table& table, std::string_view row, std::string_view qualifier = "q") {
    const auto found = table.get(Get(row).column("d", qualifier));
    EXPECT_TRUE(found.ok()) << found.status().to_text();
    return found.ok() ? std::string(found->value("d", qualifier).value_or("-")) : "?";
  }
  static std::string rows(Transaction& transaction, const std::shared_ptr<Table>& table, const Scan& scan) {
    std::string text;
    auto scanner = transaction.scan(table, scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().to_text();
    if (!scanner.ok()) return "?";
    for (const RowView row : **scanner) text += std::string(row.row()) + " ";
    EXPECT_OK((*scanner)->status());
    return text;
  }
  static Put put(std::string_view row, std::string_view value) {
    return std::move(Put(row).add("d", "q", value));
  }
  static void expect_conflict(const Status& status, std::string_view table, std::string_view row) {
    EXPECT_TRUE(status.is(Code::kConflict)) << status.to_text();
    const std::string what = "table " + std::string(table) + ", row " + std::string(row) + ":";
    EXPECT_NE(status.message().find(what), std::string_view::npos) << status.to_text();
    EXPECT_FALSE(status.hint().empty());
  }

  std::shared_ptr<Table> users_, other_;
};

TEST_F(TransactionTest, NobodySeesItsWritesUntilTheCommitButItself) {
  EXPECT_OK(users_->put(put("r1", "old")));
  auto transaction = begin();
  EXPECT_OK(transaction->put(users_, put("r1", "new")));
  EXPECT_OK(transaction->put(other_, put("r2", "two")));
  EXPECT_EQ(value(*transaction, users_, "r1"), "new");
  EXPECT_EQ(value(*transaction, other_, "r2"), "two");
  EXPECT_EQ(value(*users_, "r1"), "old");
  EXPECT_EQ(value(*other_, "r2"), "-");
  const uint64_t before = engine_->status().last_sequence;
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(engine_->status().last_sequence, before + 1) << "one record";
  EXPECT_EQ(value(*users_, "r1"), "new");
  EXPECT_EQ(value(*other_, "r2"), "two");
  EXPECT_EQ(engine_->status().snapshots, 0U);
}

TEST_F(TransactionTest, ReadsAsOfItsBeginning) {
  EXPECT_OK(users_->put(put("r1", "old")));
  auto transaction = begin();
  EXPECT_OK(users_->put(put("r1", "newer")));
  EXPECT_OK(users_->put(put("r2", "newer")));
  EXPECT_OK(users_->flush());
  EXPECT_OK(users_->major_compact());
  EXPECT_EQ(value(*transaction, users_, "r1"), "old");
  EXPECT_EQ(rows(*transaction, users_, Scan()), "r1 ");
  EXPECT_OK(transaction->commit());  // it wrote nothing
}

TEST_F(TransactionTest, SeesItsFiveDeletes) {
  Put before("r1");
  for (const int64_t time : {100, 200, 300})
    before.add_at("d", "q", time, "v" + std::to_string(time)).add_at("d", "p", time, "p");
  before.add_at("e", "q", 100, "e");
  EXPECT_OK(users_->put(before));
  const auto after = [&](const Delete& erase) {
    auto transaction = begin();
    EXPECT_OK(transaction->erase(users_, erase));
    const auto own = transaction->get(users_, Get("r1").all_versions());
    const Texts seen = own.ok() ? cell_texts(own->row()) : Texts{"?"};
    EXPECT_EQ(get(*users_, Get("r1").all_versions()).size(), 7U);
    // The transaction must see the result of the same delete in another table.
    auto scratch = make_table("scratch", {family("d", 3), family("e")});
    EXPECT_OK(scratch->put(before));
    EXPECT_OK(scratch->erase(erase));
    EXPECT_EQ(seen, get(*scratch, Get("r1").all_versions()));
    EXPECT_OK(engine_->drop_table("scratch"));
    return seen.size();
  };
  EXPECT_EQ(after(Delete("r1").version("d", "q", 200)), 6U);
  EXPECT_EQ(after(Delete("r1").latest_version("d", "q").latest_version("d", "q")), 5U);
  EXPECT_EQ(after(Delete("r1").column("d", "q")), 4U);
  EXPECT_EQ(after(Delete("r1").column("d", "q", 200)), 5U);
  EXPECT_EQ(after(Delete("r1").family("d")), 1U);
  EXPECT_EQ(after(Delete("r1").family_version("d", 200)), 5U);
  EXPECT_EQ(after(Delete("r1")), 0U);
}

TEST_F(TransactionTest, LaterStatementsWin) {
  EXPECT_OK(users_->put(put("r1", "old")));
  auto transaction = begin();
  EXPECT_OK(transaction->put(users_, put("r1", "a")));
  EXPECT_OK(transaction->erase(users_, Delete("r1")));
  EXPECT_EQ(value(*transaction, users_, "r1"), "-");
  EXPECT_OK(transaction->put(users_, put("r1", "b")));
  EXPECT_EQ(value(*transaction, users_, "r1"), "b");
  EXPECT_OK(transaction->erase(users_, Delete("r1").column("d", "q")));
  EXPECT_OK(transaction->put(users_, put("r1", "c")));
  EXPECT_OK(transaction->put(users_, put("r1", "d")));
  EXPECT_OK(transaction->put(users_, put("r2", "x")));
  EXPECT_OK(transaction->erase(users_, Delete("r2").latest_version("d", "q")));
  EXPECT_EQ(value(*transaction, users_, "r2"), "-");
  clock_.advance_ms(50);
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(get(*users_, Get("r1").all_versions()),
            Texts{"r1/d:q/" + std::to_string(clock_.wall_ms() + 2) + "/Put=d"});
  EXPECT_EQ(value(*users_, "r2"), "-");
  // No write comes after cells that are a little ahead of the clock.
  EXPECT_OK(users_->put(put("r1", "next")));
  EXPECT_EQ(value(*users_, "r1"), "next");
  EXPECT_OK(users_->erase(Delete("r1")));
  EXPECT_EQ(value(*users_, "r1"), "-");
}

TEST_F(TransactionTest, IncrementsAndAppendsReadItsWrites) {
  EXPECT_OK(users_->increment(Increment("r1").add("d", "n", 40)).status());
  auto transaction = begin();
  EXPECT_EQ(transaction->increment(users_, Increment("r1").add("d", "n", 1)).value(),
            std::vector<int64_t>{41});
  EXPECT_EQ(transaction->increment(users_, Increment("r1").add("d", "n", 1)).value(),
            std::vector<int64_t>{42});
  EXPECT_OK(transaction->append(users_, Append("r1").add("d", "a", "x")).status());
  const auto appended = transaction->append(users_, Append("r1").add("d", "a", "y"));
  ASSERT_TRUE(appended.ok());
  EXPECT_EQ(appended->value("d", "a"), "xy");
  EXPECT_OK(transaction->erase(users_, Delete("r1").column("d", "n")));
  EXPECT_EQ(transaction->increment(users_, Increment("r1").add("d", "n", 5)).value(),
            std::vector<int64_t>{5});
  EXPECT_FALSE(transaction->increment(users_, Increment("r1").add("d", "a", 5)).ok()) << "no counter";
  EXPECT_OK(transaction->commit());
  const auto row = users_->get(Get("r1").all_versions());
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->row().counter("d", "n"), 5);
  EXPECT_EQ(row->value("d", "a"), "xy");
  EXPECT_EQ(row->row().cells().size(), 2U) << "no version of what was in between";
}

TEST_F(TransactionTest, TakesEffectOverWhatIsDatedAhead) {
  const int64_t future = clock_.wall_ms() + 100'000;
  EXPECT_OK(
      users_->put(std::move(Put("r1").add_at("d", "q", future, "ahead").add_at("d", "p", future, "p"))));
  EXPECT_OK(users_->put(std::move(Put("r2").add_at("d", "q", future, "ahead"))));
  auto transaction = begin();
  EXPECT_EQ(value(*transaction, users_, "r1"), "ahead");
  EXPECT_OK(transaction->put(users_, put("r1", "read before")));
  EXPECT_EQ(value(*transaction, users_, "r1"), "read before");
  EXPECT_EQ(rows(*transaction, users_, Scan().start("r2")), "r2 ");
  EXPECT_OK(transaction->erase(users_, Delete("r2").column("d", "q")));
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(value(*users_, "r1"), "read before");
  EXPECT_EQ(value(*users_, "r2"), "-");
  EXPECT_OK(users_->put(put("r3", "now")));
  EXPECT_EQ(get(*users_, Get("r3")), Texts{"r3/d:q/" + std::to_string(clock_.wall_ms()) + "/Put=now"})
      << "the clock did not follow";
}

TEST_F(TransactionTest, MarkersInTheOrderOfWritingCountAsOneWrite) {
  FamilyOptions by_sequence = family("d", 3);
  by_sequence.delete_order = MarkerOrder::kSequence;
  auto table = make_table("ordered", {by_sequence});
  EXPECT_OK(table->put(put("r1", "old")));
  auto transaction = begin();
  EXPECT_OK(transaction->erase(table, Delete("r1").column("d", "q")));
  EXPECT_EQ(value(*transaction, table, "r1"), "-");
  EXPECT_OK(transaction->put(table, put("r1", "new")));
  EXPECT_EQ(value(*transaction, table, "r1"), "new");
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(value(*table, "r1"), "new");
}

TEST_F(TransactionTest, ScansItsWritesBothWaysAndNoneThatFollow) {
  for (const char* row : {"a", "c", "e"}) EXPECT_OK(users_->put(put(row, "v")));
  EXPECT_OK(users_->flush());
  auto transaction = begin();
  EXPECT_OK(transaction->put(users_, put("b", "v")));
  EXPECT_OK(transaction->put(users_, put("f", "v")));
  EXPECT_OK(transaction->erase(users_, Delete("c")));
  EXPECT_EQ(rows(*transaction, users_, Scan()), "a b e f ");
  EXPECT_EQ(rows(*transaction, users_, Scan().reversed(true)), "f e b a ");
  EXPECT_EQ(rows(*transaction, users_, Scan().start("b").stop("f").limit(1)), "b ");
  auto scanner = transaction->scan(users_, Scan()).value();
  std::string seen;
  while (scanner->next()) {
    seen += std::string(scanner->row().row()) + " ";
    EXPECT_OK(transaction->put(users_, put(std::string(scanner->row().row()) + "z", "v")));
  }
  EXPECT_EQ(seen, "a b e f ");
  EXPECT_EQ(rows(*transaction, users_, Scan()), "a az b bz e ez f fz ");
  scanner.reset();
  EXPECT_OK(transaction->commit());
}

TEST_F(TransactionTest, ConflictsWithEachKindOfChangeOfAWrittenRow) {
  const std::vector<std::function<Status()>> changes = {
      [&] { return users_->put(put("r1", "theirs")); },
      [&] { return users_->put(std::move(Put("r1").add("e", "else", "other family"))); },
      [&] { return users_->erase(Delete("r1")); },
      [&] { return users_->increment(Increment("r1").add("d", "n", 1)).status(); },
      [&] {
        auto second = begin();
        EXPECT_OK(second->put(users_, put("r1", "second")));
        return second->commit();
      },
  };
  for (const bool serializable : {true, false}) {
    for (const bool flushed : {false, true}) {
      for (const auto& change : changes) {
        clock_.advance_ms(10);  // past the markers of the change before, which would hide the next one
        auto transaction = begin(serializable);
        EXPECT_OK(transaction->put(users_, put("r0", "mine")));
        EXPECT_OK(transaction->put(users_, put("r1", "mine")));
        EXPECT_OK(change());
        if (flushed) EXPECT_OK(users_->flush());
        expect_conflict(transaction->commit(), "users", "r1");
        EXPECT_NE(value(*users_, "r0"), "mine") << "nothing is written";
      }
    }
  }
}

TEST_F(TransactionTest, ConflictsWithAChangeOfARowThatItRead) {
  EXPECT_OK(users_->put(put("r1", "old")));
  for (const char* row : {"r1", "absent"}) {
    auto transaction = begin();
    value(*transaction, users_, row);
    EXPECT_OK(transaction->put(other_, put("x", "mine")));
    EXPECT_OK(users_->put(put(row, "theirs")));
    expect_conflict(transaction->commit(), "users", row);
    EXPECT_EQ(value(*other_, "x"), "-");
  }
}

TEST_F(TransactionTest, NoConflictWithOtherRowsAndTables) {
  auto transaction = begin();
  value(*transaction, users_, "r1");
  EXPECT_OK(transaction->put(users_, put("r2", "mine")));
  EXPECT_OK(users_->put(put("r3", "theirs")));
  EXPECT_OK(other_->put(put("r1", "theirs")));
  EXPECT_OK(other_->put(put("r2", "theirs")));
  EXPECT_OK(users_->flush());
  EXPECT_OK(transaction->commit());
}

TEST_F(TransactionTest, RowsThatAppearInAScannedRangeAreAConflict) {
  for (const char* row : {"b", "d", "f"}) EXPECT_OK(users_->put(put(row, "v")));
  struct Case {
    Scan scan;
    const char* appears;
    bool conflicts;
  };
  const std::vector<Case> cases = {
      {Scan().start("b").stop("e"), "c", true},
      {Scan().start("b").stop("e"), "e", false},
      {Scan().start("b").stop("e", true), "e", true},
      {Scan().start("b", false).stop("e"), "b", false},
      {Scan(), "z", true},
      {Scan().limit(1), "a", true},
      {Scan().limit(1), "c", false},
      {Scan().prefix("d"), "dx", true},
      {Scan().prefix("d"), "c", false},
      {Scan().start("e").stop("b").reversed(true), "c", true},
      {Scan().start("e").stop("b").reversed(true), "b", false},
      {Scan().reversed(true).limit(1), "e", false},
      {Scan().reversed(true).limit(1), "g", true},
      {Scan().start("x"), "xy", true},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    auto transaction = begin();
    rows(*transaction, users_, cases[i].scan);
    EXPECT_OK(transaction->put(other_, put("x", "mine")));
    auto loose = begin(false);
    rows(*loose, users_, cases[i].scan);
    EXPECT_OK(loose->put(other_, put("y", "mine")));
    EXPECT_OK(users_->put(put(cases[i].appears, "theirs")));
    if (cases[i].conflicts) {
      expect_conflict(transaction->commit(), "users", cases[i].appears);
    } else {
      EXPECT_OK(transaction->commit());
    }
    EXPECT_OK(loose->commit());
    const std::string appeared = cases[i].appears;
    if (appeared != "b") EXPECT_OK(users_->erase(Delete(appeared)));
  }
}

// Two doctors on call; each may leave if the other stays.
TEST_F(TransactionTest, WriteSkewIsPreventedUnlessOnlyWritesAreChecked) {
  for (const bool serializable : {true, false}) {
    for (const char* doctor : {"alice", "bob"}) EXPECT_OK(users_->put(put(doctor, "on call")));
    auto first = begin(serializable), second = begin(serializable);
    EXPECT_EQ(value(*first, users_, "bob"), "on call");
    EXPECT_EQ(value(*second, users_, "alice"), "on call");
    EXPECT_OK(first->put(users_, put("alice", "left")));
    EXPECT_OK(second->put(users_, put("bob", "left")));
    EXPECT_OK(first->commit());
    const Status status = second->commit();
    if (serializable) {
      expect_conflict(status, "users", "alice");
      EXPECT_EQ(value(*users_, "bob"), "on call");
    } else {
      EXPECT_OK(status);
      EXPECT_EQ(value(*users_, "alice") + value(*users_, "bob"), "leftleft");
    }
    clock_.advance_ms(10);
  }
}

TEST_F(TransactionTest, WhatIsRolledBackIsGone) {
  auto transaction = begin();
  EXPECT_OK(transaction->put(users_, put("r1", "mine")));
  transaction->rollback();
  for (const Status& status :
       {transaction->commit(), transaction->put(users_, put("r1", "x")),
        transaction->erase(users_, Delete("r1")), transaction->get(users_, Get("r1")).status(),
        transaction->scan(users_, Scan()).status(),
        transaction->increment(users_, Increment("r1").add("d", "n", 1)).status(),
        transaction->append(users_, Append("r1").add("d", "n", "1")).status()})
    EXPECT_TRUE(status.is(Code::kAborted)) << status.to_text();
  {
    auto dropped = begin();
    EXPECT_OK(dropped->put(users_, put("r1", "mine")));
  }
  EXPECT_EQ(value(*users_, "r1"), "-");
  EXPECT_EQ(engine_->status().snapshots, 0U);
}

TEST_F(TransactionTest, WhatIsRefusedLeavesItAsItWas) {
  EngineOptions options;
  options.cell_bytes_max = 1000;
  options.batch_bytes_max = 3000;
  users_ = other_ = nullptr;
  open(options);
  users_ = engine_->open_table("users").value();
  auto transaction = begin();
  EXPECT_OK(transaction->put(users_, put("r1", "mine")));
  EXPECT_TRUE(transaction->put(users_, std::move(Put("r1").add("d", "q", "x").add("dd", "q", "x")))
                  .is(Code::kInvalidArgument));
  EXPECT_TRUE(transaction->put(users_, std::move(Put("r1").add("d", "q", "x").add_at("d", "p", -5, "x")))
                  .is(Code::kInvalidArgument));
  EXPECT_TRUE(transaction->put(users_, put("r1", std::string(1000, 'x'))).is(Code::kLimit));
  EXPECT_TRUE(transaction->put(users_, Put("r1")).is(Code::kInvalidArgument));
  EXPECT_TRUE(transaction->put(users_, put("", "x")).is(Code::kInvalidArgument));
  EXPECT_TRUE(transaction->put(nullptr, put("r1", "x")).is(Code::kInvalidArgument));
  const auto snapshot = engine_->snapshot().value();
  EXPECT_TRUE(transaction->get(users_, Get("r1").snapshot(snapshot)).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(transaction->scan(users_, Scan().snapshot(snapshot)).status().is(Code::kInvalidArgument));
  EXPECT_EQ(value(*transaction, users_, "r1"), "mine");
  Status status;
  int puts = 0;
  for (; puts < 10 && status.ok(); ++puts)
    status = transaction->put(users_, put("s" + std::to_string(puts), std::string(900, 'x')));
  EXPECT_TRUE(status.is(Code::kLimit)) << status.to_text();
  EXPECT_EQ(puts, 4);
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(value(*users_, "r1"), "mine");
  EXPECT_EQ(value(*users_, "s2").size(), 900U);
  EXPECT_EQ(value(*users_, "s3"), "-");
}

TEST_F(TransactionTest, ADroppedTableStopsTheCommit) {
  auto transaction = begin();
  EXPECT_OK(transaction->put(users_, put("r1", "mine")));
  EXPECT_OK(transaction->put(other_, put("r1", "mine")));
  EXPECT_OK(engine_->drop_table("other"));
  EXPECT_TRUE(transaction->commit().is(Code::kNotFound));
  EXPECT_EQ(value(*users_, "r1"), "-");
}

TEST_F(TransactionTest, RunsAgainAfterAConflict) {
  EXPECT_OK(users_->increment(Increment("r1").add("d", "n", 1)).status());
  int runs = 0;
  const auto bump = [&](Transaction& transaction) -> Status {
    if (++runs <= 2) CELLAR_TRY(users_->increment(Increment("r1").add("d", "n", 100)).status());
    return transaction.increment(users_, Increment("r1").add("d", "n", 1)).status();
  };
  EXPECT_OK(engine_->run_transaction(bump, {.pause_us = 0}));
  // The first run began before its own disturbance; so did the second.
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(users_->get(Get("r1")).value().counter("d", "n"), 202);

  runs = -1000;
  const Status status = engine_->run_transaction(bump, {.attempts_max = 4, .pause_us = 10});
  EXPECT_TRUE(status.is(Code::kConflict)) << status.to_text();
  EXPECT_EQ(runs, -996);
  EXPECT_NE(status.message().find("gave up after 4 attempts"), std::string_view::npos);

  const auto refuses = [&](Transaction& transaction) -> Status {
    CELLAR_TRY(transaction.put(users_, put("r9", "x")));
    return Status::limit("the work said no");
  };
  EXPECT_TRUE(engine_->run_transaction(refuses).is(Code::kLimit));
  const auto thinks_better = [&](Transaction& transaction) -> Status {
    CELLAR_TRY(transaction.put(users_, put("r9", "x")));
    transaction.rollback();
    return {};
  };
  EXPECT_OK(engine_->run_transaction(thinks_better));
  EXPECT_EQ(value(*users_, "r9"), "-");
}

// The clock may step back while a transaction runs. Its cells hide what it read and replaced all the same.
TEST_F(TransactionTest, AClockThatStepsBackBeforeTheCommitLosesNothing) {
  for (const int64_t step_ms : {1, 500, 100'000}) {
    SCOPED_TRACE(step_ms);
    const std::string row = "r" + std::to_string(step_ms);
    EXPECT_OK(users_->put(Put(row).add("d", "n", plain_int64(5)).add("d", "q", "old").add("d", "gone", "x")));
    clock_.advance_ms(10);
    auto transaction = begin();
    EXPECT_OK(transaction->increment(users_, Increment(row).add("d", "n", 2)).status());
    EXPECT_OK(transaction->put(users_, put(row, "new")));
    EXPECT_OK(transaction->erase(users_, std::move(Delete(row).column("d", "gone"))));
    clock_.set_wall_ms(clock_.wall_ms() - 10 - step_ms);
    EXPECT_OK(transaction->commit());
    for (int flushed = 0; flushed < 2; ++flushed) {
      EXPECT_EQ(users_->get_row(Get(row)).value().counter("d", "n").value_or(0), 7) << flushed;
      EXPECT_EQ(value(*users_, row), "new");
      EXPECT_EQ(value(*users_, row, "gone"), "-");
      EXPECT_OK(users_->flush());
    }
    EXPECT_OK(users_->increment(Increment(row).add("d", "n", 1)).status());
    EXPECT_EQ(users_->get_row(Get(row)).value().counter("d", "n").value_or(0), 8);
    clock_.advance_ms(step_ms + 1000);
  }
}

// Each put after a delete is a millisecond later, and later writes come after all of them.
TEST_F(TransactionTest, DeletesAndPutsInTurnHaveALimit) {
  const auto in_turn = [&](Transaction& transaction, int times) {
    Status status;
    for (int i = 0; i < times && status.ok(); ++i) {
      EXPECT_OK(transaction.erase(users_, std::move(Delete("r").column("d", "q"))));
      status = transaction.put(users_, put("r", std::to_string(i)));
    }
    return status;
  };
  auto transaction = begin();
  const Status refused = in_turn(*transaction, 1500);
  EXPECT_TRUE(refused.is(Code::kLimit)) << refused.to_text();
  EXPECT_FALSE(refused.hint().empty());
  transaction = begin();
  EXPECT_OK(in_turn(*transaction, 900));
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(value(*users_, "r"), "899");
  EXPECT_OK(users_->put(put("r", "later")));
  EXPECT_EQ(value(*users_, "r"), "later");
}

}  // namespace
}  // namespace cellar::testing
