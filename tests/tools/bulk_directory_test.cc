// Goal: all actions of bulkload understand directories as HBase, Hadoop and Cellar leave them. Other files
// than HFiles are skipped, the schema is rebuilt whole, and of the files of a region the later one wins.
// Method: regions with everything that lies in them; schemas with every option set. Each description is
// compared with that of the table it came from.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/tools/hbase_files.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kOld = "0123456789abcdef0123456789abcdef";
constexpr const char* kNew = "fedcba9876543210fedcba9876543210";

class BulkDirectory : public ToolTest {
 protected:
  void hfile(const std::string& name, const std::string& cells, HBaseFileFacts facts = {}) const {
    write_hfile(path(name), parse_cells(cells), facts);
    fs::permissions(path(name), fs::perms(0666));
  }
  // Writes the checksum file that Hadoop's local file system keeps next to a file.
  void sidecar(const std::string& of) const {
    const fs::path file = path(of);
    write_bytes(file.parent_path() / ("." + file.filename().string() + ".crc"),
                std::string("crc\0\0\0\2\0", 8) + "sums");
  }
  std::map<std::string, std::string> levels(const std::string& directory) const {
    const ToolResult checked = run({"bulkload", "check", directory, "--format", "json"});
    std::map<std::string, std::string> found;
    const Json answer = Json::parse(checked.out, nullptr, false);
    EXPECT_TRUE(answer.is_object()) << checked.err;
    for (const Json& rule : answer["rules"]) {
      found[rule["rule"]] = rule["level"];
      if (rule["level"] == "fail") ADD_FAILURE() << rule.dump(2);
    }
    return found;
  }
  std::string described(const std::string& store) const {
    return out_of({"describe", store, "orders", "--as", "create"});
  }
  // The statement in a plan, up to the end of what the shell reads.
  std::string created(const std::string& plan) const {
    const size_t at = plan.find("create 'orders'");
    const size_t end = plan.find("\nHB\n", at);
    EXPECT_NE(end, std::string::npos) << plan;
    return end == std::string::npos ? "" : plan.substr(at, end + 1 - at);
  }
};

// ---- Other files in the directory ----

TEST_F(BulkDirectory, SumsOfHadoopArePassedOverWithoutAWord) {
  hfile(std::string("in/d/") + kOld, "a/d:q/5=v");
  hfile(std::string("in/d/") + kNew, "b/d:q/5=v");
  write_file("in/_SUCCESS", "");
  for (const std::string& name : {std::string("in/d/") + kOld, std::string("in/d/") + kNew,
                                  std::string("in/_SUCCESS"), std::string("in/.regioninfo")})
    sidecar(name);
  EXPECT_NE(levels("in").at("layout"), "warn");
  const ToolResult taken = run({"bulkload", "ingest", "in", "store", "t", "--create"});
  EXPECT_EQ(taken.exit, 0) << taken.err;
  EXPECT_EQ(taken.err.find(".crc"), std::string::npos) << taken.err;
  EXPECT_EQ(out_of({"scan", "store", "t", "--format", "raw"}), "v\nv\n");
  EXPECT_EQ(run({"bulkload", "plan", "in", "--table", "t"}).exit, 0);
  // A file that only has such a name is not one of them.
  hfile("in/d/.hidden.crc", "c/d:q/5=w");
  out_of({"bulkload", "ingest", "in", "second", "t", "--create"});
  EXPECT_EQ(out_of({"scan", "second", "t", "--format", "raw"}), "v\nv\nw\n");
  write_file("in/d/.other.crc", "no sums of Hadoop's");
  EXPECT_EQ(run({"bulkload", "ingest", "in", "third", "t", "--create"}).exit, 3);
}

TEST_F(BulkDirectory, WhatHBaseKeepsInARegionIsPassedOverByAllActions) {
  hfile(std::string("in/d/") + kOld, "a/d:q/5=v");
  write_region(path("in"), {.id = 1, .table = {"default", "orders"}, .start = "", .end = ""});
  hfile(std::string("in/.tmp/d/") + kNew, "b/d:q/5=half written");
  write_bytes(path("in/recovered.edits/7.seqid"), "");
  write_bytes(path("in/.splits/x"), "");
  write_bytes(path("in/d/.filelist/f1"), "list");
  EXPECT_EQ(levels("in").at("layout"), "note");
  const ToolResult taken = run({"bulkload", "ingest", "in", "store", "t", "--create"});
  EXPECT_EQ(taken.exit, 0) << taken.err;
  EXPECT_EQ(taken.err.find("warn"), std::string::npos) << taken.err;
  EXPECT_EQ(out_of({"scan", "store", "t", "--format", "raw"}), "v\n");
  // Writes that the region has not taken in are cells that would be missing.
  write_bytes(path("in/recovered.edits/0000000000000000012"), "edits");
  EXPECT_EQ(run({"bulkload", "check", "in"}).exit, 1);
  const ToolResult without = run({"bulkload", "ingest", "in", "store", "t"});
  EXPECT_NE(without.err.find("has writes that are not in the region's files"), std::string::npos)
      << without.err;
}

// ---- the order of files ----

TEST_F(BulkDirectory, TheLaterFileOfARegionWinsWhateverItsNameAndSize) {
  std::string padding;
  for (int i = 0; i < 50; ++i) padding += "pad" + std::to_string(100 + i) + "/d:q/5=padding\n";
  int stores = 0;
  for (const auto& [old_name, new_name] : {std::pair(kOld, kNew), std::pair(kNew, kOld)}) {
    for (const auto& [old_more, new_more] :
         {std::pair(std::string(), padding), std::pair(padding, std::string())}) {
      const std::string region = "region" + std::to_string(stores);
      const std::string store = "store" + std::to_string(stores++);
      hfile(region + "/d/" + old_name, old_more + "r/d:q/5=old", {.sequence_max = 7});
      hfile(region + "/d/" + new_name, new_more + "r/d:q/5=new", {.sequence_max = 30});
      const ToolResult taken = run({"bulkload", "ingest", region, store, "t", "--create"});
      EXPECT_EQ(taken.exit, 0) << taken.err;
      EXPECT_EQ(taken.err.find("neither is known to be newer"), std::string::npos) << taken.err;
      EXPECT_EQ(out_of({"get", store, "t", "r", "--format", "raw"}), "new\n") << region;
      EXPECT_EQ(out_of({"get", region, "r", "--format", "raw"}), "new\n") << "as a scan of the directory";
    }
  }
}

TEST_F(BulkDirectory, FilesThatNothingOrdersAreNamed) {
  hfile(std::string("in/d/") + kOld, "r/d:q/5=one\nx/d:q/5=more", {.mvcc = false});
  hfile(std::string("in/d/") + kNew, "r/d:q/5=two", {.mvcc = false});
  const ToolResult taken = run({"bulkload", "ingest", "in", "store", "t", "--create"});
  EXPECT_EQ(taken.exit, 0) << taken.err;
  EXPECT_NE(taken.err.find("neither is known to be newer"), std::string::npos) << taken.err;
  for (const char* name : {kOld, kNew, "r/d:q/5/Put"})
    EXPECT_NE(taken.err.find(name), std::string::npos) << taken.err;
}

// ---- schemas ----

TEST_F(BulkDirectory, APlanOfAnExportRebuildsTheTableWhole) {
  out_of({"create", "shop", "unused", "f"});
  out_of({"shell", "shop", "-c",
          "create 'orders', {NAME => 'd', VERSIONS => 5, MIN_VERSIONS => 2, TTL => 86400, KEEP_DELETED_CELLS "
          "=> 'TTL', DATA_BLOCK_ENCODING => 'FAST_DIFF', COMPRESSION => 'GZ', BLOCKSIZE => 8192, BLOOMFILTER "
          "=> 'ROWCOL', IN_MEMORY => true, REPLICATION_SCOPE => 1, METADATA => {'note' => \"it's\"}}, "
          "{NAME => 'n', NEW_VERSION_BEHAVIOR => true, VERSIONS => 3}, "
          "{NAME => 'empty', TTL => 60, BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH', CONFIGURATION => "
          "{'RowPrefixBloomFilter.prefix_length' => '4'}}, OWNER => 'me', METADATA => {'k' => 'v'}, "
          "CONFIGURATION => {'a.b' => 'c'}"});
  out_of({"put", "shop", "orders", "r", "d:q", "v"});
  out_of({"put", "shop", "orders", "r", "n:q", "v"});
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"});
  EXPECT_FALSE(fs::exists(path("out/empty")));
  const std::string expected = described("shop");
  for (const char* option : {"TTL => '86400", "MIN_VERSIONS => '2'", "KEEP_DELETED_CELLS => 'TTL'",
                             "NEW_VERSION_BEHAVIOR => 'true'", "NAME => 'empty'", "OWNER => 'me'"})
    ASSERT_NE(expected.find(option), std::string::npos) << option << "\n" << expected;
  EXPECT_EQ(created(out_of({"bulkload", "plan", "out", "--table", "orders"})), expected);
  EXPECT_EQ(json_of({"bulkload", "plan", "out", "--table", "orders"})["schema_from"], "export");
  // So does the table that ingest makes.
  out_of({"bulkload", "ingest", "out", "copy", "orders", "--create"});
  EXPECT_EQ(described("copy"), expected);
  EXPECT_EQ(out_of({"scan", "copy", "orders", "--format", "jsonl"}),
            out_of({"scan", "shop", "orders", "--format", "jsonl"}));
  // Nothing of it is a stray.
  for (const auto& entry : fs::recursive_directory_iterator(path("out")))
    if (entry.is_regular_file()) fs::permissions(entry.path(), fs::perms(0666));
  EXPECT_EQ(levels("out").at("layout"), "ok");
}

TEST_F(BulkDirectory, AnExportOfSomeColumnsHasTheWholeSchemaToo) {
  out_of({"create", "shop", "orders", "d:max_versions=3,ttl=60000", "c:max_versions=2"});
  out_of({"put", "shop", "orders", "r", "c:q", "v"});
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out", "--column", "c"});
  EXPECT_EQ(created(out_of({"bulkload", "plan", "out", "--table", "orders"})), described("shop"));
}

TEST_F(BulkDirectory, ParametersOfCodecsAreLeftOutForHBase) {
  out_of({"create", "shop", "orders", "d:compression=gz(level=9)"});
  out_of({"put", "shop", "orders", "r", "d:q", "v"});
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"});
  const std::string plan = out_of({"bulkload", "plan", "out", "--table", "orders"});
  EXPECT_NE(plan.find("COMPRESSION => 'GZ'"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("LEVEL"), std::string::npos) << plan;
  EXPECT_NE(plan.find("without parameters of codecs"), std::string::npos) << plan;
}

TEST_F(BulkDirectory, ASchemaThatCannotBeReadIsAnError) {
  out_of({"create", "shop", "orders", "d"});
  out_of({"put", "shop", "orders", "r", "d:q", "v"});
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"});
  const std::string good = read_file("out/_schema.json");
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[]"), good.substr(0, good.size() / 2),
        std::string(R"({"schema":"cellar.table-schema/1","table":"t","options":{"none":"1"},"families":[]})"),
        std::string(R"({"schema":"cellar.table-schema/1","table":"t","options":{},"families":[{"name":"d",)"
                    R"("options":{"max_versions":"many"}}]})"),
        std::string(R"({"schema":"cellar.table-schema/1","table":"t","options":{}})")}) {
    write_file("out/_schema.json", bad);
    const ToolResult plan = run({"bulkload", "plan", "out", "--table", "orders"});
    EXPECT_NE(plan.exit, 0) << bad;
    EXPECT_NE(plan.err.find("_schema.json"), std::string::npos) << plan.err;
    EXPECT_NE(run({"bulkload", "ingest", "out", "copy", "orders", "--create"}).exit, 0) << bad;
  }
  write_file("out/_schema.json", R"({"schema":"cellar.table-schema/2"})");
  EXPECT_EQ(run({"bulkload", "plan", "out", "--table", "orders"}).exit, 4);
}

TEST_F(BulkDirectory, APlanOfARegionTakesTheDescriptorOfItsTable) {
  HBaseTableSchema schema;
  schema.table = {"default", "orders"};
  schema.families.push_back({"d",
                             {{"VERSIONS", "7"},
                              {"TTL", "3600"},
                              {"BLOOMFILTER", "ROW"},
                              {"COMPRESSION", "NONE"},
                              {"MIN_VERSIONS", "1"}}});
  schema.families.push_back({"without", {{"VERSIONS", "2"}, {"KEEP_DELETED_CELLS", "TRUE"}}});
  write_table_schema(path("orders"), schema);
  const std::string region = "orders/1588230740abcdef1588230740abcdef";
  write_region(path(region), {.id = 1, .table = schema.table, .start = "", .end = ""});
  hfile(region + "/d/" + kOld, "a/d:q/5=v", {.sequence_max = 4});
  const Json plan = json_of({"bulkload", "plan", region, "--table", "orders"});
  EXPECT_EQ(plan["schema_from"], "tableinfo");
  const std::string statement = created(plan["script"].get<std::string>());
  for (const char* option : {"NAME => 'd'", "VERSIONS => '7'", "TTL => '3600", "MIN_VERSIONS => '1'",
                             "NAME => 'without'", "KEEP_DELETED_CELLS => 'true'"})
    EXPECT_NE(statement.find(option), std::string::npos) << option << "\n" << statement;
}

TEST_F(BulkDirectory, WithoutASchemaAPlanSaysWhatIsNotKnown) {
  hfile(std::string("in/d/") + kOld, "a/d:q/5=v\na/d:q/4=v");
  const Json plan = json_of({"bulkload", "plan", "in", "--table", "orders"});
  EXPECT_EQ(plan["schema_from"], "files");
  const auto script = plan["script"].get<std::string>();
  EXPECT_NE(script.find("{NAME => 'd', VERSIONS => 2, BLOOMFILTER => 'ROW', COMPRESSION => 'NONE'}"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("The files have no schema with them"), std::string::npos) << script;
  for (const char* unknown : {"TTL", "MIN_VERSIONS", "KEEP_DELETED_CELLS", "NEW_VERSION_BEHAVIOR"})
    EXPECT_NE(script.find(unknown), std::string::npos) << script;
}

// ---- orders that HBase 2 does not have ----

TEST_F(BulkDirectory, FilesOfTheRootTableAreReadAndNotWritten) {
  hfile("plain.hfile", "table,,1/info:q/5=v");
  std::string bytes = read_file("plain.hfile");
  const std::string standard = "org.apache.hadoop.hbase.KeyValue$KVComparator";
  for (const std::string other : {"org.apache.hadoop.hbase.KeyValue$RootKeyComparator",
                                  "org.apache.hadoop.hbase.KeyValue$RootComparator",
                                  "org.apache.hadoop.hbase.KeyValue$MetaComparator"}) {
    std::string forged = bytes;
    const size_t at = forged.rfind(standard);
    ASSERT_NE(at, std::string::npos);
    // A longer name takes zeros that fill the trailer; the lengths before it grow.
    const size_t more = other.size() - standard.size();
    forged.replace(at, standard.size(), other);
    forged.erase(forged.size() - 8, more);
    forged[at - 1] = static_cast<char>(other.size());
    const size_t magic = forged.rfind("TRABLK\"$");
    forged[magic + 8] = static_cast<char>(forged[magic + 8] + static_cast<char>(more));
    write_file("root.hfile", forged);
    EXPECT_EQ(out_of({"dump", "root.hfile", "--format", "raw"}), "v\n");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"rewrite", "root.hfile", "-o", "made.hfile"},
          {"filter", "root.hfile", "-o", "made.hfile"},
          {"merge", "root.hfile", "-o", "made.hfile"},
          {"salvage", "root.hfile", "-o", "made.hfile"},
          {"split", "root.hfile", "--parts", "1", "-o", "."}}) {
      const ToolResult result = run(words);
      EXPECT_EQ(result.exit, 4) << words[0] << ": " << result.err;
      EXPECT_NE(result.err.find("can be read, not written"), std::string::npos) << result.err;
      EXPECT_FALSE(fs::exists(path("made.hfile"))) << words[0];
    }
    const bool known = other.find("Meta") != std::string::npos;
    const ToolResult verified = run({"verify", "root.hfile", "--level", "deep"});
    EXPECT_EQ(verified.out.find("W-COMPARATOR") == std::string::npos, known) << verified.out;
  }
}

}  // namespace
}  // namespace cellar::testing
