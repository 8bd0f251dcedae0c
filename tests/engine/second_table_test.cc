// Goal: a second table agrees with its source after any mix of writes from several threads, after builds
// during writes, and after crashes. Changes that would make them differ are refused. Method: an oracle
// computes the second table from a scan of the source, with code of its own. Each call that refuses is made
// once.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "base/random.h"
#include "tests/engine/observer_fixture.h"
#include "tests/support/crash_sweep.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

using Rows = std::map<std::string, std::map<std::string, std::string>>;  // key; column "f:q" and value

FamilyOptions followed(const std::string& name, uint32_t versions = 1) {
  FamilyOptions family;
  family.name = name;
  family.max_versions = versions;
  family.delete_order = MarkerOrder::kSequence;
  return family;
}

Rows rows_of_table(Table& table) {
  Rows rows;
  const auto scanner = table.scan(Scan());
  EXPECT_OK(scanner.status());
  if (!scanner.ok()) return rows;
  for (const RowView row : **scanner)
    for (const CellView& cell : row)
      rows[std::string(row.row())][std::string(cell.family()) + ":" + std::string(cell.qualifier())] =
          cell.value_bytes();
  EXPECT_OK((*scanner)->status());
  return rows;
}

// The tables of the random tests: "t" with families d and e, and these of t.
struct Kept {
  std::string name;
  SecondTable second;
};
const std::vector<Kept> kKept = {
    {"by_value", {"t", "d:q, row", "d:other"}},
    {"by_number", {"t", "e:n int64 desc, row", "e"}},
    {"by_column", {"t", "d:*, row", ""}},
    {"by_slice", {"t", "row[3:], row[0:3]", "d:q"}},
};

// The rows that each must hold, by the words of cellar/second_table.h.
Rows expected(const std::string& name, const Rows& source) {
  Rows rows;
  for (const auto& each : source) {
    const std::string& row = each.first;
    const std::map<std::string, std::string>& cells = each.second;
    std::map<std::string, std::string> copied = {{"row:", row}};
    const auto copy = [&](const std::string& column) {
      if (cells.contains(column)) copied[column] = cells.at(column);
    };
    if (name == "by_value" && cells.contains("d:q")) {
      copy("d:other");
      rows[KeyBuilder().text(cells.at("d:q")).raw(row).key().value()] = copied;
    } else if (name == "by_number" && cells.contains("e:n")) {
      for (const auto& [column, value] : cells)
        if (column.starts_with("e:")) copy(column);
      const int64_t number = int64_of_plain(cells.at("e:n")).value();
      rows[KeyBuilder().int64(number, KeyOrder::kDescending).raw(row).key().value()] = copied;
    } else if (name == "by_column") {
      for (const auto& [column, value] : cells)
        if (column.starts_with("d:"))
          rows[KeyBuilder().text(column.substr(2)).raw(row).key().value()] = {{"row:", row}};
    } else if (name == "by_slice") {
      copy("d:q");
      rows[KeyBuilder().text(row.substr(3)).raw(row.substr(0, 3)).key().value()] = copied;
    }
  }
  return rows;
}

// The number of rows in all second tables. Complains unless they hold what they must.
size_t expect_agreement(Engine& engine) {
  size_t rows = 0;
  const Rows source = rows_of_table(*engine.open_table("t").value());
  for (const Kept& each : kKept) {
    const auto table = engine.open_table(each.name);
    if (!table.ok() || !(*table)->info().second->built) continue;
    const Rows found = rows_of_table(**table);
    const auto fields = KeySchema::parse((*table)->info().options.metadata.at("KEY_FIELDS"));
    EXPECT_OK(fields.status());
    for (const auto& [key, cells] : found) EXPECT_OK(fields->values(key).status());
    EXPECT_EQ(found, expected(each.name, source)) << each.name;
    rows += found.size();
    const auto check = engine.verify_second_table(each.name);
    EXPECT_OK(check.status());
    if (!check.ok()) continue;
    EXPECT_TRUE(check->agrees()) << each.name;
    EXPECT_EQ(check->keys, found.size()) << each.name;
  }
  return rows;
}

// One write of any kind to some row.
Status write_to_source(Engine& engine, const std::shared_ptr<Table>& table, Random& random) {
  const std::string row = numbered_row(random.below(8));
  const std::string value = one_of_five_values(random);
  switch (random.below(11)) {
    case 0:
      return table->erase(Delete(row));
    case 1:
      return table->erase(Delete(row).latest_version("d", "q"));
    case 2:
      return table->append(Append(row).add("d", "q", "+").add("d", "other", "x")).status();
    case 3:
      return table->increment(Increment(row).add("e", "n", static_cast<int64_t>(random.below(9)) - 4))
          .status();
    case 4:
      return table
          ->mutate(RowMutations(row).add(Delete(row).column("d", "other")).add(Put(row).add("d", "q", value)))
          .status();
    case 5:
      return table
          ->check_and_mutate(CheckAndMutate(row).if_not_exists("d", "q").then(Put(row).add("d", "q", value)))
          .status();
    case 6:
      return table->put(Put(row).add_at("d", "q", 5, value));
    case 7:
      return commit_two_rows(engine, table, random);
    case 8:
      return write_batch_of_rows(engine, table, random);
    case 9:
      return table->erase(Delete(row).family("e"));
    default:
      return table->put(Put(row).add("d", "q", value).add("e", "text", value));
  }
}

// A write to "t" in a thread of its own. An observer holds it up after it has taken its locks and its time.
class HeldWriter {
 public:
  HeldWriter(Engine& engine, std::function<Status()> write) {
    const auto hold = std::make_shared<CallingObserver>([this](const RowView&, ObserverContext&) {
      holds_.store(true);
      while (!let_go_.load()) std::this_thread::yield();
      return Status();
    });
    EXPECT_OK(engine.add_observer("t", "hold", hold));
    thread_ = std::thread([this, write = std::move(write)] { status_ = write(); });
    while (!holds_.load()) std::this_thread::yield();
  }
  // Returns what the write returned.
  Status let_go() {
    let_go_.store(true);
    thread_.join();
    return status_;
  }

 private:
  std::atomic<bool> holds_{false}, let_go_{false};
  Status status_;
  std::thread thread_;
};

class SecondTables : public EngineFixture {
 protected:
  void open_tables(const EngineOptions& options = {}) {
    open(options);
    table_ = make_table("t", {followed("d", 3), followed("e")});
  }

  void make(const Kept& kept) {
    EXPECT_OK(engine_->create_second_table(kept.name, kept.second).status());
    EXPECT_OK(engine_->build_second_table(kept.name));
  }

  // Makes all second tables, and writes to their source. Calls `step` before each write.
  void write_and_compare(Random& random, uint64_t rounds, const std::function<void()>& step) {
    for (uint64_t i = 0; i < 50; ++i) EXPECT_OK(write_to_source(*engine_, table_, random));
    for (const Kept& each : kKept) make(each);
    size_t rows = 0;
    for (uint64_t round = 0; round < scaled(rounds); ++round) {
      for (int i = 0; i < 50; ++i) {
        step();
        EXPECT_OK(write_to_source(*engine_, table_, random));
      }
      rows += expect_agreement(*engine_);
      if (round % 5 == 0) EXPECT_OK(engine_->flush());
      if (round % 7 == 0) EXPECT_OK(table_->major_compact());
    }
    EXPECT_GT(rows, 0U);
  }

  std::string refusal(const std::string& name, const SecondTable& second) {
    const auto made = engine_->create_second_table(name, second);
    EXPECT_FALSE(made.ok()) << name;
    return made.status().to_text();
  }

  std::shared_ptr<Table> table_;
};

TEST_F(SecondTables, FindRowsByAColumn) {
  open_tables();
  EXPECT_OK(table_->put(Put("ann").add("d", "mail", "a@x").add("d", "name", "Ann")));
  make({"by_mail", {"t", "d:mail, row", "d:name"}});
  EXPECT_OK(table_->put(Put("bob").add("d", "mail", "b@x").add("d", "name", "Bob")));
  const auto by_mail = engine_->open_table("by_mail").value();
  const KeyRange of_bob = keys_with_prefix(KeyBuilder().text("b@x").key().value());
  const auto scanner = by_mail->scan(Scan(of_bob)).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_EQ(scanner->row().value("row", ""), "bob");
  EXPECT_EQ(scanner->row().value("d", "name"), "Bob");
  EXPECT_FALSE(scanner->next());

  const auto before = engine_->snapshot().value();
  EXPECT_OK(table_->put(Put("bob").add("d", "mail", "robert@x")));
  EXPECT_FALSE(by_mail->exists(Get(of_bob.start + "bob")).value());
  EXPECT_TRUE(by_mail->exists(Get(of_bob.start + "bob").snapshot(before)).value());
  EXPECT_OK(table_->erase(Delete("ann")));
  EXPECT_EQ(rows_of_table(*by_mail).size(), 1U);
}

TEST_F(SecondTables, NameTheFieldsOfTheirKeys) {
  open_tables();
  const auto fields = [&](const std::string& key) {
    const auto table = engine_->create_second_table("x", {"t", key, ""}).value();
    EXPECT_OK(engine_->drop_table("x"));
    return table->info().options.metadata.at("KEY_FIELDS");
  };
  EXPECT_EQ(fields("d:mail, row"), "mail text, row raw");
  EXPECT_EQ(fields("e:n int64 desc, d:*"), "n int64 desc, qualifier text, row raw");
  EXPECT_EQ(fields("row[3:], row[0:3]"), "row_3 text, row raw(3)");
  EXPECT_EQ(fields("row[0:16], row[16:]"), "row raw(16), row_16 raw");
  EXPECT_EQ(fields("d:q, e:q blob, d:1\\x20a"), "q text, q_ blob, _1_a text, row raw");
}

TEST_F(SecondTables, AgreeAfterRandomWrites) {
  open_tables({.memtable_bytes = 64 << 10});
  Random random(11);
  write_and_compare(random, 30, [&] { clock_.advance_ms(static_cast<int64_t>(random.below(2))); });
}

TEST_F(SecondTables, AgreeWhileTheClockStepsBackAndForth) {
  open_tables();
  Random random(12);
  const int64_t now_ms = clock_.wall_ms();
  write_and_compare(random, 10,
                    [&] { clock_.set_wall_ms(now_ms + static_cast<int64_t>(random.below(100))); });
}

TEST_F(SecondTables, AreBuiltBesideWriters) {
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = files_.get();
  engine_ = Engine::open("store", options).value();  // time passes
  table_ = make_table("t", {followed("d", 3), followed("e")});
  for (int i = 0; i < 3000; ++i) EXPECT_OK(table_->put(Put("row" + std::to_string(i)).add("d", "q", "old")));
  std::atomic<bool> done{false};
  std::atomic<uint64_t> conflicts{0};
  std::vector<std::thread> writers;
  for (uint64_t seed = 1; seed <= 2; ++seed)
    writers.emplace_back([&, seed] {
      Random random(seed);
      while (!done.load()) {
        const Status status = write_to_source(*engine_, table_, random);
        if (status.is(Code::kConflict))
          ++conflicts;  // the second table came during the write
        else
          EXPECT_OK(status);
      }
    });
  for (const Kept& each : kKept) make(each);
  done.store(true);
  for (std::thread& writer : writers) writer.join();
  EXPECT_LE(conflicts.load(), 2 * kKept.size());
  EXPECT_GT(expect_agreement(*engine_), 3U * 2900);
}

// A statement reads the record of a table while flushes replace the state that the record belongs to.
TEST_F(SecondTables, StatementsReadTheirRecordsWhileFlushesCommit) {
  open_tables();
  make(kKept[0]);
  std::atomic<bool> done{false};
  uint64_t flushes = 0;
  std::thread flusher([&] {
    for (; !done.load() || flushes < 20; ++flushes) {
      EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
      EXPECT_OK(engine_->flush());
    }
  });
  for (int i = 0; i < 500; ++i) {
    const Status status = engine_->truncate_table("by_value");
    EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
    EXPECT_EQ(status.hint(), "truncate t, which empties both");
  }
  done.store(true);
  flusher.join();
  EXPECT_EQ(expect_agreement(*engine_), 1U);
}

// The writer has looked for observers before there was a second table.
TEST_F(SecondTables, AWriteThatBeganBeforeIsRefused) {
  open_tables();
  HeldWriter writer(*engine_, [&] { return table_->put(Put("r").add("d", "q", "v")); });
  EXPECT_OK(engine_->create_second_table("by_value", kKept[0].second).status());
  const Status status = writer.let_go();
  EXPECT_TRUE(status.is(Code::kConflict)) << status.to_text();
  EXPECT_OK(engine_->build_second_table("by_value"));
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
  EXPECT_EQ(expect_agreement(*engine_), 1U);
}

// The build writes the keys of the row, at a later time, before the writer removes them.
TEST_F(SecondTables, AWriterMayHaveTakenItsTimeBeforeTheBuild) {
  open_tables();
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
  EXPECT_OK(engine_->create_second_table("by_value", kKept[0].second).status());
  HeldWriter writer(*engine_, [&] { return table_->erase(Delete("r")); });
  clock_.advance_ms(10);
  EXPECT_OK(engine_->build_second_table("by_value"));
  EXPECT_EQ(expect_agreement(*engine_), 1U);
  EXPECT_OK(writer.let_go());
  EXPECT_EQ(expect_agreement(*engine_), 0U);
}

TEST_F(SecondTables, CannotBeReadBeforeTheyAreBuilt) {
  open_tables();
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
  const auto second = engine_->create_second_table("by_value", kKept[0].second).value();
  EXPECT_TRUE(second->get(Get("r")).status().is(Code::kBusy));
  EXPECT_TRUE(second->scan(Scan()).status().is(Code::kBusy));
  EXPECT_TRUE(second->get_many(std::vector<Get>{Get("r")}).status().is(Code::kBusy));
  EXPECT_TRUE(engine_->verify_second_table("by_value").status().is(Code::kBusy));
  EXPECT_TRUE(engine_->build_second_table("by_value", [](uint64_t) { return false; }).is(Code::kAborted));
  EXPECT_FALSE(second->info().second->built);
  open();  // it is still to be built
  EXPECT_TRUE(engine_->open_table("by_value").value()->scan(Scan()).status().is(Code::kBusy));
  EXPECT_OK(engine_->build_second_table("by_value"));
  EXPECT_EQ(expect_agreement(*engine_), 1U);
}

TEST_F(SecondTables, AreKeptAfterReopening) {
  open_tables();
  for (const Kept& each : kKept) make(each);
  open();
  table_ = engine_->open_table("t").value();
  Random random(5);
  for (int i = 0; i < 100; ++i) EXPECT_OK(write_to_source(*engine_, table_, random));
  EXPECT_GT(expect_agreement(*engine_), 0U);
  EXPECT_OK(engine_->drop_table("by_value"));
  EXPECT_OK(table_->put(Put("row1").add("d", "q", std::string("\0", 1))));  // its key could not hold that
  EXPECT_EQ(engine_->open_table("by_column").value()->info().second->key, "d:*, row");
}

TEST_F(SecondTables, RefuseWhatWouldMakeThemDiffer) {
  open_tables();
  make(kKept[0]);
  const auto second = engine_->open_table("by_value").value();
  const Put put = Put("r").add("row", "", "r");
  Batch batch;
  batch.put(second, put);
  for (const Status& status :
       {second->put(put), second->erase(Delete("r")), engine_->write(batch),
        second->append(Append("r").add("row", "", "r")).status(),
        engine_->run_transaction([&](Transaction& transaction) { return transaction.put(second, put); })})
    EXPECT_TRUE(status.is(Code::kReadOnly)) << status.to_text();

  const Put source = Put("r").add("d", "q", "v");
  EXPECT_TRUE(table_->put(source, {.durability = Durability::kSkipWal}).is(Code::kInvalidArgument));
  EXPECT_TRUE(table_->put(Put("r").add("d", "q", "v").ttl_ms(5)).is(Code::kInvalidArgument));
  EXPECT_OK(table_->put(Put("x").add("d", "of no key", "v").ttl_ms(5)));
  const Status zero = table_->put(Put("r").add("d", "q", std::string("a\0b", 3)));
  EXPECT_TRUE(zero.is(Code::kInvalidArgument)) << zero.to_text();
  EXPECT_NE(zero.to_text().find("second table by_value"), std::string::npos) << zero.to_text();
  EXPECT_FALSE(table_->exists(Get("r")).value());
  EXPECT_TRUE(engine_->drop_table("t").is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->truncate_table("by_value").is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->alter_table("t", {.remove_families = {"d"}}).is(Code::kInvalidArgument));
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"e"}}));
  FamilyOptions expiring = followed("d");
  expiring.ttl_s = 10;
  EXPECT_TRUE(engine_->alter_family("t", expiring).is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->alter_family("t", family("d")).is(Code::kInvalidArgument));
  FamilyOptions dropping = followed("d");
  dropping.compaction = "fifo(bytes_max=1m)";
  EXPECT_TRUE(engine_->alter_family("t", dropping).is(Code::kInvalidArgument));
  dropping.name = "row";
  EXPECT_TRUE(engine_->alter_family("by_value", dropping).is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->alter_family("by_value", family("d")).is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->alter_table("by_value", {.remove_families = {"d"}}).is(Code::kInvalidArgument));
  EXPECT_TRUE(table_->ingest({}).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(second->ingest({}).status().is(Code::kReadOnly));
  EXPECT_OK(table_->put(source));
  EXPECT_EQ(expect_agreement(*engine_), 1U);
}

TEST_F(SecondTables, ObserversCannotAddToThemOrTheirSources) {
  open_tables();
  make(kKept[0]);
  const auto other = make_table("other", {family("f")});
  const auto observer = std::make_shared<CallingObserver>([&](const RowView& row, ObserverContext& context) {
    CELLAR_TRY_ASSIGN(const auto to, context.table(row.row()));
    return context.put(to, Put("r").add("d", "q", "v"));
  });
  EXPECT_OK(engine_->add_observer("other", "adds", observer));
  EXPECT_TRUE(other->put(Put("t").add("f", "q", "v")).is(Code::kInvalidArgument));
  EXPECT_TRUE(other->put(Put("by_value").add("f", "q", "v")).is(Code::kReadOnly));
  // An observer of the source itself still works, in addition to the engine's own.
  const auto copies = std::make_shared<CallingObserver>([&](const RowView&, ObserverContext& context) {
    CELLAR_TRY_ASSIGN(const auto to, context.table("copy"));
    return context.put(to, Put("r").add("f", "q", "v"));
  });
  const auto copy = make_table("copy", {family("f")});
  EXPECT_OK(engine_->add_observer("t", "copies", copies));
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
  EXPECT_TRUE(copy->exists(Get("r")).value());
  EXPECT_EQ(expect_agreement(*engine_), 1U);
}

TEST_F(SecondTables, RefuseDefinitionsThatCannotWork) {
  open_tables();
  make_table("expiring", {family("d")});
  make(kKept[0]);
  const auto expect = [&](const SecondTable& second, const std::string& part) {
    const std::string text = refusal("x", second);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect({"u", "d:q", ""}, "u");
  expect({"by_value", "d:q", ""}, "a second table itself");
  expect({"expiring", "d:q", ""}, "delete_order=sequence");
  expect({"t", "", ""}, "empty");
  expect({"t", "f:q", ""}, "no family \"f\"");
  expect({"t", "d:q", "f"}, "no family \"f\"");
  expect({"t", "d", ""}, "no such source");
  expect({"t", "rows", ""}, "no such source");
  expect({"t", "row[3:3]", ""}, "empty");
  expect({"t", "row[a:3]", ""}, "FROM:UNTIL");
  expect({"t", "row[3]", ""}, "FROM:UNTIL");
  expect({"t", "d:q number", ""}, "unknown word \"number\"");
  expect({"t", "d:q text blob", ""}, "two forms");
  expect({"t", "d:q raw", ""}, "nothing can follow");
  expect({"t", "row, d:q raw desc", ""}, "one order");
  expect({"t", "d:*, d:*", ""}, "two parts");
  expect({"t", "d:\\x", ""}, "part");
  EXPECT_NE(refusal("t", {"t", "d:q", ""}).find("same table"), std::string::npos);
  EXPECT_NE(refusal("by_value", kKept[0].second).find("exists"), std::string::npos);
  EXPECT_TRUE(engine_->build_second_table("t").is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->build_second_table("u").is(Code::kNotFound));
  EXPECT_EQ(engine_->list_tables(), (std::vector<std::string>{"by_value", "expiring", "t"}));
}

TEST_F(SecondTables, ARowThatTheKeyCannotHoldEndsTheBuild) {
  open_tables();
  EXPECT_OK(table_->put(Put("a").add("e", "n", std::string_view("12345678"))));
  EXPECT_OK(table_->put(Put("b").add("e", "n", "seven b")));
  EXPECT_OK(table_->put(Put("c").add("e", "n", std::string_view("12345678")).ttl_ms(1'000'000)));
  EXPECT_OK(engine_->create_second_table("by_number", kKept[1].second).status());
  const Status status = engine_->build_second_table("by_number");
  EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status.to_text();
  EXPECT_NE(status.to_text().find("row b"), std::string::npos) << status.to_text();
  EXPECT_OK(table_->erase(Delete("b")));
  const Status expires = engine_->build_second_table("by_number");
  EXPECT_NE(expires.to_text().find("time to live"), std::string::npos) << expires.to_text();
  EXPECT_OK(table_->erase(Delete("c")));
  EXPECT_OK(engine_->build_second_table("by_number"));
  EXPECT_EQ(expect_agreement(*engine_), 1U);
}

TEST_F(SecondTables, FollowTruncationSnapshotsAndCheckpoints) {
  open_tables();
  make(kKept[0]);
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
  EXPECT_OK(engine_->named_snapshots().create("s", {}).status());
  EXPECT_OK(engine_->checkpoint("copy").status());
  EXPECT_OK(engine_->truncate_table("t"));
  EXPECT_TRUE(rows_of_table(*engine_->open_table("by_value").value()).empty());
  EXPECT_OK(table_->put(Put("r2").add("d", "q", "v2")));
  EXPECT_EQ(expect_agreement(*engine_), 1U);

  for (const std::vector<std::string>& some : {std::vector<std::string>{"t"}, {"by_value"}})
    EXPECT_TRUE(engine_->named_snapshots().restore("s", some).is(Code::kInvalidArgument));
  EXPECT_EQ(expect_agreement(*engine_), 1U);
  EXPECT_OK(engine_->named_snapshots().restore("s", {}));
  EXPECT_EQ(rows_of_table(*table_).count("r"), 1U);
  EXPECT_OK(table_->put(Put("r3").add("d", "q", "v3")));
  EXPECT_EQ(expect_agreement(*engine_), 2U);

  const auto clone = engine_->named_snapshots().clone("s", "by_value", "plain").value();
  EXPECT_FALSE(clone->info().second.has_value());
  EXPECT_OK(clone->put(Put("x").add("d", "other", "")));

  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  const auto copy = Engine::open("copy", options).value();
  EXPECT_OK(copy->open_table("t").value()->put(Put("r4").add("d", "q", "v4")));
  EXPECT_EQ(expect_agreement(*copy), 2U);
}

TEST_F(SecondTables, VerificationFindsWhatIsMissingAndWhatIsSurplus) {
  open_tables();
  make(kKept[0]);
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v").add("d", "other", "x")));
  EXPECT_OK(engine_->flush());
  const auto check_without = [&](const std::vector<std::string>& families) {
    open();
    EngineOptions options{.read_only = true};
    for (const std::string& each : families)
      options.without_files.push_back(
          engine_->open_table("by_value").value()->files(each).value().at(0).name);
    open(options);
    return engine_->verify_second_table("by_value").value();
  };
  EXPECT_TRUE(check_without({}).agrees());
  SecondTableCheck check = check_without({"d"});
  EXPECT_EQ(check.differing, 1U);
  EXPECT_EQ(check.missing + check.surplus, 0U);
  check = check_without({"row"});
  EXPECT_EQ(check.differing, 1U);
  EXPECT_EQ(check.surplus, 1U);  // nothing says of which row it is
  check = check_without({"row", "d"});
  EXPECT_EQ(check.missing, 1U);
  EXPECT_EQ(check.differing + check.surplus, 0U);
  ASSERT_EQ(check.examples.size(), 1U);
  EXPECT_NE(check.examples[0].find("is missing (row r of t)"), std::string::npos) << check.examples[0];
}

TEST_F(SecondTables, VerificationFindsASurplusRow) {
  open_tables();
  make(kKept[0]);
  EXPECT_OK(table_->put(Put("r").add("d", "q", "v")));
  EXPECT_OK(engine_->flush());
  const auto files = table_->files("d").value();
  ASSERT_EQ(files.size(), 1U);
  open({.read_only = true, .without_files = {files.front().name}});
  const SecondTableCheck check = engine_->verify_second_table("by_value").value();
  EXPECT_EQ(check.source_rows, 0U);
  EXPECT_EQ(check.surplus, 1U);
}

// ---- crashes ----

constexpr int kSourceWrites = 30;

// The number of writes that were acknowledged.
int write_until_crash(FileSystem& files) {
  ManualClock clock;
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for_crashes(files, clock, executor));
  if (!opened.ok()) return 0;
  Engine& engine = **opened;
  const auto table = engine.open_or_create_table("t", {.families = {followed("d", 3), followed("e")}});
  if (!table.ok()) return 0;
  Random random(3);
  int done = 0;
  for (; done < kSourceWrites; ++done) {
    if (done % 2 == 0) clock.advance_ms(1);
    if (!write_to_source(engine, *table, random).ok()) return done;
    if (done % 6 == 5 && done / 6 < 4) {
      const Kept& kept = kKept[static_cast<size_t>(done / 6)];
      if (!engine.create_second_table(kept.name, kept.second).ok()) return done;
      if (!engine.build_second_table(kept.name).ok()) return done;
    }
    if (done == 15) static_cast<void>(engine.flush());
    if (done == 28) static_cast<void>(engine.drop_table("by_value"));
    executor.settle();
  }
  return done;
}

size_t agree_after_crash(FileSystem& files) {
  ManualClock clock(1'800'000'000'000);
  StepExecutor executor(1, clock);
  auto opened = Engine::open("store", options_for_crashes(files, clock, executor));
  EXPECT_TRUE(opened.ok()) << opened.status().to_text();
  if (!opened.ok()) return 0;
  Engine& engine = **opened;
  const auto table = engine.open_table("t");
  if (!table.ok()) return 0;        // nothing was written yet
  for (const Kept& each : kKept) {  // a crash in the middle of a build
    if (!engine.open_table(each.name).ok()) continue;
    EXPECT_OK(engine.build_second_table(each.name));
  }
  EXPECT_OK((*table)->put(Put("row9").add("d", "q", "after")));
  return expect_agreement(engine);
}

TEST(SecondTableCrash, TablesAgreeAfterACrashAtEachOperation) {
  uint64_t operations = 0;
  {
    CrashFileSystem files;
    ASSERT_EQ(write_until_crash(files), kSourceWrites);
    operations = files.operations();
  }
  uint64_t rows = 0;
  const uint64_t crashes = sweep_crashes(
      operations, scaled(80), [](FileSystem& files) { return write_until_crash(files); },
      [&](FileSystem& image, int) { rows += agree_after_crash(image); });
  count(crashes, "crashes with second tables");
  EXPECT_GT(rows, 0U);
}

}  // namespace
}  // namespace cellar::testing
