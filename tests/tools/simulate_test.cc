// Goal: cellar simulate compares policies as its options say, and refuses options that make no sense. Method:
// small simulations, whose figures follow from the options.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Simulate : public ToolTest {
 protected:
  Json policy(Strings more) const {
    Strings arguments = {"simulate", "--data", "16MiB", "--memtable-bytes", "1MiB", "--times", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments).at("policies");
  }
  static double figure(const Json& policies, const std::string& name, const char* member) {
    for (const Json& each : policies)
      if (each.at("policy") == name) return each.at(member).get<double>();
    ADD_FAILURE() << "no policy " << name;
    return 0;
  }
};

// Without compactions, each byte is written to the log and to a file once.
TEST_F(Simulate, NoneWritesEachByteTwice) {
  const Json result = policy({"--policy", "none", "--writes", "insert"});
  EXPECT_NEAR(figure(result, "none", "write"), 2, 1e-9);
  EXPECT_NEAR(figure(result, "none", "space"), 1, 1e-9);
  EXPECT_EQ(figure(result, "none", "files"), 80);
  EXPECT_EQ(figure(result, "none", "compactions"), 0);
  EXPECT_EQ(figure(result, "none", "flushes"), 64);
}

TEST_F(Simulate, ComparesAllPoliciesUnlessSomeAreNamed) {
  const Json all = policy({});
  EXPECT_GE(all.size(), 9u);
  EXPECT_GT(figure(all, "leveled", "write"), figure(all, "tiered", "write"));
  EXPECT_LT(figure(all, "leveled", "space"), figure(all, "tiered", "space"));
  EXPECT_LT(figure(all, "leveled", "runs"), figure(all, "tiered", "runs"));
  const Json two = policy({"--policy", "tiered(runs=2)", "--policy", "tiered(runs=8)"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_GT(figure(two, "tiered(runs=2)", "write"), figure(two, "tiered(runs=8)", "write"));
}

TEST_F(Simulate, TheSameSeedGivesTheSameFigures) {
  const Strings line = {"--policy", "exploring", "--writes", "zipf(deletes=0.1, seed=5)"};
  Json first = policy(line);
  Json second = policy(line);
  for (Json* each : {&first, &second}) (*each)[0].erase("micros");
  EXPECT_EQ(first, second);
}

TEST_F(Simulate, AppendsAreMovedAndNotMerged) {
  const Json result = policy({"--policy", "leveled", "--writes", "append"});
  EXPECT_NEAR(figure(result, "leveled", "write"), 2, 0.5);
  EXPECT_GT(figure(result, "leveled", "moves"), 10);
  const Json merged = policy({"--policy", "exploring(moves=false)", "--writes", "append"});
  EXPECT_EQ(figure(merged, "exploring(moves=false)", "moves"), 0);
  for (const char* name : {"exploring", "ratio"}) {  // they move files to a run until it has 32
    const Json some = policy({"--policy", name, "--writes", "append"});
    EXPECT_LT(figure(some, name, "write"), 0.8 * figure(merged, "exploring(moves=false)", "write")) << name;
    EXPECT_GT(figure(some, name, "moves"), 10) << name;
  }
}

TEST_F(Simulate, WhatExpiresIsDroppedAsFiles) {
  const Json result = policy({"--policy", "fifo", "--writes", "append", "--ttl", "100ms"});
  EXPECT_GT(figure(result, "fifo", "drops"), 0);
  EXPECT_LT(figure(result, "fifo", "files"), 80);
}

// A slow disk sets the rate of writers; a fast one does not.
TEST_F(Simulate, ADeviceHasTimeAndStalls) {
  const Json fast = policy({"--policy", "none", "--writes", "insert", "--device",
                            "disk(write=10GiB, read=10GiB, merge=10GiB, put=10MiB, cores=8)"});
  EXPECT_NEAR(figure(fast, "none", "put_per_s"), 10 << 20, 1 << 19);
  EXPECT_EQ(figure(fast, "none", "stalled_s"), 0);
  const Json slow =
      policy({"--policy", "none", "--writes", "insert", "--device", "disk(write=1MiB, put=10MiB, cores=8)"});
  EXPECT_NEAR(figure(slow, "none", "put_per_s"), 1 << 20, 1 << 18);
  EXPECT_GT(figure(slow, "none", "stalled_s") + figure(slow, "none", "slowed_s"), 10);
}

TEST_F(Simulate, TheSeriesIsDrawn) {
  policy({"--policy", "leveled", "--policy", "tiered", "--series", "series.jsonl"});
  const std::string svg =
      out_of({"plot", "series.jsonl", "--x", "bytes_put", "--y", "space", "--series", "policy"});
  EXPECT_NE(svg.find("leveled"), std::string::npos);
  EXPECT_NE(svg.find("tiered"), std::string::npos);
}

TEST_F(Simulate, RefusesWhatMakesNoSense) {
  const auto expect_refused = [&](const Strings& options, const std::string& part) {
    Strings arguments = {"simulate"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ToolResult result = run(arguments);
    EXPECT_EQ(result.exit, 2) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  };
  expect_refused({"--policy", "levelled"}, "did you mean leveled?");
  expect_refused({"--policy", "leveled(fanout=1)"}, "fanout");
  expect_refused({"--writes", "zipfian"}, "zipf");
  expect_refused({"--writes", "zipf(skew=0)"}, "skew 0");
  expect_refused({"--writes", "zipf(skew=much)"}, "much");
  expect_refused({"--writes", "insert(deletes=1)"}, "deletes 1");
  expect_refused({"--writes", "overwrite(skew=2)"}, "skew");
  expect_refused({"cache"}, "needs a block trace");
  for (const char* option : {"--data", "--cell-bytes", "--resolution", "--writes"})
    expect_refused({"compaction", "trace", option, "1"},
                   std::string(option) + " has no meaning with a trace");
  expect_refused({"--table", "t"}, "--table is for a trace");
  expect_refused({"cache", "trace", "--data", "1GiB"}, "an option of compactions");
  expect_refused({"compaction", "--sizes", "1m"}, "an option of caches");
  expect_refused({"caches"}, "did you mean cache?");
  expect_refused({"--times", "-1"}, "--times");
  expect_refused({"--resolution", "0"}, "--resolution 0");
  expect_refused({"--data", "much"}, "--data");
  expect_refused({"--data", "100TiB", "--memtable-bytes", "1MiB", "--resolution", "1024"}, "rows");
  expect_refused({"--versions", "0"}, "--versions");
  expect_refused({"--device", "tape"}, "unknown device \"tape\"");
  expect_refused({"--device", "disk(write=0)"}, "write");
  expect_refused({"--device", "disk(speed=1)"}, "speed");
  const ToolResult series = run({"simulate", "--data", "1MiB", "--series", "no/such/file.jsonl"});
  EXPECT_EQ(series.exit, 3) << series.err;
  EXPECT_EQ(run({"simulate", "compaction", "no.trace"}).exit, 3);
}

// The history may be what a command wrote.
TEST_F(Simulate, ATraceIsAHistory) {
  make_shop();
  std::string cells;
  for (int row = 0; row < 2000; ++row)
    cells += R"({"row":"row)" + std::to_string(1000 + row % 500) +
             R"(","family":"d","qualifier":"q","value":"0123456789"})" + "\n";
  write_file("cells.jsonl", cells);
  out_of({"trace", "record", "ops.trace", "--", "load", "shop", "orders", "cells.jsonl"});
  const Strings simulated = {"simulate", "compaction",       "ops.trace", "--policy", "tiered", "--policy",
                             "none",     "--memtable-bytes", "4k",        "--table",  "orders", "--times"};
  const auto policies = [&](const char* times) {
    Strings arguments = simulated;
    arguments.push_back(times);
    return json_of(arguments).at("policies");
  };
  const Json one = policies("1");
  const Json ten = policies("10");
  EXPECT_GE(figure(one, "none", "flushes"), 8);
  EXPECT_GE(figure(ten, "none", "flushes"), 9.5 * figure(one, "none", "flushes"));
  EXPECT_LT(figure(ten, "tiered", "space"), figure(ten, "none", "space"));
  EXPECT_GT(figure(ten, "tiered", "write"), figure(ten, "none", "write"));
}

}  // namespace
}  // namespace cellar::testing
