// Goal: cellar plot draws the measurements, in files that need nothing else, and reports the faults of an
// input. Method: small inputs of both kinds. Three pictures are golden files in tests/data/plot, which
// CELLAR_REWRITE=1 rewrites. The rest is checked by the description of a picture, which holds its figures as
// text.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/tools/tool_runner.h"
#include "tests/tools/xml_check.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kData = CELLAR_TEST_DATA_DIR "/plot/";

std::string content_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// bench.json holds two runs of a case and its aggregates, as --benchmark_repetitions writes them. It also
// holds a case of which only aggregates were kept, and one that failed.
class Plot : public ToolTest {
 protected:
  Plot() {
    for (const char* name : {"bench.json", "driver.jsonl"})
      write_file(name, content_of(kData + std::string(name)));
  }

  static void expect_golden(const std::string& svg, const std::string& name) {
    const std::string file = kData + name;
    if (std::getenv("CELLAR_REWRITE") != nullptr) std::ofstream(file, std::ios::binary) << svg;
    EXPECT_EQ(svg, content_of(file)) << "run with CELLAR_REWRITE=1 and look at " << file;
  }

  // The figures of a picture.
  static std::string description(const std::string& svg) {
    const size_t at = svg.find("<desc id=\"d\">") + 13;
    return svg.substr(at, svg.find("</desc>", at) - at);
  }
};

TEST_F(Plot, NumbersAlongXGiveLines) {
  const std::string svg = out_of({"plot", "bench.json", "--x", "k", "--series", "cache", "--log-x", "--log-y",
                                  "--title", "Reading k rows", "--x-label", "rows", "-q"});
  EXPECT_EQ(description(svg), "time, µs; warm: 1 3, 10 5, 100 30; cold: 1 20, 100 200");
  EXPECT_NE(svg.find(">time, µs</text>"), std::string::npos);
  expect_golden(svg, "lines.svg");
}

TEST_F(Plot, NamesAlongXGiveBars) {
  const std::string svg = out_of({"plot", "driver.jsonl", "--x", "workload", "--series", "peer"});
  EXPECT_EQ(description(svg),
            "cells per second; cellar: scan &lt;all> 4M, get 400k; rocksdb: scan &lt;all> 2M");
  expect_golden(svg, "bars.svg");
}

TEST_F(Plot, CountersFiltersAndOtherFields) {
  EXPECT_EQ(description(out_of({"plot", "bench.json", "--filter", "cache:warm", "--y", "blocks", "-q"})),
            "blocks: k:1 1, k:100 2, k:10 1");
  EXPECT_EQ(description(out_of({"plot", "driver.jsonl", "--filter", "^get/", "--y", "p50_us"})),
            "p50, µs: get/cellar 4");
  EXPECT_EQ(description(out_of({"plot", "-", "--x", "2", "--filter", "k:1$", "-q"}, read_file("bench.json"))),
            "time, µs: cache:warm 3, cache:cold 20");
}

TEST_F(Plot, AxesAreNamedAsAsked) {
  const std::string svg = out_of({"plot", "driver.jsonl", "--x", "workload", "--series", "peer", "--y-label",
                                  "cells in a second, <s>", "--x-label", "kind of read"});
  EXPECT_NE(svg.find(">cells in a second, &lt;s></text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">kind of read</text>"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("cells per second"), std::string::npos) << "the name that the input gives, too";
  EXPECT_EQ(description(svg).rfind("cells in a second, &lt;s>; cellar: ", 0), 0u) << description(svg);
}

TEST_F(Plot, WhatIsNotDrawnIsSaid) {
  const ToolResult result = run({"plot", "bench.json", "--x", "k", "--y", "blocks", "--series", "cache"});
  EXPECT_EQ(result.exit, 0);
  EXPECT_EQ(result.err,
            "1 case failed and are not drawn\n1 measurement without one of the fields left out\n");
}

TEST_F(Plot, TheFileIsTheSameAsStandardOutput) {
  const std::string svg = out_of({"plot", "driver.jsonl"});
  EXPECT_EQ(out_of({"plot", "driver.jsonl", "--out", "rates.svg"}), "");
  EXPECT_EQ(read_file("rates.svg"), svg);
  EXPECT_EQ(svg.find("http"), svg.find("http://www.w3.org/2000/svg")) << "it needs something from elsewhere";
  EXPECT_EQ(svg.find("http", svg.find("http") + 1), std::string::npos) << "it needs something from elsewhere";
}

// Three runs of two places, and one without a number.
constexpr const char* kTradeOffs =
    R"({"kind":"result","peer":"a","workload":"w<1>","space":1,"rate":10,"options":{"size":4}}
{"kind":"result","peer":"a","workload":"w<1>","space":3,"rate":20,"options":{"size":4}}
{"kind":"result","peer":"a","workload":"w<1>","space":2,"rate":90,"options":{"size":4}}
{"kind":"result","peer":"b","workload":"w<1>","space":5,"rate":4,"options":{"size":8}}
{"kind":"result","peer":"b","workload":"v","rate":4}
)";

TEST_F(Plot, PointsHaveAPlaceOnBothAxes) {
  write_file("tradeoffs.jsonl", kTradeOffs);
  const ToolResult result = run({"plot", "tradeoffs.jsonl", "--kind", "scatter", "--x", "space", "--y",
                                 "rate", "--series", "peer", "--label", "workload"});
  EXPECT_EQ(description(result.out), "operations per second; a: w&lt;1> 20 at 2; b: w&lt;1> 4 at 5");
  EXPECT_EQ(result.err, "1 measurement without one of the fields left out\n");
  EXPECT_EQ(xml_fault(result.out), "");
  EXPECT_NE(result.out.find("class=\"spread l0\""), std::string::npos) << "the runs of a differ";
  EXPECT_EQ(result.out.find("class=\"spread l1\""), std::string::npos) << "b has one run";
  expect_golden(result.out, "points.svg");
}

TEST_F(Plot, PointsWithoutNamesAreAllDrawn) {
  write_file("tradeoffs.jsonl", kTradeOffs);
  const std::string svg = out_of({"plot", "tradeoffs.jsonl", "--kind", "scatter", "--x", "space", "--y",
                                  "rate", "--log-x", "--log-y", "-q"});
  EXPECT_EQ(description(svg), "operations per second: 10 at 1, 20 at 3, 90 at 2, 4 at 5");
  EXPECT_EQ(xml_fault(svg), "");
}

TEST_F(Plot, NestedMembersAreFields) {
  write_file("tradeoffs.jsonl", kTradeOffs);
  EXPECT_EQ(description(out_of({"plot", "tradeoffs.jsonl", "--x", "options.size", "--y", "rate", "-q"})),
            "operations per second: 4 20, 8 4");
}

// The lines are those of EngineOptions::totals_series.
TEST_F(Plot, TheTotalsOfARunningStoreAreLines) {
  make_shop();
  std::string cells;
  for (int row = 0; row < 30000; ++row)
    cells += R"({"row":"user)" + std::to_string(10000 + row * 7 % 30000) +
             R"(","family":"d","qualifier":"q","value":"some text of a cell"})" + "\n";
  write_file("more.jsonl", cells);
  const ToolResult load =
      shell("CELLAR_ENGINE=memtable_bytes=64k,totals_series=totals.jsonl cellar load shop orders more.jsonl");
  ASSERT_EQ(load.exit, 0) << load.err;
  const ToolResult drawn =
      run({"plot", "totals.jsonl", "--x", "seconds", "--y", "write_amplification", "--series", "peer", "-q"});
  ASSERT_EQ(drawn.exit, 0) << drawn.err;
  EXPECT_NE(drawn.out.find("class=\"line l0\""), std::string::npos) << drawn.out;
  EXPECT_NE(drawn.out.find("orders/d"), std::string::npos);
}

TEST_F(Plot, TheKindCanBeChosen) {
  EXPECT_NE(out_of({"plot", "bench.json", "--x", "k", "--kind", "bars", "-q"}).find("<rect class=\"c0\""),
            std::string::npos);
  EXPECT_EQ(out_of({"plot", "bench.json", "--x", "k", "--kind", "lines", "-q"}),
            out_of({"plot", "bench.json", "--x", "k", "-q"}));
}

struct PlotCase {
  std::vector<std::string> arguments;
  int exit;
  std::string code;
  std::string part;  // of message, place or hint
};

TEST_F(Plot, ErrorsSayWhatWhereAndWhatToDo) {
  write_file("broken.json", R"({"benchmarks": [)");
  write_file("broken.jsonl", "{\"kind\":\"context\"}\n{\"kind\":\"result\",\n");
  write_file("half.jsonl", "{\"kind\":\"result\",\"peer\":\"cellar\"}\n");
  write_file("other.json", R"({"rows": 3})");
  write_file("nameless.json", R"({"benchmarks": [{"real_time": 1}]})");
  write_file("empty.json", "\n");
  write_file("none.json", R"({"benchmarks": []})");
  const std::vector<PlotCase> cases = {
      {{"plot", "broken.json"}, 3, "CEL-NOT-MEASUREMENTS", "broken.json:1"},
      {{"plot", "broken.jsonl"}, 3, "CEL-NOT-MEASUREMENTS", "broken.jsonl:2"},
      {{"plot", "half.jsonl"}, 3, "CEL-NOT-MEASUREMENTS", "half.jsonl:1"},
      {{"plot", "other.json"}, 3, "CEL-NOT-MEASUREMENTS", "--benchmark_format=json"},
      {{"plot", "nameless.json"}, 3, "CEL-NOT-MEASUREMENTS", "no name"},
      {{"plot", "empty.json"}, 3, "CEL-NOT-MEASUREMENTS", "empty"},
      {{"plot", "none.json"}, 1, "CEL-NOTHING-TO-DRAW", "no successful measurement"},
      {{"plot", "missing.json"}, 3, "CEL-NOT-FOUND", "--benchmark_out"},
      {{"plot", "."}, 3, "CEL-NOT-FOUND", ""},
      {{"plot", "bench.json", "--filter", "nothing"}, 1, "CEL-NOTHING-TO-DRAW", "read/cache:warm/k:1"},
      {{"plot", "bench.json", "--filter", "("}, 2, "CEL-INVALID-ARGUMENT", "regular expression"},
      {{"plot", "bench.json", "--y", "block"}, 2, "CEL-INVALID-ARGUMENT", "did you mean blocks?"},
      {{"plot", "bench.json", "--x", "cash"}, 2, "CEL-INVALID-ARGUMENT", "fields: "},
      {{"plot", "bench.json", "--x", "cache", "--log-x"}, 2, "CEL-INVALID-ARGUMENT", "--log-x"},
      {{"plot", "bench.json", "--x", "cache", "--kind", "lines"}, 2, "CEL-INVALID-ARGUMENT", "--kind lines"},
      {{"plot", "bench.json", "--x", "cache", "--kind", "scatter"},
       2,
       "CEL-INVALID-ARGUMENT",
       "needs numbers"},
      {{"plot", "bench.json", "--kind", "scatter", "--x", "k", "--label", "cash"},
       2,
       "CEL-INVALID-ARGUMENT",
       "--label"},
      {{"plot", "bench.json", "--label", "k"}, 2, "CEL-INVALID-ARGUMENT", "scatter"},
      {{"plot", "bench.json", "--serie", "cache"}, 2, "CEL-USAGE", "did you mean --series?"},
      {{"plot", "bench.json", "--out", "no/such/place.svg", "-q"}, 3, "CEL-IO-ERROR", "directory"},
  };
  for (const PlotCase& each : cases) {
    SCOPED_TRACE(each.arguments[1] + " " + each.arguments.back());
    const Json error = error_of(each.arguments, each.exit);
    EXPECT_EQ(error.value("code", ""), each.code);
    EXPECT_NE(error.value("hint", ""), "");
    EXPECT_NE(error.dump().find(each.part), std::string::npos) << error.dump();
  }
}

}  // namespace
}  // namespace cellar::testing
