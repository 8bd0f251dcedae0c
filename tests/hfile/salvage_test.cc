// Goal: salvage of a file that is cut anywhere keeps every block before the cut, whatever the version of the
// file. Method: files of version 3 and, made of their blocks, of version 2.0, cut at every length. Real files
// of version 2.0 are used where they are present outside the project.
#include "hfile/check/salvage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/coding.h"
#include "cell/cell_codec.h"
#include "hfile/format/format.h"
#include "hfile/format/trailer.h"
#include "tests/hfile/fixture_files.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

struct Salvaged {
  Status status;
  SalvageReport report;
  std::vector<std::string> cells;
};
Salvaged salvage_all(const std::string& bytes) {
  Salvaged salvaged;
  SalvageTaker taker;
  taker.begin = [](const SalvageFormat&) { return Status(); };
  taker.take = [&](const CellView& cell) {
    salvaged.cells.push_back(key_text(cell) + "=" + std::string(cell.value_bytes()) + "@" +
                             std::to_string(cell.sequence));
    return Status();
  };
  auto report = salvage(std::make_shared<ViewFile>(bytes), "cut", taker);
  salvaged.status = report.status();
  if (report.ok()) salvaged.report = std::move(*report);
  return salvaged;
}

std::vector<Cell> cells_to_salvage() {
  std::vector<Cell> cells;
  for (int i = 0; i < 120; ++i)
    cells.emplace_back("row" + std::to_string(1000 + i), "f", "q", 1000, CellType::kPut,
                       "value " + std::to_string(i));
  return cells;
}

// The blocks before the load-on-open section, with the headers of version 2.0, which end before the sums'
// facts, and without sums.
struct OldFile {
  std::string bytes;
  std::vector<size_t> ends;  // of the data blocks
};
OldFile as_version_20(const std::string& file) {
  OldFile old;
  const uint64_t end = read_trailer(ViewFile(file))->load_on_open_offset;
  for (size_t at = 0; at < end;) {
    const uint32_t stored = load_be32(file.data() + at + 8);
    const uint32_t body = load_be32(file.data() + at + 29) - kBlockHeaderBytes;
    std::string header = file.substr(at, kBlockHeaderBytesV20);
    store_be32(header.data() + 8, body);
    old.bytes += header + file.substr(at + kBlockHeaderBytes, body);
    old.ends.push_back(old.bytes.size());
    at += kBlockHeaderBytes + stored;
  }
  return old;
}

std::string built(const char* codec, bool mvcc) {
  HFileWriterOptions options;
  options.block_bytes = 512;
  options.compression = codec;
  options.mvcc = mvcc;
  return write_cells(options, cells_to_salvage()).bytes;
}

TEST(Salvage, AFileOfVersion20KeepsTheBlocksBeforeTheCut) {
  for (const char* codec : {"none", "gz"}) {
    for (const bool mvcc : {true, false}) {
      SCOPED_TRACE(std::string(codec) + (mvcc ? " with sequences" : ""));
      const std::string file = built(codec, mvcc);
      const std::vector<std::string> all = salvage_all(file).cells;
      ASSERT_EQ(all.size(), 120u);
      const OldFile old = as_version_20(file);
      ASSERT_GT(old.ends.size(), 3u);
      // All of the blocks are there, and a part of what came after them.
      for (const size_t more : {size_t{0}, size_t{1}, size_t{211}}) {
        const Salvaged whole = salvage_all(old.bytes + std::string(more, '\x07'));
        EXPECT_TRUE(whole.status.ok()) << whole.status.to_text();
        EXPECT_EQ(whole.cells, all) << more;
        EXPECT_TRUE(whole.report.format.guessed);
        EXPECT_EQ(whole.report.format.cells.mvcc, mvcc);
      }
      size_t kept_before = 0;
      for (size_t length = old.ends.front(); length < old.bytes.size(); ++length) {
        const Salvaged cut = salvage_all(old.bytes.substr(0, length));
        ASSERT_TRUE(cut.status.ok()) << length << ": " << cut.status.to_text();
        ASSERT_GE(cut.cells.size(), kept_before) << length;
        kept_before = cut.cells.size();
        ASSERT_TRUE(std::equal(cut.cells.begin(), cut.cells.end(), all.begin())) << length;
        const auto blocks = std::ranges::count_if(old.ends, [&](size_t end) { return end <= length; });
        ASSERT_EQ(cut.report.data_blocks, static_cast<uint64_t>(blocks)) << length;
      }
      EXPECT_GT(kept_before, 90u);
    }
  }
}

TEST(Salvage, AFileOfVersion3KeepsTheBlocksBeforeTheCut) {
  const std::string file = built("gz", true);
  const std::vector<std::string> all = salvage_all(file).cells;
  const uint64_t end = read_trailer(ViewFile(file))->load_on_open_offset;
  for (size_t length = file.size() - 1; length > end; length -= std::min<size_t>(length - end, 97)) {
    const Salvaged cut = salvage_all(file.substr(0, length));
    EXPECT_EQ(cut.cells, all) << length;
  }
}

// Zeros are what a disk gives for blocks that never reached it.
TEST(Salvage, ZerosAreReadInLargePieces) {
  const auto reads = std::make_shared<std::atomic<uint64_t>>(0);
  constexpr size_t kBytes = 4 << 20;
  const auto zeros = std::make_shared<CountingFile>(std::string(kBytes, '\0'), reads);
  const SalvageTaker none = {.begin = [](const SalvageFormat&) { return Status(); },
                             .take = [](const CellView&) { return Status(); }};
  EXPECT_TRUE(salvage(zeros, "zeros", none).status().is(Code::kCorruption));
  EXPECT_LE(*reads, 100u);
}

TEST(Salvage, RealFilesOfVersion20AreSavedWithoutTheirLastByte) {
  size_t files = 0;
  for (const FixtureFile& fixture : foreign_fixtures()) {
    const std::string bytes = read_test_file(fixture.hfile);
    const auto trailer = read_trailer(ViewFile(bytes));
    if (!trailer.ok() || trailer->major_version != 2 || trailer->minor_version != 0) continue;
    const Salvaged whole = salvage_all(bytes);
    if (!whole.status.ok()) continue;  // in the order of hbase:meta
    const Salvaged cut = salvage_all(bytes.substr(0, bytes.size() - 1));
    EXPECT_TRUE(cut.status.ok()) << fixture.hfile << ": " << cut.status.to_text();
    EXPECT_EQ(cut.cells, whole.cells) << fixture.hfile;
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "no files of version 2.0 beside the project (CELLAR_FIXTURES_DIR)";
}

}  // namespace
}  // namespace cellar::testing
