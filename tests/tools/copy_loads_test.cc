// Goal: a copy that loads HFiles brings the same cells and markers as a copy in batches, into the regions of
// the table. It leaves no files, and goes on where it ended. Method: the real program copies to stores and to
// a served store. Tables lose answers, or their regions change during a load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cellar/cellar.h"
#include "tests/support/forwarding_table.h"
#include "tests/support/scratch_directory.h"
#include "tests/tools/tool_runner.h"
#include "tools/frame/output.h"
#include "tools/transfer/load_sink.h"
#include "tools/transfer/table_copy.h"

namespace cellar::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class CopyLoads : public ToolTest {
 protected:
  // Two families, versions, markers of rows and columns, and a time to live. No compaction drops anything.
  void make_store() const {
    out_of({"create", "shop", "orders", "d:max_versions=3,bloom=rowcol,encoding=fast_diff,compaction=none",
            "c:compaction=none"});
    out_of({"load", "shop", "orders", "-"}, lines_of_rows("row", 3000, 1000));
    for (const char* const time : {"1", "2", "3"})
      out_of({"put", "shop", "orders", "row10500", "d:name", std::string("Ada ") + time, "--ts", time});
    out_of({"put", "shop", "orders", "row11000", "c:seen", "x", "--ttl", "90d"});
    out_of({"delete", "shop", "orders", "row10500", "d:name", "--ts", "2"});
    out_of({"deleteall", "shop", "orders", "row12500"});
  }
  std::string cells_of(const std::string& store, const std::string& table = "orders", bool raw = true) const {
    std::vector<std::string> words = {"export", store, table, "--tags", "--quiet"};
    if (raw) words.emplace_back("--raw");
    return out_of(words);
  }
  uint64_t files_in(const std::string& directory) const {
    return static_cast<uint64_t>(
        std::distance(fs::directory_iterator(path(directory)), fs::directory_iterator()));
  }
};

TEST_F(CopyLoads, AStoreAdoptsTheFiles) {
  make_store();
  const Json copied = json_of({"copy", "shop", "copied", "--raw", "--staging", "files"});
  EXPECT_EQ(copied["tables"][0]["rows"], 3000);
  EXPECT_EQ(copied["tables"][0]["compared"]["ranges_different"], 0);
  EXPECT_EQ(cells_of("copied"), cells_of("shop"));
  const Json parts = json_of(
      {"copy", "shop", "copied", "orders", "--as", "parts", "--raw", "--staging", "files", "--batch", "1m"});
  EXPECT_EQ(parts["tables"][0]["compared"]["ranges_different"], 0);
  EXPECT_EQ(cells_of("copied", "parts"), cells_of("shop"));
  EXPECT_EQ(files_in("files"), 0u) << "the files are the store's, or removed";
  EXPECT_EQ(json_of({"wal", "dump", "copied"})["records"].dump().find("Ada"), std::string::npos)
      << "the cells do not pass the log";
}

TEST_F(CopyLoads, EachRegionOfAClusterGetsItsFiles) {
  if (!builds_serve()) return;
  make_store();
  write_file("splits", "row10400\nrow11000\nrow11001\nrow12000\n");
  const ToolResult copied = on_cluster(
      "set -e\n"
      "cellar copy shop $H --raw --staging files --splits splits --state s\n"
      "cellar copy shop $H orders --as parts --raw --staging files --batch 1m --splits splits\n"
      "cellar copy shop $H orders --as cut --staging files --regions 3\n"
      "cellar copy $H $H cut --as again --staging files\n"
      "cellar copy shop $H orders --as cut --into-existing --staging files --regions 7\n");
  ASSERT_EQ(copied.exit, 0) << copied.err;
  EXPECT_THAT(copied.err,
              AllOf(HasSubstr("they are equal"), HasSubstr("table cut exists and keeps its own")));
  EXPECT_EQ(cells_of("served"), cells_of("shop"));
  EXPECT_EQ(cells_of("served", "parts"), cells_of("shop"));
  EXPECT_EQ(cells_of("served", "cut", false), cells_of("shop", "orders", false));
  const auto borders = [&](const std::string& table) {
    const ToolResult told = on_cluster("cellar shell $H -c \"get_splits '" + table + "'\"");
    EXPECT_EQ(told.exit, 0) << told.err;
    return told.out;
  };
  EXPECT_THAT(borders("orders"), HasSubstr("row11001"));
  const std::string cut = borders("cut");
  EXPECT_EQ(std::ranges::count(cut, '\n'), std::ranges::count(borders("again"), '\n'));
  EXPECT_EQ(borders("again"), cut) << "a copy of a cluster's table has its regions";
  EXPECT_EQ(files_in("files"), 0u);
}

// A server with this setting refuses the last file, after it has loaded others.
TEST_F(CopyLoads, ItGoesOnWhereAServerRefusedAFile) {
  if (!builds_serve()) return;
  make_store();
  write_file("large", std::string(2'000'000, 'l'));
  out_of({"put", "shop", "orders", "row99999", "--from-file", "d:q=large", "--ts", "7"});
  const std::string command = "cellar copy shop $H orders --raw --staging files --batch 1m --state s";
  const ToolResult broken = on_cluster(command, "CELLAR_ENGINE=cell_bytes_max=1m");
  EXPECT_NE(broken.exit, 0);
  EXPECT_THAT(broken.err, HasSubstr("s tells how far the copy is"));
  EXPECT_EQ(files_in("files"), 0u) << "an error leaves no files";
  const ToolResult again = on_cluster(command);  // at another port
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("going on at row row1"), HasSubstr("copied 3,001 rows")));
  EXPECT_EQ(cells_of("served"), cells_of("shop"));
}

TEST_F(CopyLoads, WhatDoesNotFitIsRefused) {
  make_store();
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"copy", "shop"});
    const ToolResult refused = run(words);
    EXPECT_EQ(refused.exit, 2) << refused.err;
    return refused.err;
  };
  EXPECT_THAT(refusal({"copied", "--staging", "webhdfs://nn:9870/x"}), HasSubstr("a store cannot read"));
  EXPECT_THAT(refusal({"copied", "--staging", "f", "--servers-staging", "hdfs:/x"}),
              HasSubstr("--servers-staging is for a directory that --staging shares with a cluster"));
  EXPECT_THAT(refusal({"hbase://localhost:1", "--staging", "swebhdfs://nn/x"}),
              HasSubstr("the form is webhdfs://"));
  EXPECT_THAT(refusal({"copied", "--scratch", "f"}), HasSubstr("--scratch is for --staging webhdfs://"));
  EXPECT_THAT(refusal({"copied", "--regions", "3"}), HasSubstr("a store has no regions"));
  EXPECT_THAT(refusal({"copied", "--staging", "f", "--batch", "64k"}), HasSubstr("from 1m to 1t"));
  EXPECT_THAT(refusal({"copied", "--staging", "f", "--verify", "only"}), HasSubstr("copies nothing"));
  EXPECT_THAT(refusal({"hbase://localhost:1", "--regions", "0"}), HasSubstr("from 1 to 100000"));
  EXPECT_THAT(refusal({"hbase://localhost:1", "--regions", "3", "--splits", "f"}),
              HasSubstr("contradict each other"));
  EXPECT_FALSE(fs::exists(path("copied")));
  EXPECT_FALSE(fs::exists(path("f")));
}

TEST_F(CopyLoads, AServerLoadsOnlyBelowItsDirectory) {
  if (!builds_serve()) return;
  make_store();
  out_of({"create", "other", "t", "d"});
  fs::create_directory(path("inside"));
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "exported", "--quiet"});
  fs::create_directory_symlink("../exported", path("inside") / "link");
  const ToolResult refused = shell(
      "cellar serve other --port 0 --for 60s --load-from inside >other.txt & server=$!\n"
      "for i in $(seq 200); do grep -q serving other.txt && break; sleep 0.05; done\n"
      "H=hbase://$(sed 's/.* at //' other.txt)\n"
      "cellar copy shop $H orders --staging outside; code=$?\n"
      "cellar copy shop $H orders --as good --staging inside || code=99\n"
      "cellar bulkload ingest inside/link $H good && code=98\n"
      "kill -TERM $server; wait $server; exit $code");
  EXPECT_EQ(refused.exit, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("is not there, or outside of the directory of --load-from"));
  fs::permissions(path("inside"), fs::perms::all);
  EXPECT_THAT(run({"serve", "other", "--load-from", "inside"}).err, HasSubstr("every user may write"));
}

// The directory and its files are open to the servers' user, and no link in it is followed.
TEST(LoadPlaceTest, ServersCanReadTheFilesAndLinksAreNotFollowed) {
  const ScratchDirectory scratch;
  const fs::path staging = fs::path(scratch.path()) / "staging";
  const auto place = LoadPlace::open({.staging = staging, .copy = 7, .for_cluster = true}).value();
  const fs::path family = fs::path(place->next_directory()) / "d";
  fs::create_directories(family);
  std::ofstream(family / "file") << "";
  fs::permissions(family / "file", fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(place->open_to_servers().ok());
  const auto mode = [](const fs::path& path) { return static_cast<int>(fs::status(path).permissions()); };
  EXPECT_EQ(mode(staging) & 0011, 0011);
  for (const fs::path& each : {family.parent_path().parent_path(), family.parent_path(), family})
    EXPECT_EQ(mode(each), 0755) << each;
  EXPECT_EQ(mode(family / "file"), 0666);
  const fs::path target = fs::path(scratch.path()) / "target";
  std::ofstream(target) << "";
  fs::permissions(target, fs::perms::owner_read);
  fs::create_symlink(target, family / "link");
  EXPECT_TRUE(place->open_to_servers().is(Code::kIoError));
  EXPECT_EQ(mode(target), 0400);
}

// A table whose regions change, or whose answers are lost, at chosen loads.
class TroubledTable final : public ForwardingTable {
 public:
  using ForwardingTable::ForwardingTable;

  Result<std::vector<std::string>> region_starts() override {
    if (asked_++ >= askings_max_) return Status::busy("meta is busy");
    return starts_;
  }

  Result<IngestInfo> ingest(const IngestRequest& request) override {
    ++loads_;
    if (std::exchange(split_next_, false)) starts_ = {"", "b", "m"};
    for (const IngestFile& file : request.files) {
      const HFileFacts facts = HFile::open(file.path).value().facts();
      const auto region = [&](const std::string& row) { return std::ranges::upper_bound(starts_, row); };
      if (region(facts.first_row) != region(facts.last_row))
        return Status::invalid_argument("its rows are in several regions");
    }
    files_ = request.files.size();
    Result<IngestInfo> done = ForwardingTable::ingest(request);
    if (std::exchange(lose_next_, false)) return Status::durability_unknown("the answer was lost");
    return done;
  }

  std::vector<std::string> starts_ = {"", "m"};
  int asked_ = 0;
  int askings_max_ = INT_MAX;
  bool split_next_ = false;
  bool lose_next_ = false;
  int loads_ = 0;
  size_t files_ = 0;  // of the last load
};

class LoadSink : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.create_if_missing = true;
    engine_ = Engine::open(scratch_.path() + "/store", options).value();
    from_ = engine_->create_table("from", {.families = {{.name = "d", .max_versions = 9}}}).value();
    to_ = engine_->create_table("to", {.families = {{.name = "d", .max_versions = 9, .compaction = "none"}}})
              .value();
    for (const char* const row : {"a", "b", "c", "m", "z"})
      for (int64_t time = 1; time <= 3; ++time)
        ASSERT_TRUE(from_->put(Put(row).add_at("d", "q", time, "value")).ok());
    ASSERT_TRUE(from_->erase(Delete("c").column("d", "q", 2)).ok());
    place_ = LoadPlace::open({.staging = scratch_.path() + "/files", .copy = 7}).value();
    plan_.scan.raw(true).versions(UINT32_MAX);
  }
  void TearDown() override {
    place_.reset();
    EXPECT_TRUE(fs::is_empty(scratch_.path() + "/files"));
    from_.reset();
    to_.reset();
    EXPECT_TRUE(engine_->close().ok());
    ::close(null_);
  }

  Status copy(Table& to) {
    auto sink = make_load_sink(session_, to, *place_);
    if (!sink.ok()) return sink.status();
    CopyProgress progress;
    return copy_cells(session_, *from_, plan_, **sink, progress, [] { return Status(); });
  }
  static uint64_t stored(Table& table) {
    return table.count(Scan().raw(true).versions(UINT32_MAX)).value().cells;
  }

  ScratchDirectory scratch_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<Table> from_;
  std::shared_ptr<Table> to_;
  std::unique_ptr<LoadPlace> place_;
  CopyPlan plan_;
  const int null_ = ::open("/dev/null", O_WRONLY);
  Output out_{null_};
  Session session_{out_};
};

TEST_F(LoadSink, FilesAreWrittenAgainForRegionsThatWereSplit) {
  TroubledTable to(to_);
  to.split_next_ = true;
  const Status copied = copy(to);
  EXPECT_TRUE(copied.ok()) << copied;
  EXPECT_EQ(to.loads_, 2);
  EXPECT_EQ(to.files_, 3u);
  EXPECT_EQ(stored(*to_), stored(*from_));
}

TEST_F(LoadSink, ALoadWithoutAnAnswerIsRepeated) {
  TroubledTable to(to_);
  to.lose_next_ = true;
  EXPECT_TRUE(copy(to).ok());
  EXPECT_EQ(to.loads_, 2);
  EXPECT_EQ(to_->count(Scan().versions(UINT32_MAX)).value().cells,
            from_->count(Scan().versions(UINT32_MAX)).value().cells);
}

// The last load counts, although meta is busy afterwards.
TEST_F(LoadSink, NothingIsAskedAfterTheLastLoad) {
  TroubledTable to(to_);
  to.askings_max_ = 1;
  const Status copied = copy(to);
  EXPECT_TRUE(copied.ok()) << copied;
  EXPECT_EQ(stored(*to_), stored(*from_));
}

TEST_F(LoadSink, AnErrorThatStaysIsReturned) {
  TroubledTable to(to_);
  ASSERT_TRUE(engine_->alter_table("to", {.read_only = true}).ok());
  EXPECT_TRUE(copy(to).is(Code::kReadOnly));
  EXPECT_EQ(to.loads_, 1);
  EXPECT_EQ(stored(*to_), 0u);
}

TEST_F(LoadSink, APlaceIsForOneRunAtATime) {
  const auto second = LoadPlace::open({.staging = scratch_.path() + "/files", .copy = 7});
  EXPECT_TRUE(second.status().is(Code::kLocked)) << second.status();
  EXPECT_TRUE(LoadPlace::open({.staging = scratch_.path() + "/files", .copy = 8}).ok());
}

// A process that is killed leaves its files and its lock file. The next run of the same copy removes them.
TEST(LoadPlaceTest, FilesOfAKilledRunAreRemoved) {
  const ScratchDirectory scratch;
  const fs::path left = fs::path(scratch.path()) / "cellar-copy-0000000000000007";
  const fs::path other = fs::path(scratch.path()) / "cellar-copy-0000000000000008";
  for (const fs::path& each : {left, other}) fs::create_directories(each / "1" / "d");
  std::ofstream(left.string() + ".lock") << "";
  {
    const auto place = LoadPlace::open({.staging = scratch.path(), .copy = 7});
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_TRUE(fs::is_empty(left));
    EXPECT_EQ(fs::status(left).permissions(), fs::perms::owner_all) << "before servers are let in";
  }
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(left.string() + ".lock"));
  EXPECT_TRUE(fs::exists(other / "1" / "d")) << "another copy may be running";
}

}  // namespace
}  // namespace cellar::testing
