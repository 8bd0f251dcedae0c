// Codec BZIP2: writes one bzip2 stream per block; reads any streams, one after the other.
#include <bzlib.h>

#include <algorithm>

#include "cellar/compressor.h"

namespace cellar {
namespace {

char* input_of(std::string_view bytes) {
  static char nothing = 0;  // the library needs a place even for no bytes
  return bytes.empty() ? &nothing : const_cast<char*>(bytes.data());  // its interface lacks the const
}

// Owns the memory of a stream that is being decompressed.
struct Stream : bz_stream {
  Stream() : bz_stream{} {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { BZ2_bzDecompressEnd(this); }
  bool restart() {
    BZ2_bzDecompressEnd(this);
    return BZ2_bzDecompressInit(this, 0, 0) == BZ_OK;
  }
};

class Bzip2Compressor final : public Compressor {
 public:
  explicit Bzip2Compressor(const PluginParams& params)
      : level_(static_cast<int>(params.count_within("level", 9, 1, 9))) {}
  uint32_t id() const override { return 5; }
  std::string_view name() const override { return "BZIP2"; }

  Status compress(std::string_view payload, std::string& body) const override {
    if (payload.size() > UINT32_MAX / 2) return Status::limit("a payload too large for BZIP2");
    const size_t start = body.size();
    auto bytes = static_cast<unsigned>(payload.size() + payload.size() / 100 + 600);  // the library's promise
    body.resize(start + bytes);
    const int end = BZ2_bzBuffToBuffCompress(body.data() + start, &bytes, input_of(payload),
                                             static_cast<unsigned>(payload.size()), level_, 0, 0);
    if (end == BZ_MEM_ERROR) return Status::limit("BZIP2: no memory for an encoder");
    if (end != BZ_OK) return Status::io_error("BZIP2: the library refused to compress");
    body.resize(start + bytes);
    return {};
  }

  // The library checks each stream's own sums.
  Status decompress(std::string_view body, size_t payload_bytes, char* payload) const override {
    if (body.size() > UINT32_MAX || payload_bytes > UINT32_MAX) return Status::corruption("BZIP2: too large");
    Stream stream;
    char nowhere = 0;
    stream.next_in = input_of(body);
    stream.avail_in = static_cast<unsigned>(body.size());
    stream.next_out = payload_bytes > 0 ? payload : &nowhere;
    stream.avail_out = static_cast<unsigned>(payload_bytes);
    do {  // each turn takes a stream, and with it input
      if (!stream.restart()) return Status::limit("BZIP2: no memory for a decoder");
      CELLAR_TRY(decode_stream(stream));
    } while (stream.avail_in > 0);
    if (stream.avail_out != 0) return Status::corruption("BZIP2: the body holds less than declared");
    return {};
  }

 private:
  static Status decode_stream(bz_stream& stream) {
    while (true) {
      const unsigned in = stream.avail_in;
      const unsigned out = stream.avail_out;
      const int end = BZ2_bzDecompress(&stream);
      if (end == BZ_STREAM_END) return {};
      if (end == BZ_MEM_ERROR) return Status::limit("BZIP2: no memory for a decoder");
      if (end != BZ_OK) return Status::corruption("BZIP2: the body is damaged");
      if (stream.avail_in == in && stream.avail_out == out) {
        return Status::corruption(out == 0 ? "BZIP2: the body holds more than declared"
                                           : "BZIP2: the body is truncated");
      }
    }
  }

  int level_;
};

}  // namespace
CELLAR_PLUGIN(Compressor, hfile_codec_compressor_bzip2, "bzip2", Bzip2Compressor)
}  // namespace cellar
