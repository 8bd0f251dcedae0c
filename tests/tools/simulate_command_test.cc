// Goal: `cellar simulate cache` tells from a recorded trace which policy and which size would have missed how
// often. Method: traces that the real program records, its answers in every format, pictures, and its errors.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class SimulateCommand : public ToolTest {
 protected:
  // A table of a few hundred blocks. The trace "shop.trace" asks for some of them more often than for others.
  void record_trace() const {
    std::string cells;
    for (int row = 0; row < 4000; ++row)
      cells += R"({"row":"user)" + std::to_string(10000 + row) +
               R"(","family":"d","qualifier":"q","value":")" +
               std::string(200, static_cast<char>('a' + row % 26)) + "\"}\n";
    write_file("cells.jsonl", cells);
    out_of({"create", "shop", "people", "d:block_bytes=4096,compression=none"});
    out_of({"load", "shop", "people", "cells.jsonl"});
    out_of({"flush", "shop"});
    std::string lines;
    for (int i = 0; i < 600; ++i)
      lines += "get 'people', 'user" + std::to_string(10000 + i * i % 1000 * (i % 7 == 0 ? 3 : 1)) + "'\n";
    write_file("gets.txt", lines);
    const ToolResult shell_run = shell(
        "CELLAR_ENGINE='cache_policy=slru(single=50%,multi=40%,memory=10%),cache_bytes=512k,block_trace="
        "shop.trace' cellar shell shop -f gets.txt");
    ASSERT_EQ(shell_run.exit, 0) << shell_run.err;
  }
};

TEST_F(SimulateCommand, PrintsWhatEachPolicyWouldMiss) {
  record_trace();
  const ToolResult table = run({"simulate", "cache", "shop.trace"});
  ASSERT_EQ(table.exit, 0) << table.err;
  for (const char* policy : {"arc", "clock", "lru", "s3fifo", "sieve", "slru", "w_tinylfu", "belady"})
    EXPECT_NE(table.out.find(policy), std::string::npos) << policy;
  EXPECT_NE(table.err.find("recorded by slru(single=50%,multi=40%,memory=10%) with 512 KiB and 1 shard"),
            std::string::npos)
      << table.err;

  const Json json =
      json_of({"simulate", "cache", "shop.trace", "--policies", "lru,belady", "--sizes", "20%,200%"});
  ASSERT_EQ(json["simulations"].size(), 4u);
  EXPECT_GE(json["lookups"].get<uint64_t>(), 600u);
  EXPECT_EQ(json["whole"], true);
  EXPECT_EQ(json["lost"], 0);
  const uint64_t lookups = json["lookups"];
  uint64_t lru = 0;
  for (const Json& each : json["simulations"]) {
    const uint64_t hits = each["hits"];
    EXPECT_NEAR(each["miss_ratio"].get<double>(),
                1 - static_cast<double>(hits) / static_cast<double>(lookups), 0.001);
    if (each["capacity_bytes"].get<uint64_t>() > json["distinct_bytes"].get<uint64_t>()) {
      EXPECT_EQ(hits, lookups - json["blocks"].get<uint64_t>()) << "there is room for all blocks";
      EXPECT_EQ(each["evictions"], 0);
    } else if (each["policy"] == "lru") {
      lru = hits;
    } else {
      EXPECT_GE(hits, lru);
      EXPECT_GT(each["evictions"], 0);
    }
  }
}

// The simulation of the policy that was recorded, at the size that blocks had: indexes and filters took a
// part.
TEST_F(SimulateCommand, AgreesWithTheCacheThatWasTraced) {
  record_trace();
  const Json json = json_of({"simulate", "cache", "shop.trace", "--policies",
                             "slru(single=50%,multi=40%,memory=10%)", "--sizes", "100k..512k"});
  const uint64_t recorded = json["recorded_hits"];
  EXPECT_GT(recorded, 0u);
  EXPECT_LT(recorded, json["lookups"].get<uint64_t>());
  EXPECT_GE(json["simulations"].back()["hits"].get<uint64_t>(), recorded);
  EXPECT_LE(json["simulations"].front()["hits"].get<uint64_t>(), recorded);
}

TEST_F(SimulateCommand, ItsCurvesCanBeDrawn) {
  record_trace();
  ASSERT_EQ(
      shell("cellar simulate cache shop.trace --policies lru,sieve --format json -q > misses.json").exit, 0);
  const std::string svg =
      out_of({"plot", "misses.json", "--x", "capacity_bytes", "--series", "policy", "--log-x"});
  EXPECT_NE(svg.find("sieve: "), std::string::npos);
  EXPECT_NE(svg.find("lru: "), std::string::npos);
}

TEST_F(SimulateCommand, ExportsTheLookups) {
  record_trace();
  const Json json = json_of({"simulate", "cache", "shop.trace", "--export", "shop.csv", "--policies", "lru"});
  std::istringstream lines(read_file("shop.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "time,id,bytes");
  uint64_t count = 0;
  uint64_t bytes = 0;
  while (std::getline(lines, line)) {
    ++count;
    bytes += std::stoull(line.substr(line.rfind(',') + 1));
  }
  EXPECT_EQ(count, json["lookups"].get<uint64_t>());
  EXPECT_EQ(bytes, json["bytes"].get<uint64_t>());
  const ToolResult nowhere = run({"simulate", "cache", "shop.trace", "--export", "no/where"});
  EXPECT_NE(nowhere.err.find("no/where cannot be written"), std::string::npos) << nowhere.err;
}

TEST_F(SimulateCommand, SaysWhatIsWrong) {
  record_trace();
  write_file("foreign", "time,id\n1,2\n");
  std::string torn = read_file("shop.trace");
  write_file("torn", torn.substr(0, torn.size() - 30));
  torn[200] = static_cast<char>(torn[200] ^ 4);
  write_file("damaged", torn);
  const auto expect = [&](const std::vector<std::string>& arguments, int exit, const std::string& text) {
    std::vector<std::string> words = {"simulate"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const ToolResult result = run(words);
    EXPECT_EQ(result.exit, exit) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << text << "\n" << result.err;
  };
  expect({"cahce", "shop.trace"}, 2, "did you mean cache?");
  expect({"cache", "nowhere"}, 3, "nowhere");
  expect({"cache", "foreign"}, 3, "foreign is not a block trace");
  expect({"cache", "damaged"}, 3, "the checksum of a chunk differs");
  expect({"cache", "torn"}, 0, "the trace has no end: the process stopped without closing its engine");
  expect({"cache", "shop.trace", "--policies", "lrru"}, 2, "--policies: unknown name \"lrru\"");
  expect({"cache", "shop.trace", "--policies", "slru(single=2)"}, 2, "a share from 0% to 100%");
  expect({"cache", "shop.trace", "--sizes", "5%..1%"}, 2, "--sizes: \"5%..1%\" is not a range of sizes");
}

TEST_F(SimulateCommand, SettingsOfTheEngineAreChecked) {
  make_shop();
  const auto expect = [&](const std::string& settings, int exit, const std::string& text) {
    const ToolResult result = shell("CELLAR_ENGINE='" + settings + "' cellar list shop");
    EXPECT_EQ(result.exit, exit) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << text << "\n" << result.err;
  };
  expect("", 0, "");
  expect("cache_bytes=1m,cache_policy=s3fifo(small=5%,ghost=50%)", 0, "");
  expect("cache_bytes", 2, "CELLAR_ENGINE: \"cache_bytes\" has no value");
  expect("cache_bits=1m", 2, "did you mean cache_bytes?");
  expect("cache_policy=lrru", 2, "CELLAR_ENGINE");
  expect("block_trace=shop/trace", 3, "lies in the store's directory");
  expect("block_trace=no/such/trace", 3, "block trace no/such/trace");
  expect("block_trace=t", 0, "");
  expect("block_trace=t", 3, "block trace t");
}

}  // namespace
}  // namespace cellar::testing
