// Goal: every command on a store does what its help says.
// Method: the real program in a directory of its own; what it prints is compared, in JSON where that is
// clearer.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "tests/support/address_space.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using StoreCommands = ToolTest;

TEST_F(StoreCommands, CreateMakesStoreAndTable) {
  const ToolResult made = run({"create", "shop", "orders", "d:max_versions=3,COMPRESSION=GZ", "c"});
  EXPECT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_EQ(made.err, "created table orders with 2 families\n");
  const Json families = json_of({"describe", "shop", "orders"})["tables"][0]["families"];
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0]["name"], "c");
  EXPECT_EQ(families[1]["options"]["max_versions"], 3);
  EXPECT_EQ(families[1]["options"]["compression"], "gz");
}

// It does not lay out the log for what may come.
TEST_F(StoreCommands, AStoreOfOneCellIsSmall) {
  run({"create", "shop", "orders", "d"});
  const ToolResult put = run({"put", "shop", "orders", "r", "d:q", "v"});
  ASSERT_EQ(put.exit, 0) << put.err;
  // The kernel counts the peak of a child from the memory of the process that started it.
  constexpr uint64_t kMemoryKibMax = kSanitized ? 512u << 10 : 48u << 10;
  struct rusage own = {};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &own), 0);
  if (static_cast<uint64_t>(own.ru_maxrss) < kMemoryKibMax) {
    EXPECT_LT(put.memory_kib, kMemoryKibMax);
  }
  uint64_t disk_bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("shop"))) {
    struct stat facts = {};
    ASSERT_EQ(stat(entry.path().c_str(), &facts), 0);
    disk_bytes += static_cast<uint64_t>(facts.st_blocks) * 512;
  }
  EXPECT_GT(disk_bytes, 0u);
  EXPECT_LT(disk_bytes, 256u << 10);
}

// Restoring one must give what was there when it was made.
TEST_F(StoreCommands, ASnapshotIsReadAndNotWritten) {
  out_of({"create", "shop", "t", "f"});
  out_of({"put", "shop", "t", "r1", "f:q", "v"});
  out_of({"snapshot", "create", "shop", "s"});
  const std::string snapshot = "shop/snapshots/s";
  const std::vector<std::vector<std::string>> writes = {{"put", snapshot, "t", "r2", "f:q", "v"},
                                                        {"deleteall", snapshot, "t", "r1"},
                                                        {"create", snapshot, "new", "f"},
                                                        {"drop", snapshot, "t"},
                                                        {"flush", snapshot},
                                                        {"compact", snapshot, "t", "--major"},
                                                        {"shell", snapshot, "-c", "truncate 't'"}};
  for (const auto& each : writes) {
    const ToolResult refused = run(each);
    EXPECT_NE(refused.exit, 0) << each[0];
    EXPECT_NE(refused.err.find("this is snapshot s of a store"), std::string::npos) << each[0] << refused.err;
    EXPECT_NE(refused.err.find("cellar snapshot clone"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(run({"verify", snapshot}).exit, 0);
  EXPECT_NE(out_of({"scan", snapshot, "t"}).find("r1"), std::string::npos);
  EXPECT_NE(run({"shell", snapshot, "--read-only", "-c", "scan 't'"}).out.find("r1"), std::string::npos);
  out_of({"snapshot", "restore", "shop", "s"});
  EXPECT_NE(out_of({"scan", "shop", "t"}).find("r1"), std::string::npos);
}

TEST_F(StoreCommands, NamesInErrorsDoNotDriveTheTerminal) {
  out_of({"create", "shop", "t", "f"});
  const std::string red = "\x1b[31mX\x07";
  const std::vector<std::vector<std::string>> asked = {{"feed", "read", "shop", red},
                                                       {"create", "shop", "n", red},
                                                       {"create", "shop", red, "f"},
                                                       {"create", "shop", "n", "f:" + red + "=1"},
                                                       {"scan", "shop", red},
                                                       {"get", "shop", "t", "r", red + ":q"},
                                                       {"snapshot", "restore", "shop", red},
                                                       {"alter", "shop", "t", red + "=1"},
                                                       {"scan", red, "t"},
                                                       {red},
                                                       {"scan", "shop", "t", "--" + red},
                                                       {"scan", "shop", "t", "--filter", red}};
  for (const auto& each : asked) {
    const ToolResult refused = run(each);
    EXPECT_NE(refused.exit, 0) << each[0];
    EXPECT_EQ(refused.err.find_first_of("\x1b\x07"), std::string::npos) << escaped(refused.err);
    EXPECT_NE(refused.err.find("\\x1B[31mX\\x07"), std::string::npos) << refused.err;
  }
}

TEST_F(StoreCommands, CreateTakesAPolicyWithParameters) {
  out_of({"create", "shop", "t", "d:compaction=exploring(ratio=1.5, files_min=4),max_versions=2"});
  const Json options = json_of({"describe", "shop"})["tables"][0]["families"][0]["options"];
  EXPECT_EQ(options["max_versions"], 2);
  EXPECT_EQ(options["compaction"], "exploring(ratio=1.5, files_min=4)");
}

// From the option to the file and back: what create and alter say is what inspect finds.
TEST_F(StoreCommands, CodecsAndFiltersReachTheFiles) {
  out_of({"create", "shop", "t",
          "d:COMPRESSION=ZSTD(level=9, framing=hbase),BLOOMFILTER=ROWPREFIX_FIXED_LENGTH(prefix_length=3),"
          "bloom_hash=MURMUR3"});
  const Json options = json_of({"describe", "shop"})["tables"][0]["families"][0]["options"];
  EXPECT_EQ(options["compression"], "zstd(level=9, framing=hbase)");
  EXPECT_EQ(options["bloom"], "rowprefix_fixed_length(prefix_length=3)");
  EXPECT_EQ(options["bloom_hash"], "murmur3");
  const auto newest_file = [&](const std::string& row) {
    out_of({"put", "shop", "t", row, "d:q", "1"});
    out_of({"flush", "shop"});
    Json newest;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("shop/tables"))) {
      if (entry.path().filename().string().size() != 32) continue;
      Json file = json_of({"inspect", entry.path().string()})["files"][0];
      if (file["bloom"]["last_key"] == row || row.starts_with(file["bloom"]["last_key"].get<std::string>()))
        newest = file;
    }
    return newest;
  };
  const Json first = newest_file("abcdef");
  EXPECT_EQ(first["codec"], "ZSTD");
  EXPECT_EQ(first["bloom"]["type"], "ROWPREFIX_FIXED_LENGTH");
  EXPECT_EQ(first["bloom"]["prefix_bytes"], 3);
  EXPECT_EQ(first["bloom"]["hash"], "MURMUR3");
  out_of({"alter", "shop", "t", "d:compression=lz4,bloom=row,bloom_hash=jenkins"});
  const Json second = newest_file("xyz");
  EXPECT_EQ(second["codec"], "LZ4");
  EXPECT_EQ(second["bloom"]["type"], "ROW");
  EXPECT_EQ(second["bloom"]["hash"], "JENKINS");
  EXPECT_EQ(json_of({"scan", "shop", "t", "--prefix", "abc", "--explain"})["stats"]["cells_returned"], 1);

  const ToolResult level = run({"alter", "shop", "t", "d:compression=zstd(level=99)"});
  EXPECT_EQ(level.exit, 2) << level.err;
  EXPECT_NE(level.err.find("level of zstd must be a whole number from 1 to 22"), std::string::npos)
      << level.err;
  const ToolResult length = run({"alter", "shop", "t", "d:bloom=rowprefix_fixed_length"});
  EXPECT_EQ(length.exit, 2) << length.err;
  EXPECT_NE(length.err.find("prefix_length"), std::string::npos) << length.err;
}

TEST_F(StoreCommands, EveryEncodingCanBeChosenByHBasesName) {
  for (const std::string encoding : {"ROW_INDEX_V1", "PREFIX", "DIFF", "FAST_DIFF"}) {
    const std::string store = "shop_" + encoding;
    out_of({"create", store, "t", "d:DATA_BLOCK_ENCODING=" + encoding + ",COMPRESS_TAGS=false"});
    const Json options = json_of({"describe", store})["tables"][0]["families"][0]["options"];
    EXPECT_EQ(options["compress_tags"], false);
    out_of({"put", store, "t", "row1", "d:q", "value", "--ts", "5"});
    out_of({"put", store, "t", "row2", "d:q", "value", "--ts", "5"});
    out_of({"flush", store});
    EXPECT_EQ(json_of({"inspect", store})["files"][0]["data"]["encoding"], encoding);
    EXPECT_EQ(out_of({"get", store, "t", "row2", "--format", "raw"}), "value\n");
  }
  const ToolResult refused = run({"create", "shop", "t", "d:encoding=prefix_tree"});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.err.find("fast_diff, none, prefix, row_index_v1"), std::string::npos) << refused.err;
}

TEST_F(StoreCommands, ListShowsTablesSorted) {
  make_shop();
  const Json tables = json_of({"list", "shop"})["tables"];
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0]["table"], "orders");
  EXPECT_EQ(tables[0]["families"], Json::array({"c", "d"}));
  EXPECT_EQ(tables[1]["table"], "people");
  EXPECT_EQ(out_of({"list", "shop", "--format", "csv"}).substr(0, 6), "table,");
}

TEST_F(StoreCommands, GetPrintsARow) {
  make_shop();
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "--quiet"}),
            "row     column  time                      value\n"
            "user42  d:mail  1970-01-01T00:00:01.000Z  ada@example.org\n"
            "        d:name  1970-01-01T00:00:02.000Z  Ada Lovelace\n");
  EXPECT_EQ(
      out_of({"get", "shop", "orders", "user42", "d:name", "--versions", "2", "--format", "jsonl"}),
      R"({"row":"user42","family":"d","qualifier":"name","ts":2000,"type":"Put","value":"Ada Lovelace"})"
      "\n"
      R"({"row":"user42","family":"d","qualifier":"name","ts":1000,"type":"Put","value":"Ada"})"
      "\n");
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "d:name", "--time", "..2000ms", "--format", "raw"}),
            "Ada\n");
}

TEST_F(StoreCommands, GetAndScanPageThroughTheColumnsOfAFamily) {
  make_shop();
  const auto cells = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--versions", "all", "--format", "csv"});
    const std::string lines = out_of(words);
    return std::ranges::count(lines, '\n') - 1;  // the first line names the columns
  };
  EXPECT_EQ(cells({"get", "shop", "orders", "user42"}), 3);
  EXPECT_EQ(cells({"get", "shop", "orders", "user42", "--offset-per-family", "1"}), 2);
  EXPECT_EQ(cells({"get", "shop", "orders", "user42", "--limit-per-family", "1"}), 1);
  EXPECT_EQ(cells({"get", "shop", "orders", "user42", "--limit-per-family", "2", "--per-cell"}), 2);
  const std::vector<std::string> scan = {"scan", "shop", "orders", "--start", "user42", "--limit", "1"};
  const auto scanned = [&](std::vector<std::string> more) {
    more.insert(more.begin(), scan.begin(), scan.end());
    return cells(more);
  };
  EXPECT_EQ(scanned({}), 3);
  EXPECT_EQ(scanned({"--offset-per-family", "1", "--limit-per-family", "1"}), 2);
  EXPECT_EQ(scanned({"--offset-per-family", "1", "--limit-per-family", "1", "--per-cell"}), 1);
  EXPECT_EQ(run({"get", "shop", "orders", "user42", "--limit-per-family", "4294967296"}).exit, 2);
}

TEST_F(StoreCommands, BoundsOfAScanMayBeInOrOut) {
  out_of({"create", "shop", "t", "d"});
  for (const char* row : {"a", "b", "c", "d"}) out_of({"put", "shop", "t", row, "d:q", row});
  const auto rows = [&](std::vector<std::string> options) {
    const std::vector<std::string> scan = {"scan",   "shop", "t",        "--start", "a",
                                           "--stop", "c",    "--format", "raw"};
    options.insert(options.begin(), scan.begin(), scan.end());
    return out_of(options);
  };
  EXPECT_EQ(rows({}), "a\nb\n");
  EXPECT_EQ(rows({"--start-exclusive"}), "b\n");
  EXPECT_EQ(rows({"--stop-inclusive"}), "a\nb\nc\n");
  EXPECT_EQ(rows({"--start-exclusive", "--stop-inclusive"}), "b\nc\n");
  EXPECT_EQ(json_of({"count", "shop", "t", "--stop", "c", "--stop-inclusive"})["counts"][0]["rows"], 3);
  EXPECT_EQ(run({"scan", "shop", "t", "--start-exclusive"}).exit, 2);
  EXPECT_EQ(run({"count", "shop", "t", "--stop-inclusive"}).exit, 2);
}

TEST_F(StoreCommands, StrictVersionsLeaveOutWhatACompactionWouldDrop) {
  out_of({"create", "shop", "t", "d"});
  out_of({"put", "shop", "t", "r", "d:q", "old", "--ts", "10"});
  out_of({"put", "shop", "t", "r", "d:q", "new", "--ts", "20"});
  EXPECT_EQ(out_of({"get", "shop", "t", "r", "--time", "..15", "--format", "raw"}), "old\n");
  EXPECT_EQ(run({"get", "shop", "t", "r", "--time", "..15", "--strict-versions"}).exit, 1);
  EXPECT_EQ(out_of({"scan", "shop", "t", "--time", "..15", "--strict-versions", "--format", "raw"}), "");
}

TEST_F(StoreCommands, ExplainCountsRowsLookedAtAndFiltered) {
  make_shop();
  const Json stats =
      json_of({"scan", "shop", "orders", "--filter", "RowFilter(=, 'binary:user42')", "--explain"})["stats"];
  EXPECT_EQ(stats["rows_returned"], 1);
  EXPECT_GT(stats["rows_filtered"].get<int>(), 0);
  EXPECT_EQ(stats["rows_scanned"].get<int>(), 1 + stats["rows_filtered"].get<int>());
  const ToolResult table = run({"scan", "shop", "orders", "--explain"});
  EXPECT_NE(table.err.find("looked at, 0 filtered out"), std::string::npos) << table.err;
}

TEST_F(StoreCommands, GetOfNothingEndsWithOne) {
  make_shop();
  const ToolResult result = run({"get", "shop", "orders", "user99"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "no row \"user99\"\n");
  EXPECT_EQ(run({"get", "shop", "orders", "user99", "--format", "json", "-q"}).out,
            "{\"schema\":\"cellar.cells/1\",\"cells\":[]}\n");
}

TEST_F(StoreCommands, BytesAreWrittenAndReadAsEscapes) {
  make_shop();
  out_of({"put", "shop", "orders", "\\x00\\xFFkey", "d:\\x01", "a\\x5Cb\\x0A", "--ts", "5"});
  const std::string line = out_of({"get", "shop", "orders", "\\x00\\xFFkey", "--format", "jsonl"});
  EXPECT_EQ(
      line,
      R"({"row":"\\x00\\xFFkey","family":"d","qualifier":"\\x01","ts":5,"type":"Put","value":"a\\x5Cb\\x0A"})"
      "\n");
}

TEST_F(StoreCommands, ValuesComeInForms) {
  make_shop();
  out_of({"put", "shop", "orders", "n", "c:long", "-17", "--as", "long"});
  out_of({"put", "shop", "orders", "n", "c:hex", "00ff10", "--as", "hex"});
  EXPECT_EQ(out_of({"get", "shop", "orders", "n", "c:long", "--as", "long", "--format", "raw"}), "-17\n");
  EXPECT_EQ(out_of({"get", "shop", "orders", "n", "c:hex", "--as", "hex", "--format", "raw"}), "00ff10\n");
  EXPECT_EQ(out_of({"get", "shop", "orders", "n", "c:hex", "--format", "raw"}), "\\x00\\xFF\\x10\n");
}

TEST_F(StoreCommands, ExplainCountsWhatWasRead) {
  make_shop();
  out_of({"flush", "shop"});
  const Json document = json_of({"get", "shop", "orders", "user42", "d:name", "--explain"});
  EXPECT_EQ(document["stats"]["cells_returned"], 1);
  EXPECT_GE(document["stats"]["files_considered"].get<int>(), 1);
  const ToolResult table = run({"get", "shop", "orders", "user42", "d:name", "--explain"});
  EXPECT_NE(table.err.find("blocks "), std::string::npos) << table.err;
}

TEST_F(StoreCommands, ExplainedFilesAddUp) {
  out_of({"create", "shop", "t", "d:compaction=exploring(files_min=10)"});  // the files stay three
  for (const char* row : {"a", "c", "e"}) {
    out_of({"put", "shop", "t", row, "d:q", "1"});
    out_of({"put", "shop", "t", std::string(row) + "z", "d:q", "1"});
    out_of({"flush", "shop"});
  }
  const ToolResult missing = run({"get", "shop", "t", "ay", "--explain", "--format", "json"});
  const Json stats = Json::parse(missing.out)["stats"];
  EXPECT_EQ(stats["files_considered"], 3);
  EXPECT_EQ(stats["files_skipped_range"], 2);
  EXPECT_EQ(stats["files_skipped_bloom"], 1) << "the Bloom filter of the one file that may hold the row";
  EXPECT_EQ(stats["bloom_checks"], 1);
}

TEST_F(StoreCommands, AFamilyWhoseDirectoryIsGoneIsDamage) {
  out_of({"create", "shop", "t", "d"});
  out_of({"put", "shop", "t", "row", "d:q", "1"});
  out_of({"flush", "shop"});
  std::filesystem::remove_all(path("shop/tables/1/d"));
  const ToolResult result = run({"get", "shop", "t", "row"});
  EXPECT_EQ(result.exit, 3) << result.err;
  EXPECT_NE(result.err.find("and the directory is missing"), std::string::npos) << result.err;
}

TEST_F(StoreCommands, ScanGoesBothWaysWithinBounds) {
  make_shop();
  const auto rows = [&](std::vector<std::string> more) {
    std::vector<std::string> line = {"scan", "shop", "orders", "--format", "jsonl", "--column", "d:name"};
    line.insert(line.end(), more.begin(), more.end());
    std::string rows_seen;
    std::istringstream lines(out_of(line));
    for (std::string text; std::getline(lines, text);)
      rows_seen += Json::parse(text)["row"].get<std::string>() + " ";
    return rows_seen;
  };
  EXPECT_EQ(rows({}), "user41 user42 user43 ");
  EXPECT_EQ(rows({"--reverse"}), "user43 user42 user41 ");
  EXPECT_EQ(rows({"--start", "user42", "--limit", "1"}), "user42 ");
  EXPECT_EQ(rows({"--start", "user41", "--stop", "user43"}), "user41 user42 ");
  EXPECT_EQ(rows({"--prefix", "user43"}), "user43 ");
  EXPECT_EQ(rows({"--start", "user425", "--reverse", "--limit", "1"}), "user42 ");
  EXPECT_EQ(rows({"--batch", "1", "--versions", "all"}), "user41 user42 user42 user43 ");
}

// A range that ends before it begins has no rows: a note says why there are none.
TEST_F(StoreCommands, ARangeThatCanHaveNoRowIsTold) {
  make_shop();
  struct Case {
    std::vector<std::string> range;
    bool empty;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{"--start", "user43", "--stop", "user41"},
       true,
       "in ascending order, --start \"user43\" is not before --stop \"user41\""},
      {{"--start", "user42", "--stop", "user42"}, true, "--start \"user42\" is not before --stop \"user42\""},
      {{"--start", "\\xFF", "--stop", "user42"}, true, "--start \"\\xFF\" is not before --stop \"user42\""},
      {{"--start", "user42", "--stop", "user42", "--stop-inclusive"}, false, ""},
      {{"--start", "user42", "--stop", "user42", "--stop-inclusive", "--start-exclusive"},
       true,
       "is not before"},
      {{"--start", "user41", "--stop", "user43"}, false, ""},
      {{"--start", "user41"}, false, ""},
      {{"--stop", "user41"}, false, ""},
      {{"--start", "x", "--stop", "y"}, false, ""},
  };
  const auto run_with = [&](std::vector<std::string> words, const Case& each) {
    words.insert(words.end(), each.range.begin(), each.range.end());
    const ToolResult result = run(words);
    EXPECT_EQ(result.exit, 0) << result.err;
    const bool told = result.err.find("note   the range is empty: ") != std::string::npos;
    EXPECT_EQ(told, each.empty) << words[0] << ": " << result.err;
    EXPECT_NE(result.err.find(each.says), std::string::npos) << result.err;
    EXPECT_TRUE(!each.empty || words[0] == "count" || result.out.empty()) << result.out;
  };
  for (const Case& each : cases)
    for (const char* command : {"scan", "count", "export"}) run_with({command, "shop", "orders"}, each);
  const std::vector<Case> reverse = {
      {{"--start", "user41", "--stop", "user43"},
       true,
       "in reverse order, --start \"user41\" is not before --stop \"user43\""},
      {{"--start", "user43", "--stop", "user41"}, false, ""},
      {{"--start", "user43", "--stop", "user43"}, true, "is not before"},
  };
  for (const Case& each : reverse) run_with({"scan", "shop", "orders", "--reverse"}, each);
  const ToolResult shell = run({"shell", "shop", "-c", "scan 'orders', {STARTROW => 'b', STOPROW => 'a'}"});
  EXPECT_NE(shell.err.find("STARTROW \"b\" is not before STOPROW \"a\""), std::string::npos) << shell.err;
  const ToolResult one = run({"shell", "shop", "-c", "scan 'orders', {STARTROW => 'b', STOPROW => 'b'}"});
  EXPECT_EQ(one.err.find("empty"), std::string::npos) << one.err;
}

TEST_F(StoreCommands, DeleteHidesTheNewestVersionOnly) {
  make_shop();
  out_of({"delete", "shop", "orders", "user42", "d:name"});
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "d:name", "--format", "raw"}), "Ada\n");
  out_of({"delete", "shop", "orders", "user42", "d:name", "--all-versions"});
  EXPECT_EQ(run({"get", "shop", "orders", "user42", "d:name"}).exit, 1);
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "d:mail", "--format", "raw"}), "ada@example.org\n");
}

TEST_F(StoreCommands, DeleteOfOneTimeHidesThatVersion) {
  make_shop();
  out_of({"delete", "shop", "orders", "user42", "d:name", "--ts", "1000"});
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "d:name", "--versions", "all", "--format", "raw"}),
            "Ada Lovelace\n");
  const std::string raw =
      out_of({"scan", "shop", "orders", "--raw", "--prefix", "user42", "--format", "csv"});
  EXPECT_NE(raw.find("user42,d,name,1000,Delete,"), std::string::npos) << raw;
}

TEST_F(StoreCommands, DeleteAllHidesColumnsFamiliesAndRows) {
  make_shop();
  out_of({"deleteall", "shop", "orders", "user43", "c"});
  EXPECT_EQ(out_of({"get", "shop", "orders", "user43", "--format", "raw"}), "Edsger\n");
  out_of({"deleteall", "shop", "orders", "user42", "d:mail"});
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "--format", "raw"}), "Ada Lovelace\n");
  out_of({"deleteall", "shop", "orders", "user41"});
  EXPECT_EQ(run({"get", "shop", "orders", "user41"}).exit, 1);
}

TEST_F(StoreCommands, IncrAddsAndPrints) {
  make_shop();
  EXPECT_EQ(out_of({"incr", "shop", "orders", "home", "c:today", "--format", "raw"}), "1\n");
  EXPECT_EQ(out_of({"incr", "shop", "orders", "home", "c:today", "5", "c:week", "-2", "--format", "raw"}),
            "6\n-2\n");
  EXPECT_EQ(json_of({"incr", "shop", "orders", "home", "c:today", "0"})["counters"][0]["value"], 6);
  const ToolResult text = run({"incr", "shop", "orders", "user42", "d:name"});
  EXPECT_EQ(text.exit, 2) << "a value that is not 8 bytes long is no counter";
}

TEST_F(StoreCommands, GetCounterPrintsCounters) {
  make_shop();
  out_of({"incr", "shop", "orders", "home", "c:today", "7", "c:week", "-2"});
  EXPECT_EQ(out_of({"get-counter", "shop", "orders", "home", "c:week", "c:today", "--format", "raw"}),
            "-2\n7\n");
  const Json json = json_of({"get-counter", "shop", "orders", "home", "c:today"});
  for (const std::string& fault : schema_faults(json, schema_of("get-counter"))) ADD_FAILURE() << fault;
  EXPECT_EQ(json["counters"][0]["value"], 7);
  const ToolResult missing =
      run({"get-counter", "shop", "orders", "home", "c:none", "c:today", "--format", "raw"});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_EQ(missing.out, "7\n");
  EXPECT_NE(missing.err.find("no counter c:none"), std::string::npos) << missing.err;
  EXPECT_EQ(run({"get-counter", "shop", "orders", "user42", "d:name"}).exit, 2) << "not 8 bytes";
}

TEST_F(StoreCommands, AppendAddsToValuesAndPrintsThem) {
  make_shop();
  EXPECT_EQ(out_of({"append", "shop", "orders", "user42", "d:mail", ";paid", "--format", "raw"}),
            "ada@example.org;paid\n");
  const Json json = json_of({"append", "shop", "orders", "user42", "d:new", "a\\x00", "d:mail", ";sent"});
  for (const std::string& fault : schema_faults(json, schema_of("append"))) ADD_FAILURE() << fault;
  EXPECT_EQ(json["columns"][0]["column"], "d:mail");
  EXPECT_EQ(json["columns"][0]["value"], "ada@example.org;paid;sent");
  EXPECT_EQ(json["columns"][1]["value"], "a\\x00");
  EXPECT_EQ(out_of({"get", "shop", "orders", "user42", "d:mail", "--format", "raw"}),
            "ada@example.org;paid;sent\n");
  EXPECT_EQ(run({"append", "shop", "orders", "user42", "d:mail"}).exit, 2);
  EXPECT_EQ(run({"append", "shop", "orders", "user42", "x:mail", "v"}).exit, 3);
}

TEST_F(StoreCommands, PutIfWritesOnlyWhatHolds) {
  make_shop();
  const auto name = [&] { return out_of({"get", "shop", "orders", "user42", "d:name", "--format", "raw"}); };
  const auto put = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"put", "shop", "orders", "user42", "d:name"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const ToolResult other = put({"Grace", "--if", "d:name=Ada"});
  EXPECT_EQ(other.exit, 1);
  EXPECT_NE(other.err.find("d:name=Ada does not hold"), std::string::npos) << other.err;
  EXPECT_EQ(name(), "Ada Lovelace\n");
  EXPECT_EQ(put({"Grace", "--if", "d:name=Ada Lovelace"}).exit, 0);
  EXPECT_EQ(name(), "Grace\n");
  EXPECT_EQ(put({"Ada", "--if-absent", "d:name"}).exit, 1);
  EXPECT_EQ(put({"Ada", "--if-absent", "d:none"}).exit, 0);
  EXPECT_EQ(name(), "Ada\n");
  EXPECT_EQ(put({"x", "--if", "d:name"}).exit, 2);
  EXPECT_EQ(put({"x", "--if", "x:name=y"}).exit, 3);
  EXPECT_EQ(put({"x", "--if", "d:name=y", "--if-absent", "d:none"}).exit, 2);
  EXPECT_EQ(name(), "Ada\n");
}

TEST_F(StoreCommands, CountCountsRowsAndCells) {
  make_shop();
  const Json counts = json_of({"count", "shop", "orders"})["counts"][0];
  EXPECT_EQ(counts["rows"], 3);
  EXPECT_EQ(counts["cells"], 5);
  EXPECT_EQ(json_of({"count", "shop", "orders", "--versions", "all"})["counts"][0]["cells"], 6);
  EXPECT_EQ(json_of({"count", "shop", "orders", "--prefix", "user43"})["counts"][0]["rows"], 1);
}

TEST_F(StoreCommands, TimeToLiveHidesCells) {
  make_shop();
  out_of({"put", "shop", "orders", "old", "d:x", "1", "--ts", "now-2h", "--ttl", "1h"});
  out_of({"put", "shop", "orders", "new", "d:x", "1", "--ts", "now-2h", "--ttl", "3h"});
  EXPECT_EQ(run({"get", "shop", "orders", "old"}).exit, 1);
  EXPECT_EQ(run({"get", "shop", "orders", "new"}).exit, 0);
}

TEST_F(StoreCommands, FlushAndCompactKeepEveryCell) {
  make_shop();
  const std::string before = out_of({"export", "shop", "orders"});
  out_of({"flush", "shop", "orders"});
  out_of({"put", "shop", "orders", "zoe", "d:name", "Zoe", "--ts", "9"});
  out_of({"flush", "shop"});
  const Json compacted = json_of({"compact", "shop", "orders", "--major"})["tables"][0];
  EXPECT_EQ(compacted["files_after"], 2) << "one for each family";
  EXPECT_LT(compacted["files_after"].get<int>(), compacted["files_before"].get<int>());
  EXPECT_EQ(out_of({"export", "shop", "orders", "--stop", "zoe"}), before);
}

TEST_F(StoreCommands, StatusSaysWhatIsThere) {
  make_shop();
  const Json before = json_of({"status", "shop"});
  EXPECT_EQ(before["schema"], "cellar.status/1");
  EXPECT_EQ(before["health"], "ok");
  EXPECT_EQ(before["tables"], Json::array({"orders", "people"}));
  EXPECT_EQ(before["store_files"], 0);
  EXPECT_TRUE(before["recovery"]["clean"].get<bool>());
  out_of({"flush", "shop"});
  EXPECT_GE(json_of({"status", "shop"})["store_files"].get<int>(), 2);
  EXPECT_NE(out_of({"status", "shop"}).find("closed properly"), std::string::npos);
}

TEST_F(StoreCommands, AlterChangesAndAddsFamilies) {
  make_shop();
  EXPECT_EQ(run({"alter", "shop", "orders", "d:max_versions=7"}).err, "changed family d of table orders\n");
  EXPECT_EQ(run({"alter", "shop", "orders", "notes:compression=none"}).err,
            "added family notes of table orders\n");
  const Json families = json_of({"describe", "shop", "orders"})["tables"][0]["families"];
  ASSERT_EQ(families.size(), 3u);
  EXPECT_EQ(families[1]["options"]["max_versions"], 7);
  EXPECT_EQ(families[2]["name"], "notes");
}

TEST_F(StoreCommands, AlterRemovesAFamilyWithItsCellsAndFiles) {
  make_shop();
  out_of({"flush", "shop"});
  EXPECT_EQ(json_of({"count", "shop", "orders", "--column", "c"})["counts"][0]["cells"], 1);
  EXPECT_EQ(run({"alter", "shop", "orders", "--remove", "c"}).err, "removed family c of table orders\n");
  const Json families = json_of({"describe", "shop", "orders"})["tables"][0]["families"];
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0]["name"], "d");
  EXPECT_EQ(json_of({"count", "shop", "orders"})["counts"][0]["cells"], 4);
  EXPECT_TRUE(std::filesystem::is_empty(path("shop/tables/1/c")));
  // A family of that name begins empty.
  out_of({"alter", "shop", "orders", "c:max_versions=1"});
  EXPECT_EQ(json_of({"count", "shop", "orders", "--column", "c"})["counts"][0]["cells"], 0);
  EXPECT_EQ(run({"alter", "shop", "orders", "d:max_versions=9", "--remove", "e"}).exit, 3);
  EXPECT_EQ(json_of({"describe", "shop", "orders"})["tables"][0]["families"][1]["options"]["max_versions"], 3)
      << "half of an alter that was refused";
}

TEST_F(StoreCommands, CreateSaysWhatAWriteSurvives) {
  for (const char* durability : {"default", "skip_wal", "async_wal", "sync_wal", "fsync_wal"}) {
    out_of({"create", "shop", durability, "d", "--durability", durability});
    EXPECT_EQ(json_of({"describe", "shop", durability})["tables"][0]["durability"], durability);
  }
  // A write that skips the log is in no feed, which is read from the log.
  out_of({"feed", "create", "shop", "all"});
  out_of({"put", "shop", "skip_wal", "r", "d:q", "unlogged"});
  out_of({"put", "shop", "sync_wal", "r", "d:q", "logged"});
  const std::string read = out_of({"feed", "read", "shop", "all"});
  EXPECT_NE(read.find(" logged"), std::string::npos) << read;
  EXPECT_EQ(read.find("unlogged"), std::string::npos) << read;
  EXPECT_EQ(run({"create", "shop", "t", "d", "--durability", "fsync"}).exit, 2);
}

TEST_F(StoreCommands, DescribeShowsTheFilesOfAFamilyWhenAsked) {
  make_shop();
  out_of({"flush", "shop"});
  const Json families = json_of({"describe", "shop", "orders"})["tables"][0]["families"];
  EXPECT_EQ(out_of({"describe", "shop", "orders"}).find("user41 … user43"), std::string::npos);
  const std::string text = out_of({"describe", "shop", "orders", "--files"});
  EXPECT_NE(text.find("user41 … user43"), std::string::npos) << text;
  EXPECT_NE(text.find("user43 … user43"), std::string::npos) << text;
  for (const Json& family : families) {
    const Json& files = family["files"];
    ASSERT_EQ(files.size(), 1u) << family.dump();
    const std::string name = files[0]["name"];
    EXPECT_NE(text.find(name), std::string::npos) << text;
    EXPECT_TRUE(std::filesystem::exists(path("shop/tables/1/" + family["name"].get<std::string>()) / name));
  }
}

TEST_F(StoreCommands, DropRemovesATable) {
  make_shop();
  out_of({"drop", "shop", "orders"});
  EXPECT_EQ(json_of({"list", "shop"})["tables"].size(), 1u);
  EXPECT_EQ(run({"count", "shop", "orders"}).exit, 3);
}

TEST_F(StoreCommands, LookingWritesNothing) {
  make_shop();
  out_of({"flush", "shop", "orders"});
  out_of({"put", "shop", "orders", "user50", "d:name", "in the log only"});
  const std::string digest = "find shop -type f | sort | xargs sha256sum; find shop | sort";
  const std::string before = shell(digest).out;
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{{"list", "shop"},
                                             {"describe", "shop"},
                                             {"status", "shop"},
                                             {"get", "shop", "orders", "user50"},
                                             {"scan", "shop", "orders"},
                                             {"count", "shop", "orders"},
                                             {"export", "shop", "orders"},
                                             {"inspect", "shop"},
                                             {"verify", "shop"},
                                             {"dump", "shop"}}) {
    out_of(line);
    EXPECT_EQ(shell(digest).out, before) << "after cellar " << line[0];
  }
}

}  // namespace
}  // namespace cellar::testing
