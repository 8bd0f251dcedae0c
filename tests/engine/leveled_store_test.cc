// Goal: a family whose policy makes sorted runs of several files answers as ever. Its files stay disjoint in
// each run, also after it was opened again, copied, or given another policy. Files that share no rows move
// without being written. Method: small memtables and files, a model of the newest values, and a listener that
// counts.
#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "base/random.h"
#include "engine/manifest/manifest.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

constexpr const char* kPolicy = "leveled(fanout=4, base_bytes=32k, file_bytes=8k, runs_min=2)";

// Counts what compactions do, and how large the files of one family are meanwhile.
class Watcher final : public EventListener {
 public:
  int merges = 0;
  int moves = 0;
  uint64_t bytes_written = 0;
  size_t files_most = 0;  // of one compaction
  std::function<void()> at_each_step;

 private:
  void on_compaction_begin(const CompactionInfo&) override { step(); }
  void on_compaction_progress(const CompactionInfo&) override { step(); }
  void on_compaction_end(const CompactionInfo& info) override {
    step();
    if (!info.status.ok()) return;
    ++(info.moved ? moves : merges);
    bytes_written += info.bytes_out;
    if (!info.moved) files_most = std::max(files_most, info.outputs.size());
  }
  void on_flush_end(const FlushInfo&) override { step(); }
  void step() {
    if (at_each_step) at_each_step();
  }
};

class LeveledStoreTest : public EngineFixture {
 protected:
  void open_leveled(bool automatic = true, const char* policy = kPolicy) {
    EngineOptions options;
    options.memtable_bytes = 32 << 10;
    options.automatic_compaction = automatic;
    options.environment.events = &watcher_;
    open(options);
    table_ = make_table("t", {family_of_small_blocks(policy)});
  }
  void put(uint64_t row, const std::string& value) {
    ASSERT_TRUE(table_->put(Put(row_text(row)).add("f", "q", value)).ok());
    model_[row_text(row)] = value;
  }
  // Overwrites 3,000 rows a few times, and waits until everything has gone down.
  void fill(uint64_t seed, const std::string& prefix = "value ") {
    Random random(seed);
    for (int i = 0; i < 10000; ++i)
      put(random.below(3000), prefix + std::to_string(i) + std::string(30, 'x'));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
  }
  static std::string row_text(uint64_t row) {
    std::string text = std::to_string(row);
    return "row" + std::string(6 - text.size(), '0') + text;
  }
  void expect_content(Table& table) {
    const auto scanned = [&](bool reversed) {
      std::vector<std::pair<std::string, std::string>> found;
      auto scanner = table.scan(Scan().reversed(reversed));
      EXPECT_TRUE(scanner.ok());
      for (const RowView row : **scanner) found.emplace_back(row.row(), row.value("f", "q").value_or("-"));
      EXPECT_OK((*scanner)->status());
      return found;
    };
    std::vector<std::pair<std::string, std::string>> expected(model_.begin(), model_.end());
    EXPECT_TRUE(scanned(false) == expected);
    std::ranges::reverse(expected);
    EXPECT_TRUE(scanned(true) == expected);
  }
  FamilyInfo info() const { return table_->info().families.at(0); }

  // The files of each run, the oldest run first; checks that they are disjoint.
  static std::vector<size_t> runs(const FamilyInfo& info) {
    std::vector<size_t> sizes;
    for (size_t i = 0; i < info.files.size(); ++i) {
      const StoreFileInfo& file = info.files[i];
      if (i == 0 || file.run == 0 || file.run != info.files[i - 1].run) {
        sizes.push_back(1);
        continue;
      }
      EXPECT_LT(info.files[i - 1].last_row, file.first_row);
      EXPECT_EQ(info.files[i - 1].level, file.level);
      ++sizes.back();
    }
    return sizes;
  }

  Watcher watcher_;
  std::shared_ptr<Table> table_;
  std::map<std::string, std::string> model_;
};

TEST_F(LeveledStoreTest, AnswersStayRightWhileFilesGoDown) {
  open_leveled();
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t row = random.below(5000);
    if (random.one_in(10)) {
      ASSERT_TRUE(table_->erase(Delete(row_text(row))).ok());
      model_.erase(row_text(row));
      clock_.advance_ms(1);
    } else {
      put(row, "value " + std::to_string(i) + std::string(30, 'x'));
    }
    if (i % 5000 == 4999) expect_content(*table_);
  }
  EXPECT_OK(engine_->wait_for_background());
  const std::vector<size_t> sizes = runs(info());
  EXPECT_GT(*std::ranges::max_element(sizes), 3u) << "no run has several files";
  EXPECT_GT(watcher_.files_most, 3u) << "no compaction wrote several files";
  EXPECT_LT(sizes.size(), 8u);
  expect_content(*table_);
}

TEST_F(LeveledStoreTest, RunsAreAsTheyWereWhenTheStoreIsOpenedAgain) {
  open_leveled();
  fill(8);
  const FamilyInfo before = info();
  ASSERT_GT(before.files.size(), runs(before).size());
  EXPECT_OK(engine_->close());
  table_.reset();
  EngineOptions options;
  options.automatic_compaction = false;
  open(options);
  table_ = *engine_->open_table("t");
  const FamilyInfo after = info();
  ASSERT_EQ(after.files.size(), before.files.size());
  for (size_t i = 0; i < after.files.size(); ++i) {
    EXPECT_EQ(after.files[i].name, before.files[i].name);
    EXPECT_EQ(after.files[i].run, before.files[i].run);
    EXPECT_EQ(after.files[i].level, before.files[i].level);
  }
  expect_content(*table_);
}

// A forged manifest names the files of a run with rows that are not theirs: the store does not open.
TEST_F(LeveledStoreTest, RunsOfAForgedManifestAreRefused) {
  open_leveled();
  fill(12);
  EXPECT_OK(engine_->close());
  table_.reset();
  engine_.reset();
  const std::unique_ptr<Executor> executor = make_thread_executor(1, 1);
  const auto forge = [&](const std::function<void(FileRecord&, FileRecord&)>& change) {
    const auto root = files_->open_directory("store", false);
    ASSERT_TRUE(root.ok());
    const auto manifest = Manifest::load(**root, *executor);
    ASSERT_TRUE(manifest.ok());
    ManifestState state = (*manifest)->state();
    std::vector<FileRecord>& files = state.tables.at(0).families.at(0).files;
    for (size_t i = 0; i + 1 < files.size(); ++i) {
      if (files[i].run == 0 || files[i].run != files[i + 1].run) continue;
      change(files[i], files[i + 1]);
      ASSERT_TRUE((*manifest)->switch_to(state).ok());
      return;
    }
    FAIL() << "no run has two files";
  };
  const auto expect_refused = [&](const std::string& why) {
    EngineOptions options;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    const Status status = Engine::open("store", options).status();
    EXPECT_TRUE(status.is(Code::kCorruption)) << status.to_text();
    EXPECT_NE(status.to_text().find(why), std::string::npos) << status.to_text();
  };
  forge([](FileRecord& file, FileRecord&) { file.last_key = file.first_key; });
  expect_refused("the rows of the file are");
  forge([](FileRecord& file, FileRecord& next) { file.last_key = next.first_key; });
  expect_refused("share rows");
}

TEST_F(LeveledStoreTest, CopiesKeepRunsAndSoDoClones) {
  open_leveled();
  fill(9);
  const std::vector<size_t> sizes = runs(info());
  ASSERT_TRUE(engine_->named_snapshots().create("s").ok());
  auto cloned = engine_->named_snapshots().clone("s", "t", "copy");
  ASSERT_TRUE(cloned.ok()) << cloned.status().to_text();
  EXPECT_EQ(runs((*cloned)->info().families.at(0)), sizes);
  // A run has the number of one of its files, which no other run gets.
  const auto files = (*cloned)->files("f");
  ASSERT_TRUE(files.ok());
  for (const StoreFileInfo& file : *files)
    EXPECT_TRUE(file.run == 0 || std::ranges::any_of(*files,
                                                     [&](const StoreFileInfo& each) {
                                                       return each.id == file.run && each.run == file.run;
                                                     }))
        << file.run;
  expect_content(**cloned);
  // Both go on, and neither takes the other's run for its own.
  fill(10, "later ");
  ASSERT_TRUE((*cloned)->put(Put("another").add("f", "q", "x")).ok());
  EXPECT_OK((*cloned)->flush());
  EXPECT_OK((*cloned)->compact());
  expect_content(*table_);
  ASSERT_TRUE(engine_->checkpoint("copied").ok());
  EXPECT_OK(engine_->close());
  cloned = Status::not_found("closed");
  table_.reset();
  engine_.reset();
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  auto copied = Engine::open("copied", options);
  ASSERT_TRUE(copied.ok()) << copied.status().to_text();
  auto table = (*copied)->open_table("t");
  ASSERT_TRUE(table.ok());
  expect_content(**table);
  runs((*table)->info().families.at(0));
}

TEST_F(LeveledStoreTest, RowsInOrderMoveDownWithoutBeingWritten) {
  open_leveled();
  for (uint64_t row = 0; row < 20000; ++row) put(row, std::string(20, 'v'));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_GT(watcher_.moves, 10);
  EXPECT_EQ(watcher_.merges, 0);
  EXPECT_EQ(watcher_.bytes_written, 0u);
  EXPECT_LT(runs(info()).size(), 6u);
  expect_content(*table_);
}

// The policies "exploring" and "ratio" move files as well. The parameter moves=false forbids it.
TEST_F(LeveledStoreTest, RowsInOrderAreOneRunOfTheDefaultPolicy) {
  open_leveled(true, FamilyOptions().compaction.c_str());
  for (uint64_t row = 0; row < 10000; ++row) put(row, std::string(20, 'v'));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(watcher_.merges, 0);
  EXPECT_EQ(runs(info()).size(), 1u);
  const size_t files = info().files.size();
  EXPECT_GT(files, 10u);
  expect_content(*table_);
  for (int i = 0; i < 3; ++i) {  // these rows lie among the others, so they do not move
    put(1, std::string(20, 'w'));
    put(9999, std::string(20, 'w'));
    EXPECT_OK(engine_->flush());
  }
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_EQ(watcher_.merges, 1);
  EXPECT_EQ(info().files.size(), files + 1);
  expect_content(*table_);
}

TEST_F(LeveledStoreTest, AMajorCompactionLeavesOneRunOfFilesOfTheirSize) {
  open_leveled();
  Random random(10);
  for (int i = 0; i < 10000; ++i)
    put(random.below(3000), "value " + std::to_string(i) + std::string(30, 'x'));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->major_compact());
  const FamilyInfo after = info();
  EXPECT_EQ(runs(after).size(), 1u);
  ASSERT_GT(after.files.size(), 5u);
  for (const StoreFileInfo& file : after.files) {
    EXPECT_TRUE(file.major);
    EXPECT_LT(file.bytes, 24u << 10);
  }
  expect_content(*table_);
}

TEST_F(LeveledStoreTest, AnotherPolicyGoesOnFromTheRuns) {
  open_leveled();
  Random random(11);
  for (int i = 0; i < 8000; ++i) put(random.below(3000), "value " + std::to_string(i) + std::string(30, 'x'));
  for (const char* policy : {"exploring", kPolicy, "exploring(files_min=2)", kPolicy}) {
    FamilyOptions options = info().options;
    options.compaction = policy;
    ASSERT_TRUE(engine_->alter_table("t", {.set_families = {options}}).ok());
    for (int i = 0; i < 4000; ++i)
      put(random.below(3000), "value " + std::to_string(i) + std::string(30, 'y'));
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
    runs(info());
    expect_content(*table_);
  }
}

// The deletes have nothing left to hide once they reach the oldest files of their rows.
TEST_F(LeveledStoreTest, MarkersGoWhereNothingOlderIsLeft) {
  open_leveled(false, "leveled(base_bytes=1m, file_bytes=8k, runs_min=2)");  // level 1 takes all
  for (uint64_t row = 0; row < 2000; ++row) put(row, std::string(30, 'v'));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->compact());
  clock_.advance_ms(10);
  for (uint64_t row = 500; row < 1500; ++row) {
    ASSERT_TRUE(table_->erase(Delete(row_text(row))).ok());
    model_.erase(row_text(row));
  }
  EXPECT_OK(engine_->flush());
  clock_.advance_ms(10);
  for (uint64_t row = 500; row < 1500; row += 10) put(row, "again");  // two runs of level 0
  EXPECT_OK(engine_->flush());
  EXPECT_OK(table_->compact());
  EXPECT_EQ(watcher_.merges, 1);
  uint64_t markers = 0;
  for (const StoreFileInfo& file : info().files) markers += file.deletes;
  EXPECT_EQ(markers, 0u);
  expect_content(*table_);
}

}  // namespace
}  // namespace cellar::testing
