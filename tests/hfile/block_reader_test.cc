// Goal: a block is used only after its bounds and sums were checked; reading ahead gives the same bytes with
// fewer reads. Method: one block made by hand, every field of its header set to awkward values.
#include "hfile/block/block_reader.h"

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/random.h"
#include "hfile/codec/codecs.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

// A block with CRC32C.
std::string block_of_body(std::string_view body, size_t payload_bytes, std::string_view magic) {
  std::string bytes(magic);
  const size_t summed = kBlockHeaderBytes + body.size();
  const size_t sums = (summed + kBytesPerChecksum - 1) / kBytesPerChecksum;
  append_be32(bytes, static_cast<uint32_t>(body.size() + 4 * sums));
  append_be32(bytes, static_cast<uint32_t>(payload_bytes));
  append_be64(bytes, UINT64_MAX);
  bytes += '\2';
  append_be32(bytes, kBytesPerChecksum);
  append_be32(bytes, static_cast<uint32_t>(summed));
  bytes += body;
  for (size_t at = 0; at < summed; at += kBytesPerChecksum)
    append_be32(bytes, crc32c(std::string_view(bytes).substr(0, summed).substr(at, kBytesPerChecksum)));
  return bytes;
}
// A block of codec NONE.
std::string block_of(std::string_view payload, std::string_view magic = "DATABLK*") {
  return block_of_body(payload, payload.size(), magic);
}

Result<Block*> read_block(std::string_view bytes, uint64_t disk_bytes, uint64_t payload_max = 1 << 20) {
  const ViewFile file(bytes);
  const BlockReader reader(&file, Trailer(), compressor_by_id(2).value(),
                           {.name = "test", .payload_bytes_max = payload_max});
  return reader.read(0, disk_bytes, bytes.size(), nullptr, nullptr);
}

bool readable(std::string_view bytes, uint64_t disk_bytes) {
  const Result<Block*> block = read_block(bytes, disk_bytes);
  if (!block.ok()) {
    EXPECT_EQ(block.status().place(), "test: offset 0");
    return false;
  }
  const Pin pin(*block);
  return true;
}

TEST(BlockReaders, GiveThePayloadOfASoundBlock) {
  const std::string bytes = block_of("payload");
  for (const uint64_t size : {uint64_t{0}, uint64_t{bytes.size()}}) {
    const Result<Block*> block = read_block(bytes, size);
    ASSERT_TRUE(block.ok()) << block.status().to_text();
    const Pin pin(*block);
    EXPECT_EQ((*block)->payload(), "payload");
    EXPECT_EQ((*block)->kind(), BlockKind::kData);
  }
  EXPECT_FALSE(readable(bytes, bytes.size() + 1));
  EXPECT_FALSE(readable(bytes, bytes.size() - 1));
  EXPECT_FALSE(readable(bytes, UINT64_MAX));
}

TEST(BlockReaders, RefuseEveryHeaderThatIsNotTheBlocks) {
  const std::string sound = block_of("payload");
  for (const size_t at : {8u, 12u, 25u, 29u}) {
    for (const uint32_t value :
         {0u, 1u, 7u, 8u, 32u, 33u, 40u, 0x7fffffffu, 0x80000000u, 0xfffffffcu, 0xffffffffu}) {
      std::string bytes = sound;
      store_be32(bytes.data() + at, value);
      if (bytes == sound) continue;
      EXPECT_FALSE(readable(bytes, 0)) << at << " " << value;
    }
  }
  for (size_t at = 0; at < sound.size(); ++at) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_FALSE(readable(bytes, 0)) << at;
    EXPECT_FALSE(readable(std::string_view(sound).substr(0, at), 0)) << at;
  }
}

TEST(BlockReaders, CompareEverySum) {
  const std::string sound = block_of(std::string(3 * size_t{kBytesPerChecksum}, 'x'));
  ASSERT_TRUE(readable(sound, sound.size()));
  for (size_t at = kBlockHeaderBytes; at < sound.size(); at += kBytesPerChecksum / 2) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_FALSE(readable(bytes, 0)) << at;
    EXPECT_FALSE(readable(bytes, bytes.size())) << at;
  }
}

TEST(BlockReaders, RefuseASizeThatIsNotTheBlocks) {
  const std::string first = block_of("payload");
  const std::string bytes = first + block_of("the one after it");
  EXPECT_TRUE(readable(bytes, first.size()));
  EXPECT_FALSE(readable(bytes, first.size() + 1)) << "the block is shorter than the index says";
  EXPECT_FALSE(readable(bytes, first.size() - 1)) << "it is longer";
  EXPECT_FALSE(readable(bytes, bytes.size())) << "two blocks are not one";
}

TEST(BlockReaders, HaveALimitOnPayloads) {
  EXPECT_TRUE(readable(block_of(std::string(1000, 'x')), 0));
  const std::string bytes = block_of(std::string(1001, 'x'));
  const Result<Block*> block = read_block(bytes, 0, 1000);
  ASSERT_FALSE(block.ok());
  EXPECT_NE(block.status().message().find("limit"), std::string_view::npos);
}

TEST(BlockReaders, DoNotLetOneBitTurnSumsOff) {
  std::string bytes = block_of("payload");
  const ViewFile file(bytes);
  BlockReader reader(&file, Trailer(), compressor_by_id(2).value(), {.name = "test"});
  reader.agree_on_checksum(ChecksumType::kCrc32c);
  bytes[24] = 0;  // type NULL
  const Result<Block*> block = reader.read(0, 0, bytes.size(), nullptr, nullptr);
  ASSERT_FALSE(block.ok());
  EXPECT_NE(block.status().message().find("checksum type"), std::string_view::npos);
}

TEST(ReadAheads, KnowWhereTheWindowEnds) {
  Random random(7);
  constexpr size_t kFirstWindow = 2 * ReadAhead::kWindowBytesMin;  // it doubles with the first read
  std::string bytes(4 * kFirstWindow, '\0');
  for (char& each : bytes) each = static_cast<char>(random.below(255) + 1);
  const ViewFile file(bytes);
  for (const size_t beyond : {0u, 1u, 2u, 1000u}) {
    ReadAhead ahead;
    ASSERT_TRUE(ahead.get(file, 0, 10, bytes.size()).ok());
    const uint64_t at = kFirstWindow - 500;
    const Result<std::string_view> got = ahead.get(file, at, 500 + beyond, bytes.size());
    ASSERT_TRUE(got.ok()) << got.status().to_text();
    EXPECT_EQ(*got, std::string_view(bytes).substr(at, 500 + beyond)) << beyond << " bytes beyond the window";
  }
}

TEST(ReadAheads, GiveTheFilesBytes) {
  Random random(3);
  std::string bytes(3 << 20, '\0');
  for (char& each : bytes) each = static_cast<char>(random.next());
  const ViewFile file(bytes);
  for (int round = 0; round < 20; ++round) {
    ReadAhead ahead;
    uint64_t at = random.below(1000);
    const uint64_t limit = bytes.size() - random.below(100000);
    while (at < limit) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(1 + random.below(200000), limit - at));
      const Result<std::string_view> got = ahead.get(file, at, size, limit);
      ASSERT_TRUE(got.ok()) << got.status().to_text();
      ASSERT_EQ(*got, std::string_view(bytes).substr(at, size));
      at += random.one_in(5) ? random.below(300000) : size;
      if (random.one_in(9)) at = random.below(at + 1);
      if (random.one_in(60)) break;
    }
  }
}

TEST(ReadAheads, GiveTheFilesBytesBackward) {
  Random random(4);
  std::string bytes(3 << 20, '\0');
  for (char& each : bytes) each = static_cast<char>(random.next());
  const ViewFile file(bytes);
  for (int round = 0; round < 20; ++round) {
    ReadAhead ahead;
    uint64_t end = bytes.size() - random.below(100000);
    while (end > 0) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(1 + random.below(200000), end));
      const uint64_t at = end - size;
      const Result<std::string_view> got =
          random.one_in(9) ? ahead.get(file, at, size, bytes.size()) : ahead.get_backward(file, at, size);
      ASSERT_TRUE(got.ok()) << got.status().to_text();
      ASSERT_EQ(*got, std::string_view(bytes).substr(at, size));
      end = random.one_in(5) ? at - random.below(std::min<uint64_t>(at, 300000) + 1) : at;
      if (random.one_in(9)) end = std::min<uint64_t>(bytes.size(), end + random.below(400000));
      if (random.one_in(60)) break;
    }
  }
}

// Keeps the ranges of a file that were announced.
class AnnouncedFile final : public ReadableFile {
 public:
  explicit AnnouncedFile(uint64_t bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_; }
  Status read(uint64_t /*offset*/, size_t /*bytes*/, char* /*into*/) const override {
    return Status::io_error("nobody reads here");
  }
  void will_need(uint64_t offset, uint64_t bytes) const override { ranges_.emplace_back(offset, bytes); }

  // Returns the ranges since the last call.
  std::vector<std::pair<uint64_t, uint64_t>> take() const { return std::exchange(ranges_, {}); }

 private:
  const uint64_t bytes_;
  mutable std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

// Walks over blocks of 10,000 bytes of a mapped file.
TEST(ReadAheads, AnnounceEachPlaceOnceAndBeforeItsTurn) {
  constexpr uint64_t kBytes = 5'000'000;
  constexpr uint64_t kBlock = 10'000;
  const AnnouncedFile file(kBytes);
  for (const bool backward : {false, true}) {
    ReadAhead ahead;
    std::vector<bool> announced(kBytes / kBlock);
    size_t requests = 0;
    for (uint64_t i = 0; i < kBytes / kBlock; ++i) {
      const uint64_t offset = backward ? kBytes - (i + 1) * kBlock : i * kBlock;
      if (backward) {
        ahead.announce_backward(file, offset, kBlock);
      } else {
        ahead.announce(file, offset, kBlock, kBytes);
      }
      for (const auto& [begin, bytes] : file.take()) {
        ++requests;
        ASSERT_GT(bytes, 0u);
        ASSERT_LE(begin + bytes, kBytes);
        ASSERT_LE(bytes, ReadAhead::kWindowBytesMax + kBlock);
        for (uint64_t at = (begin + kBlock - 1) / kBlock; (at + 1) * kBlock <= begin + bytes; ++at) {
          ASSERT_FALSE(announced[at]) << at;
          announced[at] = true;
        }
      }
      if (i == 0) {
        ASSERT_TRUE(announced[offset / kBlock]);
      }
    }
    EXPECT_LT(requests, 12u);
    EXPECT_GT(std::ranges::count(announced, true), 480) << "all but those at the borders of windows";
  }
}

TEST(ReadAheads, AnnounceAnewAfterAJump) {
  const AnnouncedFile file(100'000'000);
  ReadAhead ahead;
  for (const uint64_t offset : {50'000'000u, 10'000'000u, 90'000'000u}) {
    ahead.announce(file, offset, 20'000, file.size());
    const auto forward = file.take();
    ASSERT_EQ(forward.size(), 1u);
    EXPECT_EQ(forward[0].first, offset);
    ahead.announce_backward(file, offset - 1'000'000, 20'000);
    const auto backward = file.take();
    ASSERT_EQ(backward.size(), 1u);
    EXPECT_EQ(backward[0].first + backward[0].second, offset - 1'000'000 + 20'000);
  }
  ahead.announce_backward(file, 0, 20'000);
  EXPECT_EQ(file.take(), (std::vector<std::pair<uint64_t, uint64_t>>{{0, 20'000}}));
}

// ---- blocks in steps ----

// A payload of 20,000 bytes, as a block of Snappy.
class BlocksInSteps : public ::testing::Test {
 protected:
  BlocksInSteps() {
    for (uint64_t i = 0; payload_.size() < 20'000; ++i)
      payload_ += "row" + std::to_string(i * i * 7919) + " ";
    EXPECT_TRUE(snappy_.compress(payload_, body_).ok());
    trailer_.codec = snappy_.id();
  }
  void write() {
    bytes_ = block_of_body(body_, payload_.size(), "DATABLK*");
    file_ = std::make_unique<ViewFile>(bytes_);
    reader_ =
        std::make_unique<BlockReader>(file_.get(), trailer_, &snappy_, BlockReader::Options{.name = "test"});
    ASSERT_TRUE(reader_->works_in_steps());
  }
  Result<BlockInSteps> begin(ReadStats* stats = nullptr) {
    return reader_->read_in_steps(0, bytes_.size(), bytes_.size(), stats);
  }

  const Compressor& snappy_ = *compressor_by_name("snappy").value();
  Trailer trailer_;
  std::string payload_;
  std::string body_;
  std::string bytes_;
  std::unique_ptr<ViewFile> file_;
  std::unique_ptr<BlockReader> reader_;
};

TEST_F(BlocksInSteps, GrowAndBecomeTheWholeBlock) {
  write();
  for (size_t steps = 0; steps < 30; ++steps) {
    ReadStats stats;
    Result<BlockInSteps> begun = begin(&stats);
    ASSERT_TRUE(begun.ok()) << begun.status().to_text();
    EXPECT_EQ(begun->payload(), "");
    for (size_t i = 0; i < steps && !begun->is_whole(); ++i) {
      const size_t before = begun->payload().size();
      ASSERT_TRUE(begun->advance().ok());
      EXPECT_GT(begun->payload().size(), before);
      EXPECT_LE(begun->payload().size(), before + 2048) << "more than a step was decompressed";
      EXPECT_EQ(begun->payload(), payload_.substr(0, begun->payload().size()));
    }
    const char* const place = begun->payload().data();
    const Result<Block*> whole = begun->finish();
    ASSERT_TRUE(whole.ok()) << whole.status().to_text();
    const Pin pin(*whole);
    EXPECT_EQ((*whole)->payload(), payload_);
    EXPECT_EQ((*whole)->payload().data(), place);
    EXPECT_EQ(stats.blocks_from_disk, 1u);
  }
}

TEST_F(BlocksInSteps, TwoAtATime) {
  write();
  Result<BlockInSteps> one = begin();
  Result<BlockInSteps> other = begin();
  ASSERT_TRUE(one.ok() && other.ok());
  while (!one->is_whole()) {
    ASSERT_TRUE(one->advance().ok() && other->advance().ok());
    EXPECT_EQ(one->payload(), other->payload());
  }
  EXPECT_EQ(one->payload(), payload_);
}

TEST_F(BlocksInSteps, AFaultIsMetWhereItLiesAndStays) {
  body_.resize(body_.size() - 100);
  body_ += std::string(100, '\xff');
  write();
  Result<BlockInSteps> begun = begin();
  ASSERT_TRUE(begun.ok()) << "the sums agree";
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(begun->advance().ok());
  EXPECT_EQ(begun->payload(), payload_.substr(0, begun->payload().size()));
  const size_t before = begun->payload().size();
  EXPECT_EQ(begun->finish().status().code(), Code::kCorruption);
  EXPECT_EQ(begun->advance().code(), Code::kCorruption) << "no step follows a fault";
  EXPECT_EQ(begun->finish().status().code(), Code::kCorruption);
  EXPECT_EQ(begun->payload().size(), before);
}

TEST_F(BlocksInSteps, DamageIsFoundBeforeTheFirstStep) {
  write();
  for (size_t at = 0; at < bytes_.size(); at += 101) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const ViewFile file(damaged);
    const BlockReader reader(&file, trailer_, &snappy_, {.name = "test"});
    EXPECT_EQ(reader.read_in_steps(0, damaged.size(), damaged.size(), nullptr).status().code(),
              Code::kCorruption)
        << at;
  }
}

}  // namespace
}  // namespace cellar::testing
