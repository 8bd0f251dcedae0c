// Goal: facts of both forms are read, typed values are checked, and ours are written as HBase writes them.
#include "hfile/format/file_info.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/random.h"
#include "hfile/codec/codecs.h"
#include "hfile/format/format.h"
#include "tests/hfile/golden_cells.h"
#include "tests/hfile_support/writer_support.h"

namespace cellar::testing {
namespace {

std::string writable(const Facts& facts) {
  std::string bytes;
  append_be32(bytes, static_cast<uint32_t>(facts.size()));
  for (const auto& [key, value] : facts) {
    append_hadoop_vint(bytes, static_cast<int64_t>(key.size()));
    bytes += key;
    bytes += '\1';
    append_hadoop_vint(bytes, static_cast<int64_t>(value.size()));
    bytes += value;
  }
  return bytes;
}

TEST(FileInfo, ReadsWhatItWrites) {
  FileInfo info;
  info.set_i32("int", -5);
  info.set_i64("long", INT64_MIN);
  info.set_bool("yes", true);
  info.set_bool("no", false);
  info.set_time_range({17, 40});
  info.set(std::string("\0\xff", 2), std::string(300, '\0'));
  info.set("empty", "");
  info.set("empty", "replaced");
  const FileInfo read = FileInfo::parse(info.encode()).value();
  EXPECT_TRUE(info.encode().starts_with("PBUF"));
  EXPECT_EQ(read.entries(), info.entries());
  EXPECT_EQ(read.i32("int").value(), -5);
  EXPECT_EQ(read.i64("long").value(), INT64_MIN);
  EXPECT_EQ(read.boolean("yes").value(), true);
  EXPECT_EQ(read.boolean("no").value(), false);
  EXPECT_EQ(*read.find("yes"), "\xff");
  EXPECT_EQ(read.time_range().value(), (TimestampRange{17, 40}));
  EXPECT_EQ(*read.find("empty"), "replaced");
  EXPECT_EQ(read.find("absent"), nullptr);
  EXPECT_FALSE(read.has("absent"));
  EXPECT_EQ(read.i64("absent").value(), std::nullopt);
  EXPECT_EQ(FileInfo::parse(FileInfo().encode()).value().entries().size(), 0u);
}

TEST(FileInfo, WritesHBasesBytes) {
  for (const GoldenFile& golden : golden_files()) {
    const uint32_t codec = make_compressor(golden.options.compression).value()->id();
    size_t found = 0;
    for (const RawBlock& block : walk_blocks(golden_bytes(golden.name), codec)) {
      if (block.magic != "FILEINF2") continue;
      const Result<FileInfo> info = FileInfo::parse(block.payload);
      ASSERT_TRUE(info.ok()) << golden.name << ": " << info.status().to_text();
      EXPECT_EQ(info->encode(), block.payload) << golden.name;
      ++found;
    }
    EXPECT_EQ(found, 1u) << golden.name;
  }
}

TEST(FileInfo, ReadsTheWritableForm) {
  const std::string long_key(200, 'k');
  const FileInfo info =
      FileInfo::parse(writable({{"b", "1"}, {"a", ""}, {long_key, "x"}, {"b", "2"}})).value();
  EXPECT_EQ(info.entries().size(), 3u);
  EXPECT_EQ(*info.find("b"), "2");  // the last one counts
  EXPECT_EQ(*info.find(long_key), "x");
  EXPECT_TRUE(FileInfo::parse(writable({})).ok());
}

TEST(FileInfo, TypedValuesOfTheWrongSize) {
  FileInfo info;
  info.set("a", "12345");
  info.set("b", "");
  EXPECT_EQ(info.i32("a").status().code(), Code::kCorruption);
  EXPECT_EQ(info.i64("a").status().code(), Code::kCorruption);
  EXPECT_EQ(info.boolean("a").status().code(), Code::kCorruption);
  EXPECT_EQ(info.boolean("b").status().code(), Code::kCorruption);
  EXPECT_NE(info.i32("a").status().message().find("a has 5 bytes"), std::string_view::npos);
}

TEST(FileInfo, TimeRangesOfAllVersions) {
  const auto range_of = [](std::string value) {
    FileInfo info;
    info.set("TIMERANGE", std::move(value));
    return info.time_range();
  };
  std::string plain;
  append_be64(plain, 5);
  append_be64(plain, 9);
  EXPECT_EQ(range_of(plain).value(), (TimestampRange{5, 9}));
  EXPECT_EQ(range_of(plain + std::string(16, '\0')).value(), (TimestampRange{5, 9}));  // before 2.0
  EXPECT_EQ(range_of("PBUF\x08\x05\x10\x09").value(), (TimestampRange{5, 9}));         // 2.0.0
  EXPECT_EQ(range_of("PBUF").value(), (TimestampRange{0, INT64_MAX}));
  EXPECT_EQ(range_of("PBUF\x08").status().code(), Code::kCorruption);
  EXPECT_EQ(range_of(plain.substr(1)).status().code(), Code::kCorruption);
  EXPECT_EQ(range_of("").status().code(), Code::kCorruption);
  EXPECT_EQ(FileInfo().time_range().value(), std::nullopt);
}

TEST(FileInfo, WhatIsCutShortOrTooLong) {
  FileInfo info;
  info.set("key", "value");
  info.set("other", std::string(200, 'v'));
  for (const std::string& whole :
       {info.encode(), writable({{"key", "value"}, {"other", std::string(200, 'v')}})}) {
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_EQ(FileInfo::parse(whole.substr(0, bytes)).status().code(), Code::kCorruption) << bytes;
    }
    EXPECT_EQ(FileInfo::parse(whole + '\0').status().code(), Code::kCorruption);
  }
}

TEST(FileInfo, Bounds) {
  std::string many;
  append_be32(many, static_cast<uint32_t>(kFileInfoEntriesMax + 1));
  many.append(3 * (kFileInfoEntriesMax + 1), '\0');
  EXPECT_EQ(FileInfo::parse(many).status().code(), Code::kCorruption);
  store_be32(many.data(), static_cast<uint32_t>(kFileInfoEntriesMax));
  many.resize(many.size() - 3);
  EXPECT_TRUE(FileInfo::parse(many).ok());
  EXPECT_EQ(FileInfo::parse(std::string(kFileInfoBytesMax + 1, '\0')).status().code(), Code::kCorruption);

  std::string pairs;
  for (uint64_t i = 0; i <= kFileInfoEntriesMax; ++i) pairs.append("\x0a\x04\x0a\x00\x12\x00", 6);
  std::string message = "PBUF";
  append_varint(message, pairs.size());
  EXPECT_EQ(FileInfo::parse(message + pairs).status().code(), Code::kCorruption);
}

TEST(FileInfo, DamagedBytes) {
  Random random(1);
  const std::string sound = golden_bytes("tiny").substr(369 + 33, 451);
  ASSERT_TRUE(FileInfo::parse(sound).ok());
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = sound;
    for (uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    const Result<FileInfo> info = FileInfo::parse(damaged);
    EXPECT_TRUE(!info.ok() || info->entries().size() <= damaged.size());
  }
}

}  // namespace
}  // namespace cellar::testing
