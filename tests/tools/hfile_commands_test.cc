// Goal: inspect, dump and verify tell the truth about files of HBase's, of ours, damaged ones and ones that
// are none. Method: files of the repository, whole and with one byte changed; counts known from their making.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class HFileCommands : public ToolTest {
 protected:
  // A copy of an example with the byte at `offset` changed.
  void make_damaged(const std::string& name, size_t offset) const {
    std::filesystem::copy(example_file("versions.hfile"), path("whole.hfile"),
                          std::filesystem::copy_options::overwrite_existing);
    std::string bytes = read_file("whole.hfile");
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    write_file(name, bytes);
  }

  std::vector<Json> dump(std::vector<std::string> more) const {
    std::vector<std::string> line = {"dump", example_file("versions.hfile"), "--format", "jsonl"};
    line.insert(line.end(), more.begin(), more.end());
    std::vector<Json> cells;
    std::istringstream lines(out_of(line));
    for (std::string text; std::getline(lines, text);) cells.push_back(Json::parse(text));
    return cells;
  }
};

TEST_F(HFileCommands, InspectKnowsWhatHBaseWrote) {
  const Json file = json_of({"inspect", example_file("versions.hfile"), "--layout", "--scan"})["files"][0];
  EXPECT_EQ(file["version"], "3.3");
  EXPECT_EQ(file["codec"], "SNAPPY");
  EXPECT_EQ(file["data"]["encoding"], "ROW_INDEX_V1");
  EXPECT_EQ(file["bytes"], 14599);
  EXPECT_EQ(file["cells"], 600);
  EXPECT_EQ(file["data"]["blocks"], 11);
  EXPECT_EQ(file["index"]["levels"], 1);
  EXPECT_EQ(file["bloom"]["keys"], 30);
  EXPECT_EQ(file["scan"]["rows"], 30);
  EXPECT_EQ(file["scan"]["puts"].get<int>() + file["scan"]["deletes"].get<int>(), 600);
  EXPECT_EQ(file["scan"]["families"], Json::array({"cf"}));
  uint64_t space = 0;
  for (const Json& kind : file["space"]) space += kind["disk_bytes"].get<uint64_t>();
  EXPECT_EQ(space, 14599u) << "the parts are the whole";
}

TEST_F(HFileCommands, InspectListsBlocks) {
  const Json file =
      json_of({"inspect", example_file("versions.hfile"), "--blocks", "--limit", "3"})["files"][0];
  ASSERT_EQ(file["blocks"].size(), 3u);
  EXPECT_EQ(file["blocks"][0]["offset"], 0);
  EXPECT_EQ(file["blocks"][1]["offset"], file["blocks"][0]["disk_bytes"]);
  EXPECT_GT(file["blocks_left_out"], 0);
}

TEST_F(HFileCommands, InspectReadsTheEndOfAFileOnly) {
  out_of({"create", "shop", "t", "d:compression=none"});
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    lines += R"({"row":"row)" + std::to_string(100000 + i) + R"(","family":"d","qualifier":"q","value":")" +
             std::string(50, 'v') + "\"}\n";
  }
  out_of({"load", "shop", "t", "-"}, lines);
  out_of({"flush", "shop"});
  const Json file = json_of({"inspect", "shop"})["files"][0];
  EXPECT_EQ(file["cells"], 20000);
  EXPECT_LT(file["read"]["bytes"].get<uint64_t>(), file["bytes"].get<uint64_t>() / 10);
}

TEST_F(HFileCommands, DumpChoosesRowsAndColumns) {
  const std::vector<Json> all = dump({});
  ASSERT_EQ(all.size(), 600u);
  const auto count = [&](const auto& wanted) { return std::count_if(all.begin(), all.end(), wanted); };
  const auto row = [](const Json& cell) { return cell["row"].get<std::string>(); };
  EXPECT_EQ(dump({"--limit", "7"}).size(), 7u);
  EXPECT_EQ(dump({"--row", "row-007"}).size(), count([&](const Json& c) { return row(c) == "row-007"; }));
  EXPECT_EQ(dump({"--start", "row-007", "--stop", "row-012"}).size(),
            count([&](const Json& c) { return row(c) >= "row-007" && row(c) < "row-012"; }));
  EXPECT_EQ(dump({"--prefix", "row-01"}).size(),
            count([&](const Json& c) { return row(c).starts_with("row-01"); }));
  EXPECT_EQ(dump({"--column", "cf:q3"}).size(), count([&](const Json& c) { return c["qualifier"] == "q3"; }));
  EXPECT_EQ(dump({"--column", "other"}).size(), 0u);
  EXPECT_EQ(dump({"--row", "nowhere"}).size(), 0u);
}

TEST_F(HFileCommands, DumpShowsNumbersAndTags) {
  const Json cell = dump({"--limit", "1", "--mvcc", "--tags"})[0];
  EXPECT_EQ(cell["mvcc"], 1000051);
  EXPECT_EQ(cell["tags"], Json::array());
}

TEST_F(HFileCommands, DumpIsWhatAnotherReaderFound) {
  const std::string expected = std::string(CELLAR_FIXTURES_DIR) + "/expected/hbase-writer/";
  if (!std::filesystem::exists(expected)) GTEST_SKIP() << "CELLAR_FIXTURES_DIR is absent";
  for (const auto& [ours, theirs] : std::vector<std::pair<std::string, std::string>>{
           {"versions.hfile", "enc_ROW_INDEX_V1_SNAPPY_versions"}, {"weblog.hfile", "enc_NONE_GZ_weblog"}}) {
    const ToolResult result =
        shell("cellar dump '" + example_file(ours) + "' --format jsonl --mvcc --tags | cmp - " + "<(zcat '" +
              expected + theirs + ".jsonl.gz')");
    EXPECT_EQ(result.exit, 0) << ours << result.out << result.err;
  }
}

TEST_F(HFileCommands, VerifyFindsTheDamagedBlockAndItsRows) {
  make_damaged("damaged.hfile", 1500);
  const ToolResult text = run({"verify", "damaged.hfile"});
  EXPECT_EQ(text.exit, 1);
  EXPECT_NE(text.out.find("FAIL  damaged.hfile"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("at risk"), std::string::npos) << text.out;
  const ToolResult json = run({"verify", "damaged.hfile", "whole.hfile", "--format", "json"});
  EXPECT_EQ(json.exit, 1);
  const Json files = Json::parse(json.out)["files"];
  EXPECT_EQ(files[0]["verdict"], "unsound");
  EXPECT_EQ(files[0]["findings"][0]["code"], "V-CHECKSUM");
  EXPECT_EQ(files[0]["findings"][0]["offset"], 892) << "the second block";
  EXPECT_EQ(files[1]["verdict"], "sound");
}

TEST_F(HFileCommands, DumpEndsAtDamage) {
  make_damaged("damaged.hfile", 1500);
  const ToolResult result = run({"dump", "damaged.hfile", "--format", "jsonl"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 58) << "the cells of the first block";
  EXPECT_EQ(Json::parse(result.err)["error"]["code"], "CEL-CORRUPTION");
}

TEST_F(HFileCommands, FilesThatAreNoneEndWithThree) {
  write_file("empty", "");
  write_file("text", std::string(10000, 'x'));
  for (const char* command : {"inspect", "dump", "verify"}) {
    EXPECT_EQ(run({command, "empty"}).exit, 3) << command;
    EXPECT_EQ(run({command, "text"}).exit, 3) << command;
    EXPECT_EQ(run({command, "missing"}).exit, 3) << command;
  }
}

TEST_F(HFileCommands, UnsupportedFilesEndWithFour) {
  const std::string file =
      std::string(CELLAR_FIXTURES_DIR) + "/hfiles/hbase-hubspot/v1_hbase4388_TestTable_211779713500.hfile";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "CELLAR_FIXTURES_DIR is absent";
  for (const char* command : {"inspect", "dump", "verify"})
    EXPECT_EQ(run({command, file}).exit, 4) << command;
}

TEST_F(HFileCommands, ContentDecidesWhatAPathIs) {
  std::filesystem::create_directories(path("load/cf"));
  std::filesystem::copy(example_file("versions.hfile"), path("load/cf/without_extension"));
  std::filesystem::copy(example_file("weblog.hfile"), path("load/cf/photo.png"));
  write_file("load/cf/notes.hfile", "not one");
  write_file("load/_SUCCESS", "");
  const ToolResult result = run({"verify", "load"});
  EXPECT_EQ(result.exit, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("left out, not an HFile: load/cf/notes.hfile"), std::string::npos) << result.err;
  EXPECT_EQ(json_of({"inspect", "load"})["files"].size(), 2u);
}

TEST_F(HFileCommands, AStoreIsVerifiedWhole) {
  make_shop();
  EXPECT_EQ(run({"verify", "shop"}).exit, 0) << "nothing was flushed yet";
  out_of({"flush", "shop"});
  const Json files = json_of({"verify", "shop", "--level", "deep"})["files"];
  EXPECT_EQ(files.size(), 2u) << "orders has cells in both families";
  const std::string victim = files[0]["path"];
  std::string bytes = read_file(victim);
  bytes[40] = static_cast<char>(bytes[40] ^ 1);
  write_file(victim, bytes);
  EXPECT_EQ(run({"verify", "shop"}).exit, 1);
}

}  // namespace
}  // namespace cellar::testing
