// Codec NONE: the body is the payload.
#include <cstring>

#include "cellar/compressor.h"

namespace cellar {
namespace {

class NoCompressor final : public Compressor {
 public:
  explicit NoCompressor(const PluginParams&) {}
  uint32_t id() const override { return 2; }
  std::string_view name() const override { return "NONE"; }

  Status compress(std::string_view payload, std::string& body) const override {
    body.append(payload);
    return {};
  }

  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    if (body.size() != payload_bytes) return Status::corruption("body and payload differ in size");
    if (payload_bytes > 0) std::memcpy(payload, body.data(), payload_bytes);
    return {};
  }
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_none, "none", NoCompressor)
}  // namespace cellar
