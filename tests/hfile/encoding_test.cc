// Goal: the encodings write HBase's bytes and decode them again, and no bytes lead a decoder astray.
// Method: the sample cells whose encoded forms HBase's own classes gave; damaged blocks; names.
#include "hfile/encoding/encoding.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "hfile/block/file_parts.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

std::string from_hex(std::string text) {
  std::string bytes;
  std::erase(text, ' ');
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::vector<Cell> sample_cells() {
  std::string ttl;
  append_tag(ttl, kTtlTag, from_hex("000000000036ee80"));
  std::vector<Cell> cells = {
      Cell("row1", "f", "a", 1700000000000, CellType::kPut, "v1"),
      Cell("row1", "f", "ab", 1700000000000, CellType::kPut, "v1"),
      Cell("row2", "f", "", 1700000000500, CellType::kDeleteFamily, ""),
      Cell("row2", "f", "a", 1699999999999, CellType::kPut, "v22"),
  };
  cells[0].tags = cells[3].tags = ttl;
  cells[0].sequence = 7;
  cells[1].sequence = 300;
  return cells;
}

std::string encoded(const BlockEncoding& encoding, const CellFormat& format, const std::vector<Cell>& cells) {
  const std::unique_ptr<BlockEncoder> encoder = encoding.make_encoder(format);
  std::string key;
  for (const Cell& cell : cells) encoder->add(view_of(cell, key));
  EXPECT_EQ(encoder->cells(), cells.size());
  std::string payload;
  encoder->finish(payload);
  return payload;
}

std::vector<Cell> walked(const BlockEncoding& encoding, const CellFormat& format, std::string_view payload,
                         Status& status) {
  std::vector<Cell> cells;
  const std::unique_ptr<BlockWalker> walker = encoding.make_walker(format);
  status = walker->open(payload);
  if (!status.ok()) return cells;
  while (const CellView* cell = walker->next()) cells.emplace_back(*cell);
  status = walker->status();
  return cells;
}

constexpr CellFormat kBare = {};
constexpr CellFormat kFull = {.tags = true, .mvcc = true};
constexpr CellFormat kCoded = {.tags = true, .mvcc = true, .tags_compressed = true};

// The sample cells as HBase's encoders write them.
constexpr std::string_view kPlainFull =
    "00000012000000020004726f77310166610000018bcfe56800047631000b000908000000000036ee8007"
    "00000013000000020004726f7731016661620000018bcfe5680004763100008e012c"
    "00000011000000000004726f773201660000018bcfe569f40e000000"
    "00000012000000030004726f77320166610000018bcfe567ff04763232000b000908000000000036ee8000";
constexpr std::string_view kRowIndexBare =
    "000700000012000000020004726f77310166610000018bcfe5680004763100000013000000020004726f7731016661620000018b"
    "cfe56800"
    "04763100000011000000000004726f773201660000018bcfe569f40e00000012000000030004726f77320166610000018bcfe567"
    "ff0476"
    "32320000000200000000000000390000006f";
constexpr std::string_view kRowIndexFull =
    "000700000012000000020004726f77310166610000018bcfe56800047631000b000908000000000036ee80070000001300000002"
    "0004726f"
    "7731016661620000018bcfe5680004763100008e012c00000011000000000004726f773201660000018bcfe569f40e0000000000"
    "001200"
    "0000030004726f77320166610000018bcfe567ff04763232000b000908000000000036ee800000000002000000000000004c0000"
    "0093";

struct EncodedSample {
  const char* encoding;
  CellFormat format;
  std::string_view bytes;
};
constexpr EncodedSample kDeltaSamples[] = {
    {"PREFIX", kBare,
     "00020000006f1202000004726f77310166610000018bcfe568000476310a0209620000018bcfe568000476310c000532"
     "01660000018bcfe569f40e0a0308610000018bcfe567ff04763232"},
    {"PREFIX", kFull,
     "0002000000931202000004726f77310166610000018bcfe568000476310b000908000000000036ee80070a0209620000"
     "018bcfe56800047631008e012c0c00053201660000018bcfe569f40e00000a0308610000018bcfe567ff047632320b00"
     "0908000000000036ee8000"},
    {"PREFIX", kCoded,
     "0002000000931202000004726f77310166610000018bcfe568000476310bff0908000000000036ee80070a0209620000"
     "018bcfe56800047631008e012c0c00053201660000018bcfe569f40e00000a0308610000018bcfe567ff047632320b00"
     "0000"},
    {"DIFF", kBare,
     "00030000006f0166501202000004726f7731610068e5cf8b010476310e1309620076319811000532f4010e1812030861"
     "f50104763232"},
    {"DIFF", kFull,
     "0003000000930166501202000004726f7731610068e5cf8b010476310b000908000000000036ee80070e130962007631"
     "008e012c9811000532f4010e00001812030861f501047632320b000908000000000036ee8000"},
    {"DIFF", kCoded,
     "0003000000930166501202000004726f7731610068e5cf8b010476310bff0908000000000036ee80070e130962007631"
     "008e012c9811000532f4010e00001812030861f501047632320b000000"},
    {"FAST_DIFF", kBare,
     "00040000006f001202000004726f77310166610000018bcfe568000476317713096200061100053269f40e0612030861"
     "67ff04763232"},
    {"FAST_DIFF", kFull,
     "000400000093001202000004726f77310166610000018bcfe568000476310b000908000000000036ee80077713096200"
     "008e012c061100053269f40e0000061203086167ff047632320b000908000000000036ee8000"},
    {"FAST_DIFF", kCoded,
     "000400000093001202000004726f77310166610000018bcfe568000476310bff0908000000000036ee80077713096200"
     "008e012c061100053269f40e0000061203086167ff047632320b000000"},
};

TEST(Encodings, WriteTheBytesOfHBase) {
  const BlockEncoding& none = *encoding_by_name("NONE").value();
  const BlockEncoding& row_index = *encoding_by_name("ROW_INDEX_V1").value();
  EXPECT_EQ(hex(encoded(none, kFull, sample_cells())), kPlainFull);
  EXPECT_EQ(hex(encoded(row_index, kBare, sample_cells())), kRowIndexBare);
  EXPECT_EQ(hex(encoded(row_index, kFull, sample_cells())), kRowIndexFull);
  EXPECT_EQ(hex(encoded(row_index, kCoded, sample_cells())), kRowIndexFull);
  for (const EncodedSample& sample : kDeltaSamples) {
    const BlockEncoding& encoding = *encoding_by_name(sample.encoding).value();
    EXPECT_EQ(hex(encoded(encoding, sample.format, sample_cells())), sample.bytes) << sample.encoding;
  }
}

// More contents than a dictionary has numbers for: those that were used least recently are forgotten.
TEST(Encodings, ADictionaryForgetsTheTagsOfLongAgo) {
  const BlockEncoding& encoding = *encoding_by_name("fast_diff").value();
  constexpr CellFormat format = {.tags = true, .tags_compressed = true};
  const auto cell_of = [](int number, const std::string& content) {
    Cell cell("row" + std::to_string(1000 + number), "f", "q", 5, CellType::kPut, "v");
    append_tag(cell.tags, 65, content);
    return cell;
  };
  const auto bytes_added = [&](std::vector<Cell> cells, const Cell& last) {
    const size_t before = encoded(encoding, format, cells).size();
    cells.push_back(last);
    return encoded(encoding, format, cells).size() - before;
  };
  std::vector<Cell> cells;
  for (int i = 0; i < 127; ++i) cells.push_back(cell_of(i, "a long tag " + std::to_string(i)));
  const size_t named = bytes_added(cells, cell_of(127, "a long tag 0"));
  const size_t spelled = bytes_added(cells, cell_of(127, "a long tag x"));
  EXPECT_EQ(spelled, named + 13);                 // 0xff, the size, type and 12 bytes instead of a number
  cells.push_back(cell_of(127, "a long tag 0"));  // now 1 is the one used least recently
  cells.push_back(cell_of(128, "a long tag x"));  // takes its number
  EXPECT_EQ(bytes_added(cells, cell_of(129, "a long tag 1")), spelled);
  EXPECT_EQ(bytes_added(cells, cell_of(129, "a long tag 0")), named);
  EXPECT_EQ(bytes_added(cells, cell_of(129, "a long tag 2")), named);
  for (int i = 129; i < 600; ++i) cells.push_back(cell_of(i, "tag " + std::to_string(i * i % 200)));
  Status status;
  EXPECT_EQ(walked(encoding, format, encoded(encoding, format, cells), status), cells);
  EXPECT_TRUE(status.ok()) << status.to_text();
}

// Blocks that HBase wrote are decoded and encoded again.
TEST(Encodings, WriteEveryBlockOfHBaseAgain) {
  uint64_t blocks = 0;
  for (const FixtureFile& file : all_fixtures()) {
    const FixtureFacts facts = facts_of(file);
    if (!facts.readable || !facts.supported() || facts.encoding == "NONE") continue;
    SCOPED_TRACE(file.name);
    const std::string bytes = read_test_file(file.hfile);
    const std::shared_ptr<HFileReader> reader =
        HFileReader::open(std::make_unique<ViewFile>(bytes), {}).value();
    const BlockEncoding& encoding = *encoding_by_name(facts.encoding).value();
    const std::unique_ptr<BlockWalker> walker = encoding.make_walker(reader->parts().format);
    const std::unique_ptr<BlockEncoder> encoder = encoding.make_encoder(reader->parts().format);
    for (const RawBlock& block : walk_blocks(bytes, reader->trailer().codec)) {
      if (block.magic != "DATABLKE") continue;
      ASSERT_TRUE(walker->open(block.payload).ok());
      while (const CellView* cell = walker->next()) encoder->add(*cell);
      ASSERT_TRUE(walker->status().ok()) << walker->status().to_text();
      std::string payload;
      encoder->finish(payload);
      ASSERT_TRUE(payload == block.payload) << "the block at " << block.offset;
      blocks += 1;
    }
  }
  EXPECT_GT(blocks, 500u);
}

TEST(Encodings, CountBytesAsHBaseDoes) {
  for (const std::string& name : encoding_names()) {
    const std::unique_ptr<BlockEncoder> encoder = encoding_by_name(name).value()->make_encoder(kFull);
    std::string key;
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(encoder->plain_bytes(), 0u);
      EXPECT_EQ(encoder->encoded_bytes(), 0u);
      for (const Cell& cell : sample_cells()) encoder->add(view_of(cell, key));
      EXPECT_EQ(encoder->plain_bytes(), 147u);
      const size_t encoded_bytes = encoder->encoded_bytes();
      EXPECT_EQ(encoder->cells(), 4u);
      std::string payload = "what was there before";
      encoder->finish(payload);
      // Neither the id nor the bytes before or after the cells count.
      EXPECT_EQ(encoded_bytes, name == "none" ? 147 : name == "row_index_v1" ? 155 : payload.size() - 6);
      EXPECT_EQ(encoder->cells(), 0u);
    }
  }
}

TEST(Encodings, GiveBackWhatTheyWereGiven) {
  for (const std::string& name : encoding_names()) {
    const BlockEncoding& encoding = *encoding_by_name(name).value();
    Random random(7);
    for (const int tags : {0, 1, 2}) {
      for (const bool mvcc : {false, true}) {
        const CellFormat format = {.tags = tags > 0, .mvcc = mvcc, .tags_compressed = tags == 2};
        std::vector<Cell> cells = draw_cells(random, {.rows = 20, .cells = 200, .tags = tags > 0});
        for (Cell& cell : cells) cell.sequence = mvcc ? random.next() >> (1 + random.below(63)) : 0;
        sort_cells(cells);
        Status status;
        EXPECT_EQ(walked(encoding, format, encoded(encoding, format, cells), status), cells);
        EXPECT_TRUE(status.ok()) << status.to_text();
      }
    }
  }
}

// Any byte at any place, any length, and noise: no crash, no read outside of the block, and never more cells
// than bytes.
void check_any_bytes(const std::string& name, const CellFormat& format) {
  SCOPED_TRACE(name);
  const BlockEncoding& encoding = *encoding_by_name(name).value();
  const std::string sound = encoded(encoding, format, sample_cells());
  Status status;
  const auto look = [&](std::string_view bytes) {
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a read beyond its end is noticed
    return walked(encoding, format, {exact.data(), exact.size()}, status).size();
  };
  for (size_t at = 0; at < sound.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = sound;
      damaged[at] = static_cast<char>(value);
      EXPECT_LE(look(damaged), 4u + sound.size());
    }
    look(std::string_view(sound).substr(0, at));
    EXPECT_FALSE(status.ok() && name != "none") << at;
  }
  Random random(11);
  for (int i = 0; i < 4000; ++i) {
    std::string noise(random.below(200), '\0');
    for (char& each : noise) each = static_cast<char>(random.one_in(3) ? 0 : random.next());
    if (random.one_in(2)) noise = sound.substr(0, random.below(sound.size())) + noise;
    EXPECT_LE(look(noise), sound.size() + 200);
  }
}

TEST(Encodings, SurviveAnyBytes) {
  for (const std::string& name : encoding_names())
    for (const CellFormat& format : {kBare, kFull, kCoded}) check_any_bytes(name, format);
}

void check_refusals(const std::string& name) {
  SCOPED_TRACE(name);
  const BlockEncoding& encoding = *encoding_by_name(name).value();
  const auto refused = [&](const Cell& cell, const CellFormat& format, const std::string& why) {
    Status status;
    walked(encoding, format, encoded(encoding, format, {cell}), status);
    EXPECT_TRUE(status.is(Code::kCorruption));
    EXPECT_NE(status.message().find(why), std::string_view::npos) << status.to_text();
  };
  refused(Cell("", "f", "q", 1, CellType::kPut, "v"), kBare, "row");
  refused(Cell(std::string(32768, 'r'), "f", "q", 1, CellType::kPut, "v"), kBare, "row");
  refused(Cell("r", std::string(128, 'f'), "q", 1, CellType::kPut, "v"), kBare, "family");
  refused(Cell("r", "f", "q", -1, CellType::kPut, "v"), kBare, "timestamp");
  refused(Cell("r", "f", "q", 1, CellType::kMaximum, "v"), kBare, "type");
  Cell tagged("r", "f", "q", 1, CellType::kPut, "v");
  tagged.tags = std::string("\0\0", 2);
  refused(tagged, kFull, "tags");
  tagged.tags = std::string("\0\5\1", 3);
  refused(tagged, kFull, "tags");
  Cell numbered("r", "f", "q", 1, CellType::kPut, "v");
  numbered.sequence = UINT64_MAX;  // a negative MVCC
  refused(numbered, kFull, "MVCC");
  // Hudi's files hold the latest timestamp, and tags of up to 65,535 bytes are read.
  Status status;
  Cell latest("r", "f", "q", kLatestTimestamp, CellType::kPut, "v");
  append_tag(latest.tags, 65, std::string(65000, 't'));
  EXPECT_EQ(walked(encoding, kFull, encoded(encoding, kFull, {latest}), status).size(), 1u);
  EXPECT_TRUE(status.ok()) << status.to_text();
}

TEST(Encodings, RefuseWhatNoStoreHolds) {
  for (const std::string& name : encoding_names()) check_refusals(name);
}

// A block of one sound cell of row "r", and what follows it.
struct MaliciousBlock {
  const char* encoding;
  CellFormat format;
  const char* follows;  // in hexadecimal
  const char* why;
};

constexpr CellFormat kCodedTags = {.tags = true, .tags_compressed = true};

std::vector<MaliciousBlock> malicious_blocks() {
  // The sound cell has a key of 15 bytes, of which 6 are coordinates, and a value of one byte.
  return {
      {"prefix", kBare, "ff", "malformed size"},
      {"prefix", kBare, "ffffffff7f0000", "malformed size"},
      {"prefix", kBare, "ffffffff070000", "key too long"},
      {"prefix", kBare, "000010", "common prefix runs past the key"},
      {"prefix", kBare, "0f0000", "key longer than the block"},
      {"prefix", kBare, "00050f", "value longer than the block"},
      {"prefix", kBare, "0000000c", "sizes inside the key"},
      {"prefix", kBare, "0d0000ffff72016671000000000000000504", "sizes inside the key"},
      {"prefix", kBare, "0100 0e 05", "unknown type"},
      {"prefix", kFull, "00000f 7f", "tags longer than the block"},
      {"prefix", kFull, "00000f 030002", "tags longer than the block"},
      {"prefix", kFull, "00000f 03000541", "malformed tags"},
      {"prefix", kFull, "00000f ffff7f", "tags too long"},
      {"prefix", kFull, "00000f 00 80", "malformed MVCC"},
      {"prefix", kCodedTags, "00000f 05", "tags cut off"},
      {"prefix", kCodedTags, "00000f 05 00", "tags cut off"},
      {"prefix", kCodedTags, "00000f 05 0000", "tag is not in the dictionary"},
      {"prefix", kCodedTags, "00000f 05 ff7f41", "tag longer than the block"},
      {"prefix", kCodedTags, "00000f 05 ff00", "tags do not fill their size"},
      {"prefix", kCodedTags, "00000f 05 ff0441424344", "tags do not fill their size"},
      {"prefix", kCodedTags, "00000f 06 ff03414243", "tags cut off"},
      {"diff", kBare, "07", "malformed size"},
      {"diff", kBare, "06 0b 00", "sizes inside the key"},
      {"diff", kBare, "06 ffffff07 06", "key too long"},
      {"diff", kBare, "07 07", "common prefix runs past the key"},
      {"diff", kBare, "06 0c 06", "common prefix runs past the key"},
      {"diff", kBare, "07 00 0003 727374", "sizes inside the key"},
      {"diff", kBare, "07 00 0001", "key longer than the block"},
      {"diff", kBare, "77 06 01020304", "timestamp cut off"},
      {"diff", kBare, "87 06 01", "negative timestamp"},
      {"diff", kBare, "03 06 05", "key longer than the block"},
      {"diff", kBare, "03 06 05 03", "unknown type"},
      {"diff", kBare, "07 06 05", "value longer than the block"},
      {"fast_diff", kBare, "38 07 00", "common prefix runs past the key"},
      {"fast_diff", kBare, "38 00 0003 727374", "sizes inside the key"},
      {"fast_diff", kBare, "38 06 0000", "key longer than the block"},
      {"fast_diff", kBare, "38 06 8000000000000000", "negative timestamp"},
      {"fast_diff", kBare, "1f 06 05", "key longer than the block"},
      {"fast_diff", kBare, "3f 06 05", "value longer than the block"},
      {"fast_diff", kBare, "6f 02 06 05", "value repeated in another size"},
  };
}

TEST(Encodings, RefuseBlocksMadeToMislead) {
  for (const MaliciousBlock& block : malicious_blocks()) {
    SCOPED_TRACE(std::string(block.encoding) + " " + block.follows);
    const BlockEncoding& encoding = *encoding_by_name(block.encoding).value();
    const Cell sound("r", "f", "q", 5, CellType::kPut, "v");
    const std::string bytes = encoded(encoding, block.format, {sound}) + from_hex(block.follows);
    Status status;
    EXPECT_EQ(walked(encoding, block.format, bytes, status).size(), 1u);
    EXPECT_TRUE(status.is(Code::kCorruption));
    EXPECT_NE(status.message().find(block.why), std::string_view::npos) << status.to_text();
  }
  const auto refused = [](const char* name, const std::string& bytes, const std::string& why) {
    Status status;
    EXPECT_TRUE(walked(*encoding_by_name(name).value(), kBare, from_hex(bytes), status).empty());
    EXPECT_TRUE(status.is(Code::kCorruption));
    EXPECT_NE(status.message().find(why), std::string_view::npos) << status.to_text();
  };
  refused("prefix", "00020000", "not of encoding PREFIX");
  refused("prefix", "000300000000", "not of encoding PREFIX");
  refused("prefix", "000200000001", "stated plain size");
  refused("diff", "0003000000000566", "family longer than the block");
  refused("diff", "000300000000016601", "refers to one before it");
  refused("diff", "000300000000016608", "refers to one before it");
  refused("fast_diff", "00040000000001", "malformed size");
  refused("fast_diff", "000400000000010f0100", "refers to one before it");
  refused("fast_diff", "000400000000000f0101", "refers to one before it");
  refused("fast_diff", "000400000000000f0100", "key longer than the block");
}

TEST(Encodings, AreFoundByEitherName) {
  EXPECT_EQ(encoding_by_name("row_index").value(), encoding_by_name("ROW_INDEX_V1").value());
  EXPECT_EQ(encoding_by_name("none").value()->id(), 0);
  EXPECT_EQ(encoding_by_name("Row_Index_V1").value()->id(), 7);
  for (const char* name : {"PREFIX_TREE", ""}) {
    const Status status = encoding_by_name(name).status();
    EXPECT_TRUE(status.is(Code::kNotSupported));
    EXPECT_NE(status.message().find(name), std::string_view::npos);
  }
}

}  // namespace
}  // namespace cellar::testing
