// Goal: `cellar diff` prints what differs and nothing else, whatever the cells are spread over. Method: files
// made here from two lists of cells whose differences are known, or found with a map; HBase's files cut in
// pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "base/random.h"
#include "cellar/cellar.h"
#include "cellar/hfile_builder.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

Cell cell_of(const std::string& row, const std::string& qualifier, int64_t time, const std::string& value,
             uint64_t sequence = 0, const std::string& tag = "") {
  Cell cell(row, "f", qualifier, time, CellType::kPut, value);
  cell.sequence = sequence;
  if (!tag.empty()) append_tag(cell.tags, 1, tag);
  return cell;
}

class Diff : public ToolTest {
 protected:
  std::string make_file(const std::string& name, const std::vector<Cell>& cells) const {
    const std::string file = path(name).string();
    auto builder = HFileBuilder::create(
        posix_file_system(), file, {.block_bytes = 1024, .tags = true, .mvcc = true, .bulk_load = false});
    EXPECT_TRUE(builder.ok()) << builder.status().to_text();
    for (const Cell& cell : cells) EXPECT_TRUE(builder->add(cell).ok()) << cell.row;
    EXPECT_TRUE(builder->finish().ok());
    return name;
  }

  Json diff(Strings words, int exit) const {
    words.insert(words.begin(), "diff");
    words.insert(words.end(), {"--format", "json"});
    const ToolResult result = run(words);
    EXPECT_EQ(result.exit, exit) << result.err;
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << result.out;
    for (const std::string& fault : schema_faults(json, schema_of("diff"))) ADD_FAILURE() << fault;
    EXPECT_EQ(result.out.rfind("{\"schema\":\"cellar.diff/1\"", 0), 0u);
    return json;
  }

  // "-row q", "+row q", "!row q value,mvcc".
  static Strings words_of(const Json& diff) {
    Strings all;
    for (const Json& each : diff["cells"]) {
      const Json& cell = each["a"].is_null() ? each["b"] : each["a"];
      std::string word = each["op"].get<std::string>() + cell["row"].get<std::string>() + " " +
                         cell["qualifier"].get<std::string>();
      for (const Json& part : each["differs"]) word += " " + part.get<std::string>();
      all.push_back(word);
    }
    return all;
  }
};

TEST_F(Diff, EachKindOfDifference) {
  make_file("a",
            {cell_of("r1", "q", 5, "x", 1), cell_of("r2", "q", 5, "x", 1), cell_of("r3", "q", 5, "x", 1),
             cell_of("r4", "q", 5, "x", 1, "t"), cell_of("r5", "q", 5, "x", 1), cell_of("r7", "q", 5, "x")});
  make_file("b",
            {cell_of("r1", "q", 5, "x", 1), cell_of("r2", "q", 5, "y", 1), cell_of("r3", "q", 5, "x", 2),
             cell_of("r4", "q", 5, "x", 1, "u"), cell_of("r6", "q", 5, "x", 1), cell_of("r7", "q", 5, "x")});
  const Json all = diff({"a", "b"}, 1);
  EXPECT_EQ(words_of(all), (Strings{"!r2 q value", "!r3 q mvcc", "!r4 q tags", "-r5 q", "+r6 q"}));
  EXPECT_EQ(all["same"], 2);
  EXPECT_EQ(all["changed"], 3);
  EXPECT_EQ(all["cells_a"], 6);
  EXPECT_EQ(all["cells_b"], 6);
  EXPECT_EQ(all["complete"], true);
  EXPECT_EQ(words_of(diff({"a", "b", "--keys"}, 1)), (Strings{"!r3 q mvcc", "!r4 q tags", "-r5 q", "+r6 q"}));
  EXPECT_EQ(words_of(diff({"a", "b", "--keys", "--ignore-mvcc", "--ignore-tags"}, 1)),
            (Strings{"-r5 q", "+r6 q"}));
  EXPECT_EQ(words_of(diff({"b", "a"}, 1)),
            (Strings{"!r2 q value", "!r3 q mvcc", "!r4 q tags", "+r5 q", "-r6 q"}));
  EXPECT_EQ(diff({"a", "a"}, 0)["same"], 6);
  const ToolResult text = run({"diff", "a", "b", "--ignore-tags"});
  EXPECT_EQ(text.exit, 1);
  EXPECT_EQ(text.out,
            "! r2  f:q  1970-01-01T00:00:00.005Z  Put  \"x\" → \"y\"\n"
            "! r3  f:q  1970-01-01T00:00:00.005Z  Put  mvcc 1 → 2\n"
            "- r5  f:q  1970-01-01T00:00:00.005Z  Put  \"x\"\n"
            "+ r6  f:q  1970-01-01T00:00:00.005Z  Put  \"x\"\n");
  EXPECT_EQ(text.err, "3 same, 1 only in A, 1 only in B, 2 changed\n");
}

TEST_F(Diff, ALimitPrintsLessAndCountsAll) {
  make_file("a", {cell_of("r1", "q", 5, "x"), cell_of("r2", "q", 5, "x"), cell_of("r3", "q", 5, "x")});
  make_file("b", {cell_of("r9", "q", 5, "x")});
  const Json json = diff({"a", "b", "--limit", "2"}, 1);
  EXPECT_EQ(words_of(json), (Strings{"-r1 q", "-r2 q"}));
  EXPECT_EQ(json["only_a"], 3);
  EXPECT_EQ(json["only_b"], 1);
  EXPECT_EQ(json["printed"], 2);
  EXPECT_NE(run({"diff", "a", "b", "--limit", "2"}).err.find("2 differences not printed"), std::string::npos);
  std::istringstream lines(run({"diff", "a", "b", "--format", "jsonl"}).out);
  Strings kinds;
  for (std::string line; std::getline(lines, line);) kinds.push_back(Json::parse(line)["kind"]);
  EXPECT_EQ(kinds, (Strings{"cell", "cell", "cell", "cell", "total"}));
}

// Lists of many blocks, spread over up to four files on each side.
TEST_F(Diff, RandomCellsAsAMapFindsThem) {
  using Key = std::tuple<std::string, std::string, int64_t>;  // time negated: newer ones come first
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    std::map<Key, std::string> sides[2];
    for (int i = 0; i < 3000; ++i) {
      const Key key = {"row" + std::to_string(1000 + random.next() % 300),
                       "q" + std::to_string(random.next() % 4), -static_cast<int64_t>(random.next() % 3 + 1)};
      const std::string value(random.next() % 40, static_cast<char>('a' + random.next() % 2));
      const uint64_t where = random.next() % 8;
      if (where != 0) sides[0][key] = value;
      if (where != 1) sides[1][key] = where == 2 ? value + "!" : value;
    }
    Strings expected;
    std::map<Key, std::string> both = sides[0];
    both.insert(sides[1].begin(), sides[1].end());
    for (const auto& [key, value] : both) {
      const auto a = sides[0].find(key);
      const auto b = sides[1].find(key);
      const std::string name = std::get<0>(key) + " " + std::get<1>(key);
      if (b == sides[1].end()) {
        expected.push_back("-" + name);
      } else if (a == sides[0].end()) {
        expected.push_back("+" + name);
      } else if (a->second != b->second) {
        expected.push_back("!" + name + " value");
      }
    }
    ASSERT_GT(expected.size(), 100u);
    for (int side = 0; side < 2; ++side) {
      const std::string folder = std::string(side == 0 ? "a" : "b") + std::to_string(seed);
      std::filesystem::create_directories(path(folder));
      std::vector<Cell> pieces[4];
      for (const auto& [key, value] : sides[side])
        pieces[random.next() % seed % 4].push_back(
            cell_of(std::get<0>(key), std::get<1>(key), -std::get<2>(key), value));
      for (int i = 0; i < 4; ++i)
        if (!pieces[i].empty()) make_file(folder + "/piece" + std::to_string(i), pieces[i]);
    }
    const Json json = diff({"a" + std::to_string(seed), "b" + std::to_string(seed)}, 1);
    EXPECT_EQ(words_of(json), expected) << "seed " << seed;
    EXPECT_EQ(json["cells_a"], sides[0].size());
    EXPECT_EQ(json["cells_b"], sides[1].size());
  }
}

TEST_F(Diff, HBasesFilesAndTheirFacts) {
  const std::string versions = example_file("versions.hfile");
  const std::string weblog = example_file("weblog.hfile");
  EXPECT_EQ(diff({versions, versions, "--meta"}, 0)["same"], 600);
  const Json json = diff({versions, weblog, "--meta"}, 1);
  EXPECT_EQ(json["only_a"], 600);
  EXPECT_EQ(json["only_b"], 600);
  std::map<std::string, Json> facts;
  for (const Json& fact : json["meta"]) facts[fact["name"]] = fact;
  EXPECT_EQ(json["meta_differences"], facts.size());
  EXPECT_EQ(facts["trailer.codec"]["a"], "SNAPPY");
  EXPECT_EQ(facts["trailer.codec"]["b"], "GZ");
  EXPECT_EQ(facts["trailer.codec"]["op"], "!");
  EXPECT_EQ(facts["info.DATA_BLOCK_ENCODING"]["op"], "-");
  EXPECT_EQ(facts["info.DATA_BLOCK_ENCODING"]["a"], "ROW_INDEX_V1");
  EXPECT_TRUE(facts["info.DATA_BLOCK_ENCODING"]["b"].is_null());
  EXPECT_EQ(facts.count("trailer.entry_count"), 0u) << "both have 600";
  const Json limited = diff({versions, weblog, "--meta", "--limit", "1"}, 1);
  EXPECT_EQ(limited["meta"].size(), 1u);
  EXPECT_EQ(limited["meta_differences"], facts.size()) << "all are counted";
}

TEST_F(Diff, ATableBeforeAndAfterACompaction) {
  make_shop();
  out_of({"flush", "shop"});
  EXPECT_EQ(shell("cp -r shop before").exit, 0);
  out_of({"put", "shop", "orders", "user42", "d:name", "Augusta", "--ts", "9000"});
  out_of({"flush", "shop"});
  const Json more = diff({"before", "shop", "--table", "orders", "--ignore-mvcc"}, 1);
  EXPECT_EQ(words_of(more), (Strings{"+user42 name"}));
  EXPECT_EQ(more["same"], 6);
  EXPECT_EQ(shell("cp -r shop two_files").exit, 0);
  out_of({"compact", "shop", "--major"});
  EXPECT_EQ(diff({"two_files", "shop", "--table", "orders", "--ignore-mvcc"}, 0)["same"], 7);
  EXPECT_EQ(diff({"shop", "shop", "--table", "people"}, 0)["same"], 0) << "a table without files";
}

TEST_F(Diff, DamageEndsWithWhatWasCompared) {
  std::filesystem::copy(example_file("versions.hfile"), path("damaged.hfile"));
  std::string bytes = read_file("damaged.hfile");
  bytes[1500] = static_cast<char>(bytes[1500] ^ 0x10);
  write_file("damaged.hfile", bytes);
  for (const bool first : {true, false}) {
    const std::string whole = example_file("versions.hfile");
    const ToolResult result = first ? run({"diff", "damaged.hfile", whole, "--format", "json"})
                                    : run({"diff", whole, "damaged.hfile", "--format", "json"});
    EXPECT_EQ(result.exit, 1);
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["complete"], false);
    EXPECT_EQ(json["same"], 58) << "the cells of the first block";
    EXPECT_EQ(json["only_a"].get<int>() + json["only_b"].get<int>(), 0) << "what is not read is not missing";
    const size_t error = result.err.find("{\"error\"");
    ASSERT_NE(error, std::string::npos) << result.err;
    EXPECT_EQ(Json::parse(result.err.substr(error))["error"]["code"], "CEL-CORRUPTION");
  }
}

// The pipe is full when the signal comes, so the walk is not over.
TEST_F(Diff, AnInterruptEndsTheDocumentProperly) {
  std::vector<Cell> cells;
  for (int i = 0; i < 20000; ++i)
    cells.push_back(cell_of("row" + std::to_string(100000 + i), "q", 5, std::string(50, 'v')));
  make_file("a", cells);
  make_file("b", {cell_of("r", "q", 5, "x")});
  const ToolResult result = shell(
      "mkfifo gate; cellar diff a b --format json > gate & differ=$!; exec 3< gate; head -c 1 <&3 > begin; "
      "kill -INT $differ; cat <&3 > rest; wait $differ; status=$?; cat begin rest; exit $status");
  EXPECT_EQ(result.exit, 130) << result.err;
  EXPECT_NE(result.err.find("CEL-INTERRUPTED"), std::string::npos) << result.err;
  const Json json = Json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out.substr(0, 1000);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["only_a"].get<size_t>() + 1, json["cells"].size()) << "and the one of b, which comes first";
  EXPECT_LT(json["only_a"], 20000);
}

TEST_F(Diff, WrongUsageIsSaid) {
  make_shop();
  const std::string file = example_file("versions.hfile");
  EXPECT_EQ(error_of({"diff", file}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"diff", "shop", file}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"diff", "shop", file, "--table", "orders", "--meta"}, 2).value("code", ""),
            "CEL-USAGE");
  EXPECT_EQ(error_of({"diff", "shop", file, "--table", "ordrs"}, 3).value("code", ""), "CEL-TABLE");
  EXPECT_EQ(error_of({"diff", file, "nowhere"}, 3).value("code", ""), "CEL-NOT-FOUND");
  write_file("noise", "this is no HFile");
  EXPECT_EQ(error_of({"diff", file, "noise"}, 3).value("code", ""), "CEL-NOT-HFILE");
}

}  // namespace
}  // namespace cellar::testing
