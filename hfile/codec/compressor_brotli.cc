// Codec BROTLI: Brotli streams in Hadoop's block framing.
#include <brotli/decode.h>
#include <brotli/encode.h>

#include <memory>

#include "cellar/compressor.h"
#include "hfile/codec/block_framing.h"

namespace cellar {
namespace {

constexpr uint64_t kDefaultLevel = 6;    // HBase's
constexpr uint64_t kDefaultWindow = 22;  // HBase's, as a power of two

Status decode_chunk(std::string_view chunk, char* payload, size_t room, size_t& bytes) {
  // Its memory is bounded by the format: a window is at most 16 MiB.
  const std::unique_ptr<BrotliDecoderState, decltype(&BrotliDecoderDestroyInstance)> decoder(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
  if (decoder == nullptr) return Status::limit("no memory for a decoder");
  const auto* in = reinterpret_cast<const uint8_t*>(chunk.data());
  auto* out = reinterpret_cast<uint8_t*>(payload);
  size_t in_left = chunk.size();
  size_t out_left = room;
  const BrotliDecoderResult end =
      BrotliDecoderDecompressStream(decoder.get(), &in_left, &in, &out_left, &out, nullptr);
  if (end == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
    return Status::corruption("a chunk is larger than its frame");
  }
  const BrotliDecoderErrorCode error = BrotliDecoderGetErrorCode(decoder.get());
  if (error <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
      error >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES) {
    return Status::limit("no memory for a decoder");
  }
  if (end != BROTLI_DECODER_RESULT_SUCCESS || in_left > 0) return Status::corruption("a chunk is damaged");
  bytes = room - out_left;
  return {};
}

class BrotliCompressor final : public Compressor {
 public:
  explicit BrotliCompressor(const PluginParams& params)
      : level_(static_cast<int>(params.count_within("level", kDefaultLevel, 0, BROTLI_MAX_QUALITY))),
        window_(static_cast<int>(
            params.count_within("window", kDefaultWindow, BROTLI_MIN_WINDOW_BITS, BROTLI_MAX_WINDOW_BITS))) {}
  uint32_t id() const override { return 8; }
  std::string_view name() const override { return "BROTLI"; }

  Status compress(std::string_view payload, std::string& body) const override {
    const auto append_chunk = [this](std::string_view chunk, std::string& to) {
      const size_t start = to.size();
      size_t bytes = BrotliEncoderMaxCompressedSize(chunk.size());
      to.resize(start + bytes);
      if (BrotliEncoderCompress(level_, window_, BROTLI_MODE_GENERIC, chunk.size(),
                                reinterpret_cast<const uint8_t*>(chunk.data()), &bytes,
                                reinterpret_cast<uint8_t*>(to.data() + start)) == BROTLI_FALSE) {
        return Status::limit("no memory for an encoder");
      }
      to.resize(start + bytes);
      return Status();
    };
    return compress_framed(payload, body, append_chunk).with_context("BROTLI");
  }
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    return decompress_framed(body, payload_bytes, payload, decode_chunk).with_context("BROTLI");
  }

 private:
  int level_;
  int window_;
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_brotli, "brotli", BrotliCompressor)
}  // namespace cellar
