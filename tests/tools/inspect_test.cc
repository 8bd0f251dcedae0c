// Goal: `cellar inspect` shows the content of a file: its index, filters, file info, trailer and single
// blocks, damaged ones too. Method: HBase's files, and files with one byte changed. Each list is compared
// with another way to the same facts. These are the list of blocks, the cells that `dump` prints, and bits
// counted from the rate.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cell/cell_codec.h"
#include "hfile/block/block_writer.h"
#include "hfile/block/index_writer.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/file_info.h"
#include "hfile/format/trailer.h"
#include "tests/support/byte_files.h"
#include "tests/tools/tool_runner.h"

namespace cellar::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

std::string fixture(const std::string& name) {
  return CELLAR_SOURCE_DIR "/tests/data/hfile/hbase-writer/" + name + ".hfile";
}

class Inspect : public ToolTest {
 protected:
  Json inspect(const std::string& file, Strings more) const {
    more.insert(more.begin(), {"inspect", file});
    return json_of(more)["files"][0];
  }
  // Inspects a file that is not sound.
  Json inspect_damaged(const std::string& file, Strings more, int exit) const {
    more.insert(more.begin(), {"inspect", file, "--format", "json"});
    const ToolResult result = run(more);
    EXPECT_EQ(result.exit, exit) << result.err;
    return Json::parse(result.out)["files"][0];
  }
  std::vector<Json> dump(const std::string& file) const {
    std::vector<Json> cells;
    std::istringstream lines(out_of({"dump", file, "--format", "jsonl", "--mvcc", "--tags"}));
    for (std::string text; std::getline(lines, text);) cells.push_back(Json::parse(text));
    return cells;
  }
  std::string damaged(size_t offset) const {
    std::ifstream in(example_file("versions.hfile"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    write_file("damaged.hfile", bytes);
    return "damaged.hfile";
  }
};

TEST_F(Inspect, TheIndexIsATreeOverAllBlocks) {
  for (const auto& [name, levels] : std::vector<std::pair<std::string, uint32_t>>{
           {"big_NONE", 1}, {"index_2_levels", 2}, {"index_3_levels", 3}}) {
    SCOPED_TRACE(name);
    const Json file = inspect(fixture(name), {"--index", "--blocks"});
    EXPECT_EQ(file["index"]["levels"], levels);
    EXPECT_EQ(file["index"]["complete"], true);
    std::vector<uint64_t> indexed;
    std::map<std::string, uint64_t> nodes;
    for (const Json& entry : file["index"]["entries"]) {
      EXPECT_EQ(entry["leads_to"] == "data", entry["level"] == levels - 1);
      nodes[entry["leads_to"]] += 1;
      if (entry["leads_to"] == "data") indexed.push_back(entry["offset"]);
    }
    std::vector<uint64_t> listed;
    std::map<std::string, uint64_t> kinds;
    for (const Json& block : file["blocks"]) {
      kinds[block["kind"]] += 1;
      if (block["kind"] == "data") listed.push_back(block["offset"]);
    }
    EXPECT_EQ(indexed, listed);
    EXPECT_EQ(nodes["leaf index"], kinds["leaf index"]);
    EXPECT_EQ(nodes["intermediate index"], kinds["intermediate index"]);
  }
}

TEST_F(Inspect, LimitsHoldForEachList) {
  const Json file = inspect(fixture("index_3_levels"), {"--index", "--blocks", "--limit", "5"});
  EXPECT_EQ(file["index"]["entries"].size(), 5u);
  EXPECT_EQ(file["index"]["complete"], false);
  EXPECT_EQ(file["blocks"].size(), 5u);
  const Json bloom = inspect(fixture("bloom_ROWCOL_chunks"), {"--bloom", "--limit", "2"})["bloom"];
  EXPECT_EQ(bloom["chunk_list"].size(), 2u);
  EXPECT_EQ(bloom["chunks_left_out"].get<uint64_t>() + 2, bloom["chunks"].get<uint64_t>());
}

TEST_F(Inspect, ChunksOfFiltersTellTheirRate) {
  for (const char* name : {"bloom_ROWCOL_chunks", "deletefamily_bloom", "bloom_ROWPREFIX8"}) {
    SCOPED_TRACE(name);
    const Json file = inspect(fixture(name), {"--bloom"});
    const Json& bloom = file["bloom"];
    ASSERT_GT(bloom["chunk_list"].size(), 0u);
    double keys = 0;
    for (const Json& chunk : bloom["chunk_list"]) {
      const double share = chunk["bits_set"].get<double>() / (8 * chunk["raw_bytes"].get<double>());
      EXPECT_DOUBLE_EQ(chunk["bits_set_share"], share);
      EXPECT_NEAR(chunk["false_positive_rate"], std::pow(share, bloom["hashes"].get<int>()), 1e-12);
      EXPECT_LT(chunk["false_positive_rate"], 0.02) << "made for one in a hundred";
      keys += chunk["keys_estimated"].get<double>();
    }
    EXPECT_NEAR(keys, bloom["keys"].get<double>(), bloom["keys"].get<double>() * 0.1 + 1);
  }
  EXPECT_GT(inspect(fixture("deletefamily_bloom"), {"--bloom"})["delete_bloom"]["chunk_list"].size(), 0u);
}

TEST_F(Inspect, FileInfoAndTrailerAreWhole) {
  const Json file = inspect(example_file("versions.hfile"), {"--fileinfo", "--trailer"});
  std::map<std::string, Json> info;
  for (const Json& entry : file["file_info"]) info[entry["key"]] = entry;
  EXPECT_EQ(info["hfile.AVG_KEY_LEN"]["type"], "int32");
  EXPECT_EQ(info["hfile.AVG_KEY_LEN"]["text"], "22");
  EXPECT_EQ(info["hfile.AVG_KEY_LEN"]["value"], "\\x00\\x00\\x00\\x16");
  EXPECT_EQ(info["MAX_SEQ_ID_KEY"]["type"], "int64");
  EXPECT_EQ(info["hfile.LASTKEY"]["type"], "key");
  EXPECT_EQ(info["TIMERANGE"]["type"], "times");
  const Json& trailer = file["trailer"];
  EXPECT_EQ(trailer["offset"].get<uint64_t>() + trailer["bytes"].get<uint64_t>(),
            file["bytes"].get<uint64_t>());
  EXPECT_EQ(trailer["entry_count"], 600);
  EXPECT_EQ(trailer["codec"], 3);
  EXPECT_EQ(trailer["first_data_block_offset"], 0);
  const std::string text = out_of({"inspect", example_file("versions.hfile"), "--fileinfo", "--trailer"});
  EXPECT_NE(text.find("\\x00\\x00\\x00\\x16"), std::string::npos) << text;
  EXPECT_NE(text.find("load-on-open offset"), std::string::npos) << text;
}

TEST_F(Inspect, ABlockShowsItsCells) {
  const std::string path = example_file("versions.hfile");
  const Json blocks = inspect(path, {"--blocks"})["blocks"];
  const std::vector<Json> cells = dump(path);
  size_t before = 0;
  for (const Json& listed : blocks) {
    const Json block =
        inspect(path, {"--block", std::to_string(listed["ordinal"].get<int>()), "--cells"})["block"];
    EXPECT_EQ(block["offset"], listed["offset"]);
    EXPECT_EQ(block["kind"],
              listed["kind"] == "meta index" ? "root index" : listed["kind"].get<std::string>());
    EXPECT_EQ(block["disk_bytes"], listed["disk_bytes"]);
    EXPECT_EQ(block["checksum_state"], "ok");
    Json by_place =
        inspect(path, {"--block", "@" + std::to_string(listed["offset"].get<int>()), "--cells"})["block"];
    by_place["ordinal"] = block["ordinal"];
    EXPECT_EQ(block, by_place);
    if (block["kind"] != "data") continue;
    ASSERT_EQ(block["entries"], listed["cells"]);
    for (const Json& cell : block["cells"]) EXPECT_EQ(cell, cells[before++]);
  }
  EXPECT_EQ(before, 600u);
}

TEST_F(Inspect, ABlockThatIsNotThereIsAUsageError) {
  const std::string path = example_file("versions.hfile");
  EXPECT_NE(error_of({"inspect", path, "--block", "18"}, 2).value("message", "").find("has 18 blocks"),
            std::string::npos);
  EXPECT_EQ(error_of({"inspect", path, "--block", "three"}, 2).value("code", ""), "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"inspect", path, "--block", "@10503"}, 2).value("code", ""), "CEL-INVALID-ARGUMENT");
  EXPECT_EQ(error_of({"inspect", path, "--cells"}, 2).value("code", ""), "CEL-USAGE");
}

TEST_F(Inspect, DamagedBlocksAreShownAsFarAsTheyGo) {
  // A byte of the second block's body, which begins at 892.
  Json block = inspect_damaged(damaged(1500), {"--block", "1", "--cells"}, 1)["block"];
  EXPECT_EQ(block["checksum_state"], "damaged");
  ASSERT_EQ(block["wrong_sums"].size(), 1u);
  EXPECT_NE(block["wrong_sums"][0]["stored"], block["wrong_sums"][0]["computed"]);
  EXPECT_EQ(block["header"]["magic"], "DATABLKE");
  // The stored sum is damaged: the contents are whole.
  block = inspect_damaged(damaged(1816), {"--block", "1", "--cells"}, 1)["block"];
  EXPECT_EQ(block["checksum_state"], "damaged");
  EXPECT_EQ(block["cells"].size(), 59u);
  // The magic is damaged, and then the size. The fields are shown, and later blocks are found through the
  // index.
  block = inspect_damaged(damaged(893), {"--block", "1"}, 1)["block"];
  EXPECT_EQ(block["checksum_state"], "unknown");
  EXPECT_EQ(block["kind"], "unknown");
  EXPECT_EQ(block["header"]["raw_bytes"], 2091);
  block = inspect(damaged(900), {"--block", "2"})["block"];
  EXPECT_EQ(block["offset"], 1818);
  EXPECT_EQ(block["checksum_state"], "ok");
}

// The index cannot be read; the trailer can, and with it single blocks.
TEST_F(Inspect, BlocksOfAFileThatDoesNotOpenAreShown) {
  const Json file = inspect_damaged(damaged(9600), {"--block", "@892", "--trailer"}, 1);
  EXPECT_EQ(file["state"], "corruption");
  EXPECT_EQ(file["trailer"]["entry_count"], 600);
  EXPECT_EQ(file["block"]["checksum_state"], "ok");
  EXPECT_EQ(file["block"]["encoding"], "ROW_INDEX_V1");
  EXPECT_NE(file["block"].value("entries_trouble", ""), "");
}

TEST_F(Inspect, SeveralFilesAndEverything) {
  const std::string both = out_of({"inspect", example_file("versions.hfile"), example_file("weblog.hfile"),
                                   "--all", "--format", "jsonl"});
  std::istringstream lines(both);
  size_t files = 0;
  for (std::string line; std::getline(lines, line); ++files) {
    const Json file = Json::parse(line);
    for (const char* part : {"space", "blocks", "index", "file_info", "trailer", "scan"})
      EXPECT_TRUE(file.contains(part)) << part;
  }
  EXPECT_EQ(files, 2u);
}

// ---- Ten gibibytes ----

// The end of a file whose data lies before `end_of_data`: an index of two levels, file info and trailer.
std::string tail_of_large_file(uint64_t end_of_data) {
  constexpr uint64_t kLeaves = 1300;
  StringFile out;
  BlockWriter blocks(out, *compressor_by_name("none").value(), ChecksumType::kCrc32c, kBytesPerChecksum);
  IndexEntries root;
  const auto key_of = [](uint64_t row) {
    std::string key;
    append_flat_key(key, "row" + std::to_string(100000 + row), "f", "q", 1000, CellType::kPut);
    return key;
  };
  for (uint64_t i = 0; i < kLeaves; ++i) root.add(key_of(i), {end_of_data / kLeaves * i, 5000});
  std::string payload;
  root.append_root(payload);
  EXPECT_TRUE(blocks.write(BlockKind::kRootIndex, payload).ok());
  EXPECT_TRUE(blocks.write(BlockKind::kRootIndex, "").ok());
  FileInfo info;
  info.set("hfile.LASTKEY", key_of(kLeaves));
  const BlockPlace place = blocks.write(BlockKind::kFileInfo, info.encode()).value();
  Trailer trailer;
  trailer.load_on_open_offset = end_of_data;
  trailer.file_info_offset = end_of_data + place.offset;
  trailer.data_index_count = kLeaves;
  trailer.data_index_levels = 2;
  trailer.entry_count = 100'000'000;
  trailer.first_data_block_offset = 0;
  trailer.last_data_block_offset = static_cast<int64_t>(end_of_data - 65536);
  blocks.append(encode_trailer(trailer));
  EXPECT_TRUE(blocks.flush().ok());
  return out.bytes();
}

TEST_F(Inspect, OfALargeFileOnlyTheEndIsRead) {
  constexpr uint64_t kData = 10ull << 30;
  const std::string tail = tail_of_large_file(kData);
  write_file("large.hfile", "");
  fs::resize_file(path("large.hfile"), kData);  // a hole
  std::ofstream(path("large.hfile"), std::ios::binary | std::ios::app) << tail;
  const Json file = inspect("large.hfile", {});
  EXPECT_EQ(file["bytes"].get<uint64_t>(), kData + tail.size());
  EXPECT_EQ(file["cells"], 100'000'000);
  EXPECT_EQ(file["index"]["root_entries"], 1300);
  EXPECT_LE(file["read"]["bytes"].get<uint64_t>(), tail.size() + 300) << "and a few headers and words twice";
  EXPECT_LE(file["read"]["requests"].get<uint64_t>(), 12u);
}

}  // namespace
}  // namespace cellar::testing
