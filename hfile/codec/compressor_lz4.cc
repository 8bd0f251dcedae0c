// Codec LZ4: raw LZ4 blocks, without LZ4's own frames, in Hadoop's block framing.
#include <lz4.h>

#include <algorithm>

#include "cellar/compressor.h"
#include "hfile/codec/block_framing.h"

namespace cellar {
namespace {

Status append_chunk(std::string_view chunk, std::string& body) {
  const size_t start = body.size();
  const int room = LZ4_compressBound(static_cast<int>(chunk.size()));
  body.resize(start + static_cast<size_t>(room));
  const int bytes =
      LZ4_compress_default(chunk.data(), body.data() + start, static_cast<int>(chunk.size()), room);
  if (bytes <= 0) return Status::io_error("the library refused to compress");
  body.resize(start + static_cast<size_t>(bytes));
  return {};
}

Status decode_chunk(std::string_view chunk, char* payload, size_t room, size_t& bytes) {
  if (chunk.size() > INT32_MAX) return Status::corruption("a chunk is too large");
  const int capacity = static_cast<int>(std::min<size_t>(room, INT32_MAX));
  const int decoded = LZ4_decompress_safe(chunk.data(), payload, static_cast<int>(chunk.size()), capacity);
  if (decoded < 0) return Status::corruption("a chunk is damaged or larger than its frame");
  bytes = static_cast<size_t>(decoded);
  return {};
}

class Lz4Compressor final : public Compressor {
 public:
  explicit Lz4Compressor(const PluginParams&) {}
  uint32_t id() const override { return 4; }
  std::string_view name() const override { return "LZ4"; }

  Status compress(std::string_view payload, std::string& body) const override {
    return compress_framed(payload, body, append_chunk).with_context("LZ4");
  }
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    return decompress_framed(body, payload_bytes, payload, decode_chunk).with_context("LZ4");
  }
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_lz4, "lz4", Lz4Compressor)
}  // namespace cellar
