// Goal: commands and the shell work on the name of a cluster as on a store; those that need a store's files
// refuse it. Method: a store that `cellar serve` serves. In a build without it, that it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/data_driven.h"
#include "tests/support/test_scale.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using ::testing::HasSubstr;

class ClusterCommands : public ToolTest {};

TEST_F(ClusterCommands, ABuildWithoutServeSaysHowToBuildIt) {
  if (builds_serve()) return;
  const ToolResult serve = shell("cellar serve shop");
  EXPECT_NE(serve.exit, 0);
  EXPECT_THAT(serve.err, HasSubstr("-DCELLAR_WITH_HBASE=ON"));
  const ToolResult list = shell("cellar list hbase://localhost:1");
  EXPECT_EQ(list.exit, 4) << list.err;
  EXPECT_THAT(list.err, HasSubstr("-DCELLAR_WITH_HBASE=ON"));
}

TEST_F(ClusterCommands, WhatNeedsFilesRefusesACluster) {
  for (const std::string command :
       {"status H", "metrics H", "checkpoint H copy", "verify H", "stats H", "dump H", "inspect H",
        "explain-space H", "find row H", "diff here H", "bulkload check H", "repair H", "wal dump H",
        "manifest dump H", "snapshot list H", "compact H --explain"}) {
    std::string line = command;
    line.replace(line.find('H'), 1, "hbase://localhost:1");
    const ToolResult refused = shell("cellar " + line);
    EXPECT_EQ(refused.exit, 4) << command << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("hbase://localhost:1 is a cluster")) << command;
    EXPECT_THAT(refused.err, HasSubstr("these commands work on a cluster: aggregate, alter, append, "))
        << command;
    EXPECT_THAT(refused.err, HasSubstr("scan")) << command;
  }
  const ToolResult by_zookeeper = shell("cellar status hbase+zk://localhost:1/hbase");
  EXPECT_THAT(by_zookeeper.err, HasSubstr("hbase+zk://localhost:1/hbase is a cluster"));
  EXPECT_THAT(shell("cellar bulkload ingest hbase://localhost:1 shop t").err, HasSubstr("is a cluster"));
  const ToolResult row = shell("cellar dump no.hfile --start hbase://localhost:1");
  EXPECT_EQ(row.err.find("is a cluster"), std::string::npos) << "the row has this name: " << row.err;
  EXPECT_EQ(shell("cellar create shop t f").exit, 0);
  EXPECT_EQ(shell("cellar trace record r.trace -- put shop t r f:q hbase://localhost:1").exit, 0);
}

TEST_F(ClusterCommands, CommandsPrintTheSameAsForAStore) {
  if (!builds_serve()) return;
  const std::string lines =
      "set -e\n"
      "cellar create $H orders d c\n"
      "cellar put $H orders u1 d:name Ada c:n 7 --ts 5\n"
      "cellar put $H orders u2 d:name Bob --ts 6\n"
      "cellar incr $H orders u2 c:n 5\n"
      "cellar get $H orders u1 --format jsonl\n"
      "cellar scan $H orders --column d:name --format jsonl\n"
      "cellar count $H orders --format csv\n"
      "cellar get-counter $H orders u2 c:n\n"
      "cellar alter $H orders d:max_versions=5\n"
      "cellar delete $H orders u1 d:name\n"
      "cellar shell $H -c \"put orders u3 d:name Grace 9; count orders; deleteall orders u2\" --format "
      "jsonl\n"
      "cellar scan $H orders --format jsonl\n"
      "cellar truncate $H orders\n"
      "cellar scan $H orders\n"
      "cellar drop $H orders\n"
      "cellar list $H --format jsonl\n";
  const ToolResult cluster = on_cluster(lines);
  const ToolResult store = shell("H=local\n" + lines);
  EXPECT_EQ(store.exit, 0) << store.err;
  EXPECT_EQ(cluster.exit, 0) << cluster.err;
  EXPECT_EQ(cluster.out, store.out);
  EXPECT_THAT(cluster.out, HasSubstr("Grace"));
}

TEST_F(ClusterCommands, AClusterHasNoFilesAndNoSizes) {
  if (!builds_serve()) return;
  const ToolResult cluster = on_cluster(
      "cellar create $H orders d && cellar list $H && cellar describe $H orders && "
      "cellar describe $H orders --format jsonl && cellar get $H order u1");
  EXPECT_EQ(cluster.out.find("cells_in_memory"), std::string::npos) << cluster.out;
  EXPECT_EQ(cluster.out.find("on disk"), std::string::npos) << cluster.out;
  EXPECT_THAT(cluster.out, HasSubstr("\"max_versions\":1"));
  for (const char* const member : {"\"id\"", "\"files\"", "\"memtables\"", "write_amplification"})
    EXPECT_EQ(cluster.out.find(member), std::string::npos) << cluster.out;
  EXPECT_THAT(cluster.err, HasSubstr("has no table \"order\""));
  EXPECT_THAT(cluster.err, HasSubstr("did you mean orders?"));
}

// Statements of the shell in their order, each with what was answered.
using Answers = std::vector<std::pair<std::string, std::string>>;

// Takes what the shell printed with --echo. Times, sizes and the place are taken out: they differ each time.
Answers answers_of(std::string printed) {
  RE2::GlobalReplace(&printed, R"((store|cluster) (local|hbase://\S+?:\d+))", "db");
  RE2::GlobalReplace(&printed, R"(cellar list \S+\))", "cellar list db)");
  RE2::GlobalReplace(&printed, R"(20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ)", "(some time in this age) ");
  RE2::GlobalReplace(&printed, R"(\d[0-9,.]* (µs|ms|s)\b)", "some time");
  // A cluster does not tell how many files it has, and how large they are.
  RE2::GlobalReplace(&printed, R"((flushed): the store has .*)", "\\1");
  RE2::GlobalReplace(&printed, R"((compacted): \d+ store files? now; .*)", "\\1");
  RE2::GlobalReplace(&printed, R"( +files +bytes +cells_in_memory\n)", "\n");
  RE2::GlobalReplace(&printed, R"((?m)^(\S+ +[a-z0-9,]+) +[0-9,]+ +[0-9.,]+ [KM]?i?B +[0-9,]+$)", "\\1");
  Answers answers;
  for (const std::string& line : split_lines(printed)) {
    if (line.starts_with("> ") || answers.empty())
      answers.emplace_back(line, "");
    else
      answers.back().second += line + "\n";
  }
  return answers;
}

// Returns true if the answer says what a store alone can do. Drops find fewer tables on a cluster: it has no
// clones of snapshots, and hbase:meta is its own.
bool only_of_stores(const std::string& statement, const std::string& answer) {
  if (statement.starts_with("> drop")) return true;
  for (const std::string_view text :
       {"an HBase cluster has no snapshots", "an HBase cluster has no explanations",
        "a cluster does not tell its sizes", "is the cluster's own table", "belongs to the server",
        "does not ask a cluster which of its tables are enabled", "itself disables a table of a cluster"})
    if (answer.find(text) != std::string::npos) return true;
  return false;
}

// The lines of the shell's conformance on a store, and once more on a cluster.
TEST_F(ClusterCommands, TheShellAnswersHBasesStatementsAsOnAStore) {
  if (!builds_serve()) return;
  uint64_t same = 0, refused = 0;
  for (const std::string file : {"shell/hbase_options.txt", "shell/hbase_forms.txt"}) {
    {
      std::ofstream statements(path("statements.txt"));
      for (const Case& c : read_cases(file))
        statements << (c.command == "json" ? ".format json\n" + c.input + "\n.format table" : c.input)
                   << "\n";
    }
    for (const char* place : {"served", "local"}) std::filesystem::remove_all(path(place));
    const std::string run = "cellar shell $H -f statements.txt --keep-going --echo --yes 2>&1; true";
    const Answers on_cluster = answers_of(this->on_cluster(run).out);
    const Answers on_store = answers_of(shell("H=local\n" + run).out);
    ASSERT_EQ(on_cluster.size(), on_store.size()) << file;
    for (size_t i = 0; i < on_store.size(); ++i) {
      EXPECT_EQ(on_cluster[i].first, on_store[i].first) << file;
      if (on_cluster[i].second == on_store[i].second)
        ++same;
      else if (only_of_stores(on_store[i].first, on_cluster[i].second))
        ++refused;
      else
        EXPECT_EQ(on_cluster[i].second, on_store[i].second) << file << ": " << on_store[i].first;
    }
  }
  count(same, "statements of HBase's shell with the same answer on a cluster and on a store");
  count(refused, "statements of HBase's shell that a cluster refuses");
  EXPECT_GE(same, 680U);
  EXPECT_LE(refused, 85U);
}

}  // namespace
}  // namespace cellar::testing
