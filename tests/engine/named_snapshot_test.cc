// Goal: named snapshots and checkpoints hold the content of their instant whatever happens afterwards.
// Restore, clone and truncate change whole tables at one instant. Method: small stores changed in every way
// and reopened. Writers run during checkpoints.
#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "base/coding.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

class NamedSnapshotTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    orders_ = make_table("orders", {family("d", 2), family("c")});
  }

  void put(Table& table, const std::string& row, const std::string& value, const std::string& of = "d") {
    clock_.advance_ms(1);
    EXPECT_OK(table.put(std::move(Put(row).add(of, "q", value))));
  }
  // "row=value" of every row's d:q.
  static std::string content(Table& table, const std::shared_ptr<const Snapshot>& at = nullptr) {
    Scan scan;
    scan.column("d", "q");
    if (at != nullptr) scan.snapshot(at);
    std::string text;
    auto scanner = table.scan(scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().to_text();
    if (!scanner.ok()) return scanner.status().to_text();
    for (const RowView row : **scanner)
      text += (text.empty() ? "" : " ") + std::string(row.row()) + "=" +
              std::string(row.cells().front().value_bytes());
    EXPECT_OK((*scanner)->status());
    return text;
  }
  std::string content_of(const std::string& snapshot, const std::string& table) {
    auto opened = engine_->named_snapshots().open(snapshot);
    if (!opened.ok()) return opened.status().to_text();
    auto found = (*opened)->open_table(table);
    return found.ok() ? content(**found) : found.status().to_text();
  }
  Table& reopened(const std::string& name) {
    orders_.reset();
    EXPECT_OK(engine_->close());
    open();
    kept_ = engine_->open_table(name).value();
    return *kept_;
  }

  std::shared_ptr<Table> orders_;
  std::shared_ptr<Table> kept_;
};

TEST_F(NamedSnapshotTest, HoldsWhatWasThereThroughEverythingThatFollows) {
  put(*orders_, "a", "1");
  EXPECT_OK(orders_->flush());
  put(*orders_, "b", "2");
  EXPECT_OK(orders_->erase(Delete("a")));
  put(*orders_, "c", "3");
  const auto made = engine_->named_snapshots().create("before");
  ASSERT_TRUE(made.ok()) << made.status().to_text();
  EXPECT_EQ(made->tables, std::vector<std::string>{"orders"});
  EXPECT_EQ(made->sequence, engine_->status().last_sequence);
  EXPECT_EQ(made->files, 3u) << "flushed; in memory; the marker of the other family";
  EXPECT_GT(made->bytes_shared, 0u);
  EXPECT_LT(made->bytes_shared, made->bytes);

  put(*orders_, "b", "changed");
  EXPECT_OK(orders_->erase(Delete("c")));
  EXPECT_OK(orders_->major_compact());
  EXPECT_EQ(content(*orders_), "b=changed");
  EXPECT_EQ(content_of("before", "orders"), "b=2 c=3");

  Table& again = reopened("orders");
  EXPECT_EQ(content(again), "b=changed");
  EXPECT_EQ(content_of("before", "orders"), "b=2 c=3");
  EXPECT_OK(engine_->drop_table("orders"));
  EXPECT_EQ(content_of("before", "orders"), "b=2 c=3");
  const auto listed = engine_->named_snapshots().list();
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().name, "before");
  EXPECT_OK(listed->front().status);
  EXPECT_EQ(listed->front().sequence, made->sequence);
  EXPECT_EQ(listed->front().bytes, made->bytes);
}

TEST_F(NamedSnapshotTest, RestoreGivesBackContentFamiliesAndOptions) {
  put(*orders_, "a", "1");
  const auto beside = make_table("beside", {family("d")});
  put(*beside, "x", "old");
  const auto gone = make_table("gone", {family("d")});
  put(*gone, "y", "was here");
  EXPECT_OK(engine_->named_snapshots().create("s").status());

  put(*orders_, "a", "2");
  put(*orders_, "b", "2");
  EXPECT_OK(orders_->flush());
  put(*orders_, "c", "in memory");
  put(*beside, "x", "new");
  EXPECT_OK(engine_->alter_family("orders", family("d", 7)));
  EXPECT_OK(engine_->alter_family("orders", family("added")));
  EXPECT_OK(engine_->drop_table("gone"));
  const auto now = engine_->snapshot().value();
  EXPECT_OK(engine_->named_snapshots().restore("s", {"orders", "gone"}));

  EXPECT_EQ(content(*orders_), "a=1") << "the handle is good";
  EXPECT_EQ(content(*beside), "x=new") << "it was not named";
  EXPECT_EQ(content(*engine_->open_table("gone").value()), "y=was here");
  EXPECT_EQ(content(*orders_, now), "a=2 b=2 c=in memory") << "open snapshots see what they saw";
  EXPECT_EQ(content(*engine_->open_table("gone").value(), now), "");
  const auto after = engine_->snapshot().value();
  EXPECT_EQ(content(*orders_, after), "a=1");
  const TableInfo info = orders_->info();
  ASSERT_EQ(info.families.size(), 2u);
  EXPECT_EQ(info.families[1].options.max_versions, 2u);

  put(*orders_, "b", "3");
  EXPECT_EQ(content(*orders_), "a=1 b=3");
  EXPECT_EQ(content(*orders_, after), "a=1");
  EXPECT_OK(orders_->major_compact());
  EXPECT_EQ(content(*orders_, now), "a=2 b=2 c=in memory");
}

// The manifest's edit is written, but its sync fails. Only the next open tells whether the edit counts; if it
// does, the files that it names must be there.
TEST_F(NamedSnapshotTest, ARestoreOfUnknownFateKeepsItsFiles) {
  put(*orders_, "a", "1");
  EXPECT_OK(engine_->named_snapshots().create("s").status());
  put(*orders_, "a", "2");
  orders_.reset();
  EXPECT_OK(engine_->close());
  FaultFileSystem& fault = watch_files();
  open();
  fault.fail(FileOperation::kSync, "MANIFEST-*", 1);
  EXPECT_FALSE(engine_->named_snapshots().restore("s", {"orders"}).ok());
  EXPECT_EQ(fault.struck(), 1u);
  engine_.reset();
  fault.clear();
  open();
  EXPECT_EQ(content(*engine_->open_table("orders").value()), "a=1") << "the memory holds what was written";
}

TEST_F(NamedSnapshotTest, WhatWasRestoredStaysSo) {
  put(*orders_, "a", "1");
  EXPECT_OK(engine_->named_snapshots().create("s").status());
  put(*orders_, "a", "2");
  put(*orders_, "z", "2");
  EXPECT_OK(engine_->named_snapshots().restore("s"));
  put(*orders_, "b", "3");
  EXPECT_EQ(content(reopened("orders")), "a=1 b=3") << "the log's older writes do not come back";
  EXPECT_OK(engine_->named_snapshots().restore("s"));
  EXPECT_OK(engine_->named_snapshots().drop("s"));
  EXPECT_EQ(content(reopened("orders")), "a=1");
}

TEST_F(NamedSnapshotTest, CloneIsATableOfItsOwn) {
  put(*orders_, "a", "1");
  auto earlier = engine_->snapshot().value();
  EXPECT_OK(engine_->named_snapshots().create("s", {"orders"}).status());
  put(*orders_, "a", "2");
  const auto cloned = engine_->named_snapshots().clone("s", "orders", "copy");
  ASSERT_TRUE(cloned.ok()) << cloned.status().to_text();
  EXPECT_EQ(content(**cloned), "a=1");
  EXPECT_EQ(content(**cloned, earlier), "") << "it was not there then";
  put(**cloned, "b", "3");
  EXPECT_EQ(content(*orders_), "a=2");
  EXPECT_EQ(content_of("s", "orders"), "a=1");
  EXPECT_TRUE(engine_->named_snapshots().clone("s", "orders", "copy").status().is(Code::kInvalidArgument));
  EXPECT_TRUE(engine_->named_snapshots().clone("s", "order", "copy2").status().is(Code::kNotFound));
  EXPECT_TRUE(engine_->named_snapshots().clone("s", "orders", "a/b").status().is(Code::kInvalidArgument));
  earlier.reset();  // close() refuses while a snapshot is open
  EXPECT_EQ(content(reopened("copy")), "a=1 b=3");
}

TEST_F(NamedSnapshotTest, TruncateEmptiesAtOnce) {
  put(*orders_, "a", "1");
  EXPECT_OK(orders_->flush());
  put(*orders_, "b", "2");
  auto before = engine_->snapshot().value();
  auto scanner = orders_->scan(Scan()).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_OK(engine_->truncate_table("orders"));
  EXPECT_EQ(content(*orders_), "");
  EXPECT_TRUE(scanner->next()) << "a scan goes on where it was";
  EXPECT_EQ(scanner->row().row(), "b");
  EXPECT_EQ(content(*orders_, before), "a=1 b=2");
  EXPECT_EQ(orders_->info().families[1].options.max_versions, 2u);
  put(*orders_, "c", "3");
  EXPECT_EQ(content(*orders_), "c=3");
  EXPECT_EQ(content(*orders_, before), "a=1 b=2");
  scanner.reset();
  EXPECT_TRUE(engine_->truncate_table("order").is(Code::kNotFound));
  before.reset();
  EXPECT_EQ(content(reopened("orders")), "c=3");
}

TEST_F(NamedSnapshotTest, TransactionsNoticeThatATableWasReplaced) {
  put(*orders_, "a", "1");
  EXPECT_OK(engine_->named_snapshots().create("s").status());
  for (const bool reads : {true, false}) {
    auto transaction = engine_->begin().value();
    if (reads) EXPECT_OK(transaction->get(orders_, Get("a")).status());
    EXPECT_OK(transaction->put(orders_, std::move(Put("b").add("d", "q", "from it"))));
    EXPECT_OK(engine_->named_snapshots().restore("s"));
    EXPECT_TRUE(transaction->commit().is(Code::kConflict));
  }
  auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(orders_, std::move(Put("b").add("d", "q", "after"))));
  EXPECT_OK(transaction->commit());
  EXPECT_EQ(content(*orders_), "a=1 b=after");
}

// Files that this engine writes are not opened a second time.
TEST_F(NamedSnapshotTest, OpensBesideAnEngineThatWritesTraces) {
  put(*orders_, "a", "1");
  EXPECT_OK(engine_->named_snapshots().create("s").status());
  orders_.reset();
  EngineOptions options;
  options.totals_series = "totals.jsonl";
  options.block_trace = "blocks.trace";
  options.operation_trace = "operations";
  open(options);
  const auto snapshot = engine_->named_snapshots().open("s");
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().to_text();
  EXPECT_EQ((*snapshot)->list_tables(), engine_->list_tables());
}

TEST_F(NamedSnapshotTest, SaysWhatIsWrong) {
  put(*orders_, "a", "1");
  for (const char* name : {"", ".x", "-x", "a/b", "a b", ".."})
    EXPECT_TRUE(engine_->named_snapshots().create(name).status().is(Code::kInvalidArgument)) << name;
  const Status unknown = engine_->named_snapshots().create("s", {"ordres"}).status();
  EXPECT_TRUE(unknown.is(Code::kNotFound));
  EXPECT_EQ(unknown.hint(), "did you mean orders?");
  EXPECT_TRUE(engine_->named_snapshots().list()->empty()) << "nothing is left of it";
  EXPECT_OK(engine_->named_snapshots().create("snap").status());
  EXPECT_TRUE(engine_->named_snapshots().create("snap").status().is(Code::kInvalidArgument));
  EXPECT_EQ(engine_->named_snapshots().drop("snop").hint(), "did you mean snap?");
  EXPECT_TRUE(engine_->named_snapshots().restore("snap", {"nothing"}).is(Code::kNotFound));
  {
    const auto opened = engine_->named_snapshots().open("snap");
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    EXPECT_TRUE((*opened)
                    ->open_table("orders")
                    .value()
                    ->put(std::move(Put("x").add("d", "q", "")))
                    .is(Code::kReadOnly));
    EXPECT_TRUE((*opened)->named_snapshots().create("inner").status().is(Code::kReadOnly));
    EXPECT_TRUE(engine_->named_snapshots().drop("snap").is(Code::kLocked));
  }
  EXPECT_OK(engine_->named_snapshots().drop("snap"));
  EXPECT_TRUE(engine_->named_snapshots().list()->empty());
}

TEST_F(NamedSnapshotTest, NothingOpensASnapshotForWriting) {
  put(*orders_, "a", "1");
  EXPECT_OK(engine_->named_snapshots().create("snap").status());
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  const auto refused = Engine::open("store/snapshots/snap", options);
  ASSERT_TRUE(refused.status().is(Code::kReadOnly)) << refused.status().to_text();
  EXPECT_EQ(refused.status().message(), "this is snapshot snap of a store, and cannot be changed");
  EXPECT_EQ(refused.status().place(), "store/snapshots/snap");
  {
    options.read_only = true;
    const auto looked_at = Engine::open("store/snapshots/snap", options).value();
    EXPECT_EQ(content(*looked_at->open_table("orders").value()), "a=1");
    EXPECT_OK(looked_at->checkpoint("free").status());
  }
  options.read_only = false;
  const auto free = Engine::open("free", options);
  ASSERT_TRUE(free.ok()) << "an export is a store like others: " << free.status().to_text();
  put(*(*free)->open_table("orders").value(), "b", "2");
  EXPECT_OK(engine_->named_snapshots().restore("snap"));
  put(*orders_, "c", "3");
  EXPECT_EQ(content(*orders_), "a=1 c=3") << "what was restored can be written to";
}

TEST_F(NamedSnapshotTest, ACheckpointIsAStore) {
  put(*orders_, "a", "1");
  EXPECT_OK(orders_->flush());
  put(*orders_, "b", "2");
  const auto made = engine_->checkpoint("copy");
  ASSERT_TRUE(made.ok()) << made.status().to_text();
  EXPECT_EQ(made->path, "copy");
  EXPECT_TRUE(engine_->checkpoint("copy").status().is(Code::kInvalidArgument)) << "it is not empty";
  put(*orders_, "b", "changed");
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  {
    const auto copy = Engine::open("copy", options).value();
    const auto table = copy->open_table("orders").value();
    EXPECT_EQ(content(*table), "a=1 b=2");
    put(*table, "c", "3");
    EXPECT_OK(table->major_compact());
    EXPECT_EQ(content(*table), "a=1 b=2 c=3");
  }
  options.read_only = true;
  const auto copy = Engine::open("copy", options).value();
  EXPECT_EQ(content(*copy->open_table("orders").value()), "a=1 b=2 c=3");
  EXPECT_OK(copy->checkpoint("copy2").status());
  const auto second = Engine::open("copy2", options).value();
  EXPECT_EQ(content(*second->open_table("orders").value()), "a=1 b=2 c=3");
  EXPECT_EQ(content(*orders_), "a=1 b=changed");
}

TEST_F(NamedSnapshotTest, HoldsBatchesWholeWhileOthersWrite) {
  const auto other = make_table("other", {family("d")});
  const auto write = [&](int writer, uint64_t i) {
    const std::string row = "w" + std::to_string(writer);
    char value[8];
    store_be64(value, i);
    Batch batch;
    batch.put(orders_, std::move(Put(row).add("d", "q", std::string_view(value, 8))));
    batch.put(orders_, std::move(Put(row).add("c", "q", std::string_view(value, 8))));
    batch.put(other, std::move(Put(row).add("d", "q", std::string_view(value, 8))));
    EXPECT_OK(engine_->write(batch));
  };
  std::vector<std::jthread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    write(writer, 0);  // so that contents compare as their numbers do, from the first snapshot on
    threads.emplace_back([&, writer](const std::stop_token& stop) {
      for (uint64_t i = 1; !stop.stop_requested(); ++i) {
        write(writer, i);
        if (i % 40 == 0 && writer == 0) EXPECT_OK(i % 80 == 0 ? other->flush() : orders_->flush());
      }
    });
  }
  std::string before;
  const int rounds = static_cast<int>(scaled(40));
  for (int round = 0; round < rounds; ++round) {
    const std::string name = "s" + std::to_string(round);
    ASSERT_TRUE(engine_->named_snapshots().create(name).ok());
    const auto opened = engine_->named_snapshots().open(name).value();
    Table& a = *opened->open_table("orders").value();
    const std::string values = content(a);
    ASSERT_EQ(values, content(*opened->open_table("other").value()));
    auto scanner = a.scan(Scan()).value();
    for (const RowView row : *scanner) {
      ASSERT_EQ(row.cells().size(), 2u);
      ASSERT_EQ(row.cells()[0].value_bytes(), row.cells()[1].value_bytes());
    }
    ASSERT_GE(values, before);
    before = values;
  }
  threads.clear();
  ASSERT_NE(before, "");
  EXPECT_OK(engine_->named_snapshots().restore("s0"));
  EXPECT_EQ(content(*orders_), content(*other));
  EXPECT_EQ(content(*orders_), content_of("s0", "orders"));
  count(static_cast<uint64_t>(rounds), "snapshots beside writers");
}

// A snapshot may hold writes that the store has lost in a crash, since they skipped the log: its sequences
// are then above the store's.
TEST(NamedSnapshotCrash, ARestoredSnapshotMayBeNewerThanItsStore) {
  CrashFileSystem files;
  ManualClock clock;
  EngineOptions options;
  options.create_if_missing = true;
  options.environment.files = &files;
  options.environment.clock = &clock;
  FamilyOptions family;
  family.name = "d";
  {
    const auto engine = Engine::open("store", options).value();
    const auto table = engine->create_table("t", {.families = {family}}).value();
    for (int i = 0; i < 20; ++i)
      EXPECT_OK(table->put(std::move(Put("r" + std::to_string(i)).add("d", "q", "lost")),
                           {.durability = Durability::kSkipWal}));
    EXPECT_OK(engine->named_snapshots().create("s").status());
    files.stop_at(files.operations() + 1);
  }
  const auto image = files.image(CrashMode::kLoseUnsynced, 1);
  options.environment.files = image.get();
  const auto engine = Engine::open("store", options).value();
  const auto table = engine->open_table("t").value();
  EXPECT_FALSE(table->exists(Get("r3")).value());
  EXPECT_OK(engine->named_snapshots().restore("s"));
  EXPECT_TRUE(table->exists(Get("r19")).value());
  clock.advance_ms(1);
  EXPECT_OK(table->put(std::move(Put("r3").add("d", "q", "new"))));
  EXPECT_EQ(table->get_row(Get("r3")).value().cells.front().value, "new");
}

}  // namespace
}  // namespace cellar::testing
