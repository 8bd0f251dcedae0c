// Goal: commands take directories of HBase's: the table's own rules, plain errors for what would make answers
// wrong, and notes for what is passed over. Method: small directories, the real program.
#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/plugins.h"
#include "cellar/environment.h"
#include "tests/tools/hbase_files.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kParent = "00000000000000000000000000000aaa";
constexpr const char* kLow = "00000000000000000000000000000bbb";
constexpr const char* kHigh = "00000000000000000000000000000ccc";

// hbase/data/default/orders: a table of one family "d" of two versions, split at "m" once.
class HBaseCommands : public ToolTest {
 protected:
  HBaseCommands() {
    register_hfile_plugins();
    register_bloom_plugins();
    HBaseTableSchema schema;
    schema.table = {"default", "orders"};
    schema.families = {{"d", {{"VERSIONS", "2"}, {"MIN_VERSIONS", "0"}}}};
    write_table_schema(table(), schema);
    write_one_region(kParent, 1, "", "");
    write_one_region(kLow, 2, "", "m");
    write_one_region(kHigh, 2, "m", "");
    write_hfile(table() / kParent / "d" / "0a1",
                parse_cells("apple/d:n/10#1=a10\napple/d:n/20#2=a20\napple/d:n/30#3=a30\nzebra/d:n/10#4=z10"),
                {.sequence_max = 5});
    half(kLow, {"m", false});
    half(kHigh, {"m", true});
    write_hfile(table() / kHigh / "d" / "0b1", parse_cells("zebra/d:n/10#7=z10 again"), {.sequence_max = 7});
  }

  fs::path table() const { return path("hbase/data/default/orders"); }
  void write_one_region(const char* name, uint64_t id, const std::string& start,
                        const std::string& end) const {
    HBaseRegion region;
    region.id = id;
    region.table = {"default", "orders"};
    region.start = start;
    region.end = end;
    write_region(table() / name, region);
  }
  void half(const char* region, const HBaseHalf& what) const {
    write_half(table() / region / "d" / (std::string("0a1.") + kParent), what);
  }
  std::string note_of(std::vector<std::string> arguments) const {
    const ToolResult result = run(arguments);
    EXPECT_EQ(result.exit, 0) << result.err;
    return result.err;
  }
  // Exit status, code, part of the message, part of the hint.
  void expect_error(const std::vector<std::string>& arguments, int exit, const std::string& code,
                    const std::string& message, const std::string& hint) const {
    const ToolResult result = run(arguments);
    EXPECT_EQ(result.exit, exit) << result.err;
    EXPECT_NE(result.err.find("error  " + code), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(hint), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }
};

constexpr const char* kTable = "hbase/data/default/orders";

TEST_F(HBaseCommands, ScanAnswersByTheTablesRules) {
  const std::string all = out_of({"scan", kTable, "--versions", "all", "--format", "jsonl"});
  EXPECT_EQ(all, R"({"row":"apple","family":"d","qualifier":"n","ts":30,"type":"Put","value":"a30"})"
                 "\n"
                 R"({"row":"apple","family":"d","qualifier":"n","ts":20,"type":"Put","value":"a20"})"
                 "\n"
                 R"({"row":"zebra","family":"d","qualifier":"n","ts":10,"type":"Put","value":"z10 again"})"
                 "\n");
  EXPECT_EQ(out_of({"scan", kTable, "--reverse", "--limit", "1", "--format", "raw"}), "z10 again\n");
  EXPECT_EQ(json_of({"count", kTable})["counts"][0]["rows"], 2);
}

TEST_F(HBaseCommands, GetTakesNoTable) {
  EXPECT_EQ(out_of({"get", kTable, "apple", "--format", "raw"}), "a30\n");
  EXPECT_EQ(out_of({"get", kTable, "apple", "d:n", "--versions", "2", "--format", "raw"}), "a30\na20\n");
  EXPECT_EQ(run({"get", kTable, "nobody"}).exit, 1);
  const Json stats = json_of({"get", kTable, "zebra", "--explain"})["stats"];
  EXPECT_EQ(stats["files_considered"], 2);
}

TEST_F(HBaseCommands, ARootTakesTheTablesName) {
  EXPECT_EQ(out_of({"get", "hbase", "orders", "apple", "--format", "raw"}), "a30\n");
  EXPECT_EQ(out_of({"get", "hbase", "default:orders", "apple", "--format", "raw"}), "a30\n");
  expect_error({"scan", "hbase"}, 2, "CEL-USAGE", "hbase is a root directory of HBase, not a table",
               "cellar scan hbase orders");
  expect_error({"scan", "hbase", "ordrs"}, 3, "CEL-TABLE", "no table \"ordrs\"", "did you mean orders?");
  expect_error({"scan", "hbase/data/default"}, 2, "CEL-USAGE", "a namespace of HBase",
               "hbase/data/default/orders");
}

TEST_F(HBaseCommands, OperandsAreToldApart) {
  expect_error({"scan", kTable, "orders"}, 2, "CEL-USAGE", "unexpected argument: orders",
               "is itself a table");
  expect_error({"get", kTable}, 2, "CEL-USAGE", "ROW is missing", "usage: cellar get HBASE-DIR ROW");
  expect_error({"get", kTable, "orders", "apple"}, 3, "CEL-FAMILY", "no family \"apple\"",
               "is itself a table");
  make_shop();
  expect_error({"scan", "shop", "orders", "--assume", "d:max_versions=3"}, 2, "CEL-USAGE",
               "--assume applies only to", "cellar alter");
}

TEST_F(HBaseCommands, WhatCannotBeSeenIsSaid) {
  EXPECT_NE(note_of({"scan", kTable}).find("only in memory or in its log is missing"), std::string::npos);
  EXPECT_NE(note_of({"scan", kTable}).find(std::string("later regions replaced it: region ") + kParent),
            std::string::npos);
  EXPECT_EQ(note_of({"scan", kTable, "--quiet"}), "");
}

TEST_F(HBaseCommands, AHalfWithoutItsFileIsAnError) {
  fs::remove(table() / kParent / "d" / "0a1");
  const std::string half = std::string("is half of a file: HFile 0a1 of table orders, region ") + kParent;
  expect_error({"scan", kTable}, 3, "CEL-HBASE-FILE", half, "archive/");
  expect_error({"dump", kTable}, 3, "CEL-NOT-FOUND", half, "archive/");
  // HBase moves it there.
  const fs::path archived = path("hbase/archive/data/default/orders") / kParent / "d" / "0a1";
  write_hfile(archived, parse_cells("apple/d:n/50#1=archived"), {.sequence_max = 5});
  EXPECT_EQ(out_of({"get", kTable, "apple", "--format", "raw"}), "archived\n");
}

TEST_F(HBaseCommands, ALinkIsFollowedByItsNameAlone) {
  const std::string link = std::string("other=") + kParent + "-0c1";
  write_bytes(table() / kHigh / "d" / link, "");
  expect_error({"scan", kTable}, 3, "CEL-HBASE-FILE", "is a link: HFile 0c1 of table other", "archive/");
  write_hfile(path("hbase/data/default/other") / kParent / "d" / "0c1", parse_cells("yak/d:n/1#1=linked"),
              {.sequence_max = 6});
  EXPECT_EQ(out_of({"get", kTable, "yak", "--format", "raw"}), "linked\n");
  EXPECT_EQ(out_of({"dump", (std::string(kTable) + "/" + kHigh + "/d/" + link).c_str(), "--format", "raw"}),
            "linked\n");
  // Names that would lead elsewhere are no names of HBase's.
  write_bytes(table() / kHigh / "d" / "..=0a-0c1", "");
  EXPECT_NE(note_of({"scan", kTable}).find("left out"), std::string::npos);
}

TEST_F(HBaseCommands, LinksOfTheFileSystemAreNotFollowed) {
  write_hfile(path("elsewhere"), parse_cells("yak/d:n/1#1=elsewhere"), {});
  fs::create_symlink(path("elsewhere"), table() / kHigh / "d" / "0c1");
  expect_error({"scan", kTable}, 4, "CEL-NOT-SUPPORTED", "symbolic link", "");
  fs::remove(table() / kHigh / "d" / "0c1");
  fs::rename(table() / kParent / "d" / "0a1", path("moved"));
  fs::create_symlink(path("moved"), table() / kParent / "d" / "0a1");
  expect_error({"scan", std::string(kTable) + "/" + kLow}, 4, "CEL-NOT-SUPPORTED", "symbolic link", "");
}

TEST_F(HBaseCommands, ARegionAndAFamilyAreReadAlone) {
  EXPECT_EQ(out_of({"scan", std::string(kTable) + "/" + kHigh, "--format", "raw"}), "z10 again\n");
  EXPECT_EQ(out_of({"scan", std::string(kTable) + "/" + kLow + "/d", "--format", "raw"}), "a30\n");
  // Copied to where no root is, a half has no file.
  fs::copy(table() / kLow, path("copied"), fs::copy_options::recursive);
  expect_error({"scan", "copied"}, 3, "CEL-HBASE-FILE", "is not in", "name the table's directory");
  // A copy of the whole table has all.
  fs::copy(table(), path("whole"), fs::copy_options::recursive);
  EXPECT_EQ(out_of({"scan", "whole", "--format", "raw"}), "a30\nz10 again\n");
}

TEST_F(HBaseCommands, RegionsThatOverlapAreRefused) {
  write_one_region("00000000000000000000000000000ddd", 3, "c", "p");
  expect_error({"scan", kTable}, 4, "CEL-NOT-SUPPORTED", "another region has, too",
               "name the directory of one region");
}

TEST_F(HBaseCommands, ARegionWithoutItsDescriptorIsRefused) {
  fs::remove(table() / kHigh / ".regioninfo");
  expect_error({"scan", kTable}, 4, "CEL-NOT-SUPPORTED", "has no .regioninfo", "region's directory itself");
}

TEST_F(HBaseCommands, WithoutADescriptorDefaultsHoldOrWhatIsAssumed) {
  write_hfile(path("bulk/d/0a1"), parse_cells("apple/d:n/10#1=a10\napple/d:n/20#2=a20"), {});
  write_bytes(path("bulk/_SUCCESS"), "");
  write_bytes(path("bulk/d/_partial"), "x");
  write_bytes(path("bulk/d/README"), "words");
  const ToolResult plain = run({"scan", "bulk", "--versions", "all", "--format", "raw"});
  EXPECT_EQ(plain.out, "a20\n");
  EXPECT_NE(plain.err.find("no table descriptor"), std::string::npos) << plain.err;
  EXPECT_NE(plain.err.find("left out, not an HFile: "), std::string::npos) << plain.err;
  EXPECT_NE(plain.err.find("left out, hidden: "), std::string::npos) << plain.err;
  EXPECT_EQ(out_of({"scan", "bulk", "--assume", "d:max_versions=5", "--versions", "all", "--format", "raw"}),
            "a20\na10\n");
  expect_error({"scan", "bulk", "--assume", "e:max_versions=5"}, 3, "CEL-FAMILY", "no family \"e\"",
               "families: d");
}

TEST_F(HBaseCommands, TimeToLiveIsTheTables) {
  HBaseTableSchema schema;
  schema.table = {"default", "orders"};
  schema.families = {{"d", {{"VERSIONS", "2"}, {"TTL", "3600"}}}};
  write_table_schema(table(), schema, 2);
  const int64_t now = system_clock().wall_ms();
  write_hfile(table() / kLow / "d" / "0d1",
              parse_cells("fresh/d:n/" + std::to_string(now - 60'000) + "=here\nstale/d:n/" +
                          std::to_string(now - 7'200'000) + "=gone"),
              {.sequence_max = 8});
  EXPECT_EQ(out_of({"scan", kTable, "--format", "raw"}), "here\n");
}

// A file of a later load counts as written then, whatever stands in its cells.
TEST_F(HBaseCommands, ABulkLoadIsAsOldAsItsName) {
  HBaseFileFacts loaded;
  loaded.info["BULKLOAD_TIMESTAMP"] = std::string(8, '\1');
  write_hfile(table() / kHigh / "d" / "0e1_SeqId_6_", parse_cells("zebra/d:n/10#99=loaded before"), loaded);
  EXPECT_EQ(out_of({"get", kTable, "zebra", "--format", "raw"}), "z10 again\n");
  write_hfile(table() / kHigh / "d" / "0e2_SeqId_8_", parse_cells("zebra/d:n/10#0=loaded after"), loaded);
  EXPECT_EQ(out_of({"get", kTable, "zebra", "--format", "raw"}), "loaded after\n");
}

// A compaction's result names what it replaced: HBase moves those away when it opens the region next.
TEST_F(HBaseCommands, CompactedFilesAreLeftOut) {
  HBaseFileFacts compacted{.sequence_max = 9, .info = {}};
  compacted.info["COMPACTION_EVENT_KEY"] = "PBUF" + Message().bytes(1, "0b1").text();
  write_hfile(table() / kHigh / "d" / "0f1", parse_cells("zebra/d:n/20#9=compacted"), compacted);
  EXPECT_EQ(out_of({"get", kTable, "zebra", "--time", "..15", "--format", "raw"}), "z10\n");
}

TEST_F(HBaseCommands, HBasesListOfFilesCounts) {
  const std::string list =
      Message()
          .number(1, 1)
          .bytes(2, Message().bytes(1, std::string("0a1.") + kParent).number(2, 1).text())
          .text();
  std::string framed;
  append_be32(framed, static_cast<uint32_t>(list.size()));
  framed += list;
  append_be32(framed, crc32(list));
  write_bytes(table() / kHigh / "d" / ".filelist" / "f1", framed);
  const ToolResult result = run({"get", kTable, "zebra", "--format", "raw"});
  EXPECT_EQ(result.out, "z10\n");
  EXPECT_NE(result.err.find("not in HBase's list of files"), std::string::npos) << result.err;
}

TEST_F(HBaseCommands, ValuesInOtherFilesAreRefused) {
  HBaseFileFacts mob{.sequence_max = 9, .info = {}};
  mob.info["MOB_FILE_REFS"] = "orders/0123";
  write_hfile(table() / kHigh / "d" / "0f1", parse_cells("zebra/d:n/20#9=a reference"), mob);
  expect_error({"scan", kTable}, 4, "CEL-NOT-SUPPORTED", "MOB", "cellar dump");
}

TEST_F(HBaseCommands, ASnapshotIsReadFromTheArchive) {
  HBaseSnapshotManifest manifest;
  manifest.schema.table = {"default", "gone"};
  manifest.schema.families = {{"d", {}}};
  HBaseRegion region;
  region.id = 1763748251203;
  region.table = manifest.schema.table;
  const fs::path file = path("hbase/archive/data/default/gone") / region.encoded_name() / "d" / "0a1";
  write_hfile(file, parse_cells("row/d:n/1#1=then"), {.sequence_max = 1});
  manifest.regions = {{region, {{"d", {{"0a1", {}, fs::file_size(file)}}}}}};
  write_snapshot(path("hbase/.hbase-snapshot/s1"), "s1", manifest);
  const ToolResult result = run({"scan", "hbase/.hbase-snapshot/s1", "--format", "raw"});
  EXPECT_EQ(result.out, "then\n");
  EXPECT_EQ(result.err, "");  // nothing was only in memory
  EXPECT_EQ(out_of({"dump", "hbase/.hbase-snapshot/s1", "--format", "raw"}), "then\n");
  expect_error({"scan", "hbase/.hbase-snapshot"}, 2, "CEL-USAGE", "directory of snapshots",
               ".hbase-snapshot/s1");

  manifest.regions[0].families[0].files[0].bytes = 1;
  write_snapshot(path("hbase/.hbase-snapshot/s1"), "s1", manifest);
  expect_error({"scan", "hbase/.hbase-snapshot/s1"}, 1, "CEL-CORRUPTION", "manifest says 1", "");
  fs::remove(file);
  expect_error({"scan", "hbase/.hbase-snapshot/s1"}, 3, "CEL-HBASE-FILE", "HFile 0a1 of table gone",
               "archive/");
}

TEST_F(HBaseCommands, CommandsForFilesTakeThem) {
  // The parent's file once, not once more for each half.
  const Json files = json_of({"inspect", kTable})["files"];
  EXPECT_EQ(files.size(), 2u);
  EXPECT_EQ(out_of({"dump", std::string(kTable) + "/" + kLow, "--format", "raw"}), "a30\na20\na10\n");
  EXPECT_NE(out_of({"verify", kTable}).find("ok"), std::string::npos);
  EXPECT_NE(out_of({"find", "zebra", kTable}).find("0b1"), std::string::npos);
  EXPECT_EQ(run({"diff", std::string(kTable) + "/" + kLow, std::string(kTable) + "/" + kHigh}).exit, 1);
  out_of({"merge", std::string(kTable) + "/" + kLow, "-o", "merged.hfile"});
  EXPECT_EQ(out_of({"dump", "merged.hfile", "--format", "raw"}), "a30\na20\na10\n");
}

TEST_F(HBaseCommands, FilesOfHudiAreAFamilyWithoutAName) {
  write_hfile(path("hudi/part-0"), parse_cells("key1/:/latest=v1\nkey2/:/latest=v2"), {});
  EXPECT_EQ(out_of({"scan", "hudi", "--format", "raw"}), "v1\nv2\n");
  EXPECT_EQ(out_of({"get", "hudi", "key2", "--format", "raw"}), "v2\n");
}

// HBase's own file, read in place and through a store that loaded its cells.
TEST_F(HBaseCommands, AFileOfHBasesAnswersAsItsCellsInAStore) {
  fs::create_directories(path("bulk/cf"));
  fs::copy_file(example_file("versions.hfile"), path("bulk/cf/0123456789abcdef"));
  write_file("cells.jsonl", out_of({"dump", "bulk", "--format", "jsonl"}));
  out_of({"create", "store", "t", "cf:max_versions=3"});
  out_of({"load", "store", "t", "cells.jsonl"});
  for (const std::vector<std::string>& asked : {std::vector<std::string>{},
                                                {"--versions", "all"},
                                                {"--versions", "2", "--reverse"},
                                                {"--prefix", "row-01"}}) {
    std::vector<std::string> of_store = {"scan", "store", "t", "--format", "jsonl"};
    std::vector<std::string> of_files = {"scan",     "bulk", "--assume", "cf:max_versions=3",
                                         "--format", "jsonl"};
    of_store.insert(of_store.end(), asked.begin(), asked.end());
    of_files.insert(of_files.end(), asked.begin(), asked.end());
    const std::string answer = out_of(of_store);
    EXPECT_NE(answer, "");
    EXPECT_EQ(out_of(of_files), answer);
  }
}

TEST_F(HBaseCommands, NothingIsWritten) {
  const auto tree = [&] { return shell("cd hbase && find . -type f | sort | xargs sha256sum").out; };
  const std::string before = tree();
  out_of({"scan", kTable});
  out_of({"get", kTable, "apple"});
  EXPECT_EQ(tree(), before);
}

// ---- HBase 0.92 and 0.94

// Returns HRegionInfo as a Writable, followed by its text.
std::string legacy_region(const std::string& table, const std::string& start, const std::string& end) {
  const auto array = [](const std::string& bytes) {
    return std::string(1, static_cast<char>(bytes.size())) + bytes;  // lengths below 128
  };
  const std::string name = table + "," + start + ",1300000000000.00000000000000000000000000000aaa.";
  const std::string no(1, '\0');
  const std::string id = std::string(7, '\0') + "\5";
  return "\1" + array(end) + no + id + array(name) + no + array(start) + array(table) + "hash" +
         "\n\n{NAME => '" + name + "'}";
}

class LegacyHBase : public HBaseCommands {
 protected:
  LegacyHBase() {
    write_bytes(path("old/hbase.version"), std::string("\0\x01"
                                                       "7",
                                                       3));
    write_bytes(path("old/hbase.id"), "id");
    write_bytes(path("old/-ROOT-/70236052/.regioninfo"), legacy_region("-ROOT-", "", ""));
    write_bytes(path("old/.META./1028785192/.regioninfo"), legacy_region(".META.", "", ""));
    write_bytes(path("old/orders/.tableinfo.0000000001"), "a descriptor of then");
    write_bytes(path("old/orders") / kParent / ".regioninfo", legacy_region("orders", "", ""));
    write_hfile(path("old/orders") / kParent / "d" / "0a1", parse_cells("apple/d:n/10#1=a10"), {});
  }
};

TEST_F(LegacyHBase, ATableIsRefusedByItsAgeAndNotCalledCorrupt) {
  for (const char* command : {"scan", "count"})
    expect_error({command, "old/orders"}, 4, "CEL-NOT-SUPPORTED", "old/orders is of HBase 0.92 or 0.94",
                 "name the directory of one region");
  write_bytes(path("old/orders") / kParent / ".regioninfo", "no region of any age");
  expect_error({"scan", "old/orders"}, 1, "CEL-CORRUPTION", "not a region descriptor", "");
}

TEST_F(LegacyHBase, ARootIsKnownAndItsTablesAreNamed) {
  for (const bool with_catalog : {true, false}) {
    expect_error({"scan", "old"}, 4, "CEL-NOT-SUPPORTED", "old is of HBase 0.92 or 0.94",
                 "its tables: orders)");
    expect_error({"scan", "old", "orders"}, 4, "CEL-NOT-SUPPORTED", "old is of HBase 0.92 or 0.94", "orders");
    if (with_catalog) fs::remove_all(path("old/-ROOT-"));
    fs::remove_all(path("old/.META."));
  }
}

TEST_F(LegacyHBase, OneRegionAndItsFilesAreRead) {
  const std::string region = std::string("old/orders/") + kParent;
  EXPECT_EQ(out_of({"scan", region, "--format", "jsonl"}),
            "{\"row\":\"apple\",\"family\":\"d\",\"qualifier\":\"n\",\"ts\":10,\"type\":\"Put\",\"value\":"
            "\"a10\"}\n");
  EXPECT_EQ(run({"dump", "old/orders"}).exit, 0);
  EXPECT_EQ(run({"find", "apple", "old"}).exit, 0);
}

}  // namespace
}  // namespace cellar::testing
