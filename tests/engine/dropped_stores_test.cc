// Goal: a store that was dropped, emptied or replaced leaves no open descriptor while its table lives, and no
// directory. Its readers go on. Jobs that run on it end without a fault.
// Method: an engine over real files, whose descriptors are counted. Another engine has files that stop a job
// in the middle and drop its table there.
#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include "cellar/hfile_builder.h"
#include "engine/log/directory.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/scratch_directory.h"

namespace cellar::testing {
namespace {

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

size_t cells_of(Table& table) {
  const auto row = table.get(Get("r"));
  EXPECT_OK(row.status());
  return row->row().cells().size();
}

// A table handle that is kept all the time, as programs do.
TEST(DroppedStores, KeepNoDescriptors) {
  const ScratchDirectory scratch;
  auto opened = Engine::open(scratch / "store", {.create_if_missing = true});
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  Engine& engine = **opened;
  const auto table = engine.create_table("t", {.families = {{.name = "f"}, {.name = "g"}}}).value();
  EXPECT_OK(engine.named_snapshots().create("empty", {"t"}).status());
  const auto round = [&](int number) {
    EXPECT_OK(table->put(Put("r").add("f", "q", std::to_string(number))));
    EXPECT_OK(engine.flush());
    EXPECT_EQ(cells_of(*table), 1u);
    if (number % 3 == 0)
      EXPECT_OK(engine.named_snapshots().restore("empty", {"t"}));
    else if (number % 3 == 1)
      EXPECT_OK(engine.truncate_table("t"));
    else
      EXPECT_OK(engine.alter_table("t", {.remove_families = {"g"}}));
    if (number % 3 == 2) EXPECT_OK(engine.alter_family("t", {.name = "g"}));
    EXPECT_OK(engine.wait_for_background());
  };
  for (int i = 0; i < 3; ++i) round(i);
  const size_t before = open_descriptors();
  for (int i = 0; i < 51; ++i) round(i);
  EXPECT_LE(open_descriptors(), before + 5) << "each round leaves a descriptor";
  EXPECT_OK(engine.truncate_table("t"));
  EXPECT_OK(table->put(Put("r").add("g", "q", "v")));
  EXPECT_OK(engine.flush());
  EXPECT_EQ(cells_of(*table), 1u);
}

// Does something on another thread when a compaction or a flush has chosen its inputs.
class Begins final : public EventListener {
 public:
  void on_compaction_begin(const CompactionInfo&) override { run(); }
  void on_flush_begin(const FlushInfo&) override { run(); }
  std::function<void()> what;

 private:
  void run() {
    if (auto once = std::exchange(what, {})) std::thread(once).join();
  }
};

class DroppedStoresTest : public EngineFixture {
 protected:
  void SetUp() override {
    fault_ = &watch_files();
    EngineOptions options;
    options.automatic_compaction = false;
    options.environment.events = &begins_;
    open(options);
    table_ = make_table("t", {family("f"), family("g")});
  }
  void TearDown() override {
    table_.reset();
    engine_.reset();  // before its listener
  }
  void write(const std::string& row) {
    EXPECT_OK(table_->put(Put(row).add("f", "q", "v")));
    EXPECT_OK(engine_->flush());
  }
  bool exists(const std::string& path) { return files_->open_directory("store/" + path, false).ok(); }
  // Does `what` on another thread when the file system is called for the first time like this.
  void in_the_middle(FileOperation on, const std::string& name, std::function<void()> what) {
    fault_->before_each([this, on, name, what = std::move(what)](const FileCall& call) {
      if (call.operation != on || !name_matches(name, call.name) || done_.exchange(true)) return;
      std::thread(what).join();
    });
  }
  void drop() {
    table_.reset();
    EXPECT_OK(engine_->drop_table("t"));
  }

  FaultFileSystem* fault_ = nullptr;
  Begins begins_;
  std::shared_ptr<Table> table_;
  std::atomic<bool> done_{false};
};

TEST_F(DroppedStoresTest, DirectoriesOfATableGoWithItsLastFile) {
  write("a");
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok());
  drop();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_TRUE(exists("tables/1/f")) << "a scanner reads the file";
  uint64_t rows = 0;
  for ([[maybe_unused]] const RowView row : **scanner) ++rows;
  EXPECT_EQ(rows, 1u);
  EXPECT_OK((*scanner)->status());
  scanner.value().reset();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_FALSE(exists("tables/1"));
}

TEST_F(DroppedStoresTest, ATableWithoutFilesLeavesNoDirectoryEither) {
  drop();
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_FALSE(exists("tables/1"));
  EXPECT_TRUE(exists("tables"));
  table_ = make_table("t", {family("f")});
  write("a");
  EXPECT_TRUE(exists("tables/2/f")) << "ids are never used again";
}

// A new family may get the name at any time.
TEST_F(DroppedStoresTest, TheDirectoryOfARemovedFamilyGoesAtTheNextOpen) {
  write("a");
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"g"}}));
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_OK(engine_->alter_family("t", family("g")));
  EXPECT_OK(table_->put(Put("b").add("g", "q", "v")));
  EXPECT_OK(engine_->flush());
  EXPECT_OK(engine_->alter_table("t", {.remove_families = {"g"}}));
  EXPECT_OK(engine_->wait_for_background());
  table_.reset();
  EXPECT_OK(engine_->close());
  EXPECT_TRUE(exists("tables/1/g"));
  open({.read_only = true});
  EXPECT_TRUE(exists("tables/1/g")) << "who only reads removes nothing";
  open();
  EXPECT_FALSE(exists("tables/1/g"));
  EXPECT_EQ(scan(*engine_->open_table("t").value(), Scan()).size(), 1u);
  EXPECT_TRUE(exists("tables/1/f"));
}

TEST_F(DroppedStoresTest, AnOpenRemovesDirectoriesThatNoTableHas) {
  write("a");
  table_.reset();
  EXPECT_OK(engine_->close());
  const auto root = files_->open_directory("store", false).value();
  EXPECT_OK(open_family_directory(*root, 7, "x", true).status());
  EXPECT_OK(open_family_directory(*root, 1, "old", true).status());
  EXPECT_OK(open_family_directory(*root, 8, "x", true).value()->create("notes", {}).status());
  const uint64_t lists = fault_->count(FileOperation::kList, "tables");
  open();
  EXPECT_EQ(fault_->count(FileOperation::kList, "tables"), lists + 1);
  EXPECT_FALSE(exists("tables/7"));
  EXPECT_FALSE(exists("tables/1/old"));
  EXPECT_TRUE(exists("tables/8/x")) << "somebody else's file is inside";
  EXPECT_TRUE(exists("tables/1/g")) << "a family without files";
  EXPECT_EQ(scan(*engine_->open_table("t").value(), Scan()).size(), 1u);
}

TEST_F(DroppedStoresTest, ACompactionOfATableThatIsDroppedEndsWell) {
  for (const char* place : {"begin", "end"}) {
    fault_->before_each({});
    done_ = false;
    if (table_ == nullptr) table_ = make_table("t", {family("f")});
    write("a");
    write("b");
    const auto table = table_;
    in_the_middle(std::string_view(place) == "begin" ? FileOperation::kCreate : FileOperation::kDirectorySync,
                  std::string_view(place) == "begin" ? "tables/*" : "tables/*/f", [&] { drop(); });
    EXPECT_OK(table->major_compact());
    EXPECT_TRUE(done_);
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_TRUE(engine_->status().troubles.empty()) << place;
    EXPECT_OK(engine_->status().health);
  }
  fault_->before_each({});
  open();
  EXPECT_FALSE(exists("tables/1"));
  EXPECT_FALSE(exists("tables/2"));
}

// The job finds no directory for its output.
TEST_F(DroppedStoresTest, JobsWhoseTableIsDroppedWhenTheyBeginEndWell) {
  for (const bool flush : {false, true}) {
    if (table_ == nullptr) table_ = make_table("t", {family("f")});
    write("a");
    write("b");
    EXPECT_OK(table_->put(Put("c").add("f", "q", "v")));
    const auto table = table_;
    bool dropped = false;
    begins_.what = [&] {
      drop();
      dropped = true;
    };
    EXPECT_OK(flush ? table->flush() : table->major_compact());
    EXPECT_TRUE(dropped);
    EXPECT_OK(engine_->wait_for_background());
    EXPECT_TRUE(engine_->status().troubles.empty());
    EXPECT_OK(engine_->status().health);
  }
}

TEST_F(DroppedStoresTest, AFlushOfATableThatIsDroppedEndsWell) {
  EXPECT_OK(table_->put(Put("a").add("f", "q", "v")));
  const auto table = table_;
  in_the_middle(FileOperation::kCreate, "tables/*", [&] { drop(); });
  EXPECT_OK(table->flush());
  EXPECT_TRUE(done_);
  EXPECT_OK(engine_->wait_for_background());
  EXPECT_TRUE(engine_->status().troubles.empty());
  EXPECT_OK(engine_->status().health);
}

// It links files from the directory of the table.
TEST_F(DroppedStoresTest, ACheckpointGoesOnWhileItsTableIsDropped) {
  write("a");
  write("b");
  in_the_middle(FileOperation::kLink, "*", [&] { drop(); });
  EXPECT_OK(engine_->checkpoint("copy").status());
  EXPECT_TRUE(done_);
  fault_->before_each({});
  EXPECT_OK(engine_->close());
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  const auto copy = Engine::open("copy", options);
  ASSERT_TRUE(copy.ok()) << copy.status().to_text();
  EXPECT_EQ(scan(*(*copy)->open_table("t").value(), Scan()).size(), 2u);
}

TEST_F(DroppedStoresTest, AnIngestIntoATableThatIsDroppedLeavesNoFile) {
  write("a");
  EXPECT_OK(files_->open_directory("in", true).status());
  auto builder = HFileBuilder::create(*files_, "in/file", {}).value();
  EXPECT_OK(builder.add({"b", "f", "q", 5, CellType::kPut, "v"}));
  EXPECT_OK(builder.finish().status());
  const auto table = table_;
  in_the_middle(FileOperation::kDirectorySync, "tables/1/f", [&] { drop(); });
  const auto taken = table->ingest({.files = {{.family = "f", .path = "in/file"}}});
  EXPECT_TRUE(taken.status().is(Code::kNotFound)) << taken.status().to_text();
  EXPECT_TRUE(done_);
  fault_->before_each({});
  EXPECT_OK(engine_->wait_for_background());
  open();
  EXPECT_FALSE(exists("tables/1"));
}

}  // namespace
}  // namespace cellar::testing
