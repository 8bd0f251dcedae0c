// Codec SNAPPY: raw Snappy chunks in Hadoop's block framing.
#include <snappy.h>

#include <memory>

#include "cellar/compressor.h"
#include "hfile/codec/block_framing.h"
#include "hfile/codec/snappy_steps.h"

namespace cellar {
namespace {

Status append_chunk(std::string_view chunk, std::string& body) {
  const size_t start = body.size();
  body.resize(start + snappy::MaxCompressedLength(chunk.size()));
  size_t bytes = 0;
  snappy::RawCompress(chunk.data(), chunk.size(), body.data() + start, &bytes);
  body.resize(start + bytes);
  return {};
}

Status decode_chunk(std::string_view chunk, char* payload, size_t room, size_t& bytes) {
  if (!snappy::GetUncompressedLength(chunk.data(), chunk.size(), &bytes) || bytes > room) {
    return Status::corruption("a chunk is larger than its frame");
  }
  return snappy::RawUncompress(chunk.data(), chunk.size(), payload)
             ? Status()
             : Status::corruption("a chunk is damaged");
}

class SnappyCompressor final : public Compressor, public StepwiseCodec {
 public:
  explicit SnappyCompressor(const PluginParams&) {}
  uint32_t id() const override { return 3; }
  std::string_view name() const override { return "SNAPPY"; }

  Status compress(std::string_view payload, std::string& body) const override {
    return compress_framed(payload, body, append_chunk).with_context("SNAPPY");
  }
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    return decompress_framed(body, payload_bytes, payload, decode_chunk).with_context("SNAPPY");
  }
  std::unique_ptr<StepwiseDecompressor> stepwise() const override { return std::make_unique<SnappySteps>(); }
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_snappy, "snappy", SnappyCompressor)
}  // namespace cellar
