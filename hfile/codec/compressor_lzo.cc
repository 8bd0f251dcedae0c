// Codec LZO: raw LZO1X-1 blocks in Hadoop's block framing. Built only on request: liblzo2 is under the GPL,
// which the distributor of such a build must follow.
#include <lzo/lzo1x.h>

#include <memory>

#include "base/assert.h"
#include "cellar/compressor.h"
#include "hfile/codec/block_framing.h"

namespace cellar {
namespace {

unsigned char* bytes_of(const char* text) {
  return reinterpret_cast<unsigned char*>(
      const_cast<char*>(text));  // the library's interface lacks the const
}

Status append_chunk(std::string_view chunk, std::string& body) {
  const std::unique_ptr<char[]> work = std::make_unique_for_overwrite<char[]>(LZO1X_1_MEM_COMPRESS);
  const size_t start = body.size();
  body.resize(start + chunk.size() + chunk.size() / 16 + 64 + 3);  // the library's promise
  lzo_uint bytes = body.size() - start;
  const int end = lzo1x_1_compress(bytes_of(chunk.data()), chunk.size(), bytes_of(body.data() + start),
                                   &bytes, work.get());
  if (end != LZO_E_OK) return Status::io_error("the library refused to compress");
  body.resize(start + bytes);
  return {};
}

Status decode_chunk(std::string_view chunk, char* payload, size_t room, size_t& bytes) {
  lzo_uint decoded = room;
  const int end =
      lzo1x_decompress_safe(bytes_of(chunk.data()), chunk.size(), bytes_of(payload), &decoded, nullptr);
  if (end != LZO_E_OK || decoded > room) {
    return Status::corruption(end == LZO_E_OUTPUT_OVERRUN ? "a chunk is larger than its frame"
                                                          : "a chunk is damaged");
  }
  bytes = decoded;
  return {};
}

class LzoCompressor final : public Compressor {
 public:
  explicit LzoCompressor(const PluginParams&) {
    const int started = lzo_init();  // checks that header and library agree about the machine
    CELLAR_ASSERT(started == LZO_E_OK);
  }
  uint32_t id() const override { return 0; }
  std::string_view name() const override { return "LZO"; }

  Status compress(std::string_view payload, std::string& body) const override {
    return compress_framed(payload, body, append_chunk).with_context("LZO");
  }
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    return decompress_framed(body, payload_bytes, payload, decode_chunk).with_context("LZO");
  }
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_lzo, "lzo", LzoCompressor)
}  // namespace cellar
