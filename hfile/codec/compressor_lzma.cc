// Codec LZMA: streams of the old .lzma form in Hadoop's block framing. A stream is a header of 13 bytes with
// the content's size, then LZMA's bytes without an end marker.
#include <lzma.h>

#include <algorithm>
#include <bit>

#include "cellar/compressor.h"
#include "hfile/codec/block_framing.h"

#if LZMA_VERSION < 50040000
#error "liblzma before 5.4 cannot leave the end marker out: configure with -DCELLAR_WITH_LZMA=OFF"
#endif

namespace cellar {
namespace {

constexpr size_t kHeaderBytes = 13;  // properties, size of the dictionary, size of the content
constexpr size_t kSizeAt = 5;
constexpr uint64_t kUnknownSize = UINT64_MAX;  // then an end marker says where the content ends
constexpr uint64_t kDefaultLevel = 6;          // HBase's and xz's
constexpr uint64_t kLevelMax = 9;
constexpr uint32_t kDictionaryBytesMin = LZMA_DICT_SIZE_MIN;
constexpr uint64_t kDecoderBytes = 1 << 20;  // more than the decoder takes in addition to its dictionary

// Owns the memory of a coder.
struct Stream : lzma_stream {
  Stream() : lzma_stream(LZMA_STREAM_INIT) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { lzma_end(this); }
  void set_input(std::string_view bytes) {
    next_in = reinterpret_cast<const uint8_t*>(bytes.data());
    avail_in = bytes.size();
  }
  void set_output(char* to, size_t room) {
    next_out = reinterpret_cast<uint8_t*>(to);
    avail_out = room;
  }
  // Until the end, an error, or no progress (which the library reports as an error).
  lzma_ret run() {
    lzma_ret end = LZMA_OK;
    while (end == LZMA_OK) end = lzma_code(this, LZMA_FINISH);
    return end;
  }
};

Status append_chunk(std::string_view chunk, uint32_t level, std::string& body) {
  lzma_options_lzma options{};
  lzma_lzma_preset(&options, level);
  body += static_cast<char>((options.pb * 5 + options.lp) * 9 + options.lc);
  append_le32(body, options.dict_size);
  append_le64(body, chunk.size());

  // Nothing lies further back than the chunk is long; the encoder's memory is a multiple of this.
  options.dict_size = std::min(
      options.dict_size, std::max(kDictionaryBytesMin, std::bit_ceil(static_cast<uint32_t>(chunk.size()))));
  options.ext_flags = 0;  // no end marker
  options.ext_size_low = static_cast<uint32_t>(chunk.size());
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA1EXT, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  Stream stream;
  if (lzma_raw_encoder(&stream, filters) != LZMA_OK) return Status::limit("no memory for an encoder");
  const size_t start = body.size();
  body.resize(start + chunk.size() + chunk.size() / 3 + 4096);  // noise grows by a few percent
  stream.set_input(chunk);
  stream.set_output(body.data() + start, body.size() - start);
  if (stream.run() != LZMA_STREAM_END) return Status::io_error("the library refused to compress");
  body.resize(body.size() - stream.avail_out);
  return {};
}

Status decode_chunk(std::string_view chunk, char* payload, size_t room, size_t& bytes) {
  if (chunk.size() < kHeaderBytes) return Status::corruption("a chunk is truncated");
  const uint64_t declared = load_le64(chunk.data() + kSizeAt);
  if (declared != kUnknownSize && declared > room)
    return Status::corruption("a chunk is larger than its frame");
  // A dictionary beyond what can come out of the chunk is never looked into: its size is not believed.
  const uint64_t dictionary =
      std::min<uint64_t>(load_le32(chunk.data() + 1), std::max<uint64_t>(room, kDictionaryBytesMin));
  std::string header(1, chunk[0]);
  append_le32(header, static_cast<uint32_t>(dictionary));
  append_le64(header, declared);

  Stream stream;
  if (lzma_alone_decoder(&stream, dictionary + kDecoderBytes) != LZMA_OK)
    return Status::limit("no memory for a decoder");
  stream.set_output(payload, room);
  stream.set_input(header);
  const lzma_ret begun = lzma_code(&stream, LZMA_RUN);
  if (begun == LZMA_MEM_ERROR) return Status::limit("no memory for a decoder");
  if (begun != LZMA_OK) return Status::corruption("a chunk's header is damaged");
  stream.set_input(chunk.substr(kHeaderBytes));
  const lzma_ret end = stream.run();
  if (end == LZMA_MEM_ERROR) return Status::limit("no memory for a decoder");
  if (end != LZMA_STREAM_END || stream.avail_in > 0) return Status::corruption("a chunk is damaged");
  bytes = room - stream.avail_out;
  return {};
}

class LzmaCompressor final : public Compressor {
 public:
  explicit LzmaCompressor(const PluginParams& params)
      : level_(static_cast<uint32_t>(params.count_within("level", kDefaultLevel, 0, kLevelMax))) {}
  uint32_t id() const override { return 7; }
  std::string_view name() const override { return "LZMA"; }

  Status compress(std::string_view payload, std::string& body) const override {
    const auto append = [this](std::string_view chunk, std::string& to) {
      return append_chunk(chunk, level_, to);
    };
    return compress_framed(payload, body, append).with_context("LZMA");
  }
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    return decompress_framed(body, payload_bytes, payload, decode_chunk).with_context("LZMA");
  }

 private:
  uint32_t level_;
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_lzma, "lzma", LzmaCompressor)
}  // namespace cellar
