// Goal: cells go in and out unchanged: dump to load to dump, export to load to export, CSV by map; bad lines
// are found. Method: files of HBase's and of our own, and files made here with one fault each.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Load = ToolTest;

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream each(text);
  for (std::string line; std::getline(each, line);) lines.insert(line);
  return lines;
}

TEST_F(Load, WhatDumpPrintsComesBack) {
  const std::string dump = out_of({"dump", example_file("versions.hfile"), "--format", "jsonl", "--tags"});
  write_file("cells.jsonl", dump);
  out_of({"create", "store", "t", "cf:max_versions=1000,keep_deleted_cells=true"});
  out_of({"load", "store", "t", "cells.jsonl"});
  out_of({"flush", "store"});
  const std::string again = out_of({"dump", "store", "--format", "jsonl", "--tags"});
  const std::multiset<std::string> distinct_before = lines_of(dump);
  const std::multiset<std::string> after = lines_of(again);
  for (const std::string& line : after) EXPECT_TRUE(distinct_before.contains(line)) << line;
  // At equal coordinates the last one wins; everything else is there.
  std::set<std::string> keys_before;
  std::set<std::string> keys_after;
  for (const std::string& line : distinct_before) keys_before.insert(line.substr(0, line.find(",\"value\"")));
  for (const std::string& line : after) keys_after.insert(line.substr(0, line.find(",\"value\"")));
  EXPECT_EQ(keys_after, keys_before);
  out_of({"create", "second", "t", "cf:max_versions=1000,keep_deleted_cells=true"});
  out_of({"load", "second", "t", "-"}, again);
  out_of({"flush", "second"});
  EXPECT_EQ(out_of({"dump", "second", "--format", "jsonl", "--tags"}), again);
}

TEST_F(Load, WhatExportPrintsComesBack) {
  make_shop();
  for (const std::string& form : {std::string("jsonl"), std::string("csv")}) {
    const std::string text = out_of({"export", "shop", "orders", "--to", form});
    write_file("orders." + form, text);
    out_of({"create", "copy_" + form, "orders", "d:max_versions=3", "c"});
    out_of({"load", "copy_" + form, "orders", "orders." + form});
    EXPECT_EQ(out_of({"export", "copy_" + form, "orders", "--to", form}), text);
  }
}

TEST_F(Load, CsvByMap) {
  write_file("people.csv",
             "id,name,email,updated\n"
             "user1,\"Ada, Countess\",ada@example.org,2026-11-20\n"
             "user2,\"two\nlines \"\"quoted\"\"\",,1000\n"
             "user3,n/a,x@example.org,\n");
  out_of({"create", "shop", "people", "d"});
  const ToolResult result =
      run({"load", "shop", "people", "people.csv", "--map", "row=id, d:name=name, d:mail=email, ts=updated",
           "--null", "n/a", "--ts", "77"});
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_EQ(out_of({"scan", "shop", "people", "--format", "csv"}),
            "row,family,qualifier,ts,type,value\n"
            "user1,d,mail,1795132800000,Put,ada@example.org\n"
            "user1,d,name,1795132800000,Put,\"Ada, Countess\"\n"
            "user2,d,name,1000,Put,\"two\\x0Alines \"\"quoted\"\"\"\n"
            "user3,d,mail,77,Put,x@example.org\n");
}

TEST_F(Load, TsvFromStandardInput) {
  out_of({"create", "shop", "people", "d"});
  out_of({"load", "shop", "people", "-", "--from", "tsv", "--map", "row=id,d:n=name"}, "id\tname\nu1\tAda\n");
  EXPECT_EQ(out_of({"get", "shop", "people", "u1", "--format", "raw"}), "Ada\n");
}

const char* const kGood = R"({"row":"r1","family":"d","qualifier":"q","ts":1,"type":"Put","value":"v"})";

TEST_F(Load, ABadLineStopsAndNamesItself) {
  make_shop();
  write_file("bad.jsonl", std::string(kGood) + "\nnot json\n");
  const Json error = error_of({"load", "shop", "people", "bad.jsonl"}, 3);
  EXPECT_EQ(error["code"], "CEL-BAD-LINE");
  EXPECT_EQ(error["place"], "bad.jsonl:2");
  EXPECT_EQ(json_of({"count", "shop", "people"})["counts"][0]["rows"], 0) << "the batch was not complete";
}

// A tag's size has 16 bits: 65,536 bytes more must not look like a short tag.
TEST_F(Load, ATagThatIsTooLongIsABadLine) {
  make_shop();
  write_file("tags.jsonl",
             R"({"row":"r1","family":"d","qualifier":"q","ts":1,"type":"Put","value":"v","tags":[[200,")" +
                 std::string(65'536 + 5, 'x') + "\"]]}\n");
  const Json error = error_of({"load", "shop", "people", "tags.jsonl"}, 3);
  EXPECT_EQ(error["code"], "CEL-BAD-LINE");
  EXPECT_NE(error["message"].get<std::string>().find("a tag of 65541 bytes"), std::string::npos) << error;
}

TEST_F(Load, BadLinesCanBeSkippedAndAreCounted) {
  make_shop();
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"[1]", "not a JSON object"},
      {R"({"family":"d","qualifier":"q"})", "\"row\" is missing"},
      {R"({"row":"","family":"d","qualifier":"q"})", "row is empty"},
      {R"({"row":"r","family":"e","qualifier":"q"})", "no family \"e\""},
      {R"({"row":"r","family":"","qualifier":"q"})", "family is empty"},
      {R"({"row":"r","family":"d","qualifier":"q","ts":9223372036854775807})", "LATEST"},
      {R"({"row":"r","family":"d","qualifier":"q","ts":-1})", "negative"},
      {R"({"row":"r","family":"d","qualifier":"q","ts":"x"})", "not a whole number"},
      {R"({"row":"r","family":"d","qualifier":"q","type":"Got"})", "invalid \"type\": expected Put"},
      {R"({"row":"r","family":"d","qualifier":"q","tgas":[]})", "unknown member \"tgas\""},
      {R"({"row":"r","family":"d","qualifier":"\\x0"})", "offset"}};
  std::string text;
  for (const auto& [line, reason] : bad) text += line + "\n";
  write_file("bad.jsonl", text + kGood + "\n");
  const ToolResult result =
      run({"load", "shop", "people", "bad.jsonl", "--on-error", "skip", "--format", "json"});
  ASSERT_EQ(result.exit, 0) << result.err;
  const Json counts = Json::parse(result.out);
  EXPECT_EQ(counts["skipped"], bad.size());
  EXPECT_EQ(counts["cells"], 1);
  for (size_t i = 0; i < bad.size(); ++i) {
    const size_t at = result.err.find("bad.jsonl:" + std::to_string(i + 1) + ": ");
    ASSERT_NE(at, std::string::npos) << bad[i].first;
    const std::string line = result.err.substr(at, result.err.find('\n', at) - at);
    EXPECT_NE(line.find(bad[i].second), std::string::npos) << line;
  }
}

TEST_F(Load, MissingFamilyAndTimeCanBeGiven) {
  make_shop();
  write_file("foreign.jsonl",
             R"({"row":"r","family":"","qualifier":"","ts":9223372036854775807,"type":"Put","value":"v"})"
             "\n");
  out_of({"load", "shop", "people", "foreign.jsonl", "--family", "d", "--ts", "5"});
  EXPECT_EQ(out_of({"get", "shop", "people", "r", "--format", "jsonl"}),
            R"({"row":"r","family":"d","qualifier":"","ts":5,"type":"Put","value":"v"})"
            "\n");
}

TEST_F(Load, WholeBatchesStayWhenALaterOneFails) {
  make_shop();
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += R"({"row":"r)" + std::to_string(i) + R"(","family":"d","qualifier":"q","value":"v"})" + "\n";
  }
  write_file("five.jsonl", text + "broken\n");
  EXPECT_EQ(run({"load", "shop", "people", "five.jsonl", "--batch", "2"}).exit, 3);
  EXPECT_EQ(json_of({"count", "shop", "people"})["counts"][0]["rows"], 4);
}

TEST_F(Load, TheColumnsOfAMapMustExist) {
  make_shop();
  write_file("p.csv", "id,name\nu,Ada\n");
  const Json error = error_of({"load", "shop", "people", "p.csv", "--map", "row=id,d:n=nmae"}, 2);
  EXPECT_NE(error["hint"].get<std::string>().find("did you mean name?"), std::string::npos);
  EXPECT_EQ(error_of({"load", "shop", "people", "p.csv", "--map", "d:n=name"}, 2)["code"],
            "CEL-INVALID-ARGUMENT");
}

}  // namespace
}  // namespace cellar::testing
