// Goal: `cellar find` names every place of a row, and gives true reasons why the others do not hold it.
// Method: it is compared with `dump` and `inspect` of HBase's files. Further inputs are files this test
// wrote, a filter whose bits were taken out, and a store that is open.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/checksum.h"
#include "base/coding.h"
#include "cellar/cellar.h"
#include "cellar/hfile_builder.h"
#include "hfile/read/hfile_reader.h"
#include "tests/tools/schema_check.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Find : public ToolTest {
 protected:
  Json find(Strings words, int exit) const {
    words.insert(words.begin(), "find");
    words.insert(words.end(), {"--format", "json"});
    const ToolResult result = run(words);
    EXPECT_EQ(result.exit, exit) << result.err;
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << result.out;
    for (const std::string& fault : schema_faults(json, schema_of("find"))) ADD_FAILURE() << fault;
    EXPECT_EQ(result.out.rfind("{\"schema\":\"cellar.find/1\"", 0), 0u);
    return json;
  }

  std::vector<Json> dump(const std::string& file, Strings more) const {
    more.insert(more.begin(), {"dump", file, "--format", "jsonl", "--mvcc"});
    std::vector<Json> cells;
    std::istringstream lines(out_of(more));
    for (std::string text; std::getline(lines, text);) cells.push_back(Json::parse(text));
    return cells;
  }

  // Rows row1000 … row1299 of 20 cells each, in blocks of 1 KiB: a row lies in two of them or three.
  std::string make_file(const std::string& bloom, bool sums = true) const {
    const std::string file = path("made_" + bloom + ".hfile").string();
    HFileBuilderOptions options{.bloom = bloom, .block_bytes = 1024};
    options.trailer_sums = sums;
    auto builder = HFileBuilder::create(posix_file_system(), file, options);
    EXPECT_TRUE(builder.ok()) << builder.status().to_text();
    for (int row = 1000; row < 1300; ++row) {
      for (int i = 0; i < 20; ++i) {
        const std::string qualifier = {'q', static_cast<char>('a' + i)};
        EXPECT_TRUE(builder
                        ->add(Cell("row" + std::to_string(row), "f", qualifier, row * 100 + i, CellType::kPut,
                                   std::string(30, 'v')))
                        .ok());
      }
    }
    EXPECT_TRUE(builder->finish().ok());
    return file;
  }

  // The file with all bits of its only Bloom chunk taken out, its checksum made right again.
  void take_bits_out(const std::string& file, const std::string& liar) const {
    constexpr size_t kHeader = 33;
    std::string bytes = read_file(file);
    const size_t at = bytes.find("BLMFBLK2");
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(bytes.find("BLMFBLK2", at + 1), std::string::npos);
    const size_t body = load_be32(bytes.data() + at + 12);
    ASSERT_LT(kHeader + body, 16384u) << "one checksum";
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + kHeader), body, '\0');
    store_be32(bytes.data() + at + kHeader + body,
               crc32c(std::string_view(bytes).substr(at, kHeader + body)));
    write_file(liar, bytes);
  }
};

TEST_F(Find, EveryCellOfEveryRowOfHBases) {
  const std::string file = example_file("versions.hfile");
  const Json blocks = json_of({"inspect", file, "--blocks"})["files"][0]["blocks"];
  std::vector<Json> data;
  for (const Json& block : blocks)
    if (block["kind"] == "data") data.push_back(block);
  size_t found = 0;
  for (const char* row : {"row-000", "row-003", "row-014", "row-029"}) {
    const Json place = find({row, file}, 0)["places"][0];
    const std::vector<Json> cells = dump(file, {"--row", row});
    EXPECT_EQ(place["verdict"], "found");
    EXPECT_EQ(place["bloom"], "maybe");
    ASSERT_EQ(place["cells"].size(), cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      const Json& cell = place["cells"][i];
      for (const char* name : {"family", "qualifier", "ts", "type", "mvcc"})
        EXPECT_EQ(cell[name], cells[i][name]);
      EXPECT_EQ(cell["offset"], data.at(cell["block"].get<size_t>())["offset"]);
    }
    found += cells.size();
  }
  EXPECT_GT(found, 40u);
}

TEST_F(Find, ARowInSeveralBlocks) {
  const std::string file = make_file("row");
  for (const int row : {1000, 1001, 1150, 1299}) {
    const Json place = find({"row" + std::to_string(row), file}, 0)["places"][0];
    ASSERT_EQ(place["found"], 20);
    std::set<uint64_t> offsets;
    uint64_t last_block = place["cells"][0]["block"];
    for (int i = 0; i < 20; ++i) {
      const Json& cell = place["cells"][static_cast<size_t>(i)];
      EXPECT_EQ(cell["qualifier"], std::string({'q', static_cast<char>('a' + i)}));
      EXPECT_EQ(cell["ts"], row * 100 + i);
      EXPECT_EQ(cell["value_bytes"], 30);
      offsets.insert(cell["offset"].get<uint64_t>());
      EXPECT_LE(cell["block"].get<uint64_t>() - last_block, 1u);
      last_block = cell["block"];
    }
    EXPECT_GE(offsets.size(), 2u);
    EXPECT_LE(offsets.size(), place["blocks_read"].get<size_t>());
  }
  const Json column = find({"row1150", file, "--column", "f:qc"}, 0)["places"][0];
  ASSERT_EQ(column["found"], 1);
  EXPECT_EQ(column["cells"][0]["ts"], 115002);
  EXPECT_EQ(find({"row1150", file, "--column", "f"}, 0)["found"], 20);
  EXPECT_EQ(find({"row1150", file, "--column", "g:qc"}, 1)["found"], 0);
}

TEST_F(Find, WhyARowIsNotThere) {
  const std::string file = make_file("row");
  const std::string plain = make_file("none");
  EXPECT_EQ(find({"row0999", file}, 1)["places"][0]["verdict"], "outside");
  EXPECT_EQ(find({"row13", file}, 1)["places"][0]["verdict"], "outside");
  auto opened = HFileReader::open(posix_file_system().open_file(file).value(), {.name = file});
  ASSERT_TRUE(opened.ok());
  std::string denied, positive;
  for (int i = 0; i < 100000 && (denied.empty() || positive.empty()); ++i) {
    const std::string row = "row1100x" + std::to_string(i);
    ((*opened)->may_contain_row(row, nullptr) ? positive : denied) = row;
  }
  ASSERT_FALSE(denied.empty() || positive.empty());
  const Json no = find({denied, file, plain}, 1);
  EXPECT_EQ(no["places"][0]["verdict"], "bloom_no");
  EXPECT_EQ(no["places"][0]["looked"], false);
  EXPECT_EQ(no["places"][1]["verdict"], "not_there");
  EXPECT_EQ(no["places"][1]["bloom"], "none");
  EXPECT_EQ(no["files_denied"], 1);
  const Json thorough = find({denied, file, "--thorough"}, 1)["places"][0];
  EXPECT_EQ(thorough["verdict"], "not_there");
  EXPECT_EQ(thorough["bloom"], "no");
  EXPECT_GE(thorough["blocks_read"], 1);
  const Json maybe = find({positive, file}, 1)["places"][0];
  EXPECT_EQ(maybe["verdict"], "not_there");
  EXPECT_EQ(maybe["bloom"], "maybe");
  const ToolResult text = run({"find", positive, file});
  EXPECT_NE(text.out.find("false positive"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("not found: 1 file looked at"), std::string::npos) << text.err;
}

TEST_F(Find, AFilterThatLiesIsAnError) {
  make_file("row", false);  // sums of blocks would tell
  take_bits_out("made_row.hfile", "liar.hfile");
  EXPECT_EQ(find({"row1150", "liar.hfile"}, 1)["places"][0]["verdict"], "bloom_no");
  const ToolResult result = run({"find", "row1150", "liar.hfile", "--thorough", "--format", "json"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(Json::parse(result.err)["error"]["code"], "V-BLOOM-MISS") << result.err;
  const Json place = Json::parse(result.out)["places"][0];
  EXPECT_EQ(place["verdict"], "found");
  EXPECT_EQ(place["bloom_lies"], true);
  EXPECT_EQ(place["found"], 20);
  EXPECT_NE(run({"verify", "liar.hfile", "--level", "deep"}).out.find("V-BLOOM-MISS"), std::string::npos);
}

TEST_F(Find, AStoreThatIsOpenIsSearchedWithItsLog) {
  make_shop();
  out_of({"flush", "shop"});
  auto engine = Engine::open(path("shop").string(), {});
  ASSERT_TRUE(engine.ok()) << engine.status().to_text();
  auto orders = (*engine)->open_table("orders");
  ASSERT_TRUE(orders.ok());
  ASSERT_TRUE((*orders)->put(Put("user42").add("d", "name", "Augusta")).ok());
  EXPECT_EQ(run({"put", "shop", "orders", "user42", "d:name", "Ada"}).exit, 3) << "it is locked";
  const Json found = find({"user42", "shop"}, 0);
  std::multiset<std::string> states;
  std::multiset<std::string> stored;
  for (const Json& place : found["places"]) {
    for (const Json& cell : place["cells"]) {
      const std::string name = cell["qualifier"];
      if (place["kind"] == "log") {
        EXPECT_EQ(cell["table"], "orders");
        states.insert(name + " " + cell["state"].get<std::string>());
      } else {
        EXPECT_EQ(place["table"], "orders");
        EXPECT_EQ(place["family"], "d");
        stored.insert(name + " " + std::to_string(cell["ts"].get<int>()));
      }
    }
  }
  EXPECT_EQ(stored, (std::multiset<std::string>{"mail 1000", "name 1000", "name 2000"}));
  EXPECT_EQ(states.count("name only_here"), 1u);
  EXPECT_EQ(find({"user42", "shop", "--table", "people"}, 1)["found"], 0);
  const Json mail = find({"user42", "shop", "--table", "orders", "--column", "d:mail"}, 0);
  EXPECT_EQ(mail["files"], 1) << "the file of the other family is left out";
  ASSERT_TRUE((*engine)->close().ok());
  const std::string listing = "find shop -printf '%p %s %T@\\n' | sort";
  const std::string before = shell(listing).out;
  EXPECT_GT(find({"user42", "shop"}, 0)["found"], 3);
  EXPECT_EQ(shell(listing).out, before) << "looking writes nothing";
}

TEST_F(Find, LinesHoldTheDocument) {
  const std::string file = example_file("versions.hfile");
  const Json document = find({"row-003", file}, 0);
  std::istringstream lines(out_of({"find", "row-003", file, "--format", "jsonl"}));
  std::vector<Json> all;
  for (std::string text; std::getline(lines, text);) {
    ASSERT_EQ(text.rfind("{\"kind\":\"", 0), 0u) << text;
    all.push_back(Json::parse(text));
  }
  EXPECT_EQ(all.size(), document["found"].get<size_t>() + 2);
  EXPECT_EQ(all.back()["kind"], "total");
  EXPECT_EQ(all.back()["found"], document["found"]);
  EXPECT_EQ(all[all.size() - 2]["verdict"], "found");
}

TEST_F(Find, DamageIsSaidAndTheOthersAreSearched) {
  const std::string file = make_file("none");
  std::string bytes = read_file("made_none.hfile");
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  write_file("damaged.hfile", bytes);
  const ToolResult result = run({"find", "row1000", "damaged.hfile", file, "--format", "json"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_EQ(Json::parse(result.err)["error"]["code"], "CEL-CORRUPTION");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["places"][0]["verdict"], "unknown");
  EXPECT_TRUE(json["places"][0]["error"].is_string());
  EXPECT_EQ(json["places"][1]["found"], 20);
  EXPECT_EQ(find({"row1299", "damaged.hfile"}, 0)["found"], 20) << "other blocks are whole";
}

// The pipe is full when the signal comes, so the search is not over.
TEST_F(Find, AnInterruptEndsTheDocumentProperly) {
  auto builder =
      HFileBuilder::create(posix_file_system(), path("wide.hfile").string(), {.block_bytes = 1024});
  ASSERT_TRUE(builder.ok());
  constexpr int kCells = 20000;
  for (int i = 0; i < kCells; ++i)
    ASSERT_TRUE(
        builder->add(Cell("row", "f", "q" + std::to_string(100000 + i), 5, CellType::kPut, "v")).ok());
  ASSERT_TRUE(builder->finish().ok());
  const ToolResult result = shell(
      "mkfifo gate; cellar find row wide.hfile --format json > gate & finder=$!; exec 3< gate; "
      "head -c 1 <&3 > begin; kill -INT $finder; cat <&3 > rest; wait $finder; status=$?; "
      "cat begin rest; exit $status");
  EXPECT_EQ(result.exit, 130) << result.err;
  const Json json = Json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out.substr(0, 1000);
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["found"], json["places"][0]["cells"].size());
  EXPECT_LT(json["found"], kCells);
}

TEST_F(Find, WrongUsageIsSaid) {
  make_shop();
  const std::string file = example_file("versions.hfile");
  EXPECT_EQ(error_of({"find", "row"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"find", "", file}, 2).value("code", ""), "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"find", "\\xZZ", file}, 2).value("code", ""), "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"find", "row", file, "--table", "orders"}, 2).value("code", ""), "CEL-USAGE");
  EXPECT_EQ(error_of({"find", "row", "shop", "--table", "ordrs"}, 3).value("code", ""), "CEL-TABLE");
  EXPECT_EQ(error_of({"find", "row", "nowhere"}, 3).value("code", ""), "CEL-NOT-FOUND");
  write_file("noise", "this is no HFile");
  EXPECT_EQ(error_of({"find", "row", "noise"}, 3).value("code", ""), "CEL-NOT-HFILE");
}

}  // namespace
}  // namespace cellar::testing
