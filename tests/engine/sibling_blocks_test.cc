// Goal: a block of another store file, or another whole file, in the place of a file's own is never believed,
// and never made permanent. Method: two flushes of the same rows. Each block of the older file is copied over
// the same place of the newer one, and so is the whole file. Gets, scans, verification and a major compaction
// follow. A file without block sums, as older versions wrote it, is tested in the same way. Its sequences
// reveal the exchange.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/manifest/manifest.h"
#include "engine/store/sequence_check.h"
#include "hfile/block/file_parts.h"
#include "hfile/check/verify.h"
#include "hfile/read/hfile_reader.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/byte_files.h"
#include "tests/support/step_executor.h"
#include "tests/support/test_scale.h"

namespace cellar::testing {
namespace {

constexpr int kRows = 300;

std::string row_of(int i) { return "row" + std::to_string(1000 + i); }

struct BlockAt {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  BlockKind kind = BlockKind::kData;
};

// All blocks of a file, in order.
std::vector<BlockAt> blocks_of(std::string_view file) {
  const auto reader = HFileReader::open(std::make_unique<ViewFile>(file), {.name = "file"}).value();
  const FileParts& parts = reader->parts();
  std::vector<BlockAt> blocks;
  for (uint64_t at = 0; at < parts.trailer_offset;) {
    const BlockHeader header = parts.blocks->read_header(at, parts.trailer_offset).value();
    blocks.push_back({at, header.disk_bytes(), header.kind});
    at += header.disk_bytes();
  }
  return blocks;
}

class SiblingBlocks : public EngineFixture {
 protected:
  void SetUp() override {
    open_store();
    FamilyOptions first = family("d");
    first.block_bytes = 1024;
    first.compaction = "none";
    first.compression = "none";  // so that siblings are as long as each other
    table_ = make_table("t", {first});
    // From here on all sequences have as many bytes.
    for (int i = 0; i < 300; ++i) EXPECT_OK(table_->put(Put("other").add("d", "q", "v")));
    EXPECT_OK(table_->flush());
    older_ = fill("older");
    newer_ = fill("newer");
    older_bytes_ = read(older_);
    newer_bytes_ = read(newer_);
    EXPECT_OK(engine_->close());
    ASSERT_EQ(older_bytes_.size(), newer_bytes_.size());
  }

  // A store without a cache: every read is a read of the file.
  void open_store() {
    EngineOptions options;
    options.cache_bytes = 0;
    open(options);
  }

  // Writes all rows and flushes them; the name of the file.
  std::string fill(const std::string& value) {
    for (int i = 0; i < kRows; ++i) EXPECT_OK(table_->put(Put(row_of(i)).add("d", "q", value)));
    const std::vector<std::string> before = names();
    EXPECT_OK(table_->flush());
    for (const std::string& name : names())
      if (std::ranges::find(before, name) == before.end()) return name;
    ADD_FAILURE() << "no new file";
    return {};
  }

  std::unique_ptr<Directory> directory() {
    return files_->open_directory("store/tables/" + std::to_string(table_->info().id) + "/d", false).value();
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const DirectoryEntry& entry : directory()->list().value()) names.push_back(entry.name);
    return names;
  }
  std::string read(const std::string& name) {
    const auto file = directory()->open(name).value();
    std::string bytes(file->size(), '\0');
    EXPECT_OK(file->read(0, bytes.size(), bytes.data()));
    return bytes;
  }
  void write(const std::string& name, std::string_view bytes) {
    EXPECT_OK(directory()->unlink(name));
    const auto file = directory()->create(name, {}).value();
    EXPECT_OK(file->append(bytes));
    EXPECT_OK(file->close());
  }

  // The record of the newer file, or changes to it.
  FileRecord record_of_newer(const std::function<void(FileRecord&)>& change = {}) {
    const auto root = files_->open_directory("store", false).value();
    const auto manifest = Manifest::load(*root, executor_, {}).value();
    ManifestState state = manifest->state();
    for (FileRecord& record : state.tables.at(0).families.at(0).files) {
      if (record.name != newer_) continue;
      if (change) {
        change(record);
        EXPECT_OK(manifest->switch_to(state).status());
      }
      return record;
    }
    ADD_FAILURE() << "no such file in the manifest";
    return {};
  }

  // The newer file as an older version of Cellar wrote it.
  void forget_block_sums() {
    Trailer trailer = read_trailer(ViewFile(newer_bytes_)).value();
    newer_bytes_.resize(newer_bytes_.size() - trailer.trailer_bytes());
    trailer.block_sums.clear();
    newer_bytes_ += encode_trailer(trailer);
    write(newer_, newer_bytes_);
    const uint32_t sum =
        HFileReader::open(std::make_unique<ViewFile>(newer_bytes_), {.name = "older"}).value()->end_sum();
    record_of_newer([&](FileRecord& record) { record.trailer_crc = sum; });
  }

  std::string with_block(const BlockAt& block) const {
    std::string bytes = newer_bytes_;
    bytes.replace(block.offset, block.bytes, older_bytes_, block.offset, block.bytes);
    return bytes;
  }

  bool verified(std::string_view bytes, VerifyLevel level) {
    const VerifyReport report =
        verify(std::make_unique<ViewFile>(bytes),
               {.name = "newer", .level = level, .sequences = sequences_of(record_of_newer())});
    return report.verdict == VerifyVerdict::kSound;
  }

  // How many gets find the older value, and how many fail; any other answer is a failure of the test.
  std::pair<int, int> ask() {
    int stale = 0;
    int refused = 0;
    for (int i = 0; i < kRows; ++i) {
      const auto row = table_->get(Get(row_of(i)));
      if (!row.ok()) {
        EXPECT_TRUE(row.status().is(Code::kCorruption)) << row.status().to_text();
        ++refused;
      } else if (row->row().value("d", "q") != "newer") {
        ++stale;
      }
    }
    return {stale, refused};
  }

  Status walk() {
    auto scanner = table_->scan(Scan());
    if (!scanner.ok()) return scanner.status();
    for (const RowView row : **scanner)
      EXPECT_TRUE(row.row() == "other" || row.value("d", "q") == "newer") << row.row();
    return (*scanner)->status();
  }

  std::shared_ptr<Table> table_;
  std::string older_;
  std::string newer_;
  std::string older_bytes_;
  std::string newer_bytes_;
  StepExecutor executor_{1, clock_};
};

TEST_F(SiblingBlocks, ADataBlockOfAnOlderFileIsFoundByEveryPath) {
  uint64_t blocks = 0;
  for (const BlockAt& block : blocks_of(newer_bytes_)) {
    if (!is_data(block.kind)) continue;
    SCOPED_TRACE(block.offset);
    const std::string damaged = with_block(block);
    ASSERT_NE(damaged, newer_bytes_);
    for (const VerifyLevel level : {VerifyLevel::kBlocks, VerifyLevel::kCells, VerifyLevel::kDeep})
      EXPECT_FALSE(verified(damaged, level));
    write(newer_, damaged);
    open_store();
    table_ = make_table("t", {family("d")});
    const auto [stale, refused] = ask();
    EXPECT_EQ(stale, 0);
    EXPECT_GT(refused, 0);
    EXPECT_LT(refused, kRows / 2);
    EXPECT_TRUE(walk().is(Code::kCorruption));
    const Status compacted = table_->major_compact();
    EXPECT_TRUE(compacted.is(Code::kCorruption)) << compacted.to_text();
    EXPECT_NE(compacted.to_text().find("not the one that was written at this offset"), std::string::npos)
        << compacted.to_text();
    EXPECT_NE(compacted.to_text().find(newer_), std::string::npos) << compacted.to_text();
    EXPECT_NE(compacted.to_text().find("offset " + std::to_string(block.offset)), std::string::npos);
    EXPECT_OK(engine_->close());
    ++blocks;
  }
  EXPECT_GE(blocks, 5u);
  count(blocks, "data blocks of an older store file in the place of a newer one's, found");
}

TEST_F(SiblingBlocks, EveryBlockOfAnOlderFileIsFoundByVerification) {
  std::array<uint64_t, kBlockKinds> kinds{};
  for (const BlockAt& block : blocks_of(newer_bytes_)) {
    const std::string damaged = with_block(block);
    if (damaged == newer_bytes_) continue;  // a filter or an index of the same keys
    EXPECT_FALSE(verified(damaged, VerifyLevel::kBlocks)) << block.offset;
    kinds[static_cast<size_t>(block.kind)] += 1;
  }
  EXPECT_GT(kinds[static_cast<size_t>(BlockKind::kMeta)], 0u) << "the sums themselves";
  EXPECT_GT(kinds[static_cast<size_t>(BlockKind::kFileInfo)], 0u);
}

TEST_F(SiblingBlocks, TheBlockSumsOfAnOlderFileAreFound) {
  for (const BlockAt& block : blocks_of(newer_bytes_)) {
    if (block.kind != BlockKind::kMeta) continue;
    write(newer_, with_block(block));
    open_store();
    table_ = make_table("t", {family("d")});
    EXPECT_EQ(ask(), std::make_pair(0, kRows));
    EXPECT_TRUE(table_->major_compact().is(Code::kCorruption));
  }
}

TEST_F(SiblingBlocks, AnOlderFileUnderTheNameOfANewerOneDoesNotOpen) {
  write(newer_, older_bytes_);
  EngineOptions options;
  options.environment.files = files_.get();
  options.environment.clock = &clock_;
  const auto opened = Engine::open("store", options);
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(opened.status().is(Code::kCorruption));
  EXPECT_NE(opened.status().to_text().find("it is another file"), std::string::npos)
      << opened.status().to_text();
}

TEST_F(SiblingBlocks, WithoutBlockSumsTheSequencesTell) {
  forget_block_sums();
  EXPECT_TRUE(verified(newer_bytes_, VerifyLevel::kDeep));
  uint64_t blocks = 0;
  for (const BlockAt& block : blocks_of(newer_bytes_)) {
    if (!is_data(block.kind)) continue;
    SCOPED_TRACE(block.offset);
    const std::string damaged = with_block(block);
    EXPECT_FALSE(verified(damaged, VerifyLevel::kCells));
    write(newer_, damaged);
    open_store();
    table_ = make_table("t", {family("d")});
    const Status compacted = table_->major_compact();
    EXPECT_TRUE(compacted.is(Code::kCorruption)) << compacted.to_text();
    EXPECT_NE(compacted.to_text().find("it is from another file or time"), std::string::npos)
        << compacted.to_text();
    EXPECT_OK(engine_->close());
    ++blocks;
  }
  EXPECT_GE(blocks, 5u);
  count(blocks, "data blocks of an older store file in a file without block sums, found by their sequences");
  write(newer_, newer_bytes_);
  open_store();
  table_ = make_table("t", {family("d")});
  EXPECT_EQ(ask(), std::make_pair(0, 0));
  EXPECT_OK(table_->major_compact());
  EXPECT_OK(walk());
}

}  // namespace
}  // namespace cellar::testing
