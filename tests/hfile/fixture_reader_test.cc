// Goal: what others wrote is read as they meant it, and what is damaged or unknown is refused with a word on
// why. Method: every fixture: its cells against the dump of an independent reader, byte for byte; every row
// through filter and index; verification; refusals.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cell/cell_key.h"
#include "cellar/hfile.h"
#include "hfile/check/describe.h"
#include "hfile/check/verify.h"
#include "hfile/codec/codecs.h"
#include "hfile/read/hfile_reader.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

// A file over bytes of its own.
class OwnFile final : public ReadableFile {
 public:
  explicit OwnFile(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Status read(uint64_t offset, size_t bytes, char* into) const override {
    return ViewFile(bytes_).read(offset, bytes, into);
  }

 private:
  std::string bytes_;
};

std::unique_ptr<ReadableFile> open_fixture(const FixtureFile& file) {
  return std::make_unique<OwnFile>(read_test_file(file.hfile));
}

Result<std::shared_ptr<HFileReader>> read_fixture(const FixtureFile& file,
                                                  std::shared_ptr<BlockCache> cache = nullptr) {
  HFileReaderOptions options;
  options.name = file.name;
  options.cache = std::move(cache);
  return HFileReader::open(open_fixture(file), std::move(options));
}

std::string dump(const HFileReader& reader, const FileCursorOptions& options, Status& status) {
  std::string lines;
  const std::unique_ptr<RunCursor> cursor = reader.cursor(options);
  OwnedCell start;
  first_of_row(start, reader.first_row());
  for (const CellView* cell = cursor->seek(start.view()); cell != nullptr; cell = cursor->next()) {
    append_json(lines, *cell, true, true);
    lines += '\n';
  }
  status = cursor->status();
  return lines;
}

std::string first_differing_line(const std::string& a, const std::string& b) {
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  if (at == a.size() && at == b.size()) return "";
  const size_t line = at == 0 ? 0 : a.rfind('\n', at - 1) + 1;
  return a.substr(line, a.find('\n', line) - line) + "\ninstead of\n" +
         b.substr(line, b.find('\n', line) - line);
}

class Fixtures : public ::testing::TestWithParam<FixtureFile> {
 protected:
  void SetUp() override {
    file_ = GetParam();
    facts_ = facts_of(file_);
  }
  FixtureFile file_;
  FixtureFacts facts_;
};

class ReadableFixtures : public Fixtures {};

TEST_P(ReadableFixtures, HoldsTheCellsOfItsDump) {
  const std::string expected = dump_of(file_);
  const std::shared_ptr<BlockCache> cache = BlockCache::create(64 << 20, "clock", 1).value();
  const Result<std::shared_ptr<HFileReader>> reader = read_fixture(file_, cache);
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  EXPECT_EQ((*reader)->cells(), facts_.cells);
  Status status;
  ReadStats stats;
  // From the file in one sweep, block by block into the cache, and from there.
  EXPECT_EQ(first_differing_line(dump(**reader, {.fill_cache = false, .sequential = true}, status), expected),
            "");
  EXPECT_TRUE(status.ok()) << status.to_text();
  EXPECT_EQ(first_differing_line(dump(**reader, {}, status), expected), "");
  EXPECT_TRUE(status.ok()) << status.to_text();
  EXPECT_EQ(first_differing_line(dump(**reader, {.stats = &stats}, status), expected), "");
  EXPECT_TRUE(status.ok()) << status.to_text();
  EXPECT_EQ(stats.bytes_from_disk, 0u);
}

TEST_P(ReadableFixtures, FindsEveryRow) {
  const std::shared_ptr<BlockCache> cache = BlockCache::create(64 << 20, "lru", 1).value();
  const std::shared_ptr<HFileReader> reader = read_fixture(file_, cache).value();
  const std::unique_ptr<RunCursor> walk = reader->cursor({.sequential = true});
  const std::unique_ptr<RunCursor> finder = reader->cursor({});
  OwnedCell start;
  first_of_row(start, reader->first_row());
  std::string row;
  uint64_t rows = 0;
  std::optional<OwnedCell> before;
  for (const CellView* cell = walk->seek(start.view()); cell != nullptr; cell = walk->next()) {
    if (rows > 0 && cell->row() == row) {
      before->assign(*cell);
      continue;
    }
    row = cell->row();
    rows += 1;
    ASSERT_TRUE(reader->may_contain_row(row, nullptr)) << row;
    OwnedCell target;
    first_of_row(target, row);
    const CellView* found = finder->seek(target.view());
    ASSERT_NE(found, nullptr) << row << ": " << finder->status().to_text();
    EXPECT_EQ(found->key_bytes(), cell->key_bytes());
    EXPECT_EQ(found->value_bytes(), cell->value_bytes());
    const CellView* predecessor = finder->seek_before(target.view());
    ASSERT_EQ(predecessor != nullptr, before.has_value()) << row << ": " << finder->status().to_text();
    if (before) {
      EXPECT_EQ(predecessor->key_bytes(), before->view().key_bytes());
      const CellView* again = finder->next();
      ASSERT_NE(again, nullptr);
      EXPECT_EQ(again->key_bytes(), cell->key_bytes());
    } else {
      before.emplace();
    }
    before->assign(*cell);
  }
  EXPECT_TRUE(walk->status().ok());
  EXPECT_EQ(rows, facts_.rows);
}

// The warnings that what is known of the file calls for.
std::set<std::string> warnings_due(const FixtureFacts& facts) {
  std::set<std::string> due;
  const std::string& document = facts.document;
  const std::string sums = json_value(document, "checksum", "format");
  if (sums == "null" || document.find("\"NULL\"") != std::string::npos) due.insert("W-UNCHECKED");
  if (document.find("prev-block offsets") != std::string::npos) due.insert("W-PREV");
  if (document.find("\"row_only\"") != std::string::npos) due.insert("W-INDEX-KEY");
  if (document.find("HoodieHBaseKVComparator") != std::string::npos) due.insert("W-COMPARATOR");
  if (document.find("RootKeyComparator") != std::string::npos) due.insert("W-COMPARATOR");
  // The writer that leaves out the offsets of the blocks before also leaves out totals.
  if (due.contains("W-PREV") && due.contains("W-INDEX-KEY")) due.insert("W-TOTALS");
  return due;
}

TEST_P(ReadableFixtures, IsSound) {
  const VerifyReport report = verify(open_fixture(file_), {.name = file_.name, .level = VerifyLevel::kDeep});
  EXPECT_EQ(report.verdict, VerifyVerdict::kSound);
  EXPECT_EQ(report.cells, facts_.cells);
  EXPECT_EQ(report.rows, facts_.rows);
  EXPECT_EQ(report.data_blocks_readable, report.data_blocks);
  std::set<std::string> codes;
  for (const VerifyFinding& finding : report.findings) {
    codes.insert(finding.code);
    EXPECT_EQ(finding.severity, VerifySeverity::kWarning) << finding.code << " " << finding.text;
  }
  EXPECT_EQ(codes, warnings_due(facts_));
}

TEST_P(ReadableFixtures, IsDescribed) {
  const Result<HFileDescription> described =
      describe(open_fixture(file_), {.name = file_.name, .layout = true, .blocks = true, .scan = true});
  ASSERT_TRUE(described.ok()) << described.status().to_text();
  EXPECT_TRUE(described->status.ok()) << described->status.to_text();
  EXPECT_EQ(described->codec, facts_.compression);
  EXPECT_EQ(described->encoding, facts_.encoding);
  ASSERT_TRUE(described->scan.has_value());
  EXPECT_EQ(described->scan->cells, facts_.cells);
  EXPECT_EQ(described->scan->rows, facts_.rows);
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  for (const HFileSpace& each : described->space) {
    bytes += each.disk_bytes;
    blocks += each.blocks;
  }
  EXPECT_EQ(bytes, described->file_bytes);
  EXPECT_EQ(blocks, described->blocks.size());
  uint64_t cells = 0;
  for (const HFileBlockLine& each : described->blocks) cells += each.cells.value_or(0);
  EXPECT_EQ(cells, facts_.cells);
}

TEST_P(ReadableFixtures, OpensWithoutAnEngine) {
  const Result<HFile> file = HFile::open(open_fixture(file_), file_.name);
  ASSERT_TRUE(file.ok()) << file.status().to_text();
  EXPECT_EQ(file->facts().cells, facts_.cells);
  HFileCells cells = file->cells();
  std::string lines;
  while (const CellView* cell = cells.next()) {
    append_json(lines, *cell, true, true);
    lines += '\n';
  }
  EXPECT_TRUE(cells.status().ok());
  EXPECT_EQ(first_differing_line(lines, dump_of(file_)), "");
}

std::vector<FixtureFile> those(bool readable, bool supported) {
  std::vector<FixtureFile> chosen;
  for (FixtureFile& file : all_fixtures()) {
    const FixtureFacts facts = facts_of(file);
    if (facts.readable == readable && (!readable || facts.supported() == supported))
      chosen.push_back(std::move(file));
  }
  return chosen;
}

std::string label_of(const ::testing::TestParamInfo<FixtureFile>& tested) { return tested.param.label(); }

INSTANTIATE_TEST_SUITE_P(All, ReadableFixtures, ::testing::ValuesIn(those(true, true)), label_of);

class UnsupportedFixtures : public Fixtures {};

TEST_P(UnsupportedFixtures, AreNamedNotRead) {
  const VerifyReport report = verify(open_fixture(file_), {.name = file_.name, .level = VerifyLevel::kDeep});
  EXPECT_EQ(report.verdict, VerifyVerdict::kNotSupported);
  for (const VerifyFinding& finding : report.findings)
    EXPECT_EQ(finding.severity, VerifySeverity::kWarning) << finding.text;
  EXPECT_TRUE(report.status.is(Code::kNotSupported)) << report.status.to_text();
  const Result<std::shared_ptr<HFileReader>> reader = read_fixture(file_);
  const Status status = reader.ok() ? (*reader)->cursor({})->status() : reader.status();
  EXPECT_TRUE(status.is(Code::kNotSupported)) << status.to_text();
  const bool names_it = status.message().find(facts_.encoding) != std::string_view::npos ||
                        status.message().find(facts_.compression) != std::string_view::npos;
  EXPECT_TRUE(names_it) << status.to_text();
  const Result<HFileDescription> described =
      describe(open_fixture(file_), {.name = file_.name, .layout = true});
  ASSERT_TRUE(described.ok()) << described.status().to_text();
  EXPECT_TRUE(described->status.is(Code::kNotSupported));
  EXPECT_TRUE(described->has_trailer);
  EXPECT_EQ(described->cells, facts_.cells);
}

// None are left where every codec is built in.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnsupportedFixtures);
INSTANTIATE_TEST_SUITE_P(All, UnsupportedFixtures, ::testing::ValuesIn(those(true, false)), label_of);

class DamagedFixtures : public Fixtures {};

TEST_P(DamagedFixtures, AreRefused) {
  struct Expected {
    VerifyVerdict verdict;
    std::string code;
  };
  const std::map<std::string, Expected> expected = {
      {"bad_major_4", {VerifyVerdict::kNotSupported, ""}},
      {"bad_trailer_magic", {VerifyVerdict::kNotAnHFile, ""}},
      {"cells_out_of_order", {VerifyVerdict::kUnsound, "V-ORDER"}},
      {"fastdiff_prefix_too_long", {VerifyVerdict::kUnsound, "V-CELL"}},
      {"flip_data_payload", {VerifyVerdict::kUnsound, "V-CHECKSUM"}},
      {"flip_stored_checksum", {VerifyVerdict::kUnsound, "V-CHECKSUM"}},
      {"key_length_huge", {VerifyVerdict::kUnsound, "V-CELL"}},
      {"snappy_claims_2GiB", {VerifyVerdict::kUnsound, "V-HEADER"}},
      {"trailer_only", {VerifyVerdict::kUnsound, "V-TRAILER"}},
      {"truncated_last_byte", {VerifyVerdict::kNotAnHFile, ""}},
      {"uncompressed_size_lies", {VerifyVerdict::kUnsound, "V-CODEC"}},
      {"v1_hbase4388_TestTable_211779713500", {VerifyVerdict::kNotSupported, ""}},
      {"zero_length", {VerifyVerdict::kNotAnHFile, ""}},
  };
  const auto known = expected.find(file_.name);
  ASSERT_NE(known, expected.end()) << "say what is expected of " << file_.name;
  const VerifyReport report = verify(open_fixture(file_), {.name = file_.name, .level = VerifyLevel::kDeep});
  EXPECT_EQ(report.verdict, known->second.verdict);
  std::set<std::string> codes;
  for (const VerifyFinding& finding : report.findings) codes.insert(finding.code);
  if (file_.name == "uncompressed_size_lies") {
    EXPECT_EQ(codes.erase("W-TOTALS"), 1u) << "the sum has the lie, too";
  }
  EXPECT_EQ(codes,
            known->second.code.empty() ? std::set<std::string>{} : std::set<std::string>{known->second.code});
  const Result<std::shared_ptr<HFileReader>> reader = read_fixture(file_);
  Status status = reader.status();
  if (reader.ok()) dump(**reader, {}, status);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(is_not_an_hfile(status), known->second.verdict == VerifyVerdict::kNotAnHFile);
  EXPECT_FALSE(status.message().empty());
}

INSTANTIATE_TEST_SUITE_P(All, DamagedFixtures, ::testing::ValuesIn(those(false, false)), label_of);

// Also of files whose encoding this build lacks: each block of HBase's codecs comes out in its size.
TEST(CodecFixtures, EveryBlockIsDecompressed) {
  std::map<std::string, size_t> blocks;
  for (const FixtureFile& file : project_fixtures()) {
    const FixtureFacts facts = facts_of(file);
    const Result<const Compressor*> codec = compressor_by_name(facts.compression);
    if (!facts.readable || file.origin != "hbase-writer" || !codec.ok()) continue;
    SCOPED_TRACE(file.name);
    const size_t found = walk_blocks(read_test_file(file.hfile), (*codec)->id()).size();
    EXPECT_GT(found, 0u);
    blocks[facts.compression] += found;
  }
  for (const char* codec : {"NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"}) EXPECT_GT(blocks[codec], 20u) << codec;
}

TEST(ForeignFixtures, ArePresentOrSaidToBeAbsent) {
  const size_t count = foreign_fixtures().size();
  if (count == 0)
    GTEST_SKIP() << "no HFiles of other projects in " << CELLAR_FIXTURES_DIR << ": their tests did not run";
  EXPECT_GT(count, 40u);
}

}  // namespace
}  // namespace cellar::testing
