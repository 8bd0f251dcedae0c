// Goal: the statements of a file about itself are checked, as its cells are. Each statement that HBase would
// refuse, or lose rows by, is found. Method: sound files of every shape without a finding. Then each fact is
// forged in a file without checksums, so that a changed byte is a changed meaning.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <tuple>

#include "hfile/check/verify.h"
#include "hfile/format/format.h"
#include "hfile/format/trailer.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

std::vector<Cell> cells_with_facts() {
  std::vector<Cell> cells;
  for (int i = 0; i < 400; ++i) {
    // Rows of several lengths: as bytes their flat keys would sort by the length first.
    std::string row = "row" + std::to_string(1000 + i) + std::string(static_cast<size_t>(i) % 5, 'x');
    if (i % 50 == 0) cells.emplace_back(row, "f", "", 1000, CellType::kDeleteFamily, "");
    for (const char* qualifier : {"a", "b"})
      cells.emplace_back(row, "f", qualifier, 1000, CellType::kPut, "value");
  }
  cells.emplace_back("s", "f", "q", 1000, CellType::kPut, "last");
  return cells;
}

std::string written(HFileWriterOptions options) {
  options.block_bytes = 1024;
  options.checksum = ChecksumType::kNull;
  return write_cells(options, cells_with_facts()).bytes;
}

std::string with_bloom(const char* bloom, const char* encoding = "none") {
  HFileWriterOptions options;
  options.bloom = bloom;
  options.encoding = encoding;
  return written(options);
}

// The text after the last `key`, changed to another of the same length.
std::string forged(std::string bytes, const std::string& key, const std::string& from,
                   const std::string& to) {
  const size_t key_at = bytes.rfind(key);
  EXPECT_NE(key_at, std::string::npos) << key;
  const size_t at = bytes.find(from, key_at);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(from.size(), to.size());
  return bytes.replace(at, to.size(), to);
}

std::string with_changed_trailer(std::string bytes, const std::function<void(Trailer&)>& change) {
  Trailer trailer = read_trailer(ViewFile(bytes)).value();
  bytes.resize(bytes.size() - trailer.trailer_bytes());
  change(trailer);
  return bytes + encode_trailer(trailer);
}

struct Found {
  std::set<std::string> codes;
  std::string texts;
  VerifyVerdict verdict = VerifyVerdict::kSound;
};
Found deep(const std::string& bytes) {
  const VerifyReport report = verify(std::make_unique<ViewFile>(bytes), {.level = VerifyLevel::kDeep});
  Found found;
  found.verdict = report.verdict;
  for (const VerifyFinding& each : report.findings) {
    if (each.code == "W-UNCHECKED") continue;
    found.codes.insert(each.code);
    found.texts += each.code + " " + each.text + "\n";
  }
  return found;
}

using Codes = std::set<std::string>;

void expect_unsound(const std::string& bytes, const Codes& codes, const std::string& words) {
  const Found found = deep(bytes);
  EXPECT_EQ(found.codes, codes) << found.texts;
  EXPECT_EQ(found.verdict, VerifyVerdict::kUnsound) << found.texts;
  EXPECT_NE(found.texts.find(words), std::string::npos) << found.texts;
}

TEST(VerifyFacts, SoundFilesOfAllShapesHaveNoFinding) {
  for (const char* bloom : {"none", "row", "rowcol", "rowprefix_fixed_length(prefix_length=5)"}) {
    for (const char* encoding : {"none", "prefix", "diff", "fast_diff", "row_index_v1"}) {
      for (const char* codec : {"none", "gz"}) {
        for (const uint32_t index_chunk : {131072, 256}) {
          HFileWriterOptions options;
          options.bloom = bloom;
          options.encoding = encoding;
          options.compression = codec;
          options.index_chunk_bytes = index_chunk;
          options.index_entries_min = index_chunk == 256 ? 2 : 16;
          options.bloom_chunk_bytes = 256;
          const std::string bytes = written(options);
          const Found found = deep(bytes);
          EXPECT_EQ(found.codes, Codes{}) << bloom << " " << encoding << " " << codec << "\n" << found.texts;
          EXPECT_EQ(found.verdict, VerifyVerdict::kSound);
          EXPECT_EQ(read_trailer(ViewFile(bytes))->data_index_levels > 1, index_chunk == 256);
        }
      }
    }
  }
  EXPECT_EQ(deep(write_cells({}, {}).bytes).codes, Codes{}) << "a file without cells";
}

TEST(VerifyFacts, EachTotalOfTheTrailerIsChecked) {
  HFileWriterOptions small_index;
  small_index.index_chunk_bytes = 256;
  small_index.index_entries_min = 2;
  const std::vector<std::pair<std::string, std::function<void(Trailer&, int)>>> totals = {
      {"total_uncompressed_bytes", [](Trailer& t, int by) { t.total_uncompressed_bytes += by; }},
      {"uncompressed_data_index_bytes", [](Trailer& t, int by) { t.uncompressed_data_index_bytes += by; }},
      {"entry_count", [](Trailer& t, int by) { t.entry_count += by; }},
      {"data_index_count", [](Trailer& t, int by) { t.data_index_count += by; }},
      {"meta_index_count", [](Trailer& t, int by) { t.meta_index_count += by; }},
      {"data_index_levels", [](Trailer& t, int by) { t.data_index_levels += by; }},
      {"first_data_block_offset", [](Trailer& t, int by) { t.first_data_block_offset += by; }},
      {"last_data_block_offset", [](Trailer& t, int by) { t.last_data_block_offset += by; }},
      {"file_info_offset", [](Trailer& t, int by) { t.file_info_offset += by; }},
      {"load_on_open_offset", [](Trailer& t, int by) { t.load_on_open_offset += by; }},
  };
  for (const std::string& bytes : {with_bloom("row"), written(small_index)}) {
    for (const auto& [name, change] : totals) {
      for (const int by : {1, -1, 7}) {
        if (by < 0 && name == "meta_index_count") continue;  // it is 0
        if (by < 0 && name == "first_data_block_offset") continue;
        const Found found =
            deep(with_changed_trailer(bytes, [&, edit = change](Trailer& trailer) { edit(trailer, by); }));
        EXPECT_FALSE(found.codes.empty()) << name << " " << by;
        const bool informs = name.ends_with("_bytes");
        EXPECT_EQ(found.verdict, informs ? VerifyVerdict::kSound : VerifyVerdict::kUnsound)
            << name << " " << by << "\n"
            << found.texts;
        if (informs) {
          EXPECT_EQ(found.codes, Codes{"W-TOTALS"}) << found.texts;
        }
      }
    }
  }
}

// A Bloom filter must not disappear because its block's magic is damaged. HBase refuses such a file.
TEST(VerifyFacts, AnUnknownMagicIsCorruptionForReadersToo) {
  const std::string bytes = with_bloom("row");
  for (const std::string magic : {"BLMFMET2", "DFBLMET2", "FILEINF2", "IDXROOT2"}) {
    SCOPED_TRACE(magic);
    std::string damaged = bytes;
    damaged[damaged.rfind(magic) + 7] = '?';
    expect_unsound(damaged, {"V-OPEN"}, "unknown block magic");
    const auto opened = HFileReader::open(std::make_unique<ViewFile>(damaged), {});
    EXPECT_TRUE(opened.status().is(Code::kCorruption)) << opened.status().to_text();
  }
}

TEST(VerifyFacts, ABlockOfAnotherKindAmongThoseLoadedOnOpeningIsFound) {
  std::string damaged = with_bloom("row");
  damaged.replace(damaged.rfind("BLMFMET2"), 8, "METABLKc");
  const Found found = deep(damaged);
  EXPECT_TRUE(found.codes.contains("V-SECTION")) << found.texts;
  EXPECT_TRUE(found.codes.contains("V-BLOOM")) << found.texts;
  EXPECT_EQ(found.verdict, VerifyVerdict::kUnsound);
}

TEST(VerifyFacts, ALastBloomKeyBeforeTheLastKeyIsFound) {
  const std::string key = "LAST_BLOOM_KEY";
  // In a filter by columns, the key is a flat key: row "s", qualifier "q".
  const std::string last("\0\1s\0q", 5);
  const std::string rowcol = with_bloom("rowcol");
  expect_unsound(forged(rowcol, key, last, std::string("\0\1r\0q", 5)), {"V-BLOOM-MISS"},
                 "is less than the last key");
  expect_unsound(forged(rowcol, key, last, std::string("\0\1s\0p", 5)), {"V-BLOOM-MISS"},
                 "is less than the last key");
  EXPECT_EQ(deep(forged(rowcol, key, last, std::string("\0\1t\0q", 5))).codes, Codes{})
      << "it misses nothing";
  expect_unsound(forged(rowcol, key, last, std::string("\xff\1s\0q", 5)), {"V-INFO"}, "is not a key");
  expect_unsound(forged(rowcol, key, key, "LAST_BLOOM_KEX"), {"V-INFO"}, "without LAST_BLOOM_KEY");
  const std::string row = with_bloom("row");
  expect_unsound(forged(row, key, "\x12\x01s", "\x12\x01r"), {"V-BLOOM-MISS"}, "is less than the last key");
  EXPECT_EQ(deep(forged(row, key, "\x12\x01s", "\x12\x01t")).codes, Codes{});
}

TEST(VerifyFacts, TextsThatHBaseRefusesAreFound) {
  const std::string type = "BLOOM_FILTER_TYPE";
  for (const auto& [from, to] : {std::pair("ROWCOL", "rowcol"), std::pair("ROWCOL", "ROWCOX"),
                                 std::pair("ROWCOL", "RowCol"), std::pair("ROWCOL", "ROW\0\0\0")}) {
    expect_unsound(forged(with_bloom("rowcol"), type, from, std::string(to, 6)), {"V-INFO"}, type);
  }
  expect_unsound(forged(with_bloom("row"), type, "\x03ROW", "\x03row"), {"V-INFO"}, type);
  expect_unsound(forged(with_bloom("rowprefix_fixed_length(prefix_length=5)"), "BLOOM_FILTER_PARAM",
                        "BLOOM_FILTER_PARAM", "BLOOM_FILTER_PARAX"),
                 {"V-INFO"}, "BLOOM_FILTER_PARAM");
  // A type, and no filter. The writer takes the text under another name only.
  HFileWriterOptions options;
  options.checksum = ChecksumType::kNull;
  for (const auto& [text, codes] : {std::pair("ROW", Codes{"V-BLOOM"}), std::pair("NONE", Codes{})}) {
    const std::string stand_in = "BLOOM_FILTER_TYPX";
    const std::string bytes = write_cells(options, cells_with_facts(), {{stand_in, text}}).bytes;
    const Found found = deep(forged(bytes, stand_in, stand_in, type));
    EXPECT_EQ(found.codes, codes) << found.texts;
  }
}

TEST(VerifyFacts, EncodingsThatHBaseRefusesAreFound) {
  const std::string key = "DATA_BLOCK_ENCODING";
  for (const auto& [encoding, from, to] :
       {std::tuple("fast_diff", "FAST_DIFF", "fast_diff"), std::tuple("fast_diff", "FAST_DIFF", "Fast_Diff"),
        std::tuple("diff", "DIFF", "diff"), std::tuple("prefix", "PREFIX", "Prefix"),
        std::tuple("row_index_v1", "ROW_INDEX_V1", "row_index_v1")}) {
    expect_unsound(forged(with_bloom("row", encoding), key, from, to), {"V-INFO"}, key);
  }
  // An encoding that nobody knows cannot be read here, either; verify says both.
  expect_unsound(forged(with_bloom("row", "fast_diff"), key, "FAST_DIFF", "SLOW_DIFF"), {"V-INFO"}, key);
}

TEST(VerifyFacts, AComparatorThatHBase2CannotLoadIsSaid) {
  const std::string bytes = with_bloom("row");
  const std::string package = "org.apache.hadoop.hbase.";
  const auto with_comparator = [&](const std::string& name) {
    return deep(with_changed_trailer(bytes, [&](Trailer& trailer) { trailer.comparator = package + name; }));
  };
  for (const char* known : {"KeyValue$KVComparator", "KeyValue$KeyComparator", "CellComparator",
                            "CellComparatorImpl", "KeyValue$MetaKeyComparator", "KeyValue$MetaComparator",
                            "CellComparatorImpl$MetaCellComparator", "MetaCellComparator"})
    EXPECT_FALSE(with_comparator(known).codes.contains("W-COMPARATOR")) << known;
  for (const char* unknown :
       {"KeyValue$RootKeyComparator", "KeyValue$RootComparator", "KeyValue$MetaFoo", "OtherComparator"}) {
    const Found found = with_comparator(unknown);
    EXPECT_TRUE(found.codes.contains("W-COMPARATOR")) << unknown;
    EXPECT_NE(found.texts.find(unknown), std::string::npos) << found.texts;
  }
}

}  // namespace
}  // namespace cellar::testing
