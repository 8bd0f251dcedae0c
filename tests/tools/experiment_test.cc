// Goal: `cellar experiment` runs every combination once, whatever stops it in between, and its results are
// true. Method: tiny experiments with the real program, stopped by kills and signals, and files cut at any
// byte. The work of a run follows from its seed, so an experiment in pieces has the figures of one in a
// single piece.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Two policies, three rounds: six runs that flush and compact.
constexpr const char* kTiny = R"~({
  "name": "tiny", "directory": "tiny.runs", "seed": 5, "repetitions": 3,
  "compaction": ["exploring", "leveled(fanout=4)"],
  "memtable_bytes": "32k", "log_segment_bytes": "64k", "cache_bytes": "64k",
  "workload": {"name": "mix", "mix": "read=30,update=40,insert=10,scan=10,delete=10", "rows": 1500,
               "operations": 2500}
})~";

class Experiment : public ToolTest {
 protected:
  Experiment() { write_file("tiny.json", kTiny); }

  std::vector<Json> results(const std::string& directory) const {
    std::vector<Json> all;
    std::istringstream lines(read_file(directory + "/results.jsonl"));
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line, nullptr, false));
    return all;
  }

  // The figures that depend on the text alone, by identity.
  static std::map<std::string, Json> certain(const std::vector<Json>& results) {
    std::map<std::string, Json> all;
    for (const Json& result : results) {
      Json figures;
      for (const char* name : {"experiment", "workload", "peer", "round", "seed", "options", "fields",
                               "operations", "bytes_put", "bytes_live", "bytes_returned", "reads"})
        figures[name] = result.at(name);
      for (const Json& latency : result.at("latencies"))
        figures["calls"][latency.at("call").get<std::string>()] = latency.at("count");
      EXPECT_FALSE(all.contains(result.at("identity"))) << "a run twice";
      all[result.at("identity")] = figures;
    }
    return all;
  }

  bool is_clean(const std::string& directory) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path(directory)))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names == std::vector<std::string>{"lock", "page.html", "results.jsonl"};
  }
};

TEST_F(Experiment, RunsEachCombinationAndMeasuresIt) {
  const ToolResult run_all = run({"experiment", "tiny.json"});
  ASSERT_EQ(run_all.exit, 0) << run_all.err;
  EXPECT_NE(run_all.err.find("6/6  mix, "), std::string::npos) << run_all.err;
  const std::vector<Json> all = results("tiny.runs");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_TRUE(is_clean("tiny.runs"));
  for (const Json& each : all) {
    SCOPED_TRACE(each.at("peer").get<std::string>());
    EXPECT_EQ(each.at("operations"), 2500);
    EXPECT_GT(each.at("rate").get<double>(), 0);
    EXPECT_GT(each.at("compactions").get<int>(), 0);
    // The log holds every cell, a flush writes it again, and compactions again.
    EXPECT_GT(each.at("write_amplification").get<double>(), 1.5);
    EXPECT_LT(each.at("write_amplification").get<double>(), 100);
    EXPECT_GT(each.at("space_amplification").get<double>(), 0.2);
    EXPECT_LT(each.at("space_amplification").get<double>(), 20);
    EXPECT_GT(each.at("read_amplification").get<double>(), 0);
    EXPECT_NEAR(each.at("write_amplification").get<double>() * each.at("bytes_put").get<double>(),
                each.at("bytes_written").get<double>(), each.at("bytes_written").get<double>() * 1e-4);
    EXPECT_GE(each.at("sorted_runs").get<int>(), 1);
    EXPECT_NE(each.at("version"), "");
    uint64_t calls = 0;
    for (const Json& latency : each.at("latencies")) {
      const auto at = [&](const char* name) { return latency.at(name).get<double>(); };
      EXPECT_LE(at("p50_us"), at("p95_us"));
      EXPECT_LE(at("p95_us"), at("p99_us"));
      EXPECT_LE(at("p99_us"), at("p999_us"));
      EXPECT_LE(at("p999_us"), at("max_us"));
      if (latency.at("call") != "load_batch") calls += latency.at("count").get<uint64_t>();
    }
    EXPECT_EQ(calls, 2500u);
    uint64_t before = 0;
    for (const Json& sample : each.at("samples")) {
      EXPECT_GE(sample.at("operations").get<uint64_t>(), before);
      before = sample.at("operations");
    }
    EXPECT_GE(each.at("samples").size(), 30u);
    EXPECT_EQ(before, 4000u) << "loaded rows and operations";
  }
  // Nothing is left to do. The answer is the same, and the page as well.
  const std::string page = read_file("tiny.runs/page.html");
  const ToolResult again = run({"experiment", "tiny.json"});
  EXPECT_EQ(again.out, run_all.out);
  EXPECT_EQ(results("tiny.runs").size(), 6u);
  EXPECT_EQ(read_file("tiny.runs/page.html"), page);
  EXPECT_EQ(out_of({"experiment", "tiny.json", "--page", "other.html", "-q"}), "");
  EXPECT_EQ(read_file("other.html"), page);
}

TEST_F(Experiment, AFileCutAnywhereIsCompletedToTheSameResults) {
  ASSERT_EQ(run({"experiment", "tiny.json", "-q"}).exit, 0);
  const std::string whole = read_file("tiny.runs/results.jsonl");
  const std::map<std::string, Json> wanted = certain(results("tiny.runs"));
  size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
  for (const size_t bytes : {last_line, last_line + 1, whole.size() - 1}) {
    write_file("tiny.runs/results.jsonl", whole.substr(0, bytes));
    const ToolResult result = run({"experiment", "tiny.json"});
    ASSERT_EQ(result.exit, 0) << result.err;
    EXPECT_EQ(result.err.find("dropped the last line") != std::string::npos, bytes != last_line)
        << result.err;
    EXPECT_NE(result.err.find("5 of 6 runs have results already; 1 left"), std::string::npos) << result.err;
    EXPECT_EQ(certain(results("tiny.runs")), wanted);
  }
}

TEST_F(Experiment, KillsInBetweenChangeNoResult) {
  ASSERT_EQ(run({"experiment", "tiny.json", "-q", "--directory", "whole"}).exit, 0);
  // Each start is killed at another moment after its first new line.
  const ToolResult killed = shell(
      "for i in 0 1 2 3; do cellar experiment tiny.json -q & it=$!; "
      "lines() { wc -l < tiny.runs/results.jsonl 2>/dev/null || echo 0; }; before=$(lines); "
      "for j in $(seq 2000); do test $(lines) -gt $before && break; sleep 0.01; done; "
      "sleep 0.0$((i * 3)); kill -9 $it; wait $it; done 2>/dev/null; exit 0");
  EXPECT_EQ(killed.exit, 0);
  const ToolResult last = run({"experiment", "tiny.json"});
  ASSERT_EQ(last.exit, 0) << last.err;
  EXPECT_EQ(certain(results("tiny.runs")), certain(results("whole")));
  EXPECT_TRUE(is_clean("tiny.runs"));
}

// A run of a minute, after a short one.
constexpr const char* kLong = R"({
  "directory": "long.runs", "repetitions": 1, "log_segment_bytes": "64k",
  "workload": [{"name": "ycsb_c", "rows": 100, "operations": 100},
               {"name": "ycsb_a", "rows": 1000, "seconds": 60}]
})";

TEST_F(Experiment, AnInterruptRemovesTheRunAndNamesIt) {
  write_file("long.json", kLong);
  const ToolResult result = shell(
      "cellar experiment long.json & it=$!; for i in $(seq 1000); do ls long.runs/run-under-way/wal "
      ">/dev/null 2>&1 "
      "&& break; sleep 0.01; done; sleep 0.5; "
      "cellar experiment long.json --format json > second.out 2> second.err; echo $? > second; "
      "cellar experiment long.json --dry-run --format jsonl > plan; echo $? >> second; "
      "kill -INT $it; wait $it; exit $?");
  EXPECT_EQ(result.exit, 130) << result.err;
  EXPECT_NE(result.err.find("CEL-INTERRUPTED"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ycsb_a"), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(path("long.runs/run-under-way")));
  // Meanwhile a second process was refused, and only looking was allowed.
  EXPECT_EQ(read_file("second"), "3\n0\n");
  EXPECT_EQ(Json::parse(read_file("second.err"), nullptr, false)["error"]["code"], "CEL-LOCKED");
  EXPECT_EQ(std::ranges::count(read_file("plan"), '\n'), 2);
  // The finished run has its result, if it came first.
  const size_t done = fs::exists(path("long.runs/results.jsonl")) ? results("long.runs").size() : 0;
  EXPECT_LE(done, 1u);
  EXPECT_EQ(fs::exists(path("long.runs/page.html")), done == 1);
}

TEST_F(Experiment, AChangedTextRunsOnlyWhatIsNew) {
  ASSERT_EQ(run({"experiment", "tiny.json", "-q"}).exit, 0);
  std::string text = kTiny;
  text.replace(text.find("\"leveled(fanout=4)\""), 19, "\"tiered\"");
  write_file("tiny.json", text);
  const Json plan = json_of({"experiment", "tiny.json", "--dry-run"});
  EXPECT_EQ(plan.at("runs").size(), 6u);
  EXPECT_EQ(plan.at("results").size(), 3u);
  EXPECT_EQ(plan.at("results_of_other_texts"), 3);
  const ToolResult result = run({"experiment", "tiny.json"});
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_NE(result.err.find("3 of 6 runs have results already; 3 left"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("3 results of an earlier text stay"), std::string::npos) << result.err;
  EXPECT_EQ(results("tiny.runs").size(), 9u);
  EXPECT_EQ(certain(results("tiny.runs")).size(), 9u);
  EXPECT_NE(read_file("tiny.runs/page.html").find("tiered"), std::string::npos);
  EXPECT_EQ(read_file("tiny.runs/page.html").find("leveled"), std::string::npos);
}

TEST_F(Experiment, ADryRunWritesNothing) {
  const ToolResult result = run({"experiment", "tiny.json", "--dry-run"});
  EXPECT_EQ(result.exit, 0);
  EXPECT_NE(result.err.find("6 runs: 2 configurations × 1 workload × 3 repetitions; 0 done, 6 left"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 7) << result.out;
  EXPECT_FALSE(fs::exists(path("tiny.runs")));
}

TEST_F(Experiment, FormatsHoldTheSameRuns) {
  const ToolResult lines = run({"experiment", "tiny.json", "--format", "jsonl", "-q"});
  ASSERT_EQ(lines.exit, 0) << lines.err;
  EXPECT_EQ(lines.out, read_file("tiny.runs/results.jsonl"));
  const Json document = json_of({"experiment", "tiny.json"});
  EXPECT_EQ(document.at("runs").size(), 6u);
  EXPECT_EQ(document.at("results").size(), 6u);
  const std::string csv = out_of({"experiment", "tiny.json", "--format", "csv"});
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3) << csv;
  EXPECT_EQ(csv.rfind("workload,configuration,runs,", 0), 0u) << csv;
}

// The lines are also those of measurements.
TEST_F(Experiment, PlotDrawsTheResults) {
  ASSERT_EQ(run({"experiment", "tiny.json", "-q"}).exit, 0);
  const std::string svg =
      out_of({"plot", "tiny.runs/results.jsonl", "--kind", "scatter", "--x", "space_amplification", "--y",
              "write_amplification", "--series", "options.compaction", "--label", "peer"});
  EXPECT_NE(svg.find("leveled(fanout=4)"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST_F(Experiment, EachWorkloadRuns) {
  write_file("all.json", R"({"repetitions": 1, "rows": 1200, "operations": 600, "memtable_bytes": "64k",
    "log_segment_bytes": "64k", "workload": ["ycsb_a", "ycsb_b", "ycsb_c", "ycsb_d", "ycsb_e", "ycsb_f",
    "update_zipf", "delete_heavy", "time_series", "bulk_then_read",
    {"name": "mix", "threads": 3, "mix": "read=50,scan=20,rmw=30"},
    {"name": "ycsb_d", "seconds": 0.2, "threads": 2}]})");
  const ToolResult result = run({"experiment", "all.json"});
  ASSERT_EQ(result.exit, 0) << result.err;
  for (const Json& each : results("all.runs")) {
    SCOPED_TRACE(each.at("workload").get<std::string>());
    const bool by_time = each.at("fields").contains("seconds");
    EXPECT_TRUE(by_time || each.at("operations") == 600);
    EXPECT_GT(each.at("operations").get<int>(), 0);
    EXPECT_GT(each.at("bytes_live").get<int>(), 0);
    const bool writes = each.at("bytes_put").get<uint64_t>() > 0;
    EXPECT_EQ(each.at("write_amplification").is_null(), !writes);
    EXPECT_FALSE(each.at("load_write_amplification").is_null());
  }
}

struct ExperimentCase {
  std::vector<std::string> arguments;
  int exit;
  std::string code;
  std::string part;  // of message, place or hint
};

TEST_F(Experiment, ErrorsSayWhatWhereAndWhatToDo) {
  write_file("broken.json", "{\n\"workload\": \"ycsb_a\",\n");
  write_file("faulty.json", R"({"compaction": ["leveld"], "workload": "ycsb_a"})");
  write_file("faults.json", R"({"compacton": "leveled", "workload": "ycsb_z"})");
  write_file("far.json", R"({"directory": "no/such/place", "workload": "ycsb_a"})");
  write_file("damaged.json", R"({"workload": "ycsb_a"})");
  fs::create_directory(path("damaged.runs"));
  write_file("damaged.runs/results.jsonl", "{}\n");
  const std::vector<ExperimentCase> cases = {
      {{"experiment", "missing.json"}, 3, "CEL-NOT-FOUND", "--help"},
      {{"experiment", "."}, 3, "CEL-NOT-FOUND", "cannot be read"},
      {{"experiment", "broken.json"}, 2, "CEL-INVALID-ARGUMENT", "broken.json:3"},
      {{"experiment", "faulty.json"}, 2, "CEL-INVALID-ARGUMENT", "did you mean leveled?"},
      {{"experiment", "faulty.json"}, 2, "CEL-INVALID-ARGUMENT", "faulty.json: compaction[0]"},
      {{"experiment", "faults.json", "--dry-run"}, 2, "CEL-INVALID-ARGUMENT", "2 faults"},
      {{"experiment", "far.json"}, 3, "CEL-NOT-FOUND", "no/such/place"},
      {{"experiment", "damaged.json"}, 3, "CEL-CORRUPTION", "damaged.runs/results.jsonl:1"},
      {{"experiment", "tiny.json", "--page", "p.html"}, 1, "CEL-NOTHING-TO-DRAW", "run the experiment first"},
      {{"experiment", "tiny.json", "--page", "p.html", "--dry-run"}, 2, "CEL-INVALID-ARGUMENT", "exclude"},
      {{"experiment"}, 2, "CEL-USAGE", "FILE"},
  };
  for (const ExperimentCase& each : cases) {
    SCOPED_TRACE(each.arguments.back());
    const Json error = error_of(each.arguments, each.exit);
    EXPECT_EQ(error.value("code", ""), each.code);
    EXPECT_NE(error.dump().find(each.part), std::string::npos) << error.dump();
  }
  EXPECT_EQ(out_of({"experiment", "-", "--dry-run", "--format", "csv"}, kTiny).rfind("run,workload,", 0), 0u);
}

// A run that cannot be carried out stops the experiment, and leaves no store.
TEST_F(Experiment, ARunThatFailsIsNamed) {
  write_file("fails.json", R"({"repetitions": 1, "log_segment_bytes": "64k", "cell_bytes_max": 200,
    "workload": {"name": "ycsb_a", "rows": 100, "operations": 100, "value_bytes": 500}})");
  const ToolResult result = run({"experiment", "fails.json"});
  EXPECT_NE(result.exit, 0);
  EXPECT_NE(result.err.find("run 1 of 1 (ycsb_a, one configuration, round 1 of 1)"), std::string::npos)
      << result.err;
  EXPECT_FALSE(fs::exists(path("fails.runs/run-under-way")));
  EXPECT_EQ(read_file("fails.runs/results.jsonl"), "");
}

TEST_F(Experiment, TheInstalledTextsAreSound) {
  size_t texts = 0;
  for (const auto& entry : fs::directory_iterator(CELLAR_SOURCE_DIR "/share/cellar/experiments")) {
    const ToolResult plan = run({"experiment", entry.path(), "--dry-run"});
    EXPECT_EQ(plan.exit, 0) << entry.path() << plan.err;
    ++texts;
  }
  EXPECT_GE(texts, 3u);
}

}  // namespace
}  // namespace cellar::testing
