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

using ::testing::EndsWith;
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

// Writes a file of the rows at which regions begin. The second one has an escaped byte.
constexpr std::string_view kWriteSplits = "printf 'm\\nd\\\\x00\\n' >splits.txt; set -e\n";

TEST_F(ClusterCommands, CreateCutsATableOfAClusterIntoRegions) {
  if (!builds_serve()) return;
  const ToolResult cluster =
      on_cluster(std::string(kWriteSplits) +
                 "cellar create $H orders d --splits splits.txt\n"
                 "cellar create $H hashes d --regions 4 --split-by hex\n"
                 "cellar create $H bytes d --regions 2 --split-by uniform\n"
                 "cellar create $H numbers d --regions 3 --split-by DecimalStringSplit\n"
                 "cellar create $H plain d\n"
                 "for t in orders hashes bytes numbers plain; do echo $t; "
                 "cellar shell $H --format raw -c \"get_splits '$t'\"; done\n"
                 "for row in a d e n; do cellar put $H orders $row d:q $row; done\n"
                 "cellar scan $H orders --format raw --limit 10\n");
  EXPECT_EQ(cluster.exit, 0) << cluster.err;
  EXPECT_THAT(cluster.out, HasSubstr("orders\nd\\x00\nm\n"
                                     "hashes\n40000000\n80000000\nc0000000\n"
                                     "bytes\n\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00\n"
                                     "numbers\n33333333\n66666666\n"
                                     "plain\na\nd\ne\nn\n"));
  EXPECT_THAT(cluster.err, HasSubstr("created table orders with 1 family and 3 regions\n"));
  EXPECT_THAT(cluster.err, HasSubstr("created table plain with 1 family\n"));
}

TEST_F(ClusterCommands, CreateRefusesRegionsThatDoNotFit) {
  write_file("splits.txt", "m\nd\n");
  write_file("hole.txt", "m\n\nd\n");
  write_file("twice.txt", "m\nd\nm\n");
  const std::string on_cluster = "hbase://localhost:1 t f ";
  for (const auto& [words, fault] : std::vector<std::pair<std::string, std::string>>{
           {on_cluster + "--splits hole.txt", "a row key is empty\n       place       hole.txt: line 2"},
           {on_cluster + "--splits twice.txt", "row key \"m\" is given twice"},
           {on_cluster + "--splits splits.txt --regions 4",
            "--splits tells the regions, and so does --regions"},
           {on_cluster + "--splits splits.txt --split-by hex",
            "--splits tells the regions, and so does --split-by"},
           {on_cluster + "--regions 4", "--split-by is missing"},
           {on_cluster + "--split-by hex", "--regions is missing"},
           {on_cluster + "--regions 0 --split-by hex", "the number of regions is 0, and must be from 2 to"},
           {on_cluster + "--regions 1 --split-by hex", "the number of regions is 1, and must be from 2 to"},
           {on_cluster + "--regions 100001 --split-by hex", "the number of regions is 100001, and must be"},
           {on_cluster + "--regions 4 --split-by hax", "did you mean hex?"},
           {on_cluster + "--regions 4 --split-by UnifromSplit", "did you mean UniformSplit?"},
           {"shop t f --splits splits.txt", "--splits is for tables of a cluster"},
           {"shop t f --regions 4 --split-by hex", "--regions is for tables of a cluster"},
           {"shop t f --split-by hex", "a table of a store has one region"}}) {
    const ToolResult refused = shell("cellar create " + words);
    EXPECT_EQ(refused.exit, 2) << words << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("CEL-INVALID-ARGUMENT")) << words;
    EXPECT_THAT(refused.err, HasSubstr(fault)) << words;
  }
  EXPECT_EQ(shell("cellar create " + on_cluster + "--splits none.txt").exit, 3);
  EXPECT_FALSE(std::filesystem::exists(path("shop")));
}

TEST_F(ClusterCommands, TheShellCreatesTablesWithRegions) {
  if (!builds_serve()) return;
  write_file("splits.txt", "m\nd\n");
  write_file("statements.txt",
             "create 'a', 'f', SPLITS => ['m', 'd\\x00', \"b\\x01\"]\n"
             "get_splits 'a'\n"
             "create 'b', 'f', SPLITS_FILE => 'splits.txt', DURABILITY => 'ASYNC_WAL'\n"
             "get_splits 'b'\n"
             "create 'c', {NAME => 'f', VERSIONS => 3}, {NUMREGIONS => 4, SPLITALGO => 'HexStringSplit'}\n"
             "get_splits 'c'\n"
             "create d f numregions=2 splitalgo=decimal\n"
             "get_splits d\n"
             "create e f splits=[k,p]\n"
             "get_splits e\n"
             "create 'none', 'f', SPLITS => []\n"
             "get_splits 'none'\n"
             "alter 'none', SPLITS => ['q']\n"
             "describe 'c'\n");
  const ToolResult made = on_cluster("cellar shell $H -f statements.txt");
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("Total number of splits = 4\nb\\x01\nd\\x00\nm\n"
                                  "Total number of splits = 3\nd\nm\n"
                                  "Total number of splits = 4\n40000000\n80000000\nc0000000\n"
                                  "Total number of splits = 2\n50000000\n"
                                  "Total number of splits = 3\nk\np\n"
                                  "Total number of splits = 1\n"));
  EXPECT_THAT(made.out, HasSubstr("VERSIONS => '3'"));
  EXPECT_EQ(made.out.find("SPLIT"), std::string::npos) << "no attribute of the table: " << made.out;
  EXPECT_THAT(made.err, HasSubstr("created table a with 1 family and 4 regions\n"));
  EXPECT_THAT(made.err, HasSubstr("created table none with 1 family\n"
                                  "note   SPLITS has no effect: only create cuts a table into regions\n"));
}

TEST_F(ClusterCommands, TheShellPointsAtRegionsThatDoNotFit) {
  if (!builds_serve()) return;
  write_file("hole.txt", "m\n\nd\n");
  struct Wrong {
    std::string attributes;
    std::string fault;
    size_t column;  // 0: another place is told
  };
  const std::vector<Wrong> wrong = {
      {"SPLITS => ['a', '']", "a row at which a region begins is empty", 22},
      {"SPLITS => ['a', 'b', 'a']", "two regions would begin at row \"a\"", 22},
      {"SPLITS => ['a\\xZZ']", "backslash without x and two hexadecimal digits", 22},
      {"SPLITS => {A => 'b'}", "expected a text", 22},
      {"SPLITS => ['a'], SPLITS => ['b']", "SPLITS is given twice", 39},
      {"SPLITS => ['a'], NUMREGIONS => 3", "SPLITS names the regions, and so does NUMREGIONS", 43},
      {"SPLITS_FILE => 'hole.txt'", "a row key is empty", 0},
      {"SPLITS_FILE => 'none.txt'", "cannot open none.txt", 27},
      {"NUMREGIONS => 3", "SPLITALGO is missing", 26},
      {"SPLITALGO => 'HexStringSplit'", "NUMREGIONS is missing", 25},
      {"NUMREGIONS => 1, SPLITALGO => 'HexStringSplit'", "1 is less than 2", 26},
      {"NUMREGIONS => many, SPLITALGO => 'HexStringSplit'", "many", 26},
      {"NUMREGIONS => 1000000, SPLITALGO => 'HexStringSplit'", "must be from 2 to 100000", 26},
      {"NUMREGIONS => 3, SPLITALGO => 'HexStrngSplit'", "did you mean HexStringSplit?", 42},
      {"NUMREGIONS => 3, SPLITALGO => 'org.x.Split'", "HBase's names are HexStringSplit,", 42}};
  std::string lines;
  for (size_t i = 0; i < wrong.size(); ++i) {
    write_file("wrong" + std::to_string(i), "create x f " + wrong[i].attributes);
    lines += "cellar shell $H -f wrong" + std::to_string(i) + " 2>answer" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(on_cluster(lines + "cellar list $H --format csv").out, "") << "no table was made";
  for (size_t i = 0; i < wrong.size(); ++i) {
    const std::string answer = read_file("answer" + std::to_string(i));
    EXPECT_THAT(answer, HasSubstr(wrong[i].fault)) << wrong[i].attributes;
    if (wrong[i].column == 0) continue;  // the file has the place
    EXPECT_THAT(answer, HasSubstr("line 1, column " + std::to_string(wrong[i].column) + "\n"))
        << wrong[i].attributes;
  }
}

TEST_F(ClusterCommands, RegionsAreToldInAllFormats) {
  if (!builds_serve()) return;
  const std::string splits = "cellar shell $H -c \"get_splits 'orders'\" --format ";
  const ToolResult told = on_cluster(
      std::string(kWriteSplits) +
      "cellar create $H orders d --splits splits.txt\ncellar create $H plain d\n"
      "cellar describe $H orders\ncellar describe $H plain\ncellar describe $H --format json >all.json\n"
      "cellar shell $H -c \"describe 'orders'\" --format json >one.json\n" +
      splits + "jsonl\n" + splits + "csv\n" + splits +
      "raw >again.txt\n"
      "cellar create $H orders2 d --splits again.txt\n"
      "cellar shell $H -c \"get_splits 'orders2'\" --format json >again.json\n");
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("table orders\n  regions      3\n"));
  EXPECT_THAT(told.out, HasSubstr("table plain\n  regions      1\n"));
  EXPECT_THAT(told.out,
              HasSubstr("{\"name\":\"splits\",\"value\":2}\n{\"name\":\"split\",\"value\":\"d\\\\x00\"}\n"
                        "{\"name\":\"split\",\"value\":\"m\"}\n"
                        "name,value\nsplits,2\nsplit,d\\x00\nsplit,m\n"));
  const auto all = nlohmann::json::parse(read_file("all.json"), nullptr, false);
  EXPECT_EQ(all["tables"][0].value("regions", 0), 3);
  EXPECT_EQ(all["tables"][1].value("regions", 0), 1);
  const auto one = nlohmann::json::parse(read_file("one.json"), nullptr, false);
  EXPECT_EQ(one["tables"][0], all["tables"][0]);
  const auto again = nlohmann::json::parse(read_file("again.json"), nullptr, false);
  EXPECT_EQ(again["answers"][1]["value"], "d\\x00");
  EXPECT_EQ(again["answers"].size(), 3u);
  make_shop();
  EXPECT_EQ(out_of({"describe", "shop", "orders"}).find("regions"), std::string::npos);
  EXPECT_FALSE(json_of({"describe", "shop", "orders"})["tables"][0].contains("regions"));
}

TEST_F(ClusterCommands, ALoadOfHFilesCreatesATableWithRegions) {
  if (!builds_serve()) return;
  make_shop();
  write_file("splits.txt", "user42\n");
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "load", "--splits", "splits.txt"});
  const std::string load = "cellar bulkload ingest load $H orders --create --splits splits.txt\n";
  const ToolResult loaded =
      on_cluster(load + load + "cellar shell $H -c \"get_splits 'orders'\" --format raw\n");
  EXPECT_EQ(loaded.exit, 0) << loaded.err;
  EXPECT_THAT(loaded.out, EndsWith("copy\nuser42\n"));
  EXPECT_EQ(out_of({"scan", "served", "orders"}), out_of({"scan", "shop", "orders"}));
  EXPECT_THAT(loaded.err, HasSubstr("created table orders with 2 families and 2 regions\n"));
  EXPECT_THAT(loaded.err, HasSubstr("note   --splits has no effect: table orders exists"));
  for (const auto& [words, fault] : std::vector<std::pair<std::string, std::string>>{
           {"load hbase://localhost:1 orders --splits splits.txt", "does not take --splits without --create"},
           {"load copy orders --create --splits splits.txt", "does not take --splits into a store"}}) {
    const ToolResult refused = shell("cellar bulkload ingest " + words);
    EXPECT_EQ(refused.exit, 2) << words;
    EXPECT_THAT(refused.err, HasSubstr(fault)) << words;
  }
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
  // A table of a store has one region, whatever create is told.
  RE2::GlobalReplace(&printed, R"(note   (SPLITS|SPLITS_FILE|NUMREGIONS|SPLITALGO) has no effect: .*\n)", "");
  RE2::GlobalReplace(&printed, R"((created table \S+ with .*) and \d+ regions)", "\\1");
  RE2::GlobalReplace(&printed, R"(Total number of splits = 1\n)",
                     "a table of a store is one region and has no splits\n");
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
  write_file("zones.txt", "north\nsouth\n");
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
