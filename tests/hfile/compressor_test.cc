// Goal: each codec gives back what it was given, reads what HBase's codecs write, and survives any bytes.
#include "cellar/compressor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/random.h"
#include "hfile/codec/codecs.h"
#include "hfile/codec/stepwise.h"
#include "tests/hfile_support/writer_support.h"
#include "tests/support/address_space.h"

namespace cellar::testing {
namespace {

// Returns true if this build was configured without the codec; every other one must be there.
bool left_out(std::string_view name) {
  return std::string_view(CELLAR_PLUGINS_LEFT_OUT).find(fmt::format("compressor_{}.cc", name)) !=
         std::string_view::npos;
}

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

// Damaged bytes are decoded twice over different bytes. A codec that returns ok has written each of them.
void expect_whole_or_refused(const Compressor& with, std::string_view body, size_t bytes) {
  std::string first(bytes, '#');
  std::string second(bytes, '$');
  const Status status = with.decompress(body, bytes, first.data());
  const Status again = with.decompress(body, bytes, second.data());
  EXPECT_EQ(status.code(), again.code());
  if (status.ok()) {
    EXPECT_EQ(first, second) << "bytes are missing";
  } else {
    EXPECT_TRUE(status.is(Code::kCorruption) || status.is(Code::kNotSupported)) << status.to_text();
  }
}

TEST_P(Codecs, EveryFlippedBitAndEveryCutIsSurvived) {
  Random random(4);
  const Compressor& with = codec(GetParam());
  std::vector<std::string> bodies;
  for (const std::string& payload : {std::string(), std::string("one cell"), draw_payload(random, 150),
                                     repeated("row0001 cf:name Ada; ", 20)}) {
    bodies.push_back(compressed(with, payload));
    std::string body = bodies.back();
    const AddressSpace limit(64 << 20);  // lengths in a body are claims: nothing is allocated by them
    uint64_t damages = 0;
    for (const size_t bytes : {payload.size(), payload.size() + 1, size_t{4096}}) {
      for (size_t cut = 0; cut < body.size(); ++cut, ++damages)
        expect_whole_or_refused(with, std::string_view(body).substr(0, cut), bytes);
      for (size_t bit = 0; bit < 8 * body.size(); ++bit, ++damages) {
        body[bit / 8] = static_cast<char>(body[bit / 8] ^ (1 << bit % 8));
        expect_whole_or_refused(with, body, bytes);
        body[bit / 8] = static_cast<char>(body[bit / 8] ^ (1 << bit % 8));
      }
    }
    EXPECT_GE(damages, 3 * 9 * body.size());
    EXPECT_EQ(body, bodies.back());
  }
}

// Decompresses in steps of these sizes, between two guards. Only what advance() has promised is looked at.
Status decompressed_in_steps(StepwiseDecompressor& steps, std::string_view body, size_t bytes, Random& random,
                             std::string& payload) {
  std::string buffer(bytes + 16, '#');
  const std::unique_ptr<char[]> copy(new char[body.size()]);
  std::copy(body.begin(), body.end(), copy.get());
  steps.begin({copy.get(), body.size()}, bytes, buffer.data() + 8);
  const size_t step_max = 1 + random.below(random.one_in(2) ? 40 : bytes + 1);
  Result<size_t> filled = size_t{0};
  std::string seen;
  for (size_t wanted = 0; filled.ok() && wanted < bytes;) {
    wanted = std::min(bytes, std::max(wanted, *filled) + random.below(step_max + 1));
    filled = steps.advance(wanted);
    EXPECT_TRUE(!filled.ok() || (*filled >= wanted && *filled <= bytes));
    EXPECT_EQ(buffer.substr(8, seen.size()), seen) << "bytes that were filled have changed";
    if (filled.ok()) seen = buffer.substr(8, *filled);
  }
  if (bytes == 0) filled = steps.advance(0);
  EXPECT_EQ(buffer.substr(0, 8), "########");
  EXPECT_EQ(buffer.substr(8 + bytes), "########");
  payload = buffer.substr(8, bytes);
  return filled.status();
}

// In steps or at once, a body is decompressed to the same bytes, or refused.
void expect_steps_agree(const Compressor& with, StepwiseDecompressor& steps, std::string_view body,
                        size_t bytes, Random& random) {
  std::string whole;
  std::string in_steps;
  const Status status = decompressed(with, body, bytes, whole);
  const Status again = decompressed_in_steps(steps, body, bytes, random, in_steps);
  EXPECT_EQ(status.code(), again.code())
      << status.to_text() << " at once, " << again.to_text() << " in steps";
  if (status.ok() && again.ok()) {
    EXPECT_EQ(in_steps, whole);
  }
}

// Payloads with runs, repetitions near and far, and bytes that no codec makes smaller.
std::string draw_mixed_payload(Random& random, size_t bytes) {
  std::string payload;
  while (payload.size() < bytes) {
    const size_t count = 1 + random.below(random.one_in(4) ? 400 : 70);
    const uint64_t kind = random.below(4);
    if (kind == 0) {
      payload.append(count, static_cast<char>(random.below(256)));
    } else if (kind == 1 && !payload.empty()) {
      const size_t distance =
          1 + random.below(std::min<size_t>(payload.size(), random.one_in(2) ? 20 : 70000));
      for (size_t i = 0; i < count; ++i) payload.push_back(payload[payload.size() - distance]);
    } else {
      for (size_t i = 0; i < count; ++i) payload.push_back(static_cast<char>(random.below(256)));
    }
  }
  payload.resize(bytes);
  return payload;
}

TEST_P(Codecs, StepsGiveWhatOneCallGives) {
  Random random(5);
  const Compressor& with = codec(GetParam());
  const StepwiseCodec* const stepwise = stepwise_codec(&with);
  EXPECT_EQ(stepwise != nullptr, GetParam() == "snappy" || GetParam() == "gz");
  if (stepwise == nullptr) return;
  const std::unique_ptr<StepwiseDecompressor> steps = stepwise->stepwise();
  for (const size_t bytes : {0, 1, 10, 64, 4096, 65536, 70000, 218422, 218423, 436845})
    expect_steps_agree(with, *steps, compressed(with, draw_mixed_payload(random, bytes)), bytes, random);
  for (int i = 0; i < 3000; ++i) {
    const size_t bytes = random.below(3000);
    std::string body = compressed(with, draw_mixed_payload(random, bytes));
    expect_steps_agree(with, *steps, body, bytes, random);
    expect_steps_agree(with, *steps, body, bytes + random.below(2), random);
    if (random.one_in(4)) body.resize(random.below(body.size() + 1));
    for (uint64_t changes = random.below(4); changes > 0 && !body.empty(); --changes) {
      const size_t near_start = random.one_in(2) ? 30 : body.size();
      body[random.below(std::min(near_start, body.size()))] = static_cast<char>(random.below(256));
    }
    expect_steps_agree(with, *steps, body, bytes, random);
  }
}

// A step decodes what is asked and little more: a get of one row need not pay for the rows after it.
TEST_P(Codecs, StepsStopEarly) {
  Random random(6);
  const Compressor& with = codec(GetParam());
  const StepwiseCodec* const stepwise = stepwise_codec(&with);
  if (stepwise == nullptr) return;
  const std::unique_ptr<StepwiseDecompressor> steps = stepwise->stepwise();
  const std::string payload = draw_mixed_payload(random, 200000);
  const std::string body = compressed(with, payload);
  std::string read(payload.size(), '#');
  steps->begin(body, payload.size(), read.data());
  const Result<size_t> filled = steps->advance(1000);
  ASSERT_TRUE(filled.ok()) << filled.status().to_text();
  EXPECT_GE(*filled, 1000u);
  EXPECT_LE(*filled, 8192u);
  EXPECT_EQ(read.substr(0, *filled), payload.substr(0, *filled));
  constexpr size_t kOverwritten = 64;  // a fast copy may write as much too far
  EXPECT_EQ(read.find_first_not_of('#', *filled + kOverwritten), std::string::npos);
}

// A decompression that would swell a few bytes to many ends at the declared size.
TEST_P(Codecs, BombsStopAtTheDeclaredSize) {
  const Compressor& with = codec(GetParam());
  std::string body = compressed(with, std::string(32 << 20, 'x'));
  const AddressSpace limit(64 << 20);
  std::string read;
  EXPECT_EQ(decompressed(with, body, 1000, read).code(), Code::kCorruption);
  store_be32(body.data(), 1000);  // of the codecs with block framing: the frame claims what is declared
  EXPECT_EQ(decompressed(with, body, 1000, read).code(), Code::kCorruption);
}

// Returns the codecs of this build.
std::vector<std::string> codecs() {
  static_cast<void>(compressor_by_name("none"));  // the first call registers all
  return Registry<Compressor>::instance().names();
}

INSTANTIATE_TEST_SUITE_P(All, Codecs, ::testing::ValuesIn(codecs()),
                         [](const auto& tested) { return tested.param; });

TEST(CodecParameters, ChooseLevelAndForm) {
  const std::string text = repeated("row0001 cf:name Ada Lovelace; row0002 cf:mail ", 500);
  for (const std::string& name : codecs()) {
    if (name == "none" || name == "snappy" || name == "lz4" || name == "lzo") continue;
    const auto low = make_compressor(name + "(level=1)");
    const auto high = make_compressor(name + "(level=9)");
    ASSERT_TRUE(low.ok() && high.ok()) << name;
    const std::string body = compressed(**high, text);
    std::string read;
    EXPECT_EQ(decompressed(**low, body, text.size(), read).to_text(), "ok");
    EXPECT_EQ(read, text) << "what is read does not depend on how one writes";
    EXPECT_NE(compressed(**low, text), body) << name;
  }
  EXPECT_EQ(make_compressor("SNAPPY").value().get(), compressor_by_name("snappy").value());
  EXPECT_EQ(make_compressor("ZSTD(LEVEL=3)").value()->id(), 6u);
}

TEST(CodecParameters, AreRefusedWithAReason) {
  const auto said = [](const char* text) { return make_compressor(text).status().to_text(); };
  EXPECT_NE(said("zstd(level=23)").find("a whole number from 1 to 22"), std::string::npos);
  EXPECT_NE(said("gz(level=0)").find("a whole number from 1 to 9"), std::string::npos);
  EXPECT_NE(said("gz(level=fast)").find("a whole number"), std::string::npos);
  EXPECT_NE(said("zstd(framing=none)").find("hadoop or hbase"), std::string::npos);
  EXPECT_NE(said("lz4(level=3)").find("level"), std::string::npos);
  for (const char* text : {"zstd(level=23)", "lz4(level=3)", "zstd(level=3", "zstdx(level=3)", ""})
    EXPECT_EQ(make_compressor(text).status().code(), Code::kInvalidArgument) << text;
}

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
  EXPECT_EQ(compressor_by_id(9).status().code(), Code::kCorruption);
  EXPECT_EQ(compressor_by_id(UINT32_MAX).status().code(), Code::kCorruption);
  const Status status = compressor_by_name("snapy").status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.hint().find("snappy"), std::string_view::npos) << status.to_text();
}

TEST(CodecNames, OneThatIsNotBuiltSaysHowToGetIt) {
  for (uint32_t id = 0; id < kCodecCount; ++id) {
    const std::string name(codec_name(id));
    const Status status = compressor_by_id(id).status();
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), Code::kNotSupported);
    EXPECT_EQ(std::string(status.message())
                  .find("codec " + name +
                        " is not supported by this build; rebuild with "
                        "-DCELLAR_WITH_" +
                        name + "=ON, which needs the package lib"),
              0u)
        << status.to_text();
    EXPECT_EQ(compressor_by_name(name).status().to_text(), status.to_text());
    EXPECT_EQ(make_compressor(name + "(level=1)").status().to_text(), status.to_text());
  }
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

// ---- ZSTD's two forms, and what HBase's other codecs write ----

TEST(Zstd, WritesAndReadsBothForms) {
  const std::string text = repeated("abcdefgh", 40000);
  const auto bare = make_compressor("zstd").value();
  const auto framed = make_compressor("zstd(framing=hbase)").value();
  const std::string as_stream = compressed(*bare, text);
  const std::string as_frames = compressed(*framed, text);
  EXPECT_EQ(as_stream.substr(0, 4), "\x28\xb5\x2f\xfd");
  EXPECT_EQ(as_frames.substr(0, 4), number(static_cast<uint32_t>(text.size())));
  EXPECT_EQ(as_frames.substr(8, 4), "\x28\xb5\x2f\xfd");
  EXPECT_EQ(as_frames.substr(as_frames.size() - 4), number(0)) << "two chunks";
  for (const std::string& body : {as_stream, as_frames}) {
    for (const auto& with : {bare, framed}) {
      std::string read;
      EXPECT_EQ(decompressed(*with, body, text.size(), read).to_text(), "ok");
      EXPECT_EQ(read, text);
    }
  }
  EXPECT_EQ(compressed(*framed, ""), number(0));
}

TEST(Zstd, ReadsSeveralBareFrames) {
  const Compressor& zstd = codec("zstd");
  std::string read;
  EXPECT_EQ(decompressed(zstd, compressed(zstd, "abc") + compressed(zstd, "def"), 6, read).to_text(), "ok");
  EXPECT_EQ(read, "abcdef");
  EXPECT_EQ(decompressed(zstd, compressed(zstd, "abcdef") + "x", 6, read).code(), Code::kCorruption);
}

TEST(Zstd, NamesTheDictionaryItLacks) {
  // Single segment, one byte of dictionary number, one of content size, one raw block of three bytes.
  const std::string frame(
      "\x28\xb5\x2f\xfd\x21\x07\x03\x19\x00\x00"
      "abc",
      13);
  std::string read;
  for (const std::string& body : {frame, number(3) + number(13) + frame}) {
    const Status status = decompressed(codec("zstd"), body, 3, read);
    EXPECT_EQ(status.code(), Code::kNotSupported);
    EXPECT_NE(status.message().find("zstd dictionary 7"), std::string_view::npos) << status.to_text();
  }
}

TEST(Lz4, WritesRawBlocks) {
  const Compressor& lz4 = codec("lz4");
  EXPECT_EQ(compressed(lz4, ""), number(0));
  EXPECT_EQ(compressed(lz4, "abc"), number(3) + number(4) +
                                        "\x30"
                                        "abc");
}

TEST(ListOfCodecs, IsWhatTheBuildWasConfiguredWith) {
  for (const char* name : {"none", "gz", "snappy", "lz4", "zstd", "bzip2", "brotli", "lzma", "lzo"}) {
    EXPECT_EQ(compressor_by_name(name).ok(), !left_out(name)) << name;
  }
}

TEST(Lzma, WritesTheOldFormWithItsSize) {
  if (left_out("lzma")) GTEST_SKIP() << "this build was configured without LZMA";
  const Compressor& lzma = codec("lzma");
  const std::string body = compressed(lzma, std::string(1000, 'x'));
  // Properties, a dictionary of 8 MiB, the size.
  EXPECT_EQ(body.substr(8, 13), std::string("\x5d\0\0\x80\0\xe8\x03\0\0\0\0\0\0", 13));
  EXPECT_EQ(body.size(), 8 + load_be32(body.data() + 4));
  // A stream that does not say its size ends with a marker, and is read too; Python's lzma wrote this one.
  const std::string marked(
      "\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x30"
      "\x98\x88\x98\x3e\xcb\xe7\x48\x62\xc0\xff\xfc\x21\x20\x00",
      29);
  std::string read;
  const Status status =
      decompressed(lzma, number(6) + number(static_cast<uint32_t>(marked.size())) + marked, 6, read);
  EXPECT_EQ(status.to_text(), "ok");
  EXPECT_EQ(read, "abcdef");
}

TEST(Bzip2, WritesOneStreamAndReadsSeveral) {
  if (left_out("bzip2")) GTEST_SKIP() << "this build was configured without BZIP2";
  const Compressor& bzip2 = codec("bzip2");
  EXPECT_EQ(compressed(bzip2, "abc").substr(0, 4), "BZh9");
  EXPECT_EQ(compressed(bzip2, "").size(), 14u);
  std::string read;
  const std::string three = compressed(bzip2, "abc") + compressed(bzip2, "") + compressed(bzip2, "def");
  EXPECT_EQ(decompressed(bzip2, three, 6, read).to_text(), "ok");
  EXPECT_EQ(read, "abcdef");
  EXPECT_EQ(decompressed(bzip2, three, 5, read).code(), Code::kCorruption);
  EXPECT_EQ(decompressed(bzip2, compressed(bzip2, "abc") + "x", 3, read).code(), Code::kCorruption);
}

}  // namespace
}  // namespace cellar::testing
