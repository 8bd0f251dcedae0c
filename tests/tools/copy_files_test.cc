// Goal: `cellar copy` takes HFiles to stores and clusters: those of an export, and a table or region of
// HBase. Method: the real program; directories of HBase are encoded by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/plugins.h"
#include "tests/tools/hbase_files.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class CopyFiles : public ToolTest {
 protected:
  std::string cells_of(const std::string& store, const std::string& table, bool raw = false) const {
    std::vector<std::string> words = {"export", store, table, "--tags", "--quiet"};
    if (raw) words.emplace_back("--raw");
    return out_of(words);
  }
  Json options_of(const std::string& store, const std::string& table) const {
    const Json described = json_of({"describe", store, table});
    Json options = described["tables"][0]["options"];
    for (const Json& family : described["tables"][0]["families"])
      options["families"][family["name"].get<std::string>()] = family["options"];
    return options;
  }

  // The directory "load" with an export of a table of many rows, several families, markers and times to live.
  void export_shop() const {
    out_of({"create", "shop", "orders", "d:max_versions=3,ttl_s=90000000,compression=gz",
            "c:keep_deleted_cells=true,max_versions=2", "--set", "OWNER=ada"});
    std::string lines;
    for (int row = 0; row < 2000; ++row)
      for (int version = 0; version < 2; ++version)
        lines += R"({"row":"row)" + std::to_string(10000 + row) + R"(","family":"d","qualifier":"q","ts":)" +
                 std::to_string(1'795'000'000'000 + version) + R"(,"type":"Put","value":")" +
                 std::string(400, static_cast<char>('a' + version)) + "\"}\n";
    out_of({"load", "shop", "orders", "-"}, lines);
    out_of({"put", "shop", "orders", "row10001", "c:x", "7", "--ttl", "90d"});
    out_of({"put", "shop", "orders", "row10002", "c:x", "7", "--ts", "1795000000000"});
    out_of({"delete", "shop", "orders", "row10002", "c:x", "--ts", "1795000000000"});
    write_file("splits", "row10500\nrow11000\n");
    out_of({"export", "shop", "orders", "--to", "hfile", "-o", "load", "--raw", "--splits", "splits"});
  }

  // A table of HBase in two regions, below "root".
  std::string write_hbase_table() const {
    register_hfile_plugins();
    register_bloom_plugins();
    const HBaseTableName name{"shop", "orders"};
    HBaseTableSchema schema;
    schema.table = name;
    schema.families = {{"a", {{"VERSIONS", "2"}, {"COMPRESSION", "GZ"}, {"BLOOMFILTER", "NONE"}}},
                       {"b", {{"TTL", "90000000"}}}};
    schema.attributes = {{"owner.name", "ada"}};
    const fs::path table = path("root") / "data" / "shop" / "orders";
    write_table_schema(table, schema);
    int number = 0;
    for (const auto& [start, end] : {std::pair<std::string, std::string>("", "m"), {"m", ""}}) {
      HBaseRegion region;
      region.id = 1;
      region.table = name;
      region.start = start;
      region.end = end;
      const fs::path directory = table / region.encoded_name();
      write_region(directory, region);
      for (uint64_t run = 1; run <= 3; ++run) {
        Cell cell;
        cell.row = start.empty() ? "a" : "p";
        cell.family = "a";
        cell.qualifier = "q";
        cell.timestamp = static_cast<int64_t>(1'795'000'000'000 + run);
        cell.type = CellType::kPut;
        cell.value = "v" + std::to_string(run);
        cell.sequence = run;
        write_hfile(directory / "a" / ("0a" + std::to_string(++number) + "f"), {cell},
                    {.sequence_max = static_cast<int64_t>(run)});
      }
    }
    return table.string();
  }
};

TEST_F(CopyFiles, AnExportIsCopiedWithItsSchema) {
  export_shop();
  const Json copied = json_of({"copy", "load", "copied", "--raw"});
  EXPECT_EQ(copied["tables"][0]["table"], "orders");
  EXPECT_EQ(copied["tables"][0]["created"], true);
  EXPECT_EQ(copied["tables"][0]["rows"], 2000);
  EXPECT_EQ(copied["tables"][0]["cells"], 4003);
  EXPECT_EQ(copied["tables"][0]["compared"]["ranges_different"], 0);
  EXPECT_EQ(copied["tables"][0]["compared"]["rows"], 2000);
  EXPECT_EQ(options_of("copied", "orders"), options_of("shop", "orders"));
  EXPECT_EQ(cells_of("copied", "orders", true), cells_of("shop", "orders", true));
  EXPECT_THAT(cells_of("copied", "orders"), HasSubstr("\"tags\":[[8,"));
  EXPECT_FALSE(fs::exists(path("copied.copy")));
}

TEST_F(CopyFiles, OptionsChooseAsInACopyOfAStore) {
  export_shop();
  out_of({"copy", "load", "some", "orders", "--as", "part", "--start", "row10100", "--stop", "row10200",
          "--column", "d", "--time", "1795000000001ms.."});
  EXPECT_EQ(out_of({"count", "some", "part", "--format", "csv", "--quiet"}),
            out_of({"count", "shop", "orders", "--start", "row10100", "--stop", "row10200", "--format", "csv",
                    "--quiet"}));
  EXPECT_THAT(cells_of("some", "part"), Not(HasSubstr("aaaa")));
}

TEST_F(CopyFiles, FilesWithoutASchemaKeepTheirVersions) {
  export_shop();
  fs::remove(path("load") / "_schema.json");
  const ToolResult copied = run({"copy", "load", "copied"});
  EXPECT_EQ(copied.exit, 0) << copied.err;
  EXPECT_THAT(copied.err,
              HasSubstr("no schema tells of family d: all versions in its files are kept, 2 at most"));
  EXPECT_EQ(options_of("copied", "load")["families"]["d"]["compression"], "gz");
  EXPECT_EQ(cells_of("copied", "load"), cells_of("shop", "orders"));
  EXPECT_EQ(run({"copy", "load/d", "copied", "--as", "family"}).exit, 0);
}

TEST_F(CopyFiles, ATableOfHBaseIsCopiedWithItsDescriptor) {
  const std::string table = write_hbase_table();
  const ToolResult copied = run({"copy", table, "copied"});
  EXPECT_EQ(copied.exit, 0) << copied.err;
  EXPECT_THAT(copied.err, AllOf(HasSubstr("copied 2 rows with 4 cells"), HasSubstr("they are equal")));
  const std::string cells = cells_of("copied", "shop:orders");
  EXPECT_THAT(cells, AllOf(HasSubstr("v3"), HasSubstr("v2"), Not(HasSubstr("v1")))) << "VERSIONS is 2";
  const Json options = options_of("copied", "shop:orders");
  EXPECT_EQ(options["families"]["a"]["max_versions"], 2);
  EXPECT_EQ(options["families"]["a"]["compression"], "gz");
  EXPECT_EQ(options["families"]["b"]["ttl_s"], 90000000) << "a family without files";
  out_of({"copy", table, "raw", "--raw"});
  EXPECT_THAT(cells_of("raw", "shop:orders", true), HasSubstr("v3"));
  // The table of the copies has more rows than the second region, which the comparison would report.
  for (const auto& region : fs::directory_iterator(table))
    if (fs::exists(region.path() / ".regioninfo"))
      out_of({"copy", region.path().string(), "regions", "--into-existing", "--verify", "skip"});
  EXPECT_EQ(cells_of("regions", "shop:orders"), cells);
}

TEST_F(CopyFiles, WhatIsNoTableIsRefused) {
  export_shop();
  write_hbase_table();
  const ToolResult root = run({"copy", "root", "copied"});
  EXPECT_EQ(root.exit, 4);
  EXPECT_THAT(root.err,
              AllOf(HasSubstr("a root directory of HBase, not a table"), HasSubstr("ROOT/data/default")));
  const ToolResult other = run({"copy", "load", "copied", "people"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("load is itself a table, orders"), HasSubstr("--as NAME")));
  const ToolResult into = run({"copy", "shop", "load"});
  EXPECT_EQ(into.exit, 4);
  EXPECT_THAT(into.err,
              AllOf(HasSubstr("load holds HFiles"), HasSubstr("cellar export STORE TABLE --to hfile")));
  EXPECT_FALSE(fs::exists(path("copied")));
}

TEST_F(CopyFiles, DamageEndsTheCopy) {
  export_shop();
  for (const auto& file : fs::directory_iterator(path("load") / "c")) {
    const std::string name = "load/c/" + file.path().filename().string();
    std::string bytes = read_file(name);
    bytes[40] = static_cast<char>(bytes[40] ^ 1);
    write_file(name, bytes);
  }
  const ToolResult copied = run({"copy", "load", "copied"});
  EXPECT_EQ(copied.exit, 3) << copied.err;
  EXPECT_THAT(copied.err, AllOf(HasSubstr("CEL-CORRUPTION"), HasSubstr("load/c/")));
}

// A store refuses the large cell at the end, after the rows before it.
TEST_F(CopyFiles, ACopyGoesOnWithTheSameFilesAlone) {
  export_shop();
  write_file("large", std::string(2'000'000, 'l'));
  out_of({"put", "shop", "orders", "row99999", "--from-file", "d:q=large", "--ts", "1795000000000"});
  fs::remove_all(path("load"));
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "load", "--raw"});
  const std::string command = "cellar copy load copied --raw --batch 64k --state state";
  EXPECT_NE(shell("CELLAR_ENGINE=cell_bytes_max=1m " + command).exit, 0);
  fs::rename(path("load"), path("kept"));
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "load", "--stop", "row11000"});
  const ToolResult changed = shell(command);
  EXPECT_EQ(changed.exit, 2);
  EXPECT_THAT(changed.err, HasSubstr("the file belongs to another copy: \"from\" is HFiles "));
  fs::remove_all(path("load"));
  fs::rename(path("kept"), path("load"));
  const ToolResult again = shell(command);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("going on at row row1"), HasSubstr("copied 2,001 rows")));
  EXPECT_EQ(cells_of("copied", "orders", true), cells_of("shop", "orders", true));
}

// HFiles to a cluster, and from it to HFiles and to a store.
TEST_F(CopyFiles, AClusterIsFilledAndExported) {
  if (!builds_serve()) return;
  export_shop();
  const ToolResult moved = on_cluster(
      "cellar copy load $H --raw && cellar export $H orders --to hfile -o out --raw && cellar copy out back "
      "--raw");
  EXPECT_EQ(moved.exit, 0) << moved.err;
  EXPECT_EQ(cells_of("served", "orders", true), cells_of("shop", "orders", true));
  EXPECT_EQ(out_of({"export", "back", "orders", "--raw", "--quiet"}),
            out_of({"export", "shop", "orders", "--raw", "--quiet"}));
}

}  // namespace
}  // namespace cellar::testing
