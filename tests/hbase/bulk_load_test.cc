// Goal: a bulk load gives each region of a cluster its files. Files that cannot be loaded are refused before
// any other is. A failure says what was loaded. Method: the client against a small server that counts loads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <climits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cellar/cellar.h"
#include "cellar/hfile_builder.h"
#include "hbase/client/cluster_engine.h"
#include "tests/hbase/fake_cluster.h"
#include "tests/hbase/fake_hdfs.h"
#include "tests/support/scratch_directory.h"

namespace cellar {
namespace {

using testing::FakeCluster;
using testing::FakeHdfs;
using testing::remote_exception;
using Fault = FakeCluster::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ClusterBulkLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    auto engine = hbase::open_cluster(server_.name(), {});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = std::move(engine).value();
    const auto table = engine_->open_table("t");
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *table;
    ASSERT_TRUE(posix_file_system().open_directory(scratch_.path() + "/f", true).ok());
  }

  // Writes a file with a cell in each row, and returns its path.
  std::string file(const std::string& name, const std::vector<std::string>& rows,
                   const std::string& family = "f") {
    const std::string path = scratch_.path() + "/f/" + name;
    auto builder = HFileBuilder::create(posix_file_system(), path, {});
    EXPECT_TRUE(builder.ok()) << builder.status();
    for (const std::string& row : rows) {
      Cell cell;
      cell.row = row;
      cell.family = family;
      cell.qualifier = "q";
      cell.timestamp = 7;
      cell.value = "v";
      EXPECT_TRUE(builder->add(cell).ok());
    }
    EXPECT_TRUE(builder->finish().ok());
    return path;
  }
  static IngestRequest request(const std::vector<std::string>& paths) {
    IngestRequest request;
    for (const std::string& path : paths) request.files.push_back({"f", path});
    return request;
  }
  // The table of a client that soon gives up.
  std::shared_ptr<Table> hasty_table() {
    hasty_ = hbase::open_cluster(server_.name("timeout_ms=300"), {}).value();
    return hasty_->open_table("t").value();
  }
  bool exists(const std::string& path) const { return posix_file_system().open_file(path).ok(); }

  FakeCluster server_;  // regions from "" and from "m"
  testing::ScratchDirectory scratch_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> hasty_;
  std::shared_ptr<Table> table_;
};

TEST_F(ClusterBulkLoad, EachRegionLoadsItsFilesAtOnce) {
  const std::string low = file("low", {"a", "c"});
  const std::string more = file("more", {"b", "lzzz"});
  const std::string high = file("high", {"m", "z"});
  const std::string none = file("none", {});
  const auto info = table_->ingest(request({low, more, high, none}));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(server_.loads(), ::testing::UnorderedElementsAre(" f file://" + low + " (copied)",
                                                               " f file://" + more + " (copied)",
                                                               "m f file://" + high + " (copied)"));
  EXPECT_EQ(server_.calls("BulkLoadHFile"), 2);
  EXPECT_EQ(server_.calls("PrepareBulkLoad"), 1);
  EXPECT_EQ(server_.calls("CleanupBulkLoad"), 1);
  EXPECT_EQ(info->cells, 6u);
  EXPECT_EQ(info->files.size(), 3u);
  EXPECT_THAT(info->empty, ElementsAre(none));
  EXPECT_TRUE(exists(low));
}

TEST_F(ClusterBulkLoad, ServersMayFindTheFilesElsewhere) {
  const std::string low = file("low", {"a"});
  IngestRequest asked = request({"file://" + low});
  asked.servers_directory = "hdfs://nn/staging/t//";
  asked.move = true;
  const auto info = table_->ingest(asked);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(server_.loads(), ElementsAre(" f hdfs://nn/staging/t/f/low"));
  EXPECT_FALSE(exists(low));
  EXPECT_THAT(info->remained, IsEmpty());
}

TEST_F(ClusterBulkLoad, WhatCannotBeLoadedIsRefusedBeforeAnythingIs) {
  const std::string low = file("low", {"a"});
  Status status = table_->ingest(request({low, file("wide", {"b", "m"})})).status();
  EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("its rows are in 2 regions of table t; nothing was loaded"));
  EXPECT_THAT(status.hint(),
              HasSubstr("cellar split " + scratch_.path() + "/f/wide -o DIRECTORY --at 'm', "));
  status = table_->ingest(request({low, file("other", {"b"}, "g")})).status();
  EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("family \"g\""));
  status = table_->ingest(request({low, "relative/path"})).status();
  EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status;
  status = table_->ingest(request({"hdfs://nn/f/low"})).status();
  EXPECT_THAT(status.hint(), HasSubstr("servers_directory")) << status;
  EXPECT_TRUE(table_->ingest(request({low, scratch_.path() + "/f/absent"})).status().is(Code::kNotFound));
  IngestRequest unknown = request({low});
  unknown.files[0].family = "g";
  EXPECT_TRUE(table_->ingest(unknown).status().is(Code::kInvalidArgument));
  IngestRequest quick = request({low});
  quick.verify = HFileCheckLevel::kBlocks;
  EXPECT_TRUE(table_->ingest(quick).status().is(Code::kInvalidArgument));
  IngestRequest cancelled = request({low});
  cancelled.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_TRUE(table_->ingest(cancelled).status().is(Code::kAborted));
  EXPECT_EQ(server_.calls("PrepareBulkLoad"), 0);
  EXPECT_EQ(server_.calls("BulkLoadHFile"), 0);
}

TEST_F(ClusterBulkLoad, AStoreHasNoServersThatLookElsewhere) {
  const auto store = Engine::open(scratch_ / "store", {.create_if_missing = true});
  ASSERT_TRUE(store.ok()) << store.status();
  const auto table = (*store)->create_table("t", {.families = {{.name = "f"}}});
  ASSERT_TRUE(table.ok()) << table.status();
  IngestRequest asked = request({file("low", {"a"})});
  asked.servers_directory = "hdfs://nn/staging/t";
  EXPECT_TRUE((*table)->ingest(asked).status().is(Code::kInvalidArgument));
  asked.servers_directory.clear();
  EXPECT_TRUE((*table)->ingest(asked).ok());
}

TEST_F(ClusterBulkLoad, ARefusalNamesTheFileAndWhatWasLoaded) {
  server_.refuse_loads(INT_MAX);
  const std::shared_ptr<Table> hasty = hasty_table();
  const Status status = hasty->ingest(request({file("low", {"a"})})).status();
  EXPECT_TRUE(status.is(Code::kIoError)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/f/low of the region from row \"\"; nothing was loaded"));
  EXPECT_THAT(status.hint(), HasSubstr("its log says why"));
  EXPECT_THAT(status.hint(), Not(HasSubstr("chown")));
  EXPECT_LT(server_.calls("BulkLoadHFile"), 7) << "with pauses until the time is up";
  EXPECT_EQ(server_.calls("CleanupBulkLoad"), 1);
  IngestRequest moved = request({file("other", {"a"})});
  moved.move = true;
  EXPECT_THAT(hasty->ingest(moved).status().hint(), HasSubstr("must also own them: hdfs dfs -chown"));
}

// A region that is being closed is such a one.
TEST_F(ClusterBulkLoad, ARefusalThatPassesIsNoFailure) {
  const std::string low = file("low", {"a", "b"});
  server_.refuse_loads(3);
  const auto info = table_->ingest(request({low}));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(server_.calls("BulkLoadHFile"), 4);
  EXPECT_EQ(server_.loads().size(), 1u);
}

TEST_F(ClusterBulkLoad, FilesFollowRegionsThatSplit) {
  const std::string low = file("low", {"a", "b"});
  const std::string mid = file("mid", {"e", "f"});
  server_.refuse_loads(1, {{"", "d", 3}, {"d", "m", 4}, {"m", "", 2}});
  const auto info = table_->ingest(request({low, mid}));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(server_.loads(), ::testing::UnorderedElementsAre(" f file://" + low + " (copied)",
                                                               "d f file://" + mid + " (copied)"));
  // A region that splits within a file: what the other regions have loaded is told.
  server_.refuse_loads(1, {{"", "b", 5}, {"b", "d", 6}, {"d", "m", 4}, {"m", "", 2}});
  const Status status = table_->ingest(request({low})).status();
  EXPECT_TRUE(status.is(Code::kInvalidArgument)) << status;
  EXPECT_THAT(status.hint(), HasSubstr("--at 'b'"));
}

TEST_F(ClusterBulkLoad, LostAnswersAreRepeatedForCopiesAlone) {
  const std::string low = file("low", {"a"});
  server_.fail("BulkLoadHFile", Fault::kDropAfter);
  auto info = table_->ingest(request({low}));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(server_.loads().size(), 2u);
  server_.fail("BulkLoadHFile", Fault::kException, "org.apache.hadoop.hbase.NotServingRegionException");
  EXPECT_TRUE(table_->ingest(request({low})).ok());
  server_.fail("BulkLoadHFile", Fault::kDropAfter);
  IngestRequest moved = request({low});
  moved.move = true;
  const Status status = table_->ingest(moved).status();
  EXPECT_TRUE(status.is(Code::kDurabilityUnknown)) << status;
  EXPECT_TRUE(exists(low));
}

#ifdef CELLAR_WITH_WEBHDFS

class BulkLoadThroughHdfs : public ClusterBulkLoad {
 protected:
  IngestRequest through_hdfs(const std::vector<std::string>& paths) const {
    IngestRequest asked = request(paths);
    asked.servers_directory = fmt::format("webhdfs://127.0.0.1:{}/staging", hdfs_.port());
    return asked;
  }
  // The directory of the load in the first request to HDFS, such as "/staging/load-0123456789abcdef".
  std::string directory() const {
    const std::string target = hdfs_.requests().at(0);
    const size_t begin = target.find("/staging/load-");
    return target.substr(begin, target.find_first_of("/?", begin + 9) - begin);
  }

  FakeHdfs hdfs_;
};

TEST_F(BulkLoadThroughHdfs, FilesAreWrittenAndMovedAndTheRestIsRemoved) {
  const std::string low = file("low", {"a", "c"});
  const std::string high = file("high", {"m"});
  const auto info = table_->ingest(through_hdfs({low, high}));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->cells, 3u);
  EXPECT_THAT(server_.loads(),
              ::testing::UnorderedElementsAre(" f " + directory() + "/f/1", "m f " + directory() + "/f/2"));
  EXPECT_FALSE(hdfs_.exists(directory()));
  EXPECT_TRUE(hdfs_.is_directory("/staging"));
  EXPECT_TRUE(exists(low) && exists(high)) << "the files of this machine stay";
  IngestRequest moved = through_hdfs({low});
  moved.move = true;
  EXPECT_TRUE(table_->ingest(moved).ok());
  EXPECT_FALSE(exists(low));
}

TEST_F(BulkLoadThroughHdfs, WhatHdfsRefusesIsNotLoaded) {
  const std::string low = file("low", {"a", "c"});
  const std::string more = file("more", {"b"});
  hdfs_.answer(FakeHdfs::Node::kData,
               {.status = 403, .body = remote_exception("AccessControlException", "no")});
  const Status refused = table_->ingest(through_hdfs({low, more})).status();
  EXPECT_TRUE(refused.is(Code::kReadOnly)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("nothing was loaded"));
  EXPECT_FALSE(hdfs_.exists(directory()));
  IngestRequest cancelled = through_hdfs({low, more});
  uint64_t calls = 0;
  cancelled.progress = [&](uint64_t, uint64_t) { return ++calls < 4; };  // two are about the verified files
  EXPECT_TRUE(table_->ingest(cancelled).status().is(Code::kAborted));
  EXPECT_EQ(server_.calls("BulkLoadHFile"), 0);
  IngestRequest invalid = request({low});
  invalid.servers_directory = "webhdfs://";
  EXPECT_TRUE(table_->ingest(invalid).status().is(Code::kInvalidArgument));
}

TEST_F(BulkLoadThroughHdfs, AFileIsWrittenAgainIfAServerOfHdfsWasLost) {
  const std::string low = file("low", {"a", "c"});
  hdfs_.answer(FakeHdfs::Node::kData, {.status = 500}, 2);
  hdfs_.answer(FakeHdfs::Node::kName, {.status = 403, .body = remote_exception("SafeModeException", "wait")},
               2);
  const auto info = table_->ingest(through_hdfs({low}));
  EXPECT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(server_.loads().size(), 1u);
  hdfs_.answer(FakeHdfs::Node::kData, {.status = 500}, 100);
  const Status lost = table_->ingest(through_hdfs({low})).status();
  EXPECT_TRUE(lost.is(Code::kIoError)) << lost;
  EXPECT_THAT(std::string(lost.message()), HasSubstr("failed in 6 attempts"));
  EXPECT_EQ(server_.loads().size(), 1u);
}

TEST_F(BulkLoadThroughHdfs, ServersThatRefuseOrDoNotAnswer) {
  const std::string low = file("low", {"a", "c"});
  server_.refuse_loads(INT_MAX);
  const Status refused = hasty_table()->ingest(through_hdfs({low})).status();
  EXPECT_TRUE(refused.is(Code::kIoError)) << refused;
  EXPECT_THAT(refused.hint(), HasSubstr("HBase must keep its own files in the same HDFS"));
  EXPECT_FALSE(hdfs_.exists(directory()));
  server_.refuse_loads(0);
  server_.fail("BulkLoadHFile", Fault::kDropAfter);
  EXPECT_TRUE(table_->ingest(through_hdfs({low})).status().is(Code::kDurabilityUnknown));
  EXPECT_TRUE(table_->ingest(through_hdfs({low})).ok());
}

#endif  // CELLAR_WITH_WEBHDFS

}  // namespace
}  // namespace cellar
