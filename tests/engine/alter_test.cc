// Goal: a change of a table happens whole or not at all, and an error names all its faults. A removed family
// is gone for all later readers, and stays for readers that began earlier. Method: an engine over files in
// memory, closed and opened again between.
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <utility>

#include "tests/engine/observer_fixture.h"

namespace cellar::testing {
namespace {

class AlterTest : public EngineFixture {
 protected:
  void SetUp() override {
    open();
    table_ = make_table("t", {family("a"), family("b"), family("c")});
    for (const char* name : {"a", "b", "c"}) EXPECT_OK(table_->put(Put("r").add_at(name, "q", 1, "old")));
  }
  void open_again() {
    table_.reset();
    open();
    table_ = engine_->open_table("t").value();
  }
  size_t files_of(const std::string& name) const {
    const auto listed =
        files_->open_directory("store/tables/" + std::to_string(table_->info().id) + "/" + name, false);
    if (!listed.ok()) return 0;
    return (*listed)->list().value().size();
  }
  Texts names() const {
    Texts all;
    for (const FamilyInfo& each : table_->info().families) all.push_back(each.options.name);
    return all;
  }

  std::shared_ptr<Table> table_;
};

TEST_F(AlterTest, ManyChangesAreOne) {
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family("b", 7), family("d")},
                                       .remove_families = {"a"},
                                       .durability = Durability::kFsyncWal,
                                       .compaction_enabled = false,
                                       .memtable_bytes = 8192}));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(names(), (Texts{"b", "c", "d"}));
    const TableOptions options = table_->info().options;
    EXPECT_EQ(options.families[0].max_versions, 7u);
    EXPECT_EQ(options.durability, Durability::kFsyncWal);
    EXPECT_FALSE(options.compaction_enabled);
    EXPECT_EQ(options.memtable_bytes, 8192u);
    EXPECT_EQ(get(*table_, Get("r")), (Texts{"r/b:q/1/Put=old", "r/c:q/1/Put=old"}));
    open_again();
  }
  EXPECT_OK(engine_->alter_table("t", {.default_durability = true}));
  EXPECT_EQ(table_->info().options.durability, std::nullopt);
  EXPECT_FALSE(table_->info().options.compaction_enabled) << "what is not named stays";
}

TEST_F(AlterTest, AllFaultsAreNamedAndNothingHappens) {
  FamilyOptions bad = family("b");
  bad.max_versions = 0;
  bad.block_bytes = 5;
  const Status unfit = engine_->alter_table(
      "t",
      {.set_families = {bad, family("e"), family("e")}, .remove_families = {"cc", "e"}, .memtable_bytes = 7});
  EXPECT_TRUE(unfit.is(Code::kInvalidArgument)) << unfit.to_text();
  for (const char* part :
       {"max_versions must be at least 1", "block_bytes must be", "\"e\" is named twice;",
        "named twice, once to be removed", "no family \"cc\"", "memtable_bytes of a table"})
    EXPECT_NE(unfit.message().find(part), std::string::npos) << part << " in " << unfit.to_text();
  const Status missing =
      engine_->alter_table("t", {.set_families = {family("z")}, .remove_families = {"cc"}});
  EXPECT_TRUE(missing.is(Code::kNotFound)) << missing.to_text();
  EXPECT_EQ(missing.hint(), "did you mean c?");
  EXPECT_TRUE(engine_->alter_table("tt", {}).is(Code::kNotFound));
  EXPECT_EQ(names(), (Texts{"a", "b", "c"}));
}

TEST_F(AlterTest, TheLastFamilyStays) {
  const Status last = engine_->alter_table("t", {.remove_families = {"a", "b", "c"}});
  EXPECT_TRUE(last.is(Code::kInvalidArgument)) << last.to_text();
  EXPECT_NE(last.message().find("at least one family"), std::string::npos) << last.to_text();
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family("d")}, .remove_families = {"a", "b", "c"}}));
  EXPECT_EQ(names(), Texts{"d"});
}

TEST_F(AlterTest, WhoReadsGoesOnAndTheFilesGoWithTheLast) {
  EXPECT_OK(table_->put(Put("s").add_at("a", "q", 1, "old")));
  EXPECT_OK(table_->flush());
  ASSERT_EQ(files_of("a"), 1u);
  auto scanner = table_->scan(Scan().family("a")).value();
  ASSERT_TRUE(scanner->next());
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"a"}}));
  EXPECT_TRUE(table_->get(Get("r").family("a")).status().is(Code::kInvalidArgument));
  EXPECT_TRUE(table_->put(Put("r").add("a", "q", "v")).is(Code::kInvalidArgument));
  EXPECT_EQ(files_of("a"), 1u);
  ASSERT_TRUE(scanner->next()) << scanner->status().to_text();
  EXPECT_EQ(scanner->row().row(), "s");
  scanner.reset();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files_of("a"), 0u);
}

TEST_F(AlterTest, AFamilyAddedAgainIsEmptyAlsoAfterReplay) {
  const auto before = engine_->snapshot().value();
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"a"}}));
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family("a", 3)}}));
  EXPECT_EQ(get(*table_, Get("r").family("a")), Texts{});
  EXPECT_EQ(get(*table_, Get("r").family("a").snapshot(before)), Texts{});
  EXPECT_EQ(get(*table_, Get("r").family("b").snapshot(before)), Texts{"r/b:q/1/Put=old"});
  EXPECT_OK(table_->put(Put("r").add_at("a", "q", 2, "new")));
  for (int round = 0; round < 2; ++round) {  // in the log: cells of both families called so
    EXPECT_EQ(get(*table_, Get("r").family("a").versions(9)), Texts{"r/a:q/2/Put=new"});
    if (round == 0) open_again();
  }
}

TEST_F(AlterTest, ATransactionThatWroteToItConflicts) {
  const auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(table_, Put("r").add("a", "q", "v")));
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"a"}}));
  const Status status = transaction->commit();
  EXPECT_TRUE(status.is(Code::kConflict)) << status.to_text();
  EXPECT_NE(status.message().find("family a of table t was removed"), std::string::npos) << status.to_text();
}

// An observer holds a write up between its checks and the log, and the table changes meanwhile.
TEST_F(AlterTest, AWriteTellsWhatBecameOfItsTableMeanwhile) {
  const auto put_during = [&](const std::function<Status()>& change) {
    bool called = false;
    EXPECT_OK(engine_->add_observer("t", "changing",
                                    std::make_shared<CallingObserver>([&](const RowView&, ObserverContext&) {
                                      Status changed;
                                      if (std::exchange(called, true)) return changed;
                                      std::thread([&] { changed = change(); }).join();
                                      return changed;
                                    })));
    const Status status = table_->put(Put("late").add("a", "q", "v"));
    table_ = make_table("t", {family("a"), family("b")});
    EXPECT_EQ(get(*table_, Get("late")), Texts{}) << status.to_text();
    EXPECT_OK(table_->put(Put("r").add("b", "q", "v")));  // a later write is not refused
    open_again();                                         // without observers
    return status;
  };
  const auto expect = [](const Status& status, Code code, std::string_view part) {
    EXPECT_TRUE(status.is(code)) << status.to_text();
    EXPECT_NE(status.message().find(part), std::string_view::npos) << status.to_text();
  };
  expect(put_during([&] { return engine_->truncate_table("t"); }), Code::kConflict, "emptied");
  expect(put_during([&] { return engine_->drop_table("t"); }), Code::kNotFound, "table t was dropped");
  expect(put_during([&] {
           CELLAR_TRY(engine_->drop_table("t"));
           return engine_->open_or_create_table("t", {.families = {family("a"), family("b")}}).status();
         }),
         Code::kNotFound, "table t was dropped");
  expect(put_during([&] { return engine_->alter_table("t", {.remove_families = {"a"}}); }), Code::kConflict,
         "family a of table t was removed");
}

TEST_F(AlterTest, NamedSnapshotsAndFeedsKnowWhatWas) {
  EXPECT_OK(engine_->feeds().create("all"));
  EXPECT_OK(table_->put(Put("s").add_at("a", "q", 5, "fed")));
  EXPECT_TRUE(engine_->named_snapshots().create("was").ok());
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"a"}, .read_only = true}));
  auto reader = engine_->feeds().read("all").value();
  const FeedEntry* entry = reader->next().value();
  ASSERT_NE(entry, nullptr);
  ASSERT_EQ(entry->cells.size(), 1u);
  EXPECT_EQ(entry->cells[0].second.family(), "a");
  reader.reset();
  EXPECT_OK(engine_->named_snapshots().restore("was", {"t"}));
  EXPECT_EQ(names(), (Texts{"a", "b", "c"}));
  EXPECT_FALSE(table_->info().options.read_only);
  EXPECT_EQ(get(*table_, Get("s")), Texts{"s/a:q/5/Put=fed"});
}

TEST_F(AlterTest, AReadOnlyTableRefusesEveryWrite) {
  const auto transaction = engine_->begin().value();
  EXPECT_OK(transaction->put(table_, Put("r").add("a", "q", "v")));
  EXPECT_OK(engine_->alter_table("t", {.read_only = true}));
  const auto other = make_table("u", {family("a")});
  Batch batch;
  batch.put(other, Put("r").add("a", "q", "v")).put(table_, Put("r").add("a", "q", "v"));
  for (const Status& status :
       {table_->put(Put("r").add("a", "q", "v")), table_->erase(Delete("r")),
        table_->increment(Increment("r").add("a", "n", 1)).status(),
        table_->append(Append("r").add("a", "q", "v")).status(),
        table_
            ->check_and_mutate(CheckAndMutate("r").if_not_exists("a", "x").then(Put("r").add("a", "x", "v")))
            .status(),
        engine_->write(batch), transaction->commit(), table_->ingest({}).status()}) {
    EXPECT_TRUE(status.is(Code::kReadOnly)) << status.to_text();
    EXPECT_NE(status.message().find("table t is read-only"), std::string::npos) << status.to_text();
  }
  EXPECT_EQ(get(*other, Get("r")), Texts{});
  EXPECT_EQ(get(*table_, Get("r").family("a")), Texts{"r/a:q/1/Put=old"});
  open_again();
  EXPECT_TRUE(table_->put(Put("r").add("a", "q", "v")).is(Code::kReadOnly));
  EXPECT_OK(engine_->alter_table("t", {.read_only = false}));
  EXPECT_OK(table_->put(Put("r").add("a", "q", "v")));
}

TEST_F(AlterTest, CompactionsRestWhereTheyAreSwitchedOff) {
  EXPECT_OK(engine_->alter_table("t", {.compaction_enabled = false}));
  const auto files = [&] { return table_->info().families[0].files.size(); };
  for (int i = 0; i < 20; ++i) {  // more than files_stop: nobody waits for a compaction
    EXPECT_OK(table_->put(Put("r" + std::to_string(i)).add("a", "q", "v")));
    EXPECT_OK(table_->flush());
  }
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(files(), 20u);
  EXPECT_OK(engine_->alter_table("t", {.compaction_enabled = true}));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_LT(files(), 10u);
}

TEST_F(AlterTest, ATableHasAFlushSizeOfItsOwn) {
  EXPECT_OK(engine_->alter_table("t", {.memtable_bytes = 16 << 10}));
  const std::string value(1000, 'v');
  for (int i = 0; i < 200; ++i) EXPECT_OK(table_->put(Put("r" + std::to_string(i)).add("a", "q", value)));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_GE(engine_->status().flushes, 3u);
}

TEST_F(AlterTest, NothingToChangeIsNoChange) {
  const uint64_t bytes = engine_->status().log_bytes;
  EXPECT_OK(engine_->alter_table("t", {}));
  EXPECT_OK(engine_->alter_table("t", {.set_families = {family("a")}, .read_only = false}));
  EXPECT_EQ(engine_->status().log_bytes, bytes);
}

}  // namespace
}  // namespace cellar::testing
