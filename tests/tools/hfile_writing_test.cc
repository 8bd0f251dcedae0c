// Goal: commands that write HFiles keep each cell that they should, and leave no file when they fail. Method:
// files of HBase's are rewritten, cut up and put together again, and dumps are compared. The cells that a
// major merge keeps are computed a second time from the dump.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;

class HFileWriting : public ToolTest {
 protected:
  HFileWriting() {
    for (const char* name : {"versions.hfile", "weblog.hfile"})
      std::filesystem::copy(example_file(name), path(name));
  }

  std::string dump(const std::string& file) const {
    return out_of({"dump", file, "--mvcc", "--tags", "--format", "jsonl"});
  }
  std::vector<std::string> cells(const std::string& file) const {
    std::vector<std::string> all;
    std::istringstream lines(dump(file));
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  }
  void expect_sound(const std::string& file) const { out_of({"verify", file, "--level", "deep"}); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(path(".")))
      names.insert(each.path().filename());
    return names;
  }
  Json info_of(const std::string& file) const { return json_of({"inspect", file, "--scan"})["files"][0]; }
};

TEST_F(HFileWriting, RewriteKeepsEveryCell) {
  for (const std::string& input : std::vector<std::string>{"versions.hfile", "weblog.hfile"}) {
    const std::string before = dump(input);
    for (const char* compression : {"none", "snappy", "gz"}) {
      for (const char* encoding : {"none", "row_index_v1"}) {
        out_of({"rewrite", input, "-o", "out.hfile", "--replace", "--compression", compression, "--encoding",
                encoding, "--block-size", "1k", "--bloom", "row"});
        expect_sound("out.hfile");
        EXPECT_EQ(dump("out.hfile"), before) << input << compression << encoding;
      }
    }
  }
}

TEST_F(HFileWriting, RewriteTakesOverWhatIsUnsaid) {
  out_of({"rewrite", "versions.hfile", "-o", "out.hfile"});
  const Json before = info_of("versions.hfile");
  const Json after = info_of("out.hfile");
  EXPECT_EQ(after["codec"], before["codec"]);
  EXPECT_EQ(after["data"]["encoding"], before["data"]["encoding"]);
  EXPECT_EQ(after["bloom"]["type"], before["bloom"]["type"]);
  EXPECT_EQ(after["scan"], before["scan"]);
  EXPECT_EQ(after["max_sequence"], before["max_sequence"]);
  EXPECT_EQ(after["max_sequence"], 42);
}

TEST_F(HFileWriting, AnEstimateIsWhatARewriteTakes) {
  const std::set<std::string> before = files();
  const Json estimates = json_of(
      {"rewrite", "versions.hfile", "--estimate", "--compression", "none,gz", "--block-size", "2k,64k"});
  EXPECT_EQ(files(), before);
  ASSERT_EQ(estimates["shapes"].size(), 4u);
  for (const Json& shape : estimates["shapes"]) {
    const Json made = json_of({"rewrite", "versions.hfile", "-o", "out.hfile", "--replace", "--compression",
                               shape["compression"].get<std::string>(), "--block-size",
                               std::to_string(shape["block_size"].get<int>())});
    EXPECT_EQ(std::filesystem::file_size(path("out.hfile")), made["files"][0]["bytes"].get<uint64_t>());
    // The time of making it stands in the file, in a block that is compressed.
    EXPECT_NEAR(made["files"][0]["bytes"].get<double>(), shape["bytes"].get<double>(), 16);
  }
}

TEST_F(HFileWriting, FilterAndItsInverseAreTheWhole) {
  const std::vector<std::vector<std::string>> selections = {
      {"--prefix", "row-00"},
      {"--types", "put,delete_column"},
      {"--column", "cf:q1", "--stop", "row-020"},
      {"--time", "2020-09-13T12:26:40.500Z..2020-09-14"}};
  const std::vector<std::string> all = cells("versions.hfile");
  for (const auto& selection : selections) {
    std::vector<std::string> line = {"filter", "versions.hfile", "-o", "some.hfile", "--replace"};
    line.insert(line.end(), selection.begin(), selection.end());
    out_of(line);
    line[3] = "rest.hfile";
    line.emplace_back("--invert");
    out_of(line);
    std::vector<std::string> both = cells("some.hfile");
    EXPECT_GT(both.size(), 0u);
    EXPECT_LT(both.size(), all.size());
    const std::vector<std::string> rest = cells("rest.hfile");
    both.insert(both.end(), rest.begin(), rest.end());
    EXPECT_TRUE(std::is_permutation(both.begin(), both.end(), all.begin(), all.end())) << selection[1];
    for (const char* name : {"some.hfile", "rest.hfile"}) expect_sound(name);
  }
}

TEST_F(HFileWriting, PartsHaveTheCellsOfTheWholeAndNoRowInCommon) {
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{"--parts", "4"},
        {"--at", "row-0071", "--at", "row-0075", "--at", "row-021"}}) {
    std::vector<std::string> line = {"split", "weblog.hfile", "-o", "."};
    if (where[0] == "--at") line[1] = "versions.hfile";
    line.insert(line.end(), where.begin(), where.end());
    const Json made = json_of(line);
    std::string together;
    std::string last_row;
    for (const Json& part : made["files"]) {
      const std::string name = part["file"];
      expect_sound(name);
      const std::vector<std::string> held = cells(name);
      EXPECT_EQ(held.size(), part["cells"].get<size_t>());
      EXPECT_EQ(Json::parse(held.front())["row"], part["first_row"]);
      EXPECT_LT(last_row, part["first_row"].get<std::string>());
      last_row = Json::parse(held.back())["row"];
      together += dump(name);
    }
    EXPECT_EQ(together, dump(line[1]));
    EXPECT_EQ(made["files"].size(), where[0] == "--at" ? 3u : 4u);  // no row is in [row-0071, row-0075)
  }
}

// The puts that a major compaction keeps, one version each: worked out from the rules, cell by cell.
std::vector<std::string> survivors(const std::vector<std::string>& lines) {
  struct Marks {
    int64_t family = -1, column = -1;
    std::set<int64_t> family_versions, versions;
  };
  std::map<std::string, Marks> rows;
  std::map<std::pair<std::string, std::string>, Marks> columns;
  for (const std::string& line : lines) {
    const Json cell = Json::parse(line);
    const std::string type = cell["type"];
    const int64_t ts = cell["ts"];
    Marks& row = rows[cell["row"]];
    Marks& column = columns[{cell["row"], cell["qualifier"]}];
    if (type == "DeleteFamily") row.family = std::max(row.family, ts);
    if (type == "DeleteFamilyVersion") row.family_versions.insert(ts);
    if (type == "DeleteColumn") column.column = std::max(column.column, ts);
    if (type == "Delete") column.versions.insert(ts);
  }
  std::vector<std::string> kept;
  std::set<std::pair<std::string, std::string>> seen;
  for (const std::string& line : lines) {
    const Json cell = Json::parse(line);
    const int64_t ts = cell["ts"];
    const std::pair<std::string, std::string> key = {cell["row"], cell["qualifier"]};
    const Marks& row = rows[key.first];
    const Marks& column = columns[key];
    if (cell["type"] != "Put" || ts <= row.family || row.family_versions.contains(ts) ||
        ts <= column.column || column.versions.contains(ts))
      continue;
    if (seen.insert(key).second) kept.push_back(line);
  }
  return kept;
}

TEST_F(HFileWriting, AMajorMergeKeepsWhatTheRulesKeep) {
  out_of({"split", "versions.hfile", "-o", ".", "--parts", "3"});
  const Json made = json_of({"merge", "versions.hfile.002", "versions.hfile.000", "versions.hfile.001", "-o",
                             "out.hfile", "--major", "--versions", "1"});
  expect_sound("out.hfile");
  const std::vector<std::string> expected = survivors(cells("versions.hfile"));
  EXPECT_GT(expected.size(), 10u);
  EXPECT_EQ(cells("out.hfile"), expected);
  EXPECT_EQ(made["files"][0]["cells_in"], 600);
  EXPECT_EQ(made["files"][0]["cells"], expected.size());
}

// A store whose one file holds three versions of a column, and a column that a marker hides.
class MergeRules : public HFileWriting {
 protected:
  MergeRules() {
    out_of({"create", "store", "t", "d:max_versions=10,keep_deleted_cells=true"});
    out_of({"load", "store", "t", "-"},
           R"({"row":"r","family":"d","qualifier":"q","ts":1000,"type":"Put","value":"first"}
{"row":"r","family":"d","qualifier":"q","ts":2000,"type":"Put","value":"second"}
{"row":"r","family":"d","qualifier":"q","ts":9000,"type":"Put","value":"third"}
{"row":"r","family":"d","qualifier":"gone","ts":9000,"type":"Put","value":"hidden"}
{"row":"r","family":"d","qualifier":"gone","ts":9500,"type":"DeleteColumn","value":""}
)");
    out_of({"flush", "store"});
  }

  // The values that a merge with these options keeps, markers by their type, newest of each column first.
  std::vector<std::string> kept(const std::vector<std::string>& options) const {
    std::vector<std::string> line = {"merge", "store", "-o", "out.hfile", "--replace", "--major"};
    line.insert(line.end(), options.begin(), options.end());
    out_of(line);
    std::vector<std::string> all;
    for (const std::string& text : cells("out.hfile")) {
      const Json cell = Json::parse(text);
      all.push_back(cell["type"] == "Put" ? cell["value"] : cell["type"]);
    }
    return all;
  }
};

TEST_F(MergeRules, MinVersionsKeepsTheNewestAlthoughTheyAreExpired) {
  using Values = std::vector<std::string>;
  EXPECT_EQ(kept({}), (Values{"third", "second", "first"}));
  EXPECT_EQ(kept({"--ttl", "5s", "--now", "10000"}), (Values{"third"}));
  EXPECT_EQ(kept({"--ttl", "5s", "--now", "10000", "--min-versions", "2"}), (Values{"third", "second"}));
  EXPECT_EQ(kept({"--ttl", "5s", "--now", "60000", "--min-versions", "1"}), (Values{"third"}));
  EXPECT_EQ(kept({"--ttl", "5s", "--now", "60000", "--min-versions", "3"}),
            (Values{"third", "second", "first"}));
}

TEST_F(MergeRules, KeepDeletedKeepsWhatMarkersHideAndTheMarkers) {
  using Values = std::vector<std::string>;
  EXPECT_EQ(kept({"--keep-deleted", "false"}), (Values{"third", "second", "first"}));
  EXPECT_EQ(kept({"--keep-deleted", "true"}), (Values{"DeleteColumn", "hidden", "third", "second", "first"}));
  // Until they expire.
  EXPECT_EQ(kept({"--keep-deleted", "ttl", "--ttl", "5s", "--now", "10000"}),
            (Values{"DeleteColumn", "hidden", "third"}));
  EXPECT_EQ(kept({"--keep-deleted", "ttl", "--ttl", "5s", "--now", "60000", "--min-versions", "1"}),
            (Values{"third"}));
}

TEST_F(HFileWriting, AMergeOfAFileWithItselfIsTheFile) {
  const Json made = json_of({"merge", "weblog.hfile", "weblog.hfile", "-o", "out.hfile"});
  EXPECT_EQ(dump("out.hfile"), dump("weblog.hfile"));
  EXPECT_EQ(made["files"][0]["dropped_overwritten"], 600);
}

TEST_F(HFileWriting, SaysWhatIsWrongAndLeavesNothing) {
  const std::set<std::string> before = files();
  EXPECT_EQ(error_of({"rewrite", "versions.hfile"}, 2)["message"], "--output is missing");
  EXPECT_EQ(run({"rewrite", "versions.hfile", "-o", "weblog.hfile"}).exit, 2);  // it exists
  EXPECT_EQ(run({"rewrite", "versions.hfile", "weblog.hfile", "-o", "out.hfile"}).exit, 2);
  EXPECT_EQ(run({"rewrite", "versions.hfile", "-o", "no/out.hfile"}).exit, 3);
  EXPECT_EQ(run({"rewrite", "versions.hfile", "-o", "out.hfile", "--block-size", "many"}).exit, 2);
  EXPECT_EQ(run({"rewrite", "versions.hfile", "-o", "out.hfile", "--encoding", "prefix_tree"}).exit, 4);
  EXPECT_EQ(run({"split", "versions.hfile", "-o", "."}).exit, 2);
  EXPECT_EQ(run({"split", "versions.hfile", "-o", ".", "--parts", "2", "--at", "r"}).exit, 2);
  EXPECT_EQ(run({"merge", "versions.hfile", "-o", "out.hfile", "--versions", "0"}).exit, 2);
  EXPECT_EQ(run({"merge", "versions.hfile", "-o", "out.hfile", "--ttl", "1ms", "--major"}).exit,
            1);  // all expired
  EXPECT_EQ(run({"filter", "versions.hfile", "-o", "out.hfile", "--types", "puts"}).exit, 2);
  std::string damaged = read_file("versions.hfile");
  damaged[3000] ^= 1;
  write_file("damaged.hfile", damaged);
  for (const char* command : {"rewrite", "filter", "merge"}) {
    EXPECT_EQ(run({command, "damaged.hfile", "-o", "out.hfile"}).exit, 1) << command;
  }
  std::set<std::string> after = files();
  after.erase("damaged.hfile");
  EXPECT_EQ(after, before);
}

TEST_F(HFileWriting, SalvageOfASoundFileIsTheFile) {
  const Json report = json_of({"salvage", "versions.hfile", "-o", "out.hfile"});
  EXPECT_EQ(report["losses"].size(), 0u);
  EXPECT_EQ(dump("out.hfile"), dump("versions.hfile"));
}

TEST_F(HFileWriting, SalvageLosesTheDamagedBlockAlone) {
  const std::vector<std::string> all = cells("versions.hfile");
  const Json blocks = json_of({"inspect", "versions.hfile", "--blocks"})["files"][0]["blocks"];
  size_t from = 0;
  for (const Json& block : blocks) {
    if (block["kind"] != "data") continue;
    const size_t held = block["cells"];
    std::string bytes = read_file("versions.hfile");
    bytes[block["offset"].get<size_t>() + 40] ^= 4;
    write_file("damaged.hfile", bytes);
    const ToolResult result =
        run({"salvage", "damaged.hfile", "-o", "out.hfile", "--replace", "--format", "json"});
    EXPECT_EQ(result.exit, 1);
    const Json report = Json::parse(result.out);
    ASSERT_EQ(report["losses"].size(), 1u);
    EXPECT_EQ(report["losses"][0]["offset"], block["offset"]);
    EXPECT_EQ(report["cells"], all.size() - held);
    std::vector<std::string> expected(all.begin(), all.begin() + static_cast<ptrdiff_t>(from));
    expected.insert(expected.end(), all.begin() + static_cast<ptrdiff_t>(from + held), all.end());
    EXPECT_EQ(cells("out.hfile"), expected);
    expect_sound("out.hfile");
    from += held;
  }
  EXPECT_EQ(from, all.size());
}

TEST_F(HFileWriting, SalvageKeepsTheFrontOfAFileThatIsCutShort) {
  const std::vector<std::string> all = cells("versions.hfile");
  const std::string bytes = read_file("versions.hfile");
  size_t most = 0;
  for (size_t length = bytes.size() - 1; length > 0; length -= std::min<size_t>(length, 523)) {
    write_file("cut.hfile", bytes.substr(0, length));
    std::filesystem::remove(path("out.hfile"));
    const ToolResult result = run({"salvage", "cut.hfile", "-o", "out.hfile"});
    EXPECT_EQ(result.exit, 1) << length << result.err;
    if (!std::filesystem::exists(path("out.hfile"))) continue;
    const std::vector<std::string> kept = cells("out.hfile");
    ASSERT_LE(kept.size(), all.size());
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), all.begin())) << length;
    most = std::max(most, kept.size());
  }
  EXPECT_EQ(most, all.size()) << "without its trailer a file has all its cells still";
}

TEST_F(HFileWriting, SalvageGoesOnBehindAHole) {
  std::string bytes = read_file("weblog.hfile");
  const Json blocks = json_of({"inspect", "weblog.hfile", "--blocks"})["files"][0]["blocks"];
  const size_t hole = blocks[2]["offset"];
  for (size_t i = hole; i < hole + 100; ++i) bytes[i] = 0;  // the header, too
  write_file("damaged.hfile", bytes);
  const ToolResult result = run({"salvage", "damaged.hfile", "-o", "out.hfile", "--format", "json"});
  const Json report = Json::parse(result.out);
  EXPECT_EQ(result.exit, 1);
  ASSERT_EQ(report["losses"].size(), 1u);
  EXPECT_EQ(report["losses"][0]["bytes"], blocks[2]["disk_bytes"]);
  expect_sound("out.hfile");
  std::vector<std::string> expected = cells("weblog.hfile");
  size_t first = 0;
  for (size_t i = 0; i < 2; ++i) first += blocks[i].value("cells", 0u);
  expected.erase(expected.begin() + static_cast<ptrdiff_t>(first),
                 expected.begin() + static_cast<ptrdiff_t>(first + blocks[2]["cells"].get<size_t>()));
  EXPECT_EQ(cells("out.hfile"), expected);
}

// Tags that a dictionary keeps cannot be told from the blocks alone but by trying.
TEST_F(HFileWriting, SalvageFindsOutAboutCompressedTags) {
  out_of({"create", "shop", "t",
          "d:encoding=fast_diff,compress_tags=true,compression=zstd(framing=hbase),bloom=rowcol"});
  for (const char* row : {"row1", "row2", "row3"})
    out_of({"put", "shop", "t", row, "d:q", "v", "--ttl", "99d"});
  std::string lines;
  for (int i = 100; i < 400; ++i)
    lines += R"({"row":"r)" + std::to_string(i) +
             R"(","family":"d","qualifier":"q","value":"v"})"
             "\n";
  out_of({"load", "shop", "t", "-"}, lines);
  out_of({"flush", "shop"});
  std::string file;
  for (const auto& each : std::filesystem::recursive_directory_iterator(path("shop/tables")))
    if (each.is_regular_file()) file = each.path();
  const std::string all = dump(file);
  EXPECT_NE(all.find("\"tags\""), std::string::npos);
  std::string bytes = read_file(std::filesystem::relative(file, path(".")));
  write_file("cut.hfile", bytes.substr(0, bytes.size() - 4096));  // no trailer
  const ToolResult result = run({"salvage", "cut.hfile", "-o", "out.hfile"});
  EXPECT_EQ(result.exit, 1) << result.err;
  EXPECT_EQ(dump("out.hfile"), all);

  // Without options the output has the input's codec, framing, encoding, filter, and tags by number.
  out_of({"rewrite", file, "-o", "like.hfile"});
  const Json before = info_of(file);
  const Json after = info_of("like.hfile");
  for (const char* fact : {"codec", "tags", "tags_compressed", "mvcc"})
    EXPECT_EQ(after[fact], before[fact]) << fact;
  EXPECT_EQ(after["tags_compressed"], true);
  EXPECT_EQ(after["data"]["encoding"], "FAST_DIFF");
  EXPECT_EQ(after["bloom"]["type"], "ROWCOL");
  EXPECT_NE(read_file("like.hfile").substr(33, 4), "\x28\xb5\x2f\xfd") << "bare frames are the other framing";
}

TEST_F(HFileWriting, JsonHoldsAnyName) {
  const std::string name = "a \"name\" of ü.hfile";
  EXPECT_EQ(json_of({"salvage", "versions.hfile", "-o", name})["file"], name);
  const ToolResult lines = run({"salvage", "versions.hfile", "-o", name, "--replace", "--format", "jsonl"});
  EXPECT_EQ(Json::parse(lines.out)["cells"], 600) << lines.out;
}

TEST_F(HFileWriting, InputsOfOneNameAreRefusedBeforeAnythingIsWritten) {
  EXPECT_EQ(shell("mkdir a b to; cp versions.hfile a/x; cp weblog.hfile b/x").exit, 0);
  const Json error = error_of({"rewrite", "a/x", "b/x", "-o", "to", "--replace"}, 2);
  EXPECT_EQ(error["message"], "two inputs are called x; nothing was written");
  EXPECT_TRUE(std::filesystem::is_empty(path("to")));
}

// Nobody reads what is printed, which is more than a pipe and a buffer hold: the files are what was asked
// for.
TEST_F(HFileWriting, AReaderThatGoesAwayStopsNothing) {
  out_of({"create", "shop", "t", "d"});
  std::string lines;
  for (int i = 100; i < 200; ++i) {
    lines += R"({"row":"r)" + std::to_string(i) + std::string(3000, 'x') +
             R"(","family":"d","qualifier":"q","value":"v"})"
             "\n";
  }
  out_of({"load", "shop", "t", "-"}, lines);
  out_of({"flush", "shop"});
  EXPECT_EQ(shell("cp shop/tables/*/*/* whole && mkdir to").exit, 0);
  const ToolResult split =
      shell("cellar split whole -o to --parts 100 --format jsonl | true; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(split.exit, 0) << split.err;
  EXPECT_EQ(shell("ls to | wc -l").out, "100\n");
  EXPECT_EQ(
      shell("cat to/* > /dev/null; for f in to/*; do cellar dump $f --mvcc --tags --format jsonl; done").out,
      dump("whole"));
}

}  // namespace
}  // namespace cellar::testing
