// Goal: a checkpoint on another disk copies only files that its base does not have. It is right whatever
// happened to the base. Method: a file system that refuses links to files of the store, but no other links.
#include <gtest/gtest.h>

#include <set>

#include "engine/store/file_copy.h"
#include "tests/engine/engine_fixture.h"

namespace cellar::testing {
namespace {

class IncrementalCheckpoint : public EngineFixture {
 protected:
  void SetUp() override {
    disk_ = &watch_files();
    EngineOptions options;
    options.automatic_compaction = false;
    open(options);
    table_ = make_table("t", {family("d", 2)});
  }

  void put(const std::string& row, const std::string& value) {
    clock_.advance_ms(1);
    EXPECT_OK(table_->put(Put(row).add("d", "q", value)));
  }
  void put_file(const std::string& row, const std::string& value) {
    put(row, value);
    EXPECT_OK(table_->flush());
  }
  // The store seems to be on another disk than all copies: the first attempt to link a name fails. A job
  // tries the store's own name first.
  Result<CheckpointInfo> try_checkpoint(const std::string& path, const std::string& base) {
    std::set<std::string> tried;
    disk_->before_each([&](const FileCall& call) {
      if (call.operation != FileOperation::kLink || !tried.insert(call.name).second) return;
      disk_->inject({.on = FileOperation::kLink, .name = call.name, .code = Code::kNotSupported});
    });
    auto made = engine_->checkpoint(path, base);
    disk_->before_each(nullptr);
    disk_->clear();
    return made;
  }
  CheckpointInfo checkpoint(const std::string& path, const std::string& base = {}) {
    const auto made = try_checkpoint(path, base);
    EXPECT_OK(made.status());
    return made.ok() ? *made : CheckpointInfo{};
  }
  void remove(const std::string& path) {
    const auto root = files_->open_directory(".", false);
    EXPECT_OK(remove_tree(**root, path));
  }
  std::unique_ptr<Engine> open_copy(const std::string& path, bool read_only) {
    EngineOptions options;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    options.read_only = read_only;
    auto opened = Engine::open(path, options);
    EXPECT_OK(opened.status());
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  // "row=value" of each row of the store at `path`.
  std::string content(const std::string& path) {
    const std::unique_ptr<Engine> engine = open_copy(path, true);
    if (engine == nullptr) return "no store";
    const auto table = engine->open_table("t").value();
    const auto scanner = table->scan(Scan()).value();
    std::string text;
    while (scanner->next()) {
      const CellView& cell = scanner->row().cells().front();
      text += std::string(cell.row()) + "=" + std::string(cell.value_bytes()) + " ";
    }
    EXPECT_OK(scanner->status());
    return text;
  }

  FaultFileSystem* disk_ = nullptr;
  std::shared_ptr<Table> table_;
};

TEST_F(IncrementalCheckpoint, CopiesOnlyNewFiles) {
  put_file("a", "1");
  put_file("b", "2");
  const CheckpointInfo monday = checkpoint("monday");
  EXPECT_EQ(monday.files, 2u);
  EXPECT_EQ(monday.bytes_shared, 0u) << "no link was possible";
  put_file("c", "3");
  put("d", "4");
  const CheckpointInfo tuesday = checkpoint("tuesday", "monday");
  EXPECT_EQ(tuesday.files, 4u) << "one of them holds the memtable";
  EXPECT_EQ(tuesday.bytes_shared, monday.bytes);
  EXPECT_EQ(content("monday"), "a=1 b=2 ");
  EXPECT_EQ(content("tuesday"), "a=1 b=2 c=3 d=4 ");
  put("d", "5");
  const CheckpointInfo wednesday = checkpoint("wednesday", "tuesday");
  EXPECT_GT(wednesday.bytes_shared, monday.bytes) << "the third file is in both";
  EXPECT_LT(wednesday.bytes_shared, wednesday.bytes) << "the store has never had the file of the memtable";
  EXPECT_EQ(content("wednesday"), "a=1 b=2 c=3 d=5 ");
  EXPECT_EQ(content("tuesday"), "a=1 b=2 c=3 d=4 ");
}

TEST_F(IncrementalCheckpoint, StaysWholeWithoutItsBase) {
  put_file("a", "1");
  checkpoint("monday");
  put_file("b", "2");
  EXPECT_GT(checkpoint("tuesday", "monday").bytes_shared, 0u);
  remove("monday");
  EXPECT_EQ(content("tuesday"), "a=1 b=2 ");
  const auto copy = open_copy("tuesday", false);
  EXPECT_OK(copy->open_table("t").value()->major_compact());
  EXPECT_OK(copy->close());
  EXPECT_EQ(content("tuesday"), "a=1 b=2 ");
}

TEST_F(IncrementalCheckpoint, TakesNothingThatACompactionHasReplaced) {
  put_file("a", "1");
  put_file("a", "2");
  checkpoint("monday");
  EXPECT_OK(table_->major_compact());
  const CheckpointInfo tuesday = checkpoint("tuesday", "monday");
  EXPECT_EQ(tuesday.files, 1u);
  EXPECT_EQ(tuesday.bytes_shared, 0u);
  EXPECT_EQ(content("tuesday"), "a=2 ");
}

TEST_F(IncrementalCheckpoint, FamiliesAndTablesMayComeAndGo) {
  put_file("a", "1");
  const auto other = make_table("other", {family("d")});
  EXPECT_OK(other->put(Put("x").add("d", "q", "y")));
  EXPECT_OK(other->flush());
  const CheckpointInfo monday = checkpoint("monday");
  EXPECT_OK(engine_->drop_table("other"));
  const auto again = make_table("other", {family("d")});
  EXPECT_OK(again->put(Put("x").add("d", "q", "y")));
  EXPECT_OK(again->flush());
  const CheckpointInfo tuesday = checkpoint("tuesday", "monday");
  EXPECT_EQ(tuesday.files, 2u);
  EXPECT_GT(tuesday.bytes_shared, 0u);
  EXPECT_LT(tuesday.bytes_shared, monday.bytes) << "the file of the new table is another one";
  EXPECT_EQ(content("tuesday"), "a=1 ");
}

// A file of the base that is missing, or has lost its end, is copied anew.
TEST_F(IncrementalCheckpoint, MissingAndShortFilesAreCopied) {
  put_file("a", "1");
  put_file("b", "2");
  checkpoint("monday");
  const TableInfo info = table_->info();
  const auto& files = info.families[0].files;
  ASSERT_EQ(files.size(), 2u);
  const auto family =
      files_->open_directory("monday/" + files[0].path.substr(0, files[0].path.rfind('/')), false);
  EXPECT_OK((*family)->unlink(files[0].name));
  EXPECT_OK((*family)->unlink(files[1].name));
  const auto cut = (*family)->create(files[1].name, {});
  EXPECT_OK((*cut)->append("HFile"));
  EXPECT_OK((*cut)->close());
  EXPECT_EQ(checkpoint("tuesday", "monday").bytes_shared, 0u);
  EXPECT_EQ(content("tuesday"), "a=1 b=2 ");
}

// The copy's writer may give a new file the name, the keys and the time of a file of this store.
TEST_F(IncrementalCheckpoint, ABaseThatWasWrittenToIsRefused) {
  put_file("a", "1");
  checkpoint("monday");
  const auto copy = open_copy("monday", false);
  const auto open = try_checkpoint("tuesday", "monday");
  EXPECT_TRUE(open.status().is(Code::kLocked)) << open.status().to_text();
  EXPECT_OK(copy->close());
  const auto closed = try_checkpoint("tuesday", "monday");
  EXPECT_TRUE(closed.status().is(Code::kInvalidArgument)) << closed.status().to_text();
  EXPECT_NE(closed.status().to_text().find("opened for writing"), std::string::npos);
  EXPECT_FALSE(files_->open_directory("tuesday", false).ok()) << "nothing was begun";
}

TEST_F(IncrementalCheckpoint, WhatIsNoCopyIsRefused) {
  put_file("a", "1");
  {
    EngineOptions options;
    options.create_if_missing = true;
    options.environment.files = files_.get();
    options.environment.clock = &clock_;
    options.environment.seed = 7;
    ASSERT_TRUE(Engine::open("stranger", options).ok());
  }
  const auto stranger = try_checkpoint("tuesday", "stranger");
  EXPECT_TRUE(stranger.status().is(Code::kInvalidArgument)) << stranger.status().to_text();
  EXPECT_NE(stranger.status().to_text().find("no copy of this store"), std::string::npos);
  ASSERT_TRUE(files_->open_directory("empty", true).ok());
  for (const char* none : {"empty", "absent"}) {
    const auto refused = try_checkpoint("tuesday", none);
    EXPECT_TRUE(refused.status().is(Code::kNotFound)) << refused.status().to_text();
  }
  EXPECT_FALSE(files_->open_directory("tuesday", false).ok());
}

// Each call of the file system fails once. The checkpoint is made whole, or not at all.
TEST_F(IncrementalCheckpoint, AFaultLeavesAllOrNothing) {
  put_file("a", "1");
  checkpoint("monday");
  put_file("b", "2");
  uint64_t refused = 0;
  bool struck = true;
  for (uint64_t nth = 1; struck && nth < 1000; ++nth) {
    const uint64_t before = disk_->struck();
    disk_->inject({.on = kAllOperations, .nth = nth});
    const auto made = engine_->checkpoint("tuesday", "monday");
    struck = disk_->struck() > before;
    disk_->clear();
    if (made.ok()) {
      EXPECT_EQ(content("tuesday"), "a=1 b=2 ");
      remove("tuesday");
    } else {
      ++refused;
    }
  }
  EXPECT_FALSE(struck) << "the last one had no fault";
  EXPECT_GT(refused, 10u);
  EXPECT_OK(engine_->resume());
  EXPECT_EQ(content("monday"), "a=1 ");
}

}  // namespace
}  // namespace cellar::testing
