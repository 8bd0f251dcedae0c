// Goal: each codec gives back what it was given, reads what HBase's codecs write, and survives any bytes.
#include "cellar/compressor.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/random.h"
#include "hfile/codecs.h"
#include "tests/hfile/writer_support.h"

namespace cellar::testing {
namespace {

const Compressor& codec(std::string_view name) { return *compressor_by_name(name).value(); }

std::string compressed(const Compressor& with, std::string_view payload) {
  std::string body = "before";
  EXPECT_EQ(with.compress(payload, body).to_text(), "ok");
  EXPECT_EQ(body.substr(0, 6), "before");
  return body.substr(6);
}

// A payload between two guards that must stay as they are.
Status decompressed(const Compressor& with, std::string_view body, size_t bytes, std::string& payload) {
  std::string buffer(bytes + 16, '#');
  // The exact body on the heap: sanitizers then see a byte read too far.
  const std::unique_ptr<char[]> copy(new char[body.size()]);
  std::copy(body.begin(), body.end(), copy.get());
  Status status = with.decompress({copy.get(), body.size()}, bytes, buffer.data() + 8);
  EXPECT_EQ(buffer.substr(0, 8), "########");
  EXPECT_EQ(buffer.substr(8 + bytes), "########");
  payload = buffer.substr(8, bytes);
  return status;
}

std::string draw_payload(Random& random, size_t bytes) {
  std::string payload(bytes, '\0');
  const uint64_t letters = 1 + random.below(256);
  for (char& byte : payload) byte = static_cast<char>(random.below(letters));
  return payload;
}

class Codecs : public ::testing::TestWithParam<std::string> {};

TEST_P(Codecs, GiveBackWhatTheyGot) {
  Random random(1);
  const Compressor& with = codec(GetParam());
  for (const size_t bytes : {0, 1, 10, 4096, 65536, 218421, 218422, 218423, 436844, 436845, 1000000}) {
    const std::string payload = draw_payload(random, bytes);
    const std::string body = compressed(with, payload);
    std::string read;
    EXPECT_EQ(decompressed(with, body, bytes, read).to_text(), "ok");
    EXPECT_EQ(read, payload);
    EXPECT_EQ(decompressed(with, body, bytes + 1, read).code(), Code::kCorruption);
    if (bytes == 0) continue;
    EXPECT_EQ(decompressed(with, body, bytes - 1, read).code(), Code::kCorruption);
  }
}

TEST_P(Codecs, SurviveDamage) {
  Random random(2);
  const Compressor& with = codec(GetParam());
  const std::string payload = draw_payload(random, 3000);
  const std::string sound = compressed(with, payload + payload);
  std::string read;
  for (int i = 0; i < 2000; ++i) {
    std::string body = sound.substr(0, random.one_in(4) ? random.below(sound.size()) : sound.size());
    for (uint64_t changes = random.below(4); changes > 0 && !body.empty(); --changes) {
      const size_t near_start = random.one_in(2) ? 30 : body.size();
      body[random.below(std::min(near_start, body.size()))] = static_cast<char>(random.below(256));
    }
    const Status status = decompressed(with, body, 2 * payload.size(), read);
    // A codec may know what it lacks, such as a dictionary.
    const bool refused = status.is(Code::kCorruption) || status.is(Code::kNotSupported);
    EXPECT_TRUE(status.ok() || refused) << status.to_text();
  }
}

TEST_P(Codecs, NoiseIsCorruption) {
  Random random(3);
  const Compressor& with = codec(GetParam());
  std::string read;
  for (int i = 0; i < 500; ++i) {
    const std::string noise = draw_payload(random, 1 + random.below(100));
    const bool plain = with.id() == 2 && noise.size() == 50;  // NONE takes any bytes of the right number
    EXPECT_EQ(decompressed(with, noise, 50, read).code(), plain ? Code::kOk : Code::kCorruption);
  }
  EXPECT_EQ(decompressed(with, "", 1, read).code(), Code::kCorruption);
}

// Those that this build has.
std::vector<std::string> codecs() {
  std::vector<std::string> built;
  for (const char* name : {"none", "gz", "snappy", "lz4", "zstd"}) {
    if (compressor_by_name(name).ok()) built.push_back(name);
  }
  return built;
}

INSTANTIATE_TEST_SUITE_P(All, Codecs, ::testing::ValuesIn(codecs()),
                         [](const auto& tested) { return tested.param; });

TEST(CodecNames, ByOrdinalAndName) {
  for (const auto& [id, name] : {std::pair(1u, "GZ"), std::pair(2u, "NONE"), std::pair(3u, "SNAPPY")}) {
    const Compressor* by_id = compressor_by_id(id).value();
    EXPECT_EQ(by_id->id(), id);
    EXPECT_EQ(by_id->name(), name);
    EXPECT_EQ(codec_name(id), name);
    EXPECT_EQ(compressor_by_name(name).value(), by_id);
  }
  EXPECT_EQ(compressor_by_name("Snappy").value(), compressor_by_name("snappy").value());
  EXPECT_EQ(codec_name(0), "LZO");
  EXPECT_EQ(codec_name(8), "BROTLI");
  EXPECT_EQ(codec_name(9), "");
  EXPECT_EQ(compressor_by_id(0).status().code(), Code::kNotSupported);
  EXPECT_NE(compressor_by_id(0).status().message().find("codec LZO is not supported"),
            std::string_view::npos);
  EXPECT_EQ(compressor_by_id(9).status().code(), Code::kCorruption);
  EXPECT_EQ(compressor_by_id(UINT32_MAX).status().code(), Code::kCorruption);
  EXPECT_EQ(compressor_by_name("lzo").status().code(), Code::kNotSupported);
  const Status status = compressor_by_name("snapy").status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.hint().find("snappy"), std::string_view::npos) << status.to_text();
}

TEST(Gzip, WritesJavasHeader) {
  const std::string body = compressed(codec("gz"), "");
  EXPECT_EQ(body.size(), 20u);
  EXPECT_EQ(body.substr(0, 10), std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
}

TEST(Gzip, ReadsSeveralMembers) {
  const Compressor& gz = codec("gz");
  std::string read;
  const std::string two = compressed(gz, "abc") + compressed(gz, "") + compressed(gz, "def");
  EXPECT_EQ(decompressed(gz, two, 6, read).to_text(), "ok");
  EXPECT_EQ(read, "abcdef");
  EXPECT_EQ(decompressed(gz, two, 3, read).code(), Code::kCorruption);
  EXPECT_EQ(decompressed(gz, compressed(gz, "abc") + "x", 3, read).code(), Code::kCorruption);
}

// ---- Hadoop's framing ----

std::string number(uint32_t value) {
  std::string bytes;
  append_be32(bytes, value);
  return bytes;
}

// A chunk of literal bytes, as Snappy stores up to 60 of them.
std::string chunk(const std::string& content) {
  const std::string raw =
      std::string{static_cast<char>(content.size()), static_cast<char>((content.size() - 1) << 2)};
  return number(static_cast<uint32_t>(content.size() + 2)) + raw + content;
}

TEST(Snappy, WritesOneFrameAndAnEmptyOneBehindSeveralChunks) {
  const Compressor& snappy = codec("snappy");
  EXPECT_EQ(compressed(snappy, ""), number(0));
  EXPECT_EQ(compressed(snappy, "abc"), number(3) + chunk("abc"));
  const std::string body = compressed(snappy, std::string(218423, 'x'));
  EXPECT_EQ(body.substr(0, 4), number(218423));
  EXPECT_EQ(body.substr(body.size() - 4), number(0));
  const std::string full = compressed(snappy, std::string(218422, 'x'));
  EXPECT_EQ(load_be32(full.data() + 4) + 8, full.size()) << "one chunk, nothing behind it";
}

TEST(Snappy, ReadsAnyFrames) {
  const Compressor& snappy = codec("snappy");
  std::string read;
  for (const std::string& body :
       {number(6) + chunk("abc") + chunk("def"), number(3) + chunk("abc") + number(3) + chunk("def"),
        number(0) + number(6) + chunk("a") + chunk("bcdef") + number(0) + number(0),
        number(6) + number(1) + std::string(1, '\0') + chunk("abcdef")}) {
    EXPECT_EQ(decompressed(snappy, body, 6, read).to_text(), "ok");
    EXPECT_EQ(read, "abcdef");
  }
}

TEST(Snappy, FramesThatDoNotFit) {
  const Compressor& snappy = codec("snappy");
  std::string read;
  for (const std::string& body :
       {number(7) + chunk("abcdef"), number(5) + chunk("abcdef"), number(6) + chunk("abc"), number(6),
        number(6) + number(100) + "abc", number(6) + number(UINT32_MAX) + "abc",
        number(UINT32_MAX) + chunk("abcdef"), number(6) + chunk("abcdef") + "x",
        number(6) + chunk("abcdef") + number(1) + chunk("g"), number(6) + chunk("abcdef") + chunk("g"),
        number(6) + number(0), std::string("\0\0", 2), std::string()}) {
    EXPECT_EQ(decompressed(snappy, body, 6, read).code(), Code::kCorruption);
  }
}

}  // namespace
}  // namespace cellar::testing
