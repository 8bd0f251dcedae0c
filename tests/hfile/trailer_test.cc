// Goal: trailers of all versions are read, what cannot be true is refused, and ours are HBase's.
#include "hfile/format/trailer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/coding.h"
#include "base/random.h"
#include "tests/hfile/golden_cells.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

// A file of 10,000 zero bytes and this trailer.
Result<Trailer> read_back(const std::string& trailer) {
  const std::string file = std::string(10000, '\0') + trailer;
  return read_trailer(ViewFile(file));
}

Trailer sound() {
  Trailer trailer;
  trailer.load_on_open_offset = 5000;
  trailer.file_info_offset = 6000;
  trailer.uncompressed_data_index_bytes = 77;
  trailer.total_uncompressed_bytes = 123456789012;
  trailer.data_index_count = 3;
  trailer.meta_index_count = 1;
  trailer.entry_count = 1234;
  trailer.data_index_levels = 2;
  trailer.first_data_block_offset = 0;
  trailer.last_data_block_offset = 4000;
  trailer.codec = 3;
  return trailer;
}

std::string writable(const Trailer& trailer, uint32_t minor, std::string_view comparator) {
  std::string bytes(kTrailerMagic);
  append_be64(bytes, trailer.file_info_offset);
  append_be64(bytes, trailer.load_on_open_offset);
  append_be32(bytes, trailer.data_index_count);
  append_be64(bytes, trailer.uncompressed_data_index_bytes);
  append_be32(bytes, trailer.meta_index_count);
  append_be64(bytes, trailer.total_uncompressed_bytes);
  append_be64(bytes, trailer.entry_count);
  append_be32(bytes, trailer.codec);
  append_be32(bytes, trailer.data_index_levels);
  append_be64(bytes, static_cast<uint64_t>(trailer.first_data_block_offset));
  append_be64(bytes, static_cast<uint64_t>(trailer.last_data_block_offset));
  bytes.append(comparator);
  bytes.resize(208, '\0');
  append_be32(bytes, minor << 24 | 2);
  return bytes;
}

void expect_same(const Trailer& a, const Trailer& b) {
  EXPECT_EQ(a.load_on_open_offset, b.load_on_open_offset);
  EXPECT_EQ(a.file_info_offset, b.file_info_offset);
  EXPECT_EQ(a.uncompressed_data_index_bytes, b.uncompressed_data_index_bytes);
  EXPECT_EQ(a.total_uncompressed_bytes, b.total_uncompressed_bytes);
  EXPECT_EQ(a.data_index_count, b.data_index_count);
  EXPECT_EQ(a.meta_index_count, b.meta_index_count);
  EXPECT_EQ(a.entry_count, b.entry_count);
  EXPECT_EQ(a.data_index_levels, b.data_index_levels);
  EXPECT_EQ(a.first_data_block_offset, b.first_data_block_offset);
  EXPECT_EQ(a.last_data_block_offset, b.last_data_block_offset);
  EXPECT_EQ(a.comparator, b.comparator);
  EXPECT_EQ(a.codec, b.codec);
}

TEST(Trailer, ReadsWhatItWrites) {
  Trailer trailer = sound();
  for (const uint32_t minor : {0u, 3u, 9u}) {
    trailer.minor_version = minor;
    const std::string bytes = encode_trailer(trailer);
    EXPECT_EQ(bytes.size(), kTrailerBytesV3);
    const Result<Trailer> read = read_back(bytes);
    ASSERT_TRUE(read.ok()) << read.status().to_text();
    EXPECT_EQ(read->major_version, 3u);
    EXPECT_EQ(read->minor_version, minor);
    EXPECT_TRUE(read->has_checksums());
    expect_same(*read, trailer);
  }
  trailer.major_version = 2;
  trailer.minor_version = 3;
  EXPECT_EQ(encode_trailer(trailer).size(), kTrailerBytesV2);
  expect_same(read_back(encode_trailer(trailer)).value(), trailer);
}

TEST(Trailer, WritesHBasesBytes) {
  for (const GoldenFile& golden : golden_files()) {
    const std::string file = golden_bytes(golden.name);
    const Result<Trailer> trailer = read_trailer(ViewFile(file));
    ASSERT_TRUE(trailer.ok()) << golden.name << ": " << trailer.status().to_text();
    EXPECT_EQ(encode_trailer(*trailer), file.substr(file.size() - kTrailerBytesV3)) << golden.name;
  }
}

TEST(Trailer, ReadsTheWritableForm) {
  Trailer trailer = sound();
  trailer.comparator = "org.apache.hadoop.hbase.KeyValue$KeyComparator";
  for (const uint32_t minor : {0u, 1u}) {
    const Result<Trailer> read = read_back(writable(trailer, minor, trailer.comparator));
    ASSERT_TRUE(read.ok()) << read.status().to_text();
    expect_same(*read, trailer);
    EXPECT_EQ(read->block_header_bytes(), minor == 0 ? kBlockHeaderBytesV20 : kBlockHeaderBytes);
  }
}

// Files of version 3 that somebody labelled 2.3 keep their large trailer.
TEST(Trailer, ALargeTrailerUnderVersionTwo) {
  std::string bytes = encode_trailer(sound());
  bytes.replace(4092, 4, std::string("\3\0\0\2", 4));
  const Result<Trailer> read = read_back(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_text();
  expect_same(*read, sound());
  EXPECT_EQ(read->trailer_bytes(), kTrailerBytesV3);
}

// Old versions leave 0 as the last data block's offset; ours and HBase 2.x's have -1.
TEST(Trailer, AFileWithoutCells) {
  Trailer trailer = sound();
  trailer.entry_count = 0;
  trailer.load_on_open_offset = 0;
  trailer.first_data_block_offset = -1;
  for (const int64_t last : {-1, 0}) {
    trailer.last_data_block_offset = last;
    for (const std::string& bytes : {encode_trailer(trailer), writable(trailer, 0, "c")}) {
      const Result<Trailer> read = read_back(bytes);
      ASSERT_TRUE(read.ok()) << read.status().to_text();
      EXPECT_EQ(read->first_data_block_offset, -1);
      EXPECT_EQ(read->last_data_block_offset, -1);
    }
  }
}

TEST(Trailer, RefusesWhatCannotBeTrue) {
  const auto answer = [](auto&& change) {
    Trailer trailer = sound();
    change(trailer);
    const Result<Trailer> read = read_back(encode_trailer(trailer));
    EXPECT_TRUE(read.ok() || read.status().place() == "trailer");
    EXPECT_FALSE(is_not_an_hfile(read.status()));
    return read.ok() ? Code::kOk : read.status().code();
  };
  EXPECT_EQ(answer([](Trailer&) {}), Code::kOk);
  EXPECT_EQ(answer([](Trailer& t) { t.file_info_offset = 10000; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.file_info_offset = 10000 - 32; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.file_info_offset = 4999; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.file_info_offset = UINT64_MAX; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.load_on_open_offset = UINT64_MAX; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.load_on_open_offset = 5999; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.first_data_block_offset = 5000; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.first_data_block_offset = -2; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.first_data_block_offset = 4001; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.last_data_block_offset = 5000; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.first_data_block_offset = -1; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.data_index_count = 1u << 30; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.meta_index_count = UINT32_MAX; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.entry_count = UINT64_MAX; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.data_index_levels = 0; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.data_index_levels = 17; }), Code::kCorruption);
  EXPECT_EQ(answer([](Trailer& t) { t.data_index_levels = 16; }), Code::kOk);
  EXPECT_EQ(answer([](Trailer& t) { t.codec = 9; }), Code::kNotSupported);
  EXPECT_EQ(answer([](Trailer& t) { t.codec = 0; }), Code::kOk);  // LZO: the reader says so
}

TEST(Trailer, BytesThatAreNoTrailer) {
  const std::string sound_bytes = encode_trailer(sound());
  for (const std::string& bytes :
       {std::string(), std::string("abc"), std::string(20000, 'x'), std::string(10000, '\0'),
        sound_bytes.substr(0, 4095), sound_bytes.substr(1, 4095), std::string(4092, '\0') + "\3\0\0\3"}) {
    const Status status = read_trailer(ViewFile(bytes)).status();
    EXPECT_TRUE(is_not_an_hfile(status)) << status.to_text();
  }
  std::string padding = sound_bytes;
  padding[4091] = 1;
  EXPECT_EQ(read_back(padding).status().code(), Code::kCorruption);
  std::string length = sound_bytes;
  length[8] = '\xff';
  length[9] = '\x7f';
  EXPECT_EQ(read_back(length).status().code(), Code::kCorruption);
  EXPECT_FALSE(is_not_an_hfile(Status()));
  EXPECT_FALSE(is_not_an_hfile(Status::corruption("not an HFile: elsewhere").at("file info")));
  EXPECT_TRUE(is_not_an_hfile(read_back("").status().with_context("table users")));
}

TEST(Trailer, VersionsOfOthers) {
  std::string four = encode_trailer(sound());
  four.replace(4092, 4, std::string("\3\0\0\4", 4));
  EXPECT_EQ(read_back(four).status().code(), Code::kNotSupported);
  std::string newer_two = writable(sound(), 4, "c");
  EXPECT_EQ(read_back(newer_two).status().code(), Code::kNotSupported);
  std::string one(kTrailerMagic);
  one.resize(56, '\0');
  append_be32(one, 1);
  EXPECT_EQ(read_back(one).status().code(), Code::kNotSupported);
}

TEST(Trailer, EncryptedFilesAreRefusedByName) {
  // Field 13 holds a length and a message whose field 1 is "AES"; an empty field 13 means nothing.
  const std::string plain = encode_trailer(sound());
  const size_t bytes = static_cast<uint8_t>(plain[8]);
  ASSERT_LT(bytes, 128u);
  const auto with_field = [&](const std::string& field) {
    std::string changed = plain;
    changed.replace(9 + bytes, field.size(), field);
    changed[8] = static_cast<char>(bytes + field.size());
    return read_back(changed);
  };
  EXPECT_TRUE(with_field(std::string("\x6a\0", 2)).ok());
  const Status status = with_field(
                            "\x6a\x06\x05\x0a\x03"
                            "AES")
                            .status();
  EXPECT_EQ(status.code(), Code::kNotSupported);
  EXPECT_NE(status.message().find("encrypted (algorithm AES)"), std::string_view::npos) << status.to_text();
  EXPECT_EQ(with_field("\x6a\x01\x7f").status().code(), Code::kNotSupported);
}

// Damage is refused or read as something within bounds; sanitizers watch.
TEST(Trailer, DamagedBytes) {
  Random random(1);
  const std::string sound_bytes = encode_trailer(sound());
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = sound_bytes;
    for (uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const size_t at = random.one_in(4) ? 4092 + random.below(4) : random.below(90);
      damaged[at] = static_cast<char>(random.below(256));
    }
    const Result<Trailer> read = read_back(damaged);
    if (!read.ok()) continue;
    EXPECT_LE(read->load_on_open_offset, read->file_info_offset);
    EXPECT_LT(read->file_info_offset, 10000u);
    EXPECT_LE(read->data_index_levels, kIndexDepthMax);
  }
}

// A trailer that holds a sum of itself is refused when any bit of it has changed.
TEST(Trailer, EveryFlippedBitUnderASumIsRefused) {
  Trailer trailer = sound();
  trailer.section_sum = 0x12345678;
  trailer.block_sums.push_back({.covered_bytes = 4900, .disk_bytes = 100, .sum = 7});
  const std::string bytes = encode_trailer(trailer);
  ASSERT_TRUE(read_back(bytes).ok()) << read_back(bytes).status().to_text();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(read_back(damaged).ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(Trailer, RealFiles) {
  const std::filesystem::path folder = std::string(CELLAR_FIXTURES_DIR) + "/hfiles";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no collection of HFiles beside the project";
  size_t read = 0, refused = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hfile") continue;
    const std::string bytes = read_test_file(entry.path());
    const Result<Trailer> trailer = read_trailer(ViewFile(bytes));
    const bool bad = entry.path().string().find("/derived/") != std::string::npos ||
                     entry.path().filename().string().starts_with("v1_");
    EXPECT_TRUE(trailer.ok() || bad) << entry.path() << ": " << trailer.status().to_text();
    (trailer.ok() ? read : refused) += 1;
  }
  EXPECT_GT(read, 100u);
  EXPECT_EQ(refused, 6u);  // version 1, version 4, no magic, no last byte, no byte, nothing but a trailer
}

}  // namespace
}  // namespace cellar::testing
