// Codec ZSTD, in either of the two forms that HBase's codecs of that name have on disk; both are read.
//
// With framing=hadoop, the default, it is one bare zstd frame. HBase's default class (Hadoop's
// ZStandardCodec) writes it. With framing=hbase it is frames in Hadoop's block framing, as the modules
// hbase-compression-zstd and -aircompressor write them. A file does not say which it has, and a cluster reads
// only the one that its class knows.
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>

#include "cellar/compressor.h"
#include "hfile/codec/block_framing.h"

namespace cellar {
namespace {

constexpr uint32_t kFrameMagic = 0x28B52FFD;  // a frame's first bytes, read as the size in block framing
constexpr uint64_t kDefaultLevel = 3;         // HBase's and zstd's
constexpr uint64_t kLevelMax = 22;

template <class Context, size_t (*kFree)(Context*)>
struct Freed {
  void operator()(Context* context) const { kFree(context); }
};
template <class Context, size_t (*kFree)(Context*)>
using Owned = std::unique_ptr<Context, Freed<Context, kFree>>;

// Made once per thread: making one costs more than compressing a block.
ZSTD_CCtx* encoder() {
  static thread_local const Owned<ZSTD_CCtx, ZSTD_freeCCtx> context(ZSTD_createCCtx());
  return context.get();
}
ZSTD_DCtx* decoder() {
  static thread_local const Owned<ZSTD_DCtx, ZSTD_freeDCtx> context(ZSTD_createDCtx());
  return context.get();
}

Status append_frame(std::string_view content, int level, std::string& body) {
  ZSTD_CCtx* const context = encoder();
  if (context == nullptr) return Status::limit("no memory for an encoder");
  const size_t start = body.size();
  body.resize(start + ZSTD_compressBound(content.size()));
  const size_t bytes = ZSTD_compressCCtx(context, body.data() + start, body.size() - start, content.data(),
                                         content.size(), level);
  if (ZSTD_isError(bytes) != 0) return Status::io_error(ZSTD_getErrorName(bytes));
  body.resize(start + bytes);
  return {};
}

// Decodes frames, one after the other, directly into the payload, so that a frame's window costs no memory.
Status decode_frames(std::string_view frames, char* payload, size_t room, size_t& bytes) {
  ZSTD_DCtx* const context = decoder();
  if (context == nullptr) return Status::limit("no memory for a decoder");
  bytes = ZSTD_decompressDCtx(context, payload, room, frames.data(), frames.size());
  if (ZSTD_isError(bytes) == 0) return {};
  if (ZSTD_getErrorCode(bytes) == ZSTD_error_dictionary_wrong) {
    const unsigned dictionary = ZSTD_getDictID_fromFrame(frames.data(), frames.size());
    return Status::not_supported("needs the zstd dictionary " + std::to_string(dictionary) +
                                 ", and dictionaries are not supported");
  }
  return Status::corruption(std::string("a frame is damaged: ") + ZSTD_getErrorName(bytes));
}

class ZstdCompressor final : public Compressor {
 public:
  explicit ZstdCompressor(const PluginParams& params)
      : level_(static_cast<int>(params.count_within("level", kDefaultLevel, 1, kLevelMax))),
        framed_(params.choice("framing", "hadoop", {"hadoop", "hbase"}) == "hbase") {}
  uint32_t id() const override { return 6; }
  std::string_view name() const override { return "ZSTD"; }

  Status compress(std::string_view payload, std::string& body) const override {
    if (!framed_) return append_frame(payload, level_, body).with_context("ZSTD");
    const auto append_chunk = [this](std::string_view chunk, std::string& to) {
      return append_frame(chunk, level_, to);
    };
    return compress_framed(payload, body, append_chunk).with_context("ZSTD");
  }

  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    // As the size of a first frame in block framing the magic would be more than all that is wanted.
    const bool bare =
        body.size() >= 4 && load_be32(body.data()) == kFrameMagic && payload_bytes < kFrameMagic;
    if (!bare) return decompress_framed(body, payload_bytes, payload, decode_frames).with_context("ZSTD");
    size_t bytes = 0;
    CELLAR_TRY(decode_frames(body, payload, payload_bytes, bytes).with_context("ZSTD"));
    return bytes == payload_bytes ? Status() : Status::corruption("ZSTD: the body holds less than declared");
  }

 private:
  int level_;
  bool framed_;
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_zstd, "zstd", ZstdCompressor)
}  // namespace cellar
