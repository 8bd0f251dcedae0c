// Goal: `cellar explain-space` says what the bytes of a store are used for, and why they stay.
// Method: a store with a cell of each kind. The answer is compared before and after the compaction that the
// command names.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class ExplainSpace : public ToolTest {
 protected:
  // Two live cells, an older version, a deleted cell and its marker, in two files.
  void make_store() {
    out_of({"create", "shop", "t", "f:compaction=none"});
    out_of({"put", "shop", "t", "r1", "f:q", "one", "--ts", "1000ms"});
    out_of({"put", "shop", "t", "r2", "f:q", "two", "--ts", "1000ms"});
    out_of({"put", "shop", "t", "r3", "f:q", "three", "--ts", "1000ms"});
    out_of({"flush", "shop"});
    out_of({"put", "shop", "t", "r1", "f:q", "newer", "--ts", "2000ms"});
    out_of({"deleteall", "shop", "t", "r2"});
    out_of({"flush", "shop"});
  }
  static std::map<std::string, uint64_t> cells_of(const Json& family) {
    std::map<std::string, uint64_t> cells;
    for (const Json& part : family["parts"])
      if (part["cells"] != 0) cells[part["use"]] = part["cells"];
    return cells;
  }
  using Cells = std::map<std::string, uint64_t>;
};

TEST_F(ExplainSpace, EachCellIsCountedByItsUse) {
  make_store();
  const Json before = json_of({"explain-space", "shop"});
  const Json& family = before["families"][0];
  EXPECT_EQ(family["table"], "t");
  EXPECT_EQ(family["files"], 2);
  EXPECT_EQ(family["runs"], 2);
  EXPECT_EQ(family["cells"], 5);
  EXPECT_EQ(family["cells_read"], 5);
  EXPECT_EQ(cells_of(family), (Cells{{"live", 2}, {"old versions", 1}, {"deleted", 1}, {"markers", 1}}));
  EXPECT_GT(family["reclaimable_bytes"], 0);
  uint64_t bytes = 0;
  for (const Json& part : family["parts"]) bytes += part["bytes"].get<uint64_t>();
  EXPECT_NEAR(static_cast<double>(bytes), family["bytes"].get<double>(), 10);
  const std::string text = out_of({"explain-space", "shop", "t"});
  EXPECT_NE(text.find("the policy has no compaction due; `cellar compact --major`"), std::string::npos)
      << text;

  out_of({"compact", "shop", "--major"});
  const Json after = json_of({"explain-space", "shop"})["families"][0];
  EXPECT_EQ(cells_of(after), (Cells{{"live", 2}}));
  EXPECT_EQ(after["reclaimable_bytes"], 0);
}

TEST_F(ExplainSpace, ExpiredCellsAndTheOptionsThatKeepCellsAreNamed) {
  make_store();
  out_of({"alter", "shop", "t", "f:ttl_s=3600,compaction=none"});
  out_of({"put", "shop", "t", "young", "f:q", "v"});
  out_of({"flush", "shop"});
  const Json expired = json_of({"explain-space", "shop"})["families"][0];
  EXPECT_EQ(cells_of(expired)["live"], 1u) << expired;
  EXPECT_EQ(cells_of(expired)["expired"], 1u) << "the older file has left as a whole: " << expired;
  out_of({"alter", "shop", "t", "f:ttl_s=2147483647,compaction=none,keep_deleted_cells=true,max_versions=3"});
  const std::string text = out_of({"explain-space", "shop"});
  EXPECT_NE(text.find("keep_deleted_cells keeps deleted cells"), std::string::npos) << text;
  EXPECT_NE(text.find("max_versions=3"), std::string::npos) << text;
  EXPECT_NE(text.find("kept markers"), std::string::npos) << text;
}

TEST_F(ExplainSpace, AnEstimateSaysThatItIsOne) {
  out_of({"create", "shop", "t", "f"});
  std::string lines;
  for (int i = 0; i < 100; ++i)
    lines += R"({"row":"r)" + std::to_string(100 + i) +
             R"(","family":"f","qualifier":"q","ts":5,"type":"Put","value":"v"})" + "\n";
  write_file("cells.jsonl", lines);
  out_of({"load", "shop", "t", "cells.jsonl"});
  out_of({"flush", "shop"});
  const Json family = json_of({"explain-space", "shop", "t", "--cells-max", "10"})["families"][0];
  EXPECT_EQ(family["cells_read"], 10);
  EXPECT_EQ(cells_of(family), (Cells{{"live", 100}}));
  const std::string text = out_of({"explain-space", "shop", "--cells-max", "10"});
  EXPECT_NE(text.find("sampled: 10 of 100 cells were read"), std::string::npos) << text;
}

TEST_F(ExplainSpace, WhoeverHoldsFilesAndLogIsListed) {
  make_store();
  out_of({"snapshot", "create", "shop", "monday"});
  out_of({"feed", "create", "shop", "audit"});
  out_of({"compact", "shop", "--major"});
  const Json space = json_of({"explain-space", "shop"});
  ASSERT_EQ(space["snapshots"].size(), 1u);
  EXPECT_EQ(space["snapshots"][0]["snapshot"], "monday");
  EXPECT_EQ(space["snapshots"][0]["files"], 2);
  ASSERT_EQ(space["feeds"].size(), 1u);
  EXPECT_EQ(space["feeds"][0]["feed"], "audit");
  EXPECT_EQ(space["quarantine_bytes"], 0);
  EXPECT_GT(space["log_bytes"], 0);
}

TEST_F(ExplainSpace, WrongNamesAndDamagedFilesAreErrors) {
  make_store();
  EXPECT_NE(run({"explain-space", "shop", "nothing"}).err.find("CEL-TABLE"), std::string::npos);
  EXPECT_NE(run({"explain-space", "nowhere"}).exit, 0);
  out_of({"create", "shop", "empty", "f"});
  EXPECT_EQ(json_of({"explain-space", "shop", "empty"})["families"][0]["cells"], 0);
  const std::string file = json_of({"describe", "shop", "t"})["tables"][0]["families"][0]["files"][0]["name"];
  const std::string name = "shop/tables/1/f/" + file;
  std::string bytes = read_file(name);
  bytes[40] = static_cast<char>(bytes[40] ^ 1);
  write_file(name, bytes);
  const ToolResult damaged = run({"explain-space", "shop", "t"});
  EXPECT_NE(damaged.exit, 0);
  EXPECT_NE(damaged.err.find("CRC32C"), std::string::npos) << damaged.err;
}

}  // namespace
}  // namespace cellar::testing
