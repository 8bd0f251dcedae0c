// Goal: damage to a file never gives other cells, a crash or much memory. It gives an error, or the written
// cells. Method: every byte of small files is flipped in two ways, and the files are cut to every length.
// Each is then opened and walked. The same goes through verify, which must not call a file sound whose data
// blocks were touched.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "cell/cell_key.h"
#include "hfile/check/verify.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

struct Outcome {
  Status status;
  std::string lines;
};

Outcome read_all(std::string_view bytes, bool map_file = false) {
  Outcome outcome;
  HFileReaderOptions options;
  options.name = "damaged";
  options.map_file = map_file;
  const Result<std::shared_ptr<HFileReader>> reader =
      HFileReader::open(std::make_unique<ViewFile>(bytes), std::move(options));
  if (!reader.ok()) return {reader.status(), ""};
  const std::unique_ptr<RunCursor> cursor = (*reader)->cursor({});
  OwnedCell target;
  first_of_row(target, (*reader)->first_row());
  std::string row;
  for (const CellView* cell = cursor->seek(target.view()); cell != nullptr; cell = cursor->next()) {
    append_json(outcome.lines, *cell, true, true);
    outcome.lines += '\n';
    row = cell->row();
  }
  outcome.status = cursor->status();
  // Searches and the filter must survive it too.
  (*reader)->may_contain_row(row, nullptr);
  const std::unique_ptr<RunCursor> finder = (*reader)->cursor({});
  first_of_row(target, row);
  finder->seek_before(target.view());
  return outcome;
}

struct Counts {
  uint64_t refused = 0;
  uint64_t harmless = 0;
};

// Flips each byte of the file, and cuts it at each length. Reads each file in both ways.
Counts damage(const std::string& bytes, size_t step) {
  const Outcome sound = read_all(bytes);
  EXPECT_TRUE(sound.status.ok()) << sound.status.to_text();
  Counts counts;
  std::string damaged = bytes;
  const auto look = [&](std::string_view file, const std::string& what) {
    const Outcome outcome = read_all(file);
    const Outcome mapped = read_all(file, true);
    EXPECT_EQ(mapped.status.to_text(), outcome.status.to_text()) << what;
    EXPECT_EQ(mapped.lines, outcome.lines) << what;
    if (outcome.status.ok()) {
      counts.harmless += 1;
      EXPECT_EQ(outcome.lines, sound.lines) << what;
    } else {
      counts.refused += 1;
      EXPECT_FALSE(outcome.status.message().empty());
      // The cells before the error were right.
      EXPECT_TRUE(sound.lines.starts_with(outcome.lines)) << what;
    }
  };
  for (size_t at = 0; at < bytes.size(); at += step) {
    for (const int mask : {0x01, 0xff}) {
      damaged[at] = static_cast<char>(bytes[at] ^ mask);
      look(damaged, "byte " + std::to_string(at) + " ^ " + std::to_string(mask));
      damaged[at] = bytes[at];
    }
    look(std::string_view(bytes).substr(0, at), "cut to " + std::to_string(at));
  }
  count(counts.refused, "flips and cuts of HFiles, refused");
  count(counts.harmless, "flips and cuts of HFiles, without effect");
  return counts;
}

TEST(HFileDamage, FlipsAndCutsOfASmallFile) {
  const std::string bytes = read_test_file(std::string(CELLAR_TEST_DATA_DIR) + "/golden/tiny.hfile");
  const Counts counts = damage(bytes, 1);
  RecordProperty("refused", std::to_string(counts.refused));
  RecordProperty("harmless", std::to_string(counts.harmless));
  // Harmless are the filters' chunks (a damaged one answers "perhaps"), and counters and names in the trailer
  // that nothing is read by.
  EXPECT_LT(counts.harmless, 300u);
}

TEST(HFileDamage, FlipsAndCutsOfEachKind) {
  for (const char* name : {"onecell_ROW_INDEX_V1", "metablocks", "nomvcc_ROW_INDEX_V1", "big_NONE", "empty",
                           "nomvcc_PREFIX", "enc_DIFF_NONE_versions", "tagscomp_FAST_DIFF"}) {
    SCOPED_TRACE(name);
    const std::string bytes = read_test_file(project_fixture("hbase-writer", name).hfile);
    const Counts counts = damage(bytes, (1 + bytes.size() / 3000) * sweep_step());
    EXPECT_GT(counts.refused, counts.harmless * 5);
  }
}

TEST(HFileDamage, FlipsAndCutsOfAFileWithoutChecksums) {
  // Damaged values cannot be told from data there; only what holds the file together is checked.
  for (const FixtureFile& file : foreign_fixtures()) {
    if (file.origin != "hbase-hubspot" || file.name.starts_with("v1_")) continue;
    const std::string bytes = read_test_file(file.hfile);
    std::string damaged = bytes;
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int mask : {0x01, 0xff}) {
        damaged[at] = static_cast<char>(bytes[at] ^ mask);
        read_all(damaged);
        read_all(damaged, true);
        damaged[at] = bytes[at];
      }
      EXPECT_FALSE(read_all(std::string_view(bytes).substr(0, at)).status.ok());
    }
  }
}

TEST(HFileDamage, VerifySeesEveryFlip) {
  const std::string bytes = read_test_file(std::string(CELLAR_TEST_DATA_DIR) + "/golden/tiny.hfile");
  const uint64_t trailer_offset = bytes.size() - kTrailerBytesV3;
  std::string damaged = bytes;
  std::vector<size_t> missed;
  for (size_t at = 0; at < bytes.size(); ++at) {
    damaged[at] = static_cast<char>(bytes[at] ^ 0x01);
    const VerifyReport report = verify(std::make_unique<ViewFile>(damaged), {.level = VerifyLevel::kDeep});
    if (report.verdict == VerifyVerdict::kSound) missed.push_back(at);
    damaged[at] = bytes[at];
  }
  // Every block is summed; in the trailer only informational sizes and letters of the comparator's name get
  // by.
  for (const size_t at : missed) EXPECT_GE(at, trailer_offset) << at;
  EXPECT_LT(missed.size(), 60u);
}

TEST(HFileDamage, VerifyNamesWhatTheFileGetsWrong) {
  const auto time_range = [](int64_t from, int64_t to) {
    FileInfo info;
    info.set_time_range({from, to});
    return *info.find(info_key::kTimeRange);
  };
  FileInfo numbers;
  numbers.set_i64(info_key::kEarliestPut, INT64_MAX - 1);
  numbers.set_i64(info_key::kDeleteFamilyCount, 5);
  const std::vector<std::pair<Facts, std::string>> wrong = {
      {{{std::string(info_key::kTimeRange), time_range(0, 5)}}, "V-TIMERANGE"},
      {{{std::string(info_key::kEarliestPut), *numbers.find(info_key::kEarliestPut)}}, "V-EARLIEST-PUT"},
      {{{std::string(info_key::kDeleteFamilyCount), *numbers.find(info_key::kDeleteFamilyCount)}},
       "V-DELETE-COUNT"},
  };
  for (const auto& [facts, code] : wrong) {
    SCOPED_TRACE(code);
    std::vector<Cell> cells;
    for (const char* row : {"b", "c", "d"}) cells.emplace_back(row, "f", "q", 1000, CellType::kPut, "v");
    HFileWriterOptions options;
    options.bloom = "row";
    const WrittenFile written = write_cells(options, cells, facts);
    const VerifyReport report =
        verify(std::make_unique<ViewFile>(written.bytes), {.level = VerifyLevel::kDeep});
    EXPECT_EQ(report.verdict, VerifyVerdict::kUnsound);
    ASSERT_FALSE(report.findings.empty());
    for (const VerifyFinding& finding : report.findings) EXPECT_EQ(finding.code, code) << finding.text;
  }
}

// A file without checksums, so that a changed byte is a changed meaning.
std::string unchecked_file(const char* encoding) {
  std::vector<Cell> cells;
  for (int i = 0; i < 200; ++i) {
    char row[16];
    snprintf(row, sizeof row, "row%04d", i);
    cells.emplace_back(row, "f", "q", 1000, CellType::kPut, "value");
  }
  HFileWriterOptions options;
  options.encoding = encoding;
  options.block_bytes = 1024;
  options.bloom = "row";
  options.checksum = ChecksumType::kNull;
  return write_cells(options, cells).bytes;
}

std::string replaced(std::string bytes, const std::string& from, const std::string& to, bool last = false) {
  const size_t at = last ? bytes.rfind(from) : bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(from.size(), to.size());
  return at == std::string::npos ? bytes : bytes.replace(at, to.size(), to);
}

std::string with_trailer(std::string bytes, const std::function<void(Trailer&)>& change) {
  Trailer trailer = read_trailer(ViewFile(bytes)).value();
  bytes.resize(bytes.size() - trailer.trailer_bytes());
  change(trailer);
  return bytes + encode_trailer(trailer);
}

TEST(HFileDamage, EachKindOfDamageHasItsCode) {
  const std::string plain = unchecked_file("none");
  const std::string indexed = unchecked_file("row_index");
  std::string no_bits = plain;
  std::string all_bits = plain;
  const size_t chunk = plain.find("BLMFBLK2") + kBlockHeaderBytes;
  const size_t chunk_bytes = static_cast<size_t>(static_cast<uint8_t>(plain[chunk - 1])) +
                             static_cast<size_t>(static_cast<uint8_t>(plain[chunk - 2])) * 256 -
                             kBlockHeaderBytes;
  for (size_t i = 0; i < chunk_bytes; ++i) {
    no_bits[chunk + i] = 0;
    all_bits[chunk + i] = static_cast<char>(0xff);
  }
  const std::string put = std::string("\x03\xe8\x04", 3);  // end of a timestamp, type
  // The first two offsets of a row table: cells of 8 + 7 + 14 + 5 bytes.
  const std::string row_table("\0\0\0\0\0\0\0\x22", 8);
  struct Case {
    std::string name;
    std::string bytes;
    std::set<std::string> codes;
  };
  const std::vector<Case> cases = {
      {"nothing", plain, {}},
      {"nothing, indexed", indexed, {}},
      {"another value", replaced(plain, "value", "VALUE"), {}},
      {"unknown type", replaced(plain, put + "value", std::string("\x03\xe8\x05", 3) + "value"), {"V-CELL"}},
      {"out of order", replaced(plain, "row0003", "row9003"), {"V-ORDER"}},
      {"row table", replaced(indexed, row_table, std::string("\0\0\0\0\0\0\0\x23", 8)), {"V-CELL"}},
      {"last key", replaced(plain, "row0199", "row0198", true), {"V-LASTKEY"}},
      {"count", with_trailer(plain, [](Trailer& trailer) { trailer.entry_count += 1; }), {"V-COUNT"}},
      {"last block",
       with_trailer(plain, [](Trailer& trailer) { trailer.last_data_block_offset -= 1; }),
       {"V-OFFSETS"}},
      {"empty filter", no_bits, {"V-BLOOM-MISS"}},
      {"full filter", all_bits, {"W-BLOOM-BITS"}},
      {"lost magic", replaced(plain, "DATABLK*", "DATABLK?"), {"V-HEADER"}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const VerifyReport report = verify(std::make_unique<ViewFile>(each.bytes), {.level = VerifyLevel::kDeep});
    std::set<std::string> codes;
    std::string texts;
    for (const VerifyFinding& finding : report.findings) {
      if (finding.code == "W-UNCHECKED") continue;
      codes.insert(finding.code);
      texts += finding.code + " " + finding.text + "\n";
    }
    EXPECT_EQ(codes, each.codes) << texts;
    const bool unsound = !each.codes.empty() && each.codes.begin()->starts_with("V-");
    EXPECT_EQ(report.verdict, unsound ? VerifyVerdict::kUnsound : VerifyVerdict::kSound);
  }
}

TEST(HFileDamage, WithoutChecksumsNoBlockOfAnyEncodingLeadsAstray) {
  for (const char* encoding : {"row_index", "prefix", "diff", "fast_diff"}) {
    SCOPED_TRACE(encoding);
    const std::string bytes = unchecked_file(encoding);
    std::string damaged = bytes;
    uint64_t refused = 0;
    const size_t end = std::min<size_t>(bytes.find("DATABLKE", 1), bytes.size());
    for (size_t at = kBlockHeaderBytes; at < end; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        damaged[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        refused += read_all(damaged).status.ok() ? 0 : 1;
        damaged[at] = bytes[at];
      }
    }
    // The other flips give other cells; no sum is there to tell them.
    EXPECT_GT(refused, end);
  }
}

TEST(HFileDamage, TheRestOfAFileIsLookedAtBehindADamagedBlock) {
  std::vector<Cell> cells;
  for (int i = 0; i < 1000; ++i) {
    char row[16];
    snprintf(row, sizeof row, "row%04d", i);
    cells.emplace_back(row, "f", "q", 1000, CellType::kPut, "value");
  }
  HFileWriterOptions options;
  options.block_bytes = 1024;
  WrittenFile written = write_cells(options, cells);
  written.bytes[written.bytes.size() / 4] ^= 1;  // somewhere among the data blocks
  const VerifyReport report =
      verify(std::make_unique<ViewFile>(written.bytes), {.level = VerifyLevel::kDeep});
  EXPECT_EQ(report.verdict, VerifyVerdict::kUnsound);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].code, "V-CHECKSUM");
  EXPECT_TRUE(report.findings[0].rows_at_risk);
  EXPECT_LT(report.findings[0].risk_first_row, *report.findings[0].risk_end_row);
  EXPECT_EQ(report.data_blocks_readable + 1, report.data_blocks);
  EXPECT_GT(report.cells, 900u);
  EXPECT_LT(report.cells, 1000u);
}

}  // namespace
}  // namespace cellar::testing
