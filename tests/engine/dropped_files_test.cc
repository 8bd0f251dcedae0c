// Goal: files whose cells have all expired leave the store without being read. Nobody sees a difference:
// neither readers, nor snapshots, nor a store whose clock was wrong. Files that a policy drops although they
// are live stay visible to snapshots that are open. After a crash a file is there or gone.
// Method: a store of small flushes with a time to live, and a listener that counts. Calls
// of the file system are counted. The crash sweep stops at each operation.
#include <map>

#include "engine/store/expiry_clock.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/step_sweep.h"

namespace cellar::testing {
namespace {

constexpr int64_t kHourMs = 3'600'000;

class Drops final : public EventListener {
 public:
  int drops = 0;
  int others = 0;
  uint64_t files = 0;
  uint64_t cells = 0;
  std::string last;

 private:
  void on_compaction_end(const CompactionInfo& info) override {
    EXPECT_OK(info.status);
    ++(info.dropped ? drops : others);
    if (!info.dropped) return;
    EXPECT_TRUE(info.outputs.empty());
    EXPECT_EQ(info.cells_out, 0u);
    files += info.inputs.size();
    cells += info.cells_in;
    last = to_text(info);
  }
};

class DroppedFilesTest : public EngineFixture {
 protected:
  void open_store(const std::string& policy, int64_t ttl_s = 3600, bool automatic = true) {
    EngineOptions options;
    options.automatic_compaction = automatic;
    options.environment.events = &drops_;
    open(options);
    FamilyOptions f = family("f", 3);
    f.compaction = policy;
    if (ttl_s > 0) f.ttl_s = ttl_s;
    table_ = make_table("t", {alter_(f)});
  }
  // A file of its own: `row` and "all" have the value.
  void flush_of(const std::string& row, const std::string& value) {
    EXPECT_OK(table_->put(Put(row).add("f", "q", value)));
    EXPECT_OK(table_->put(Put("all").add("f", "q", value)));
    flush();
  }
  void flush() {
    EXPECT_OK(engine_->flush());
    EXPECT_OK(engine_->wait_for_background());
  }
  size_t files() const { return table_->info().families.at(0).files.size(); }
  std::string all() { return value_of(*table_, Get("all"), "f", "q"); }

  Drops drops_;
  std::function<FamilyOptions(FamilyOptions)> alter_ = [](FamilyOptions family) { return family; };
  std::shared_ptr<Table> table_;
};

TEST_F(DroppedFilesTest, WhatHasExpiredLeavesUnderEveryPolicy) {
  for (const char* policy :
       {"none", "fifo", "exploring(files_min=9)", "ratio(files_min=9)", "leveled", "date_tiered"}) {
    files_ = make_memory_file_system();
    drops_ = {};
    open_store(policy);
    flush_of("a", "1");
    flush_of("b", "2");
    clock_.advance_ms(kHourMs);
    EXPECT_EQ(files(), 2u) << "an age of exactly the time to live is alive";
    flush_of("c", "3");
    EXPECT_EQ(files(), 3u);
    EXPECT_EQ(drops_.drops, 0);
    clock_.advance_ms(1);
    flush_of("d", "4");
    EXPECT_EQ(files(), 2u) << policy;
    EXPECT_EQ(drops_.drops, 1);
    EXPECT_EQ(drops_.files, 2u);
    EXPECT_EQ(drops_.cells, 4u);
    EXPECT_NE(drops_.last.find("2 files dropped, 4 cells, "), std::string::npos) << drops_.last;
    EXPECT_NE(drops_.last.find("all cells have expired"), std::string::npos) << drops_.last;
    EXPECT_EQ(engine_->status().files_dropped, 2u);
    EXPECT_EQ(all(), "4");
    EXPECT_EQ(get(*table_, Get("a")).size(), 0u);
    table_.reset();
    EXPECT_OK(engine_->close());
    open_store(policy);
    EXPECT_EQ(files(), 2u) << "the manifest knows";
    EXPECT_EQ(all(), "4");
    table_.reset();
  }
}

TEST_F(DroppedFilesTest, NothingIsRead) {
  FaultFileSystem& faults = watch_files();
  open_store("none");
  flush_of("a", "1");
  clock_.advance_ms(kHourMs + 1);
  const uint64_t reads = faults.count(kAllReads);
  EXPECT_OK(table_->compact());
  EXPECT_EQ(files(), 0u);
  EXPECT_EQ(faults.count(kAllReads), reads);
}

TEST_F(DroppedFilesTest, MajorCompactionsDoNotReadThemEither) {
  open_store("none", 3600, false);
  flush_of("a", "1");
  clock_.advance_ms(kHourMs + 1);
  flush_of("b", "2");
  flush_of("c", "3");
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(drops_.drops, 1);
  EXPECT_EQ(drops_.others, 1) << "what is left is merged";
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(all(), "3");
}

TEST_F(DroppedFilesTest, NothingLeavesWholeIfTheEngineIsToldSo) {
  open({.drop_expired_files = false});
  FamilyOptions f = family("f");
  f.compaction = "none";
  f.ttl_s = 3600;
  table_ = make_table("t", {f});
  flush_of("a", "1");
  clock_.advance_ms(2 * kHourMs);
  flush_of("b", "2");
  EXPECT_EQ(files(), 2u);
  EXPECT_OK(table_->major_compact());
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(engine_->status().files_dropped, 0u);
}

// A family with min_versions keeps some versions although they have expired.
TEST_F(DroppedFilesTest, FamiliesThatKeepExpiredVersionsKeepTheirFiles) {
  alter_ = [](FamilyOptions family) {
    family.min_versions = 1;
    return family;
  };
  open_store("none");
  flush_of("a", "1");
  clock_.advance_ms(2 * kHourMs);
  flush_of("b", "2");
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(value_of(*table_, Get("a"), "f", "q"), "1");
}

TEST_F(DroppedFilesTest, FamiliesThatOrderDeletesBySequenceKeepTheirFiles) {
  alter_ = [](FamilyOptions family) {
    family.delete_order = MarkerOrder::kSequence;
    return family;
  };
  open_store("none");
  flush_of("a", "1");
  clock_.advance_ms(2 * kHourMs);
  flush_of("b", "2");
  EXPECT_EQ(files(), 2u);
}

TEST_F(DroppedFilesTest, OneCellThatIsAliveKeepsTheFile) {
  open_store("none");
  EXPECT_OK(table_->put(Put("late").add_at("f", "q", clock_.wall_ms() + 5, "v")));
  flush_of("a", "1");
  clock_.advance_ms(kHourMs + 5);
  flush_of("b", "2");
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(value_of(*table_, Get("late"), "f", "q"), "v");
  clock_.advance_ms(1);
  flush_of("c", "3");
  EXPECT_EQ(files(), 2u);
}

// A marker of the whole column is as old as its timestamp, not as old as what it hides.
TEST_F(DroppedFilesTest, AMarkerLeavesOnlyWithWhatItHides) {
  open_store("none");
  flush_of("a", "1");
  clock_.advance_ms(kHourMs / 2);
  EXPECT_OK(table_->erase(Delete("a")));
  flush();
  clock_.advance_ms(kHourMs / 2 + 1);
  flush_of("b", "2");
  EXPECT_EQ(files(), 2u) << "the put has left, the marker has not";
  EXPECT_EQ(get(*table_, Get("a")).size(), 0u);
  clock_.advance_ms(kHourMs / 2);
  flush_of("c", "3");
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(get(*table_, Get("a")).size(), 0u);
}

// A clock that has leapt ahead hides cells, and drops no file until it has kept that time for an hour.
TEST_F(DroppedFilesTest, AClockThatIsNotBelievedDropsNothing) {
  open_store("none");
  flush_of("a", "1");
  clock_.set_wall_ms(clock_.wall_ms() + 100 * kHourMs);
  flush_of("b", "2");
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(get(*table_, Get("a")).size(), 0u);
  clock_.set_wall_ms(clock_.wall_ms() - 100 * kHourMs);
  EXPECT_EQ(value_of(*table_, Get("a"), "f", "q"), "1");
  clock_.set_wall_ms(clock_.wall_ms() + 100 * kHourMs);
  flush_of("c", "3");
  clock_.advance_us(ExpiryClock::kBelievedAfterUs);
  flush_of("d", "4");
  EXPECT_EQ(files(), 3u);
  EXPECT_EQ(drops_.files, 1u);
}

TEST_F(DroppedFilesTest, SnapshotsAndCopiesGoOn) {
  open_store("none");
  flush_of("a", "1");
  const std::shared_ptr<const Snapshot> snapshot = engine_->snapshot().value();
  EXPECT_OK(engine_->named_snapshots().create("kept").status());
  auto scanner = table_->scan(Scan());
  ASSERT_TRUE(scanner.ok());
  clock_.advance_ms(kHourMs + 1);
  flush_of("b", "2");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(get(*table_, Get("a").snapshot(snapshot)).size(), 0u) << "the cells have expired for everybody";
  uint64_t rows = 0;
  for ([[maybe_unused]] const RowView row : **scanner) ++rows;
  EXPECT_EQ(rows, 2u) << "it goes on with the files and the time that it began with";
  EXPECT_OK((*scanner)->status());
  const auto opened = engine_->named_snapshots().open("kept");
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  EXPECT_EQ((*opened)->open_table("t").value()->info().families.at(0).files.size(), 1u);
}

// A store of three files is too large for two of them. The oldest one goes, but not for the snapshot.
TEST_F(DroppedFilesTest, LiveFilesStayForOpenSnapshots) {
  open_store("fifo", 0);
  flush_of("a", "1");
  clock_.advance_ms(1);
  flush_of("b", "2");
  clock_.advance_ms(1);
  const std::shared_ptr<const Snapshot> snapshot = engine_->snapshot().value();
  uint64_t bytes = 0;
  const FamilyInfo info = table_->info().families.at(0);
  for (const StoreFileInfo& file : info.files) bytes += file.bytes;
  FamilyOptions smaller = info.options;
  smaller.compaction = "fifo(bytes_max=" + std::to_string(bytes) + ")";
  EXPECT_OK(engine_->alter_family("t", smaller));
  flush_of("c", "3");
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(drops_.files, 1u);
  EXPECT_NE(drops_.last.find("the oldest files leave"), std::string::npos) << drops_.last;
  EXPECT_EQ(get(*table_, Get("a")).size(), 0u);
  EXPECT_EQ(value_of(*table_, Get("b"), "f", "q"), "2");
  EXPECT_EQ(value_of(*table_, Get("a").snapshot(snapshot), "f", "q"), "1");
  EXPECT_EQ(value_of(*table_, Get("all").snapshot(snapshot), "f", "q"), "2");
  EXPECT_EQ(get(*table_, Get("all").versions(9)).size(), 2u);
}

// An older version would show if its newer one left. The file stays, and so does the answer.
TEST_F(DroppedFilesTest, NoOlderVersionShowsInPlaceOfALiveFile) {
  open_store("fifo(bytes_max=1)", 0, false);
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 100, "newer")));
  flush();
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 50, "older")));
  flush();
  EXPECT_OK(table_->compact());
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(value_of(*table_, Get("r"), "f", "q"), "newer");
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 200, "newest")));
  flush();
  EXPECT_OK(table_->put(Put("r").add_at("f", "q", 150, "in memory")));
  EXPECT_OK(table_->compact());
  EXPECT_EQ(files(), 1u) << "the put in memory is newer than both";
  EXPECT_EQ(value_of(*table_, Get("r"), "f", "q"), "newest");
}

// The rows that are stored, also those that have expired.
using StoredRows = std::map<std::string, std::string>;

StoredRows stored_rows(Engine& engine) {
  StoredRows stored;
  for (const std::string& name : engine.list_tables()) {
    const auto table = engine.open_table(name).value();
    auto scanner = table->scan(Scan().raw(true));
    if (!scanner.ok()) return {{"error", scanner.status().to_text()}};
    stored[name] = "there";
    for (const RowView row : **scanner)
      stored[name + "/" + std::string(row.row())] = row.cells().front().value_bytes();
    if (!(*scanner)->status().ok()) stored["error"] = (*scanner)->status().to_text();
  }
  return stored;
}

FamilyOptions dropping_family(int64_t ttl_s) {
  FamilyOptions family;
  family.name = "d";
  family.compaction = "fifo(bytes_max=1)";
  if (ttl_s != 0) family.ttl_s = ttl_s;
  return family;
}

EngineStep put_at(const std::string& row, int64_t time) {
  return [row, time](Engine& engine) -> Status {
    CELLAR_TRY_ASSIGN(const auto table, engine.open_table("t"));
    return table->put(Put(row).add_at("d", "q", time, "v"));
  };
}

Status flush_all(Engine& engine) { return engine.flush(); }

Status compact_table(Engine& engine) {
  CELLAR_TRY_ASSIGN(const auto table, engine.open_table("t"));
  return table->compact();
}

// The time to live makes "a" expire. The policy drops "b", the older one of two live files.
TEST(DroppedFilesCrash, AFileIsThereOrGone) {
  const auto create = [](Engine& engine) {
    TableOptions options{.families = {dropping_family(0)}};
    options.compaction_enabled = false;  // only the steps compact
    return engine.create_table("t", options).status();
  };
  const auto expire = [](Engine& engine) { return engine.alter_family("t", dropping_family(50'000'000)); };
  const std::vector<EngineStep> steps = {create,        put_at("a", 1'600'000'000'000),
                                         flush_all,     expire,
                                         compact_table, put_at("b", 1'760'000'000'000),
                                         flush_all,     put_at("c", 1'760'000'000'001),
                                         flush_all,     compact_table};
  StepSweep<StoredRows> sweep(steps, stored_rows);
  EXPECT_EQ(sweep.last_world(), (StoredRows{{"t", "there"}, {"t/c", "v"}}));
  count(sweep.run(scaled(400)), "crashes around files that are dropped");
}

}  // namespace
}  // namespace cellar::testing
