// Goal: files that a bulk load would skip, refuse or leave unreadable are reported before it happens, each by
// its rule. Exported files pass, and a load brings back the exported cells. Method: one directory for each
// rule, broken in that way alone. A shell runs the recipes with programs that only report how they were
// called.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

#include "base/checksum.h"
#include "base/coding.h"
#include "cellar/cell.h"
#include "cellar/hfile_builder.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kName = "0123456789abcdef0123456789abcdef";

Cell put_cell(const std::string& row, int64_t timestamp = 5) {
  return {row, "d", "q", timestamp, CellType::kPut, "value"};
}

class Bulkload : public ToolTest {
 protected:
  // Builds a file; its directory is made.
  void build(const std::string& name, const std::vector<Cell>& cells, HFileBuilderOptions options = {},
             const std::function<void(HFileBuilder&)>& more = {}) const {
    options.trailer_sums = false;  // patch_info mends the sums of blocks alone
    fs::create_directories(path(name).parent_path());
    auto builder = HFileBuilder::create(posix_file_system(), path(name).string(), options);
    ASSERT_TRUE(builder.ok()) << builder.status().to_text();
    for (const Cell& cell : cells) {
      const Status added = builder->add(cell);
      ASSERT_TRUE(added.ok()) << added.to_text();
    }
    if (more) more(*builder);
    const auto finished = builder->finish();
    ASSERT_TRUE(finished.ok()) << finished.status().to_text();
    fs::permissions(path(name), fs::perms(0666));
  }
  // A directory "in" that passes every rule.
  void build_good() const { build(std::string("in/d/") + kName, {put_cell("a"), put_cell("m")}); }

  // The level of each rule, and the whole answer.
  std::map<std::string, std::string> check(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"bulkload", "check", "in", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = run(words);
    answer_ = Json::parse(result.out, nullptr, false);
    EXPECT_TRUE(answer_.is_object()) << result.out << result.err;
    std::map<std::string, std::string> levels;
    for (const Json& rule : answer_["rules"]) levels[rule["rule"]] = rule["level"];
    const bool fails = std::ranges::any_of(levels, [](const auto& each) { return each.second == "fail"; });
    EXPECT_EQ(result.exit, fails ? 1 : 0) << result.err;
    EXPECT_EQ(answer_["loads"], !fails);
    return levels;
  }
  // Exactly this rule is not ok, at this level, and says these words.
  void expect_only(const std::string& rule, const std::string& level, const std::string& words,
                   const std::vector<std::string>& more = {}) {
    for (const auto& [name, found] : check(more))
      EXPECT_EQ(found, name == rule ? level : "ok") << answer_.dump(2);
    for (const Json& each : answer_["rules"]) {
      const bool says = each["findings"].dump().find(words) != std::string::npos;
      EXPECT_EQ(says, each["rule"] == rule) << words << "\n" << each.dump(2);
    }
  }
  // Puts other bytes of the same length into the file info, and the block's checksum right.
  void patch_info(const std::string& name, const std::string& from, const std::string& to) const {
    ASSERT_EQ(from.size(), to.size());
    std::string bytes = read_file(name);
    const size_t block = bytes.rfind("FILEINF2");
    const size_t at = bytes.find(from, block);
    ASSERT_TRUE(block != std::string::npos && at != std::string::npos);
    bytes.replace(at, from.size(), to);
    const size_t size = load_be32(bytes.data() + block + 29);
    store_be32(bytes.data() + block + size, crc32c(std::string_view(bytes).substr(block, size)));
    write_file(name, bytes);
  }
  std::string file() const { return std::string("in/d/") + kName; }

  Json answer_;
};

TEST_F(Bulkload, AGoodDirectoryPassesEveryRule) {
  build_good();
  for (const auto& [rule, level] : check()) EXPECT_EQ(level, "ok") << rule;
  EXPECT_EQ(answer_["rules"].size(), 11u);
  EXPECT_EQ(answer_["cells"], 2);
  const ToolResult people = run({"bulkload", "check", "in/"});
  EXPECT_EQ(std::count(people.out.begin(), people.out.end(), '\n'), 11);
  EXPECT_NE(people.err.find("0 warnings → cellar bulkload plan in --table TABLE"), std::string::npos)
      << people.err;
}

TEST_F(Bulkload, LayoutFailsForWhatHBasePassesOver) {
  build_good();
  const std::string bytes = read_file(file());
  const std::vector<std::pair<std::string, std::string>> strays = {
      {"in/loose", "not in a family's directory"},
      {"in/d/_hidden", "begins with '_'"},
      {"in/d/deadbeef.hfile", "like a reference"},
      {"in/d/0123_SeqId_7_.0", "like a reference"},
      {"in/d/orders=0123-4567", "like a link"},
      {"in/.hidden/x", "not the name of a family"},
      {"in/a:b/x", "not the name of a family"},
      {"in/recovered.edits/x", "writes that are not in the region's files"},
      {"in/d/below/x", "is not a file"},
  };
  for (const auto& [name, words] : strays) {
    fs::create_directories(path(name).parent_path());
    write_file(name, bytes);
    expect_only("layout", "fail", words);
    fs::remove(path(name));
    if (const fs::path parent = path(name).parent_path(); fs::is_empty(parent)) fs::remove(parent);
  }
  write_file("in/_SUCCESS", "");
  write_file("in/d/_SUCCESS", "");
  expect_only("layout", "note", "_SUCCESS");
  // The names that a file may have.
  fs::remove(path("in/_SUCCESS"));
  fs::remove(path("in/d/_SUCCESS"));
  fs::rename(path(file()), path("in/d/part-00000.hfile"));
  for (const auto& [rule, level] : check()) EXPECT_EQ(level, "ok") << rule;
}

TEST_F(Bulkload, LayoutFailsWithoutFiles) {
  fs::create_directories(path("in/d"));
  expect_only("layout", "fail", "no files; HBase expects");
}

TEST_F(Bulkload, OpensFailsForWhatHBasesReaderRefuses) {
  build_good();
  const std::string good = read_file(file());
  for (const char* fact : {"hfile.AVG_KEY_LEN", "hfile.AVG_VALUE_LEN"}) {
    std::string other = fact;
    other.back() = 'X';
    patch_info(file(), fact, other);
    expect_only("opens", "fail", fact);
    write_file(file(), good);
  }
  const std::string biggest = "hfile.KEY_OF_BIGGEST_CELL";
  const std::string stand_in(biggest.size(), 'x');
  build("in/d/second", {put_cell("b")}, {},
        [&](HFileBuilder& builder) { EXPECT_TRUE(builder.set_info(stand_in, "key").ok()); });
  patch_info("in/d/second", stand_in, biggest);
  expect_only("opens", "fail", "LEN_OF_BIGGEST_CELL");
  HFileBuilderOptions mvcc;
  mvcc.mvcc = true;
  mvcc.bulk_load = false;
  mvcc.replace = true;
  build("in/d/second", {put_cell("b")}, mvcc);
  patch_info("in/d/second", "MAX_MEMSTORE_TS_KEY", "MAX_MEMSTORE_TS_KEX");
  expect_only("opens", "fail", "MAX_MEMSTORE_TS_KEY");
  HFileBuilderOptions rowcol;
  rowcol.bloom = "rowcol";
  rowcol.replace = true;
  build("in/d/second", {put_cell("b")}, rowcol);
  patch_info("in/d/second", "LAST_BLOOM_KEY", "LAST_BLOOM_KEX");
  EXPECT_EQ(check()["opens"], "fail");
  build("in/d/second", {put_cell("b")}, rowcol);
  patch_info("in/d/second", "ROWCOL", "ROWXOL");
  EXPECT_EQ(check()["opens"], "fail");
  HFileBuilderOptions prefix;
  prefix.bloom = "rowprefix_fixed_length(prefix_length=1)";
  prefix.replace = true;
  build("in/d/second", {put_cell("b")}, prefix);
  patch_info("in/d/second", "BLOOM_FILTER_PARAM", "BLOOM_FILTER_PARAX");
  EXPECT_EQ(check()["opens"], "fail");
  fs::remove(path("in/d/second"));
  // Not an HFile; a comparator that no table has; a file cut short.
  write_file("in/d/second", "PBUF");
  EXPECT_EQ(check()["opens"], "fail");
  std::string bytes = good;
  const std::string comparator = "org.apache.hadoop.hbase.KeyValue$KVComparator";
  const size_t at = bytes.rfind(comparator);
  ASSERT_NE(at, std::string::npos);
  bytes[at + comparator.size() - 1] = 'X';
  write_file("in/d/second", bytes);
  EXPECT_EQ(check()["opens"], "fail");
  EXPECT_NE(answer_.dump().find("KVComparatoX"), std::string::npos) << answer_.dump(2);
  write_file("in/d/second", good.substr(0, good.size() - 1));
  EXPECT_EQ(check()["opens"], "fail");
}

TEST_F(Bulkload, SoundFailsForAFlippedBit) {
  build_good();
  std::string bytes = read_file(file());
  bytes[50] = static_cast<char>(bytes[50] ^ 1);
  write_file(file(), bytes);
  const auto levels = check();
  EXPECT_EQ(levels.at("sound"), "fail");
  EXPECT_EQ(levels.at("opens"), "ok");
  EXPECT_NE(answer_.dump().find("V-CHECKSUM"), std::string::npos);
}

TEST_F(Bulkload, FamilyFailsForCellsOfAnother) {
  build(std::string("in/e/") + kName, {put_cell("a")});
  expect_only("family", "fail", "family \\\"d\\\"");
}

TEST_F(Bulkload, RowsFailsWithoutALastKeyAndWarnsWithoutCells) {
  build_good();
  build("in/d/empty", {});
  expect_only("rows", "warn", "no cells");
  fs::remove(path("in/d/empty"));
  patch_info(file(), "hfile.LASTKEY", "hfile.LASTKEX");
  expect_only("rows", "fail", "LASTKEY");
}

TEST_F(Bulkload, RegionsWarnsOfHalvesAndFailsAboveTheLimit) {
  build_good();
  write_file("splits.txt", "b\n\\x00z\n");
  expect_only("regions", "warn", "in 2 regions", {"--splits", "splits.txt"});
  write_file("twice.txt", "b\nb\n");
  EXPECT_EQ(error_of({"bulkload", "check", "in", "--splits", "twice.txt"}, 2)["code"],
            "CEL-INVALID-ARGUMENT");
  for (int i = 0; i < 31; ++i) fs::copy(path(file()), path("in/d/copy" + std::to_string(i)));
  EXPECT_EQ(check()["regions"], "ok");
  fs::copy(path(file()), path("in/d/onemore"));
  expect_only("regions", "fail", "33 files for family d in one region");
}

TEST_F(Bulkload, SequencesOfTheirOwnWarnAndMustNotBeKept) {
  HFileBuilderOptions mvcc;
  mvcc.mvcc = true;
  mvcc.bulk_load = false;
  Cell cell = put_cell("a");
  cell.sequence = 7;
  build(file(), {cell}, mvcc);
  expect_only("sequences", "warn", "sequences up to 7");
  HFileBuilderOptions again;
  again.replace = true;
  build(file(), {put_cell("a")}, again,
        [](HFileBuilder& builder) { EXPECT_TRUE(builder.set_info("SKIP_RESET_SEQ_ID", "\xff").ok()); });
  expect_only("sequences", "fail", "SKIP_RESET_SEQ_ID");
}

TEST_F(Bulkload, TagsAreSaid) {
  HFileBuilderOptions options;
  options.tags = true;
  Cell cell = put_cell("a");
  append_tag(cell.tags, kTtlTag, std::string(8, '\1'));
  build(file(), {cell}, options);
  expect_only("tags", "note", "1 cell with tags");
  append_tag(cell.tags, 2, "secret");
  options.replace = true;
  build(file(), {cell}, options);
  expect_only("tags", "warn", "visibility");
}

TEST_F(Bulkload, TimestampsThatNothingCanReplaceWarn) {
  build(file(), {put_cell("a", kLatestTimestamp)});
  expect_only("timestamps", "warn", "LATEST");
}

TEST_F(Bulkload, CodecsThatServersMayLackAreNoted) {
  HFileBuilderOptions options;
  options.compression = "lz4";
  build(file(), {put_cell("a")}, options);
  expect_only("codec", "note", "LZ4");
}

TEST_F(Bulkload, PermissionWarns) {
  build_good();
  fs::permissions(path(file()), fs::perms(0640));
  expect_only("permission", "warn", "1 file of mode 0640");
}

TEST_F(Bulkload, TableFailsForAMissingFamilyAndNotesOtherAttributes) {
  build_good();
  write_file("describe.txt",
             "Table orders is ENABLED\norders\nCOLUMN FAMILIES DESCRIPTION\n"
             "{NAME => 'd', VERSIONS => '1', DATA_BLOCK_ENCODING => 'FAST_DIFF', BLOOMFILTER => 'ROW', "
             "COMPRESSION => 'NONE', BLOCKSIZE => '65536 B (64KB)'}\n1 row(s)\n");
  expect_only("table", "note", "DATA_BLOCK_ENCODING NONE here, FAST_DIFF in the table",
              {"--describe", "describe.txt"});
  write_file("describe.txt", "{NAME => 'e', VERSIONS => 1}");
  expect_only("table", "fail", "no family d", {"--describe", "describe.txt"});
  write_file("describe.txt", "nothing");
  EXPECT_EQ(run({"bulkload", "check", "in", "--describe", "describe.txt"}).exit, 2);
}

// ---- export, plan, ingest ----

class BulkRoundTrip : public Bulkload {
 protected:
  void SetUp() override {
    out_of({"create", "shop", "orders", "d:max_versions=3,encoding=fast_diff,compression=gz",
            "c:bloom=rowcol,compression=none"});
    std::string cells;
    for (int row = 100; row < 160; ++row) {
      for (int version = 1; version <= 5; ++version)
        cells += R"({"row":"r)" + std::to_string(row) + R"(","family":"d","qualifier":"q","ts":)" +
                 std::to_string(version) + R"(,"type":"Put","value":"v"})" + "\n";
      if (row % 2 == 0)
        cells += R"({"row":"r)" + std::to_string(row) +
                 R"(","family":"c","qualifier":"q","ts":7,"type":"Put","value":"w"})" + "\n";
    }
    out_of({"load", "shop", "orders", "-"}, cells);
    out_of({"delete", "shop", "orders", "r101", "d:q", "--ts", "5"});
    write_file("splits.txt", "r120\nr140\\x00\n");
  }
  std::string cells_of(const std::string& store) const {
    return out_of({"scan", store, "orders", "--versions", "all", "--format", "jsonl"});
  }
};

TEST_F(BulkRoundTrip, ExportWritesAFileForEachFamilyAndRegion) {
  const Json made =
      json_of({"export", "shop", "orders", "--to", "hfile", "-o", "out", "--splits", "splits.txt"});
  ASSERT_EQ(made["families"].size(), 2u);
  EXPECT_EQ(made["families"][1]["files"], 3);
  EXPECT_EQ(made["families"][1]["compression"], "GZ");
  EXPECT_EQ(made["families"][1]["encoding"], "FAST_DIFF");
  EXPECT_EQ(made["families"][0]["bloom"], "ROWCOL");
  EXPECT_EQ(made["families"][1]["cells"], 60 * 3);
  EXPECT_EQ(made["files"], 6);
  size_t files = 0;
  for (const auto& each : fs::recursive_directory_iterator(path("out"))) {
    const std::string name = each.path().filename();
    if (!each.is_regular_file() || name == "_schema.json") continue;
    ++files;
    EXPECT_EQ(name.size(), 32u);
    EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos) << name;
    fs::permissions(each.path(), fs::perms(0666));
  }
  EXPECT_EQ(files, 6u);
  fs::rename(path("out"), path("in"));
  for (const auto& [rule, level] : check({"--splits", "splits.txt"}))
    EXPECT_EQ(level, "ok") << answer_.dump(2);
  // Cells as a scan shows them, in the same order within a family.
  std::string dumped;
  for (const char* family : {"c", "d"})
    dumped += out_of({"dump", std::string("in/") + family, "--format", "jsonl"});
  EXPECT_EQ(std::count(dumped.begin(), dumped.end(), '\n'), 30 + 180);
}

TEST_F(BulkRoundTrip, ExportIsWholeOrNotThere) {
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"});
  EXPECT_EQ(error_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"}, 2)["place"], "out");
  fs::create_directory(path("empty"));
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "empty/"});
  EXPECT_EQ(run({"export", "shop", "orders", "--to", "hfile"}).exit, 2);
  EXPECT_EQ(run({"export", "shop", "orders", "-o", "x"}).exit, 2);
  EXPECT_EQ(run({"export", "shop", "orders", "--to", "hfile", "-o", "nowhere/out"}).exit, 3);
  std::set<std::string> names;
  for (const auto& each : fs::directory_iterator(path(".")))
    if (!each.path().filename().string().starts_with('.')) names.insert(each.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"empty", "out", "shop", "splits.txt"}));
}

TEST_F(BulkRoundTrip, RawExportHasMarkersAndHiddenCells) {
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out", "--raw"});
  const std::string raw = out_of({"dump", "out/d", "--format", "jsonl"});
  EXPECT_NE(raw.find("\"Delete\""), std::string::npos);
  EXPECT_EQ(std::count(raw.begin(), raw.end(), '\n'), 60 * 5 + 1);
}

TEST_F(BulkRoundTrip, IngestBringsTheSameCellsBack) {
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out", "--splits", "splits.txt"});
  EXPECT_EQ(error_of({"bulkload", "ingest", "out", "copy", "orders"}, 3)["code"], "CEL-NOT-STORE");
  const Json done = json_of({"bulkload", "ingest", "out", "copy", "orders", "--create"});
  EXPECT_EQ(done["files"].size(), 6u);
  EXPECT_EQ(done["cells"], 210);
  EXPECT_EQ(done["files"][0]["by"], "link");
  EXPECT_EQ(cells_of("copy"), cells_of("shop"));
  const Json described = json_of({"describe", "copy", "orders"});
  EXPECT_EQ(described["tables"][0]["families"][1]["options"]["max_versions"], 3);
  EXPECT_EQ(described["tables"][0]["families"][1]["options"]["encoding"], "fast_diff");
  EXPECT_EQ(described["tables"][0]["families"][0]["options"]["bloom"], "rowcol");
  out_of({"compact", "copy", "orders", "--major"});
  EXPECT_EQ(cells_of("copy"), cells_of("shop"));
  out_of({"verify", "copy", "--level", "deep"});
  // Again, taking the originals away.
  out_of({"bulkload", "ingest", "out", "copy", "orders", "--by", "move"});
  EXPECT_EQ(cells_of("copy"), cells_of("shop"));
  for (const auto& each : fs::recursive_directory_iterator(path("out")))
    EXPECT_TRUE(each.is_directory() || each.path().filename() == "_schema.json") << each;
}

TEST_F(BulkRoundTrip, IngestCreatesNothingUnasked) {
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"});
  out_of({"create", "other", "orders", "d"});
  EXPECT_EQ(error_of({"bulkload", "ingest", "out", "other", "orders"}, 3)["code"], "CEL-FAMILY");
  EXPECT_EQ(error_of({"bulkload", "ingest", "out", "other", "ordrs"}, 3)["code"], "CEL-TABLE");
  EXPECT_EQ(out_of({"scan", "other", "orders", "--format", "jsonl"}), "");
  // A damaged file among good ones: nothing is taken in, and no table is left.
  std::string damaged;
  for (const auto& each : fs::directory_iterator(path("out/d")))
    damaged = "out/d/" + each.path().filename().string();
  std::string bytes = read_file(damaged);
  bytes[60] = static_cast<char>(bytes[60] ^ 1);
  write_file(damaged, bytes);
  const Json error = error_of({"bulkload", "ingest", "out", "other", "orders", "--create"}, 1);
  EXPECT_EQ(error["code"], "CEL-CORRUPTION") << error;
  EXPECT_EQ(out_of({"scan", "other", "orders", "--format", "jsonl"}), "");
}

// The recipe's commands, run with stand-ins that write down their arguments.
TEST_F(BulkRoundTrip, PlanIsSafeToRunAsItStands) {
  const std::string odd = "o'ut $(touch oops)";
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", odd});
  write_file("spl'its.txt", "r120\n");
  const std::string plan = out_of({"bulkload", "plan", odd, "--table", "orders", "--splits", "spl'its.txt"});
  EXPECT_NE(plan.find("SPLITS_FILE => 'spl\\'its.txt'"), std::string::npos) << plan;
  EXPECT_NE(plan.find("(cellar: 210 cells in 60 rows)"), std::string::npos) << plan;
  fs::create_directory(path("bin"));
  for (const char* name : {"bin/hbase", "bin/hdfs"}) {
    write_file(name, "#!/bin/sh\nprintf '<%s>' \"$(basename \"$0\")\" \"$@\" >>calls\necho >>calls\n");
    fs::permissions(path(name), fs::perms(0755));
  }
  write_file("plan.sh", "PATH=\"$PWD/bin:$PATH\"\n" + plan);
  EXPECT_EQ(shell("sh plan.sh").exit, 0);
  EXPECT_FALSE(fs::exists(path("oops")));
  EXPECT_EQ(read_file("calls"),
            "<hbase><shell><-n>\n<hdfs><dfs><-mkdir><-p></staging/orders>\n<hdfs><dfs><-put><" + odd +
                "/c><" + odd +
                "/d></staging/orders/>\n<hdfs><dfs><-chmod><-R><a+rwX></staging/orders>\n"
                "<hbase><completebulkload></staging/orders><orders>\n"
                "<hbase><org.apache.hadoop.hbase.mapreduce.RowCounter><orders>\n");
  EXPECT_EQ(run({"bulkload", "plan", odd, "--table", "or'ders"}).exit, 2);
  EXPECT_EQ(run({"bulkload", "plan", odd}).exit, 2);
}

TEST_F(BulkRoundTrip, PlanGoesByWayOfTheStagingDirectory) {
  out_of({"export", "shop", "orders", "--to", "hfile", "-o", "out"});
  const std::string usual = out_of({"bulkload", "plan", "out", "--table", "orders"});
  EXPECT_NE(usual.find("hbase completebulkload /staging/orders orders"), std::string::npos) << usual;
  const std::string asked =
      out_of({"bulkload", "plan", "out", "--table", "orders", "--staging", "/user/ada/in coming"});
  EXPECT_EQ(asked.find("/staging/"), std::string::npos) << asked;
  for (const char* command : {"hdfs dfs -mkdir -p '/user/ada/in coming'", "hbase completebulkload "})
    EXPECT_NE(asked.find(command), std::string::npos) << asked;
  EXPECT_NE(asked.find("completebulkload '/user/ada/in coming' orders"), std::string::npos) << asked;
  EXPECT_EQ(run({"bulkload", "check", "out", "--staging", "/user/ada"}).exit, 2);  // of plan only
}

TEST_F(Bulkload, ActionsAreKnown) {
  EXPECT_EQ(error_of({"bulkload", "chek", "in"}, 2)["hint"], "did you mean check?");
  EXPECT_EQ(run({"bulkload", "check", "nowhere"}).exit, 3);
  EXPECT_EQ(run({"bulkload", "check", "in", "--create"}).exit, 2);
}

}  // namespace
}  // namespace cellar::testing
